//! Parked events: one script for every database that there is, the one in memory included.
//!
//! In:        a database with a ledger, and step 0 that stores a number, each once
//! Not here:  what only one engine does (its own tests)

use super::fixture::{Fixture, store};
use crate::database::{
    Database, ParkedAt, ParkedDone, ParkedLeft, ParkedMark, ParkedOutcome, ParkedRow, ParkedState,
    ParkedWish, Session,
};
use crate::model::{BatchNumber, KeyGroup, KeyId, Offset, Record, Value};
use bytes::Bytes;
use std::future::Future;
use std::sync::Arc;

pub(crate) mod asked;

pub(crate) mod handled;

pub(crate) mod undone;

pub(crate) const GROUP: KeyGroup = KeyGroup(2);

/// Runs a script on an engine.
pub(super) fn on<F: Future<Output = ()>>(fixture: Fixture, script: impl FnOnce(Arc<dyn Database>) -> F) {
    fixture.run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT PRIMARY KEY)").await;
        let database = fixture.open(vec![store("INSERT INTO t (id) VALUES (?)")]);
        database.connect().await.unwrap().create_ledger().await.unwrap();
        script(database).await;
    });
}

pub(crate) fn at(batch: u64, place: u32) -> ParkedAt {
    ParkedAt { group: GROUP, batch: BatchNumber(batch), place }
}

/// The key's id has bytes that no text has.
pub(crate) fn id(key: u8) -> KeyId {
    KeyId(u128::from_be_bytes([key, 0, 255, 128, 39, 92, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0]))
}

pub(crate) fn event(key: u8, at: ParkedAt) -> ParkedRow {
    let offset = i64::try_from(at.batch.0).unwrap() * 10 + i64::from(at.place);
    ParkedRow {
        at,
        key_id: id(key),
        key: Bytes::from(vec![b'k', key, 0, 255]),
        topic: "orders".to_owned(),
        partition: 3,
        offset: Offset(offset),
        index: 0,
        record: Record {
            timestamp_ms: Some(offset),
            key: Some(Bytes::from_static(b"k")),
            headers: vec![("h".to_owned(), Some(Bytes::from_static(b"v")))],
            value: Some(Bytes::from(vec![b'x'; 100])),
        },
        reason: "server_1062".to_owned(),
        detail: "a row with this key exists".to_owned(),
        parked_at: "2026-01-31T12:00:00Z".to_owned(),
        tried_at: "2026-01-31T12:00:00Z".to_owned(),
        tries: 1,
        state: ParkedState::Waiting,
    }
}

pub(crate) fn without_record(row: &ParkedRow) -> ParkedRow {
    let record = Record { timestamp_ms: None, key: None, headers: Vec::new(), value: None };
    ParkedRow { record, ..row.clone() }
}

/// Parks events in a transaction of their own.
pub(crate) async fn park(session: &mut dyn Session, rows: &[ParkedRow]) {
    session.begin().await.unwrap();
    session.park(rows).await.unwrap();
    session.commit().await.unwrap();
}

pub(crate) async fn mark(session: &mut dyn Session, key: u8, mark: ParkedMark, drop: &[ParkedAt]) -> usize {
    session.mark_parked(&[(GROUP, id(key))], mark, drop).await.unwrap()
}

/// What there is to do, seen and left alone.
pub(crate) async fn work(session: &mut dyn Session) -> Vec<ParkedAt> {
    session.begin().await.unwrap();
    let work = session.parked_work(GROUP, 1000, usize::MAX).await.unwrap();
    session.rollback().await.unwrap();
    work.iter().map(|row| row.at).collect()
}

/// Settles in a transaction of its own.
pub(crate) async fn settle(session: &mut dyn Session, done: &[ParkedDone]) -> ParkedLeft {
    session.begin().await.unwrap();
    session.parked_work(GROUP, 1000, usize::MAX).await.unwrap();
    let left = session.settle_parked(GROUP, done).await.unwrap();
    session.commit().await.unwrap();
    left
}

pub(crate) async fn all(session: &mut dyn Session) -> Vec<ParkedRow> {
    session.parked(&ParkedWish::default(), None, 10_000, true).await.unwrap()
}

pub(crate) fn handled(key: u8, at: ParkedAt) -> ParkedDone {
    ParkedDone { at, key_id: id(key), outcome: ParkedOutcome::Handled }
}

pub(crate) fn dropped(key: u8, at: ParkedAt) -> ParkedDone {
    let outcome = ParkedOutcome::Dropped { at: "2026-02-02T02:02:02Z".to_owned() };
    ParkedDone { at, key_id: id(key), outcome }
}

pub(crate) fn refused(key: u8, at: ParkedAt) -> ParkedDone {
    let (reason, detail) = ("server_1048".to_owned(), "a column got NULL".to_owned());
    let outcome = ParkedOutcome::Refused { reason, detail, at: "2026-02-01T01:01:01Z".to_owned() };
    ParkedDone { at, key_id: id(key), outcome }
}

pub(crate) fn left(freed: &[u8], more: bool) -> ParkedLeft {
    ParkedLeft { freed: freed.iter().copied().map(id).collect(), more }
}

pub(crate) fn number(number: i64) -> Vec<Vec<Value>> {
    vec![vec![Value::Int(number)]]
}
