//! Seeds: many of them, and what came of each.
//!
//! In:        a server, how many     Out: a panic with all that differs; numbers, for a person
//! Not here:  a seed's job and input (job, stream)

use super::compare::difference;
use super::job::{Job, Way};
use super::play::{Left, Server, play};
use super::schema::Style;
use super::stream::records;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tidegate::model::Record;
use tidegate::testing::Random;

/// Shown of the seeds that fail.
const SHOWN: usize = 3;

/// What was run.
#[derive(Debug, Default)]
struct Tally {
    seeds: u64,
    events: u64,
    /// Transactions of the runs that were together, and of the reference.
    transactions: (u64, u64),
    refused: u64,
    /// Seeds of which the database refused or missed nothing.
    smooth: u64,
    outputs: u64,
}

/// Runs so many seeds, or those that the environment names.
pub fn run(server: &dyn Server, count: u64, at_a_time: usize, test: &str) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let seeds = match (number("TIDEGATE_SET"), number("TIDEGATE_SETS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, asked) => 0..asked.unwrap_or(count),
    };
    let started = Instant::now();
    let next = AtomicU64::new(seeds.start);
    let (failed, tally) = (Mutex::new(Vec::new()), Mutex::new(Tally::default()));
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    if let Some(report) = one(server, seed, &tally, test) {
                        failed.lock().unwrap().push((seed, report));
                    }
                }
            });
        }
    });
    let (mut failed, tally) = (failed.into_inner().unwrap(), tally.into_inner().unwrap());
    eprintln!("{test}: {tally:?} in {:.1} s", started.elapsed().as_secs_f64());
    failed.sort();
    let list: Vec<u64> = failed.iter().map(|(seed, _)| *seed).collect();
    let shown: Vec<&str> = failed.iter().take(SHOWN).map(|(_, report)| report.as_str()).collect();
    assert!(failed.is_empty(), "{} seeds differ: {list:?}\n\n{}", list.len(), shown.join("\n\n"));
}

fn one(server: &dyn Server, seed: u64, tally: &Mutex<Tally>, test: &str) -> Option<String> {
    let mut random = Random::new(seed);
    let job = Job::draw(&mut random, server.dialect());
    let records = records(&mut random, &job);
    // Where all events are in one order already.
    let alone = job.key_groups == 1 && seed.is_multiple_of(3);
    let reference = play(server, &job, &records, if alone { Way::Alone } else { Way::OneByOne });
    let mut ways = vec![Way::Together];
    if job.taste.style == Style::Own {
        ways.push(Way::OnTwo);
    }
    let difference = match reference {
        Ok(reference) => ways.into_iter().find_map(|way| match play(server, &job, &records, way) {
            Ok(other) => {
                count(&mut tally.lock().unwrap(), &records, &reference, &other);
                difference(&reference, &other, way != Way::OnTwo).map(|difference| format!("{way:?}: {difference}"))
            }
            Err(why) => Some(format!("{way:?}: {why}")),
        })?,
        Err(why) => format!("one by one: {why}"),
    };
    Some(format!(
        "==== seed {seed}: {difference}\n{}\n{}\n{}\nagain: TIDEGATE_SET={seed} cargo test {test}",
        job.schema.statements().join(";\n"),
        job.text(Way::Together),
        shown(&records)
    ))
}

fn count(tally: &mut Tally, records: &[Record], reference: &Left, other: &Left) {
    tally.seeds += 1;
    tally.events += records.len() as u64;
    tally.transactions.0 += other.transactions;
    tally.transactions.1 += reference.transactions;
    tally.refused += other.refused;
    tally.smooth += u64::from(other.refused == 0);
    tally.outputs += other.outputs.values().map(Vec::len).sum::<usize>() as u64;
}

fn shown(records: &[Record]) -> String {
    let text = |bytes: &Option<bytes::Bytes>| match bytes {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => "(none)".to_owned(),
    };
    let lines = records.iter().enumerate();
    let lines = lines.map(|(offset, record)| format!("{offset} {:?} {}", text(&record.key), text(&record.value)));
    lines.collect::<Vec<_>>().join("\n")
}
