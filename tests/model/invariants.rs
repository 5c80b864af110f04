//! What must hold in every state.
//!
//! - applied: per partition and key group, the events of the user's table and the parked ones are the first ones of the input,
//!   each once; those that were never parked were applied in their order;
//! - keys: the events of a key are applied in their order, what is parked of it is in its order, and nothing of it is applied
//!   while an earlier event of it is parked;
//! - sent: the outputs of a key group are those of its batches up to the one in the progress topic, in that order, each once;
//! - outbox: it holds every batch with outputs that Kafka has not committed, and no batch that was not stored;
//! - frontier: everything before it is parked, or stored and, if it sends something, committed in Kafka; what was parked when
//!   the frontier passed it may be on its way to Kafka, in the outbox. (A start that leaves
//!   batches in the outbox could go further; this protocol never does, since a start sends them before it reads.)
//! - the machines' own books are in order (`Gate::check`, `Sink::check`);
//! - parked: a gate that owns its key groups and has nothing in doubt holds as many parked keys as the ledger does. That they
//!   are the same ones is checked where events are told to wait (`parking`).
//!
//! That batch numbers rise by one and positions never go back is checked where they are written (`database`).

use crate::database::{Applied, Row, index, outputs_of};
use crate::plan::{Event, GROUPS, Plan};
use crate::run::{Lane, Running, Worker};
use crate::world::World;
use std::collections::BTreeSet;
use tidegate::model::BatchNumber;

pub fn check(plan: &Plan, world: &World) -> Result<(), String> {
    let truth = world.kafka.truth();
    let (outputs, progress) = (&truth.outputs, &truth.progress);
    for group in 0..GROUPS {
        let row = &world.database.rows[group];
        applied(plan, group, row)?;
        parked(group, row)?;
        sent(group, row, &outputs[group], progress[group])?;
        outbox(group, row, progress[group])?;
    }
    frontier(plan, world, outputs)?;
    machines(world)
}

fn applied(plan: &Plan, group: usize, row: &Row) -> Result<(), String> {
    for partition in 0..plan.partitions() {
        let stream = partition * GROUPS as u8 + group as u8;
        if was_never_parked(plan, stream, row) {
            continue;
        }
        let all = row.applied.iter().flat_map(|applied| &applied.events).chain(&row.parked).copied();
        let found: Vec<Event> = all.filter(|e| e.partition == partition).collect();
        let mut sorted = found.clone();
        sorted.sort_unstable();
        if sorted.len() > plan.stream(stream).count()
            || !plan.stream(stream).zip(&sorted).all(|(a, b)| a == *b)
        {
            let wanted: Vec<Event> = plan.stream(stream).take(found.len()).collect();
            return Err(format!(
                "the database has of partition {partition}, key group {group}: {}, and should have {} (parked: {})",
                names(&found),
                names(&wanted),
                names(&row.parked)
            ));
        }
        let queue =
            row.applied.iter().filter(|applied| !applied.is_retry).flat_map(|applied| &applied.events);
        let queue = queue.filter(|e| e.partition == partition);
        if !queue.clone().is_sorted() {
            let found: Vec<Event> = queue.copied().collect();
            return Err(format!("key group {group}: applied out of order: {}", names(&found)));
        }
        in_key_order(group, row, &found)?;
    }
    Ok(())
}

/// The plain case, which most states are: the first events of the input, in their order.
fn was_never_parked(plan: &Plan, stream: u8, row: &Row) -> bool {
    let all = row.applied.iter().flat_map(|applied| &applied.events);
    let mut found = all.filter(|e| e.partition == stream / GROUPS as u8).copied();
    let mut wanted = plan.stream(stream);
    row.parked.is_empty() && found.all(|event| wanted.next() == Some(event))
}

/// What is applied of a key, and behind it what is parked of it. `found`: of one partition, in that order.
fn in_key_order(group: usize, row: &Row, found: &[Event]) -> Result<(), String> {
    let keys: BTreeSet<char> = found.iter().filter_map(|event| event.key).collect();
    for key in &keys {
        let of_key = found.iter().filter(|event| event.key == Some(*key));
        if !of_key.clone().is_sorted() {
            let of_key: Vec<Event> = of_key.copied().collect();
            return Err(format!(
                "key {key} of key group {group} is out of order: {} (parked: {})",
                names(&of_key),
                names(&row.parked)
            ));
        }
    }
    Ok(())
}

fn parked(group: usize, row: &Row) -> Result<(), String> {
    let keys: Option<BTreeSet<char>> = row.parked.iter().map(|event| event.key).collect();
    match keys {
        Some(keys) if keys.iter().eq(row.keys.keys()) => Ok(()),
        _ => Err(format!(
            "key group {group}: the ledger has the parked keys {:?} and the parked events {}",
            row.keys,
            names(&row.parked)
        )),
    }
}

fn sent(group: usize, row: &Row, outputs: &[Event], progress: BatchNumber) -> Result<(), String> {
    let batches = row.applied.iter().filter(|applied| applied.batch <= progress);
    let wanted = batches.flat_map(|applied| applied.events.iter().copied().filter(|e| !e.silent));
    if !wanted.clone().eq(outputs.iter().copied()) || progress > row.output_batch {
        let wanted: Vec<Event> = wanted.collect();
        return Err(format!(
            "Kafka has of key group {group} the outputs {} and progress {progress}: it should have {} (stored up to \
             batch {})",
            names(outputs),
            names(&wanted),
            row.batch
        ));
    }
    Ok(())
}

fn outbox(group: usize, row: &Row, progress: BatchNumber) -> Result<(), String> {
    let stored = |batch: &BatchNumber| row.applied.iter().find(|applied| applied.batch == *batch);
    for (batch, outputs) in &row.outbox {
        if stored(batch).map(|applied| outputs_of(&applied.events)).as_ref() != Some(outputs) {
            return Err(format!(
                "the outbox of key group {group} holds batch {batch}, which was not stored so"
            ));
        }
    }
    if !row.outbox.iter().is_sorted_by(|a, b| a.0 < b.0) {
        return Err(format!("the outbox of key group {group} does not rise"));
    }
    for Applied { batch, events, .. } in row.applied.iter().filter(|applied| applied.batch > progress) {
        if !outputs_of(events).is_empty() && !row.outbox.iter().any(|(number, _)| number == batch) {
            return Err(format!(
                "key group {group}: the outputs of batch {batch} are neither in Kafka (progress {progress}) nor in the outbox"
            ));
        }
    }
    Ok(())
}

fn frontier(plan: &Plan, world: &World, outputs: &[Vec<Event>]) -> Result<(), String> {
    for event in &plan.events {
        if event.offset >= world.database.frontier[usize::from(event.partition)] {
            continue;
        }
        let group = usize::from(event.group);
        let row = &world.database.rows[group];
        let stored = row.applied.iter().find(|applied| applied.events.contains(event));
        let was_parked = stored.is_some_and(|applied| applied.is_retry);
        let is_sent = event.silent || outputs[group].contains(event) || was_parked;
        if !row.parked.contains(event) && (stored.is_none() || !is_sent) {
            return Err(format!(
                "the frontier of partition {} has passed event {}, which is {}",
                event.partition,
                name(event),
                if stored.is_some() { "not in Kafka" } else { "not stored" }
            ));
        }
    }
    Ok(())
}

fn machines(world: &World) -> Result<(), String> {
    for run in world.runs.iter().flatten() {
        for (number, worker) in run.workers.iter().enumerate() {
            if let Worker::Running(running) = &**worker {
                let checked = running.gate.check().and_then(|()| running.sink.check());
                let who = format!("run {}, worker {number}", run.number);
                checked.map_err(|halt| format!("{who}: {halt}"))?;
                knows_parked(world, running).map_err(|what| format!("{who}: {what}"))?;
            }
        }
    }
    Ok(())
}

fn knows_parked(world: &World, running: &Running) -> Result<(), String> {
    let in_doubt = |lane: &Lane| matches!(lane, Lane::InDoubt | Lane::Settle(_));
    let (database, claims) = (&world.database, &running.claims);
    if running.lanes.iter().any(in_doubt)
        || !database.owns(claims)
        || claims.iter().any(|(group, _)| database.is_locked(*group))
    {
        return Ok(());
    }
    let parked: usize = claims.iter().map(|(group, _)| database.rows[index(*group)].keys.len()).sum();
    if running.gate.parked() == parked {
        return Ok(());
    }
    Err(format!("the gate holds {} keys for parked, and the ledger {parked}", running.gate.parked()))
}

/// An event as histories name it: key group, partition and offset.
pub fn name(event: &Event) -> String {
    let index = if event.index > 0 { format!("+{}", event.index) } else { String::new() };
    let key = event.key.map(|key| format!(" key {key}")).unwrap_or_default();
    format!("g{}@{}:{}{index}{key}", event.group, event.partition, event.offset)
}

pub fn names(events: &[Event]) -> String {
    let list: Vec<String> = events.iter().map(name).collect();
    format!("[{}]", list.join(", "))
}
