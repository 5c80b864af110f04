//! What SQLite alone does: one file, one writer, no types to speak of.

use super::classes::codes;
use super::session::SqliteSession;
use crate::database::conformance::fixture::{Fixture, error, lookup, store, text};
use crate::database::conformance::parked::{all, at, event, park};
use crate::database::steps::Steps;
use crate::database::{DatabaseError, ErrorClass, Session, open};
use crate::job::DatabaseKind;
use crate::model::Value;
use std::path::Path;
use std::sync::Arc;

fn path(fixture: &Fixture) -> &str {
    match &fixture.kind {
        DatabaseKind::Sqlite { path } => path,
        DatabaseKind::MySql { .. } => panic!("not SQLite"),
    }
}

#[test]
fn a_missing_folder_is_found_at_open() {
    let mut spec = Fixture::sqlite().spec(Vec::new());
    spec.kind = DatabaseKind::Sqlite { path: "no/such/folder/t.db".to_owned() };
    let missing = error(open(&spec, "orders").map(|_| ()));
    assert_eq!(missing.class, ErrorClass::Misconfigured);
    assert!(missing.message.contains("the folder does not exist"), "{missing}");
}

#[test]
fn the_session_is_durable_and_keeps_foreign_keys() {
    Fixture::sqlite().run(|fixture: Arc<Fixture>| async move {
        let pragmas =
            [("journal_mode", text("wal")), ("synchronous", Value::Int(2)), ("foreign_keys", Value::Int(1))];
        let steps =
            pragmas.iter().map(|(name, _)| lookup(&format!("SELECT {name} FROM pragma_{name}"), &[name]));
        let mut session = fixture.session(steps.collect()).await;
        for (step, (name, value)) in pragmas.into_iter().enumerate() {
            assert_eq!(session.lookup(step, &[Vec::new()]).await.unwrap(), [Some(vec![value])], "{name}");
        }
    });
}

#[test]
fn somebody_elses_lock_is_an_outage_and_passes() {
    Fixture::sqlite().run(|fixture: Arc<Fixture>| async move {
        let mut session = fixture.ledger(vec![store("INSERT INTO t (id) VALUES (?)")]).await;
        fixture.sql("CREATE TABLE t (id INT)").await;
        let other = rusqlite::Connection::open(path(&fixture)).unwrap();
        other.execute_batch("BEGIN IMMEDIATE; INSERT INTO t VALUES (7)").unwrap();
        let locked = error(session.begin().await);
        met(&locked, 5, ErrorClass::Outage);
        assert!(!locked.broken, "{locked}");
        assert_eq!(error(session.probe().await).class, ErrorClass::Outage);
        other.execute_batch("COMMIT").unwrap();
        session.probe().await.unwrap();
        session.begin().await.unwrap();
        session.store(0, &[vec![Value::Int(8)]]).await.unwrap();
        session.commit().await.unwrap();
        assert_eq!(fixture.column("SELECT id FROM t ORDER BY id").await, ["7", "8"]);
    });
}

#[test]
fn sessions_of_one_process_wait_for_their_turn() {
    Fixture::sqlite().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT)").await;
        let mut tasks = Vec::new();
        for task in 0..8_i64 {
            // However many times the process opens the file.
            let database = fixture.open(vec![store("INSERT INTO t (id) VALUES (?)")]);
            tasks.push(tokio::spawn(async move {
                let mut session = database.connect().await?;
                for _ in 0..10 {
                    session.begin().await?;
                    session.store(0, &[vec![Value::Int(task)]]).await?;
                    session.commit().await?;
                }
                Ok::<(), DatabaseError>(())
            }));
        }
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert_eq!(fixture.column("SELECT count(*) FROM t").await, ["80"]);
    });
}

#[test]
fn a_call_that_is_given_up_gives_its_turn_back() {
    Fixture::sqlite().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT)").await;
        let database = fixture.open(vec![store("INSERT INTO t (id) VALUES (?)")]);
        let mut session = database.connect().await.unwrap();
        session.begin().await.unwrap();
        let rows = vec![vec![Value::Int(1)]; 50_000];
        let given_up =
            tokio::time::timeout(std::time::Duration::from_micros(1), session.store(0, &rows)).await;
        assert!(given_up.is_err());
        let lost = error(session.commit().await);
        assert_eq!((lost.class, lost.broken), (ErrorClass::Outage, true));
        drop(session);
        let mut other = database.connect().await.unwrap();
        other.begin().await.unwrap();
        other.commit().await.unwrap();
        assert_eq!(fixture.column("SELECT count(*) FROM t").await, ["0"]);
    });
}

#[test]
fn a_full_file_is_an_outage() {
    Fixture::sqlite().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (raw BLOB)").await;
        let steps =
            Arc::new(Steps::new(&fixture.spec(vec![store("INSERT INTO t (raw) VALUES (randomblob(?))")])));
        let connection = super::open(Path::new(path(&fixture))).unwrap();
        connection.pragma_update(None, "max_page_count", 20).unwrap();
        let mut session = SqliteSession::new(connection, Arc::from("orders"), steps, Arc::default());
        session.begin().await.unwrap();
        let full = error(session.store(0, &[vec![Value::Int(10)], vec![Value::Int(1_000_000)]]).await);
        assert_eq!((full.class, full.code, full.row), (ErrorClass::Outage, Some(13), Some(1)), "{full}");
        met(&full, 13, ErrorClass::Outage);
        session.rollback().await.unwrap();
        assert_eq!(fixture.column("SELECT count(*) FROM t").await, ["0"]);
    });
}

/// Outside of a transaction a savepoint begins one, and its release commits it: neither may happen unseen.
#[test]
fn a_point_of_a_transaction_that_sqlite_took_back_is_contention() {
    Fixture::sqlite().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INTEGER PRIMARY KEY)").await;
        let rolls_back =
            "CREATE TRIGGER gone BEFORE INSERT ON t WHEN new.id = 9 BEGIN SELECT RAISE(ROLLBACK, 'x'); END";
        fixture.sql(rolls_back).await;
        let mut session = fixture.session(vec![store("INSERT INTO t (id) VALUES (?)")]).await;
        session.begin().await.unwrap();
        session.savepoint().await.unwrap();
        let gone = error(session.store(0, &[vec![Value::Int(1)], vec![Value::Int(9)]]).await);
        assert!(gone.rolled_back, "{gone}");
        for lost in [session.undo().await, session.release().await, session.savepoint().await] {
            let lost = error(lost);
            assert_eq!((lost.class, lost.rolled_back), (ErrorClass::Contention, true), "{lost}");
        }
        session.rollback().await.unwrap();
        assert_eq!(fixture.column("SELECT count(*) FROM t").await, ["0"]);
    });
}

#[test]
fn a_record_of_64_mib_is_parked_whole() {
    Fixture::sqlite().run(|fixture: Arc<Fixture>| async move {
        let mut session = fixture.ledger(Vec::new()).await;
        let mut row = event(1, at(1, 0));
        row.record.value = Some(bytes::Bytes::from(vec![b'<'; 64 << 20]));
        park(&mut *session, std::slice::from_ref(&row)).await;
        assert!(all(&mut *session).await == [row]);
    });
}

/// An error that was provoked: its code and class, and that the table marks the code as seen.
fn met(error: &DatabaseError, code: i64, class: ErrorClass) {
    assert_eq!((error.code, error.class), (Some(code), class), "{error}");
    assert!(codes().iter().any(|known| known.number == code && known.seen), "mark {code} as seen: {error}");
}

#[test]
fn every_code_that_is_marked_as_seen_is_provoked() {
    let text = include_str!("tests.rs");
    let numbers: Vec<i64> =
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect();
    let marked: Vec<i64> = codes().iter().filter(|code| code.seen).map(|code| code.number).collect();
    assert!(marked.len() > 15, "{marked:?}");
    let unproved: Vec<&i64> = marked.iter().filter(|number| !numbers.contains(number)).collect();
    assert!(unproved.is_empty(), "no test names {unproved:?}");
}

#[test]
fn constraints_of_many_kinds() {
    Fixture::sqlite().run(|fixture: Arc<Fixture>| async move {
        fixture
            .sql(
                "CREATE TABLE t (id INTEGER PRIMARY KEY, k TEXT UNIQUE, n INT NOT NULL CHECK (n >= 0));
                 CREATE TABLE named (k TEXT PRIMARY KEY) WITHOUT ROWID;
                 CREATE TABLE loose (n INT);
                 INSERT INTO t VALUES (1, 'SECRET', 0); INSERT INTO named VALUES ('SECRET');
                 INSERT INTO loose (rowid, n) VALUES (1, 1);",
            )
            .await;
        let reject = ErrorClass::Reject;
        let cases = [
            ("INSERT INTO t VALUES (2, 'SECRET', 0)", 2067, reject),
            ("INSERT INTO t VALUES (1, 'b', 0)", 1555, reject),
            ("INSERT INTO named VALUES ('SECRET')", 1555, reject),
            ("INSERT INTO loose (rowid, n) VALUES (1, 2)", 2579, reject),
            ("INSERT INTO t VALUES (2, 'b', NULL)", 1299, reject),
            ("INSERT INTO t VALUES (2, 'b', -1)", 275, reject),
            ("INSERT INTO t VALUES ('SECRET', 'b', 0)", 20, reject),
            ("INSERT INTO t VALUES (2, zeroblob(2000000000), 0)", 18, reject),
            ("INSERT INTO nowhere VALUES (1)", 1, ErrorClass::Misconfigured),
        ];
        for (sql, code, class) in cases {
            let mut session = fixture.session(vec![store(sql)]).await;
            session.begin().await.unwrap();
            let refused = error(session.store(0, &[Vec::new()]).await);
            assert_eq!(refused.code, Some(code), "{sql}: {refused}");
            met(&refused, code, class);
            assert!(!refused.message.contains("SECRET"), "{refused}");
            session.rollback().await.unwrap();
        }
    });
}

#[test]
fn files_that_cannot_be_used() {
    Fixture::sqlite().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (raw BLOB); INSERT INTO t VALUES (zeroblob(100000))").await;
        let steps = || {
            Arc::new(Steps::new(
                &fixture.spec(vec![store("INSERT INTO t VALUES (1)"), store("DELETE FROM t")]),
            ))
        };
        let file = Path::new(path(&fixture)).to_owned();
        let on = |connection| SqliteSession::new(connection, Arc::from("orders"), steps(), Arc::default());

        let connection = super::open(&file).unwrap();
        connection.pragma_update(None, "query_only", true).unwrap();
        let mut session = on(connection);
        let read_only = match session.begin().await {
            Ok(()) => error(session.store(0, &[Vec::new()]).await),
            Err(read_only) => read_only,
        };
        met(&read_only, 8, ErrorClass::Outage);
        assert!(read_only.broken);
        drop(session);

        // Everything behind the first page is overwritten: the tables' rows are gone, the schema is there.
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        drop(connection);
        let mut bytes = std::fs::read(&file).unwrap();
        let whole = bytes.clone();
        bytes[4096..].fill(0xff);
        std::fs::write(&file, &bytes).unwrap();
        let mut session = on(super::open(&file).unwrap());
        session.begin().await.unwrap();
        let damaged = error(session.store(1, &[Vec::new()]).await);
        met(&damaged, 11, ErrorClass::Outage);
        drop(session);
        std::fs::write(&file, &whole).unwrap();
        fixture.session(Vec::new()).await.probe().await.unwrap();

        std::fs::write(&file, vec![0x55; 8192]).unwrap();
        met(&error(fixture.open(Vec::new()).connect().await), 26, ErrorClass::Misconfigured);
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        met(&error(fixture.open(Vec::new()).connect().await), 14, ErrorClass::Outage);
    });
}

#[test]
fn rejects_of_many_kinds() {
    Fixture::sqlite().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE p (id INTEGER PRIMARY KEY)").await;
        fixture.sql("CREATE TABLE t (id INTEGER, p INTEGER REFERENCES p (id)) STRICT").await;
        fixture
            .sql("CREATE TRIGGER no BEFORE INSERT ON t WHEN new.id = 9 BEGIN SELECT RAISE(ABORT, 'SECRET'); END")
            .await;
        let mut session = fixture.session(vec![store("INSERT INTO t (id, p) VALUES (?, ?)")]).await;
        let cases = [
            (vec![text("SECRET"), Value::Null], Some(3091)),
            (vec![Value::Int(1), Value::Int(5)], Some(787)),
            (vec![Value::Int(9), Value::Null], Some(1811)),
            (vec![Value::UInt(u64::MAX), Value::Null], None),
        ];
        for (row, code) in cases {
            session.begin().await.unwrap();
            let refused = error(session.store(0, &[vec![Value::Int(1), Value::Null], row]).await);
            assert_eq!((refused.class, refused.code, refused.row), (ErrorClass::Reject, code, Some(1)), "{refused}");
            code.into_iter().for_each(|code| met(&refused, code, ErrorClass::Reject));
            assert!(!refused.message.contains("SECRET"), "{refused}");
            assert!(!refused.rolled_back);
            session.rollback().await.unwrap();
        }
    });
}
