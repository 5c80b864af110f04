//! Check: what is left behind, held against what went in.

use super::input::Sent;
use super::world::{DEAD, OUTPUT, REFUSED, World};
use std::collections::BTreeMap;
use tidegate::job::RejectRule;
use tidegate::model::{Record, Value};

/// Everything that is wrong.
pub fn check(world: &World) -> Vec<String> {
    if let Some(many) = &world.many {
        return super::many::check(world, many);
    }
    let mut wrong = Vec::new();
    let sent = &world.input.sent;
    // A parked one is stored in the end: somebody mends the schema.
    let is_aside = |sent: &&Sent| {
        let aside = matches!(world.refused, Some(RejectRule::DeadLetter | RejectRule::Discard));
        aside && sent.event.as_ref().is_some_and(|(_, number)| *number == REFUSED)
    };
    let readable: Vec<&Sent> = sent.iter().filter(|s| s.event.is_some() && !is_aside(s)).collect();
    let letters_of =
        |s: &&Sent| s.event.is_none() || world.refused == Some(RejectRule::DeadLetter) && is_aside(s);
    let unreadable: Vec<&Sent> = sent.iter().filter(letters_of).collect();
    let parked = world.parked();
    if !parked.is_empty() {
        wrong.push(format!("{} keys are still parked", parked.len()));
    }

    let stored = stored(world);
    once(&readable, stored.iter().map(|(source, _)| source), "database", &mut wrong);
    in_order(stored.iter().map(|(_, event)| event.clone()), "database", &mut wrong);

    let mut by_partition: BTreeMap<i32, Vec<Record>> = BTreeMap::new();
    for output in world.broker.committed(OUTPUT) {
        by_partition.entry(output.partition).or_default().push(output.record);
    }
    let outputs: Vec<Record> = by_partition.into_values().flatten().collect();
    let sources: Vec<String> = outputs.iter().map(source_of).collect();
    once(&readable, sources.iter(), "output", &mut wrong);
    in_order(outputs.iter().map(event_of), "output", &mut wrong);
    let contents = outputs.iter().filter(|record| !is_enriched(record));
    wrong.extend(contents.map(|record| format!("output: {} has another content", source_of(record))));

    let letters: Vec<String> = world.broker.committed(DEAD).iter().map(|c| source_of(&c.record)).collect();
    once(&unreadable, letters.iter(), "dead letters", &mut wrong);
    leftovers(world, &mut wrong);
    wrong
}

/// Source and event of each row, in the order of insertion.
fn stored(world: &World) -> Vec<(String, (String, i64))> {
    let tables = world.tables();
    let rows = tables.rows.iter().map(|stored| match stored.row.as_slice() {
        [
            Value::Text(key),
            Value::Int(number),
            _,
            Value::Text(topic),
            Value::Int(partition),
            Value::Int(offset),
        ] => (format!("{topic}/{partition}/{offset}"), (key.clone(), *number)),
        other => panic!("a row of another shape: {other:?}"),
    });
    rows.collect()
}

pub fn source_of(record: &Record) -> String {
    let header = record.headers.iter().find(|(name, _)| name == "tidegate-source");
    let value = header.and_then(|(_, value)| value.as_ref()).expect("every record names its source");
    String::from_utf8(value.to_vec()).unwrap()
}

pub fn text_of(record: &Record) -> String {
    String::from_utf8(record.value.as_ref().expect("a document").to_vec()).unwrap()
}

fn event_of(record: &Record) -> (String, i64) {
    let text = text_of(record);
    let part = |from: &str| text.split(from).nth(1).unwrap().split('"').next().unwrap().to_owned();
    (part("key=\""), part(" n=\"").parse().unwrap())
}

fn is_enriched(record: &Record) -> bool {
    let (key, number) = event_of(record);
    let name = match key.trim_start_matches('k').parse::<u64>().unwrap() % 2 {
        0 => format!("<name>name of {key}</name>"),
        _ => "<name/>".to_owned(),
    };
    let text = text_of(record);
    text == format!(r#"<e key="{key}" n="{number}"><b>{name}</b></e>"#)
}

fn once<'a>(wanted: &[&Sent], found: impl Iterator<Item = &'a String>, place: &str, wrong: &mut Vec<String>) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    found.for_each(|source| *counts.entry(source).or_default() += 1);
    for sent in wanted {
        match counts.remove(sent.source.as_str()) {
            Some(1) => {}
            None => wrong.push(format!("{place}: {sent:?} is lost")),
            Some(times) => wrong.push(format!("{place}: {sent:?} is there {times} times")),
        }
    }
    wrong.extend(counts.keys().map(|source| format!("{place}: {source} was never sent")));
}

fn in_order(events: impl Iterator<Item = (String, i64)>, place: &str, wrong: &mut Vec<String>) {
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    for (key, number) in events {
        let before = last.insert(key.clone(), number).unwrap_or(0);
        if number < before {
            wrong.push(format!("{place}: {key} number {number} comes behind number {before}"));
        }
    }
}

/// What must be over when every instance has ended.
pub fn leftovers(world: &World, wrong: &mut Vec<String>) {
    let tables = world.tables();
    for ((topic, partition), next) in &tables.frontier {
        let end = world.broker.ends(topic, *partition).map(|(_, end)| end);
        if end != Some(*next) {
            wrong.push(format!("the frontier of {topic}/{partition} is {next}, its end is {end:?}"));
        }
        let shown = world.broker.group_position(&world.setup.group_id, topic, *partition);
        if next.0 > 0 && shown.is_some_and(|shown| shown > *next) {
            wrong
                .push(format!("the group's offset of {topic}/{partition} is {shown:?}, the frontier {next}"));
        }
    }
    let locked = world.database.locked();
    if locked > 0 {
        wrong.push(format!("{locked} position rows are still locked"));
    }
    let progress = world.broker.committed(&world.setup.progress_topic);
    for row in tables.positions.values() {
        let newest =
            progress.iter().rev().find(|c| c.record.key.as_deref() == Some(row.group.to_string().as_bytes()));
        let emitted = newest.map_or(0, |c| text_of(&c.record).split(' ').next().unwrap().parse().unwrap());
        if emitted != row.output_batch.0 {
            let (group, stored) = (row.group, row.output_batch);
            wrong.push(format!("key group {group}: batch {stored} is stored, {emitted} is emitted"));
        }
    }
}
