//! The database in memory, and the wire in front of it.

use crate::database::{Advance, Database, ErrorClass, Session};
use crate::model::{BatchNumber, Incarnation, KeyGroup, Value};
use crate::testing::{DatabaseFaults, FaultyDatabase, History, Link, MemoryDatabase, MemoryStep};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;

const GROUP: KeyGroup = KeyGroup(2);

fn database() -> Arc<MemoryDatabase> {
    let text = |text: &str| Value::Text(text.to_owned());
    let known = MemoryStep::Lookup(vec![(vec![text("a")], vec![text("A")])]);
    MemoryDatabase::new(vec![known, MemoryStep::Store { unique: vec![0], refuses: None }], None)
}

fn faulty(database: &Arc<MemoryDatabase>, faults: DatabaseFaults) -> (FaultyDatabase, Arc<Link>) {
    let link = Link::new("test", 1, Arc::new(History::default()));
    (FaultyDatabase::new(database.handle(), Arc::clone(&link), faults), link)
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn write(incarnation: u64, batch: u64) -> Advance {
    Advance {
        group: GROUP,
        incarnation: Incarnation(incarnation),
        batch: BatchNumber(batch),
        positions: "p".to_owned(),
        outbox: Some(vec![1]),
        confirmed: None,
        cleared: BatchNumber(0),
    }
}

/// Claims, and leaves a transaction open that has stored a row and written batch 1.
async fn in_transaction(database: &dyn Database) -> Box<dyn Session> {
    let mut session = database.connect().await.unwrap();
    session.claim(&[GROUP]).await.unwrap();
    session.begin().await.unwrap();
    session.store(1, &[vec![Value::Int(1)]]).await.unwrap();
    assert!(session.advance(&[write(1, 1)]).await.unwrap());
    session
}

fn left(database: &MemoryDatabase) -> (usize, u64, usize) {
    let tables = database.tables();
    let batch = tables.positions.get(&GROUP).map_or(0, |row| row.batch.0);
    (tables.rows.len(), batch, tables.outbox.len())
}

#[test]
fn a_transaction_is_whole_or_nothing() {
    runtime().block_on(async {
        let database = database();
        let handle = database.handle();
        let mut session = in_transaction(&*handle).await;
        assert_eq!(left(&database), (0, 0, 0));
        session.rollback().await.unwrap();
        assert_eq!(left(&database), (0, 0, 0));
        session.begin().await.unwrap();
        session.store(1, &[vec![Value::Int(1)]]).await.unwrap();
        assert!(session.advance(&[write(1, 1)]).await.unwrap());
        session.commit().await.unwrap();
        assert_eq!(left(&database), (1, 1, 1));
        assert_eq!(database.locked(), 0);
    });
}

#[test]
fn who_does_not_own_the_group_is_refused() {
    runtime().block_on(async {
        let database = database();
        let mut session = in_transaction(&*database.handle()).await;
        session.commit().await.unwrap();
        session.claim(&[GROUP]).await.unwrap();
        for wrong in [write(1, 2), write(2, 3)] {
            session.begin().await.unwrap();
            assert!(!session.advance(&[wrong]).await.unwrap());
            session.rollback().await.unwrap();
        }
        session.begin().await.unwrap();
        let twice = session.advance(&[write(2, 1)]).await.unwrap_err();
        assert_eq!(twice.class, ErrorClass::Reject, "the outbox has that batch: {twice}");
        session.rollback().await.unwrap();
        session.begin().await.unwrap();
        assert!(session.advance(&[write(2, 2)]).await.unwrap());
        session.commit().await.unwrap();
        assert_eq!(left(&database).1, 2);
    });
}

#[test]
fn a_lookup_finds_and_a_unique_key_is_refused_by_row() {
    runtime().block_on(async {
        let database = database();
        let mut session = database.handle().connect().await.unwrap();
        let text = |text: &str| Value::Text(text.to_owned());
        let found = session.lookup(0, &[vec![text("b")], vec![text("a")]]).await.unwrap();
        assert_eq!(found, [None, Some(vec![text("A")])]);
        session.begin().await.unwrap();
        let rows = [vec![Value::Int(1)], vec![Value::Int(2)], vec![Value::Int(1)]];
        let refused = session.store(1, &rows).await.unwrap_err();
        assert_eq!((refused.class, refused.row), (ErrorClass::Reject, Some(2)));
    });
}

#[test]
fn settle_waits_for_the_open_transaction() {
    runtime().block_on(async {
        let database = database();
        let handle = database.handle();
        let mut open = in_transaction(&*handle).await;
        let asking = tokio::spawn(async move {
            let mut session = handle.connect().await.unwrap();
            session.settle(&[GROUP]).await
        });
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!asking.is_finished());
        open.commit().await.unwrap();
        let rows = asking.await.unwrap().unwrap();
        assert_eq!(rows[0].batch, BatchNumber(1));
    });
}

#[test]
fn who_holds_a_row_for_too_long_is_contention_and_a_dropped_session_lets_go() {
    runtime().block_on(async {
        let database = database();
        let handle = database.handle();
        let open = in_transaction(&*handle).await;
        let mut other = handle.connect().await.unwrap();
        assert_eq!(other.claim(&[GROUP]).await.unwrap_err().class, ErrorClass::Contention);
        drop(open);
        assert_eq!(other.claim(&[GROUP]).await.unwrap()[0].incarnation, Incarnation(2));
    });
}

#[test]
fn an_outage_loses_sessions_and_their_transactions() {
    runtime().block_on(async {
        let database = database();
        let handle = database.handle();
        let mut open = in_transaction(&*handle).await;
        database.set_outage(true);
        assert_eq!(handle.connect().await.err().unwrap().class, ErrorClass::Outage);
        database.set_outage(false);
        let error = open.commit().await.unwrap_err();
        assert!(error.class == ErrorClass::Outage && error.broken && error.rolled_back);
        assert_eq!((left(&database), database.locked()), ((0, 0, 0), 0));
    });
}

#[test]
fn a_commit_that_goes_unanswered_is_done_or_not_or_done_later() {
    let none = DatabaseFaults::default();
    let lost = DatabaseFaults { commit_lost: 1000, ..none };
    let answer = DatabaseFaults { commit_answer_lost: 1000, ..none };
    let late = DatabaseFaults { commit_late: 1000, ..none };
    for (faults, batch) in [(lost, 0), (answer, 1), (late, 1)] {
        runtime().block_on(async {
            let database = database();
            let (wire, _) = faulty(&database, faults);
            let error = in_transaction(&wire).await.commit().await.unwrap_err();
            assert!(error.class == ErrorClass::Outage && error.broken && !error.rolled_back);
            let rows = wire.connect().await.unwrap().settle(&[GROUP]).await.unwrap();
            assert_eq!(rows[0].batch, BatchNumber(batch), "{faults:?}: a locking read tells");
        });
    }
}

#[test]
fn a_killed_process_leaves_nothing_open() {
    runtime().block_on(async {
        let database = database();
        let (wire, link) = faulty(&database, DatabaseFaults::default());
        let mut session = in_transaction(&wire).await;
        link.cut();
        assert_eq!(session.commit().await.unwrap_err().class, ErrorClass::Rights);
        assert_eq!((left(&database), database.locked()), ((0, 0, 0), 0));
        assert_eq!(wire.connect().await.err().unwrap().class, ErrorClass::Rights);
    });
}

#[test]
fn a_frozen_process_keeps_its_locks_unless_the_server_gives_it_up() {
    for (given_up, locked) in [(0, 1), (1000, 0)] {
        runtime().block_on(async {
            let database = database();
            let (wire, link) = faulty(&database, DatabaseFaults { given_up, ..DatabaseFaults::default() });
            let mut session = in_transaction(&wire).await;
            link.freeze();
            let commit = tokio::spawn(async move { session.commit().await });
            let mut other = database.handle().connect().await.unwrap();
            let claimed = other.claim(&[GROUP]).await;
            assert_eq!(claimed.is_err(), locked == 1, "{claimed:?}");
            link.thaw();
            assert_eq!(commit.await.unwrap().is_ok(), locked == 1);
        });
    }
}
