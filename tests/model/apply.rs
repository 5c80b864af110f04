//! Apply: what a step does to the world.
//!
//! Fails:     with a sentence: a rule of the ledger was broken, a machine panicked, or a run halted without a reason

mod complete;
mod starting;
mod storing;
pub use complete::is_complete;
pub use starting::claimed_by;

use crate::broken::Broken;
use crate::kafka::{Content, Ghost, Handled, Sent, Txn};
use crate::plan::Plan;
use crate::run::{After, Emitter, GateInput, Lane, Run, Stored, own_id};
use crate::start::{Stage, progress};
use crate::step::{Step, waits_for_ever};
use crate::world::World;
use std::collections::BTreeMap;
use std::sync::Arc;
use tidegate::model::KeyGroup;
use tidegate::protocol::gate::{Again, Input as ToGate};
use tidegate::protocol::sink::Input as ToSink;

/// What a Kafka transaction sends.
pub fn content(batches: &[Stored]) -> Content {
    let sent = |e: &Stored| Sent { group: e.group.0 as u8, batch: e.number, outputs: e.outputs.clone() };
    batches.iter().map(sent).collect()
}

/// The world behind the step.
pub fn apply(plan: &Plan, world: &World, step: Step) -> Result<World, String> {
    let mut world = world.clone();
    if step.is_fault() {
        world.budget.faults -= 1;
    }
    match step {
        Step::Launch { slot } => launch(plan, &mut world, slot),
        Step::Crash { slot } => {
            world.budget.crashes -= 1;
            world.end_run(slot);
        }
        Step::Stage { slot, worker } => starting::stage(plan, &mut world, slot, worker)?,
        Step::StageLost { slot, worker } => starting::lost(plan, &mut world, slot, worker),
        Step::StageAborted { slot, worker } => {
            world.starting_mut(slot, worker).stage = Stage::Progress;
        }
        Step::Arrive { .. }
        | Step::Dispatch { .. }
        | Step::Store { .. }
        | Step::Slow { .. }
        | Step::StoreCut { .. }
        | Step::StoreContended { .. }
        | Step::StoreDoubted { .. }
        | Step::Settle { .. }
        | Step::SettleCut { .. }
        | Step::DatabaseUp { .. }
        | Step::Poll { .. }
        | Step::Ticket { .. } => of_gate(plan, &mut world, step)?,
        Step::Emit { .. }
        | Step::EmitLost { .. }
        | Step::EmitAborted { .. }
        | Step::Ask { .. }
        | Step::BrokerUp { .. } => of_sink(plan, &mut world, step)?,
        Step::Frontier { slot, partition } => {
            let closed = world.run(slot).unwrap().closed(plan, partition);
            world.run_mut(slot).written[usize::from(partition)] = closed;
            world.database.advance_frontier(usize::from(partition), closed);
        }
        Step::Markers { .. }
        | Step::GhostArrives { .. }
        | Step::TimeOut { .. }
        | Step::GhostCommits { .. }
        | Step::GhostRollsBack { .. } => of_services(plan, &mut world, step)?,
        Step::Mend => world.mended = true,
        Step::Mark { group, key } => {
            let group = usize::from(group);
            if !world.mended || waits_for_ever(&world.database.rows[group], key) {
                world.budget.marks -= 1;
            }
            world.database.mark(group, key);
        }
    }
    if plan.is(Broken::ReadToLastStable) {
        world.kafka.move_last_stable();
    }
    Ok(world)
}

/// What Kafka and the database do by themselves.
fn of_services(plan: &Plan, world: &mut World, step: Step) -> Result<(), String> {
    match step {
        Step::Markers { id } => world.kafka.write_markers(usize::from(id)),
        Step::GhostArrives { id } => {
            world.kafka.ghost_arrives(usize::from(id), plan.is(Broken::ReadUncommitted));
        }
        Step::TimeOut { id } => {
            if world.kafka.ids[usize::from(id)].holder.is_some() {
                world.budget.faults -= 1;
            }
            world.kafka.initialise(usize::from(id), None);
        }
        Step::GhostCommits { ghost } => {
            let ghost = world.database.ghosts.remove(usize::from(ghost));
            world.database.commit(&ghost)?;
        }
        Step::GhostRollsBack { ghost } => drop(world.database.ghosts.remove(usize::from(ghost))),
        _ => return Err(format!("{step:?} is nothing that a service does by itself")),
    }
    Ok(())
}

fn launch(plan: &Plan, world: &mut World, slot: u8) {
    if world.lives() {
        world.budget.overlaps -= 1;
    }
    let run = Run::new(world.started, plan);
    world.started += 1;
    world.runs[usize::from(slot)] = Some(Arc::new(run));
}

/// A run ends by itself. It may do so only where a newer one has claimed what it claims.
fn halt(world: &mut World, slot: u8, worker: u8, said: &str) -> Result<(), String> {
    let run = world.run(slot).unwrap();
    let (number, claims) = (run.number, run.claims_of(worker));
    if world.database.owns(&claims) {
        return Err(format!(
            "run {number}, worker {worker} halts, and no newer run has claimed its key groups: {said}"
        ));
    }
    world.end_run(slot);
    Ok(())
}

fn of_gate(plan: &Plan, world: &mut World, step: Step) -> Result<(), String> {
    match step {
        Step::Arrive { slot, stream } => arrive(plan, world, slot, stream),
        Step::Dispatch { slot, worker } => {
            world.running_mut(slot, worker).in_activation = false;
            to_gate(plan, world, slot, worker, ToGate::Dispatch)
        }
        Step::Store { slot, worker, lane } => storing::store(plan, world, slot, worker, lane),
        Step::Slow { slot, worker, lane } => {
            to_gate(plan, world, slot, worker, ToGate::Slow { lane: usize::from(lane) })
        }
        Step::StoreCut { slot, worker, lane } => {
            let lane = usize::from(lane);
            undone(plan, world, (slot, worker), ToGate::Undone { lane, again: Again::WhenUp })
        }
        Step::StoreContended { slot, worker, lane } => {
            let lane = usize::from(lane);
            undone(plan, world, (slot, worker), ToGate::Undone { lane, again: Again::Now })
        }
        Step::StoreDoubted { slot, worker, lane } => storing::doubted(plan, world, slot, worker, lane),
        Step::Settle { slot, worker, lane } => settle(plan, world, slot, worker, lane),
        Step::SettleCut { slot, worker, lane } => {
            let lane = usize::from(lane);
            undone(plan, world, (slot, worker), ToGate::Unsettled { lane })
        }
        Step::Poll { slot, worker, group } => {
            world.running_mut(slot, worker).on_way.insert(KeyGroup(u32::from(group)));
            Ok(())
        }
        Step::Ticket { slot, worker, group } => {
            let group = KeyGroup(u32::from(group));
            let running = world.running_mut(slot, worker);
            running.on_way.remove(&group);
            running.in_activation = true;
            to_gate(plan, world, slot, worker, ToGate::Retry(group))
        }
        Step::DatabaseUp { slot, worker } => {
            world.running_mut(slot, worker).probes_database = false;
            to_gate(plan, world, slot, worker, ToGate::Up)
        }
        _ => Err(format!("{step:?} is nothing that a gate hears of")),
    }
}

fn of_sink(plan: &Plan, world: &mut World, step: Step) -> Result<(), String> {
    match step {
        Step::Emit { slot, worker } => emit(plan, world, slot, worker),
        Step::EmitLost { slot, worker } => emit_lost(plan, world, slot, worker),
        Step::EmitAborted { slot, worker } => to_sink(plan, world, slot, worker, ToSink::Aborted),
        Step::Ask { slot, worker } => {
            let mine = world.database.owns(&world.running(slot, worker).claims);
            to_sink(plan, world, slot, worker, ToSink::Owner { mine })
        }
        Step::BrokerUp { slot, worker } => to_sink(plan, world, slot, worker, ToSink::Up),
        _ => Err(format!("{step:?} is nothing that a sink hears of")),
    }
}

// ---- the gate

fn arrive(plan: &Plan, world: &mut World, slot: u8, stream: u8) -> Result<(), String> {
    let run = world.run(slot).unwrap();
    let event = run.next_of(plan, stream).unwrap();
    let worker = run.owner(event.group) as u8;
    world.run_mut(slot).arrived[usize::from(stream)] += 1;
    world.running_mut(slot, worker).in_activation = true;
    to_gate(plan, world, slot, worker, ToGate::Arrived(event))
}

type SinkInput = ToSink<Vec<crate::plan::Event>>;

fn to_gate(plan: &Plan, world: &mut World, slot: u8, worker: u8, input: GateInput) -> Result<(), String> {
    let mut inputs = vec![input];
    let running = world.running_mut(slot, worker);
    if plan.is(Broken::CloseNewTickets)
        && matches!(&inputs[..], [ToGate::Stored { .. } | ToGate::Settled { .. }])
    {
        // One activation takes in both, and then carries out what the gate has said of both.
        let tickets = std::mem::take(&mut running.on_way);
        inputs.extend(tickets.into_iter().map(ToGate::Retry));
        inputs.push(ToGate::Dispatch);
    }
    let mut after = After::default();
    running.gate(plan, inputs, &mut after);
    settle_after(world, slot, worker, after)
}

fn to_sink(plan: &Plan, world: &mut World, slot: u8, worker: u8, input: SinkInput) -> Result<(), String> {
    let rebuilt = matches!(input, ToSink::Rebuilt(_));
    let mut after = After::default();
    let running = world.running_mut(slot, worker);
    running.emitter = Emitter::Idle;
    running.sink(input, &mut after);
    if rebuilt && plan.is(Broken::RebuildTrustsFence) && running.emitter == Emitter::Ask {
        running.emitter = Emitter::Idle;
        running.sink(ToSink::Owner { mine: true }, &mut after);
    }
    settle_after(world, slot, worker, after)
}

fn settle_after(world: &mut World, slot: u8, worker: u8, after: After) -> Result<(), String> {
    for event in after.done {
        world.run_mut(slot).done |= 1 << event.id;
    }
    match after.halt {
        Some(stop) => halt(world, slot, worker, &stop.to_string()),
        None => Ok(()),
    }
}

fn undone(plan: &Plan, world: &mut World, (slot, worker): (u8, u8), input: GateInput) -> Result<(), String> {
    match &input {
        ToGate::Undone { lane, .. } => world.running_mut(slot, worker).lanes[*lane] = Lane::Idle,
        ToGate::Unsettled { lane } => world.running_mut(slot, worker).lanes[*lane] = Lane::InDoubt,
        _ => {}
    }
    to_gate(plan, world, slot, worker, input)
}

fn settle(plan: &Plan, world: &mut World, slot: u8, worker: u8, lane: u8) -> Result<(), String> {
    let lane = usize::from(lane);
    let running = world.running_mut(slot, worker);
    let Lane::Settle(groups) = std::mem::replace(&mut running.lanes[lane], Lane::Idle) else {
        return Err("a lane was settled that was not in doubt".to_owned());
    };
    let row = |group: &KeyGroup| {
        let row = &world.database.rows[crate::database::index(*group)];
        (*group, row.incarnation, row.batch)
    };
    let rows = groups.iter().map(row).collect();
    to_gate(plan, world, slot, worker, ToGate::Settled { lane, rows })
}

// ---- the sink

fn emit(plan: &Plan, world: &mut World, slot: u8, worker: u8) -> Result<(), String> {
    let (id, me) = (own_id(worker), (slot, worker));
    match world.running(slot, worker).emitter.clone() {
        Emitter::Produce(batches) => {
            let track = plan.is(Broken::ReadUncommitted);
            match world.kafka.produce(id, me, content(&batches), track) {
                Handled::Done => world.running_mut(slot, worker).emitter = Emitter::Commit(batches),
                Handled::Fenced => to_sink(plan, world, slot, worker, ToSink::Fenced)?,
            }
        }
        Emitter::Commit(_) => match world.kafka.commit(id, me) {
            Handled::Done => to_sink(plan, world, slot, worker, ToSink::Committed)?,
            Handled::Fenced => to_sink(plan, world, slot, worker, ToSink::Fenced)?,
        },
        Emitter::Initialise => {
            world.kafka.initialise(id, Some(me));
            world.running_mut(slot, worker).emitter = Emitter::ReadProgress;
        }
        Emitter::ReadProgress => {
            let progress = progress(&world.kafka, plan).unwrap();
            let claims = &world.running(slot, worker).claims;
            let mine = claims.iter().map(|(group, _)| (*group, progress[crate::database::index(*group)]));
            let rows: BTreeMap<_, _> = mine.filter(|(_, batch)| batch.0 > 0).collect();
            to_sink(plan, world, slot, worker, ToSink::Rebuilt(rows))?;
        }
        Emitter::Idle | Emitter::Probe | Emitter::Ask => {
            return Err("an emitter answered that was not asked".to_owned());
        }
    }
    Ok(())
}

fn emit_lost(plan: &Plan, world: &mut World, slot: u8, worker: u8) -> Result<(), String> {
    let (id, me) = (own_id(worker), (slot, worker));
    let (request, input) = match &world.running(slot, worker).emitter {
        Emitter::Produce(batches) => (Some(Ghost::Produce(content(batches))), ToSink::Lost),
        Emitter::Commit(_) => (Some(Ghost::EndTxn), ToSink::Lost),
        Emitter::Initialise | Emitter::ReadProgress => (None, ToSink::NotRebuilt),
        Emitter::Idle | Emitter::Probe | Emitter::Ask => {
            return Err("an emitter lost what it had not asked".to_owned());
        }
    };
    if plan.is(Broken::RepeatEmission) && matches!(input, ToSink::Lost) {
        // The request was handled, its answer lost, and the same producer sends all of it once more.
        if matches!(request, Some(Ghost::EndTxn)) && matches!(world.kafka.ids[id].txn, Txn::Open(_)) {
            world.kafka.commit(id, me);
        }
        return to_sink(plan, world, slot, worker, ToSink::Aborted);
    }
    if matches!(world.running(slot, worker).emitter, Emitter::Initialise) && world.kafka.can_initialise(id) {
        world.kafka.initialise(id, None);
    }
    world.kafka.give_up(id, me, request);
    to_sink(plan, world, slot, worker, input)
}
