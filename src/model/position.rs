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

impl Coordinates {
    /// Reads `topic/partition/offset[/event index]`, the header `tidegate-source`; none: it is not of one of these topics.
    pub fn parse(text: &str, topics: &[String]) -> Option<Coordinates> {
        let mut parts = text.split('/');
        let name = parts.next()?;
        let topic = u16::try_from(topics.iter().position(|topic| topic == name)?).ok()?;
        let partition: i32 = parts.next()?.parse().ok().filter(|partition| *partition >= 0)?;
        let offset: i64 = parts.next()?.parse().ok().filter(|offset| *offset >= 0)?;
        let index = parts.next().map_or(Ok(0), str::parse).ok()?;
        let at = TopicPartition { topic, partition };
        parts.next().is_none().then_some(Coordinates { at, offset: Offset(offset), index })
    }
}

/// The unit of order, of the database transaction and of recovery: hash(ordering key) mod `key_groups`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KeyGroup(pub u32);

/// An ordering key, by its 128-bit hash: what is kept of a key where there may be a million of them. (Two of a million
/// keys are alike with a chance below 10^-26.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct KeyId(pub u128);

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_read_as_they_are_written() {
        let topics = ["orders".to_owned(), "returns".to_owned()];
        let at = |partition, offset, index| {
            let at = TopicPartition { topic: 1, partition };
            Some(Coordinates { at, offset: Offset(offset), index })
        };
        assert_eq!(Coordinates::parse("returns/3/44", &topics), at(3, 44, 0));
        assert_eq!(Coordinates::parse("returns/3/44/7", &topics), at(3, 44, 7));
        for text in
            ["", "returns", "returns/3", "returns/-1/4", "returns/3/-4", "returns/3/4/5/6", "other/3/4"]
        {
            assert_eq!(Coordinates::parse(text, &topics), None, "{text}");
        }
    }
}
