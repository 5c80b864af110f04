//! What bundles cost: a record from decode to the gate, without reading it.
//!
//! In:        `cargo bench --bench bundle [-- RECORDS [TURNS]]`; 300000 and 5 where nothing is given
//! Out:       ns per record of one event, and per event of records of a thousand, each by one worker and by four
//! Order:     one event, a thousand, one event, ...: whatever else the machine does meets both
//! Not here:  no exchange, no serialization

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(clippy::print_stdout, reason = "its report")]

use bytes::Bytes;
use std::hint::black_box;
use std::time::Instant;
use tidegate::kafka::ReadRecord;
use tidegate::model::{Body, KeyGroup, Offset, Reading, Record, TopicPartition, Value};
use tidegate::operator::bundle::{Bundle, Part, bundles, further_bytes};

fn main() {
    // Cargo adds `--bench`.
    let given: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let number = |place: usize, default: u32| given.get(place).copied().unwrap_or(default);
    let (records, turns) = (number(0, 300_000), number(1, 5));
    for turn in 1..=turns {
        let [one, one_of_four] = [1, 4].map(|workers| ns(records, 1, workers));
        let [many, many_of_four] = [1, 4].map(|workers| ns(records / 1_000, 1_000, workers));
        println!(
            "turn {turn}: a record of one event {one:5.0} ns, by four workers {one_of_four:5.0} ns; an event of a thousand \
             {many:5.0} ns, by four workers {many_of_four:5.0} ns"
        );
    }
}

/// Of each event, beside making the parts.
fn ns(records: u32, events: u32, workers: usize) -> f64 {
    let record = record();
    let mut spent = 0.0;
    for offset in 0..i64::from(records) {
        let parts: Vec<Part> = (0..events).map(|index| part(index, events)).collect();
        let read = ReadRecord {
            at: TopicPartition { topic: 0, partition: 0 },
            offset: Offset(offset),
            record: record.clone(),
        };
        let begun = Instant::now();
        black_box(further_bytes(&parts));
        for event in bundles(read, parts, workers).flat_map(Bundle::into_events) {
            black_box(event);
        }
        spent += begun.elapsed().as_secs_f64();
    }
    spent * 1e9 / f64::from(records) / f64::from(events)
}

fn part(index: u32, events: u32) -> Part {
    let values = vec![Value::Text(format!("K{index:06}")), Value::Int(i64::from(index))];
    Part {
        index,
        last_of_record: index + 1 == events,
        key_group: KeyGroup(index % 64),
        key: Bytes::from_static(b"K000417"),
        body: Body::Readable(Reading { values, ..Reading::default() }),
    }
}

fn record() -> Record {
    let header = |name: &str| (name.to_owned(), Some(Bytes::from_static(b"0123456789abcdef")));
    Record {
        timestamp_ms: Some(1_700_000_000_000),
        key: Some(Bytes::from_static(b"K000417")),
        headers: vec![header("trace"), header("tenant")],
        value: Some(Bytes::from(vec![b'x'; 800])),
    }
}
