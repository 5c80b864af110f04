//! Inputs: order documents of a given size, with keys drawn by a given distribution, in a topic.
//!
//! In:        [`Input`]     Out: orders, the same ones for the same input; a topic that holds them, and what must come of it
//! Order:     by Kafka key: a partition holds all changes of an order
//! Not here:  what becomes of them (contender)

use crate::expected::{Expected, Expecting};
use crate::feed::SENT_DIGITS;
use crate::world::World;
use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::fmt::Write;
use std::time::Duration;

/// How keys are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Draw {
    /// Each as often as any other.
    Uniform,
    /// The n-th as often as 1/n.
    Zipf,
}

/// What a topic is filled with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Input {
    /// Documents.
    pub(crate) events: usize,
    /// Of each document.
    pub(crate) bytes: usize,
    /// Different order numbers.
    pub(crate) keys: usize,
    /// How they are drawn.
    pub(crate) draw: Draw,
    /// Of the topic.
    pub(crate) partitions: i32,
}

/// Customers that look-ups find.
pub(crate) const CUSTOMERS: u64 = 10_000;

/// Draws numbers and keys: xorshift, which needs no crate and gives the same ones everywhere.
pub(crate) struct Dice {
    state: u64,
    /// Per key the share of all keys up to it; empty: uniform.
    shares: Vec<f64>,
    keys: usize,
}

impl Dice {
    pub(crate) fn new(seed: u64, keys: usize, draw: Draw) -> Dice {
        let mut shares = Vec::new();
        if draw == Draw::Zipf {
            let all: f64 = (1..=keys).map(|n| 1.0 / n as f64).sum();
            let mut up_to = 0.0;
            shares = (1..=keys)
                .map(|n| {
                    up_to += 1.0 / n as f64 / all;
                    up_to
                })
                .collect();
        }
        Dice { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, shares, keys }
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % bound
    }

    fn key(&mut self) -> usize {
        if self.shares.is_empty() {
            return self.below(self.keys as u64) as usize;
        }
        let at = self.below(1 << 53) as f64 / (1_u64 << 53) as f64;
        self.shares.partition_point(|share| *share < at).min(self.keys - 1)
    }
}

/// One change of an order, and the document that tells of it.
#[derive(Debug)]
pub(crate) struct Order {
    /// The number of its key.
    pub(crate) key: usize,
    pub(crate) id: String,
    pub(crate) customer: u64,
    pub(crate) total: String,
    /// Day, time of day.
    pub(crate) placed_at: (String, String),
    /// Article, quantity, price.
    pub(crate) lines: Vec<(String, u64, String)>,
    pub(crate) document: Vec<u8>,
}

/// The next order; its document is exactly `bytes` long where that is enough for one without lines.
pub(crate) fn order(dice: &mut Dice, bytes: usize) -> Order {
    let key = dice.key();
    let id = format!("order-{key:07}");
    let customer = dice.below(CUSTOMERS);
    let total = format!("{}.{:02}", 1 + dice.below(99_999), dice.below(100));
    let day = format!("2026-11-{:02}", 1 + dice.below(30));
    let time = format!("{:02}:{:02}:00", dice.below(24), dice.below(60));
    let mut text = String::with_capacity(bytes + 64);
    _ = write!(
        text,
        r#"<?xml version="1.0" encoding="UTF-8"?>
<s:order xmlns:s="urn:shop:1" id="{id}"><s:customer ref="{customer}"/><s:total currency="EUR">{total}</s:total><s:placedAt>{day}T{time}</s:placedAt><s:sent>{:0SENT_DIGITS$}</s:sent><s:lines>"#,
        0,
    );
    const END: &str = "</s:lines></s:order>";
    const LINE_BYTES: usize = 150;
    let mut lines = Vec::new();
    while text.len() + LINE_BYTES + END.len() < bytes {
        let article = format!("ART-{:06}", dice.below(1_000_000));
        let quantity = 1 + dice.below(9);
        let price = format!("{}.{:02}", dice.below(1_000), dice.below(100));
        let number = lines.len() + 1;
        _ = write!(
            text,
            r#"<s:line no="{number}"><s:article>{article}</s:article><s:quantity>{quantity}</s:quantity><s:price>{price}</s:price></s:line>"#,
        );
        lines.push((article, quantity, price));
    }
    let left = bytes.saturating_sub(text.len() + END.len());
    if left > 7 {
        // Text that no two documents share: what compresses would flatter whoever compresses.
        text.push_str("<!--");
        (0..left - 7).for_each(|_| text.push(char::from(b'a' + dice.below(26) as u8)));
        text.push_str("-->");
    }
    text.push_str(END);
    Order { key, id, customer, total, placed_at: (day, time), lines, document: text.into_bytes() }
}

/// A producer as fast as one gets, without transactions.
#[allow(clippy::disallowed_methods, reason = "a bench brings its own clients")]
pub(crate) fn producer(world: &World, linger_ms: u32) -> BaseProducer {
    ClientConfig::new()
        .set("bootstrap.servers", &world.kafka)
        .set("linger.ms", linger_ms.to_string())
        .set("partitioner", "murmur2_random")
        .set("queue.buffering.max.messages", "200000")
        .set("log_level", "3")
        .create()
        .expect("a producer")
}

/// Makes a topic and fills it; what must come of it.
pub(crate) fn fill(world: &World, topic: &str, input: &Input) -> Expected {
    world.make_topic(topic, input.partitions);
    let producer = producer(world, 20);
    let mut dice = Dice::new(7, input.keys, input.draw);
    let mut expecting = Expecting::default();
    for _ in 0..input.events {
        let order = order(&mut dice, input.bytes);
        send(&producer, topic, &order.id, &order.document);
        expecting.add(&order);
    }
    producer.flush(Duration::from_secs(60)).expect("the input is written");
    expecting.end()
}

/// Hands a record to the producer, however long that takes.
pub(crate) fn send(producer: &BaseProducer, topic: &str, key: &str, value: &[u8]) {
    let mut record = BaseRecord::to(topic).key(key).payload(value);
    while let Err((_, back)) = producer.send(record) {
        record = back;
        producer.poll(Duration::from_millis(10));
    }
    producer.poll(Duration::ZERO);
}
