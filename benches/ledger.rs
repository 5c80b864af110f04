//! What the ledger's rows cost: an outbox row by the batch's size, and a position row.
//!
//! In:        `cargo bench --bench ledger [-- EVENTS [TURNS]]`; 200000 and 5 where nothing is given
//! Out:       per event ns to write and to read an outbox row of 1, 8, 32 and 128 outputs of 1 KB, bytes, and the same records by
//!            serde_json; ns per position row of 1, 16 and 256 partitions
//! Order:     turn by turn: whatever else the machine does meets all of them
//! Not here:  no database

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(clippy::print_stdout, reason = "its report")]

use bytes::Bytes;
use std::hint::black_box;
use std::time::Instant;
use tidegate::model::Coordinates;
use tidegate::model::{Destination, Offset, Outgoing, Place, Places, TopicPartition};
use tidegate::operator::gate::Outputs;
use tidegate::testing::Random;

fn main() {
    // Cargo adds `--bench`.
    let given: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let number = |place: usize, default: u32| given.get(place).copied().unwrap_or(default);
    let (events, turns) = (number(0, 200_000), number(1, 5));
    for turn in 1..=turns {
        for records in [1, 8, 32, 128] {
            outbox(turn, records, events / records);
        }
        for partitions in [1, 16, 256] {
            positions(turn, partitions, events / u32::try_from(partitions).unwrap());
        }
    }
}

fn outbox(turn: u32, records: u32, rows: u32) {
    let topics = ["orders".to_owned()];
    let outputs = Outputs { records: (0..records).map(record).collect(), ..Outputs::default() };
    let per_event = f64::from(records) * f64::from(rows);
    let ns = |begun: Instant| begun.elapsed().as_secs_f64() * 1e9 / per_event;
    let begun = Instant::now();
    let mut row = Vec::new();
    (0..rows).for_each(|_| row = black_box(&outputs).to_outbox(&topics).unwrap().unwrap());
    let write = ns(begun);
    let begun = Instant::now();
    (0..rows).for_each(|_| drop(black_box(Outputs::from_outbox(black_box(&row), &topics).unwrap())));
    let read = ns(begun);
    let begun = Instant::now();
    let mut json = Vec::new();
    (0..rows).for_each(|_| json = serde_json::to_vec(black_box(&outputs.records)).unwrap());
    let by_json = ns(begun);
    println!(
        "turn {turn}, outbox row of {records:3}: write {write:5.0} ns, read {read:5.0} ns, {:4} bytes an event; serde_json writes in \
         {by_json:5.0} ns, {:4} bytes",
        row.len() / usize::try_from(records).unwrap(),
        json.len() / usize::try_from(records).unwrap()
    );
}

/// An order of some 1 KB: markup that repeats, and values that do not.
fn record(number: u32) -> Outgoing {
    let mut random = Random::new(u64::from(number) + 1);
    let mut text = format!(
        "<s:order xmlns:s=\"urn:shop:1\" id=\"order-{number:07}\"><s:customer ref=\"{}\"/>",
        random.below(10_000)
    );
    while text.len() < 980 {
        text.push_str(&format!(
            "<s:line no=\"{}\"><s:article>ART-{:06}</s:article><s:quantity>{}</s:quantity><s:price>{}.{:02}</s:price></s:line>",
            random.below(9), random.below(1_000_000), random.below(9), random.below(1_000), random.below(100)
        ));
    }
    text.push_str("</s:order>");
    Outgoing {
        to: Destination::Output(0),
        key: Some(Bytes::from(format!("order-{number:07}"))),
        value: Some(Bytes::from(text)),
        headers: vec![("tidegate-source".to_owned(), Some(Bytes::from(format!("orders/3/{number}"))))],
        timestamp_ms: Some(1_700_000_000_000),
    }
}

fn positions(turn: u32, partitions: i32, rows: u32) {
    let topics = ["orders".to_owned()];
    let mut places = Places::default();
    for partition in 0..partitions {
        let at = TopicPartition { topic: 0, partition };
        let event = Coordinates { at, offset: Offset(1_000_000 + i64::from(partition)), index: 0 };
        places.advance(at, Place::behind(event, true));
    }
    let begun = Instant::now();
    let mut text = String::new();
    (0..rows).for_each(|_| text = black_box(&places).to_text(&topics));
    let ns = begun.elapsed().as_secs_f64() * 1e9 / f64::from(rows);
    println!(
        "turn {turn}, position row of {partitions:3} partitions: write {ns:6.0} ns, {} bytes",
        text.len()
    );
}
