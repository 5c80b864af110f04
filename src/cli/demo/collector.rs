//! Collector: a consumer of its own, which reads everything that the job sends and compares it with what it must be.
//!
//! In:        the output topic and the dead letters, from their first record on     Out: [`Collected`]
//! Holds:     two tallies: no documents, so that its memory stays flat however long the demo runs
//! Order:     per partition, which is per key
//! Fails:     the first error of the log that does not pass ends it, with a text: a record that fell out of the broker
//!            would be one

use super::shop::{PLANTED_HEADER, Shop, number_in};
use super::tally::Tally;
use crate::kafka::{Log, LogError, LogErrorClass, ReadRecord, Reader};
use crate::model::{NextOffset, Record, TopicPartition};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The place of the output topic among the collector's topics; behind it come the dead letters.
pub(super) const OUTPUTS: u16 = 0;
/// The place of the topic of dead letters.
pub(super) const LETTERS: u16 = 1;

const RECORDS_MAX: usize = 5_000;
const BYTES_MAX: usize = 4 << 20;
const WAIT: Duration = Duration::from_millis(50);
const DEADLINE: Duration = Duration::from_secs(10);

/// What was found so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Collected {
    /// By the change's number.
    pub(super) outputs: Tally,
    /// By the planted record's number.
    pub(super) letters: Tally,
    /// Dead letters for each reason.
    pub(super) reasons: BTreeMap<String, u64>,
    /// Behind the last record read of each partition.
    positions: BTreeMap<TopicPartition, NextOffset>,
    failed: Option<String>,
}

/// A collector at work. It ends when this is dropped.
pub(super) struct Collector {
    log: Arc<dyn Log>,
    partitions: Vec<TopicPartition>,
    collected: Arc<Mutex<Collected>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Collector {
    /// Starts it on all partitions of both topics.
    pub(super) fn start(log: Arc<dyn Log>, partitions: i32, shop: Shop) -> Result<Collector, String> {
        let partitions: Vec<TopicPartition> = [OUTPUTS, LETTERS]
            .into_iter()
            .flat_map(|topic| (0..partitions).map(move |partition| TopicPartition { topic, partition }))
            .collect();
        let from: Vec<_> = partitions.iter().map(|at| (*at, NextOffset(0))).collect();
        let mut reader = log.reader(&from).map_err(|error| unread(&error))?;
        let (collected, stop) =
            (Arc::new(Mutex::new(Collected::default())), Arc::new(AtomicBool::new(false)));
        let (found, stopped) = (Arc::clone(&collected), Arc::clone(&stop));
        let thread = std::thread::Builder::new()
            .name("demo-collector".to_owned())
            .spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    if let Err(text) = read_some(reader.as_mut(), shop, &found) {
                        lock(&found).failed = Some(text);
                        return;
                    }
                }
            })
            .map_err(|error| format!("no thread for the demo's collector: {error}"))?;
        Ok(Collector { log, partitions, collected, stop, thread: Some(thread) })
    }

    /// A handle on what is found.
    pub(super) fn counter(&self) -> impl Fn() -> u64 + Send + 'static {
        let collected = Arc::clone(&self.collected);
        move || {
            let collected = lock(&collected);
            collected.outputs.found + collected.letters.found
        }
    }

    /// Everything up to where the topics end now.
    pub(super) fn up_to_the_ends(&self) -> Result<Collected, String> {
        let mut ends = Vec::new();
        for at in &self.partitions {
            let (_, end) = self.log.ends(*at, DEADLINE).map_err(|error| unread(&error))?;
            ends.push((*at, end));
        }
        let until = Instant::now() + DEADLINE;
        loop {
            let collected = lock(&self.collected).clone();
            if let Some(text) = collected.failed {
                return Err(text);
            }
            let behind = |(at, end): &&(TopicPartition, NextOffset)| {
                collected.positions.get(at).copied().unwrap_or(NextOffset(0)) < *end
            };
            let Some((at, end)) = ends.iter().find(behind) else { return Ok(collected) };
            if Instant::now() > until {
                return Err(format!(
                    "the collector did not reach the end of {at:?} ({end}) within {} s",
                    DEADLINE.as_secs()
                ));
            }
            std::thread::sleep(WAIT);
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}

fn read_some(reader: &mut dyn Reader, shop: Shop, into: &Mutex<Collected>) -> Result<(), String> {
    let records = match reader.read(RECORDS_MAX, BYTES_MAX, WAIT) {
        Ok(records) => records,
        // The reader finds its way back by itself.
        Err(error) if error.class == LogErrorClass::Outage => return Ok(()),
        Err(error) => return Err(unread(&error)),
    };
    let mut collected = lock(into);
    for ReadRecord { at, offset, record } in records {
        collected.positions.insert(at, offset.next());
        if at.topic == OUTPUTS { collected.output(&record, shop) } else { collected.letter(&record, shop) }
    }
    Ok(())
}

fn unread(error: &LogError) -> String {
    format!("the demo cannot read back what the job sent: {error}")
}

fn lock(collected: &Mutex<Collected>) -> MutexGuard<'_, Collected> {
    collected.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Collected {
    fn output(&mut self, record: &Record, shop: Shop) {
        let document = record.value.as_deref().unwrap_or_default();
        let Some(number) = number_in(document) else { return self.outputs.take_unknown() };
        let change = shop.change(number);
        let intact = document == change.enriched().as_bytes() && record.key == Some(change.key());
        self.outputs.take(number, Some(change.order), intact);
    }

    fn letter(&mut self, record: &Record, shop: Shop) {
        let reason = header(record, "tidegate-reason").unwrap_or_else(|| "no reason".to_owned());
        *self.reasons.entry(reason).or_default() += 1;
        let number = header(record, PLANTED_HEADER).and_then(|number| number.parse().ok());
        let Some(number) = number else { return self.letters.take_unknown() };
        let planted = shop.planted(number);
        self.letters.take(number, None, record.value == planted.value && record.key == planted.key);
    }
}

fn header(record: &Record, name: &str) -> Option<String> {
    let (_, value) = record.headers.iter().find(|(found, _)| found == name)?;
    String::from_utf8(value.as_ref()?.to_vec()).ok()
}
