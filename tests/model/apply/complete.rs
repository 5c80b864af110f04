//! Complete: whether the work is done.

use crate::plan::{Event, Plan};
use crate::run::Worker;
use crate::step::waits_for_ever;
use crate::world::World;

/// Whether everything is behind the frontier, and stored and sent; or parked, where nobody wants it tried or nobody mends it.
pub fn is_complete(plan: &Plan, world: &World) -> bool {
    let frontier = &world.database.frontier;
    (0..plan.partitions()).all(|p| frontier[usize::from(p)] == plan.end(p))
        && plan.events.iter().all(|event| is_handled(plan, world, event))
        && !has_open_tickets(world)
}

fn is_handled(plan: &Plan, world: &World, event: &Event) -> bool {
    let group = usize::from(event.group);
    let row = &world.database.rows[group];
    match event.key {
        Some(key) if row.parked.contains(event) => {
            row.keys.get(&key) == Some(&false) && (!plan.mends || waits_for_ever(row, key))
        }
        _ => {
            row.applied.iter().any(|applied| applied.events.contains(event))
                && (event.silent || world.kafka.outputs[group].contains(event))
        }
    }
}

fn has_open_tickets(world: &World) -> bool {
    let mut workers = world.runs.iter().flatten().flat_map(|run| &run.workers);
    workers.any(|worker| matches!(&**worker, Worker::Running(running) if !running.tickets.is_empty()))
}
