//! What a person finds.

use super::*;
use crate::database::ParkedKey;

fn rows() -> Vec<ParkedRow> {
    let mut rows: Vec<ParkedRow> = Vec::new();
    for (group, batch, place, key) in
        [(1, 300, 0, 7), (2, 1, 0, 1), (2, 1, 1, 2), (2, 2, 0, 1), (2, 10, 0, 1), (10, 1, 0, 8)]
    {
        let at = ParkedAt { group: KeyGroup(group), ..at(batch, place) };
        let mut row = event(key, at);
        row.parked_at = format!("2026-01-{:02}T00:00:00Z", rows.len() + 1);
        if place == 0 && batch > 1 {
            row.reason = "behind".to_owned();
        }
        rows.push(row);
    }
    rows
}

pub(crate) async fn filters_narrow(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    let rows = rows();
    park(&mut *session, &rows).await;
    let none = ParkedWish::default();
    let date = |day: u32| Some(format!("2026-01-{day:02}T00:00:00Z"));
    let source = |topic: &str, partition, offset| Some((topic.to_owned(), partition, Offset(offset)));
    let cases: [(ParkedWish, &[usize]); 10] = [
        (none.clone(), &[0, 1, 2, 3, 4, 5]),
        (ParkedWish { key: Some(id(1)), ..none.clone() }, &[1, 3, 4]),
        (ParkedWish { key: Some(id(9)), ..none.clone() }, &[]),
        (ParkedWish { reason: Some("behind".into()), ..none.clone() }, &[0, 3, 4]),
        (ParkedWish { reason: Some("Behind".into()), ..none.clone() }, &[]),
        (ParkedWish { since: date(3), ..none.clone() }, &[2, 3, 4, 5]),
        (ParkedWish { since: date(3), until: date(5), ..none.clone() }, &[2, 3]),
        (ParkedWish { source: source("orders", 3, 10), ..none.clone() }, &[1, 5]),
        (ParkedWish { source: source("orders", 0, 10), ..none.clone() }, &[]),
        (
            ParkedWish { key: Some(id(1)), reason: Some("behind".into()), until: date(5), ..none.clone() },
            &[3],
        ),
    ];
    for (wish, expected) in cases {
        let found = session.parked(&wish, None, 100, true).await.unwrap();
        let expected: Vec<ParkedRow> = expected.iter().map(|index| rows[*index].clone()).collect();
        assert_eq!(found, expected, "{wish:?}");
    }
}

pub(crate) async fn pages_are_in_order_and_whole(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    let rows = rows();
    park(&mut *session, &rows).await;
    for size in 1..=7 {
        for whole in [false, true] {
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let page = session.parked(&ParkedWish::default(), after, size, whole).await.unwrap();
                assert!(page.len() <= size);
                let Some(last) = page.last() else { break };
                after = Some(last.at);
                found.extend(page);
            }
            let expected: Vec<ParkedRow> =
                rows.iter().map(|row| if whole { row.clone() } else { without_record(row) }).collect();
            assert_eq!(found, expected);
        }
    }
    assert_eq!(session.parked(&ParkedWish::default(), None, 0, false).await.unwrap(), []);
}

pub(crate) async fn keys_are_told_in_one_line_each(database: Arc<dyn Database>) {
    let mut session = database.connect().await.unwrap();
    let rows = rows();
    park(&mut *session, &rows).await;
    mark(&mut *session, 1, ParkedMark::Retry, &[]).await;
    mark(&mut *session, 2, ParkedMark::Sweep, &[at(1, 1)]).await;
    let key = |mark, events, index: usize| ParkedKey { mark, events, first: without_record(&rows[index]) };
    let drops = |key: ParkedKey| {
        let first = ParkedRow { state: ParkedState::ToDrop, ..key.first };
        ParkedKey { first, ..key }
    };
    let expected = [
        key(Some(ParkedMark::Retry), 3, 1),
        drops(key(Some(ParkedMark::Sweep), 1, 2)),
        key(None, 1, 0),
        key(None, 1, 5),
    ];
    for size in 1..=5 {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = session.parked_by_key(&ParkedWish::default(), after, size).await.unwrap();
            assert!(page.len() <= size);
            let Some(last) = page.last() else { break };
            after = Some(last.first.key_id);
            found.extend(page);
        }
        assert_eq!(found, expected, "{size} at a time");
    }
    let behind = ParkedWish { reason: Some("behind".into()), ..ParkedWish::default() };
    let found = session.parked_by_key(&behind, None, 1).await.unwrap();
    assert_eq!(found, [key(Some(ParkedMark::Retry), 2, 3)]);
    let found = session.parked_by_key(&behind, Some(id(1)), 1).await.unwrap();
    assert_eq!(found, [key(None, 1, 0)], "keys of which nothing is meant are passed over");
    let one = ParkedWish { key: Some(id(8)), ..ParkedWish::default() };
    assert_eq!(session.parked_by_key(&one, None, 5).await.unwrap(), [key(None, 1, 5)]);
    // What was dropped is not counted, and holds no key.
    assert_eq!(settle(&mut *session, &[dropped(2, at(1, 1))]).await, left(&[2], true));
    let found = session.parked_by_key(&ParkedWish::default(), None, 5).await.unwrap();
    assert_eq!(found.len(), 3);
}
