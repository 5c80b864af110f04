//! Parking: what a transaction does with its events: those that the database refuses are parked, and those behind them.
//!
//! In:        a transaction, the ledger's rows, whether the world is mended     Out: an effect per batch, nothing written yet
//! Order:     a retry takes the parked events of marked keys as they were parked; the first that is refused again ends its
//!            key's turn and takes its mark
//! Fails:     with a sentence where the gate tells an event to wait, or not to, and the ledger says otherwise
//! Not here:  no rows to be dropped (a drop is a retry that applies nothing), no other rule than "park"
//!
//! The counterpart of `operator/gate/attempt.rs`, `finish.rs` and `retry.rs`.

use crate::broken::Broken;
use crate::database::{Database, Row, index};
use crate::invariants::{name, names};
use crate::plan::{Event, Plan, Refused, key_id};
use std::collections::BTreeSet;
use tidegate::protocol::gate::{Batch, Changes, Outcome, Transaction};

/// What one batch does, once it is committed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Effect {
    /// In the order in which they are handled.
    pub applied: Vec<Event>,
    /// To be parked behind what is.
    parked: Vec<Event>,
    /// Of those that were parked: they are no more.
    unparked: Vec<Event>,
    /// Keys that wait for a person again.
    unmarked: Vec<char>,
    /// What the gate hears.
    changes: Changes,
}

impl Effect {
    pub fn outcome(&self) -> Outcome<Vec<Event>> {
        Outcome { outputs: crate::database::outputs_of(&self.applied), changes: self.changes.clone() }
    }

    /// Writes the ledger's part.
    pub fn park(&self, row: &mut Row) {
        row.parked.retain(|event| !self.unparked.contains(event));
        for event in &self.parked {
            row.parked.push(*event);
            event.key.iter().for_each(|key| _ = row.keys.entry(*key).or_insert(false));
        }
        self.unmarked.iter().for_each(|key| _ = row.keys.insert(*key, false));
        let Row { parked, keys, .. } = row;
        keys.retain(|key, _| parked.iter().any(|event| event.key == Some(*key)));
    }

    /// The transaction without what is written behind it, by itself.
    pub fn without_parked(&mut self) {
        self.parked.clear();
    }

    pub fn without_unparked(&mut self) {
        self.unparked.clear();
    }
}

/// Runs a transaction upon the rows that it holds.
pub fn run(
    plan: &Plan,
    database: &Database,
    mended: bool,
    transaction: &Transaction<Event>,
) -> Result<Vec<Effect>, String> {
    let is_alone = transaction.batches.len() == 1;
    let one = |batch: &Batch<Event>| {
        let row = &database.rows[index(batch.group)];
        match (batch.is_retry, is_alone) {
            (false, _) => of_queue(plan, row, mended, batch),
            (true, true) => Ok(of_parked(plan, row, mended)),
            (true, false) => Err("a retry of parked events shares its transaction".to_owned()),
        }
    };
    transaction.batches.iter().map(one).collect()
}

fn is_refused(event: &Event, mended: bool) -> bool {
    match event.refused {
        Refused::Never => false,
        Refused::UntilMended => !mended,
        Refused::Always => true,
    }
}

fn of_queue(plan: &Plan, row: &Row, mended: bool, batch: &Batch<Event>) -> Result<Effect, String> {
    let mut effect = Effect::default();
    let mut newly = BTreeSet::new();
    for (index, event) in batch.events.iter().enumerate() {
        let waits = batch.waiting.contains(&index);
        let is_parked = event.key.is_some_and(|key| row.keys.contains_key(&key));
        if waits != is_parked {
            let says = if waits {
                "told to wait, and its key is not parked"
            } else {
                "not told to wait behind its key"
            };
            let held = names(&row.parked);
            return Err(format!(
                "event {} of batch {} is {says}: the ledger holds {held}",
                name(event),
                batch.number
            ));
        }
        let waits = waits && !plan.is(Broken::ApplyWaiting);
        let behind = event.key.is_some_and(|key| newly.contains(&key));
        if waits || behind || is_refused(event, mended) {
            effect.parked.push(*event);
            newly.extend(event.key.filter(|_| !is_parked));
        } else {
            effect.applied.push(*event);
        }
    }
    effect.changes.parked = newly.into_iter().map(key_id).collect();
    Ok(effect)
}

fn of_parked(plan: &Plan, row: &Row, mended: bool) -> Effect {
    let is_marked = |key: char| row.keys.get(&key) == Some(&true);
    let mut work: Vec<Event> = row.parked.iter().filter(|e| e.key.is_some_and(is_marked)).copied().collect();
    if plan.is(Broken::RetryNewestFirst) {
        work.reverse();
    }
    work.truncate(plan.retry_rows);
    let mut effect = Effect::default();
    for event in work {
        let Some(key) = event.key else { continue };
        if effect.unmarked.contains(&key) {
            continue;
        }
        if is_refused(&event, mended) {
            effect.unmarked.push(key);
        } else {
            effect.applied.push(event);
        }
    }
    effect.unparked.clone_from(&effect.applied);
    let mut behind = row.clone();
    effect.park(&mut behind);
    let freed = row.keys.keys().filter(|key| !behind.keys.contains_key(key));
    effect.changes.freed = freed.copied().map(key_id).collect();
    effect.changes.more = behind.keys.values().any(|marked| *marked);
    effect
}
