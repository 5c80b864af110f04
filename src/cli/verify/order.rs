//! Order: the last of three steps: whether the outputs of each key lie in the order of its events.
//!
//! In:        outputs with their keys, sorted by key, input partition, output topic and partition, and offset there
//! Out:       what is out of order
//! Holds:     the latest event met of one key
//! Fails:     as the sorter does
//!
//! The rule: of the events of one ordering key that come from one input partition and whose outputs lie in one output
//! partition, a later output never belongs to an earlier event. Each output that does is one fault. Between input
//! partitions no order is promised, and between output partitions Kafka keeps none: where `output.key` is not the
//! ordering key, each output partition is looked at by itself. Doubled events and dead letters are not looked at.

use super::entry::{PLACED_BYTES, Placed, SentAt};
use super::found::{Fault, Finding, Kind};
use super::sorter::{SortError, Sorted};
use crate::model::Destination;

/// Finds what is out of order. The findings have no keys yet: hashes are all that was kept.
/// `step` is called for each output.
pub(super) fn check(mut placed: Sorted<PLACED_BYTES>, mut step: impl FnMut()) -> Result<Kind, SortError> {
    let mut kind = Kind::default();
    let mut latest: Option<Placed> = None;
    while let Some(bytes) = placed.next()? {
        step();
        let output = Placed::from_bytes(&bytes);
        let of_same = latest.filter(|latest| latest.is_comparable(&output));
        match of_same {
            Some(later) if output.source < later.source => kind.add(|| Finding {
                source: output.source,
                key: None,
                fault: Fault::OutOfOrder {
                    place: output.place(),
                    later: later.source,
                    before: later.place(),
                },
            }),
            _ => latest = Some(output),
        }
    }
    Ok(kind)
}

impl Placed {
    fn is_comparable(&self, other: &Placed) -> bool {
        let of = |placed: &Placed| (placed.key_hash, placed.source.at, placed.topic, placed.partition);
        of(self) == of(other)
    }

    fn place(&self) -> SentAt {
        SentAt { to: Destination::Output(self.topic), partition: self.partition, offset: self.offset }
    }
}
