//! Topics, records and setups for the tests.

use super::super::client;
use super::super::wait::block_on;
use super::super::{KafkaSetup, Log, ReadRecord, Reader, open, progress_topic_name};
use crate::model::{Destination, Headers, NextOffset, Outgoing, TopicPartition};
use bytes::Bytes;
use rdkafka::admin::{AdminOptions, AlterConfig, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub(in crate::kafka) const SOON: Duration = Duration::from_secs(30);

/// A name that no other test and no other run uses.
pub(super) fn fresh(what: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    format!("{what}-{now}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// A job that reads what it writes: its output topic is its input.
pub(in crate::kafka) fn setup(bootstrap_servers: &str) -> KafkaSetup {
    let job = fresh("job");
    let topic = format!("{job}-records");
    KafkaSetup {
        bootstrap_servers: bootstrap_servers.to_owned(),
        client: BTreeMap::new(),
        group_id: format!("{job}-group"),
        topics: vec![topic.clone()],
        output_topics: vec![topic],
        dead_letter_topic: Some(format!("{job}-dead")),
        progress_topic: progress_topic_name(&job),
        job,
        record_bytes_max: 4 << 20,
    }
}

/// The log of a job whose topics exist on a real broker.
pub(super) fn job(bootstrap_servers: &str, partitions: i32) -> (KafkaSetup, Arc<dyn Log>) {
    let setup = setup(bootstrap_servers);
    create_topic(&setup, &setup.topics[0], partitions);
    create_topic(&setup, setup.dead_letter_topic.as_deref().unwrap(), 1);
    let log = open(setup.clone());
    log.create_progress_topic(SOON).unwrap();
    (setup, log)
}

pub(super) fn create_topic(setup: &KafkaSetup, name: &str, partitions: i32) {
    let admin = client::admin(setup).unwrap();
    let topic = NewTopic::new(name, partitions, TopicReplication::Fixed(1));
    let results = block_on(admin.create_topics([&topic], &AdminOptions::new()), Instant::now() + SOON);
    results.expect("in time").unwrap()[0].as_ref().unwrap();
    let log = open(setup.clone());
    eventually("the new topic is known", || {
        log.partition_counts(&[name.to_owned()], SOON).unwrap() == [Some(partitions)]
    });
}

/// Deletes a topic and makes one of the same name.
pub(super) fn make_anew(setup: &KafkaSetup, name: &str) {
    let admin = client::admin(setup).unwrap();
    let gone = block_on(admin.delete_topics(&[name], &AdminOptions::new()), Instant::now() + SOON);
    gone.expect("in time").unwrap()[0].as_ref().unwrap();
    let topic = NewTopic::new(name, 1, TopicReplication::Fixed(1));
    eventually("the name is free", || {
        let made = block_on(admin.create_topics([&topic], &AdminOptions::new()), Instant::now() + SOON);
        made.expect("in time").unwrap()[0].is_ok()
    });
}

/// Sends a record with a timestamp, outside of any transaction.
#[allow(clippy::disallowed_methods, reason = "a client that is not the product's")]
pub(super) fn send_at(setup: &KafkaSetup, partition: i32, timestamp_ms: i64, text: &str) {
    let mut config = rdkafka::ClientConfig::new();
    config.set("bootstrap.servers", &setup.bootstrap_servers);
    let producer: BaseProducer = config.create().unwrap();
    let record = BaseRecord::<str, str>::to(&setup.topics[0]);
    let record = record.partition(partition).timestamp(timestamp_ms).key("k").payload(text);
    producer.send(record).map_err(|(error, _)| error).unwrap();
    producer.flush(SOON).unwrap();
}

pub(super) fn delete_records(setup: &KafkaSetup, topic: &str, partition: i32, before: i64) {
    let admin = client::admin(setup).unwrap();
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, partition, Offset::Offset(before)).unwrap();
    let results = block_on(admin.delete_records(&list, &AdminOptions::new()), Instant::now() + SOON);
    results.expect("in time").unwrap();
}

pub(in crate::kafka) fn output(key: &str, value: &str) -> Outgoing {
    Outgoing {
        to: Destination::Output(0),
        key: Some(Bytes::copy_from_slice(key.as_bytes())),
        value: Some(Bytes::copy_from_slice(value.as_bytes())),
        headers: Headers::new(),
        timestamp_ms: Some(1_700_000_000_000),
    }
}

pub(in crate::kafka) fn at(partition: i32) -> TopicPartition {
    TopicPartition { topic: 0, partition }
}

pub(super) fn from_start(log: &dyn Log) -> Box<dyn Reader> {
    log.reader(&[(at(0), NextOffset(0))]).unwrap()
}

/// Everything of partition 0 up to the end that a read-committed reader sees now.
pub(super) fn read_all(log: &dyn Log) -> Vec<ReadRecord> {
    let (_, end) = log.ends(at(0), SOON).unwrap();
    let mut reader = from_start(log);
    let mut records = Vec::new();
    if end.0 > 0 {
        eventually("the reader reaches the end", || {
            records.extend(reader.read(1000, usize::MAX, Duration::from_millis(200)).unwrap());
            reader.position(at(0)).is_some_and(|position| position >= end)
        });
    }
    records
}

pub(in crate::kafka) fn texts(records: &[ReadRecord]) -> Vec<String> {
    records
        .iter()
        .map(|record| String::from_utf8(record.record.value.clone().unwrap().to_vec()).unwrap())
        .collect()
}

/// Asks again and again until it is so.
pub(super) fn eventually(what: &str, mut so: impl FnMut() -> bool) {
    let until = Instant::now() + SOON;
    while !so() {
        assert!(Instant::now() < until, "not within {SOON:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(super) fn topic_option(setup: &KafkaSetup, topic: &str, option: &str) -> String {
    let admin = client::admin(setup).unwrap();
    let wanted = [ResourceSpecifier::Topic(topic)];
    let results = block_on(admin.describe_configs(&wanted, &AdminOptions::new()), Instant::now() + SOON);
    let resource = results.expect("in time").unwrap().remove(0).unwrap();
    resource.get(option).unwrap().value.clone().unwrap()
}

/// Gives a topic a setting, and waits until the broker has it.
pub(super) fn set_topic(setup: &KafkaSetup, topic: &str, option: &str, value: &str) {
    let admin = client::admin(setup).unwrap();
    let change = AlterConfig::new(ResourceSpecifier::Topic(topic)).set(option, value);
    let done = admin.alter_configs([&change], &AdminOptions::new());
    let done = block_on(done, Instant::now() + SOON).expect("in time").unwrap();
    assert!(done[0].is_ok(), "{done:?}");
    eventually("the option is set", || topic_option(setup, topic, option) == value);
}
