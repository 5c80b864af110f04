//! What must hold of a gate between two steps, whatever happened before.
//!
//! In:        a gate     Out: nothing, or the first thing that does not hold
//! Fails:     by a halt of kind internal: going on could store twice or never
//! Not here:  what must hold of the database (the ledger holds it by compare-and-set)

use super::group::Group;
use super::lane::Lane;
use super::{Gate, Item};
use crate::model::KeyGroup;
use crate::protocol::halt::{Halt, HaltKind};
use std::collections::BTreeSet;

impl<E: Item + Clone, O> Gate<E, O> {
    /// Checks the machine from outside, in time proportional to what it holds.
    ///
    /// # Errors
    /// An internal halt that names the key group and what does not hold of it.
    pub fn check(&self) -> Result<(), Halt> {
        let mut out = BTreeSet::new();
        for batch in self.lanes.iter().filter_map(Lane::transaction).flat_map(|t| &t.batches) {
            let state = self.groups.get(&batch.group);
            must(out.insert(batch.group), batch.group, "two batches are out")?;
            must(
                batch.events.is_empty() == batch.is_retry,
                batch.group,
                "an empty batch is out, or a full retry",
            )?;
            must(
                !batch.is_retry || state.is_some_and(Group::is_in_pass),
                batch.group,
                "parked events are tried that nobody wanted tried",
            )?;
            must(
                state.is_some_and(|state| state.is_next(batch)),
                batch.group,
                "the batch that is out does not follow the last one stored",
            )?;
        }
        let ready: BTreeSet<KeyGroup> = self.ready.iter().copied().collect();
        for (group, state) in &self.groups {
            must(state.is_out() == out.contains(group), *group, "its batch is in no lane")?;
            let waits = !state.is_out() && state.has_work();
            must(
                waits == ready.contains(group),
                *group,
                "it has work and waits for nothing, or waits without",
            )?;
            state.check().map_err(|what| broken(*group, what))?;
        }
        let held = |lane: &Lane<E, O>| matches!(lane, Lane::Waiting { .. } | Lane::Doubtful { .. });
        if ready.len() != self.ready.len() || (self.up && self.lanes.iter().any(held)) {
            return Err(Halt::new(
                HaltKind::Internal,
                "a key group is ready twice, or a lane waits for a database that is up",
            ));
        }
        Ok(())
    }
}

fn must(holds: bool, group: KeyGroup, what: &str) -> Result<(), Halt> {
    if holds { Ok(()) } else { Err(broken(group, what)) }
}

fn broken(group: KeyGroup, what: &str) -> Halt {
    Halt::new(HaltKind::Internal, format!("gate, key group {group}: {what}"))
}
