//! The exchange: bundles from one worker to another, beside a plain channel.
//!
//! In:        `cargo bench --bench exchange [-- BUNDLES [TURNS]]`; 500000 and 5 where nothing is given
//! Out:       bundles a second through timely's exchange between two workers of one process, between two of one process that
//!            write and read them as two processes would, and through std's channel between two threads; and ratios
//! Order:     turn by turn: whatever else the machine does meets all of them
//! Not here:  no documents are read; no network

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(clippy::print_stdout, reason = "its report")]

use bytes::Bytes;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Instant;
use tidegate::model::{Body, KeyGroup, Offset, Reading, Record, TopicPartition, Value};
use tidegate::operator::bundle::{Bundle, Part, route};
use timely::communication::Config as Communication;
use timely::dataflow::InputHandleVec;
use timely::dataflow::operators::{Exchange, Input, Inspect, Probe};
use timely::{Config, WorkerConfig};

/// Bundles that are given between two looks at the frontier, as a source gives them.
const HANDFUL: u32 = 500;

fn main() {
    // Cargo adds `--bench`.
    let given: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let number = |place: usize, default: u32| given.get(place).copied().unwrap_or(default);
    let (bundles, turns) = (number(0, 500_000), number(1, 5));
    for turn in 1..=turns {
        let moved = exchanged(bundles, Communication::Process(2));
        let written = exchanged(bundles, Communication::ProcessBinary(2));
        let channel = by_channel(bundles);
        println!(
            "turn {turn}: exchange {moved:9.0}/s, written and read {written:9.0}/s, std's channel {channel:9.0}/s: {:.2} and {:.2}",
            moved / channel,
            written / channel
        );
    }
}

/// Worker 0 reads them all; half of them are worker 1's.
fn exchanged(bundles: u32, communication: Communication) -> f64 {
    let begun = Instant::now();
    let arrived = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&arrived);
    let config = Config { communication, worker: WorkerConfig::default() };
    let guards = timely::execute(config, move |worker| {
        let mut input: InputHandleVec<u64, Bundle> = InputHandleVec::new();
        let count = Arc::clone(&count);
        let probe = worker.dataflow(|scope| {
            scope
                .input_from(&mut input)
                .exchange(|bundle: &Bundle| route(bundle))
                .inspect(move |bundle| {
                    black_box(bundle);
                    count.fetch_add(1, Ordering::Relaxed);
                })
                .probe()
                .0
        });
        let mine = if worker.index() == 0 { bundles } else { 0 };
        for first in (0..mine).step_by(usize::try_from(HANDFUL).unwrap()) {
            (first..(first + HANDFUL).min(mine)).for_each(|number| input.send(bundle(number)));
            input.advance_to(u64::from(first) + 1);
            // As the budget does: what is on its way is bounded.
            while input.time().saturating_sub(20 * u64::from(HANDFUL)) > 0
                && probe.less_than(&input.time().saturating_sub(20 * u64::from(HANDFUL)))
            {
                worker.step();
            }
            worker.step();
        }
        drop(input);
        while worker.step_or_park(None) {}
    });
    drop(guards.unwrap());
    assert_eq!(arrived.load(Ordering::Relaxed), bundles, "all have arrived");
    f64::from(bundles) / begun.elapsed().as_secs_f64()
}

/// Half of them stay, half of them go to another thread.
fn by_channel(bundles: u32) -> f64 {
    let begun = Instant::now();
    let (sender, receiver) = sync_channel::<Bundle>(20 * usize::try_from(HANDFUL).unwrap());
    let other = std::thread::spawn(move || receiver.into_iter().map(black_box).count());
    let mut own = 0;
    for bundle in (0..bundles).map(bundle) {
        if route(&bundle).is_multiple_of(2) {
            black_box(bundle);
            own += 1;
        } else {
            sender.send(bundle).unwrap();
        }
    }
    drop(sender);
    assert_eq!(own + other.join().unwrap(), usize::try_from(bundles).unwrap(), "all have arrived");
    f64::from(bundles) / begun.elapsed().as_secs_f64()
}

/// A record of 1 KB with one event; making it is a part of what is measured, everywhere.
fn bundle(number: u32) -> Bundle {
    let key = Bytes::from(format!("order-{number:07}"));
    let values = vec![Value::Text(format!("order-{number:07}")), Value::Int(i64::from(number))];
    let part = Part {
        index: 0,
        last_of_record: true,
        key_group: KeyGroup(number % 64),
        key: key.clone(),
        body: Body::Readable(Reading { values, ..Reading::default() }),
    };
    let record = Record {
        timestamp_ms: Some(1_700_000_000_000),
        key: Some(key),
        headers: Vec::new(),
        value: Some(Bytes::from(vec![b'x'; 1024])),
    };
    Bundle {
        at: TopicPartition { topic: 0, partition: 0 },
        offset: Offset(i64::from(number)),
        record,
        parts: vec![part],
    }
}
