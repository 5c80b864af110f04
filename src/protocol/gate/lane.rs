//! One lane: a database connection's worth of work, and what is known of it.

use super::{Action, Outcome, Transaction};
use crate::model::{BatchNumber, Incarnation, KeyGroup};
use std::sync::Arc;

/// What a lane is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Lane<E, O> {
    /// Nothing to do.
    Idle,
    /// Its transaction is running. `slow`: for so long that others do not wait for it.
    Storing { transaction: Arc<Transaction<E>>, contended: u32, slow: bool },
    /// Its transaction is undone and waits for the database.
    Waiting { transaction: Arc<Transaction<E>> },
    /// Its transaction's COMMIT went unanswered; it waits for the database to be asked.
    Doubtful { transaction: Arc<Transaction<E>>, outcomes: Vec<Outcome<O>> },
    /// The database is being asked.
    Settling { transaction: Arc<Transaction<E>>, outcomes: Vec<Outcome<O>> },
}

impl<E, O> Lane<E, O> {
    /// Its transaction.
    pub(super) fn transaction(&self) -> Option<&Transaction<E>> {
        match self {
            Lane::Idle => None,
            Lane::Storing { transaction, .. }
            | Lane::Waiting { transaction }
            | Lane::Doubtful { transaction, .. }
            | Lane::Settling { transaction, .. } => Some(transaction),
        }
    }

    /// This transaction runs from now on.
    pub(super) fn storing(transaction: &Arc<Transaction<E>>, contended: u32) -> Lane<E, O> {
        Lane::Storing { transaction: Arc::clone(transaction), contended, slow: false }
    }

    /// Whether its transaction is expected to be through in a moment.
    pub(super) fn is_soon_through(&self) -> bool {
        matches!(self, Lane::Storing { slow: false, .. })
    }

    /// Its transaction takes long.
    pub(super) fn slows(&mut self) {
        if let Lane::Storing { slow, .. } = self {
            *slow = true;
        }
    }

    /// Events in its transaction.
    pub(super) fn events(&self) -> usize {
        self.transaction().map_or(0, |transaction| transaction.batches.iter().map(|b| b.events.len()).sum())
    }

    pub(super) fn take_storing(&mut self) -> Arc<Transaction<E>> {
        self.take_storing_with_count().0
    }

    #[allow(clippy::panic, reason = "an answer to a question that was not asked: going on would store twice")]
    pub(super) fn take_storing_with_count(&mut self) -> (Arc<Transaction<E>>, u32) {
        match std::mem::replace(self, Lane::Idle) {
            Lane::Storing { transaction, contended, .. } => (transaction, contended),
            _ => panic!("a lane answered that was not storing"),
        }
    }

    #[allow(clippy::panic, reason = "an answer to a question that was not asked: going on would store twice")]
    pub(super) fn take_settling(&mut self) -> (Arc<Transaction<E>>, Vec<Outcome<O>>) {
        match std::mem::replace(self, Lane::Idle) {
            Lane::Settling { transaction, outcomes } => (transaction, outcomes),
            _ => panic!("a lane was looked up that was not in doubt"),
        }
    }

    /// What the lane does now that the database answers again.
    pub(super) fn resume(&mut self, lane: usize) -> Option<Action<E, O>> {
        let (next, action) = match std::mem::replace(self, Lane::Idle) {
            Lane::Waiting { transaction } => {
                let kept = Lane::storing(&transaction, 0);
                (kept, Some(Action::Store { lane, transaction, contended: 0 }))
            }
            Lane::Doubtful { transaction, outcomes } => {
                let groups = transaction.batches.iter().map(|b| b.group).collect();
                (Lane::Settling { transaction, outcomes }, Some(Action::Settle { lane, groups }))
            }
            other => (other, None),
        };
        *self = next;
        action
    }
}

/// What the position rows say of a transaction in doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Stored,
    NotStored,
    NotMine,
    Torn,
}

/// Compares the ledger's rows with a transaction in doubt.
pub(super) fn verdict<E>(
    transaction: &Transaction<E>,
    rows: &[(KeyGroup, Incarnation, BatchNumber)],
) -> Verdict {
    let (mut stored, mut missing) = (0_usize, 0_usize);
    for batch in &transaction.batches {
        match rows.iter().find(|row| row.0 == batch.group) {
            Some((_, incarnation, last)) if *incarnation == batch.incarnation => {
                if *last == batch.number {
                    stored += 1;
                } else if last.next() == batch.number {
                    missing += 1;
                } else {
                    return Verdict::NotMine;
                }
            }
            _ => return Verdict::NotMine,
        }
    }
    match (stored, missing) {
        (_, 0) => Verdict::Stored,
        (0, _) => Verdict::NotStored,
        _ => Verdict::Torn,
    }
}
