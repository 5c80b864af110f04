//! The database as the protocol knows it: the ledger's rows, the user's rows, and transactions that hold locks.
//!
//! A transaction that nobody loses sight of is one step: its locks keep everything out that could see the middle of
//! it. One whose COMMIT was sent on a connection that was then lost is a ghost: it holds its rows until the server
//! finds the COMMIT in the socket, or finds the connection gone and rolls back.

use crate::parking::Effect;
use crate::plan::{Event, GROUPS, Plan};
use std::collections::BTreeMap;
use std::sync::Arc;
use tidegate::model::{BatchNumber, Incarnation, KeyGroup, Places};
use tidegate::protocol::gate::{Batch, Transaction};

/// What a batch has put into the user's table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Applied {
    pub batch: BatchNumber,
    pub events: Vec<Event>,
    /// They were parked before.
    pub is_retry: bool,
}

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
    pub applied: Vec<Applied>,
    /// In the order of their parking.
    pub parked: Vec<Event>,
    /// The keys that are parked, and whether a person has marked them.
    pub keys: BTreeMap<char, bool>,
}

/// A transaction that has run: what it writes once it is committed, an effect per batch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Written {
    pub transaction: Arc<Transaction<Event>>,
    pub effects: Vec<Effect>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Database {
    pub rows: Vec<Arc<Row>>,
    /// Per partition: everything before this offset is handled.
    pub frontier: Vec<u8>,
    pub ghosts: Vec<Arc<Written>>,
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
            parked: Vec::new(),
            keys: BTreeMap::new(),
        });
        Database {
            rows: vec![row; GROUPS],
            frontier: vec![0; usize::from(plan.partitions())],
            ghosts: Vec::new(),
        }
    }

    /// Whether a transaction that nobody waits for holds the row.
    pub fn is_locked(&self, group: KeyGroup) -> bool {
        self.ghosts.iter().flat_map(|ghost| &ghost.transaction.batches).any(|b| b.group == group)
    }

    /// Whether such a transaction holds the rows of the parked keys: a retry does, from the reading of the marks on.
    pub fn are_marks_locked(&self, group: KeyGroup) -> bool {
        let mut batches = self.ghosts.iter().flat_map(|ghost| &ghost.transaction.batches);
        batches.any(|batch| batch.group == group && batch.is_retry)
    }

    /// Those of a key group's parked keys that a person wants tried.
    pub fn is_marked(&self, group: KeyGroup) -> bool {
        self.rows[index(group)].keys.values().any(|marked| *marked)
    }

    /// The compare-and-set of the position rows.
    pub fn matches(&self, transaction: &Transaction<Event>) -> bool {
        transaction.batches.iter().all(|b| {
            let row = &self.rows[index(b.group)];
            row.incarnation == b.incarnation && row.batch.next() == b.number
        })
    }

    /// Everything that a transaction writes, at once.
    pub fn commit(&mut self, written: &Written) -> Result<(), String> {
        let batches = written.transaction.batches.iter().zip(&written.effects);
        batches.into_iter().try_for_each(|(batch, effect)| self.commit_batch(batch, effect))
    }

    fn commit_batch(&mut self, batch: &Batch<Event>, effect: &Effect) -> Result<(), String> {
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
        if batch.is_retry && batch.places != row.places {
            return Err(format!(
                "key group {}: a retry, batch {}, moved positions",
                batch.group, batch.number
            ));
        }
        if let Some((number, _)) = row.outbox.iter().find(|(number, _)| *number <= batch.cleared) {
            let (group, at) = (batch.group, batch.number);
            return Err(format!(
                "key group {group}: batch {at} takes the outbox row of {number} for deleted"
            ));
        }
        row.batch = batch.number;
        row.places = batch.places.clone();
        row.confirmed = batch.confirmed.unwrap_or(row.confirmed);
        row.outbox.retain(|(number, _)| batch.confirmed.is_none_or(|confirmed| *number > confirmed));
        let outputs = outputs_of(&effect.applied);
        if !outputs.is_empty() {
            row.output_batch = batch.number;
            row.outbox.push((batch.number, outputs));
        }
        let (events, is_retry) = (effect.applied.clone(), batch.is_retry);
        row.applied.push(Applied { batch: batch.number, events, is_retry });
        effect.park(row);
        Ok(())
    }

    pub fn mark(&mut self, group: usize, key: char) {
        Arc::make_mut(&mut self.rows[group]).keys.insert(key, true);
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
