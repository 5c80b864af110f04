//! Account: how the operators tell the audit of records: read, and what became of them.
//!
//! In:        coordinates and epochs     Out: differential updates, the two ends of each run of offsets
//! Holds:     nothing from one activation to the next
//! Order:     none
//! Fails:     never
//! Not here:  no judgement (6-audit); with `job.audit = false` nothing is built and nothing is sent
//!
//! How often each offset was accounted for is a function over a partition's offsets. It travels as its differences: a run of
//! offsets from a to b adds +1 at a and -1 at b. Differences add up as the function does, so what does not cancel says
//! exactly which offsets are left, and how often; a thousand records in a row cost two updates and not a thousand.

use crate::model::{Coordinates, Epoch, Offset, TopicPartition};
use serde::{Deserialize, Serialize};
use timely::container::CapacityContainerBuilder;
use timely::dataflow::StreamVec;
use timely::dataflow::operators::CapabilityTrait;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;

/// Where a run of offsets begins, or the offset behind its end. Sorts so that the edges of a partition are in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Edge {
    /// The partition.
    pub at: TopicPartition,
    /// Which of their records' events the run is about; 0: the first, which each record has.
    pub index: u32,
    /// The edge.
    pub offset: i64,
}

/// A differential update, in the shape that arrangements take.
pub type Update = ((Edge, ()), Epoch, isize);

/// What an operator tells the audit; none: the job is not audited.
pub type Accounts<'scope> = Option<StreamVec<'scope, Epoch, Update>>;

/// Which way an account counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Read: the audit expects an outcome.
    Expected,
    /// The outcome.
    Settled,
}

/// Events on their way to the audit, as runs of offsets.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally(Vec<Run>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    epoch: Epoch,
    at: TopicPartition,
    index: u32,
    from: i64,
    to: i64,
}

impl Tally {
    /// Adds an event that belongs to this epoch.
    pub fn add(&mut self, of: Coordinates, epoch: Epoch) {
        let Coordinates { at, offset: Offset(offset), index } = of;
        match self.0.last_mut() {
            Some(run) if run.to == offset && run.at == at && run.epoch == epoch && run.index == index => {
                run.to = offset.saturating_add(1);
            }
            _ => self.0.push(Run { epoch, at, index, from: offset, to: offset.saturating_add(1) }),
        }
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The updates, and the tally is empty again.
    fn drain(&mut self, way: Way) -> impl Iterator<Item = Update> + '_ {
        // Mostly a few sorted runs behind each other, one per key group: this sort takes them as they are.
        self.0.sort();
        self.0.dedup_by(|next, run| {
            let joins =
                (run.epoch, run.at, run.index, run.to) == (next.epoch, next.at, next.index, next.from);
            if joins {
                run.to = next.to;
            }
            joins
        });
        let sign = match way {
            Way::Expected => 1,
            Way::Settled => -1,
        };
        self.0.drain(..).flat_map(move |Run { epoch, at, index, from, to }| {
            let edge = |offset, difference| ((Edge { at, index, offset }, ()), epoch, difference);
            [edge(from, sign), edge(to, -sign)]
        })
    }
}

/// An operator's output to the audit.
pub struct Tap(Option<OutputBuilder<Epoch, CapacityContainerBuilder<Vec<Update>>>>);

impl Tap {
    /// Adds the output to an operator that is being built, behind those that are there; with `on = false` none is added.
    pub fn new<'scope>(builder: &mut OperatorBuilder<'scope, Epoch>, on: bool) -> (Tap, Accounts<'scope>) {
        if !on {
            return (Tap(None), None);
        }
        let (output, stream) = builder.new_output::<Vec<Update>>();
        (Tap(Some(OutputBuilder::from(output))), Some(stream))
    }

    /// Whether anybody listens.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// Sends the tally. `capability` is one of this output, of an epoch that is none of the events' later one.
    pub fn give(&mut self, capability: &impl CapabilityTrait<Epoch>, tally: &mut Tally, way: Way) {
        if let Some(output) = self.0.as_mut().filter(|_| !tally.is_empty()) {
            output.activate().session(capability).give_iterator(tally.drain(way));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn event(partition: i32, offset: i64, index: u32) -> Coordinates {
        Coordinates { at: TopicPartition { topic: 0, partition }, offset: Offset(offset), index }
    }

    #[test]
    fn a_row_of_records_is_two_updates() {
        let mut tally = Tally::default();
        for offset in [5, 6, 7, 20, 21, 8, 9] {
            tally.add(event(1, offset, 0), 3);
        }
        let updates: Vec<(i64, isize)> =
            tally.drain(Way::Expected).map(|((edge, ()), _, difference)| (edge.offset, difference)).collect();
        assert_eq!(updates, [(5, 1), (10, -1), (20, 1), (22, -1)]);
        assert!(tally.is_empty());
    }

    proptest! {
        /// Summed up from the left, the updates say how often each event was added, whatever came in which order.
        #[test]
        fn the_sum_of_the_updates_is_how_often_each_event_was_added(
            events in proptest::collection::vec((0_i32..2, 0_i64..12, 0_u32..2, 0_u64..2), 0..60)
        ) {
            let mut tally = Tally::default();
            let mut added: BTreeMap<(Epoch, i32, u32, i64), isize> = BTreeMap::new();
            for (partition, offset, index, epoch) in events {
                tally.add(event(partition, offset, index), epoch);
                *added.entry((epoch, partition, index, offset)).or_default() += 1;
            }
            let updates: Vec<Update> = tally.drain(Way::Expected).collect();
            for (epoch, partition, index, offset) in (0..2).flat_map(|epoch| (0..2).flat_map(move |partition| {
                (0..2).flat_map(move |index| (0..13).map(move |offset| (epoch, partition, index, offset)))
            })) {
                let before = updates.iter().filter(|((edge, ()), time, _)| {
                    (*time, edge.at.partition, edge.index) == (epoch, partition, index) && edge.offset <= offset
                });
                let sum: isize = before.map(|(_, _, difference)| difference).sum();
                prop_assert_eq!(sum, added.get(&(epoch, partition, index, offset)).copied().unwrap_or(0));
            }
        }
    }
}
