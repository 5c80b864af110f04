//! Step: one thing that can happen, and which of them can happen now.

use crate::apply::claimed_by;
use crate::broken::Broken;
use crate::database::Row;
use crate::kafka::Txn;
use crate::plan::{GROUPS, Plan, Refused};
use crate::run::{Emitter, Lane, Run, Running, Worker, own_id};
use crate::start::{Stage, Start, others, progress};
use crate::world::{SLOTS, World};
use tidegate::model::KeyGroup;

/// What happens. A fault is something that a healthy world does not do; it takes from the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// A run is started in this slot.
    Launch { slot: u8 },
    /// A run is killed.
    Crash { slot: u8 },
    /// A worker's start does its next stage.
    Stage { slot: u8, worker: u8 },
    /// The stage was done, or is on its way, and its answer is lost.
    StageLost { slot: u8, worker: u8 },
    /// Kafka aborts what a start sends.
    StageAborted { slot: u8, worker: u8 },
    /// An event reaches the gate.
    Arrive { slot: u8, stream: u8 },
    /// Everything has arrived that the activation takes in.
    Dispatch { slot: u8, worker: u8 },
    /// The database runs a lane's transaction and commits, or refuses its positions.
    Store { slot: u8, worker: u8, lane: u8 },
    /// A lane's transaction takes long.
    Slow { slot: u8, worker: u8, lane: u8 },
    /// The connection is lost before COMMIT was sent.
    StoreCut { slot: u8, worker: u8, lane: u8 },
    /// A deadlock, or a lock that took too long.
    StoreContended { slot: u8, worker: u8, lane: u8 },
    /// The connection is lost behind COMMIT.
    StoreDoubted { slot: u8, worker: u8, lane: u8 },
    /// The position rows are looked up.
    Settle { slot: u8, worker: u8, lane: u8 },
    /// The look-up fails.
    SettleCut { slot: u8, worker: u8, lane: u8 },
    /// The prober finds the database.
    DatabaseUp { slot: u8, worker: u8 },
    /// A worker sees that parked events of a key group are marked: a ticket goes to its gate.
    Poll { slot: u8, worker: u8, group: u8 },
    /// The ticket reaches the gate.
    Ticket { slot: u8, worker: u8, group: u8 },
    /// The emitter's next request is answered.
    Emit { slot: u8, worker: u8 },
    /// The emitter stops waiting: lost before, on its way, or done and its answer lost.
    EmitLost { slot: u8, worker: u8 },
    /// Kafka aborts the transaction.
    EmitAborted { slot: u8, worker: u8 },
    /// The ledger says who owns the key groups.
    Ask { slot: u8, worker: u8 },
    /// The prober finds the broker.
    BrokerUp { slot: u8, worker: u8 },
    /// The commit operator writes a partition's frontier.
    Frontier { slot: u8, partition: u8 },
    /// The markers of a decided transaction are written.
    Markers { id: u8 },
    /// A request arrives that nobody waits for any more.
    GhostArrives { id: u8 },
    /// A transaction outlives its time-out.
    TimeOut { id: u8 },
    /// The server finds the COMMIT of a lost connection in its socket.
    GhostCommits { ghost: u8 },
    /// The server finds the connection gone.
    GhostRollsBack { ghost: u8 },
    /// Somebody mends what makes the database refuse events.
    Mend,
    /// Somebody wants the parked events of a key tried.
    Mark { group: u8, key: char },
}

impl Step {
    /// Whether it takes from the budget of faults.
    pub fn is_fault(self) -> bool {
        matches!(
            self,
            Step::StageLost { .. }
                | Step::StageAborted { .. }
                | Step::StoreCut { .. }
                | Step::StoreContended { .. }
                | Step::StoreDoubted { .. }
                | Step::SettleCut { .. }
                | Step::EmitLost { .. }
                | Step::EmitAborted { .. }
        )
    }
}

/// A step, and whether a healthy world takes it.
pub type Possible = (Step, bool);

/// Everything that can happen now.
pub fn possible(plan: &Plan, world: &World) -> Vec<Possible> {
    let mut steps = Vec::new();
    // What happens within an activation of the gate touches nothing outside it: nothing comes between.
    if let Some((slot, worker)) = in_activation(world) {
        steps.push((Step::Dispatch { slot, worker }, true));
        arrivals(plan, world, slot, Some(worker), &mut steps);
        tickets((slot, worker), world.running(slot, worker), &mut steps);
        return steps;
    }
    for slot in 0..SLOTS {
        match world.run(slot) {
            None => launches(world, slot, &mut steps),
            Some(run) => of_run(plan, world, slot, run, &mut steps),
        }
    }
    of_kafka(world, &mut steps);
    of_people(plan, world, &mut steps);
    for ghost in 0..world.database.ghosts.len() as u8 {
        steps.push((Step::GhostCommits { ghost }, true));
        steps.push((Step::GhostRollsBack { ghost }, true));
    }
    if world.budget.faults == 0 {
        steps.retain(|(step, _)| !step.is_fault());
    }
    steps
}

fn in_activation(world: &World) -> Option<(u8, u8)> {
    for slot in 0..SLOTS {
        for (worker, state) in (0_u8..).zip(world.run(slot).into_iter().flat_map(|run| &run.workers)) {
            if matches!(&**state, Worker::Running(running) if running.in_activation) {
                return Some((slot, worker));
            }
        }
    }
    None
}

fn launches(world: &World, slot: u8, steps: &mut Vec<Possible>) {
    if !world.lives() {
        // Somebody always starts the job again; one slot is as good as the other.
        if slot == 0 {
            steps.push((Step::Launch { slot }, true));
        }
    } else if world.budget.overlaps > 0 {
        steps.push((Step::Launch { slot }, false));
    }
}

fn of_run(plan: &Plan, world: &World, slot: u8, run: &Run, steps: &mut Vec<Possible>) {
    if world.budget.crashes > 0 {
        steps.push((Step::Crash { slot }, false));
    }
    arrivals(plan, world, slot, None, steps);
    for (worker, state) in (0_u8..).zip(&run.workers) {
        match &**state {
            Worker::Starting(start) => of_start(plan, world, (slot, worker), start, steps),
            Worker::Running(running) => {
                of_gate(plan, world, (slot, worker), running, steps);
                of_sink(plan, world, (slot, worker), running, steps);
            }
        }
    }
    for partition in 0..plan.partitions() {
        let owner = &run.workers[run.owner(partition)];
        if matches!(**owner, Worker::Running(_))
            && run.closed(plan, partition) > run.written[usize::from(partition)]
        {
            steps.push((Step::Frontier { slot, partition }, true));
        }
    }
}

fn arrivals(plan: &Plan, world: &World, slot: u8, only: Option<u8>, steps: &mut Vec<Possible>) {
    let Some(run) = world.run(slot) else { return };
    let runs = |worker: usize| matches!(*run.workers[worker], Worker::Running(_));
    for stream in 0..plan.streams() {
        let Some(event) = run.next_of(plan, stream) else { continue };
        let (source, gate) = (run.owner(event.partition), run.owner(event.group));
        if runs(source) && runs(gate) && only.is_none_or(|only| usize::from(only) == gate) {
            steps.push((Step::Arrive { slot, stream }, true));
        }
    }
}

fn of_start(plan: &Plan, world: &World, (slot, worker): (u8, u8), start: &Start, steps: &mut Vec<Possible>) {
    let run = world.run(slot).unwrap();
    let workers = run.workers.len();
    let (kafka, database) = (&world.kafka, &world.database);
    let all_fenced = || run.workers.iter().all(|w| !matches!(&**w, Worker::Starting(start) if !start.fenced));
    if start.is_at_barrier(plan) && !all_fenced() {
        return;
    }
    let mine = |group: &usize| run.owner(*group as u8) == usize::from(worker);
    let claimed = (0..GROUPS).filter(mine).count() == run.claims_of(worker).len();
    let is_free = |group: usize| !database.is_locked(KeyGroup(group as u32));
    let can = match start.stage {
        Stage::Claim => claimed_by(plan, worker, workers).all(is_free),
        Stage::Rows => claimed,
        Stage::Fence => others(worker, workers).all(|id| kafka.can_initialise(id)),
        Stage::Own => kafka.can_initialise(own_id(worker)),
        Stage::Progress => progress(kafka, plan).is_some(),
        Stage::Produce => kafka.can_produce(own_id(worker)),
        Stage::Ask | Stage::Outbox | Stage::Commit | Stage::Begin => true,
    };
    if !can {
        return;
    }
    steps.push((Step::Stage { slot, worker }, true));
    let claims = start.stage == Stage::Claim && claimed_by(plan, worker, workers).len() > 0;
    if claims || matches!(start.stage, Stage::Produce | Stage::Commit) {
        steps.push((Step::StageLost { slot, worker }, false));
    }
    if start.stage == Stage::Produce {
        steps.push((Step::StageAborted { slot, worker }, false));
    }
}

fn of_gate(
    plan: &Plan,
    world: &World,
    (slot, worker): (u8, u8),
    running: &Running,
    steps: &mut Vec<Possible>,
) {
    let locked = |group: KeyGroup| world.database.is_locked(group);
    for (lane, doing) in (0_u8..).zip(&running.lanes) {
        match doing {
            Lane::Idle | Lane::InDoubt => {}
            Lane::Store(transaction) => {
                steps.push((Step::StoreCut { slot, worker, lane }, false));
                if plan.beside_min > 1 {
                    steps.push((Step::Slow { slot, worker, lane }, false));
                }
                if !transaction.batches.iter().any(|b| locked(b.group)) {
                    steps.push((Step::Store { slot, worker, lane }, true));
                    steps.push((Step::StoreContended { slot, worker, lane }, false));
                    if world.database.matches(transaction) {
                        steps.push((Step::StoreDoubted { slot, worker, lane }, false));
                    }
                }
            }
            Lane::Settle(groups) => {
                steps.push((Step::SettleCut { slot, worker, lane }, false));
                if plan.is(Broken::PlainSettle) || !groups.iter().any(|group| locked(*group)) {
                    steps.push((Step::Settle { slot, worker, lane }, true));
                }
            }
        }
    }
    if running.probes_database && !plan.is(Broken::NeverUp) {
        steps.push((Step::DatabaseUp { slot, worker }, true));
    }
    for (group, _) in running.claims.iter().filter(|(group, _)| world.database.is_marked(*group)) {
        if !running.on_way.contains(group) {
            // Marks are looked at again and again; a healthy world need not do so while a pass is on.
            let fresh = !running.tickets.contains(group);
            steps.push((Step::Poll { slot, worker, group: group.0 as u8 }, fresh));
        }
    }
    tickets((slot, worker), running, steps);
}

fn tickets((slot, worker): (u8, u8), running: &Running, steps: &mut Vec<Possible>) {
    let ticket = |group: &KeyGroup| (Step::Ticket { slot, worker, group: group.0 as u8 }, true);
    steps.extend(running.on_way.iter().map(ticket));
}

/// In a plan that mends, somebody does, and then marks whatever can be handled. Before that a mark takes from the budget.
fn of_people(plan: &Plan, world: &World, steps: &mut Vec<Possible>) {
    if plan.mends && !world.mended {
        steps.push((Step::Mend, true));
    }
    for group in 0..GROUPS as u8 {
        if world.database.are_marks_locked(KeyGroup(u32::from(group))) {
            continue;
        }
        let row = &world.database.rows[usize::from(group)];
        for (key, _) in row.keys.iter().filter(|(_, marked)| !**marked) {
            let helps = world.mended && !waits_for_ever(row, *key);
            if helps || world.budget.marks > 0 {
                steps.push((Step::Mark { group, key: *key }, helps));
            }
        }
    }
}

/// Whether the first of a key's parked events is one that is always refused.
pub fn waits_for_ever(row: &Row, key: char) -> bool {
    let first = row.parked.iter().find(|event| event.key == Some(key));
    first.is_some_and(|event| event.refused == Refused::Always)
}

fn of_sink(
    plan: &Plan,
    world: &World,
    (slot, worker): (u8, u8),
    running: &Running,
    steps: &mut Vec<Possible>,
) {
    let (kafka, id) = (&world.kafka, own_id(worker));
    let (next, can) = match &running.emitter {
        Emitter::Idle => return,
        Emitter::Probe => return steps.push((Step::BrokerUp { slot, worker }, true)),
        Emitter::Ask => return steps.push((Step::Ask { slot, worker }, true)),
        Emitter::Produce(_) => (Step::Emit { slot, worker }, kafka.can_produce(id)),
        Emitter::Commit(_) => (Step::Emit { slot, worker }, true),
        Emitter::Initialise => (Step::Emit { slot, worker }, kafka.can_initialise(id)),
        Emitter::ReadProgress => (Step::Emit { slot, worker }, progress(kafka, plan).is_some()),
    };
    if can {
        steps.push((next, true));
    }
    steps.push((Step::EmitLost { slot, worker }, false));
    if can && matches!(running.emitter, Emitter::Produce(_)) {
        steps.push((Step::EmitAborted { slot, worker }, false));
    }
}

fn of_kafka(world: &World, steps: &mut Vec<Possible>) {
    for (id, state) in (0_u8..).zip(&world.kafka.ids) {
        if matches!(state.txn, Txn::Decided(_)) {
            steps.push((Step::Markers { id }, true));
        }
        if world.kafka.can_ghost_arrive(usize::from(id)) {
            steps.push((Step::GhostArrives { id }, true));
        }
        if matches!(state.txn, Txn::Open(_)) {
            // The time-out of a transaction that nobody will end is no fault: it is how Kafka heals.
            let abandoned = state.holder.is_none();
            if abandoned || world.budget.faults > 0 {
                steps.push((Step::TimeOut { id }, abandoned));
            }
        }
    }
}
