//! Horizon: from which input record on a missing output is a lost one.
//!
//! In:        where the output topics begin, and what each of their partitions holds     Out: per input partition, a [`LossesFrom`]
//! Holds:     one offset per input partition and shortened output partition
//! Order:     outputs of one partition come in the order of the partition
//! Fails:     never; where nothing can be said, nobody is blamed
//!
//! Three things make a missing output no loss:
//! - The job began behind the input's first record (`source.start` is "latest" or "group"). The ledger does not keep where
//!   that was, so the range begins with the first record that anything was sent for.
//! - Retention has deleted the beginning of an output partition. Of each input partition that partition's first remaining
//!   output is known; an output that was sent before it, and is gone with what was deleted, can come from a record behind
//!   it only as far as records were in flight together: `in_flight_records`. Only missing ones behind that are lost.
//! - An output partition is shortened and nothing remains in it of an input partition: all of them may have been there.

use crate::model::{Destination, Offset, TopicPartition};
use std::collections::{BTreeMap, BTreeSet};

/// From where on missing outputs are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LossesFrom {
    /// From this offset on.
    Offset(i64),
    /// So many records behind the one at this offset.
    Behind {
        /// The offset.
        offset: i64,
        /// Counted from there.
        records: u64,
    },
    /// Nowhere: nothing can be said.
    Never,
}

/// What is known of the output topics.
#[derive(Debug)]
pub(super) struct Horizon {
    begins_late: bool,
    in_flight_records: u64,
    outputs: Sent,
    letters: Sent,
    lowest: BTreeMap<TopicPartition, Offset>,
}

/// All output topics, or the one of dead letters.
#[derive(Debug, Default)]
struct Sent {
    /// Partitions that do not begin at 0.
    shortened: BTreeSet<(Destination, i32)>,
    /// The first that each of them holds of each input partition.
    first_of: BTreeMap<(Destination, i32, TopicPartition), Offset>,
}

impl Horizon {
    /// `begins_late`: the job did not begin at the input's first record. `in_flight_records`: how many records of one
    /// partition a process may have read and not committed.
    pub(super) fn new(begins_late: bool, in_flight_records: u64) -> Horizon {
        Horizon {
            begins_late,
            in_flight_records,
            outputs: Sent::default(),
            letters: Sent::default(),
            lowest: BTreeMap::new(),
        }
    }

    /// An output partition does not begin at 0.
    pub(super) fn shortened(&mut self, to: Destination, partition: i32) {
        self.sent(to).shortened.insert((to, partition));
    }

    /// A sent record, in the order of its partition.
    pub(super) fn saw(&mut self, to: Destination, partition: i32, from: TopicPartition, offset: Offset) {
        let lowest = self.lowest.entry(from).or_insert(offset);
        *lowest = offset.min(*lowest);
        let sent = self.sent(to);
        if sent.shortened.contains(&(to, partition)) {
            sent.first_of.entry((to, partition, from)).or_insert(offset);
        }
    }

    /// From where on records of an input partition that have no output are lost: of several output topics, in any of them.
    pub(super) fn outputs_lost_from(&self, at: TopicPartition, first: Offset) -> LossesFrom {
        self.losses_from(&self.outputs, at, first)
    }

    /// The same for dead letters.
    pub(super) fn letters_lost_from(&self, at: TopicPartition, first: Offset) -> LossesFrom {
        self.losses_from(&self.letters, at, first)
    }

    fn losses_from(&self, sent: &Sent, at: TopicPartition, first: Offset) -> LossesFrom {
        if sent.shortened.is_empty() {
            return match self.lowest.get(&at) {
                _ if !self.begins_late => LossesFrom::Offset(first.0),
                Some(lowest) => LossesFrom::Offset(lowest.0.max(first.0)),
                None => LossesFrom::Never,
            };
        }
        let remaining: Option<Vec<Offset>> = sent
            .shortened
            .iter()
            .map(|(to, partition)| sent.first_of.get(&(*to, *partition, at)).copied())
            .collect();
        match remaining.and_then(|offsets| offsets.into_iter().max()) {
            Some(offset) => {
                LossesFrom::Behind { offset: offset.0.max(first.0), records: self.in_flight_records }
            }
            None => LossesFrom::Never,
        }
    }

    fn sent(&mut self, to: Destination) -> &mut Sent {
        match to {
            Destination::Output(_) => &mut self.outputs,
            Destination::DeadLetter => &mut self.letters,
        }
    }
}

/// Asks a [`LossesFrom`] about records as they come, rising.
#[derive(Clone, Copy, Debug)]
pub(super) struct Crossing {
    from: LossesFrom,
    behind: u64,
}

impl Crossing {
    pub(super) fn new(from: LossesFrom) -> Crossing {
        Crossing { from, behind: 0 }
    }

    /// Whether a missing output of the record at this offset is a lost one. To be asked once for each record.
    pub(super) fn passes(&mut self, offset: Offset) -> bool {
        match self.from {
            LossesFrom::Offset(from) => offset.0 >= from,
            LossesFrom::Never => false,
            LossesFrom::Behind { offset: from, records } => {
                if offset.0 > from {
                    self.behind += 1;
                }
                self.behind > records
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: TopicPartition = TopicPartition { topic: 0, partition: 0 };

    #[test]
    fn a_whole_topic_is_judged_from_the_first_record() {
        let mut horizon = Horizon::new(false, 5);
        horizon.saw(Destination::Output(0), 0, AT, Offset(40));
        assert_eq!(horizon.outputs_lost_from(AT, Offset(3)), LossesFrom::Offset(3));
    }

    #[test]
    fn a_job_that_began_late_is_judged_from_the_first_that_it_sent() {
        let mut horizon = Horizon::new(true, 5);
        assert_eq!(horizon.outputs_lost_from(AT, Offset(3)), LossesFrom::Never);
        horizon.saw(Destination::Output(0), 0, AT, Offset(40));
        horizon.saw(Destination::DeadLetter, 0, AT, Offset(38));
        assert_eq!(horizon.outputs_lost_from(AT, Offset(3)), LossesFrom::Offset(38));
    }

    #[test]
    fn a_shortened_topic_is_judged_behind_what_was_in_flight() {
        let mut horizon = Horizon::new(false, 5);
        horizon.shortened(Destination::Output(0), 0);
        horizon.shortened(Destination::Output(0), 1);
        horizon.saw(Destination::Output(0), 0, AT, Offset(40));
        assert_eq!(horizon.outputs_lost_from(AT, Offset(3)), LossesFrom::Never);
        horizon.saw(Destination::Output(0), 1, AT, Offset(44));
        horizon.saw(Destination::Output(0), 1, AT, Offset(43));
        let from = horizon.outputs_lost_from(AT, Offset(3));
        assert_eq!(from, LossesFrom::Behind { offset: 44, records: 5 });
        assert_eq!(horizon.letters_lost_from(AT, Offset(3)), LossesFrom::Offset(3));
    }

    #[test]
    fn crossing_counts_records_and_not_offsets() {
        let mut crossing = Crossing::new(LossesFrom::Behind { offset: 10, records: 2 });
        let passed: Vec<bool> = [8, 10, 12, 20, 21, 22].map(|at| crossing.passes(Offset(at))).to_vec();
        assert_eq!(passed, [false, false, false, false, true, true]);
    }
}
