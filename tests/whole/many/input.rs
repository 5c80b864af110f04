//! The input: records of no events, one or many, whose keys are of one partition, each key numbered from 1.

use super::super::input::TOPICS;
use super::super::world::REFUSED;
use super::EXTRA;
use std::collections::BTreeMap;
use tidegate::model::Record;
use tidegate::testing::{Broker, Random};

/// One event that the job must handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// `topic/partition/offset[/index]`
    pub source: String,
    /// Of a record that has others, too.
    pub of_several: bool,
    pub what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    Document(Event),
    Tombstone { key: String, number: i64 },
    Unreadable,
}

/// An event of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub key: String,
    pub number: i64,
    /// It is looked up, and goes to this topic, too.
    pub to: Option<&'static str>,
    /// Of each line its text, and the numbers of its parts.
    pub lines: Vec<(String, Vec<i64>)>,
    /// The whole document that it came in.
    pub document: String,
}

/// What was produced.
#[derive(Default)]
pub struct ManyInput {
    pub sent: Vec<Sent>,
    numbers: BTreeMap<u64, i64>,
}

fn place(key: u64) -> (&'static str, i32) {
    let (topic, partitions) = TOPICS[usize::try_from(key % 2).unwrap()];
    (topic, i32::try_from(key / 2 % u64::try_from(partitions).unwrap()).unwrap())
}

impl ManyInput {
    /// Produces so many records.
    pub fn produce(&mut self, broker: &Broker, random: &mut Random, keys: u64, records: usize) {
        for _ in 0..records {
            let (topic, partition) = place(random.below(keys));
            let mine: Vec<u64> = (0..keys).filter(|key| place(*key) == (topic, partition)).collect();
            let mut number = |random: &mut Random| {
                let key = *random.pick(&mine).unwrap();
                let number = self.numbers.entry(key).or_insert(0);
                *number += 1;
                (format!("k{key}"), *number)
            };
            let mut record = Record {
                timestamp_ms: Some(1_700_000_000_000),
                key: None,
                headers: vec![("trace".to_owned(), Some("t".into()))],
                value: None,
            };
            let events: Vec<What> = match random.below(12) {
                0 => {
                    record.value = Some("<r><e key=".into());
                    vec![What::Unreadable]
                }
                1 => {
                    record.value = Some("<r><other/></r>".into());
                    Vec::new()
                }
                2 => {
                    let (key, number) = number(random);
                    record.key = Some(key.clone().into());
                    record.headers.push(("n".to_owned(), Some(number.to_string().into())));
                    vec![What::Tombstone { key, number }]
                }
                _ => {
                    let count = *random.pick(&[1, 1, 2, 3, 5, 20]).unwrap();
                    let events: Vec<Option<Event>> = (0..count)
                        .map(|_| (!random.chance(60)).then(|| event(number(random), random)))
                        .collect();
                    let document = document(&events);
                    record.value = Some(document.clone().into());
                    let what = |event: Option<Event>| match event {
                        Some(event) => What::Document(Event { document: document.clone(), ..event }),
                        None => What::Unreadable,
                    };
                    events.into_iter().map(what).collect()
                }
            };
            let offset = broker.produce(topic, partition, record).expect("the partition is there");
            let of_several = events.len() > 1;
            for (index, what) in events.into_iter().enumerate() {
                let index = if index > 0 { format!("/{index}") } else { String::new() };
                let source = format!("{topic}/{partition}/{offset}{index}");
                self.sent.push(Sent { source, of_several, what });
            }
        }
    }
}

fn event((key, number): (String, i64), random: &mut Random) -> Event {
    let line = |n: u64| {
        let parts = (0..random.below(3)).map(|_| i64::try_from(random.below(3)).unwrap()).collect();
        (format!("line {n}"), parts)
    };
    let mut lines: Vec<(String, Vec<i64>)> = (0..3).map(line).collect();
    lines.truncate(usize::try_from(random.below(4)).unwrap());
    if number == REFUSED {
        lines.push(("bad".to_owned(), vec![1]));
    }
    let to = random.chance(500).then(|| *random.pick(&EXTRA).unwrap());
    Event { key, number, to, lines, document: String::new() }
}

fn document(events: &[Option<Event>]) -> String {
    let one = |event: &Option<Event>| match event {
        Some(event) => event.text("<b/>"),
        None => r#"<e key="k0"><b/></e>"#.to_owned(),
    };
    format!("<r>\n{}\n</r>", events.iter().map(one).collect::<Vec<_>>().join("\n"))
}

impl Event {
    /// Its element, with this in the place of `b`.
    pub fn text(&self, b: &str) -> String {
        let to = self.to.map_or(String::new(), |to| format!(r#" x="yes" to="{to}""#));
        let parts = |parts: &[i64]| parts.iter().map(|w| format!(r#"<p w="{w}"/>"#)).collect::<String>();
        let line = |(v, inner): &(String, Vec<i64>)| format!(r#"<l v="{v}">{}</l>"#, parts(inner));
        let lines: String = self.lines.iter().map(line).collect();
        format!(r#"<e key="{}" n="{}"{to}>{b}{lines}</e>"#, self.key, self.number)
    }
}
