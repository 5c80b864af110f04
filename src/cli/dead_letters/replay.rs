//! `dead-letters replay`: rejected records back to the partitions that they came from, each once.
//!
//! In:        a job file and a filter     Out: what was sent, and what cannot be
//! Order:     1 initialise the transactional id, which decides what an earlier replay left open; 2 read the topic to its
//!            end: letters that are meant, and markers of letters that were replayed; 3 send what has no marker, each record
//!            in one transaction with its marker. Records of one input partition go in their order there
//! Holds:     places of letters (a sorter, on disk beyond its memory), markers as rows, the letters of one transaction
//! Fails:     76: another replay began; 65: letters that cannot be replayed, named; else as Kafka fails. What is sent is marked:
//!            the same command goes on
//! Not here:  transactions and their unknown outcomes (sender), what a letter's record is (original)
//!
//! Letters that come while it runs are left for the next time: a record that is rejected again would go round for ever.

mod original;
mod report;
mod sender;
#[cfg(test)]
mod tests;

use super::letter::{Letter, Met, marker_of};
use super::replayed::Replayed;
use super::topic::Topic;
use crate::cli::args::{LetterFilter, ReplayArgs};
use crate::cli::exit;
use crate::cli::out::line;
use crate::cli::verify::Failure;
use crate::cli::verify::entry::{Lies, OUTCOME_BYTES, Outcome as Entry, SentAt};
use crate::cli::verify::progress::Progress;
use crate::cli::verify::sorter::Sorter;
use crate::kafka::Placed;
use crate::model::{Coordinates, Destination, NextOffset, Offset, TopicPartition};
use crate::protocol::halt::HaltKind;
use report::Outcome;
use sender::{Pair, Sender};
use std::collections::BTreeMap;

/// Memory for places of letters, in bytes: some two million of them.
const SORTED_BYTES: usize = 64 << 20;
/// Letters that are looked up together, at most, and how many bytes of them.
const CHUNK_LETTERS: usize = 500;
const CHUNK_BYTES: usize = 32 << 20;
/// What one transaction sends, at most, but for a single record.
const TRANSACTION_BYTES: usize = 4 << 20;
/// Records that are read for nothing rather than asking anew behind them.
const GAP_RECORDS: i64 = 10_000;

pub(super) fn replay(args: &ReplayArgs) -> Result<u8, Failure> {
    let topic = Topic::open(&args.job)?;
    let most = args.at_most.unwrap_or(u64::MAX);
    let outcome = Replay::new(&topic, &args.filter, most, args.execute).run()?;
    line(&if args.json {
        outcome.as_json(&topic, args.execute)
    } else {
        outcome.as_text(&topic, args.execute)
    });
    Ok(if outcome.refused == 0 { exit::OK } else { HaltKind::Reject.exit_code() })
}

/// One replay.
struct Replay<'a> {
    topic: &'a Topic,
    filter: &'a LetterFilter,
    /// Letters to send, at most.
    most: u64,
    sender: Option<Sender<'a>>,
    replayed: Replayed,
    /// Where each partition was read to.
    ends: BTreeMap<i32, NextOffset>,
    /// The largest letter that is meant, in bytes.
    largest: usize,
    outcome: Outcome,
    progress: Progress,
}

impl<'a> Replay<'a> {
    fn new(topic: &'a Topic, filter: &'a LetterFilter, most: u64, execute: bool) -> Replay<'a> {
        Replay {
            topic,
            filter,
            most,
            sender: execute.then(|| Sender::new(topic)),
            replayed: Replayed::default(),
            ends: BTreeMap::new(),
            largest: 0,
            outcome: Outcome::default(),
            progress: Progress::new(),
        }
    }

    fn run(mut self) -> Result<Outcome, Failure> {
        if let Some(sender) = &mut self.sender {
            sender.begin()?;
        }
        let mut sorted = self.gather()?.finish()?;
        self.progress.begin("replaying:", self.outcome.meant.min(self.most));
        let chunk_letters =
            CHUNK_BYTES.checked_div(self.largest).unwrap_or(CHUNK_LETTERS).clamp(1, CHUNK_LETTERS);
        let mut chunk = Vec::with_capacity(chunk_letters);
        while let Some(bytes) = sorted.next()? {
            let entry = Entry::from_bytes(&bytes);
            let (partition, offset) = place(&entry);
            if self.replayed.contains(partition, offset) {
                self.outcome.replayed_before += 1;
                continue;
            }
            // What cannot be sent takes nobody's place.
            let sent_with = self.outcome.sent.saturating_add(u64::try_from(chunk.len()).unwrap_or(u64::MAX));
            if chunk.len() >= chunk_letters || sent_with >= self.most {
                self.send(&std::mem::take(&mut chunk))?;
            }
            if self.outcome.sent >= self.most {
                self.outcome.left += 1;
            } else {
                chunk.push(entry);
            }
        }
        self.send(&chunk)?;
        Ok(self.outcome)
    }

    /// The places of all letters that are meant, sorted by where their records came from; and all markers.
    fn gather(&mut self) -> Result<Sorter<OUTCOME_BYTES>, Failure> {
        let mut sorter = Sorter::new(SORTED_BYTES, &std::env::temp_dir());
        let spans = self.topic.spans()?;
        let records = spans.iter().map(|span| u64::try_from(span.end.0 - span.first.0).unwrap_or(0)).sum();
        self.progress.begin("reading the dead letters:", records);
        for span in spans {
            let end = self.topic.read_to_end(span.at, NextOffset(span.first.0), &mut |met| {
                self.progress.step();
                match met {
                    Met::Letter(letter) if self.filter.takes(&letter) => {
                        self.outcome.meant += 1;
                        self.largest = self.largest.max(letter.record.footprint_bytes());
                        Ok(sorter.push(entry(&letter, &self.topic.sources).to_bytes())?)
                    }
                    Met::Marker { partition, offset } => {
                        self.replayed.add(partition, offset);
                        Ok(())
                    }
                    Met::Letter(_) | Met::Other => Ok(()),
                }
            })?;
            self.ends.insert(span.at.partition, end);
        }
        Ok(sorter)
    }

    /// Sends these letters' records, in this order.
    fn send(&mut self, entries: &[Entry]) -> Result<(), Failure> {
        let mut letters = self.fetch(entries)?;
        let mut pairs: Vec<Pair> = Vec::new();
        let mut bytes = 0_usize;
        for entry in entries {
            let place = place(entry);
            let Some(letter) = letters.remove(&place) else {
                self.outcome.refuse(place, "?", "it is gone from the dead-letter topic".to_owned());
                continue;
            };
            match original::of(self.topic, &letter)? {
                Ok(placed) => {
                    let more = placed.record.footprint_bytes();
                    if bytes + more > TRANSACTION_BYTES && !pairs.is_empty() {
                        self.transact(std::mem::take(&mut pairs))?;
                        bytes = 0;
                    }
                    bytes += more;
                    pairs.push(self.pair(placed, place));
                }
                Err(why) => self.outcome.refuse(place, &letter.source, why),
            }
        }
        self.transact(pairs)
    }

    fn pair(&self, record: Placed, (partition, offset): (i32, Offset)) -> Pair {
        let topic = self.topic;
        let marker = marker_of(partition, offset, &topic.job);
        let marker = Placed { topic: topic.name.clone(), partition, record: marker };
        Pair { letter: (partition, offset), record, marker }
    }

    fn transact(&mut self, pairs: Vec<Pair>) -> Result<(), Failure> {
        let count = u64::try_from(pairs.len()).unwrap_or(0);
        if let Some(sender) = &mut self.sender {
            sender.send(pairs, &mut self.replayed, &mut self.ends)?;
        }
        self.outcome.sent += count;
        (0..count).for_each(|_| self.progress.step());
        Ok(())
    }

    /// The letters at these places.
    fn fetch(&self, entries: &[Entry]) -> Result<BTreeMap<(i32, Offset), Letter>, Failure> {
        let mut places: Vec<(i32, Offset)> = entries.iter().map(place).collect();
        places.sort_unstable();
        let near = |a: &(i32, Offset), b: &(i32, Offset)| a.0 == b.0 && b.1.0 - a.1.0 <= GAP_RECORDS;
        let mut found = BTreeMap::new();
        for row in places.chunk_by(near) {
            let (Some((partition, first)), Some((_, last))) = (row.first(), row.last()) else { continue };
            let range = (NextOffset(first.0), last.next());
            self.topic.read_between(self.topic.at(*partition), range, &mut |met| {
                if let Met::Letter(letter) = met {
                    let place = (letter.partition, letter.offset);
                    if row.binary_search(&place).is_ok() {
                        found.insert(place, *letter);
                    }
                }
                Ok(())
            })?;
        }
        Ok(found)
    }
}

/// A letter's place, by where its record came from. One of a topic that the job does not read comes last.
fn entry(letter: &Letter, sources: &[String]) -> Entry {
    let elsewhere = TopicPartition { topic: u16::MAX, partition: 0 };
    let elsewhere = Coordinates { at: elsewhere, offset: Offset(0), index: 0 };
    let at = SentAt { to: Destination::DeadLetter, partition: letter.partition, offset: letter.offset };
    let source = Coordinates::parse(&letter.source, sources).unwrap_or(elsewhere);
    Entry { source, output: 0, lies: Lies::Sent(at) }
}

/// Where the letter lies: all that [`entry`] makes are in a topic.
fn place(entry: &Entry) -> (i32, Offset) {
    match entry.lies {
        Lies::Sent(at) => (at.partition, at.offset),
        Lies::Parked | Lies::Dropped => (-1, Offset(-1)),
    }
}
