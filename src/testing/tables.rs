//! Tables: what a database in memory has committed.
//!
//! In:        a transaction's writes, all at once     Out: rows
//! Holds:     the job's rows in the order of their insertion, and the ledger
//! Not here:  locks and sessions (memory_database, memory_session)

use super::parked_tables::{ParkedTables, ParkedWrite};
use crate::database::{Advance, FrontierRow, JobRow, PositionRow, Reset, ResetRow, Row, TopicRow};
use crate::model::{BatchNumber, Incarnation, KeyGroup, NextOffset};
use std::collections::BTreeMap;

/// A row that a store has appended.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRow {
    /// Rises with each insertion, as AUTO_INCREMENT does: rows that were rolled back leave gaps.
    pub id: u64,
    /// Index of the step.
    pub step: usize,
    /// The statement's parameters.
    pub row: Row,
}

/// Everything that is committed.
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// The job's own rows.
    pub rows: Vec<StoredRow>,
    /// The ledger's outbox.
    pub outbox: BTreeMap<(KeyGroup, BatchNumber), Vec<u8>>,
    /// The ledger's positions.
    pub positions: BTreeMap<KeyGroup, PositionRow>,
    /// The job's frontier.
    pub frontier: BTreeMap<(String, i32), NextOffset>,
    /// The job's row.
    pub job: Option<JobRow>,
    /// Ids of topics.
    pub topics: BTreeMap<String, String>,
    /// Resets of positions.
    pub resets: Vec<ResetRow>,
    /// Parked events and keys.
    pub parked: ParkedTables,
}

/// What a transaction has written and not committed.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes {
    pub(super) rows: Vec<StoredRow>,
    pub(super) advances: Vec<Advance>,
    pub(super) parked: Vec<ParkedWrite>,
}

impl Writes {
    /// Nothing was written.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.advances.is_empty() && self.parked.is_empty()
    }
}

impl Tables {
    /// Whether a position row would take this write.
    pub(super) fn takes(&self, write: &Advance) -> bool {
        self.positions
            .get(&write.group)
            .is_some_and(|row| row.incarnation == write.incarnation && row.batch.next() == write.batch)
    }

    /// Whether two rows of the outbox would have this write's key.
    pub(super) fn has_outbox(&self, write: &Advance) -> bool {
        write.outbox.is_some() && self.outbox.contains_key(&(write.group, write.batch))
    }

    pub(super) fn apply(&mut self, writes: Writes) {
        self.rows.extend(writes.rows);
        self.rows.sort_by_key(|row| row.id);
        for write in writes.advances {
            self.advance(write);
        }
        writes.parked.iter().for_each(|write| self.parked.apply(write));
    }

    fn advance(&mut self, write: Advance) {
        if let Some(confirmed) = write.confirmed {
            if let Some(row) = self.positions.get_mut(&write.group) {
                row.confirmed = confirmed;
            }
            // As the ledger does: what is said to be gone is not looked for.
            let stays = |batch: BatchNumber| batch > confirmed || batch <= write.cleared;
            self.outbox.retain(|(group, batch), _| *group != write.group || stays(*batch));
        }
        let sends = write.outbox.is_some();
        if let Some(outbox) = write.outbox {
            self.outbox.insert((write.group, write.batch), outbox);
        }
        if let Some(row) = self.positions.get_mut(&write.group) {
            row.batch = write.batch;
            row.positions = write.positions;
            if sends {
                row.output_batch = write.batch;
            }
        }
    }

    pub(super) fn claim(&mut self, group: KeyGroup) {
        let row = self.positions.entry(group).or_insert(PositionRow {
            group,
            incarnation: Incarnation(0),
            batch: BatchNumber(0),
            output_batch: BatchNumber(0),
            positions: String::new(),
            confirmed: BatchNumber(0),
        });
        row.incarnation = Incarnation(row.incarnation.0.saturating_add(1));
    }

    pub(super) fn remember_topics(&mut self, topics: &[TopicRow]) {
        self.topics.extend(topics.iter().map(|row| (row.topic.clone(), row.id.clone())));
    }

    /// `false`: the claims do not stand any more, and nothing has changed.
    pub(super) fn reset(&mut self, reset: &Reset) -> bool {
        let stands = |row: &PositionRow| {
            self.positions.get(&row.group).is_some_and(|now| now.incarnation == row.incarnation)
        };
        let all = reset.positions.iter().all(stands);
        let Some(job) = self.job.as_mut().filter(|_| all) else { return false };
        job.resets = job.resets.saturating_add(1);
        let number = job.resets;
        self.positions.extend(reset.positions.iter().map(|row| (row.group, row.clone())));
        self.outbox.clear();
        for moved in &reset.moves {
            self.frontier.insert((moved.topic.clone(), moved.partition), moved.to);
            self.resets.push(ResetRow { number, at: reset.at.clone(), moved: moved.clone() });
        }
        self.remember_topics(&reset.topics);
        self.parked.take_back(&reset.moves);
        true
    }

    pub(super) fn move_frontier(&mut self, rows: &[FrontierRow]) {
        for row in rows {
            let next = self.frontier.entry((row.topic.clone(), row.partition)).or_insert(row.next);
            *next = row.next.max(*next);
        }
    }
}
