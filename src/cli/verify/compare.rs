//! Compare: the second of three steps: the input beside what was sent for it, record by record.
//!
//! In:        the input's records up to the frontier, partition by partition, rising; what was gathered, in the same order
//! Out:       what is lost and what is doubled; for the third step (order), outputs with their keys
//! Holds:     one group: what was sent for one event
//! Fails:     as the sorters do
//! Not here:  no decoding: a record comes with its key, or with the reason why it has none
//!
//! Every event of every record in front of the frontier must have a dead letter, or each output that has no condition; each
//! of its outputs once, and not both: the frontier moves only over what Kafka has confirmed, and what was sent is read after
//! the frontier. So nothing in front of it is still on its way, and nothing at or behind it is blamed for being absent. An
//! output with a condition may be there or not.

use super::entry::{Lies, OUTCOME_BYTES, Outcome, PLACED_BYTES, Placed, SentAt};
use super::found::{Fault, Finding, Found, Key, PLACES_MAX, Range};
use super::gather::Gathered;
use super::horizon::{Crossing, Horizon};
use super::rules::Rules;
use super::sorter::{SortError, Sorted, Sorter};
use crate::model::{Coordinates, Destination, KeyGroup, NextOffset, Offset, TopicPartition};
use bytes::Bytes;
use siphasher::sip128::{Hasher128, SipHasher13};
use std::collections::BTreeMap;
use std::hash::Hasher;

/// An input record, decoded.
#[derive(Clone, Debug)]
pub(super) struct InputRecord {
    pub(super) at: TopicPartition,
    pub(super) offset: Offset,
    /// Its events, in document order.
    pub(super) events: Vec<Content>,
}

/// What the job's decoder made of an event.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Readable { group: KeyGroup, key: Bytes, tombstone: bool },
    Unreadable { code: &'static str },
}

/// Where losses are judged from, for outputs and dead letters.
struct Crossings {
    outputs: Crossing,
    letters: Crossing,
}

/// Compares.
pub(super) struct Compare {
    rules: Rules,
    horizon: Horizon,
    outcomes: Sorted<OUTCOME_BYTES>,
    next: Option<Outcome>,
    by_key: Sorter<PLACED_BYTES>,
    crossings: Option<Crossings>,
    resets: Vec<Reset>,
    found: Found,
}

/// A partition's move by `offsets reset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reset {
    pub(super) at: TopicPartition,
    pub(super) from: NextOffset,
    /// Nothing at or behind it had been handled.
    pub(super) handled: NextOffset,
    pub(super) to: NextOffset,
}

impl Reset {
    /// It let this event be handled once more.
    fn repeats(&self, source: Coordinates) -> bool {
        self.at == source.at && (self.to.0..self.handled.0).contains(&source.offset.0)
    }

    /// It let this record be left out.
    fn skips(&self, at: TopicPartition, offset: Offset) -> bool {
        self.at == at && (self.from.0..self.to.0).contains(&offset.0)
    }
}

/// What became of one event.
struct Group {
    source: Coordinates,
    /// Records that were sent for it.
    copies: u64,
    letters: u64,
    /// Which outputs, and how often.
    outputs: BTreeMap<u16, u64>,
    /// The first of them.
    places: Vec<SentAt>,
    is_parked: bool,
    is_dropped: bool,
}

/// Places of one event's outputs that are looked at for their order.
const ORDERED_MAX: usize = 1_000;

/// Whether missing outputs and dead letters of a record are losses.
#[derive(Clone, Copy)]
struct Judged {
    outputs: bool,
    letters: bool,
}

impl Compare {
    pub(super) fn new(
        rules: Rules,
        gathered: Gathered,
        by_key: Sorter<PLACED_BYTES>,
        resets: Vec<Reset>,
    ) -> Result<Compare, SortError> {
        let mut found = Found::default();
        found.counts.outputs = gathered.outputs;
        found.counts.dead_letters = gathered.dead_letters;
        found.counts.foreign = gathered.foreign;
        let mut outcomes = gathered.outcomes.finish()?;
        let next = outcomes.next()?.as_ref().map(Outcome::from_bytes);
        Ok(Compare {
            rules,
            horizon: gathered.horizon,
            outcomes,
            next,
            by_key,
            crossings: None,
            resets,
            found,
        })
    }

    /// An input partition begins; partitions come in their order.
    pub(super) fn begin(
        &mut self,
        at: TopicPartition,
        first: Offset,
        frontier: NextOffset,
    ) -> Result<(), SortError> {
        self.settle_before(at, None)?;
        let outputs_from = self.horizon.outputs_lost_from(at, first);
        let letters_from = self.horizon.letters_lost_from(at, first);
        let crossings =
            Crossings { outputs: Crossing::new(outputs_from), letters: Crossing::new(letters_from) };
        self.crossings = Some(crossings);
        self.found.ranges.push(Range { at, first, frontier, records: 0, outputs_from, letters_from });
        Ok(())
    }

    /// A record of the partition that was begun, in front of its frontier.
    pub(super) fn record(&mut self, record: &InputRecord) -> Result<(), SortError> {
        self.settle_before(record.at, Some(record.offset))?;
        self.found.counts.records += 1;
        if let Some(range) = self.found.ranges.last_mut() {
            range.records += 1;
        }
        // Asked for every record: it counts them.
        let judged = self.judged(record);
        self.found.counts.events += u64::try_from(record.events.len()).unwrap_or(0);
        self.found.counts.without_events += u64::from(record.events.is_empty());
        let mut events = (0_u32..).zip(&record.events).peekable();
        while self.next.is_some_and(|next| (next.source.at, next.source.offset) == (record.at, record.offset))
        {
            let Some(group) = self.group()? else { break };
            while let Some((index, content)) = events.next_if(|(index, _)| *index < group.source.index) {
                self.miss(source_of(record, index), content, judged);
            }
            let content = events.next_if(|(index, _)| *index == group.source.index);
            self.meet(content.map(|(_, content)| content), &group, judged)?;
        }
        for (index, content) in events {
            self.miss(source_of(record, index), content, judged);
        }
        Ok(())
    }

    /// No partition is left; gives what is found so far, and what the third step needs.
    pub(super) fn finish(mut self) -> Result<(Found, Sorted<PLACED_BYTES>), SortError> {
        let behind_all = TopicPartition { topic: u16::MAX, partition: i32::MAX };
        self.settle_before(behind_all, None)?;
        drop(self.outcomes);
        Ok((self.found, self.by_key.finish()?))
    }

    fn judged(&mut self, record: &InputRecord) -> Judged {
        let Some(crossings) = &mut self.crossings else { return Judged { outputs: false, letters: false } };
        let (outputs, letters) =
            (crossings.outputs.passes(record.offset), crossings.letters.passes(record.offset));
        Judged { outputs, letters }
    }

    /// What was sent for an event, or lies in the ledger; none: its record has no such event by this job file.
    fn meet(&mut self, content: Option<&Content>, group: &Group, judged: Judged) -> Result<(), SortError> {
        if group.is_parked && group.copies > 0 {
            self.found.sent_and_parked.add(group.source);
        }
        let Some(content) = content else {
            self.found.counts.without_record += group.copies;
            if group.handlings() > 1 {
                self.double(group, None);
            }
            return Ok(());
        };
        let counts = &mut self.found.counts;
        match (group.outputs.is_empty(), group.letters) {
            (false, _) => counts.with_output += 1,
            (true, 1..) => counts.with_dead_letter += 1,
            (true, 0) if group.is_parked => counts.parked += 1,
            (true, 0) => counts.dropped += 1,
        }
        let key = content.key();
        if group.handlings() > 1 {
            self.double(group, key);
            return Ok(());
        }
        self.miss_some(content, group, judged);
        let Some(key) = key else { return Ok(()) };
        for place in &group.places {
            let Destination::Output(topic) = place.to else { continue };
            let (partition, offset) = (place.partition, place.offset);
            let placed = Placed { key_hash: hash(&key.key), source: group.source, topic, partition, offset };
            self.by_key.push(placed.to_bytes())?;
        }
        Ok(())
    }

    /// Of an event that has outputs, those that each such event has. Nobody is blamed where one of them has a name that this
    /// job file does not know: it ran with another one then.
    fn miss_some(&mut self, content: &Content, group: &Group, judged: Judged) {
        let Content::Readable { tombstone, .. } = content else { return };
        let known = group.outputs.keys().all(|output| self.rules.name(*output).is_some());
        if group.outputs.is_empty() || !known || !judged.outputs {
            return;
        }
        let missing = self.rules.always(*tombstone).filter(|output| !group.outputs.contains_key(output));
        for output in missing {
            let output = self.rules.name(output).unwrap_or_default().to_owned();
            let finding =
                || Finding { source: group.source, key: content.key(), fault: Fault::OutputLost { output } };
            self.found.lost.add(finding);
        }
    }

    /// More than one copy: a fault, or the doing of whoever moved the job back.
    fn double(&mut self, group: &Group, key: Option<Key>) {
        let allowed = 1 + self.resets.iter().filter(|reset| reset.repeats(group.source)).count();
        if u64::try_from(allowed).is_ok_and(|allowed| group.handlings() <= allowed) {
            self.found.counts.again += group.handlings() - 1;
        } else {
            self.found.doubled.add(|| group.doubled(key));
        }
    }

    /// Nothing was sent for an event.
    fn miss(&mut self, source: Coordinates, content: &Content, judged: Judged) {
        let counts = &mut self.found.counts;
        let (unreadable, judged) = match content {
            Content::Readable { tombstone, .. } if !self.rules.any(*tombstone) => {
                return counts.only_stored += 1;
            }
            Content::Readable { .. } if self.rules.discards_events => return counts.discarded += 1,
            Content::Readable { tombstone, .. } if self.rules.always(*tombstone).next().is_none() => {
                return counts.conditional += 1;
            }
            Content::Unreadable { .. } if self.rules.discards => return counts.discarded += 1,
            Content::Readable { .. } => (None, judged.outputs),
            Content::Unreadable { code } => (Some(*code), judged.letters),
        };
        if self.resets.iter().any(|reset| reset.skips(source.at, source.offset)) {
            return counts.skipped += 1;
        }
        if !judged {
            return counts.not_judged += 1;
        }
        self.found.lost.add(|| Finding { source, key: content.key(), fault: Fault::Lost { unreadable } });
    }

    /// What was sent for events before this one, and no input record has claimed.
    fn settle_before(&mut self, at: TopicPartition, offset: Option<Offset>) -> Result<(), SortError> {
        let is_before = |next: Outcome| (next.source.at, Some(next.source.offset)) < (at, offset);
        while self.next.is_some_and(is_before) {
            let Some(group) = self.group()? else { break };
            let counts = &mut self.found.counts;
            let source = group.source;
            match self.found.ranges.last() {
                Some(range) if range.at == source.at && source.offset < range.first => {
                    counts.older += group.copies;
                }
                Some(range) if range.at == source.at && source.offset.0 >= range.frontier.0 => {
                    counts.beyond += group.copies;
                }
                _ => counts.without_record += group.copies,
            }
            if group.handlings() > 1 {
                self.double(&group, None);
            }
        }
        Ok(())
    }

    /// The next event's group.
    fn group(&mut self) -> Result<Option<Group>, SortError> {
        let Some(first) = self.next else { return Ok(None) };
        let mut group = Group {
            source: first.source,
            copies: 0,
            letters: 0,
            outputs: BTreeMap::new(),
            places: Vec::new(),
            is_parked: false,
            is_dropped: false,
        };
        while let Some(next) = self.next.filter(|next| next.source == first.source) {
            match next.lies {
                Lies::Parked => group.is_parked = true,
                Lies::Dropped => group.is_dropped = true,
                Lies::Sent(place) => {
                    group.copies += 1;
                    match place.to {
                        Destination::Output(_) => *group.outputs.entry(next.output).or_default() += 1,
                        Destination::DeadLetter => group.letters += 1,
                    }
                    if group.places.len() < ORDERED_MAX {
                        group.places.push(place);
                    }
                }
            }
            self.next = self.outcomes.next()?.as_ref().map(Outcome::from_bytes);
        }
        Ok(Some(group))
    }
}

fn source_of(record: &InputRecord, index: u32) -> Coordinates {
    Coordinates { at: record.at, offset: record.offset, index }
}

impl Group {
    /// How often the event was handled, at the least: an output is sent once each time, and a letter in the place of all.
    fn handlings(&self) -> u64 {
        self.letters + self.outputs.values().copied().max().unwrap_or(0)
    }

    fn doubled(&self, key: Option<Key>) -> Finding {
        let fault = Fault::Doubled {
            copies: self.copies,
            places: self.places.iter().take(PLACES_MAX).copied().collect(),
        };
        Finding { source: self.source, key, fault }
    }
}

impl Content {
    fn key(&self) -> Option<Key> {
        match self {
            Content::Readable { group, key, .. } => Some(Key { group: *group, key: key.clone() }),
            Content::Unreadable { .. } => None,
        }
    }
}

fn hash(key: &[u8]) -> [u8; 16] {
    let mut hasher = SipHasher13::new();
    hasher.write(key);
    hasher.finish128().as_bytes()
}
