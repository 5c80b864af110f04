//! Plan: the small job that is played, and how much may go wrong.
//!
//! Not here:  what can happen (`step`)

use crate::broken::Broken;
use tidegate::model::{Coordinates, KeyGroup, KeyId, Offset, Place, TopicPartition};
use tidegate::protocol::gate::Item;

/// Key groups, and so transactional ids, of every plan.
pub const GROUPS: usize = 2;

/// An event: small, and everything that is asked of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Event {
    /// Its number in the plan.
    pub id: u8,
    pub partition: u8,
    pub offset: u8,
    /// Its place among its record's events.
    pub index: u8,
    pub last_of_record: bool,
    pub group: u8,
    /// It is stored and sends nothing.
    pub silent: bool,
    /// Its ordering key, of those of its key group. None: it can neither be parked nor wait.
    pub key: Option<char>,
    pub refused: Refused,
}

/// Whether the database refuses an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refused {
    Never,
    /// Until somebody mends the world.
    UntilMended,
    Always,
}

impl Item for Event {
    fn at(&self) -> Coordinates {
        Coordinates {
            at: partition(self.partition),
            offset: Offset(i64::from(self.offset)),
            index: u32::from(self.index),
        }
    }
    fn place_behind(&self) -> Place {
        Place::behind(self.at(), self.last_of_record)
    }
    fn group(&self) -> KeyGroup {
        KeyGroup(u32::from(self.group))
    }
    fn key(&self) -> Option<KeyId> {
        self.key.map(key_id)
    }
    fn weight_bytes(&self) -> usize {
        1
    }
}

/// A key as the gate has it.
pub fn key_id(key: char) -> KeyId {
    KeyId(u128::from(u32::from(key)))
}

/// The one topic's partition.
pub fn partition(partition: u8) -> TopicPartition {
    TopicPartition { topic: 0, partition: i32::from(partition) }
}

/// How much may still go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Lost answers, lost connections, refusals, time-outs.
    pub faults: u8,
    /// Crashes of a run.
    pub crashes: u8,
    /// Runs that start while another one lives.
    pub overlaps: u8,
    /// Marks of a person who has mended nothing.
    pub marks: u8,
}

/// A plan.
#[derive(Clone, Debug)]
pub struct Plan {
    pub name: &'static str,
    /// In order of partition, offset and index.
    pub events: Vec<Event>,
    /// Workers of the first run, the second, ...; the last one holds for all that follow.
    pub workers: Vec<usize>,
    /// Database connections of each worker.
    pub lanes: usize,
    /// Events of one database transaction.
    pub events_max: usize,
    /// Fewer events than this wait for a transaction that is soon through.
    pub beside_min: usize,
    /// Parked events that one batch of a pass takes out of the ledger.
    pub retry_rows: usize,
    /// Somebody mends what makes the database refuse events, sooner or later, and marks what is parked.
    pub mends: bool,
    /// The first run has started already: what it met at its start is not played.
    pub first_is_running: bool,
    pub budget: Budget,
    /// What is wrong with the protocol.
    pub broken: Option<Broken>,
}

impl Plan {
    /// One worker, one connection, one event a transaction, and nothing goes wrong.
    pub fn plain(name: &'static str, lines: &[&str]) -> Plan {
        Plan {
            name,
            events: events(lines),
            workers: vec![1],
            lanes: 1,
            events_max: 1,
            beside_min: 1,
            retry_rows: 1,
            mends: false,
            first_is_running: true,
            budget: Budget { faults: 0, crashes: 0, overlaps: 0, marks: 0 },
            broken: None,
        }
    }

    /// Workers of the run with this number, from 0.
    pub fn workers_of(&self, run: u8) -> usize {
        *self.workers.get(usize::from(run)).or(self.workers.last()).unwrap()
    }

    pub fn is(&self, broken: Broken) -> bool {
        self.broken == Some(broken)
    }

    pub fn partitions(&self) -> u8 {
        self.events.iter().map(|e| e.partition + 1).max().unwrap_or(0)
    }

    /// The events of one partition for one key group, in order: what arrives first in, first out.
    pub fn stream(&self, stream: u8) -> impl Iterator<Item = Event> + '_ {
        let (partition, group) = (stream / GROUPS as u8, stream % GROUPS as u8);
        self.events.iter().copied().filter(move |e| e.partition == partition && e.group == group)
    }

    pub fn streams(&self) -> u8 {
        self.partitions() * GROUPS as u8
    }

    /// Behind the last record of a partition.
    pub fn end(&self, partition: u8) -> u8 {
        let of = self.events.iter().filter(|e| e.partition == partition);
        of.map(|e| e.offset + 1).max().unwrap_or(0)
    }
}

/// Events from lines of `partition offset group`; behind that `silent`, `+` (the record goes on with the next line), `key=a`,
/// `bad` (refused until the world is mended) or `never` (refused always).
pub fn events(lines: &[&str]) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |i: usize| words[i].parse::<u8>().unwrap();
        let index = match events.last() {
            Some(last) if !last.last_of_record => last.index + 1,
            _ => 0,
        };
        events.push(Event {
            id: events.len() as u8,
            partition: number(0),
            offset: number(1),
            index,
            last_of_record: !words.contains(&"+"),
            group: number(2),
            silent: words.contains(&"silent"),
            key: words.iter().find_map(|word| word.strip_prefix("key=")?.chars().next()),
            refused: match (words.contains(&"bad"), words.contains(&"never")) {
                (false, false) => Refused::Never,
                (true, _) => Refused::UntilMended,
                (_, true) => Refused::Always,
            },
        });
    }
    events
}
