//! Apply: what a step does to the world.
//!
//! Fails:     with a sentence: a rule of the ledger was broken, a machine panicked, or a run halted without a reason

use crate::broken::Broken;
use crate::database::outputs_of;
use crate::kafka::{Content, Ghost, Handled, Sent, Txn};
use crate::plan::{GROUPS, Plan};
use crate::run::{After, Emitter, Lane, Run, Stored, Worker, outputs_of_all, own_id};
use crate::start::{Stage, others, progress};
use crate::step::Step;
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
        Step::Stage { slot, worker } => stage(plan, &mut world, slot, worker)?,
        Step::StageLost { slot, worker } => stage_lost(plan, &mut world, slot, worker),
        Step::StageAborted { slot, worker } => {
            world.starting_mut(slot, worker).stage = Stage::Progress;
        }
        Step::Arrive { slot, stream } => arrive(plan, &mut world, slot, stream)?,
        Step::Dispatch { slot, worker } => {
            world.running_mut(slot, worker).in_activation = false;
            to_gate(plan, &mut world, slot, worker, ToGate::Dispatch)?;
        }
        Step::Store { slot, worker, lane } => store(plan, &mut world, slot, worker, lane)?,
        Step::StoreCut { slot, worker, lane } => {
            let lane = usize::from(lane);
            undone(plan, &mut world, (slot, worker), ToGate::Undone { lane, again: Again::WhenUp })?;
        }
        Step::StoreContended { slot, worker, lane } => {
            let lane = usize::from(lane);
            undone(plan, &mut world, (slot, worker), ToGate::Undone { lane, again: Again::Now })?;
        }
        Step::StoreDoubted { slot, worker, lane } => store_doubted(plan, &mut world, slot, worker, lane)?,
        Step::Settle { slot, worker, lane } => settle(plan, &mut world, slot, worker, lane)?,
        Step::SettleCut { slot, worker, lane } => {
            let lane = usize::from(lane);
            undone(plan, &mut world, (slot, worker), ToGate::Unsettled { lane })?;
        }
        Step::DatabaseUp { slot, worker } => {
            world.running_mut(slot, worker).probes_database = false;
            to_gate(plan, &mut world, slot, worker, ToGate::Up)?;
        }
        Step::Emit { slot, worker } => emit(plan, &mut world, slot, worker)?,
        Step::EmitLost { slot, worker } => emit_lost(plan, &mut world, slot, worker)?,
        Step::EmitAborted { slot, worker } => to_sink(plan, &mut world, slot, worker, ToSink::Aborted)?,
        Step::Ask { slot, worker } => {
            let mine = world.database.owns(&world.running(slot, worker).claims);
            to_sink(plan, &mut world, slot, worker, ToSink::Owner { mine })?;
        }
        Step::BrokerUp { slot, worker } => to_sink(plan, &mut world, slot, worker, ToSink::Up)?,
        Step::Frontier { slot, partition } => {
            let closed = world.run(slot).unwrap().closed(plan, partition);
            world.run_mut(slot).written[usize::from(partition)] = closed;
            world.database.advance_frontier(usize::from(partition), closed);
        }
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
    }
    if plan.is(Broken::ReadToLastStable) {
        world.kafka.move_last_stable();
    }
    Ok(world)
}

fn launch(plan: &Plan, world: &mut World, slot: u8) {
    if world.lives() {
        world.budget.overlaps -= 1;
    }
    let run = Run::new(world.started, plan);
    world.started += 1;
    world.runs[usize::from(slot)] = Some(Arc::new(run));
}

// ---- the start

fn stage(plan: &Plan, world: &mut World, slot: u8, worker: u8) -> Result<(), String> {
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
            world.starting_mut(slot, worker).go_on(plan);
        }
        Stage::Progress => {
            let progress = progress(&world.kafka, plan).unwrap();
            let start = world.starting_mut(slot, worker);
            start.read_progress(&progress);
            start.go_on(plan);
        }
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
        Stage::Begin => begin(plan, world, slot, worker),
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
    let running = world.starting(slot, worker).begin(plan);
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

fn stage_lost(plan: &Plan, world: &mut World, slot: u8, worker: u8) {
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

// ---- the gate

fn arrive(plan: &Plan, world: &mut World, slot: u8, stream: u8) -> Result<(), String> {
    let run = world.run(slot).unwrap();
    let event = run.next_of(plan, stream).unwrap();
    let worker = run.owner(event.group) as u8;
    world.run_mut(slot).arrived[usize::from(stream)] += 1;
    world.running_mut(slot, worker).in_activation = true;
    to_gate(plan, world, slot, worker, ToGate::Arrived(event))
}

type GateInput = ToGate<crate::plan::Event, Vec<crate::plan::Event>>;
type SinkInput = ToSink<Vec<crate::plan::Event>>;

fn to_gate(plan: &Plan, world: &mut World, slot: u8, worker: u8, input: GateInput) -> Result<(), String> {
    let mut after = After::default();
    world.running_mut(slot, worker).gate(plan, input, &mut after);
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
    if let ToGate::Undone { lane, .. } | ToGate::Unsettled { lane } = &input {
        world.running_mut(slot, worker).lanes[*lane] = Lane::Idle;
    }
    to_gate(plan, world, slot, worker, input)
}

fn store(plan: &Plan, world: &mut World, slot: u8, worker: u8, lane: u8) -> Result<(), String> {
    let lane = usize::from(lane);
    let running = world.running_mut(slot, worker);
    let Lane::Store(transaction) = std::mem::replace(&mut running.lanes[lane], Lane::Idle) else {
        return Err("a lane stored that had nothing to store".to_owned());
    };
    if !world.database.matches(&transaction) && !plan.is(Broken::NoCompare) {
        return to_gate(plan, world, slot, worker, ToGate::Fenced { lane });
    }
    world.database.commit(&transaction)?;
    let outputs = outputs_of_all(&transaction);
    to_gate(plan, world, slot, worker, ToGate::Stored { lane, outputs })
}

fn store_doubted(plan: &Plan, world: &mut World, slot: u8, worker: u8, lane: u8) -> Result<(), String> {
    let lane = usize::from(lane);
    let running = world.running_mut(slot, worker);
    let Lane::Store(transaction) = std::mem::replace(&mut running.lanes[lane], Lane::Idle) else {
        return Err("a lane stored that had nothing to store".to_owned());
    };
    let outputs = outputs_of_all(&transaction);
    world.database.ghosts.push(transaction);
    let input = match plan.broken {
        Some(Broken::RepeatStore) => ToGate::Undone { lane, again: Again::WhenUp },
        Some(Broken::BelieveStore) => ToGate::Stored { lane, outputs },
        _ => ToGate::InDoubt { lane, outputs },
    };
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

/// Whether everything is stored, sent and behind the frontier.
pub fn is_complete(plan: &Plan, world: &World) -> bool {
    let database = &world.database;
    let frontier = (0..plan.partitions()).all(|p| database.frontier[usize::from(p)] == plan.end(p));
    let handled = (0..GROUPS).all(|group| {
        let events: Vec<_> = plan.events.iter().copied().filter(|e| usize::from(e.group) == group).collect();
        let applied: usize = database.rows[group].applied.iter().map(|(_, events)| events.len()).sum();
        applied == events.len() && world.kafka.outputs[group].len() == outputs_of(&events).len()
    });
    frontier && handled
}
