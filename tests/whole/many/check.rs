//! What is left behind, held against what went in: rows of each table, outputs of each topic, dead letters, and their order.

use super::super::check::{leftovers, source_of, text_of};
use super::super::world::{DEAD, OUTPUT, REFUSED, World};
use super::input::{Event, Sent, What};
use super::{EXTRA, ManyInput};
use std::collections::BTreeMap;
use std::fmt::Debug;
use tidegate::job::RejectRule;
use tidegate::model::{Record, Value};
use tidegate::testing::Committed;

type Row = Vec<Value>;

/// Everything that is wrong.
pub fn check(world: &World, input: &ManyInput) -> Vec<String> {
    let mut wrong = Vec::new();
    let parked = world.parked();
    if !parked.is_empty() {
        wrong.push(format!("{} keys are still parked", parked.len()));
    }
    let refuses = matches!(world.refused, Some(RejectRule::DeadLetter | RejectRule::Discard));
    let is_refused =
        |sent: &Sent| matches!(&sent.what, What::Document(event) if refuses && event.number == REFUSED);
    let (aside, handled): (Vec<&Sent>, Vec<&Sent>) = input.sent.iter().partition(|sent| is_refused(sent));
    let letters = |sent: &&&Sent| match sent.what {
        What::Unreadable => true,
        _ => world.refused == Some(RejectRule::DeadLetter) && is_refused(sent),
    };
    let letters: Vec<&Sent> = aside.iter().chain(&handled).filter(letters).copied().collect();

    tables(world, &handled, &mut wrong);
    let of_main = handled.iter().filter(|sent| sent.what != What::Unreadable);
    let papers = handled.iter().filter_map(|sent| paper(sent));
    topic(world, OUTPUT, of_main.map(|sent| main(sent)).chain(papers).collect(), &mut wrong);
    for name in EXTRA {
        topic(world, name, handled.iter().filter_map(|sent| extra(sent, name)).collect(), &mut wrong);
    }
    let found = world.broker.committed(DEAD);
    let letter = |record: &Record| (source_of(record), header(record, "tidegate-event"));
    let wanted = letters.iter().map(|sent| {
        let index = sent.source.split('/').nth(3).unwrap_or("0").to_owned();
        (sent.source.clone(), sent.of_several.then_some(index))
    });
    same(DEAD, wanted.collect(), found.iter().map(|c| letter(&c.record)).collect(), &mut wrong);
    leftovers(world, &mut wrong);
    wrong
}

/// The same, in any order.
fn same<T: Debug + Ord>(what: &str, mut wanted: Vec<T>, mut found: Vec<T>, wrong: &mut Vec<String>) {
    wanted.sort();
    found.sort();
    let count = |list: &[T], one: &T| list.iter().filter(|other| *other == one).count();
    for one in &wanted {
        let times = count(&found, one);
        if times != count(&wanted, one) {
            wrong.push(format!("{what}: {one:?} is there {times} times"));
        }
    }
    for one in found.iter().filter(|one| count(&wanted, one) == 0) {
        wrong.push(format!("{what}: {one:?} was never sent"));
    }
}

// ---- the database

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn name_of(event: &Event) -> Option<String> {
    let is_known = event.key.trim_start_matches('k').parse::<u64>().unwrap().is_multiple_of(2);
    (event.to.is_some() && is_known).then(|| format!("name of {}", event.key))
}

fn tables(world: &World, handled: &[&Sent], wrong: &mut Vec<String>) {
    let mut wanted: BTreeMap<usize, Vec<Row>> = BTreeMap::new();
    for sent in handled {
        match &sent.what {
            What::Unreadable => {}
            What::Tombstone { key, number } => {
                wanted.entry(4).or_default().push(vec![text(key), Value::Int(*number)]);
            }
            What::Document(event) => rows_of(sent, event, &mut wanted),
        }
    }
    let mut found: BTreeMap<usize, Vec<Row>> = BTreeMap::new();
    let stored = world.tables().rows;
    stored.iter().for_each(|row| found.entry(row.step).or_default().push(row.row.clone()));
    for step in 1..=4 {
        let shown = |rows: Option<Vec<Row>>| -> Vec<String> {
            rows.unwrap_or_default().iter().map(|row| format!("{row:?}")).collect()
        };
        same(&format!("step {step}"), shown(wanted.remove(&step)), shown(found.remove(&step)), wrong);
    }
    // Table by table: which of two tables a transaction writes to first is nobody's to see.
    for step in [1, 4] {
        let of_keys = stored.iter().filter(|row| row.step == step);
        in_order(&format!("database, step {step}"), of_keys.map(|row| numbered(&row.row)), wrong);
    }
    let of_lines = stored.iter().filter(|row| row.step == 2);
    in_order("lines", of_lines.map(|row| (format!("{:?}", &row.row[..2]), int(&row.row[3]))), wrong);
}

fn int(value: &Value) -> i64 {
    match value {
        Value::Int(number) => *number,
        other => panic!("a number was stored as {other:?}"),
    }
}

fn numbered(row: &Row) -> (String, i64) {
    let key = match &row[0] {
        Value::Text(key) => key.clone(),
        other => panic!("a key was stored as {other:?}"),
    };
    (key, int(&row[1]))
}

fn rows_of(sent: &Sent, event: &Event, wanted: &mut BTreeMap<usize, Vec<Row>>) {
    let own = [text(&event.key), Value::Int(event.number)];
    let place: Vec<&str> = sent.source.split('/').collect();
    let number = |text: &str| Value::Int(text.parse().unwrap());
    let name = name_of(event).map_or(Value::Null, Value::Text);
    let rest = [name, text(place[0]), number(place[1]), number(place[2])];
    wanted.entry(1).or_default().push([&own[..], &rest[..]].concat());
    for (outer, (line, parts)) in (1..).zip(&event.lines) {
        let row = [&own[..], &[text(line), Value::Int(outer)]].concat();
        wanted.entry(2).or_default().push(row.clone());
        for (inner, w) in (1..).zip(parts).filter(|(_, w)| **w != 0) {
            let row = [&row[..], &[Value::Int(inner), Value::Int(*w)]].concat();
            wanted.entry(3).or_default().push(row);
        }
    }
}

fn in_order(place: &str, events: impl Iterator<Item = (String, i64)>, wrong: &mut Vec<String>) {
    let mut last: BTreeMap<String, i64> = BTreeMap::new();
    for (key, number) in events {
        let before = last.insert(key.clone(), number).unwrap_or(0);
        if number < before {
            wrong.push(format!("{place}: {key} number {number} comes behind number {before}"));
        }
    }
}

// ---- the topics

/// Source, output, key and value of a record.
type Shape = (String, Option<String>, String, Option<String>);

fn main(sent: &Sent) -> Shape {
    match &sent.what {
        What::Document(event) => {
            let name = name_of(event);
            let name = name.map_or("<name/>".to_owned(), |name| format!("<name>{name}</name>"));
            let value = event.text(&format!("<b>{name}</b>"));
            (sent.source.clone(), Some("main".to_owned()), event.key.clone(), Some(value))
        }
        What::Tombstone { key, .. } => (sent.source.clone(), Some("3".to_owned()), key.clone(), None),
        What::Unreadable => panic!("it has no output"),
    }
}

fn extra(sent: &Sent, topic: &str) -> Option<Shape> {
    let What::Document(event) = &sent.what else { return None };
    let output = Some("extra".to_owned());
    let document = Some(event.document.clone());
    (event.to == Some(topic)).then(|| (sent.source.clone(), output, event.key.clone(), document))
}

fn paper(sent: &Sent) -> Option<Shape> {
    let What::Document(event) = &sent.what else { return None };
    event.to?;
    let part = |w: &i64| format!("<p>{w}</p>");
    let line = |(index, (v, parts)): (usize, &(String, Vec<i64>))| {
        format!(r#"<l i="{}" v="{v}">{}</l>"#, index + 1, parts.iter().map(part).collect::<String>())
    };
    let lines: String = event.lines.iter().enumerate().map(line).collect();
    let from = sent.source.split('/').next().unwrap_or_default();
    let name = name_of(event).unwrap_or_default();
    let Event { key, number, .. } = event;
    let value = format!(r#"<paper key="{key}" n="{number}" from="{from}" trace="t">{lines}{name}</paper>"#);
    Some((sent.source.clone(), Some("paper".to_owned()), key.clone(), Some(value)))
}

fn topic(world: &World, name: &str, wanted: Vec<Shape>, wrong: &mut Vec<String>) {
    let committed: Vec<Committed> = world.broker.committed(name);
    let found = committed.iter().map(|c| shape(&c.record));
    same(name, wanted, found.collect(), wrong);
    let mut by_partition: BTreeMap<i32, Vec<(String, i64)>> = BTreeMap::new();
    for Committed { partition, record, .. } in &committed {
        by_partition.entry(*partition).or_default().push(place_of(world, record));
    }
    in_order(name, by_partition.into_values().flatten(), wrong);
}

fn shape(record: &Record) -> Shape {
    let key = String::from_utf8(record.key.as_ref().expect("a key").to_vec()).unwrap();
    let value = record.value.as_ref().map(|_| text_of(record));
    (source_of(record), header(record, "tidegate-output"), key, value)
}

/// The key and number of a record's event.
fn place_of(world: &World, record: &Record) -> (String, i64) {
    let source = source_of(record);
    let input = world.many.as_ref().expect("this is a world of many");
    match input.sent.iter().find(|sent| sent.source == source).map(|sent| &sent.what) {
        Some(What::Document(event)) => (event.key.clone(), event.number),
        Some(What::Tombstone { key, number }) => (key.clone(), *number),
        Some(What::Unreadable) | None => ("?".to_owned(), 0),
    }
}

pub fn header(record: &Record, name: &str) -> Option<String> {
    let (_, value) = record.headers.iter().rev().find(|(found, _)| found == name)?;
    Some(String::from_utf8(value.as_ref()?.to_vec()).unwrap())
}
