//! Where things are: offsets, epochs, key groups and the numbers of the protocol.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The dataflow's timestamp. Minted by the sources; it has no unit, only order.
pub type Epoch = u64;

/// The offset of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Offset(pub i64);

impl Offset {
    /// The position behind this record: the only thing that may ever be committed.
    pub fn next(self) -> NextOffset {
        NextOffset(self.0.saturating_add(1))
    }
}

/// The first offset that has not been handled: a position. Only positions are stored and committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NextOffset(pub i64);

/// A partition of one of the job's topics. `topic` counts in the order of `source.topics` in the job file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TopicPartition {
    /// Index into the job's list of topics.
    pub topic: u16,
    /// Kafka's partition number.
    pub partition: i32,
}

/// Where an event comes from: its record, and its place among the record's events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Coordinates {
    /// The record's partition.
    pub at: TopicPartition,
    /// The record's offset.
    pub offset: Offset,
    /// 0 for the record's first event.
    pub index: u32,
}

/// The unit of order, of the database transaction and of recovery: hash(ordering key) mod `key_groups`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KeyGroup(pub u32);

/// Counts the batches of one key group, from 1; 0 is "none yet".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BatchNumber(pub u64);

impl BatchNumber {
    /// The batch that follows.
    pub fn next(self) -> BatchNumber {
        BatchNumber(self.0.saturating_add(1))
    }
}

/// Counts the starts that claimed a key group. The ledger accepts writes of the newest one alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Incarnation(pub u64);

macro_rules! plain_number {
    ($($name:ident),*) => { $(impl fmt::Display for $name {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { self.0.fmt(f) }
    })* };
}
plain_number!(Offset, NextOffset, KeyGroup, BatchNumber, Incarnation);
