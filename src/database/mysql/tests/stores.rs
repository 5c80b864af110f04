//! Stores in bulk and one by one.

use super::{session, write};
use crate::database::conformance::fixture::{Fixture, decimal, error, store, text};
use crate::database::{ErrorClass, Session};
use crate::model::{KeyGroup, Value};
use bytes::Bytes;
use std::sync::Arc;

#[test]
fn rows_of_mixed_types_keep_their_values_and_order() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture
            .sql("CREATE TABLE t (n BIGINT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(30), d DECIMAL(20,0))")
            .await;
        let mut session = session(&fixture, vec![store("INSERT INTO t (v, d) VALUES (?, ?)")]).await;
        let rows = [
            vec![Value::Int(-5), Value::Int(-5)],
            vec![Value::UInt(u64::MAX), Value::UInt(u64::MAX)],
            vec![Value::Null, Value::Int(-6)],
            vec![text("x"), Value::Null],
            vec![text("y"), decimal("12")],
        ];
        session.begin().await.unwrap();
        session.store(0, &rows).await.unwrap();
        session.commit().await.unwrap();
        let found =
            fixture.column("SELECT CONCAT(COALESCE(v, '-'), ' ', COALESCE(d, '-')) FROM t ORDER BY n").await;
        assert_eq!(found, ["-5 -5", "18446744073709551615 18446744073709551615", "- -6", "x -", "y 12"]);
    });
}

#[test]
fn a_row_over_the_servers_limit_is_a_reject_and_large_batches_are_not() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (raw LONGBLOB)").await;
        let mut session = session(&fixture, vec![store("INSERT INTO t (raw) VALUES (?)")]).await;
        let limit = session.server.packet_bytes_max;
        let of = |bytes: usize| vec![Value::Bytes(Bytes::from(vec![7; bytes]))];
        session.begin().await.unwrap();
        let refused = error(session.store(0, &[of(1), of(limit)]).await);
        assert_eq!(
            (refused.class, refused.row, refused.broken),
            (ErrorClass::Reject, Some(1), false),
            "{refused}"
        );
        session.store(0, &[of(limit / 3), of(limit / 3), of(limit / 3), of(limit / 3)]).await.unwrap();
        session.commit().await.unwrap();
        assert_eq!(fixture.column("SELECT COUNT(*) FROM t").await, ["4"]);
    });
}

/// As MySQL, and MariaDB before 10.2, must be asked.
#[test]
fn without_bulk_the_outcome_is_the_same() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT PRIMARY KEY, v INT)").await;
        let upsert = "INSERT INTO t (id, v) VALUES (?, ?) ON DUPLICATE KEY UPDATE v = v + VALUES(v)";
        let mut session = session(&fixture, vec![store(upsert)]).await;
        session.create_ledger().await.unwrap();
        let row = |id, v: Option<i64>| vec![Value::Int(id), v.map_or(text("x"), Value::Int)];
        let mut expected = Vec::new();
        for bulk in [true, false] {
            session.server.bulk = bulk;
            session.claim(&[KeyGroup(1), KeyGroup(2)]).await.unwrap();
            session.begin().await.unwrap();
            session.store(0, &[row(1, Some(1)), row(2, Some(2)), row(1, Some(10))]).await.unwrap();
            let batch = if bulk { 1 } else { 2 };
            let writes = [1, 2].map(|group| {
                let mut write = write(group, batch, Some(batch - 1));
                write.incarnation.0 = batch;
                write
            });
            assert!(session.advance(&writes).await.unwrap());
            session.commit().await.unwrap();
            expected.push(fixture.column("SELECT CONCAT(id, ':', v) FROM t ORDER BY id").await);
            session.begin().await.unwrap();
            let refused = error(session.store(0, &[row(3, Some(1)), row(4, None), row(5, Some(1))]).await);
            assert_eq!((refused.code, refused.row), (Some(1366), Some(1)), "{refused}");
            session.rollback().await.unwrap();
        }
        assert_eq!(expected, [["1:11", "2:2"], ["1:22", "2:4"]]);
    });
}
