//! Starting: what each stage of a start does to the world.

use super::halt;
use crate::broken::Broken;
use crate::kafka::{Ghost, Handled};
use crate::plan::{GROUPS, Plan};
use crate::run::{Worker, own_id};
use crate::start::{Stage, others, progress};
use crate::world::World;
use tidegate::model::KeyGroup;

pub(super) fn stage(plan: &Plan, world: &mut World, slot: u8, worker: u8) -> Result<(), String> {
    let workers = world.run(slot).unwrap().workers.len();
    let (id, me) = (own_id(worker), (slot, worker));
    match world.starting(slot, worker).stage {
        Stage::Claim => {
            for group in claimed_by(plan, worker, workers) {
                let incarnation = world.database.claim(group);
                world.run_mut(slot).claims.push((KeyGroup(group as u32), incarnation));
            }
            world.starting_mut(slot, worker).go_on(plan);
        }
        Stage::Rows => {
            let claims = world.run(slot).unwrap().claims_of(worker);
            let mut start = world.starting(slot, worker).clone();
            if !start.read_rows(&world.database, &claims) {
                return halt(world, slot, worker, "the claims do not stand any more");
            }
            start.go_on(plan);
            *world.starting_mut(slot, worker) = start;
        }
        Stage::Fence => {
            others(worker, workers).for_each(|id| world.kafka.initialise(id, None));
            world.starting_mut(slot, worker).go_on(plan);
        }
        Stage::Own => {
            world.kafka.initialise(id, Some(me));
            let start = world.starting_mut(slot, worker);
            start.fenced = true;
            start.go_on(plan);
        }
        Stage::Ask => {
            if !world.database.owns(&world.starting(slot, worker).claims()) {
                return halt(world, slot, worker, "the claims do not stand any more");
            }
            let frontier = world.database.frontier.clone();
            let start = world.starting_mut(slot, worker);
            start.frontier = frontier;
            start.go_on(plan);
        }
        Stage::Progress => {
            let progress = progress(&world.kafka, plan).unwrap();
            let start = world.starting_mut(slot, worker);
            start.read_progress(&progress);
            start.go_on(plan);
            if let Some(group) = world.starting(slot, worker).behind_frontier(plan, &world.database) {
                let said = format!("the frontier has passed outputs of key group {group} that Kafka has not");
                return halt(world, slot, worker, &said);
            }
        }
        Stage::Outbox | Stage::Produce | Stage::Commit => return send(plan, world, slot, worker),
        Stage::Begin => begin(plan, world, slot, worker),
    }
    Ok(())
}

/// What the outbox has and Kafka has not, in one transaction.
fn send(plan: &Plan, world: &mut World, slot: u8, worker: u8) -> Result<(), String> {
    let (id, me) = (own_id(worker), (slot, worker));
    match world.starting(slot, worker).stage {
        Stage::Outbox => {
            let mut start = world.starting(slot, worker).clone();
            if let Err(disagreement) = start.read_outbox(&world.database) {
                return halt(world, slot, worker, &disagreement);
            }
            start.stage = if start.missing.is_empty() { Stage::Begin } else { Stage::Produce };
            *world.starting_mut(slot, worker) = start;
        }
        Stage::Produce => {
            let content = world.starting(slot, worker).content();
            let handled = world.kafka.produce(id, me, content, plan.is(Broken::ReadUncommitted));
            world.starting_mut(slot, worker).stage = behind(handled, Stage::Commit);
        }
        Stage::Commit => {
            let handled = world.kafka.commit(id, me);
            let start = world.starting_mut(slot, worker);
            start.stage = behind(handled, Stage::Begin);
            if handled == Handled::Done {
                start.sent();
            }
        }
        stage => return Err(format!("{stage:?} sends nothing")),
    }
    Ok(())
}

/// The key groups that a worker claims.
pub fn claimed_by(plan: &Plan, worker: u8, workers: usize) -> std::vec::IntoIter<usize> {
    let claims = |group: &usize| match plan.is(Broken::ClaimApart) {
        true => group % workers == usize::from(worker),
        false => worker == 0,
    };
    (0..GROUPS).filter(claims).collect::<Vec<_>>().into_iter()
}

/// Fenced: a new producer, and everything is looked at again.
fn behind(handled: Handled, next: Stage) -> Stage {
    if handled == Handled::Done { next } else { Stage::Own }
}

fn begin(plan: &Plan, world: &mut World, slot: u8, worker: u8) {
    let running = world.starting(slot, worker).begin(plan, &world.database);
    *world.worker_mut(slot, worker) = Worker::Running(Box::new(running));
    let frontier = world.database.frontier.clone();
    let run = world.run_mut(slot);
    let mine = (0..plan.partitions()).filter(|p| run.owner(*p) == usize::from(worker)).collect::<Vec<_>>();
    for partition in mine {
        let from = frontier[usize::from(partition)];
        run.written[usize::from(partition)] = from;
        for event in plan.events.iter().filter(|e| e.partition == partition && e.offset < from) {
            run.done |= 1 << event.id;
            run.arrived[usize::from(partition) * GROUPS + usize::from(event.group)] += 1;
        }
    }
}

pub(super) fn lost(plan: &Plan, world: &mut World, slot: u8, worker: u8) {
    let start = world.starting(slot, worker);
    let request = match start.stage {
        Stage::Produce => Ghost::Produce(start.content()),
        Stage::Commit => Ghost::EndTxn,
        Stage::Claim => {
            let workers = world.run(slot).unwrap().workers.len();
            for group in claimed_by(plan, worker, workers) {
                world.database.claim(group);
            }
            return;
        }
        _ => unreachable!("only these stages lose their answers in a way that shows: {:?}", plan.name),
    };
    world.kafka.give_up(own_id(worker), (slot, worker), Some(request));
    world.starting_mut(slot, worker).stage = Stage::Own;
}
