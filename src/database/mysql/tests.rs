//! What MariaDB alone does: its types, its locks, its errors, and going away. Every code here is provoked for real.

use super::MySql;
use super::classes::codes;
use super::session::MySqlSession;
use crate::database::conformance::fixture::Fixture;
use crate::database::{Advance, DatabaseError, ErrorClass};
use crate::job::Step;
use crate::model::{BatchNumber, Incarnation, KeyGroup};
use mysql_async::prelude::Queryable;
use std::sync::Arc;

mod ledger;

mod limits;

mod locks;

mod parked;

mod refusals;

mod stores;

mod trouble;

mod types;

mod within;

/// An error that was provoked on a real server: its code and class, and that the table marks the code as seen.
fn met(error: &DatabaseError, code: i64, class: ErrorClass) {
    assert_eq!((error.code, error.class), (Some(code), class), "{error}");
    assert!(codes().iter().any(|known| known.number == code && known.seen), "mark {code} as seen: {error}");
}

/// What the table marks as seen, one of these tests provokes.
#[test]
fn every_code_that_is_marked_as_seen_is_provoked() {
    let tests = [
        include_str!("tests/limits.rs"),
        include_str!("tests/locks.rs"),
        include_str!("tests/refusals.rs"),
        include_str!("tests/trouble.rs"),
    ];
    let numbers: std::collections::BTreeSet<i64> = tests
        .iter()
        .flat_map(|text| text.split(|c: char| !c.is_ascii_digit()))
        .filter_map(|number| number.parse().ok())
        .collect();
    let marked: Vec<i64> = codes().iter().filter(|code| code.seen).map(|code| code.number).collect();
    assert!(marked.len() > 80, "{marked:?}");
    let unproved: Vec<i64> = marked.into_iter().filter(|number| !numbers.contains(number)).collect();
    assert!(unproved.is_empty(), "no test names {unproved:?}");
}

async fn session(fixture: &Fixture, steps: Vec<Step>) -> MySqlSession {
    MySql::new(&fixture.spec(steps), "orders").unwrap().open().await.unwrap()
}

async fn variable(session: &mut MySqlSession, sql: &str) -> String {
    session.conn().unwrap().query_first(sql).await.unwrap().unwrap()
}

fn write(group: u32, batch: u64, confirmed: Option<u64>) -> Advance {
    Advance {
        group: KeyGroup(group),
        incarnation: Incarnation(1),
        batch: BatchNumber(batch),
        positions: "p".to_owned(),
        outbox: Some(b"o".to_vec()),
        confirmed: confirmed.map(BatchNumber),
        // The first two batches look for the rows, and the others know which they are.
        cleared: BatchNumber(confirmed.map_or(0, |confirmed| confirmed.saturating_sub(1))),
    }
}

#[test]
fn sessions_are_alike_whatever_the_server_says() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let mut session = session(&fixture, Vec::new()).await;
        assert_eq!(variable(&mut session, "SELECT @@tx_isolation").await, "READ-COMMITTED");
        assert_eq!(variable(&mut session, "SELECT @@time_zone").await, "+00:00");
        assert_eq!(variable(&mut session, "SELECT @@character_set_client").await, "utf8mb4");
        assert_eq!(variable(&mut session, "SELECT @@character_set_results").await, "utf8mb4");
        assert!(variable(&mut session, "SELECT @@sql_mode").await.contains("STRICT_ALL_TABLES"));
        assert_eq!(variable(&mut session, "SELECT @@max_statement_time").await, "31.000000");
        assert_eq!(variable(&mut session, "SELECT @@idle_transaction_timeout").await, "30");
        assert!(session.server.bulk);
        // Over TCP, never by a socket that the driver found on its own.
        let host = "SELECT host FROM information_schema.processlist WHERE id = connection_id()";
        assert!(variable(&mut session, host).await.contains(':'));
    });
}
