//! Parked events on a real server: who waits for whom, large records, and transactions that the server took back.

use super::session;
use crate::database::conformance::fixture::{Fixture, error, store};
use crate::database::conformance::parked::{all, at, event, id};
use crate::database::conformance::server::Server;
use crate::database::mysql::session::MySqlSession;
use crate::database::{
    DatabaseError, ErrorClass, Parked, ParkedAt, ParkedDone, ParkedMark, ParkedOutcome, ParkedRow, Session,
};
use crate::model::{KeyGroup, Value};
use bytes::Bytes;
use mysql_async::prelude::Queryable;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

async fn impatient(fixture: &Fixture) -> MySqlSession {
    let mut session = session(fixture, vec![store("INSERT INTO t (id) VALUES (?)")]).await;
    session.conn().unwrap().query_drop("SET SESSION innodb_lock_wait_timeout = 1").await.unwrap();
    session
}

fn of(group: u32, key: u8, batch: u64, place: u32) -> ParkedRow {
    event(key, ParkedAt { group: KeyGroup(group), ..at(batch, place) })
}

fn all_handled(rows: &[ParkedRow]) -> Vec<ParkedDone> {
    let one =
        |row: &ParkedRow| ParkedDone { at: row.at, key_id: row.key_id, outcome: ParkedOutcome::Handled };
    rows.iter().map(one).collect()
}

/// Everything that a job does of parked events of a key group.
async fn whole_life(session: &mut MySqlSession, group: u32, keys: [u8; 3]) -> Result<(), DatabaseError> {
    let group_of = KeyGroup(group);
    let rows: Vec<ParkedRow> = (0..).zip(keys).map(|(place, key)| of(group, key, 1, place)).collect();
    session.park(&rows).await?;
    session.savepoint().await?;
    session.park(&[of(group, keys[0], 2, 0)]).await?;
    session.undo().await?;
    session.park(&[of(group, keys[0], 2, 0)]).await?;
    let work = session.parked_work(group_of, 10, usize::MAX).await?;
    session.settle_parked(group_of, &all_handled(&work)).await?;
    Ok(())
}

/// Two open transactions, each with all that there is, of key groups that are neighbours in every index.
#[test]
fn key_groups_never_wait_for_each_others_parked_events() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT PRIMARY KEY)").await;
        let mut one = impatient(&fixture).await;
        let mut two = impatient(&fixture).await;
        one.create_ledger().await.unwrap();
        // Keys of both groups by turns: rows of the one stand between those of the other.
        for (group, keys) in [(1, [1, 3, 5]), (2, [2, 4, 6])] {
            one.begin().await.unwrap();
            let rows: Vec<ParkedRow> = (0..).zip(keys).map(|(place, key)| of(group, key, 0, place)).collect();
            one.park(&rows).await.unwrap();
            one.commit().await.unwrap();
            let keys = keys.map(|key| (KeyGroup(group), id(key)));
            one.mark_parked(&keys[..2], ParkedMark::Retry, &[]).await.unwrap();
            one.mark_parked(&keys[2..], ParkedMark::Sweep, &[rows[2].at]).await.unwrap();
        }
        one.begin().await.unwrap();
        two.begin().await.unwrap();
        whole_life(&mut one, 1, [1, 3, 7]).await.unwrap();
        whole_life(&mut two, 2, [2, 4, 8]).await.unwrap();
        // A person marks what neither has taken up.
        let mut person = impatient(&fixture).await;
        let free = [(KeyGroup(3), id(9))];
        person.begin().await.unwrap();
        person.park(&[of(3, 9, 1, 0)]).await.unwrap();
        person.commit().await.unwrap();
        assert_eq!(person.mark_parked(&free, ParkedMark::Retry, &[]).await.unwrap(), 1);
        // And what is taken up makes the person wait.
        let waits = error(person.mark_parked(&[(KeyGroup(1), id(1))], ParkedMark::Retry, &[]).await);
        assert_eq!(waits.class, ErrorClass::Contention, "{waits}");
        one.commit().await.unwrap();
        two.commit().await.unwrap();
        let left: Vec<_> = all(&mut person).await.iter().map(|row| row.key_id).collect();
        assert_eq!(left, [7, 8, 9].map(id));
    });
}

/// A key group's life over and over, beside others, while a person marks whatever is parked.
async fn lane(mut session: MySqlSession, group: u32) -> Result<(), DatabaseError> {
    const BATCHES: u64 = 40;
    let key = |n: u64| u8::try_from(u64::from(group) + n % 5 * 16).unwrap();
    for batch in 1..=BATCHES {
        session.begin().await?;
        let rows: Vec<ParkedRow> =
            (0..4).map(|place| of(group, key(batch + u64::from(place)), batch, place)).collect();
        session.park(&rows).await?;
        let work = session.parked_work(KeyGroup(group), 6, usize::MAX).await?;
        let mut done = all_handled(&work);
        if let Some(last) = done.last_mut().filter(|_| batch % 3 == 0) {
            let (reason, detail) = ("r".to_owned(), "d".to_owned());
            last.outcome = ParkedOutcome::Refused { reason, detail, at: "2026-01-31T12:00:00Z".to_owned() };
        }
        session.settle_parked(KeyGroup(group), &done).await?;
        session.commit().await?;
    }
    Ok(())
}

#[test]
fn lanes_side_by_side_meet_no_lock_of_parked_events() {
    const LANES: u32 = 6;
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT PRIMARY KEY)").await;
        impatient(&fixture).await.create_ledger().await.unwrap();
        let mut lanes = Vec::new();
        for group in 0..LANES {
            lanes.push(tokio::spawn(lane(impatient(&fixture).await, group)));
        }
        let over = Arc::new(AtomicBool::new(false));
        let marking = {
            let (over, mut person) = (Arc::clone(&over), session(&fixture, Vec::new()).await);
            tokio::spawn(async move {
                let groups: Vec<KeyGroup> = (0..LANES).map(KeyGroup).collect();
                let mut marked = 0;
                while !over.load(Ordering::SeqCst) {
                    // One key at a time: who marks several may cross a lane, and is told so.
                    for key in person.parked_keys(&groups).await? {
                        marked += person.mark_parked(&[key], ParkedMark::Retry, &[]).await?;
                    }
                }
                Ok::<usize, DatabaseError>(marked)
            })
        };
        for lane in lanes {
            lane.await.unwrap().unwrap();
        }
        over.store(true, Ordering::SeqCst);
        assert!(marking.await.unwrap().unwrap() > 0);
    });
}

#[test]
fn a_record_of_64_mib_is_parked_whole() {
    let server = Arc::new(Server::start(&["--max-allowed-packet=128M"]));
    Fixture::on(server).run(|fixture: Arc<Fixture>| async move {
        let mut session = session(&fixture, Vec::new()).await;
        session.create_ledger().await.unwrap();
        let mut rows = vec![of(1, 1, 1, 0), of(1, 1, 1, 1), of(1, 1, 1, 2)];
        rows[1].record.value = Some(Bytes::from(vec![b'<'; 64 << 20]));
        session.begin().await.unwrap();
        session.park(&rows).await.unwrap();
        session.commit().await.unwrap();
        session.mark_parked(&[(KeyGroup(1), id(1))], ParkedMark::Retry, &[]).await.unwrap();
        session.begin().await.unwrap();
        assert!(session.parked_work(KeyGroup(1), 9, usize::MAX).await.unwrap() == rows);
        assert_eq!(session.parked_work(KeyGroup(1), 9, 1 << 20).await.unwrap().len(), 1);
        session.rollback().await.unwrap();
    });
}

#[test]
fn a_record_over_the_servers_packet_is_a_reject_that_names_its_row() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let mut session = session(&fixture, Vec::new()).await;
        session.create_ledger().await.unwrap();
        let mut rows = vec![of(1, 1, 1, 0), of(1, 2, 1, 1)];
        rows[1].record.value = Some(Bytes::from(vec![b'<'; session.server.packet_bytes_max]));
        session.begin().await.unwrap();
        let large = error(session.park(&rows).await);
        assert_eq!((large.class, large.row, large.broken), (ErrorClass::Reject, Some(1), false), "{large}");
        assert!(large.message.contains("max_allowed_packet"), "{large}");
        session.rollback().await.unwrap();
        assert_eq!(all(&mut session).await, []);
    });
}

/// The victim of a deadlock is outside of its transaction: what it would do next would be committed at once.
#[test]
fn a_point_of_a_transaction_that_the_server_took_back_is_contention() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT PRIMARY KEY)").await;
        impatient(&fixture).await.create_ledger().await.unwrap();
        let (mut one, mut two) = (impatient(&fixture).await, impatient(&fixture).await);
        for session in [&mut one, &mut two] {
            session.conn().unwrap().query_drop("SET SESSION innodb_lock_wait_timeout = 20").await.unwrap();
            session.begin().await.unwrap();
            session.savepoint().await.unwrap();
        }
        let number = |n: i64| vec![vec![Value::Int(n)]];
        one.store(0, &number(1)).await.unwrap();
        two.store(0, &number(2)).await.unwrap();
        let crossing = tokio::spawn(async move {
            let done = one.store(0, &number(2)).await;
            (one, done)
        });
        let second = two.store(0, &number(1)).await;
        let victim = match second {
            Err(deadlock) => {
                assert!(deadlock.rolled_back, "{deadlock}");
                two
            }
            Ok(()) => {
                let (one, done) = {
                    two.rollback().await.unwrap();
                    crossing.await.unwrap()
                };
                assert!(error(done).rolled_back);
                one
            }
        };
        let mut victim = victim;
        for lost in [victim.undo().await, victim.release().await, victim.savepoint().await] {
            let lost = error(lost);
            assert_eq!(
                (lost.class, lost.rolled_back, lost.broken),
                (ErrorClass::Contention, true, false),
                "{lost}"
            );
        }
    });
}
