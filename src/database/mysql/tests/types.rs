//! Every column type, and look-ups whatever their form.

use super::session;
use crate::database::Session;
use crate::database::conformance::fixture::{Fixture, decimal, lookup, text};
use crate::model::{Date, Time, Timestamp, Value, Zone};
use bytes::Bytes;
use std::sync::Arc;

/// A column's name, its type, what is stored in it, and what must be read.
type TypeCase = (&'static str, &'static str, &'static str, Value);

fn numbers_and_dates() -> Vec<TypeCase> {
    let digits = "-12345678901234567890123456789012345.123456789012345678901234567890";
    let day = |year, month, day| Date { year, month, day };
    let at = |date, (hour, minute, second), micros, zone| {
        Value::Timestamp(Timestamp { date, hour, minute, second, micros, zone })
    };
    vec![
        ("dec65", "DECIMAL(65,30)", digits, decimal(digits)),
        ("zf", "DECIMAL(10,2) ZEROFILL", "12.5", decimal("12.50")),
        ("i1", "TINYINT", "-1", Value::Int(-1)),
        ("u8", "BIGINT UNSIGNED", "18446744073709551615", Value::UInt(u64::MAX)),
        ("u4", "INT UNSIGNED", "7", Value::UInt(7)),
        ("f", "FLOAT", "0.1", Value::Float(0.1)),
        ("d", "DOUBLE", "0.1", Value::Float(0.1)),
        (
            "dt",
            "DATETIME(6)",
            "'2024-02-29 23:59:58.000120'",
            at(day(2024, 2, 29), (23, 59, 58), 120, Zone::Local),
        ),
        (
            "ts",
            "TIMESTAMP(3) NULL",
            "'2024-03-01 00:00:00.5'",
            at(day(2024, 3, 1), (0, 0, 0), 500_000, Zone::Utc),
        ),
        ("da", "DATE", "'1000-01-01'", Value::Date(day(1000, 1, 1))),
        ("t", "TIME(2)", "'-101:02:03.5'", text("-101:02:03.5")),
        (
            "td",
            "TIME(6)",
            "'23:59:58.00012'",
            Value::Time(Time { hour: 23, minute: 59, second: 58, micros: 120 }),
        ),
        ("tl", "TIME", "'24:00:00'", text("24:00:00")),
        ("y", "YEAR", "2155", Value::Int(2155)),
    ]
}

fn texts_and_bytes() -> Vec<TypeCase> {
    let bytes = |bytes: &'static [u8]| Value::Bytes(Bytes::from_static(bytes));
    vec![
        ("bits", "BIT(10)", "b'1000000001'", bytes(&[2, 1])),
        ("bin", "BINARY(3)", "'ab'", bytes(b"ab\0")),
        ("bl", "BLOB", "x'00ff'", bytes(&[0, 0xff])),
        ("tx", "TEXT", "'ü🦀'", text("ü🦀")),
        ("la", "TEXT CHARACTER SET latin1", "'ü'", text("ü")),
        ("e", "ENUM('a','b')", "'b'", text("b")),
        ("js", "JSON", "'{\"a\": 1}'", text("{\"a\": 1}")),
        ("ch", "CHAR(4)", "'x'", text("x")),
        ("st", "SET('x','y')", "'x,y'", text("x,y")),
        ("nothing", "INT", "NULL", Value::Null),
    ]
}

#[test]
fn every_type_is_read_alike_one_by_one_and_by_many() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let cases = [numbers_and_dates(), texts_and_bytes()].concat();
        let each = |of: &dyn Fn(&TypeCase) -> String| cases.iter().map(of).collect::<Vec<_>>().join(", ");
        let columns = each(&|case| format!("{} {}", case.0, case.1));
        fixture.sql(&format!("CREATE TABLE v (id INT PRIMARY KEY, {columns}) DEFAULT CHARSET=utf8mb4")).await;
        let stored = each(&|case| case.2.to_owned());
        for id in 1..=6 {
            fixture.sql(&format!("INSERT INTO v VALUES ({id}, {stored})")).await;
        }
        let names: Vec<&str> = cases.iter().map(|case| case.0).collect();
        let sql = format!("SELECT {} FROM v WHERE id = ?", names.join(", "));
        let limited = format!("{sql} LIMIT 1");
        let mut session = session(&fixture, vec![lookup(&sql, &names), lookup(&limited, &names)]).await;
        for (step, n) in [(0, 1), (0, 5), (1, 1), (1, 5)] {
            let rows: Vec<_> = (1..=n).map(|id| vec![Value::Int(id)]).collect();
            for found in session.lookup(step, &rows).await.unwrap() {
                for (found, (name, _, _, expected)) in found.unwrap().iter().zip(&cases) {
                    assert_eq!(found, expected, "{name}, {n} at once, step {step}");
                }
            }
        }
        // Of five, the first step asked by IN, and the other one by UNION.
        for (step, is_within) in [(0, true), (1, false)] {
            let plan = session.plans[step].as_ref().unwrap();
            assert_eq!((plan.forms(), plan.is_within()), (3, is_within));
        }
    });
}

#[test]
fn a_long_decimal_is_found_by_its_every_digit() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE v (id INT, d DECIMAL(38,0), k DECIMAL(38,0), KEY (k))").await;
        let number = |last: usize| format!("9999999999999999999999999999999999999{last}");
        for last in 0..9 {
            fixture.sql(&format!("INSERT INTO v VALUES ({last}, {0}, {0})", number(last))).await;
        }
        let mut session = session(
            &fixture,
            vec![
                lookup("SELECT id FROM v WHERE d = ?", &["id"]),
                lookup("SELECT id FROM v WHERE k = ?", &["id"]),
            ],
        )
        .await;
        for (step, n) in [(0, 1), (0, 9), (1, 1), (1, 9)] {
            let rows: Vec<_> = (0..n).map(|last| vec![decimal(&number(last))]).collect();
            let expected: Vec<_> = (0..).take(n).map(|last| Some(vec![Value::Int(last)])).collect();
            assert_eq!(session.lookup(step, &rows).await.unwrap(), expected, "{step} {n}");
        }
    });
}

#[test]
fn a_lookup_that_cannot_be_wrapped_still_answers() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE c (id INT PRIMARY KEY, name VARCHAR(9))").await;
        fixture.sql("INSERT INTO c VALUES (1,'a'), (2,'b'), (3,'c'), (4,'d'), (5,'e')").await;
        let steps = vec![
            lookup("SELECT a.id, b.id, a.name FROM c a JOIN c b ON a.id = b.id WHERE a.id = ?", &["name"]),
            lookup("SELECT name FROM c WHERE id = ? FOR UPDATE", &["name"]),
            lookup("SELECT name FROM c WHERE id = ?", &["name"]),
        ];
        let mut session = session(&fixture, steps).await;
        let rows: Vec<_> = (1..=6).map(|id| vec![Value::Int(id)]).collect();
        let expected: Vec<_> =
            ["a", "b", "c", "d", "e"].iter().map(|n| Some(vec![text(n)])).chain([None]).collect();
        for (step, forms) in [(0, 0), (1, 0), (2, 3)] {
            assert_eq!(session.lookup(step, &rows).await.unwrap(), expected);
            assert_eq!(session.plans[step].as_ref().unwrap().forms(), forms);
        }
    });
}
