//! What care costs: reading one document, with and without the note of what is in hand.
//!
//! In:        `cargo bench --bench guard [-- DOCUMENTS [TURNS]]`; 200000 and 5 where nothing is given
//! Out:       ns per document of each turn: as always, and carefully; and of care alone
//! Order:     as always, carefully, as always, ...: whatever else the machine does meets both
//! Not here:  no dataflow, no database, no Kafka: beside those the share of care is far smaller than here

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]
#![allow(clippy::print_stdout, reason = "its report")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use tidegate::job::{self, JobSpec};
use tidegate::kafka::ReadRecord;
use tidegate::model::{Coordinates, NextOffset, Offset, Record, TopicPartition};
use tidegate::operator::decode::read;
use tidegate::operator::guard::{Care, Guard, Taken};
use tidegate::protocol::guard::Stage;
use tidegate::xml::Decoder;

const AT: TopicPartition = TopicPartition { topic: 0, partition: 0 };

fn main() {
    // Cargo adds `--bench`.
    let given: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let number = |place: usize, default: u32| given.get(place).copied().unwrap_or(default);
    let (documents, turns) = (number(0, 200_000), number(1, 5));
    let spec = spec();
    let folder = tempfile::tempdir().unwrap();
    // A first process that ends uncleanly: the second one takes care.
    drop(Guard::open(folder.path(), &spec, 0, 1));
    let guard = Guard::open(folder.path(), &spec, 0, 1);
    let care = guard.care().expect("care");
    care.reads(&[(AT, NextOffset(0))], &[]);
    let mut decoder = Decoder::new(&spec.event, &spec.outputs, spec.limits).unwrap();
    let record = record();
    println!(
        "{documents} documents of {} bytes, {turns} turns",
        record.value.as_ref().map_or(0, |value| value.len())
    );
    for turn in 1..=turns {
        let mut decode = |care: Option<&Care>| {
            timed(documents, |offset| {
                let _in_hand = care.map(|care| take(care, offset, &record));
                let read_record = ReadRecord { at: AT, offset: Offset(offset), record: record.clone() };
                black_box(read(&read_record, &spec, &mut decoder));
            })
        };
        let (always, carefully) = (decode(None), decode(Some(&care)));
        let alone = timed(documents, |offset| drop(take(&care, offset, &record)));
        println!(
            "turn {turn}: as always {always:6.0} ns, carefully {carefully:6.0} ns; care alone {alone:6.0} ns"
        );
    }
    assert!(!care.is_over(), "care was over in the middle: the budget is too small");
    guard.ended();
}

fn take<'a>(care: &'a Care, offset: i64, record: &Record) -> Taken<'a> {
    let taken = care.take(Stage::Read, Coordinates { at: AT, offset: Offset(offset), index: 0 }, record);
    assert!(matches!(taken, Taken::InHand(_)), "it is in hand");
    taken
}

/// ns of each.
fn timed(count: u32, mut each: impl FnMut(i64)) -> f64 {
    let begun = Instant::now();
    (0..i64::from(count)).for_each(&mut each);
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(count)
}

fn record() -> Record {
    let mut text = "<order id=\"K000417\"><customer ref=\"77\"/>".to_owned();
    for line in 0..12 {
        // Writing to a String cannot fail.
        let _infallible =
            write!(text, "<line number=\"{line}\"><item>S-{line:04}</item><price>1.25</price></line>");
    }
    text += "<total>12.50</total></order>";
    Record { timestamp_ms: None, key: None, headers: Vec::new(), value: Some(text.into()) }
}

fn spec() -> Arc<JobSpec> {
    let text = r#"[job]
name = "guard"
[source]
bootstrap_servers = "127.0.0.1:1"
topics = ["orders"]
[event]
key = ["@id"]
[event.fields]
customer = { path = "customer/@ref", type = "int64" }
total = { path = "total", type = "decimal(12,2)" }
[database]
url = "sqlite:/nowhere/x.sqlite"
[[database.steps]]
store = "INSERT INTO journal (customer, total) VALUES (:customer, :total)"
[limits]
in_flight_bytes = "1024GiB"
"#;
    let checked = job::check("job.toml", text, &|_| None).unwrap_or_else(|errors| panic!("{errors:?}"));
    Arc::new(checked.spec)
}
