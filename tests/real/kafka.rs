//! Kafka as the tests use it: topics, one fast producer, reading committed records to the end, positions.

use super::wait::wait_for;
use rdkafka::admin::{AdminClient, AdminOptions, AlterConfig, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::BorrowedMessage;
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(30);

/// A client's options with the broker filled in.
#[allow(clippy::disallowed_methods, reason = "the tests' clients are not the product's")]
pub fn client(kafka: &str) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("bootstrap.servers", kafka).set("reconnect.backoff.max.ms", "500");
    config.set_log_level(rdkafka::config::RDKafkaLogLevel::Emerg);
    config
}

/// Creates topics of `partitions` partitions each.
pub fn create_topics(kafka: &str, names: &[&str], partitions: i32) {
    let (admin, options) = admin(kafka);
    let topics: Vec<_> =
        names.iter().map(|name| NewTopic::new(name, partitions, TopicReplication::Fixed(1))).collect();
    let results = runtime().block_on(admin.create_topics(&topics, &options)).expect("the broker answers");
    for result in results {
        result.unwrap_or_else(|(topic, code)| panic!("topic {topic} was not created: {code}"));
    }
    // The controller has made them; the broker hears of it a moment later.
    let client = admin.inner();
    wait_for("the new topics to be known and to have leaders", DEADLINE, || {
        let known = |name: &&str| {
            let found = client.fetch_metadata(Some(*name), DEADLINE).ok()?;
            let topic = found.topics().iter().find(|topic| topic.name() == *name)?;
            let led = topic.partitions().iter().filter(|partition| partition.leader() >= 0).count();
            (led as i32 == partitions).then_some(())
        };
        names.iter().all(|name| known(name).is_some()).then_some(())
    });
}

/// Creates a topic of one partition; `false`: the name is not free yet.
pub fn try_create_topic(kafka: &str, name: &str) -> bool {
    let (admin, options) = admin(kafka);
    let topic = NewTopic::new(name, 1, TopicReplication::Fixed(1));
    let results = runtime().block_on(admin.create_topics([&topic], &options)).expect("the broker answers");
    results[0].is_ok()
}

/// Deletes topics; one that the broker cannot delete now stays.
pub fn delete_topics(kafka: &str, names: &[&str]) {
    let (admin, options) = admin(kafka);
    runtime().block_on(admin.delete_topics(names, &options)).ok();
}

/// Gives a topic a setting.
pub fn set_topic(kafka: &str, topic: &str, name: &str, value: &str) {
    let (admin, options) = admin(kafka);
    let change = AlterConfig::new(ResourceSpecifier::Topic(topic)).set(name, value);
    let results = runtime().block_on(admin.alter_configs([&change], &options)).expect("the broker answers");
    for result in results {
        result.unwrap_or_else(|(_, code)| panic!("{name} of topic {topic} was not set: {code}"));
    }
}

/// Lets a topic's first partition begin at this offset, as retention does.
pub fn delete_records_before(kafka: &str, topic: &str, offset: i64) {
    let (admin, options) = admin(kafka);
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(topic, 0, Offset::Offset(offset)).expect("a good offset");
    runtime().block_on(admin.delete_records(&list, &options)).expect("the records are deleted");
}

fn admin(kafka: &str) -> (AdminClient<DefaultClientContext>, AdminOptions) {
    let admin = client(kafka).create().expect("an admin client");
    let ten_seconds = Some(Duration::from_secs(10));
    (admin, AdminOptions::new().operation_timeout(ten_seconds).request_timeout(ten_seconds))
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime")
}

/// Asks for ends and positions of one topic.
pub struct Positions {
    consumer: BaseConsumer,
    topic: String,
    partitions: i32,
}

impl Positions {
    /// `isolation`: `read_committed` (ends are last stable offsets) or `read_uncommitted` (high watermarks).
    pub fn new(kafka: &str, topic: &str, partitions: i32, group: &str, isolation: &str) -> Positions {
        let mut config = client(kafka);
        config.set("group.id", group).set("isolation.level", isolation).set("enable.auto.commit", "false");
        Positions { consumer: config.create().expect("a consumer"), topic: topic.to_owned(), partitions }
    }

    /// The ends of all partitions, or `None` when the broker does not answer in time.
    pub fn ends(&self, deadline: Duration) -> Option<Vec<i64>> {
        let end = |p| self.consumer.fetch_watermarks(&self.topic, p, deadline).ok().map(|(_, high)| high);
        let ends: Option<Vec<_>> = (0..self.partitions).map(end).collect();
        if ends.is_none() {
            // A partition that had no leader when it was asked for is remembered so until the metadata are read again.
            self.consumer.fetch_metadata(Some(&self.topic), deadline).ok();
        }
        ends
    }

    /// What the group has committed; -1 where it has not.
    pub fn committed(&self) -> Vec<i64> {
        let mut list = TopicPartitionList::new();
        for partition in 0..self.partitions {
            list.add_partition(&self.topic, partition);
        }
        let committed = self.consumer.committed_offsets(list, DEADLINE).expect("the broker answers");
        let offset = |p| match committed.find_partition(&self.topic, p).map(|found| found.offset()) {
            Some(Offset::Offset(offset)) => offset,
            _ => -1,
        };
        (0..self.partitions).map(offset).collect()
    }
}

/// Gives every committed record of a topic to `take`, partition by partition in order, up to where the topic ends now.
///
/// # Panics
/// When the end is not reached in time: a transaction that nobody ended holds it back.
pub fn read_committed(kafka: &str, topic: &str, partitions: i32, mut take: impl FnMut(&BorrowedMessage<'_>)) {
    let ends = Positions::new(kafka, topic, partitions, "tests", "read_uncommitted")
        .ends(DEADLINE)
        .unwrap_or_else(|| panic!("the broker does not tell where {topic} ends"));
    let mut config = client(kafka);
    config
        .set("group.id", "tests")
        .set("isolation.level", "read_committed")
        .set("enable.auto.commit", "false")
        .set("enable.partition.eof", "true")
        .set("fetch.queue.backoff.ms", "5")
        .set("queued.max.messages.kbytes", "16384");
    let consumer: BaseConsumer = config.create().expect("a consumer");
    let mut list = TopicPartitionList::new();
    for partition in 0..partitions {
        list.add_partition_offset(topic, partition, Offset::Offset(0)).expect("a good offset");
    }
    consumer.assign(&list).expect("assigned");

    let mut progress = Instant::now();
    loop {
        match consumer.poll(Duration::from_millis(100)) {
            Some(Ok(message)) => {
                assert_eq!(message.topic(), topic);
                take(&message);
                progress = Instant::now();
            }
            // The end of a partition, for now: the position tells whether it is the end that counts.
            Some(Err(rdkafka::error::KafkaError::PartitionEOF(_))) | None => {
                if reached(&consumer, topic, &ends) {
                    return;
                }
                let waited = progress.elapsed();
                assert!(
                    waited < DEADLINE,
                    "nothing new in {topic} for {waited:?}, and its ends {ends:?} are not reached: is a \
                     transaction still open?"
                );
            }
            Some(Err(error)) => panic!("reading {topic}: {error}"),
        }
    }
}

/// Positions step over control records and aborted ones; an empty partition has none.
fn reached(consumer: &BaseConsumer, topic: &str, ends: &[i64]) -> bool {
    let position = consumer.position().expect("positions are known locally");
    let at = |p: i32| match position.find_partition(topic, p).map(|found| found.offset()) {
        Some(Offset::Offset(offset)) => offset,
        _ => 0,
    };
    (0..).zip(ends).all(|(p, end)| at(p) >= *end)
}
