//! The database as the protocol knows it: the ledger's rows, the user's rows, and transactions that hold locks.
//!
//! A transaction that nobody loses sight of is one step: its locks keep everything out that could see the middle of
//! it. One whose COMMIT was sent on a connection that was then lost is a ghost: it holds its rows until the server
//! finds the COMMIT in the socket, or finds the connection gone and rolls back.

use crate::plan::{Event, GROUPS, Plan};
use std::sync::Arc;
use tidegate::model::{BatchNumber, Incarnation, KeyGroup, Places};
use tidegate::protocol::gate::{Batch, Transaction};

/// One key group's rows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Row {
    pub incarnation: Incarnation,
    pub batch: BatchNumber,
    pub output_batch: BatchNumber,
    pub confirmed: BatchNumber,
    pub places: Places,
    pub outbox: Vec<(BatchNumber, Vec<Event>)>,
    /// The user's table: what was applied, by which batch, in the order of the commits.
    pub applied: Vec<(BatchNumber, Vec<Event>)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Database {
    pub rows: Vec<Arc<Row>>,
    /// Per partition: everything before this offset is handled.
    pub frontier: Vec<u8>,
    pub ghosts: Vec<Arc<Transaction<Event>>>,
}

/// The outputs of a batch.
pub fn outputs_of(events: &[Event]) -> Vec<Event> {
    events.iter().copied().filter(|e| !e.silent).collect()
}

pub fn index(group: KeyGroup) -> usize {
    group.0 as usize
}

impl Database {
    pub fn new(plan: &Plan) -> Database {
        let row = Arc::new(Row {
            incarnation: Incarnation(0),
            batch: BatchNumber(0),
            output_batch: BatchNumber(0),
            confirmed: BatchNumber(0),
            places: Places::default(),
            outbox: Vec::new(),
            applied: Vec::new(),
        });
        Database {
            rows: vec![row; GROUPS],
            frontier: vec![0; usize::from(plan.partitions())],
            ghosts: Vec::new(),
        }
    }

    /// Whether a transaction that nobody waits for holds the row.
    pub fn is_locked(&self, group: KeyGroup) -> bool {
        self.ghosts.iter().flat_map(|t| &t.batches).any(|b| b.group == group)
    }

    /// The compare-and-set of the position rows.
    pub fn matches(&self, transaction: &Transaction<Event>) -> bool {
        transaction.batches.iter().all(|b| {
            let row = &self.rows[index(b.group)];
            row.incarnation == b.incarnation && row.batch.next() == b.number
        })
    }

    /// Everything that a transaction writes, at once.
    pub fn commit(&mut self, transaction: &Transaction<Event>) -> Result<(), String> {
        transaction.batches.iter().try_for_each(|batch| self.commit_batch(batch))
    }

    fn commit_batch(&mut self, batch: &Batch<Event>) -> Result<(), String> {
        let row = Arc::make_mut(&mut self.rows[index(batch.group)]);
        if row.batch.next() != batch.number {
            return Err(format!(
                "key group {}: batch {} was stored upon batch {}",
                batch.group, batch.number, row.batch
            ));
        }
        if let Some((at, old)) = row.places.iter().find(|(at, old)| batch.places.get(*at) < Some(*old)) {
            return Err(format!(
                "key group {}: batch {} moved the position of partition {} back from {old:?}",
                batch.group, batch.number, at.partition
            ));
        }
        row.batch = batch.number;
        row.places = batch.places.clone();
        row.confirmed = batch.confirmed.unwrap_or(row.confirmed);
        row.outbox.retain(|(number, _)| batch.confirmed.is_none_or(|confirmed| *number > confirmed));
        let outputs = outputs_of(&batch.events);
        if !outputs.is_empty() {
            row.output_batch = batch.number;
            row.outbox.push((batch.number, outputs));
        }
        row.applied.push((batch.number, batch.events.clone()));
        Ok(())
    }

    pub fn claim(&mut self, group: usize) -> Incarnation {
        let row = Arc::make_mut(&mut self.rows[group]);
        row.incarnation = Incarnation(row.incarnation.0 + 1);
        row.incarnation
    }

    /// Whether these claims are the newest ones.
    pub fn owns(&self, claims: &[(KeyGroup, Incarnation)]) -> bool {
        claims.iter().all(|(group, incarnation)| self.rows[index(*group)].incarnation == *incarnation)
    }

    pub fn advance_frontier(&mut self, partition: usize, to: u8) {
        self.frontier[partition] = self.frontier[partition].max(to);
    }
}
