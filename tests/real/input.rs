//! Filling a topic: records of a plan with keys, headers and timestamps, as fast as the broker takes them.

use super::kafka;
use super::order::Order;
use super::plan::{PARTITIONS, Plan, Size, Slot};
use super::services::Services;
use super::unreadable;
use super::wait::report;
use rdkafka::ClientContext;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{DeliveryResult, Header, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer, ProducerContext};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The size that the product promises.
pub const FULL: Size = Size { events: 200_000, keys: 10_000 };

/// Enough to be hit in the middle.
pub const SMALL: Size = Size { events: 40_000, keys: 2_000 };

/// The timestamp that a topic's records count from, if it is not to be years ago: a broker that starts again forgets an
/// idempotent producer whose last record is older than a day by its timestamp, and takes what is sent again for new.
pub static FIRST_TIMESTAMP_MS: OnceLock<i64> = OnceLock::new();

/// A filled topic.
pub struct Input {
    pub topic: String,
    pub plan: Plan,
}

/// Key, headers and timestamp of a record: what must come out again beside the document.
pub struct Envelope {
    pub key: Option<Vec<u8>>,
    pub headers: Vec<(String, Option<Vec<u8>>)>,
    pub timestamp_ms: i64,
}

/// The big topic, filled by whoever comes first; jobs only read it.
pub fn full(services: &Services) -> &'static Input {
    static INPUT: OnceLock<Input> = OnceLock::new();
    INPUT.get_or_init(|| Input::fill(services, "full", FULL))
}

/// The small topic.
pub fn small(services: &Services) -> &'static Input {
    static INPUT: OnceLock<Input> = OnceLock::new();
    INPUT.get_or_init(|| Input::fill(services, "small", SMALL))
}

impl Input {
    /// Makes a topic of a name that nobody else uses, and fills it.
    pub fn fill(services: &Services, name: &str, size: Size) -> Input {
        let start = Instant::now();
        let topic = unique(name);
        kafka::create_topics(&services.kafka, &[&topic], PARTITIONS);
        let plan = Plan::new(size, 0x7164_6567_6174_6500);
        let bytes = send(services, &topic, &plan);
        report(&format!(
            "input {name}: {} events and {} unreadable records, {} MB, sent in {:.1} s",
            plan.events.len(),
            plan.unreadable.len(),
            bytes / 1_000_000,
            start.elapsed().as_secs_f64()
        ));
        let ends = kafka::Positions::new(&services.kafka, &topic, PARTITIONS, "tests", "read_committed")
            .ends(Duration::from_secs(30));
        assert_eq!(ends.as_deref(), Some(&plan.ends[..]), "the topic holds what was planned");
        Input { topic, plan }
    }

    /// `tidegate-source` of a record of this topic.
    pub fn source(&self, partition: i32, offset: i64) -> String {
        format!("{}/{partition}/{offset}", self.topic)
    }
}

/// A name with a tail of its own, so that servers may be used again and again.
pub fn unique(name: &str) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let now = std::time::UNIX_EPOCH.elapsed().expect("a clock after 1970").as_millis();
    format!("{name}_{now:x}_{count}")
}

/// The record of an event or of an unreadable record, by its number.
pub fn envelope(slot: &Slot) -> Envelope {
    let (kind, number) = match slot {
        Slot::Event(event) => ("event", event.number),
        Slot::Unreadable(unreadable) => ("unreadable", unreadable.number),
    };
    let mut headers = vec![(kind.to_owned(), Some(number.to_string().into_bytes()))];
    if number % 3 == 0 {
        // A name twice, bytes that are no text, an empty value and a null one.
        headers.push(("trace".to_owned(), Some(number.to_be_bytes().to_vec())));
        headers.push(("trace".to_owned(), Some(Vec::new())));
        headers.push(("flag".to_owned(), None));
    }
    Envelope {
        key: (number % 4 != 1).then(|| format!("{kind}-{number}").into_bytes()),
        headers,
        timestamp_ms: FIRST_TIMESTAMP_MS.get().unwrap_or(&1_700_000_000_000)
            + i64::from(number) * 7 % 100_000_000,
    }
}

/// Counts what was not delivered.
#[derive(Default)]
struct Deliveries(AtomicUsize);

impl ClientContext for Deliveries {}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = ();
    fn delivery(&self, result: &DeliveryResult<'_>, (): ()) {
        if result.is_err() {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Sends a whole plan; gives the bytes of all documents.
fn send(services: &Services, topic: &str, plan: &Plan) -> usize {
    let sender = Sender::new(services, topic, Duration::from_millis(20));
    let bytes = plan.slots.iter().map(|slot| sender.send(plan.seed, slot)).sum();
    sender.finish();
    bytes
}

/// Sends the records of a plan in their order.
pub struct Sender {
    producer: BaseProducer<Deliveries>,
    topic: String,
}

impl Sender {
    /// `linger`: how long records gather. An idempotent producer with more requests waiting than may be on their way burns a
    /// core, so whoever sends slowly for long gathers long.
    pub fn new(services: &Services, topic: &str, linger: Duration) -> Sender {
        // Idempotent: a retry must neither double nor reorder what the plan has numbered.
        let producer = kafka::client(&services.kafka)
            .set("enable.idempotence", "true")
            .set("linger.ms", linger.as_millis().to_string())
            .set("batch.size", "900000")
            .set("batch.num.messages", "10000")
            .create_with_context(Deliveries::default())
            .expect("a producer");
        Sender { producer, topic: topic.to_owned() }
    }

    /// Queues the record of a slot; gives the bytes of its document.
    pub fn send(&self, seed: u64, slot: &Slot) -> usize {
        let (partition, value) = match slot {
            Slot::Event(event) => (event.partition, Some(Order::new(seed, *event).document().into_bytes())),
            Slot::Unreadable(record) => (record.partition, unreadable::content(*record).value),
        };
        send_one(&self.producer, &self.topic, partition, value.as_deref(), &envelope(slot));
        value.map_or(0, |value| value.len())
    }

    /// Waits until everything is delivered.
    pub fn finish(self) {
        self.producer.flush(Duration::from_secs(60)).expect("all is delivered");
        assert_eq!(self.producer.context().0.load(Ordering::Relaxed), 0, "records that were not delivered");
    }
}

fn send_one(
    producer: &BaseProducer<Deliveries>,
    topic: &str,
    partition: i32,
    value: Option<&[u8]>,
    envelope: &Envelope,
) {
    let mut headers = OwnedHeaders::new_with_capacity(envelope.headers.len());
    for (key, value) in &envelope.headers {
        headers = headers.insert(Header { key, value: value.as_ref() });
    }
    let mut record = BaseRecord::<[u8], [u8]>::to(topic)
        .partition(partition)
        .timestamp(envelope.timestamp_ms)
        .headers(headers);
    if let Some(key) = &envelope.key {
        record = record.key(key);
    }
    if let Some(value) = value {
        record = record.payload(value);
    }
    loop {
        match producer.send(record) {
            Ok(()) => break,
            Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), back)) => {
                record = back;
                producer.poll(Duration::from_millis(10));
            }
            Err((error, _)) => panic!("sending to {topic}: {error}"),
        }
    }
    producer.poll(Duration::ZERO);
}
