//! Entry: what is kept of one record of the output topic or of the dead letters, and how its bytes sort.
//!
//! In:        coordinates, places, hashes of keys     Out: arrays that compare like what they hold, and back
//! Fails:     never
//! Not here:  no documents, and no keys: what is kept of a record is 48 bytes at the most, however big it is

use crate::model::{Coordinates, Destination, Offset, TopicPartition};

/// Length of [`Outcome::to_bytes`].
pub(in crate::cli) const OUTCOME_BYTES: usize = 35;
/// Length of [`Placed::to_bytes`].
pub(in crate::cli) const PLACED_BYTES: usize = 48;

/// Where a sent record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct SentAt {
    /// Which topic.
    pub(in crate::cli) to: Destination,
    /// Its partition.
    pub(in crate::cli) partition: i32,
    /// Its offset.
    pub(in crate::cli) offset: Offset,
}

/// Where an event's outcome lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Lies {
    /// In a topic.
    Sent(SentAt),
    /// In the ledger: it waits there.
    Parked,
    /// In the ledger: it was parked, and a person has dropped it.
    Dropped,
}

/// An outcome: what it came from and where it lies. Sorts in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Outcome {
    /// What its header, or the ledger's row, says.
    pub(in crate::cli) source: Coordinates,
    /// Which of the job's outputs it is, where it is one.
    pub(in crate::cli) output: u16,
    /// Where it lies.
    pub(in crate::cli) lies: Lies,
}

/// An output whose key is known. Sorts by key, input partition, output topic, output partition and output offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Placed {
    /// Of the ordering key, 128 bits: two keys that share it will not be met.
    pub(in crate::cli) key_hash: [u8; 16],
    /// What it came from.
    pub(in crate::cli) source: Coordinates,
    /// Its topic.
    pub(in crate::cli) topic: u16,
    /// Its partition there.
    pub(in crate::cli) partition: i32,
    /// Its offset there.
    pub(in crate::cli) offset: Offset,
}

/// Of an outcome that lies in no topic.
const NOWHERE: SentAt = SentAt { to: Destination::Output(0), partition: 0, offset: Offset(0) };

impl Outcome {
    pub(in crate::cli) fn to_bytes(self) -> [u8; OUTCOME_BYTES] {
        let Coordinates { at, offset, index } = self.source;
        let (lies, place) = match self.lies {
            Lies::Sent(place @ SentAt { to: Destination::Output(_), .. }) => (0_u8, place),
            Lies::Sent(place) => (1, place),
            Lies::Parked => (2, NOWHERE),
            Lies::Dropped => (3, NOWHERE),
        };
        let topic = match place.to {
            Destination::Output(topic) => topic,
            Destination::DeadLetter => 0,
        };
        Put::default()
            .put(at.topic.to_be_bytes())
            .put(small(at.partition))
            .put(big(offset))
            .put(index.to_be_bytes())
            .put([lies])
            .put(self.output.to_be_bytes())
            .put(topic.to_be_bytes())
            .put(small(place.partition))
            .put(big(place.offset))
            .bytes
    }

    pub(in crate::cli) fn from_bytes(bytes: &[u8; OUTCOME_BYTES]) -> Outcome {
        let mut get = Get(bytes);
        let at = TopicPartition { topic: u16::from_be_bytes(get.get()), partition: get.small() };
        let source = Coordinates { at, offset: get.big(), index: u32::from_be_bytes(get.get()) };
        let lies: [u8; 1] = get.get();
        let (output, topic) = (u16::from_be_bytes(get.get()), u16::from_be_bytes(get.get()));
        let (partition, offset) = (get.small(), get.big());
        let sent = |to| Lies::Sent(SentAt { to, partition, offset });
        let lies = match lies {
            [0] => sent(Destination::Output(topic)),
            [1] => sent(Destination::DeadLetter),
            [2] => Lies::Parked,
            _ => Lies::Dropped,
        };
        Outcome { source, output, lies }
    }
}

impl Placed {
    pub(in crate::cli) fn to_bytes(self) -> [u8; PLACED_BYTES] {
        let Coordinates { at, offset, index } = self.source;
        Put::default()
            .put(self.key_hash)
            .put(at.topic.to_be_bytes())
            .put(small(at.partition))
            .put(self.topic.to_be_bytes())
            .put(small(self.partition))
            .put(big(self.offset))
            .put(big(offset))
            .put(index.to_be_bytes())
            .bytes
    }

    pub(in crate::cli) fn from_bytes(bytes: &[u8; PLACED_BYTES]) -> Placed {
        let mut get = Get(bytes);
        let key_hash = get.get();
        let at = TopicPartition { topic: u16::from_be_bytes(get.get()), partition: get.small() };
        let topic = u16::from_be_bytes(get.get());
        let (partition, offset) = (get.small(), get.big());
        let source = Coordinates { at, offset: get.big(), index: u32::from_be_bytes(get.get()) };
        Placed { key_hash, source, topic, partition, offset }
    }
}

/// A partition's number is never negative.
fn small(partition: i32) -> [u8; 4] {
    u32::try_from(partition).unwrap_or(0).to_be_bytes()
}

/// Nor is an offset.
fn big(offset: Offset) -> [u8; 8] {
    u64::try_from(offset.0).unwrap_or(0).to_be_bytes()
}

struct Put<const N: usize> {
    bytes: [u8; N],
    len: usize,
}

impl<const N: usize> Default for Put<N> {
    fn default() -> Put<N> {
        Put { bytes: [0; N], len: 0 }
    }
}

impl<const N: usize> Put<N> {
    fn put<const M: usize>(mut self, part: [u8; M]) -> Put<N> {
        if let Some(place) = self.bytes.get_mut(self.len..).and_then(|rest| rest.first_chunk_mut::<M>()) {
            *place = part;
        }
        self.len += M;
        self
    }
}

struct Get<'a>(&'a [u8]);

impl Get<'_> {
    fn get<const M: usize>(&mut self) -> [u8; M] {
        let Some((part, rest)) = self.0.split_first_chunk::<M>() else { return [0; M] };
        self.0 = rest;
        *part
    }

    fn small(&mut self) -> i32 {
        i32::try_from(u32::from_be_bytes(self.get())).unwrap_or(i32::MAX)
    }

    fn big(&mut self) -> Offset {
        Offset(i64::try_from(u64::from_be_bytes(self.get())).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn coordinates() -> impl Strategy<Value = Coordinates> {
        let parts = (any::<u16>(), 0..=i32::MAX, 0..=i64::MAX, any::<u32>());
        parts.prop_map(|(topic, partition, offset, index)| Coordinates {
            at: TopicPartition { topic, partition },
            offset: Offset(offset),
            index,
        })
    }

    fn outcome() -> impl Strategy<Value = Outcome> {
        let place = (any::<u16>(), any::<u16>(), 0..=i32::MAX, 0..=i64::MAX);
        (coordinates(), 0..4, place).prop_map(|(source, lies, (output, topic, partition, at))| {
            let sent = |to| Lies::Sent(SentAt { to, partition, offset: Offset(at) });
            let lies = match lies {
                0 => sent(Destination::Output(topic)),
                1 => sent(Destination::DeadLetter),
                2 => Lies::Parked,
                _ => Lies::Dropped,
            };
            Outcome { source, output, lies }
        })
    }

    proptest! {
        #[test]
        fn bytes_keep_everything_and_sort_by_source(
            a in outcome(),
            b in outcome(),
            key_hash in any::<[u8; 16]>(),
        ) {
            prop_assert_eq!(Outcome::from_bytes(&a.to_bytes()), a);
            if a.source != b.source {
                prop_assert_eq!(a.to_bytes() < b.to_bytes(), a.source < b.source);
            }
            let placed = |outcome: Outcome| {
                let Lies::Sent(SentAt { partition, offset, .. }) = outcome.lies else { return None };
                Some(Placed { key_hash, source: outcome.source, topic: outcome.output, partition, offset })
            };
            let (Some(a), Some(b)) = (placed(a), placed(b)) else { return Ok(()) };
            prop_assert_eq!(Placed::from_bytes(&a.to_bytes()), a);
            let order = |p: Placed| (p.source.at, p.topic, p.partition, p.offset);
            if order(a) != order(b) {
                prop_assert_eq!(a.to_bytes() < b.to_bytes(), order(a) < order(b));
            }
        }
    }
}
