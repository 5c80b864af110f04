//! Found: what a comparison has to say: faults with their places, counts, and the range that they cover.
//!
//! In:        faults as they are met     Out: the first of each kind, and how many there are
//! Holds:     [`SHOWN_MAX`] of each kind, so that a topic that is wrong from end to end fits in memory, too
//! Not here:  no text for a person (report)

use super::entry::SentAt;
use super::horizon::LossesFrom;
use crate::model::{Coordinates, KeyGroup, NextOffset, Offset, TopicPartition};
use bytes::Bytes;

/// So many of each kind are shown; all are counted.
pub(super) const SHOWN_MAX: usize = 20;

/// So many events are asked for once more.
const BOTH_MAX: usize = 1_000;

/// So many places of a doubled event are shown.
pub(super) const PLACES_MAX: usize = 4;

/// One event that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// The event.
    pub(super) source: Coordinates,
    /// Its ordering key; unknown where its record cannot be read, is gone, or lies beyond the frontier.
    pub(super) key: Option<Key>,
    /// What is wrong.
    pub(super) fault: Fault,
}

/// An ordering key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) group: KeyGroup,
    pub(super) key: Bytes,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It was handled, and an output that each such event has was not sent.
    OutputLost {
        /// The output's name or number.
        output: String,
    },
    /// Nothing was sent for it.
    Lost {
        /// Why it cannot be read, where it cannot: a dead letter is missing, and no output.
        unreadable: Option<&'static str>,
    },
    /// More than one record was sent for it.
    Doubled {
        /// How many.
        copies: u64,
        /// The first of them.
        places: Vec<SentAt>,
    },
    /// It was sent, and waits in the ledger all the same.
    SentAndParked,
    /// Its output lies behind one of a later event of its key.
    OutOfOrder {
        /// Its output.
        place: SentAt,
        /// The later event.
        later: Coordinates,
        /// The later event's output, which comes first.
        before: SentAt,
    },
}

/// All findings of one kind.
#[derive(Debug, Default)]
pub(super) struct Kind {
    /// How many there are.
    pub(super) count: u64,
    /// The first ones.
    pub(super) shown: Vec<Finding>,
}

impl Kind {
    /// Adds one, and keeps it where there is room.
    pub(super) fn add(&mut self, finding: impl FnOnce() -> Finding) {
        self.count += 1;
        if self.shown.len() < SHOWN_MAX {
            self.shown.push(finding());
        }
    }
}

/// What was looked at of one input partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) at: TopicPartition,
    /// Its first record that there is.
    pub(super) first: Offset,
    /// The ledger's frontier: everything before it is handled.
    pub(super) frontier: NextOffset,
    /// Records between the two.
    pub(super) records: u64,
    /// From where on missing outputs count as lost.
    pub(super) outputs_from: LossesFrom,
    /// The same for dead letters.
    pub(super) letters_from: LossesFrom,
}

/// How many of what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(super) struct Counts {
    /// Input records in the range.
    pub(super) records: u64,
    /// Their events.
    pub(super) events: u64,
    /// Records that have none, which the job lets go.
    pub(super) without_events: u64,
    /// Of the events, those with an output.
    pub(super) with_output: u64,
    /// Of them, those with a dead letter and no output.
    pub(super) with_dead_letter: u64,
    /// Of them, those without either that the job's rules discard, or may have discarded.
    pub(super) discarded: u64,
    /// Of them, those without either that wait in the ledger.
    pub(super) parked: u64,
    /// Of them, those without either that were parked and dropped by a person.
    pub(super) dropped: u64,
    /// Of them, those for which the job has no output, and sends nothing.
    pub(super) only_stored: u64,
    /// Of them, those without either whose outputs all have conditions.
    pub(super) conditional: u64,
    /// Of them, those without either in front of the place from which losses can be judged.
    pub(super) not_judged: u64,
    /// Of them, those without either that `offsets reset` has left out.
    pub(super) skipped: u64,
    /// Copies, beside the first, of events that `offsets reset` has let be handled again.
    pub(super) again: u64,
    /// Records in the output topics.
    pub(super) outputs: u64,
    /// Records in the dead-letter topic.
    pub(super) dead_letters: u64,
    /// Records there that this job did not send: no `tidegate-source`, another job, or a topic that it does not read.
    pub(super) foreign: u64,
    /// Sent for records older than what the input holds.
    pub(super) older: u64,
    /// Sent for records at or beyond the frontier: the job is at them.
    pub(super) beyond: u64,
    /// Sent for records that the input should hold and does not: compaction, or a topic made anew.
    pub(super) without_record: u64,
}

/// Everything.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) lost: Kind,
    pub(super) doubled: Kind,
    pub(super) out_of_order: Kind,
    pub(super) counts: Counts,
    pub(super) ranges: Vec<Range>,
    /// Sent, and parked when the ledger was read: tried again since, or both.
    pub(super) sent_and_parked: Both,
}

/// Events to be asked for once more.
#[derive(Debug, Default)]
pub(super) struct Both {
    pub(super) count: u64,
    /// The first ones.
    pub(super) first: Vec<Coordinates>,
}

impl Both {
    pub(super) fn add(&mut self, source: Coordinates) {
        self.count += 1;
        if self.first.len() < BOTH_MAX {
            self.first.push(source);
        }
    }
}

impl Found {
    /// Nothing is wrong.
    pub(super) fn is_clean(&self) -> bool {
        self.lost.count == 0 && self.doubled.count == 0 && self.out_of_order.count == 0
    }
}
