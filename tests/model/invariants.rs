//! What must hold in every state.
//!
//! - applied: per partition and key group, the events of the user's table are the first ones of the input, each once;
//! - sent: the outputs of a key group are those of its batches up to the one in the progress topic, in that order, each once;
//! - outbox: it holds every batch with outputs that Kafka has not committed, and no batch that was not stored;
//! - frontier: everything before it is stored and, if it sends something, committed in Kafka. (A start that leaves
//!   batches in the outbox could go further; this protocol never does, since a start sends them before it reads.)
//! - the machines' own books are in order (`Gate::check`, `Sink::check`).
//!
//! That batch numbers rise by one and positions never go back is checked where they are written (`database`).

use crate::database::{Row, outputs_of};
use crate::plan::{Event, GROUPS, Plan};
use crate::run::Worker;
use crate::world::World;
use tidegate::model::BatchNumber;

pub fn check(plan: &Plan, world: &World) -> Result<(), String> {
    let truth = world.kafka.truth();
    let (outputs, progress) = (&truth.outputs, &truth.progress);
    for group in 0..GROUPS {
        let row = &world.database.rows[group];
        applied(plan, group, row)?;
        sent(group, row, &outputs[group], progress[group])?;
        outbox(group, row, progress[group])?;
    }
    frontier(plan, world, outputs)?;
    machines(world)
}

fn applied(plan: &Plan, group: usize, row: &Row) -> Result<(), String> {
    for partition in 0..plan.partitions() {
        let stream = partition * GROUPS as u8 + group as u8;
        let all = row.applied.iter().flat_map(|(_, events)| events.iter().copied());
        let found = all.filter(|e| e.partition == partition);
        if found.clone().count() > plan.stream(stream).count()
            || !plan.stream(stream).zip(found.clone()).all(|(a, b)| a == b)
        {
            let found: Vec<Event> = found.collect();
            let wanted: Vec<Event> = plan.stream(stream).take(found.len()).collect();
            return Err(format!(
                "the database has of partition {partition}, key group {group}: {}, and should have {}",
                names(&found),
                names(&wanted)
            ));
        }
    }
    Ok(())
}

fn sent(group: usize, row: &Row, outputs: &[Event], progress: BatchNumber) -> Result<(), String> {
    let batches = row.applied.iter().filter(|(batch, _)| *batch <= progress);
    let wanted = batches.flat_map(|(_, events)| events.iter().copied().filter(|e| !e.silent));
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
    let stored = |batch: &BatchNumber| row.applied.iter().find(|(number, _)| number == batch);
    for (batch, outputs) in &row.outbox {
        if stored(batch).map(|(_, events)| outputs_of(events)).as_ref() != Some(outputs) {
            return Err(format!(
                "the outbox of key group {group} holds batch {batch}, which was not stored so"
            ));
        }
    }
    if !row.outbox.iter().is_sorted_by(|a, b| a.0 < b.0) {
        return Err(format!("the outbox of key group {group} does not rise"));
    }
    for (batch, events) in row.applied.iter().filter(|(batch, _)| *batch > progress) {
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
        let is_stored = world.database.rows[group].applied.iter().any(|(_, events)| events.contains(event));
        let is_sent = event.silent || outputs[group].contains(event);
        if !is_stored || !is_sent {
            return Err(format!(
                "the frontier of partition {} has passed event {}, which is {}",
                event.partition,
                name(event),
                if is_stored { "not in Kafka" } else { "not stored" }
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
                checked.map_err(|halt| format!("run {}, worker {number}: {halt}", run.number))?;
            }
        }
    }
    Ok(())
}

/// An event as histories name it: key group, partition and offset.
pub fn name(event: &Event) -> String {
    let index = if event.index > 0 { format!("+{}", event.index) } else { String::new() };
    format!("g{}@{}:{}{index}", event.group, event.partition, event.offset)
}

pub fn names(events: &[Event]) -> String {
    let list: Vec<String> = events.iter().map(name).collect();
    format!("[{}]", list.join(", "))
}
