//! Compare: the second of three steps: the input beside what was sent for it, record by record.
//!
//! In:        the input's records up to the frontier, partition by partition, rising; what was gathered, in the same order
//! Out:       what is lost and what is doubled; for the third step (order), outputs with their keys
//! Holds:     one group: what was sent for one event
//! Fails:     as the sorters do
//! Not here:  no decoding: a record comes with its key, or with the reason why it has none
//!
//! Every record in front of the frontier must have exactly one output or dead letter: the frontier moves only over what
//! Kafka has confirmed, and what was sent is read after the frontier. So nothing in front of it is still on its way,
//! and nothing at or behind it is blamed for being absent.

use super::entry::{Lies, OUTCOME_BYTES, Outcome, PLACED_BYTES, Placed, SentAt};
use super::found::{Fault, Finding, Found, Key, PLACES_MAX, Range};
use super::gather::Gathered;
use super::horizon::{Crossing, Horizon};
use super::sorter::{SortError, Sorted, Sorter};
use crate::job::{JobSpec, RejectRule};
use crate::model::{Coordinates, Destination, KeyGroup, NextOffset, Offset, TopicPartition};
use bytes::Bytes;
use siphasher::sip128::{Hasher128, SipHasher13};
use std::hash::Hasher;

/// What of the job decides which records must have sent something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Readable records have an output.
    pub(super) outputs: bool,
    /// Unreadable records may have nothing.
    pub(super) discards: bool,
    /// Readable ones may, too: what the database or Kafka refuses is discarded.
    pub(super) discards_events: bool,
}

impl Rules {
    pub(super) fn of(spec: &JobSpec) -> Rules {
        let rejects = &spec.rejects;
        let of_events = [rejects.refused, rejects.missing_lookup, rejects.too_large];
        Rules {
            outputs: !spec.outputs.is_empty(),
            discards: rejects.unreadable == RejectRule::Discard,
            discards_events: of_events.contains(&RejectRule::Discard),
        }
    }
}

/// An input record, decoded.
#[derive(Clone, Debug)]
pub(super) struct InputRecord {
    pub(super) at: TopicPartition,
    pub(super) offset: Offset,
    pub(super) content: Content,
}

/// What the job's decoder made of it.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Readable { group: KeyGroup, key: Bytes },
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
    places: Vec<SentAt>,
    is_parked: bool,
    is_dropped: bool,
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
        let outputs_from = self.horizon.losses_from(Destination::Output, at, first);
        let letters_from = self.horizon.losses_from(Destination::DeadLetter, at, first);
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
        let mut first_copy = None;
        let (mut is_parked, mut is_dropped) = (false, false);
        while self.next.is_some_and(|next| (next.source.at, next.source.offset) == (record.at, record.offset))
        {
            let Some(group) = self.group()? else { break };
            first_copy = first_copy.or(group.places.first().map(|place| place.to));
            is_parked |= group.is_parked;
            is_dropped |= group.is_dropped;
            if group.is_parked && group.copies > 0 {
                self.found.sent_and_parked.add(group.source);
            }
            self.meet(record, &group)?;
        }
        match first_copy {
            Some(Destination::Output) => self.found.counts.with_output += 1,
            Some(Destination::DeadLetter) => self.found.counts.with_dead_letter += 1,
            None if is_parked => self.found.counts.parked += 1,
            None if is_dropped => self.found.counts.dropped += 1,
            None => self.miss(record, judged),
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

    fn judged(&mut self, record: &InputRecord) -> bool {
        let Some(crossings) = &mut self.crossings else { return false };
        let (output, letter) =
            (crossings.outputs.passes(record.offset), crossings.letters.passes(record.offset));
        match record.content {
            Content::Readable { .. } => output,
            Content::Unreadable { .. } => letter,
        }
    }

    /// What was sent for a record.
    fn meet(&mut self, record: &InputRecord, group: &Group) -> Result<(), SortError> {
        let key = record.content.key();
        if group.copies > 1 {
            self.double(group, key);
            return Ok(());
        }
        let (Some(place), Some(key)) = (group.places.first(), key) else { return Ok(()) };
        if place.to == Destination::Output {
            let (partition, offset) = (place.partition, place.offset);
            let placed = Placed { key_hash: hash(&key.key), source: group.source, partition, offset };
            self.by_key.push(placed.to_bytes())?;
        }
        Ok(())
    }

    /// More than one copy: a fault, or the doing of whoever moved the job back.
    fn double(&mut self, group: &Group, key: Option<Key>) {
        let allowed = 1 + self.resets.iter().filter(|reset| reset.repeats(group.source)).count();
        if u64::try_from(allowed).is_ok_and(|allowed| group.copies <= allowed) {
            self.found.counts.again += group.copies - 1;
        } else {
            self.found.doubled.add(|| group.doubled(key));
        }
    }

    /// Nothing was sent for a record.
    fn miss(&mut self, record: &InputRecord, judged: bool) {
        let counts = &mut self.found.counts;
        let unreadable = match &record.content {
            Content::Readable { .. } if !self.rules.outputs => return counts.only_stored += 1,
            Content::Readable { .. } if self.rules.discards_events => return counts.discarded += 1,
            Content::Unreadable { .. } if self.rules.discards => return counts.discarded += 1,
            Content::Readable { .. } => None,
            Content::Unreadable { code } => Some(*code),
        };
        if self.resets.iter().any(|reset| reset.skips(record.at, record.offset)) {
            return counts.skipped += 1;
        }
        if !judged {
            return counts.not_judged += 1;
        }
        self.found.lost.add(|| Finding {
            source: Coordinates { at: record.at, offset: record.offset, index: 0 },
            key: record.content.key(),
            fault: Fault::Lost { unreadable },
        });
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
            if group.copies > 1 {
                self.double(&group, None);
            }
        }
        Ok(())
    }

    /// The next event's group.
    fn group(&mut self) -> Result<Option<Group>, SortError> {
        let Some(first) = self.next else { return Ok(None) };
        let (is_parked, is_dropped) = (false, false);
        let mut group = Group { source: first.source, copies: 0, places: Vec::new(), is_parked, is_dropped };
        while let Some(next) = self.next.filter(|next| next.source == first.source) {
            match next.lies {
                Lies::Parked => group.is_parked = true,
                Lies::Dropped => group.is_dropped = true,
                Lies::Sent(place) => {
                    group.copies += 1;
                    if group.places.len() < PLACES_MAX {
                        group.places.push(place);
                    }
                }
            }
            self.next = self.outcomes.next()?.as_ref().map(Outcome::from_bytes);
        }
        Ok(Some(group))
    }
}

impl Group {
    fn doubled(&self, key: Option<Key>) -> Finding {
        let fault = Fault::Doubled { copies: self.copies, places: self.places.clone() };
        Finding { source: self.source, key, fault }
    }
}

impl Content {
    fn key(&self) -> Option<Key> {
        match self {
            Content::Readable { group, key } => Some(Key { group: *group, key: key.clone() }),
            Content::Unreadable { .. } => None,
        }
    }
}

fn hash(key: &[u8]) -> [u8; 16] {
    let mut hasher = SipHasher13::new();
    hasher.write(key);
    hasher.finish128().as_bytes()
}
