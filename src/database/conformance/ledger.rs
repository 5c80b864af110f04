//! The ledger: atomic, fenced, and read by whoever needs the truth.

use super::fixture::{Fixture, error, store};
use crate::database::{Advance, ErrorClass, FrontierRow, JobRow, OutboxRow, PositionRow};
use crate::model::{BatchNumber, Incarnation, KeyGroup, NextOffset, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

fn groups(numbers: &[u32]) -> Vec<KeyGroup> {
    numbers.iter().copied().map(KeyGroup).collect()
}

fn write(group: u32, incarnation: u64, batch: u64) -> Advance {
    Advance {
        group: KeyGroup(group),
        incarnation: Incarnation(incarnation),
        batch: BatchNumber(batch),
        positions: format!("positions of {group} at {batch}"),
        outbox: None,
        confirmed: None,
        cleared: BatchNumber(0),
    }
}

fn with_outbox(mut write: Advance, outputs: &[u8]) -> Advance {
    write.outbox = Some(outputs.to_vec());
    write
}

fn row(group: u32, incarnation: u64, batch: u64, output_batch: u64, positions: &str) -> PositionRow {
    PositionRow {
        group: KeyGroup(group),
        incarnation: Incarnation(incarnation),
        batch: BatchNumber(batch),
        output_batch: BatchNumber(output_batch),
        positions: positions.to_owned(),
        confirmed: BatchNumber(0),
    }
}

pub(super) async fn is_created_once_by_many(fixture: Arc<Fixture>) {
    let mut tasks = Vec::new();
    for _ in 0..4 {
        let database = fixture.open(Vec::new());
        tasks.push(tokio::spawn(async move { database.connect().await?.create_ledger().await }));
    }
    for task in tasks {
        task.await.unwrap().unwrap();
    }
    fixture.ledger(Vec::new()).await.create_ledger().await.unwrap();
    assert_eq!(fixture.column("SELECT version FROM tidegate_ledger").await, ["3"]);
}

pub(super) async fn of_another_version_is_refused(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    fixture.sql("UPDATE tidegate_ledger SET version = 7").await;
    let refused = error(session.create_ledger().await);
    assert_eq!(refused.class, ErrorClass::Misconfigured);
    assert!(
        refused.message.contains("have version 7") && refused.message.contains("writes version 3"),
        "{refused}"
    );
    assert_eq!(error(session.job_row().await).class, ErrorClass::Misconfigured);
}

pub(super) async fn is_missing(fixture: Arc<Fixture>) {
    let mut session = fixture.session(Vec::new()).await;
    let missing = error(session.job_row().await);
    assert_eq!(missing.class, ErrorClass::Misconfigured);
    assert!(missing.message.contains("the ledger's tables are missing"), "{missing}");
    // The printed statements make it as well as the job itself does.
    for text in crate::database::ledger_ddl(&fixture.kind) {
        fixture.sql(&text).await;
    }
    assert_eq!(session.job_row().await.unwrap(), None);
}

fn new_job() -> JobRow {
    JobRow {
        key_groups: 16,
        fingerprint: "f1".into(),
        ledger_id: "abc".into(),
        resets: 0,
        marked_group: String::new(),
    }
}

pub(super) async fn remembers_the_job(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    assert_eq!(session.job_row().await.unwrap(), None);
    let missing = error(session.set_fingerprint("f").await);
    assert_eq!(missing.class, ErrorClass::Misconfigured);
    let mut job = new_job();
    session.create_job(&job).await.unwrap();
    assert_eq!(session.job_row().await.unwrap().as_ref(), Some(&job));
    session.set_fingerprint("f2").await.unwrap();
    session.set_fingerprint("f2").await.unwrap();
    job.fingerprint = "f2".into();
    assert_eq!(session.job_row().await.unwrap().as_ref(), Some(&job));
    assert_eq!(error(session.create_job(&job).await).class, ErrorClass::Reject);
    for group in ["orders", "another"] {
        session.mark_group(group).await.unwrap();
        assert_eq!(session.job_row().await.unwrap().unwrap().marked_group, group);
    }
    // Names differ by case, too.
    let other = crate::database::open(&fixture.spec(Vec::new()), "Orders").unwrap();
    assert_eq!(other.connect().await.unwrap().job_row().await.unwrap(), None);
}

pub(super) async fn claims_raise_the_incarnation(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    let first = session.claim(&groups(&[2, 0])).await.unwrap();
    assert_eq!(first, [row(0, 1, 0, 0, ""), row(2, 1, 0, 0, "")]);
    let second = session.claim(&groups(&[0, 1, 2])).await.unwrap();
    assert_eq!(second, [row(0, 2, 0, 0, ""), row(1, 1, 0, 0, ""), row(2, 2, 0, 0, "")]);
    assert_eq!(session.positions().await.unwrap(), second);
    assert_eq!(session.claim(&[]).await.unwrap(), []);
}

pub(super) async fn advances_and_forgets_what_is_confirmed(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    session.claim(&groups(&[1, 2, 3])).await.unwrap();
    session.begin().await.unwrap();
    let writes =
        [with_outbox(write(1, 1, 1), b"one"), write(2, 1, 1), with_outbox(write(3, 1, 1), &[0, 255, 39])];
    assert!(session.advance(&writes).await.unwrap());
    session.commit().await.unwrap();
    let outbox = |group: u32, batch: u64, outputs: &[u8]| OutboxRow {
        group: KeyGroup(group),
        batch: BatchNumber(batch),
        outputs: outputs.to_vec(),
    };
    let found = session.outbox(&groups(&[3, 1, 2])).await.unwrap();
    assert_eq!(found, [outbox(1, 1, b"one"), outbox(3, 1, &[0, 255, 39])]);

    session.begin().await.unwrap();
    let mut third = with_outbox(write(3, 1, 2), b"more");
    third.confirmed = Some(BatchNumber(1));
    let mut second = write(1, 1, 2);
    second.confirmed = Some(BatchNumber(0));
    assert!(session.advance(&[third, second]).await.unwrap());
    session.commit().await.unwrap();
    let expected = [
        row(1, 1, 2, 1, "positions of 1 at 2"),
        row(2, 1, 1, 0, "positions of 2 at 1"),
        PositionRow { confirmed: BatchNumber(1), ..row(3, 1, 2, 2, "positions of 3 at 2") },
    ];
    assert_eq!(session.positions().await.unwrap(), expected);
    assert_eq!(session.settle(&groups(&[3, 1])).await.unwrap(), [expected[0].clone(), expected[2].clone()]);
    let found = session.outbox(&groups(&[1, 2, 3])).await.unwrap();
    assert_eq!(found, [outbox(1, 1, b"one"), outbox(3, 2, b"more")]);
}

pub(super) async fn takes_many_groups_at_once(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    let all: Vec<u32> = (0..300).collect();
    session.claim(&groups(&all)).await.unwrap();
    for batch in 1_u64..=3 {
        session.begin().await.unwrap();
        let of = |g: &u32| Advance {
            confirmed: Some(BatchNumber(batch - 1)),
            cleared: BatchNumber(batch.saturating_sub(2)),
            ..with_outbox(write(*g, 1, batch), b"o")
        };
        let writes: Vec<Advance> = all.iter().map(of).collect();
        assert!(session.advance(&writes).await.unwrap());
        session.commit().await.unwrap();
    }
    let found = session.positions().await.unwrap();
    assert_eq!(found.len(), 300);
    assert!(found.iter().all(|r| r.batch.0 == 3 && r.positions == format!("positions of {} at 3", r.group)));
    let outbox = session.outbox(&groups(&all)).await.unwrap();
    assert!(outbox.len() == 300 && outbox.iter().all(|r| r.batch.0 == 3));
}

pub(super) async fn refuses_who_does_not_own_the_group(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    session.claim(&groups(&[1, 2])).await.unwrap();
    session.claim(&groups(&[2])).await.unwrap();
    let refused = [
        vec![write(1, 1, 2)],
        vec![write(1, 1, 0)],
        vec![write(1, 2, 1)],
        vec![write(1, 1, 1), write(2, 1, 1)],
        vec![write(7, 1, 1)],
    ];
    for writes in refused {
        session.begin().await.unwrap();
        assert!(!session.advance(&writes).await.unwrap(), "{writes:?}");
        session.rollback().await.unwrap();
    }
    assert_eq!(session.positions().await.unwrap(), [row(1, 1, 0, 0, ""), row(2, 2, 0, 0, "")]);
    session.begin().await.unwrap();
    assert!(session.advance(&[write(1, 1, 1), write(2, 2, 1)]).await.unwrap());
    session.commit().await.unwrap();
}

pub(super) async fn rolls_back_as_one_with_the_stores(fixture: Arc<Fixture>) {
    fixture.sql("CREATE TABLE t (id INT PRIMARY KEY)").await;
    let mut session = fixture.ledger(vec![store("INSERT INTO t (id) VALUES (?)")]).await;
    session.claim(&groups(&[1])).await.unwrap();
    for keep in [false, true] {
        session.begin().await.unwrap();
        session.store(0, &[vec![Value::Int(1)], vec![Value::Int(2)]]).await.unwrap();
        assert!(session.advance(&[with_outbox(write(1, 1, 1), b"x")]).await.unwrap());
        if keep {
            session.commit().await.unwrap();
        } else {
            session.rollback().await.unwrap();
        }
        let stored = fixture.column("SELECT id FROM t ORDER BY id").await;
        let outbox = session.outbox(&groups(&[1])).await.unwrap();
        let positions = session.positions().await.unwrap();
        let expected: &[&str] = if keep { &["1", "2"] } else { &[] };
        assert_eq!(stored, expected);
        assert_eq!((outbox.len(), positions[0].batch.0), if keep { (1, 1) } else { (0, 0) });
    }
}

pub(super) async fn frontier_never_moves_back(fixture: Arc<Fixture>) {
    let mut session = fixture.ledger(Vec::new()).await;
    let row = |topic: &str, partition: i32, next: i64| FrontierRow {
        topic: topic.to_owned(),
        partition,
        next: NextOffset(next),
    };
    assert_eq!(session.frontier().await.unwrap(), []);
    assert!(session.advance_frontier(&[row("b", 0, 5), row("a", 1, 9)], 0).await.unwrap());
    let more = [row("b", 0, 3), row("a", 1, 10), row("A", 0, 1)];
    assert!(session.advance_frontier(&more, 0).await.unwrap());
    assert!(session.advance_frontier(&[], 0).await.unwrap());
    let mut found = session.frontier().await.unwrap();
    found.sort_by(|a, b| a.topic.cmp(&b.topic));
    assert_eq!(found, [row("A", 0, 1), row("a", 1, 10), row("b", 0, 5)]);
}

pub(super) async fn settle_waits_for_the_open_transaction(fixture: Arc<Fixture>) {
    let database = fixture.open(Vec::new());
    let mut session = database.connect().await.unwrap();
    session.create_ledger().await.unwrap();
    session.claim(&groups(&[4])).await.unwrap();
    session.begin().await.unwrap();
    assert!(session.advance(&[write(4, 1, 1)]).await.unwrap());
    let committing = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&committing);
    let settling = tokio::spawn(async move {
        let mut other = database.connect().await.unwrap();
        let rows = other.settle(&[KeyGroup(4)]).await.unwrap();
        (rows, seen.load(Ordering::SeqCst))
    });
    // Long enough for a settle that does not wait to be seen.
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert!(!settling.is_finished());
    committing.store(true, Ordering::SeqCst);
    session.commit().await.unwrap();
    let (rows, after_commit) = settling.await.unwrap();
    assert!(after_commit);
    assert_eq!(rows, [row(4, 1, 1, 0, "positions of 4 at 1")]);
}

pub(super) async fn a_dropped_session_leaves_nothing(fixture: Arc<Fixture>) {
    let database = fixture.open(Vec::new());
    let mut session = database.connect().await.unwrap();
    session.create_ledger().await.unwrap();
    session.claim(&groups(&[4])).await.unwrap();
    session.begin().await.unwrap();
    assert!(session.advance(&[with_outbox(write(4, 1, 1), b"x")]).await.unwrap());
    drop(session);
    let mut other = database.connect().await.unwrap();
    assert_eq!(other.settle(&groups(&[4])).await.unwrap(), [row(4, 1, 0, 0, "")]);
    assert_eq!(other.outbox(&groups(&[4])).await.unwrap(), []);
}
