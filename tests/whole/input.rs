//! Input: records of a few keys, each key in one partition and numbered from 1, some unreadable, some of aborted
//! transactions.

use tidegate::model::{Offset, Record};
use tidegate::testing::{Broker, Random};

/// A topic of the job and its partitions.
pub const TOPICS: [(&str, i32); 2] = [("in-a", 3), ("in-b", 2)];

/// One record that the job must handle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sent {
    /// `topic/partition/offset`
    pub source: String,
    /// None: it cannot be read.
    pub event: Option<(String, i64)>,
}

/// What was produced.
#[derive(Default)]
pub struct Input {
    pub sent: Vec<Sent>,
    numbers: std::collections::BTreeMap<u64, i64>,
}

impl Input {
    /// Produces so many records.
    pub fn produce(&mut self, broker: &Broker, random: &mut Random, keys: u64, records: usize) {
        for _ in 0..records {
            if random.chance(30) {
                let (topic, partition) = place(random.draw());
                let lost = vec![document("aborted", 0); 2];
                broker.produce_together(topic, partition, lost, false);
            }
            let key = random.below(keys);
            let (topic, partition) = place(key);
            let unreadable = random.chance(40);
            let event = (!unreadable).then(|| {
                let number = self.numbers.entry(key).or_insert(0);
                *number += 1;
                (format!("k{key}"), *number)
            });
            let record = match &event {
                Some((key, number)) => document(key, *number),
                None => Record { value: Some("<e key=".into()), ..document("", 0) },
            };
            let offset = if random.chance(100) {
                let Some((_, next)) = broker.ends(topic, partition) else { continue };
                broker.produce_together(topic, partition, vec![record], true);
                Offset(next.0)
            } else {
                broker.produce(topic, partition, record).expect("the partition is there")
            };
            self.sent.push(Sent { source: format!("{topic}/{partition}/{offset}"), event });
        }
    }
}

impl Input {
    /// Produces so many readable records of one key.
    pub fn produce_key(&mut self, broker: &Broker, key: u64, records: usize) {
        let (topic, partition) = place(key);
        for _ in 0..records {
            let number = self.numbers.entry(key).or_insert(0);
            *number += 1;
            let event = (format!("k{key}"), *number);
            let offset = broker.produce(topic, partition, document(&event.0, event.1)).expect("a partition");
            self.sent.push(Sent { source: format!("{topic}/{partition}/{offset}"), event: Some(event) });
        }
    }

    /// Produces so many readable records of keys that nobody has sent before, to a partition of the first topic that was
    /// added to it.
    pub fn produce_added(&mut self, broker: &Broker, random: &mut Random, records: usize) {
        for _ in 0..records {
            self.produce_key(broker, ADDED + 2 * random.below(3), 1);
        }
    }
}

/// From here on keys are in the partition that is added.
const ADDED: u64 = 1001;

/// The partition of a key.
fn place(key: u64) -> (&'static str, i32) {
    if key >= ADDED {
        return (TOPICS[0].0, TOPICS[0].1);
    }
    let (topic, partitions) = TOPICS[usize::try_from(key % 2).unwrap()];
    (topic, i32::try_from(key / 2 % u64::try_from(partitions).unwrap()).unwrap())
}

fn document(key: &str, number: i64) -> Record {
    Record {
        timestamp_ms: Some(1_700_000_000_000 + number),
        key: Some(key.to_owned().into()),
        headers: vec![("trace".to_owned(), Some("t".into()))],
        value: Some(format!(r#"<e key="{key}" n="{number}"><b/></e>"#).into()),
    }
}
