//! The report's words, for one finding of each kind.

use super::*;
use crate::cli::verify::found::Key;
use crate::job::check;
use crate::model::{KeyGroup, NextOffset, Offset, TopicPartition};
use bytes::Bytes;

fn spec() -> JobSpec {
    let text = r#"
[job]
name = "orders"
[source]
bootstrap_servers = "127.0.0.1:1"
topics = ["orders"]
[event]
key = ["@id"]
[event.fields]
id = { path = "@id", type = "text" }
[database]
url = "sqlite:orders.db"
[[database.steps]]
store = "INSERT INTO orders (id) VALUES (:id)"
[output]
topic = "enriched"
[rejects]
dead_letter_topic = "rejected"
"#;
    check("job.toml", text, &|_| None).unwrap().spec
}

fn found() -> Found {
    let at = TopicPartition { topic: 0, partition: 1 };
    let source = |offset| Coordinates { at, offset: Offset(offset), index: 0 };
    let place = |to, offset| SentAt { to, partition: 2, offset: Offset(offset) };
    let key = |key: &'static [u8]| Some(Key { group: KeyGroup(3), key: Bytes::from_static(key) });
    let mut found = Found::default();
    found.lost.add(|| Finding {
        source: source(7),
        key: key(b"K\"1"),
        fault: Fault::Lost { unreadable: None },
    });
    found.lost.add(|| Finding {
        source: source(8),
        key: None,
        fault: Fault::Lost { unreadable: Some("no_value") },
    });
    let places = vec![place(Destination::Output(0), 40), place(Destination::DeadLetter, 5)];
    let fault = Fault::Doubled { copies: 5, places };
    found.doubled.add(|| Finding { source: source(9), key: key(b"\xFF\x01"), fault });
    let (place, before) = (place(Destination::Output(0), 51), place(Destination::Output(0), 47));
    let fault = Fault::OutOfOrder { place, later: source(12), before };
    found.out_of_order.add(|| Finding { source: source(10), key: key(b"K2"), fault });
    (found.counts.records, found.counts.events) = (13, 13);
    found.counts.beyond = 2;
    found.ranges.push(Range {
        at,
        first: Offset(2),
        frontier: NextOffset(15),
        records: 13,
        outputs_from: LossesFrom::Behind { offset: 4, records: 9 },
        letters_from: LossesFrom::Offset(2),
    });
    found
}

#[test]
fn every_finding_is_named_and_the_verdict_comes_last() {
    let (spec, found) = (spec(), found());
    let report = Report { spec: &spec, found: &found, notes: vec!["mind this".to_owned()] };
    let expected = [
        "orders/1: 2 to 15 (exclusive), 13 records; missing outputs can be judged from 9 records behind offset 4 on",
        "13 records: 0 with an output, 0 with a dead letter; 0 outputs and 0 dead letters read, 2 of records beyond the \
         frontier",
        "note: mind this",
        "lost: orders/1/7, key group 3, key \"K\\\"1\": no output",
        "lost: orders/1/8: unreadable (no_value), and no dead letter",
        "doubled: orders/1/9, key group 3, key 0xff01: 5 times, at enriched/2/40, rejected/2/5",
        "out of order: orders/1/10, key group 3, key \"K2\": at enriched/2/51, behind its successor orders/1/12 at \
         enriched/2/47",
        "2 lost, 1 doubled, 1 out of order",
    ];
    assert_eq!(report.lines(), expected);
}

#[test]
fn what_is_over_the_limit_is_counted() {
    let (spec, mut found) = (spec(), found());
    found.lost.count += 40;
    let lines = Report { spec: &spec, found: &found, notes: Vec::new() }.lines();
    assert!(lines.contains(&"lost: and 40 more".to_owned()), "{lines:?}");
    assert_eq!(lines.last().map(String::as_str), Some("42 lost, 1 doubled, 1 out of order"));
}

#[test]
fn a_program_gets_the_same() {
    let (spec, found) = (spec(), found());
    let text = Report { spec: &spec, found: &found, notes: Vec::new() }.json();
    let all: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(all["clean"], json!(false));
    assert_eq!(all["lost"]["count"], json!(2));
    assert_eq!(all["lost"]["first"][0]["key"], json!("K\"1"));
    assert_eq!(all["doubled"]["first"][0]["key_hex"], json!("ff01"));
    assert_eq!(all["doubled"]["first"][0]["at"][1]["topic"], json!("rejected"));
    assert_eq!(all["out_of_order"]["first"][0]["later_offset"], json!(12));
    assert_eq!(all["ranges"][0]["frontier"], json!(15));
    assert_eq!(all["ranges"][0]["lost_outputs_judged_from"], json!({"behind": {"offset": 4, "records": 9}}));
}

#[test]
fn a_long_key_is_cut_off() {
    let text = shown("Ä".repeat(1000).as_bytes());
    assert!(text.ends_with("...") && text.chars().count() == KEY_SHOWN_MAX + 3, "{text}");
}
