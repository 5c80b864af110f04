//! Feed: orders at a constant rate, each with the time at which it was sent; and their times again, as a reader gets them.
//!
//! In:        a topic, a rate     Out: records; how many
//! Order:     in the order of due times: what is sent late is sent at once, and bears the time at which it was due
//! Holds:     5,000 orders, made before, so that making them does not disturb

use crate::inputs::{Dice, Draw, order, producer, send};
use crate::sampler::now_ms;
use crate::world::World;
use rdkafka::Message;
use rdkafka::consumer::BaseConsumer;
use rdkafka::producer::{BaseProducer, Producer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Where the digits of the send time begin is behind this; there are [`SENT_DIGITS`] of them.
const SENT: &[u8] = b"<s:sent>";
/// Microseconds since 1970.
pub(crate) const SENT_DIGITS: usize = 16;

struct Prepared {
    id: String,
    document: Vec<u8>,
    /// Where the send time stands.
    sent: usize,
}

/// A thread that feeds.
pub(crate) struct Feed {
    rate: Arc<AtomicU32>,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<u64>,
}

impl Feed {
    /// Begins with this many events a second.
    pub(crate) fn start(world: &World, topic: &str, rate: u32) -> Feed {
        let (producer, topic) = (producer(world, 0), topic.to_owned());
        let (rate, is_over) = (Arc::new(AtomicU32::new(rate)), Arc::new(AtomicBool::new(false)));
        let (the_rate, over) = (Arc::clone(&rate), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || feed(&producer, &topic, &the_rate, &over));
        Feed { rate, is_over, thread }
    }

    /// From now on.
    pub(crate) fn set_rate(&self, rate: u32) {
        self.rate.store(rate, Ordering::Relaxed);
    }

    /// Ends when everything is sent; how many there were.
    pub(crate) fn stop(self) -> u64 {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().expect("the feeder ends")
    }
}

fn feed(producer: &BaseProducer, topic: &str, rate: &AtomicU32, is_over: &AtomicBool) -> u64 {
    let mut dice = Dice::new(11, 10_000, Draw::Uniform);
    let mut orders: Vec<Prepared> = (0..5_000)
        .map(|_| {
            let order = order(&mut dice, 1024);
            let at = find(&order.document).expect("an order has its send time");
            Prepared { id: order.id, document: order.document, sent: at }
        })
        .collect();
    let mut sent = 0_u64;
    let mut due = Instant::now();
    'all: loop {
        while due <= Instant::now() {
            if is_over.load(Ordering::Relaxed) {
                break 'all;
            }
            let place = (sent % 5_000) as usize;
            let Prepared { id, document, sent: at } = &mut orders[place];
            let late_ms = due.elapsed().as_secs_f64() * 1e3;
            let text = format!("{:0SENT_DIGITS$}", ((now_ms() - late_ms) * 1e3) as u64);
            document[*at..][..SENT_DIGITS].copy_from_slice(text.as_bytes());
            send(producer, topic, id, document);
            sent += 1;
            due += Duration::from_secs_f64(1.0 / f64::from(rate.load(Ordering::Relaxed)));
        }
        if is_over.load(Ordering::Relaxed) {
            break;
        }
        std::thread::sleep((due - Instant::now()).min(Duration::from_millis(20)));
    }
    producer.flush(Duration::from_secs(60)).expect("everything is sent");
    sent
}

fn find(document: &[u8]) -> Option<usize> {
    // Not far from the start: nobody goes through the whole document.
    document.windows(SENT.len()).position(|window| window == SENT).map(|at| at + SENT.len())
}

/// Due and receive times of what comes until then, in ms since 1970; or only of the first.
pub(crate) fn receive_until(consumer: &BaseConsumer, until: Instant, only_first: bool) -> Vec<(f64, f64)> {
    let mut seen = Vec::new();
    while Instant::now() < until && (!only_first || seen.is_empty()) {
        let Some(Ok(message)) = consumer.poll(Duration::from_millis(20)) else { continue };
        let got = now_ms();
        let value = message.payload().unwrap_or_default();
        let sent = find(value).and_then(|at| std::str::from_utf8(value.get(at..)?.get(..SENT_DIGITS)?).ok());
        let sent: f64 = sent.and_then(|us| us.parse().ok()).expect("an output has its send time");
        seen.push((sent / 1e3, got));
    }
    seen
}
