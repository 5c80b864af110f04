//! The job's own statements: look-ups, stores, and what `check` says about them.

use super::fixture::{Fixture, decimal, error, lookup, store, text};
use crate::database::{ErrorClass, range_notes};
use crate::model::{Date, Time, Timestamp, Value, Zone};
use bytes::Bytes;
use std::sync::Arc;

pub(super) async fn lookups_answer_row_by_row(fixture: Arc<Fixture>) {
    fixture.sql("CREATE TABLE c (id BIGINT PRIMARY KEY, name VARCHAR(20), tier INT)").await;
    let rows: Vec<String> = (0..200).map(|id| format!("({id}, 'n{id}', {})", id % 3)).collect();
    fixture.sql(&format!("INSERT INTO c VALUES {}", rows.join(", "))).await;
    let by_id = lookup("SELECT tier, Name FROM c WHERE id = ? -- one row\n", &["name", "TIER"]);
    let newest = lookup("SELECT id FROM c WHERE tier = ? AND id < ? ORDER BY id DESC LIMIT 1;", &["id"]);
    let mut session = fixture.session(vec![by_id, newest]).await;
    let ask = |n: usize| -> Vec<Vec<Value>> {
        // Every third twice, every seventh not there, and now and then a NULL.
        let id = |i: usize| match i {
            _ if i % 11 == 5 => Value::Null,
            _ if i % 7 == 3 => Value::Int(i64::try_from(1000 + i).unwrap()),
            _ if i % 3 == 2 => Value::Int(i64::try_from(i - 1).unwrap()),
            _ => Value::Int(i64::try_from(i).unwrap()),
        };
        (0..n).map(|i| vec![id(i)]).collect()
    };
    session.begin().await.unwrap();
    for n in [0, 1, 2, 3, 5, 17, 64, 65, 190] {
        let rows = ask(n);
        let answers = session.lookup(0, &rows).await.unwrap();
        assert_eq!(answers.len(), n);
        for (row, answer) in rows.iter().zip(answers) {
            let expected = match &row[0] {
                Value::Int(id) if *id < 200 => Some(vec![text(&format!("n{id}")), Value::Int(id % 3)]),
                _ => None,
            };
            assert_eq!(answer, expected, "{row:?} of {n}");
        }
    }
    let rows = [[1, 100], [1, 3], [2, 1], [0, 200]].map(|pair| pair.map(Value::Int).to_vec());
    let answers = session.lookup(1, &rows).await.unwrap();
    let expected = [Some(97), Some(1), None, Some(198)].map(|id| id.map(|id| vec![Value::Int(id)]));
    assert_eq!(answers, expected);
    session.rollback().await.unwrap();
}

pub(super) async fn two_rows_are_a_reject(fixture: Arc<Fixture>) {
    fixture.sql("CREATE TABLE c (id INT, name VARCHAR(20))").await;
    fixture.sql("INSERT INTO c VALUES (1, 'a'), (2, 'b'), (2, 'c'), (3, 'd')").await;
    let mut session = fixture.session(vec![lookup("SELECT name FROM c WHERE id = ?", &["name"])]).await;
    for ids in [vec![2], vec![1, 3, 2], vec![1, 1, 3, 3, 2, 1, 3, 4, 5]] {
        let rows: Vec<_> = ids.iter().map(|id| vec![Value::Int(*id)]).collect();
        let refused = error(session.lookup(0, &rows).await);
        assert_eq!((refused.class, refused.broken), (ErrorClass::Reject, false));
        assert_eq!(refused.row, ids.iter().position(|id| *id == 2));
        assert!(refused.message.contains("step 1 (look-up `found`): more than one row"), "{refused}");
    }
    // The session is as usable as before.
    let found = session.lookup(0, &[vec![Value::Int(3)]]).await.unwrap();
    assert_eq!(found, [Some(vec![text("d")])]);
    // A column that the statement does not give, or gives twice.
    let steps = vec![
        lookup("SELECT name FROM c WHERE id = ?", &["tier"]),
        lookup("SELECT a.name, b.name FROM c a JOIN c b ON a.id = b.id WHERE a.id = ?", &["name"]),
    ];
    let mut session = fixture.session(steps).await;
    for step in 0..2 {
        let wrong = error(session.lookup(step, &[vec![Value::Int(1)]]).await);
        assert_eq!(wrong.class, ErrorClass::Misconfigured, "{wrong}");
    }
}

pub(super) async fn values_come_back_exactly(fixture: Arc<Fixture>) {
    let table = fixture.pick(
        "CREATE TABLE v (id INT PRIMARY KEY, d DECIMAL(38,10), s VARCHAR(20) CHARACTER SET utf8mb4, n BIGINT, \
         b BOOL, day DATE, at DATETIME(6), raw VARBINARY(20), f DOUBLE, t TIME(6), j JSON) DEFAULT CHARSET=latin1",
        "CREATE TABLE v (id INTEGER PRIMARY KEY, d TEXT, s TEXT, n INTEGER, b INTEGER, day TEXT, at TEXT, raw BLOB, f REAL, t TEXT, j TEXT)",
    );
    fixture.sql(table).await;
    let steps = vec![
        store(
            "INSERT INTO v (id, d, s, n, b, day, at, raw, f, t, j) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ),
        lookup(
            "SELECT d, s, n, b, day, at, raw, f, t, j FROM v WHERE id = ?",
            &["d", "s", "n", "b", "day", "at", "raw", "f", "t", "j"],
        ),
    ];
    let date = Date { year: 2024, month: 2, day: 29 };
    let at = Timestamp { date, hour: 23, minute: 59, second: 58, micros: 120, zone: Zone::Local };
    let full = vec![
        decimal("1234567890123456789012345678.9012345678"),
        text("naïve 🦀 日本"),
        Value::Int(i64::MIN),
        Value::Bool(true),
        Value::Date(date),
        Value::Timestamp(at),
        Value::Bytes(Bytes::from_static(&[0, 0xff, b'\'', b'\\'])),
        Value::Float(0.1),
        Value::Time(Time { hour: 23, minute: 59, second: 58, micros: 120 }),
        text("[\"a\",{\"b\":1}]"),
    ];
    let negative = {
        let mut row = full.clone();
        row[0] = decimal("-0.0000000001");
        row[2] = Value::Int(i64::MAX);
        row[7] = Value::Float(-f64::MAX);
        row[8] = Value::Time(Time { hour: 0, minute: 0, second: 0, micros: 0 });
        row
    };
    let nulls = vec![Value::Null; 10];
    let rows = [&nulls, &full, &negative, &nulls];
    let numbered = rows.iter().zip(1..).map(|(row, id)| [vec![Value::Int(id)], (*row).clone()].concat());
    let numbered: Vec<_> = numbered.collect();
    let mut session = fixture.session(steps).await;
    session.begin().await.unwrap();
    session.store(0, &numbered).await.unwrap();
    session.commit().await.unwrap();
    let found = session.lookup(1, &(1..=4).map(|id| vec![Value::Int(id)]).collect::<Vec<_>>()).await.unwrap();
    for (found, stored) in found.into_iter().zip(rows) {
        let expected: Vec<Value> = stored
            .iter()
            .map(|value| match value {
                // Neither engine has truth values, and SQLite has no decimals and dates either.
                Value::Bool(truth) => Value::Int(i64::from(*truth)),
                Value::Decimal(number) if !fixture.is_mariadb() => text(number.as_str()),
                Value::Date(date) if !fixture.is_mariadb() => text(&date.to_string()),
                Value::Timestamp(at) if !fixture.is_mariadb() => text(&at.to_string()),
                Value::Time(at) if !fixture.is_mariadb() => text(&at.to_string()),
                other => other.clone(),
            })
            .collect();
        assert_eq!(found, Some(expected));
    }
}

pub(super) async fn a_refused_row_is_named_without_its_value(fixture: Arc<Fixture>) {
    let table = fixture.pick(
        "CREATE TABLE s (id INT PRIMARY KEY, note VARCHAR(5) NOT NULL)",
        "CREATE TABLE s (id INTEGER PRIMARY KEY, note TEXT NOT NULL CONSTRAINT note_is_short CHECK (length(note) <= 5))",
    );
    fixture.sql(table).await;
    let steps = vec![
        store("INSERT INTO s (id, note) VALUES (?, ?)"),
        store("UPDATE s SET note = ?, id = id + 0 WHERE id = ?"),
    ];
    let mut session = fixture.session(steps).await;
    let row = |id: i64, note: Value| vec![Value::Int(id), note];
    let cases = [
        (vec![row(1, text("a")), row(2, text("b")), row(3, text("SECRET")), row(4, text("d"))], 2, "note"),
        (vec![row(1, text("a")), row(9, Value::Null), row(3, text("c"))], 1, "note"),
        (vec![row(1, text("a")), row(2, text("b")), row(1, text("c"))], 2, "key"),
        (vec![row(77, text("SECRET"))], 0, "note"),
    ];
    for (rows, refused_row, named) in cases {
        session.begin().await.unwrap();
        let refused = error(session.store(0, &rows).await);
        session.rollback().await.unwrap();
        assert_eq!((refused.class, refused.broken), (ErrorClass::Reject, false), "{refused}");
        assert_eq!(refused.row, Some(refused_row), "{refused}");
        assert!(refused.message.contains(named) && refused.code.is_some(), "{refused}");
        assert!(!refused.message.contains("SECRET"), "{refused}");
    }
    assert_eq!(fixture.column("SELECT id FROM s").await, [""; 0]);
    // An UPDATE, whose rows are statements of their own, is searched as exactly.
    fixture.sql("INSERT INTO s VALUES (1, 'a'), (2, 'b')").await;
    session.begin().await.unwrap();
    let rows =
        [vec![text("x"), Value::Int(1)], vec![text("SECRET"), Value::Int(2)], vec![text("y"), Value::Int(1)]];
    let refused = error(session.store(1, &rows).await);
    assert_eq!((refused.class, refused.row), (ErrorClass::Reject, Some(1)), "{refused}");
    session.rollback().await.unwrap();
    assert_eq!(fixture.column("SELECT note FROM s ORDER BY id").await, ["a", "b"]);
}

pub(super) async fn check_finds_what_does_not_fit(fixture: Arc<Fixture>) {
    fixture.sql("CREATE TABLE c (id INT, name VARCHAR(20))").await;
    let steps = vec![
        lookup("SELECT name FROM c WHERE id = ?", &["name"]),
        store("INSERT INTO nowhere (id) VALUES (?)"),
        lookup("SELECT name FROM c WHERE id = ?", &["Name", "tier"]),
        store("INSERT INTO c (id, nome) VALUES (?, ?)"),
        store("INSERT INTO c (id, name) VALUES (?, ?)"),
        store("INSERT INTO c (id, name) VALUSE (?, ?)"),
    ];
    let mut session = fixture.session(steps).await;
    let findings = session.check_statements().await.unwrap();
    let steps: Vec<_> = findings.iter().map(|f| f.step.unwrap()).collect();
    assert_eq!(steps, [1, 2, 3, 5], "{findings:?}");
    assert!(findings[0].message.contains("step 2 (store)") && findings[0].message.contains("nowhere"));
    assert!(findings[1].message.contains("no column `tier`; it gives `name`"), "{}", findings[1].message);
    assert!(findings[2].message.contains("nome"));
}

pub(super) async fn columns_are_as_they_were_declared(fixture: Arc<Fixture>) {
    fixture.sql("CREATE TABLE Mixed (id INT PRIMARY KEY, d DECIMAL(10,2), s VARCHAR(20))").await;
    let mut session = fixture.session(Vec::new()).await;
    let columns = session.columns(None, "Mixed").await.unwrap();
    let found: Vec<(&str, String)> =
        columns.iter().map(|column| (column.name.as_str(), column.declared.to_ascii_lowercase())).collect();
    let id = if fixture.is_mariadb() { "int(11)" } else { "int" };
    assert_eq!(found, [("id", id.into()), ("d", "decimal(10,2)".into()), ("s", "varchar(20)".into())]);
    assert_eq!(session.columns(None, "nowhere").await.unwrap(), []);
}

pub(super) async fn fields_that_may_not_fit_are_told(fixture: Arc<Fixture>) {
    const JOB: &str = r#"
[job]
name = "ranges"
[source]
bootstrap_servers = "127.0.0.1:1"
topics = ["in"]
[event.fields]
id = { path = "@id", type = "int64" }
total = { path = "total", type = "decimal(12,2)" }
note = { path = "note", type = "text" }
[database]
url = "sqlite:unused.db"
[[database.steps]]
store = "INSERT INTO ranged (id, total, note) VALUES (:id, :total, :note)"
[rejects]
dead_letter_topic = "letters"
"#;
    fixture.sql("CREATE TABLE ranged (id BIGINT PRIMARY KEY, total DECIMAL(10,2), note VARCHAR(20))").await;
    let spec = crate::job::check("job.toml", JOB, &|_| None).unwrap().spec;
    let mut session = fixture.session(Vec::new()).await;
    let notes = range_notes(&spec, &mut *session).await.unwrap();
    let parts = if fixture.is_mariadb() {
        vec!["8 digits in front of the point is refused", "a longer text is refused"]
    } else {
        vec!["floating-point"]
    };
    assert_eq!(notes.len(), parts.len(), "{notes:?}");
    for (note, part) in notes.iter().zip(parts) {
        assert!(note.contains(part), "{part}: {note}");
    }
    // What the note says is what the database does.
    let digits = fixture.session(vec![store("INSERT INTO ranged (id, total, note) VALUES (?, ?, ?)")]);
    let mut session = digits.await;
    session.begin().await.unwrap();
    let stored = session.store(0, &[vec![Value::Int(1), decimal("1234567890.12"), text("n")]]).await;
    assert_eq!(stored.is_err(), fixture.is_mariadb());
    session.rollback().await.unwrap();
}

pub(super) async fn probe_answers(fixture: Arc<Fixture>) {
    let mut session = fixture.session(Vec::new()).await;
    session.probe().await.unwrap();
    session.create_ledger().await.unwrap();
    session.probe().await.unwrap();
    session.begin().await.unwrap();
    session.rollback().await.unwrap();
}
