//! Storing: a lane's transaction in the database, and what its run hears of it.

use super::to_gate;
use crate::broken::Broken;
use crate::database::Written;
use crate::parking::{Effect, run};
use crate::plan::{Event, Plan};
use crate::run::Lane;
use crate::world::World;
use std::sync::Arc;
use tidegate::protocol::gate::{Again, Input as ToGate, Transaction};

/// It is committed, or the ledger does not take its positions.
pub(super) fn store(plan: &Plan, world: &mut World, slot: u8, worker: u8, lane: u8) -> Result<(), String> {
    let lane = usize::from(lane);
    let transaction = take(world, slot, worker, lane)?;
    if !world.database.matches(&transaction) && !plan.is(Broken::NoCompare) {
        return to_gate(plan, world, slot, worker, ToGate::Fenced { lane });
    }
    let effects = run(plan, &world.database, world.mended, &transaction)?;
    let outcomes = effects.iter().map(Effect::outcome).collect();
    world.database.commit(&Written { transaction, effects })?;
    to_gate(plan, world, slot, worker, ToGate::Stored { lane, outcomes })
}

/// It has run, COMMIT is sent, and nobody knows.
pub(super) fn doubted(plan: &Plan, world: &mut World, slot: u8, worker: u8, lane: u8) -> Result<(), String> {
    let lane = usize::from(lane);
    let transaction = take(world, slot, worker, lane)?;
    let is_retry = transaction.batches.iter().any(|batch| batch.is_retry);
    let mut effects = run(plan, &world.database, world.mended, &transaction)?;
    let outcomes = effects.iter().map(Effect::outcome).collect();
    match plan.broken {
        // Went with the connection.
        Some(Broken::ParkApart) => effects.iter_mut().for_each(Effect::without_parked),
        Some(Broken::UnparkApart) => effects.iter_mut().for_each(Effect::without_unparked),
        _ => {}
    }
    world.database.ghosts.push(Arc::new(Written { transaction, effects }));
    let input = match plan.broken {
        Some(Broken::RepeatStore) => ToGate::Undone { lane, again: Again::WhenUp },
        Some(Broken::BelieveStore) => ToGate::Stored { lane, outcomes },
        Some(Broken::BelieveRetry) if is_retry => ToGate::Stored { lane, outcomes },
        _ => {
            world.running_mut(slot, worker).lanes[lane] = Lane::InDoubt;
            ToGate::InDoubt { lane, outcomes }
        }
    };
    to_gate(plan, world, slot, worker, input)
}

fn take(world: &mut World, slot: u8, worker: u8, lane: usize) -> Result<Arc<Transaction<Event>>, String> {
    match std::mem::replace(&mut world.running_mut(slot, worker).lanes[lane], Lane::Idle) {
        Lane::Store(transaction) => Ok(transaction),
        _ => Err("a lane stored that had nothing to store".to_owned()),
    }
}
