//! Look-ups by IN find what one by one finds, whatever the server calls equal.

use super::session;
use crate::database::conformance::fixture::{Fixture, error, lookup, text};
use crate::database::mysql::session::MySqlSession;
use crate::database::{ErrorClass, Row, Session};
use crate::model::Value;
use mysql_async::prelude::Queryable;
use std::sync::Arc;

/// Asks for all at once and one by one; both have to find the same.
async fn both_ways(session: &mut MySqlSession, step: usize, rows: &[Row]) -> Vec<Option<Row>> {
    let at_once = session.lookup(step, rows).await.unwrap();
    for (row, found) in rows.iter().zip(&at_once) {
        let alone = session.lookup(step, std::slice::from_ref(row)).await.unwrap();
        assert_eq!(alone[0], *found, "{row:?} of step {step}");
    }
    at_once
}

fn is_within(session: &MySqlSession, step: usize) -> bool {
    session.plans[step].as_ref().unwrap().is_within()
}

/// How many prepared statements the server has run in this session.
async fn executed(session: &mut MySqlSession) -> u64 {
    let sql = "SHOW SESSION STATUS LIKE 'Com_stmt_execute'";
    let (_, count): (String, u64) = session.conn().unwrap().query_first(sql).await.unwrap().unwrap();
    count
}

fn ints(numbers: impl IntoIterator<Item = i64>) -> Vec<Row> {
    numbers.into_iter().map(|number| vec![Value::Int(number)]).collect()
}

fn texts(texts: &[&str]) -> Vec<Row> {
    texts.iter().map(|each| vec![text(each)]).collect()
}

#[test]
fn hundreds_of_numbers_are_asked_for_by_few_statements() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20))").await;
        fixture.sql("INSERT INTO t SELECT seq, CONCAT('n', seq) FROM seq_1_to_1000 WHERE seq % 3 > 0").await;
        let mut session = session(&fixture, vec![lookup("SELECT name FROM t WHERE id = ?", &["name"])]).await;
        session.lookup(0, &ints([1])).await.unwrap();
        assert!(is_within(&session, 0));
        for n in [2, 3, 4, 5, 16, 17, 64, 65, 256, 257, 700] {
            let before = executed(&mut session).await;
            let found = session.lookup(0, &ints(1..=n)).await.unwrap();
            for (id, found) in (1..=n).zip(found) {
                let expected = (id % 3 > 0).then(|| vec![text(&format!("n{id}"))]);
                assert_eq!(found, expected, "{id} of {n}");
            }
            let asked = executed(&mut session).await - before;
            assert!(asked <= u64::try_from(n).unwrap().div_ceil(256), "{asked} statements for {n} rows");
        }
    });
}

#[test]
fn numbers_of_every_type_and_what_is_no_number() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture
            .sql(
                "CREATE TABLE t (tiny TINYINT, small SMALLINT UNSIGNED, medium MEDIUMINT, big BIGINT, \
                 huge BIGINT UNSIGNED, filled INT(6) ZEROFILL, y YEAR, d DECIMAL(20,0), b BIT(8), f DOUBLE, n INT)",
            )
            .await;
        for row in ["1,1,1,1,1,1,2001,1,b'1',1,1", "0,0,0,0,0,0,2000,0,b'0',0,0"] {
            fixture.sql(&format!("INSERT INTO t VALUES ({row})")).await;
        }
        let most = "127, 65535, 8388607, 9223372036854775807, 18446744073709551615, 999999, 2155, 5, b'11', 0.5, NULL";
        let least = "-128, 2, -8388608, -9223372036854775808, 2, 2, 1901, -5, b'10', -1, NULL";
        fixture.sql(&format!("INSERT INTO t VALUES ({most}), ({least})")).await;
        let names = ["tiny", "small", "medium", "big", "huge", "filled", "n", "y", "d", "b", "f"];
        let steps = names.map(|name| lookup(&format!("SELECT tiny FROM t WHERE {name} = ?"), &["tiny"]));
        let mut session = session(&fixture, steps.to_vec()).await;
        let extremes = [i64::MIN, -8_388_608, -129, -128, -1, 0, 1, 2, 127, 65_535, 8_388_607, 999_999, i64::MAX];
        let mut rows = ints(extremes);
        rows.extend([u64::MAX, 1, 0].map(|number| vec![Value::UInt(number)]));
        rows.extend([Value::Bool(true), Value::Bool(false), Value::Null].map(|value| vec![value]));
        rows.extend(texts(&["1", "1abc", "01", " 1", "1.0", "", "abc1"]));
        rows.extend([vec![Value::Float(1.0)], vec![Value::Float(0.5)]]);
        // Where the server makes a number of "abc", two rows may be found: each by itself, then.
        for (step, name) in names.iter().enumerate() {
            let mut wanted = Vec::new();
            for row in &rows {
                if let Ok(found) = session.lookup(step, std::slice::from_ref(row)).await {
                    wanted.push((row.clone(), found[0].clone()));
                }
            }
            let (rows, found): (Vec<Row>, Vec<Option<Row>>) = wanted.into_iter().unzip();
            assert_eq!(session.lookup(step, &rows).await.unwrap(), found, "{name}");
            assert_eq!(is_within(&session, step), step < 7, "{name}");
        }
    });
}

#[test]
fn text_is_compared_only_where_each_character_counts() {
    const COLLATIONS: [(&str, bool); 10] = [
        ("utf8mb4_bin", true),
        ("utf8mb4_nopad_bin", true),
        ("utf8mb3_bin", true),
        ("latin1_bin", true),
        ("ascii_bin", true),
        ("utf8mb4_general_ci", false),
        ("utf8mb4_unicode_ci", false),
        ("utf8mb4_unicode_nopad_ci", false),
        ("latin1_swedish_ci", false),
        ("ucs2_bin", false),
    ];
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let mut steps = Vec::new();
        for (number, (collation, _)) in COLLATIONS.iter().enumerate() {
            for (form, declared) in ["VARCHAR(20)", "CHAR(20)", "TEXT"].iter().enumerate() {
                let (set, table) = (collation.split('_').next().unwrap(), format!("t{number}_{form}"));
                let place = format!("CHARACTER SET {set} COLLATE {collation}");
                fixture.sql(&format!("CREATE TABLE {table} (id INT, k {declared} {place})")).await;
                for (id, key) in ["a", "B", "c ", "d\t", "", "Straße"].iter().enumerate() {
                    if *collation != "ascii_bin" || key.is_ascii() {
                        fixture.sql(&format!("INSERT INTO {table} VALUES ({id}, '{key}')")).await;
                    }
                }
                steps.push(lookup(&format!("SELECT id FROM {table} WHERE k = ?"), &["id"]));
            }
        }
        let mut session = session(&fixture, steps).await;
        let keys = [
            "a", "A", "a ", "b", "B", "b ", "c", "c ", "C", "d", "d\t", "d\t ", "", " ", "Straße", "Strasse",
            "straße", "\u{212a}", "k", "ß", "x\0", "x", "語", "😀",
        ];
        for (number, (collation, within)) in COLLATIONS.iter().enumerate() {
            for form in 0..3 {
                let step = number * 3 + form;
                let mut rows = texts(&keys);
                rows.push(vec![Value::Null]);
                let mut alike = Vec::new();
                for row in rows {
                    // Some cannot be compared at all: a character that the column's encoding has not.
                    if session.lookup(step, std::slice::from_ref(&row)).await.is_ok() {
                        alike.push(row);
                    }
                }
                assert!(alike.len() >= 19, "{collation}: {alike:?}");
                both_ways(&mut session, step, &alike).await;
                assert_eq!(is_within(&session, step), *within, "{collation} {form}");
            }
        }
    });
}

/// What the client is shown as text and the server compares as something else.
#[test]
fn types_that_only_look_like_text_are_not_compared() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let uuid = "123e4567-e89b-12d3-a456-426655440000";
        let types = [
            ("UUID", uuid),
            ("INET6", "::1"),
            ("ENUM('a','b')", "a"),
            ("SET('a','b')", "a,b"),
            ("DATE", "2026-01-02"),
            ("BINARY(1)", "a"),
            ("VARBINARY(4)", "a"),
        ];
        let mut steps = Vec::new();
        for (number, (declared, value)) in types.iter().enumerate() {
            let place = if declared.contains('\'') { " COLLATE utf8mb4_bin" } else { "" };
            fixture.sql(&format!("CREATE TABLE t{number} (id INT, k {declared}{place})")).await;
            fixture.sql(&format!("INSERT INTO t{number} VALUES (1, '{value}')")).await;
            steps.push(lookup(&format!("SELECT id FROM t{number} WHERE k = ?"), &["id"]));
        }
        let mut session = session(&fixture, steps).await;
        let upper = uuid.to_uppercase();
        for (step, (declared, value)) in types.iter().enumerate() {
            let rows = match *declared {
                "UUID" => texts(&[uuid, &upper]),
                "INET6" => texts(&["::1", "0::1", "0:0::1"]),
                _ => texts(&[value, "b", "a ", "A"]),
            };
            let rows = if *declared == "DATE" { texts(&[value, "2026-1-2"]) } else { rows };
            let found = both_ways(&mut session, step, &rows).await;
            assert!(found[0].is_some(), "{declared}");
            assert!(!is_within(&session, step), "{declared}");
        }
    });
}

#[test]
fn several_rows_for_one_name_the_row_that_asked() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture
            .sql("CREATE TABLE t (id INT, k VARCHAR(9) COLLATE utf8mb4_bin, n INT, KEY (id), KEY (k))")
            .await;
        fixture
            .sql("INSERT INTO t VALUES (1,'a',1), (2,'b',2), (3,'c',3), (3,'c',4), (4,'d ',5), (4,'d',6)")
            .await;
        let steps = vec![
            lookup("SELECT n FROM t WHERE id = ?", &["n"]),
            lookup("SELECT n FROM t WHERE k = ?", &["n"]),
        ];
        let mut session = session(&fixture, steps).await;
        let keys = texts(&["a", "b", "a", "c", "x"]);
        for (step, rows) in [(0, ints([1, 2, 1, 3, 9])), (1, keys)] {
            let refused = error(session.lookup(step, &rows).await);
            assert_eq!((refused.class, refused.row), (ErrorClass::Reject, Some(3)), "{refused}");
            assert!(is_within(&session, step));
            // The session is as good as before.
            let found = session.lookup(step, &rows[..3]).await.unwrap();
            let numbers: Vec<_> = found.into_iter().map(|row| row.unwrap()[0].clone()).collect();
            assert_eq!(numbers, [1, 2, 1].map(Value::Int));
        }
        // One of the two rows is not exactly what was asked for, and equal all the same.
        let refused = error(session.lookup(1, &texts(&["a", "b", "d"])).await);
        assert_eq!((refused.class, refused.row), (ErrorClass::Reject, Some(2)), "{refused}");
    });
}

#[test]
fn views_and_names_that_need_marks() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE `the table` (`the key` INT, `select` VARCHAR(9) COLLATE utf8mb4_bin, k TEXT)").await;
        fixture.sql("INSERT INTO `the table` VALUES (1,'a','x'), (2,'b','y'), (3,'c','z')").await;
        fixture.sql("CREATE VIEW plain AS SELECT `the key` AS id, `select` AS k FROM `the table`").await;
        fixture.sql("CREATE VIEW coarse AS SELECT `the key` AS id, `select` COLLATE utf8mb4_general_ci AS k FROM `the table`").await;
        let steps = vec![
            lookup("SELECT `select` AS n FROM `the table` AS x WHERE x.`the key` = ?", &["n"]),
            lookup("SELECT * FROM `the table` WHERE ? = `the key`", &["k"]),
            lookup("SELECT k FROM plain WHERE id = ?", &["k"]),
            lookup("SELECT id FROM coarse WHERE k = ?", &["id"]),
            lookup("SELECT id FROM plain WHERE k = ?", &["id"]),
        ];
        let mut session = session(&fixture, steps).await;
        for step in 0..3 {
            let found = both_ways(&mut session, step, &ints([1, 2, 3, 4])).await;
            assert_eq!(found.iter().flatten().count(), 3);
            assert!(is_within(&session, step), "{step}");
        }
        for step in [3, 4] {
            both_ways(&mut session, step, &texts(&["a", "A", "b", "C", "c", "x"])).await;
        }
        assert!(!is_within(&session, 3));
    });
}
