//! Output: what came out, as a read-committed reader sees it.
//!
//! In:        an output topic     Out: when the broker took each record, and a number for all their bytes and each key's order
//! Not here:  who made them

use crate::expected::Chains;
use crate::world::World;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::error::KafkaError;
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use std::time::{Duration, Instant};

/// All records of a topic.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// The broker's time of each, in ms since 1970, in order.
    pub(crate) at_ms: Vec<i64>,
    /// A number for keys, values and the order within each key.
    pub(crate) digest: u64,
}

impl Read {
    /// When this share of the records was there.
    pub(crate) fn moment(&self, share: f64) -> f64 {
        let last = self.at_ms.len().saturating_sub(1);
        let place = (last as f64 * share) as usize;
        self.at_ms.get(place).copied().unwrap_or(0) as f64
    }

    /// Those that came at that time or behind it.
    pub(crate) fn since(&self, at_ms: f64) -> Read {
        let at_ms = self.at_ms.iter().copied().filter(|at| *at as f64 >= at_ms).collect();
        Read { at_ms, digest: 0 }
    }

    /// Events a second between 10 and 90 % of them.
    pub(crate) fn rate(&self) -> f64 {
        0.8 * self.at_ms.len() as f64 / ((self.moment(0.9) - self.moment(0.1)) / 1e3).max(1e-3)
    }
}

/// A read-committed reader of a topic, from its start.
#[allow(clippy::disallowed_methods, reason = "a bench brings its own clients")]
pub(crate) fn reader(world: &World, topic: &str, partitions: i32, from: Offset) -> BaseConsumer {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", &world.kafka)
        .set("group.id", "bench-reader")
        .set("enable.auto.commit", "false")
        .set("isolation.level", "read_committed")
        .set("enable.partition.eof", "true")
        .set("fetch.wait.max.ms", "100")
        .set("queued.max.messages.kbytes", "16384")
        .set("log_level", "3")
        .create()
        .expect("a consumer");
    let mut list = TopicPartitionList::new();
    for partition in 0..partitions {
        list.add_partition_offset(topic, partition, from).expect("a partition");
    }
    consumer.assign(&list).expect("an assignment");
    consumer
}

/// Everything that is in a topic now.
pub(crate) fn read(world: &World, topic: &str, partitions: i32) -> Read {
    let consumer = reader(world, topic, partitions, Offset::Beginning);
    let (mut read, mut chains, mut ended) = (Read::default(), Chains::default(), 0);
    while ended < partitions {
        match consumer.poll(Duration::from_secs(10)) {
            Some(Ok(message)) => {
                read.at_ms.push(message.timestamp().to_millis().unwrap_or(0));
                chains.add(message.key().unwrap_or_default(), message.payload().unwrap_or_default());
            }
            Some(Err(KafkaError::PartitionEOF(_))) => ended += 1,
            Some(Err(error)) => panic!("{topic}: {error}"),
            None => panic!("{topic}: the broker says nothing"),
        }
    }
    read.at_ms.sort_unstable();
    read.digest = chains.digest();
    read
}

/// How far a consumer group has come.
pub(crate) struct Positions {
    consumer: BaseConsumer,
    list: TopicPartitionList,
}

impl Positions {
    #[allow(clippy::disallowed_methods, reason = "a bench brings its own clients")]
    pub(crate) fn of(world: &World, group: &str, topic: &str, partitions: i32) -> Positions {
        let consumer: BaseConsumer = ClientConfig::new()
            .set("bootstrap.servers", &world.kafka)
            .set("group.id", group)
            .set("enable.auto.commit", "false")
            .set("log_level", "3")
            .create()
            .expect("a consumer");
        let mut list = TopicPartitionList::new();
        (0..partitions).for_each(|partition| _ = list.add_partition(topic, partition));
        Positions { consumer, list }
    }

    /// Records that the group is through with.
    pub(crate) fn passed(&self) -> u64 {
        let found = self.consumer.committed_offsets(self.list.clone(), Duration::from_secs(10));
        let found = found.expect("the group's positions");
        let offsets = found.elements().into_iter().filter_map(|each| each.offset().to_raw());
        offsets.filter_map(|offset| u64::try_from(offset).ok()).sum()
    }

    /// Waits until the group is through with so many.
    pub(crate) fn wait(&self, records: u64, limit: Duration) {
        let begun = Instant::now();
        while self.passed() < records {
            assert!(begun.elapsed() < limit, "{} of {records} within {limit:?}", self.passed());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
