//! Seeds: many of them, and what came of each.
//!
//! In:        a server, how many     Out: a panic with all that differs; numbers, for a person
//! Not here:  a seed's job and input (job, stream)

use super::compare::difference;
use super::job::{Job, Way};
use super::play::{Left, Server, Wrong, play};
use super::schema::Style;
use super::stream::records;
use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
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
    events: usize,
    outputs: usize,
    transactions: u64,
    refused: u64,
    /// Seeds of which nothing was refused or missing.
    smooth: u64,
    /// Seeds by how they ran.
    modes: BTreeMap<String, u64>,
}

/// Runs so many seeds, or those that the environment names.
pub fn run(server: &dyn Server, count: u64, at_a_time: usize, test: &str) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let seeds = match (number("TIDEGATE_SET"), number("TIDEGATE_SETS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, asked) => 0..asked.unwrap_or(count),
    };
    let started = Instant::now();
    let (failed, tally) = all(server, seeds, at_a_time, None);
    say(&format!("{test}: {tally:?} in {:.1} s", started.elapsed().as_secs_f64()));
    let list: Vec<u64> = failed.iter().map(|(seed, _)| *seed).collect();
    let shown: Vec<&str> = failed.iter().take(SHOWN).map(|(_, report)| report.as_str()).collect();
    let again = list.first().map_or(0, |seed| *seed);
    assert!(
        failed.is_empty(),
        "{} seeds differ: {list:?}\n\n{}\nagain: TIDEGATE_SET={again} cargo test {test}",
        list.len(),
        shown.join("\n\n")
    );
}

/// Fails where none of so many seeds finds that the plan is wrong. The first that does is enough.
pub fn finds(server: &dyn Server, count: u64, at_a_time: usize, (what, wrong): (&str, Wrong)) {
    let (failed, tally) = all(server, 0..count, at_a_time, Some(wrong));
    let Some((seed, _)) = failed.first() else { panic!("{what}: none of {count} seeds finds it: {tally:?}") };
    say(&format!("{what}: found by seed {seed}, beside {:?} that ran", tally.modes));
}

/// Past the runner's capture.
fn say(line: &str) {
    writeln!(std::io::stderr().lock(), "{line}").expect("standard error is open");
}

/// The seeds that differ, in order, and how; with a wrong plan up to the first.
fn all(
    server: &dyn Server,
    seeds: Range<u64>,
    at_a_time: usize,
    wrong: Option<Wrong>,
) -> (Vec<(u64, String)>, Tally) {
    let next = AtomicU64::new(seeds.start);
    let (failed, tally) = (Mutex::new(Vec::new()), Mutex::new(Tally::default()));
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    let found = wrong.is_some() && !failed.lock().unwrap().is_empty();
                    if seed >= seeds.end || found {
                        return;
                    }
                    if let Some(report) = one(server, seed, &tally, wrong) {
                        failed.lock().unwrap().push((seed, report));
                    }
                }
            });
        }
    });
    let (mut failed, tally) = (failed.into_inner().unwrap(), tally.into_inner().unwrap());
    failed.sort();
    (failed, tally)
}

fn one(server: &dyn Server, seed: u64, tally: &Mutex<Tally>, wrong: Option<Wrong>) -> Option<String> {
    let mut random = Random::new(seed);
    let job = Job::draw(&mut random, server.dialect());
    let records = records(&mut random, &job);
    // Where all events are in one order already.
    let alone = job.key_groups == 1 && seed.is_multiple_of(3);
    let reference = play(server, &job, &records, (if alone { Way::Alone } else { Way::OneByOne }, None));
    let mut ways = vec![Way::Together];
    if job.taste.style == Style::Own {
        ways.push(Way::OnTwo);
    }
    let difference = match reference {
        Ok(reference) => {
            ways.into_iter().find_map(|way| match play(server, &job, &records, (way, wrong)) {
                Ok(other) => {
                    tally.lock().unwrap().count(records.len(), &other);
                    difference(&reference, &other, way != Way::OnTwo)
                        .map(|difference| format!("{way:?}: {difference}"))
                }
                Err(why) => Some(format!("{way:?}: {why}")),
            })?
        }
        Err(why) => format!("one by one: {why}"),
    };
    Some(format!(
        "==== seed {seed}: {difference}\n{}\n{}\n{}",
        job.schema.statements().join(";\n"),
        job.text(Way::Together),
        shown(&records)
    ))
}

impl Tally {
    fn count(&mut self, events: usize, left: &Left) {
        self.events += events;
        self.outputs += left.outputs.values().map(Vec::len).sum::<usize>();
        self.transactions += left.transactions;
        self.refused += left.refused;
        self.smooth += u64::from(left.refused == 0);
        *self.modes.entry(left.mode.map_or_else(String::new, |mode| format!("{mode:?}"))).or_default() += 1;
    }
}

fn shown(records: &[Record]) -> String {
    let text = |bytes: &Option<bytes::Bytes>| match bytes {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => "(none)".to_owned(),
    };
    let lines = records.iter().enumerate();
    let lines =
        lines.map(|(offset, record)| format!("{offset} {:?} {}", text(&record.key), text(&record.value)));
    lines.collect::<Vec<_>>().join("\n")
}
