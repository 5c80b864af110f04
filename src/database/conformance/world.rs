//! What the ledger remembers of the world, the resets of positions, and ledgers that an older version has made.

use super::fixture::{Fixture, error};
use crate::database::{
    Advance, ErrorClass, FrontierRow, JobRow, LedgerState, Move, PositionRow, Reset, TopicRow, ledger_upgrade,
};
use crate::model::{BatchNumber, Incarnation, KeyGroup, NextOffset};
use std::sync::Arc;

fn topic(name: &str, id: &str) -> TopicRow {
    TopicRow { topic: name.to_owned(), id: id.to_owned() }
}

fn frontier(topic: &str, partition: i32, next: i64) -> FrontierRow {
    FrontierRow { topic: topic.to_owned(), partition, next: NextOffset(next) }
}

fn job() -> JobRow {
    let (fingerprint, marked_group) = ("f".to_owned(), String::new());
    JobRow { key_groups: 2, fingerprint, ledger_id: "abc".to_owned(), resets: 0, marked_group }
}

pub(super) async fn topics_are_remembered(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    assert_eq!(session.topics().await.unwrap(), []);
    session.remember_topics(&[]).await.unwrap();
    session.remember_topics(&[topic("b", "1"), topic("a", "2")]).await.unwrap();
    session.remember_topics(&[topic("b", "3")]).await.unwrap();
    assert_eq!(session.topics().await.unwrap(), [topic("a", "2"), topic("b", "3")]);
}

fn moved(topic: &str, partition: i32, [from, handled, to]: [i64; 3]) -> Move {
    let [from, handled, to] = [from, handled, to].map(NextOffset);
    Move { topic: topic.to_owned(), partition, from, handled, to }
}

fn reset_of(group: u32, incarnation: u64, moves: Vec<Move>) -> Reset {
    let row = PositionRow {
        group: KeyGroup(group),
        incarnation: Incarnation(incarnation),
        batch: BatchNumber(9),
        output_batch: BatchNumber(8),
        positions: "a:0=4".to_owned(),
        confirmed: BatchNumber(8),
    };
    Reset {
        at: "2026-01-31T12:00:00Z".to_owned(),
        positions: vec![row],
        moves,
        topics: vec![topic("a", "new")],
    }
}

pub(super) async fn a_reset_moves_everything_at_once(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    session.create_job(&job()).await.unwrap();
    session.claim(&[KeyGroup(0)]).await.unwrap();
    session.advance_frontier(&[frontier("a", 0, 50), frontier("b", 0, 7)], 0).await.unwrap();
    let advance = Advance {
        group: KeyGroup(0),
        incarnation: Incarnation(1),
        batch: BatchNumber(1),
        positions: String::new(),
        outbox: Some(b"one".to_vec()),
        confirmed: None,
        cleared: BatchNumber(0),
    };
    session.begin().await.unwrap();
    assert!(session.advance(&[advance]).await.unwrap());
    session.commit().await.unwrap();

    let back = reset_of(0, 1, vec![moved("a", 0, [50, 55, 10]), moved("c", 1, [0, 0, 3])]);
    assert!(session.reset(&back).await.unwrap());
    assert_eq!(session.positions().await.unwrap(), back.positions);
    assert_eq!(session.outbox(&[KeyGroup(0)]).await.unwrap(), []);
    let expected = [frontier("a", 0, 10), frontier("b", 0, 7), frontier("c", 1, 3)];
    assert_eq!(session.frontier().await.unwrap(), expected);
    assert_eq!(session.topics().await.unwrap(), [topic("a", "new")]);
    assert_eq!(session.job_row().await.unwrap().unwrap().resets, 1);

    assert!(session.reset(&reset_of(0, 1, vec![moved("a", 0, [10, 10, 20])])).await.unwrap());
    let resets = session.resets().await.unwrap();
    let found: Vec<_> = resets.iter().map(|row| (row.number, row.moved.clone())).collect();
    assert_eq!(
        found,
        [(1, moved("a", 0, [50, 55, 10])), (1, moved("c", 1, [0, 0, 3])), (2, moved("a", 0, [10, 10, 20]))]
    );
    assert!(resets.iter().all(|row| row.at == "2026-01-31T12:00:00Z"));
}

pub(super) async fn a_reset_needs_its_claims(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    let back = reset_of(0, 1, vec![moved("a", 0, [50, 50, 10])]);
    assert!(!session.reset(&back).await.unwrap(), "there is no job");
    session.create_job(&job()).await.unwrap();
    assert!(!session.reset(&back).await.unwrap(), "nothing was claimed");
    session.claim(&[KeyGroup(0)]).await.unwrap();
    let before = session.claim(&[KeyGroup(0)]).await.unwrap();
    assert!(!session.reset(&back).await.unwrap(), "claimed again since");
    assert_eq!(session.positions().await.unwrap(), before);
    assert_eq!(session.frontier().await.unwrap(), []);
    assert_eq!(session.resets().await.unwrap(), []);
    assert_eq!(session.job_row().await.unwrap().unwrap().resets, 0);
    assert!(session.reset(&reset_of(0, 2, Vec::new())).await.unwrap());
}

pub(super) async fn a_frontier_of_before_a_reset_is_refused(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    session.create_job(&job()).await.unwrap();
    session.claim(&[KeyGroup(0)]).await.unwrap();
    assert!(session.advance_frontier(&[frontier("a", 0, 50)], 0).await.unwrap());
    assert!(session.reset(&reset_of(0, 1, vec![moved("a", 0, [50, 50, 10])])).await.unwrap());
    assert!(!session.advance_frontier(&[frontier("a", 0, 60)], 0).await.unwrap());
    assert_eq!(session.frontier().await.unwrap(), [frontier("a", 0, 10)]);
    assert!(session.advance_frontier(&[frontier("a", 0, 11)], 1).await.unwrap());
    assert_eq!(session.frontier().await.unwrap(), [frontier("a", 0, 11)]);
}

/// Makes of the ledger what version 1 had made.
async fn put_back_to_version_1(fixture: &Fixture) {
    for sql in [
        "ALTER TABLE tidegate_job DROP COLUMN resets",
        "ALTER TABLE tidegate_job DROP COLUMN marked_group",
        "ALTER TABLE tidegate_position DROP COLUMN confirmed_batch",
        "DROP TABLE tidegate_topic",
        "DROP TABLE tidegate_reset",
        "DROP TABLE tidegate_parked",
        "DROP TABLE tidegate_parked_key",
        "UPDATE tidegate_ledger SET version = 1",
        "INSERT INTO tidegate_job (job, key_groups, fingerprint, ledger_id) VALUES ('orders', 2, 'f', 'abc')",
        "INSERT INTO tidegate_position (job, key_group, incarnation, batch, output_batch, positions) \
         VALUES ('orders', 0, 3, 9, 8, 'a:0=4')",
    ] {
        fixture.sql(sql).await;
    }
}

pub(super) async fn a_ledger_of_version_1_is_brought_up(fixture: Arc<Fixture>) {
    let mut session = fixture.session(Vec::new()).await;
    assert_eq!(session.ledger_state().await.unwrap(), LedgerState::Missing);
    session.create_ledger().await.unwrap();
    assert_eq!(session.ledger_state().await.unwrap(), LedgerState::Ready);
    drop(session);
    put_back_to_version_1(&fixture).await;

    let mut session = fixture.session(Vec::new()).await;
    assert_eq!(session.ledger_state().await.unwrap(), LedgerState::Older(1));
    let older = error(session.job_row().await);
    assert_eq!(older.class, ErrorClass::Misconfigured);
    assert!(older.message.contains("version 1") && older.message.contains("tidegate run"), "{older}");
    let mut tasks = Vec::new();
    for _ in 0..3 {
        let database = fixture.open(Vec::new());
        tasks.push(tokio::spawn(async move { database.connect().await?.create_ledger().await }));
    }
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    assert_eq!(session.ledger_state().await.unwrap(), LedgerState::Ready);
    assert_eq!(session.job_row().await.unwrap(), Some(job()));
    let row = &session.positions().await.unwrap()[0];
    assert_eq!(
        (row.incarnation, row.batch, row.output_batch),
        (Incarnation(3), BatchNumber(9), BatchNumber(8))
    );
    assert_eq!((row.positions.as_str(), row.confirmed), ("a:0=4", BatchNumber(0)));
}

pub(super) async fn the_printed_statements_bring_it_up_as_well(fixture: Arc<Fixture>) {
    drop(fixture.ledger(Vec::new()).await);
    put_back_to_version_1(&fixture).await;
    for text in ledger_upgrade(&fixture.kind, 1) {
        fixture.sql(&text).await;
    }
    let mut session = fixture.session(Vec::new()).await;
    assert_eq!(session.ledger_state().await.unwrap(), LedgerState::Ready);
    assert_eq!(session.job_row().await.unwrap(), Some(job()));
}

pub(super) async fn a_newer_ledger_is_refused(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    fixture.sql("UPDATE tidegate_ledger SET version = 4").await;
    let newer = error(session.ledger_state().await);
    assert_eq!(newer.class, ErrorClass::Misconfigured);
    assert!(newer.message.contains("version 4") && newer.message.contains("another Tidegate"), "{newer}");
}
