//! Parking, retrying, dropping.

use super::*;
use std::collections::BTreeSet;
use std::time::Duration;

pub(crate) async fn events_come_back_whole_and_in_order(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    let record = |key: Option<&'static [u8]>, value: Option<&'static [u8]>| Record {
        timestamp_ms: None,
        key: key.map(Bytes::from_static),
        headers: vec![
            ("a".to_owned(), None),
            ("a".to_owned(), Some(Bytes::new())),
            ("ü".to_owned(), Some(Bytes::from_static(&[0, 255, 39, 92]))),
        ],
        value: value.map(Bytes::from_static),
    };
    let records = [
        record(None, None),
        record(Some(b""), Some(b"")),
        record(Some(&[0, 255, 128]), Some(&[255, 0, 39, 92, 10])),
        Record { timestamp_ms: Some(i64::MIN), headers: Vec::new(), ..record(None, Some(b"<a/>")) },
    ];
    let mut rows = Vec::new();
    for (place, record) in (0..).zip(records) {
        let mut row = ParkedRow { record, ..event(u8::try_from(place % 2).unwrap(), at(7, place)) };
        (row.index, row.tries, row.detail) = (u32::MAX, place, "Grüße ✓".to_owned());
        rows.push(row);
    }
    let mut empty_key = event(9, at(6, 0));
    (empty_key.key, empty_key.topic, empty_key.offset) =
        (Bytes::new(), "Orders".to_owned(), Offset(i64::MAX));
    // Given in another order than that of their places.
    let given: Vec<ParkedRow> = rows.iter().rev().cloned().collect();
    park(&mut *session, &given).await;
    park(&mut *session, &[empty_key.clone()]).await;
    park(&mut *session, &[]).await;
    let expected: Vec<ParkedRow> = [empty_key].into_iter().chain(rows).collect();
    assert_eq!(all(&mut *session).await, expected);
    let overview = session.parked(&ParkedWish::default(), None, 100, false).await.unwrap();
    assert_eq!(overview, expected.iter().map(without_record).collect::<Vec<_>>());
    let keys = session.parked_keys(&[KeyGroup(1), GROUP]).await.unwrap();
    assert_eq!(keys, [(GROUP, id(0)), (GROUP, id(1)), (GROUP, id(9))]);
    assert_eq!(session.parked_keys(&[KeyGroup(1)]).await.unwrap(), []);
    assert_eq!(session.parked_keys(&[]).await.unwrap(), []);
    for key in [0, 1, 9] {
        assert_eq!(mark(&mut *session, key, ParkedMark::Retry, &[]).await, 1);
    }
    session.begin().await.unwrap();
    assert_eq!(session.parked_work(GROUP, 100, usize::MAX).await.unwrap(), expected);
    session.rollback().await.unwrap();
}

pub(crate) async fn work_is_of_marked_keys_and_within_its_limits(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    let rows: Vec<ParkedRow> =
        (0..6).map(|place| event(u8::try_from(place % 2).unwrap(), at(1, place))).collect();
    let other = ParkedAt { group: KeyGroup(3), ..at(1, 0) };
    park(&mut *session, &rows).await;
    park(&mut *session, &[event(5, other)]).await;
    assert_eq!(work(&mut *session).await, []);
    assert_eq!(session.marked_groups(&[GROUP, other.group]).await.unwrap(), []);
    assert_eq!(mark(&mut *session, 1, ParkedMark::Retry, &[]).await, 1);
    assert_eq!(session.marked_groups(&[other.group, GROUP, KeyGroup(9)]).await.unwrap(), [GROUP]);
    assert_eq!(session.marked_groups(&[other.group]).await.unwrap(), []);
    assert_eq!(work(&mut *session).await, [at(1, 1), at(1, 3), at(1, 5)]);
    let bytes = rows[0].record.footprint_bytes();
    for (rows_max, bytes_max, count) in [
        (2, usize::MAX, 2),
        (1, usize::MAX, 1),
        (0, 0, 1),
        (9, 1, 1),
        (9, bytes * 2, 2),
        (9, bytes * 3 - 1, 2),
    ] {
        session.begin().await.unwrap();
        let found = session.parked_work(GROUP, rows_max, bytes_max).await.unwrap();
        session.rollback().await.unwrap();
        let expected: Vec<ParkedRow> = rows.iter().skip(1).step_by(2).take(count).cloned().collect();
        assert_eq!(found, expected, "{rows_max} rows, {bytes_max} bytes");
    }
}

pub(crate) async fn a_retry_handles_and_frees(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    let rows = [event(1, at(1, 0)), event(2, at(1, 1)), event(1, at(2, 0)), event(3, at(2, 1))];
    park(&mut *session, &rows).await;
    for key in [1, 2] {
        mark(&mut *session, key, ParkedMark::Retry, &[]).await;
    }
    let first = settle(&mut *session, &[handled(1, at(1, 0)), handled(2, at(1, 1))]).await;
    assert_eq!(first, left(&[2], true));
    assert_eq!(work(&mut *session).await, [at(2, 0)]);
    // Parked behind the others while they are being tried: the mark stays, and it is tried, too.
    park(&mut *session, &[event(1, at(3, 0))]).await;
    assert_eq!(work(&mut *session).await, [at(2, 0), at(3, 0)]);
    let second = settle(&mut *session, &[handled(1, at(2, 0)), handled(1, at(3, 0))]).await;
    assert_eq!(second, left(&[1], false));
    assert_eq!(session.parked_keys(&[GROUP]).await.unwrap(), [(GROUP, id(3))]);
    assert_eq!(all(&mut *session).await, [event(3, at(2, 1))]);
    assert_eq!(mark(&mut *session, 1, ParkedMark::Retry, &[]).await, 0, "it is free, and stays so");
    assert_eq!(session.parked_keys(&[GROUP]).await.unwrap(), [(GROUP, id(3))]);
    assert_eq!(session.marked_groups(&[GROUP]).await.unwrap(), []);
}

pub(crate) async fn what_is_refused_again_waits_for_a_person(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    let rows = [event(1, at(1, 0)), event(1, at(1, 1)), event(1, at(1, 2))];
    park(&mut *session, &rows).await;
    mark(&mut *session, 1, ParkedMark::Retry, &[]).await;
    let stopped = settle(&mut *session, &[handled(1, at(1, 0)), refused(1, at(1, 1))]).await;
    assert_eq!(stopped, left(&[], false));
    assert_eq!(work(&mut *session).await, []);
    let found = all(&mut *session).await;
    let again = ParkedRow {
        reason: "server_1048".to_owned(),
        detail: "a column got NULL".to_owned(),
        tried_at: "2026-02-01T01:01:01Z".to_owned(),
        tries: 2,
        ..rows[1].clone()
    };
    assert_eq!(found, [again, rows[2].clone()]);
    mark(&mut *session, 1, ParkedMark::Retry, &[]).await;
    assert_eq!(work(&mut *session).await, [at(1, 1), at(1, 2)]);
    let done = [handled(1, at(1, 1)), handled(1, at(1, 2))];
    assert_eq!(settle(&mut *session, &done).await, left(&[1], false));
}

pub(crate) async fn a_sweep_drops_what_is_meant_and_nothing_else(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    let rows: Vec<ParkedRow> = (0..4).map(|place| event(1, at(1, place))).collect();
    park(&mut *session, &rows).await;
    park(&mut *session, &[event(2, at(2, 0))]).await;
    // An event of another key, and one that is not there.
    let drop = [at(1, 2), at(1, 0), at(2, 0), at(8, 8)];
    assert_eq!(mark(&mut *session, 1, ParkedMark::Sweep, &drop).await, 1);
    assert_eq!(work(&mut *session).await, [at(1, 0), at(1, 2)]);
    let states: Vec<ParkedState> = all(&mut *session).await.iter().map(|row| row.state).collect();
    let (waits, drops) = (ParkedState::Waiting, ParkedState::ToDrop);
    assert_eq!(states, [drops, waits, drops, waits, waits]);
    assert_eq!(settle(&mut *session, &[dropped(1, at(1, 0))]).await, left(&[], true));
    assert_eq!(settle(&mut *session, &[dropped(1, at(1, 2))]).await, left(&[], false));
    assert_eq!(work(&mut *session).await, []);
    assert_eq!(session.parked_keys(&[GROUP]).await.unwrap(), [(GROUP, id(1)), (GROUP, id(2))]);
    let tombstone = |row: &ParkedRow| ParkedRow {
        tried_at: "2026-02-02T02:02:02Z".to_owned(),
        state: ParkedState::Dropped,
        ..without_record(row)
    };
    let found = all(&mut *session).await;
    assert_eq!(found[..3], [tombstone(&rows[0]), rows[1].clone(), tombstone(&rows[2])]);
    // A tombstone is not dropped twice, and holds no key.
    mark(&mut *session, 1, ParkedMark::Sweep, &[at(1, 0), at(1, 1), at(1, 3)]).await;
    assert_eq!(work(&mut *session).await, [at(1, 1), at(1, 3)]);
    let done = [dropped(1, at(1, 1)), dropped(1, at(1, 3))];
    assert_eq!(settle(&mut *session, &done).await, left(&[1], false));
    assert_eq!(mark(&mut *session, 1, ParkedMark::Sweep, &[at(1, 1)]).await, 0);
    assert_eq!(all(&mut *session).await[..4], rows.iter().map(tombstone).collect::<Vec<_>>());
    // The key may be parked anew.
    park(&mut *session, &[event(1, at(9, 0))]).await;
    mark(&mut *session, 1, ParkedMark::Retry, &[]).await;
    assert_eq!(work(&mut *session).await, [at(9, 0)]);
    assert_eq!(settle(&mut *session, &[handled(1, at(9, 0))]).await, left(&[1], false));
}

pub(crate) async fn marks_stay_as_long_as_there_is_something_to_do(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    park(&mut *session, &[event(1, at(1, 0)), event(1, at(1, 1)), event(2, at(1, 2))]).await;
    // There is nothing to sweep: it must not be looked at over and over.
    assert_eq!(mark(&mut *session, 1, ParkedMark::Sweep, &[]).await, 1);
    assert_eq!(mark(&mut *session, 1, ParkedMark::Sweep, &[at(5, 5)]).await, 1);
    assert_eq!(session.marked_groups(&[GROUP]).await.unwrap(), []);
    // A retry outlives a sweep, and what is to be dropped of a key that is tried is dropped.
    mark(&mut *session, 1, ParkedMark::Retry, &[]).await;
    mark(&mut *session, 1, ParkedMark::Sweep, &[at(1, 1)]).await;
    assert_eq!(work(&mut *session).await, [at(1, 0), at(1, 1)]);
    // Refused: tried no further, but still to be swept.
    assert_eq!(settle(&mut *session, &[refused(1, at(1, 0))]).await, left(&[], true));
    assert_eq!(work(&mut *session).await, [at(1, 1)]);
    // And a sweep becomes a retry.
    mark(&mut *session, 1, ParkedMark::Retry, &[]).await;
    assert_eq!(work(&mut *session).await, [at(1, 0), at(1, 1)]);
    let done = [handled(1, at(1, 0)), dropped(1, at(1, 1))];
    assert_eq!(settle(&mut *session, &done).await, left(&[1], false));
    let both = [(GROUP, id(1)), (GROUP, id(2)), (GROUP, id(2)), (GROUP, id(77))];
    assert_eq!(session.mark_parked(&both, ParkedMark::Retry, &[]).await.unwrap(), 1);
    assert_eq!(session.mark_parked(&[], ParkedMark::Retry, &[]).await.unwrap(), 0);
    assert_eq!(settle(&mut *session, &[]).await, left(&[], true));
}

pub(crate) async fn many_marked_keys_are_all_handled(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    let rows: Vec<ParkedRow> =
        (0..300).map(|place| event(u8::try_from(place % 100).unwrap(), at(1, place))).collect();
    park(&mut *session, &rows).await;
    let keys: Vec<(KeyGroup, KeyId)> = (0..100).map(|key| (GROUP, id(key))).collect();
    assert_eq!(session.mark_parked(&keys, ParkedMark::Retry, &[]).await.unwrap(), 100);
    let (mut order, mut freed, mut more) = (Vec::new(), BTreeSet::new(), true);
    while more {
        session.begin().await.unwrap();
        let work = session.parked_work(GROUP, 70, usize::MAX).await.unwrap();
        assert!((1..=70).contains(&work.len()));
        assert!(work.is_sorted_by_key(|row| row.at));
        let one =
            |row: &ParkedRow| ParkedDone { at: row.at, key_id: row.key_id, outcome: ParkedOutcome::Handled };
        let done: Vec<ParkedDone> = work.iter().map(one).collect();
        let left = session.settle_parked(GROUP, &done).await.unwrap();
        session.commit().await.unwrap();
        order.extend(work.iter().map(|row| (row.key_id, row.at)));
        freed.extend(left.freed);
        more = left.more;
    }
    assert_eq!((order.len(), freed.len()), (300, 100));
    for key in 0..100 {
        let of_key: Vec<ParkedAt> =
            order.iter().filter(|(of, _)| *of == id(key)).map(|(_, at)| *at).collect();
        let place = u32::from(key);
        assert_eq!(of_key, [at(1, place), at(1, place + 100), at(1, place + 200)]);
    }
}

pub(crate) async fn a_mark_waits_for_who_handles_the_key(database: Arc<dyn Database>) {
    for waits_on in [false, true] {
        let mut session = database.connect().await.unwrap();
        let batch = if waits_on { 2 } else { 1 };
        park(&mut *session, &[event(1, at(batch, 0)), event(1, at(batch, 1))]).await;
        mark(&mut *session, 1, ParkedMark::Retry, &[]).await;
        session.begin().await.unwrap();
        assert_eq!(session.parked_work(GROUP, 10, usize::MAX).await.unwrap().len(), 2);
        let other = Arc::clone(&database);
        let marking = tokio::spawn(async move {
            let mut session = other.connect().await.unwrap();
            mark(&mut *session, 1, ParkedMark::Retry, &[]).await
        });
        // Long enough for a mark that does not wait to be seen.
        tokio::time::sleep(Duration::from_millis(60)).await;
        assert!(!marking.is_finished());
        let outcome = if waits_on { refused(1, at(batch, 0)) } else { handled(1, at(batch, 0)) };
        let mut done = vec![outcome];
        if !waits_on {
            done.push(handled(1, at(batch, 1)));
        }
        session.settle_parked(GROUP, &done).await.unwrap();
        session.commit().await.unwrap();
        // Of a freed key nothing is made anew; the mark on one that waits is not lost.
        assert_eq!(marking.await.unwrap(), usize::from(waits_on));
        assert_eq!(session.parked_keys(&[GROUP]).await.unwrap().len(), usize::from(waits_on));
        assert_eq!(session.marked_groups(&[GROUP]).await.unwrap().len(), usize::from(waits_on));
    }
}

pub(crate) async fn a_mark_waits_for_who_parks_and_is_kept(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    park(&mut *session, &[event(1, at(1, 0))]).await;
    session.begin().await.unwrap();
    session.park(&[event(1, at(2, 0))]).await.unwrap();
    let other = Arc::clone(&database);
    let marking = tokio::spawn(async move {
        let mut session = other.connect().await.unwrap();
        mark(&mut *session, 1, ParkedMark::Retry, &[]).await
    });
    tokio::time::sleep(Duration::from_millis(60)).await;
    session.commit().await.unwrap();
    assert_eq!(marking.await.unwrap(), 1);
    assert_eq!(work(&mut *session).await, [at(1, 0), at(2, 0)]);
    park(&mut *session, &[event(1, at(3, 0))]).await;
    assert_eq!(work(&mut *session).await, [at(1, 0), at(2, 0), at(3, 0)]);
}
