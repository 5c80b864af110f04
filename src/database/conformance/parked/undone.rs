//! Savepoints, rollbacks, and what a reset takes back.

use super::*;
use crate::database::{Advance, DatabaseError, ErrorClass, JobRow, Move, PositionRow, Reset};
use crate::model::{Incarnation, NextOffset};

fn advance(batch: u64) -> Advance {
    Advance {
        group: GROUP,
        incarnation: Incarnation(1),
        batch: BatchNumber(batch),
        positions: "p".to_owned(),
        outbox: Some(b"o".to_vec()),
        confirmed: None,
        cleared: BatchNumber(0),
    }
}

/// Whether the number is stored: nobody can store it again.
async fn is_stored(session: &mut dyn Session, stored: i64) -> bool {
    session.begin().await.unwrap();
    let done = session.store(0, &number(stored)).await;
    session.rollback().await.unwrap();
    match done {
        Ok(()) => false,
        Err(error) => {
            assert_eq!(error.class, ErrorClass::Reject, "{error}");
            true
        }
    }
}

pub(crate) async fn undo_takes_back_what_was_done_since_the_point(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    session.claim(&[GROUP]).await.unwrap();
    park(&mut *session, &[event(1, at(1, 0)), event(2, at(1, 1))]).await;
    mark(&mut *session, 1, ParkedMark::Retry, &[]).await;

    session.begin().await.unwrap();
    session.store(0, &number(1)).await.unwrap();
    session.park(&[event(3, at(2, 0))]).await.unwrap();
    session.savepoint().await.unwrap();
    session.store(0, &number(2)).await.unwrap();
    session.park(&[event(3, at(2, 1)), event(4, at(2, 2))]).await.unwrap();
    session.parked_work(GROUP, 10, usize::MAX).await.unwrap();
    session.settle_parked(GROUP, &[handled(1, at(1, 0))]).await.unwrap();
    assert!(session.advance(&[advance(1)]).await.unwrap());
    session.undo().await.unwrap();
    // The same again, from the same point on, and this time it stays.
    session.savepoint().await.unwrap();
    session.store(0, &number(3)).await.unwrap();
    session.release().await.unwrap();
    // What is refused takes back no more than what was done since.
    session.savepoint().await.unwrap();
    session.store(0, &number(4)).await.unwrap();
    let twice = session.store(0, &number(1)).await.unwrap_err();
    assert_eq!((twice.class, twice.rolled_back, twice.broken), (ErrorClass::Reject, false, false), "{twice}");
    session.undo().await.unwrap();
    assert!(session.advance(&[advance(1)]).await.unwrap());
    session.commit().await.unwrap();

    for (stored, is) in [(1, true), (2, false), (3, true), (4, false)] {
        assert_eq!(is_stored(&mut *session, stored).await, is, "{stored}");
    }
    let rows = [event(1, at(1, 0)), event(2, at(1, 1)), event(3, at(2, 0))];
    assert_eq!(all(&mut *session).await, rows);
    let keys = session.parked_keys(&[GROUP]).await.unwrap();
    assert_eq!(keys, [(GROUP, id(1)), (GROUP, id(2)), (GROUP, id(3))]);
    assert_eq!(work(&mut *session).await, [at(1, 0)]);
    assert_eq!(session.positions().await.unwrap()[0].batch, BatchNumber(1));
    assert_eq!(session.outbox(&[GROUP]).await.unwrap().len(), 1);
}

pub(crate) async fn parked_events_roll_back_as_one_with_the_stores(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    park(&mut *session, &[event(1, at(1, 0)), event(1, at(1, 1))]).await;
    mark(&mut *session, 1, ParkedMark::Retry, &[]).await;
    for given_up in [false, true] {
        session.begin().await.unwrap();
        session.store(0, &number(1)).await.unwrap();
        session.savepoint().await.unwrap();
        session.park(&[event(2, at(2, 0))]).await.unwrap();
        assert_eq!(session.parked_work(GROUP, 10, usize::MAX).await.unwrap().len(), 2);
        let done = [refused(1, at(1, 0)), dropped(1, at(1, 1))];
        assert_eq!(session.settle_parked(GROUP, &done).await.unwrap(), left(&[], false));
        // The transaction sees what it has done.
        assert_eq!(all(&mut *session).await.len(), 3);
        assert_eq!(session.marked_groups(&[GROUP]).await.unwrap(), []);
        if given_up {
            drop(session);
            session = database.connect().await.unwrap();
        } else {
            session.rollback().await.unwrap();
        }
        // A server may need a moment to see that a connection is gone: the locking read waits for it.
        session.claim(&[GROUP]).await.unwrap();
        mark(&mut *session, 1, ParkedMark::Retry, &[]).await;
        assert_eq!(all(&mut *session).await, [event(1, at(1, 0)), event(1, at(1, 1))]);
        assert_eq!(work(&mut *session).await, [at(1, 0), at(1, 1)]);
        assert!(!is_stored(&mut *session, 1).await);
    }
}

fn is_gone(done: Result<(), DatabaseError>) -> bool {
    done.is_err_and(|error| error.class == ErrorClass::Contention && !error.broken)
}

pub(crate) async fn a_point_needs_its_transaction(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    assert!(is_gone(session.savepoint().await), "nothing has begun");
    assert!(is_gone(session.undo().await));
    session.begin().await.unwrap();
    session.savepoint().await.unwrap();
    session.store(0, &number(1)).await.unwrap();
    session.rollback().await.unwrap();
    assert!(is_gone(session.savepoint().await));
    assert!(is_gone(session.release().await));
    assert!(is_gone(session.undo().await));
    assert!(!is_stored(&mut *session, 1).await, "nothing commits on its own");
    session.begin().await.unwrap();
    session.savepoint().await.unwrap();
    session.store(0, &number(1)).await.unwrap();
    session.release().await.unwrap();
    session.commit().await.unwrap();
    assert!(is_stored(&mut *session, 1).await);
}

pub(crate) async fn an_event_is_parked_in_one_place_once(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    park(&mut *session, &[event(1, at(1, 0))]).await;
    session.begin().await.unwrap();
    let twice = session.park(&[event(1, at(1, 1)), event(1, at(1, 0))]).await.unwrap_err();
    assert_eq!((twice.class, twice.row), (ErrorClass::Reject, Some(1)), "{twice}");
    session.rollback().await.unwrap();
    assert_eq!(all(&mut *session).await, [event(1, at(1, 0))]);
}

fn moved(topic: &str, partition: i32, to: i64) -> Move {
    let [from, handled, to] = [50, 60, to].map(NextOffset);
    Move { topic: topic.to_owned(), partition, from, handled, to }
}

pub(crate) async fn a_reset_takes_back_what_comes_again(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    let (fingerprint, ledger_id, marked_group) = ("f".to_owned(), "abc".to_owned(), String::new());
    let job = JobRow { key_groups: 4, fingerprint, ledger_id, resets: 0, marked_group };
    session.create_job(&job).await.unwrap();
    let positions: Vec<PositionRow> = session.claim(&[GROUP]).await.unwrap();
    // By batch: offsets 10, 20, 30, ...
    let mut elsewhere = event(6, at(5, 0));
    elsewhere.partition = 4;
    let mut topic = event(6, at(5, 1));
    topic.topic = "Orders".to_owned();
    let rows = [
        event(1, at(1, 0)),
        event(1, at(3, 0)),
        event(2, at(3, 1)),
        event(3, at(2, 0)),
        event(3, at(4, 0)),
        event(4, at(1, 1)),
        event(4, at(4, 1)),
        event(5, at(4, 2)),
        elsewhere.clone(),
        topic.clone(),
    ];
    park(&mut *session, &rows).await;
    mark(&mut *session, 1, ParkedMark::Retry, &[]).await;
    mark(&mut *session, 2, ParkedMark::Retry, &[]).await;
    // What was dropped comes again as well, and what is to be dropped is not any more.
    mark(&mut *session, 4, ParkedMark::Sweep, &[at(4, 1)]).await;
    mark(&mut *session, 5, ParkedMark::Sweep, &[at(4, 2)]).await;
    assert_eq!(settle(&mut *session, &[dropped(5, at(4, 2))]).await, left(&[5], true));
    let reset = |incarnation, to| Reset {
        at: "2026-01-31T12:00:00Z".to_owned(),
        positions: positions
            .iter()
            .map(|row| PositionRow { incarnation: Incarnation(incarnation), ..row.clone() })
            .collect(),
        moves: vec![moved("orders", 3, to), moved("orders", 9, 0)],
        topics: Vec::new(),
    };
    assert!(!session.reset(&reset(7, 30)).await.unwrap());
    assert_eq!(all(&mut *session).await.len(), rows.len());
    assert!(session.reset(&reset(1, 30)).await.unwrap());
    let kept = [event(1, at(1, 0)), event(4, at(1, 1)), event(3, at(2, 0)), elsewhere, topic];
    assert_eq!(all(&mut *session).await, kept);
    let keys = session.parked_keys(&[GROUP]).await.unwrap();
    assert_eq!(keys, [1, 3, 4, 6].map(|key| (GROUP, id(key))));
    assert_eq!(work(&mut *session).await, [at(1, 0)]);
    assert!(session.reset(&reset(1, 0)).await.unwrap());
    assert_eq!(session.parked_keys(&[GROUP]).await.unwrap(), [(GROUP, id(6))]);
    assert_eq!(session.marked_groups(&[GROUP]).await.unwrap(), []);
}
