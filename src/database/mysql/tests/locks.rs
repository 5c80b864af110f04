//! Who waits for whom, and who must not.

use super::{MySql, met, session, write};
use crate::database::conformance::fixture::{Fixture, error, store};
use crate::database::{DatabaseError, ErrorClass, Session};
use crate::model::{BatchNumber, Incarnation, KeyGroup, Value};
use mysql_async::prelude::Queryable;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn a_lock_that_is_held_and_a_deadlock_are_contention() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT PRIMARY KEY, v INT)").await;
        fixture.sql("INSERT INTO t VALUES (1, 0), (2, 0)").await;
        let steps = || vec![store("UPDATE t SET v = v + 1 WHERE id = ?")];
        let (mut one, mut two) = (session(&fixture, steps()).await, session(&fixture, steps()).await);
        let row = |id| vec![vec![Value::Int(id)]];
        let first = row(1);
        let second = row(2);
        one.begin().await.unwrap();
        one.store(0, &first).await.unwrap();
        two.begin().await.unwrap();
        two.store(0, &second).await.unwrap();
        two.conn().unwrap().query_drop("SET SESSION innodb_lock_wait_timeout = 1").await.unwrap();
        let waited = error(two.store(0, &first).await);
        met(&waited, 1205, ErrorClass::Contention);
        assert!(!waited.broken && !waited.rolled_back);
        // Crossed: one waits for two, and two asks for what one has.
        two.conn().unwrap().query_drop("SET SESSION innodb_lock_wait_timeout = 20").await.unwrap();
        let crossing = tokio::spawn(async move {
            let done = one.store(0, &row(2)).await;
            (one, done)
        });
        let other = two.store(0, &first).await;
        let (mut one, crossed) = match other {
            Err(_) => {
                two.rollback().await.unwrap();
                crossing.await.unwrap()
            }
            Ok(()) => {
                two.rollback().await.unwrap();
                crossing.await.unwrap()
            }
        };
        let deadlock = error(other.and(crossed));
        met(&deadlock, 1213, ErrorClass::Contention);
        assert!(deadlock.rolled_back && !deadlock.broken);
        one.rollback().await.unwrap();
    });
}

#[test]
fn the_locks_of_a_silent_session_are_free_after_its_deadline() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let mut spec = fixture.spec(Vec::new());
        spec.deadline_s = 1;
        let mut silent = MySql::new(&spec, "orders").unwrap().open().await.unwrap();
        silent.create_ledger().await.unwrap();
        silent.claim(&[KeyGroup(1)]).await.unwrap();
        silent.begin().await.unwrap();
        assert!(silent.advance(&[write(1, 1, None)]).await.unwrap());
        // As when a process stands still: nothing more comes, and the connection stays open.
        let mut next = session(&fixture, Vec::new()).await;
        let claimed = tokio::time::timeout(Duration::from_secs(20), next.claim(&[KeyGroup(1)])).await;
        let claimed = claimed.expect("the row is free long before this").unwrap();
        assert_eq!((claimed[0].batch, claimed[0].incarnation), (BatchNumber(0), Incarnation(2)));
        let late = error(silent.commit().await);
        assert_eq!((late.class, late.broken), (ErrorClass::Outage, true), "{late}");
    });
}

#[test]
fn key_groups_of_two_sessions_never_wait_for_each_other() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let mut one = session(&fixture, Vec::new()).await;
        let mut two = session(&fixture, Vec::new()).await;
        one.create_ledger().await.unwrap();
        one.claim(&[1, 2, 3, 4].map(KeyGroup)).await.unwrap();
        for session in [&mut one, &mut two] {
            session.conn().unwrap().query_drop("SET SESSION innodb_lock_wait_timeout = 1").await.unwrap();
        }
        for batch in 1..=4 {
            let before = (batch > 1).then(|| batch - 1);
            one.begin().await.unwrap();
            two.begin().await.unwrap();
            // Group 1 has nothing new in the outbox: the row behind its confirmed one is group 2's.
            let mut quiet = write(1, batch, before);
            quiet.outbox = if batch % 2 == 1 { quiet.outbox } else { None };
            assert!(two.advance(&[write(2, batch, before), write(4, batch, before)]).await.unwrap());
            assert!(one.advance(&[quiet, write(3, batch, before)]).await.unwrap());
            one.commit().await.unwrap();
            two.commit().await.unwrap();
        }
        let left = one.outbox(&[1, 2, 3, 4].map(KeyGroup)).await.unwrap();
        let left: Vec<_> = left.iter().map(|row| (row.group.0, row.batch.0)).collect();
        assert_eq!(left, [(2, 4), (3, 4), (4, 4)]);
    });
}

#[test]
fn sessions_side_by_side_meet_neither_lock_nor_deadlock() {
    const SESSIONS: u32 = 4;
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let mut first = session(&fixture, Vec::new()).await;
        first.create_ledger().await.unwrap();
        let all: Vec<KeyGroup> = (0..4 * SESSIONS).map(KeyGroup).collect();
        first.claim(&all).await.unwrap();
        let mut tasks = Vec::new();
        for index in 0..SESSIONS {
            let mut session = session(&fixture, Vec::new()).await;
            session.conn().unwrap().query_drop("SET SESSION innodb_lock_wait_timeout = 1").await.unwrap();
            tasks.push(tokio::spawn(async move {
                for batch in 1..=40 {
                    session.begin().await?;
                    let of = |group| {
                        let mut write = write(group, batch, batch.checked_sub(2));
                        // Now and then nothing to send, at another time for each group.
                        write.outbox = write.outbox.filter(|_| (batch + u64::from(group)) % 3 > 0);
                        write
                    };
                    let writes: Vec<_> = (0..4).map(|n| of(n * SESSIONS + index)).collect();
                    assert!(session.advance(&writes).await?);
                    session.commit().await?;
                }
                Ok::<(), DatabaseError>(())
            }));
        }
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        let positions = first.positions().await.unwrap();
        assert!(positions.iter().all(|row| row.batch == BatchNumber(40)), "{positions:?}");
    });
}
