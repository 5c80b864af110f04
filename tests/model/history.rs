//! History: a schedule as a person reads it.

use crate::broken::Broken;
use crate::database::index;
use crate::invariants::{name, names};
use crate::kafka::{Content, Ghost, Txn};
use crate::parking::run as run_transaction;
use crate::plan::{Event, Plan};
use crate::run::{Emitter, Lane, Stored, Worker};
use crate::start::Stage;
use crate::step::Step;
use crate::world::World;
use tidegate::model::{BatchNumber, KeyGroup};
use tidegate::protocol::gate::{Batch, Transaction};

/// One line: what a step does in this world.
pub fn line(plan: &Plan, world: &World, step: Step) -> String {
    match step {
        Step::Launch { .. } => {
            let number = world.started;
            format!("run {number} is started with {} worker(s)", plan.workers_of(number))
        }
        Step::Crash { slot } => format!("{} is killed", run(world, slot)),
        Step::Stage { slot, worker } => {
            format!("{}: {}", who(world, slot, worker), stage(world, slot, worker))
        }
        Step::StageLost { slot, worker } => {
            format!("{}: {}: the answer is lost", who(world, slot, worker), stage(world, slot, worker))
        }
        Step::StageAborted { slot, worker } => {
            format!("{}: Kafka aborts what it sends", who(world, slot, worker))
        }
        Step::Arrive { slot, stream } => {
            let run = world.run(slot).unwrap();
            let event = run.next_of(plan, stream).unwrap();
            format!("{}: {} arrives", who(world, slot, run.owner(event.group) as u8), name(&event))
        }
        Step::Dispatch { slot, worker } => {
            format!("{}: the gate forms transactions", who(world, slot, worker))
        }
        Step::Store { slot, worker, lane }
        | Step::Slow { slot, worker, lane }
        | Step::StoreCut { slot, worker, lane }
        | Step::StoreContended { slot, worker, lane }
        | Step::StoreDoubted { slot, worker, lane }
        | Step::Settle { slot, worker, lane }
        | Step::SettleCut { slot, worker, lane } => of_lane(plan, world, step, (slot, worker), lane),
        Step::DatabaseUp { slot, worker } => {
            format!("{}: the database answers again", who(world, slot, worker))
        }
        Step::Emit { slot, worker } => format!("{}: {}", who(world, slot, worker), emit(world, slot, worker)),
        Step::EmitLost { slot, worker } => {
            format!("{}: {}: no answer comes", who(world, slot, worker), emit(world, slot, worker))
        }
        Step::EmitAborted { slot, worker } => {
            format!("{}: Kafka aborts the transaction", who(world, slot, worker))
        }
        Step::Ask { slot, worker } => {
            let mine = world.database.owns(&world.running(slot, worker).claims);
            let says = if mine { "still mine" } else { "not mine any more" };
            format!("{}: asks the ledger who owns the key groups: {says}", who(world, slot, worker))
        }
        Step::BrokerUp { slot, worker } => format!("{}: the broker answers again", who(world, slot, worker)),
        Step::Frontier { slot, partition } => {
            let to = world.run(slot).unwrap().closed(plan, partition);
            format!("{}: the frontier of partition {partition} moves to {to}", run(world, slot))
        }
        Step::Markers { .. } | Step::GhostArrives { .. } | Step::TimeOut { .. } => of_kafka(world, step),
        Step::GhostCommits { ghost } => of_ghost(world, ghost, "finds the COMMIT of a lost connection"),
        Step::GhostRollsBack { ghost } => of_ghost(world, ghost, "rolls a lost connection back"),
        Step::Poll { .. } | Step::Ticket { .. } | Step::Mend | Step::Mark { .. } => of_parked(world, step),
    }
}

fn of_ghost(world: &World, ghost: u8, what: &str) -> String {
    format!("database: {what}: {}", batches(&world.database.ghosts[usize::from(ghost)].transaction))
}

fn of_parked(world: &World, step: Step) -> String {
    match step {
        Step::Poll { slot, worker, group } => {
            format!("{}: sees that parked events of g{group} are marked", who(world, slot, worker))
        }
        Step::Ticket { slot, worker, group } => {
            format!("{}: a ticket for g{group} reaches the gate", who(world, slot, worker))
        }
        Step::Mark { group, key } => format!("somebody marks key {key} of g{group} for a retry"),
        _ => "somebody mends what the database refuses".to_owned(),
    }
}

fn run(world: &World, slot: u8) -> String {
    format!("run {}", world.run(slot).unwrap().number)
}

fn who(world: &World, slot: u8, worker: u8) -> String {
    format!("{}, worker {worker}", run(world, slot))
}

fn stage(world: &World, slot: u8, worker: u8) -> String {
    let Worker::Starting(start) = world.worker(slot, worker) else { return String::new() };
    match start.stage {
        Stage::Claim => "claims key groups".to_owned(),
        Stage::Rows => "reads the rows of its key groups".to_owned(),
        Stage::Fence => "fences the ids that it will not use".to_owned(),
        Stage::Own => format!("takes over its own id, job-{worker}"),
        Stage::Ask => "asks the ledger whether its claims stand".to_owned(),
        Stage::Progress => format!("reads the progress topic: {}", numbers(&world.kafka.progress)),
        Stage::Outbox => {
            let rows = start.rows.iter().map(|row| {
                let held = &world.database.rows[index(row.group)].outbox;
                let held: Vec<String> = held.iter().map(|(batch, _)| batch.to_string()).collect();
                format!("g{}: [{}]", row.group, held.join(", "))
            });
            format!("reads the outbox: {}", rows.collect::<Vec<_>>().join(", "))
        }
        Stage::Produce => format!("sends from the outbox {}", sent(&start.content())),
        Stage::Commit => format!("commits {} as job-{worker}", sent(&start.content())),
        Stage::Begin => {
            format!("reads parked keys and the frontier {:?} and begins", world.database.frontier)
        }
    }
}

fn of_lane(plan: &Plan, world: &World, step: Step, (slot, worker): (u8, u8), lane: u8) -> String {
    let running = world.running(slot, worker);
    let what = match &running.lanes[usize::from(lane)] {
        Lane::Idle | Lane::InDoubt => String::new(),
        Lane::Store(transaction) => batches(transaction),
        Lane::Settle(groups) => groups.iter().map(|g| row(world, *g)).collect::<Vec<_>>().join(", "),
    };
    let what = match step {
        Step::Store { .. } => match &running.lanes[usize::from(lane)] {
            Lane::Store(t) if !world.database.matches(t) && !plan.is(Broken::NoCompare) => {
                format!("the ledger does not take {what}")
            }
            Lane::Store(t) => format!("stores {what}{}", parked(plan, world, t)),
            _ => String::new(),
        },
        Step::Slow { .. } => format!("takes long with {what}"),
        Step::StoreCut { .. } => format!("loses its connection before the COMMIT of {what}"),
        Step::StoreContended { .. } => format!("is a deadlock's victim with {what}"),
        Step::StoreDoubted { .. } => format!("loses its connection behind the COMMIT of {what}"),
        Step::SettleCut { .. } => "loses its connection while it looks up what is in doubt".to_owned(),
        _ => format!("looks up what is in doubt: {what}"),
    };
    format!("{}: {what}", who(world, slot, worker))
}

fn emit(world: &World, slot: u8, worker: u8) -> String {
    let fenced = world.kafka.ids[usize::from(worker)].holder != Some((slot, worker));
    let refused = if fenced { ": fenced" } else { "" };
    match &world.running(slot, worker).emitter {
        Emitter::Produce(batches) => format!("sends {}{refused}", emissions(batches)),
        Emitter::Commit(batches) => format!("commits {} as job-{worker}{refused}", emissions(batches)),
        Emitter::Initialise => format!("takes over its own id, job-{worker}, with a new producer"),
        Emitter::ReadProgress => format!("reads the progress topic: {}", numbers(&world.kafka.progress)),
        Emitter::Idle | Emitter::Probe | Emitter::Ask => String::new(),
    }
}

fn of_kafka(world: &World, step: Step) -> String {
    let of = |id: u8| &world.kafka.ids[usize::from(id)];
    let inside = |txn: &Txn| match txn {
        Txn::None => "nothing".to_owned(),
        Txn::Open(content) | Txn::Decided(content) => sent(content),
    };
    match step {
        Step::Markers { id } => {
            format!("Kafka: readers see what job-{id} has committed: {}", inside(&of(id).txn))
        }
        Step::GhostArrives { id } => match &of(id).ghost {
            Some(Ghost::Produce(content)) => {
                format!("Kafka: late records of job-{id} arrive: {}", sent(content))
            }
            _ => format!("Kafka: a late commit of job-{id} arrives: {}", inside(&of(id).txn)),
        },
        Step::TimeOut { id } => {
            format!("Kafka: the transaction of job-{id} times out: {}", inside(&of(id).txn))
        }
        _ => String::new(),
    }
}

fn batches(transaction: &Transaction<Event>) -> String {
    let one = |batch: &Batch<Event>| {
        let retry = if batch.is_retry { " (a retry)" } else { "" };
        format!("g{} batch {}{retry} {}", batch.group, batch.number, names(&batch.events))
    };
    transaction.batches.iter().map(one).collect::<Vec<_>>().join(" and ")
}

/// What a transaction that has something to do with parked events applies.
fn parked(plan: &Plan, world: &World, transaction: &Transaction<Event>) -> String {
    let Ok(effects) = run_transaction(plan, &world.database, world.mended, transaction) else {
        return String::new();
    };
    let applied: Vec<Event> = effects.iter().flat_map(|effect| effect.applied.clone()).collect();
    let events: Vec<Event> = transaction.batches.iter().flat_map(|batch| batch.events.clone()).collect();
    if applied == events { String::new() } else { format!(", of which it applies {}", names(&applied)) }
}

fn emissions(batches: &[Stored]) -> String {
    sent(&crate::apply::content(batches))
}

fn sent(content: &Content) -> String {
    let list = content.iter().map(|s| format!("g{} batch {} {}", s.group, s.batch, names(&s.outputs)));
    list.collect::<Vec<_>>().join(" and ")
}

fn numbers(progress: &[BatchNumber]) -> String {
    let list = progress.iter().enumerate().map(|(group, batch)| format!("g{group}: {batch}"));
    list.collect::<Vec<_>>().join(", ")
}

fn row(world: &World, group: KeyGroup) -> String {
    format!("g{group} has batch {}", world.database.rows[index(group)].batch)
}
