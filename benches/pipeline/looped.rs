//! Loop: the pipeline as an expert writes it by hand when nothing is promised: what a guarantee may be measured against.
//!
//! In:        the main scenario's input topic     Out: rows and output documents, the very same as every other contender's
//! Holds:     per lane a connection and at most two batches
//! Order:     per key: a lane has all events of its keys and takes them in order
//! Fails:     by panicking
//! Not here:  no ledger, no Kafka transactions, no answer to trouble: killed, it loses or repeats what was on its way
//!
//! One thread reads, lanes are tasks on two threads; a lane takes whatever waits, up to a batch, asks for all its customers at
//! once, stores all its orders by one bulk statement, and hands the documents to an idempotent producer. Offsets are committed
//! now and then, behind nothing.

use crate::cli::LoopArgs;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, Opts, Params, Value};
use quick_xml::events::Event;
use quick_xml::reader::Reader;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use rdkafka::{ClientConfig, Message, Offset, TopicPartitionList};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

const UPSERT: &str = "INSERT INTO bench_order (id, customer, total, currency, placed_at) VALUES (?, ?, ?, ?, ?) \
                      ON DUPLICATE KEY UPDATE customer = VALUES(customer), total = VALUES(total), currency = VALUES(currency), \
                      placed_at = VALUES(placed_at)";

/// The server's code for it.
const DEADLOCK: u16 = 1213;

type Document = Vec<u8>;

struct Order<'a> {
    document: &'a [u8],
    id: &'a str,
    customer: i64,
    total: &'a str,
    currency: &'a str,
    placed_at: &'a str,
    /// The `/` of the customer's empty tag.
    slash: usize,
}

#[allow(clippy::disallowed_methods, reason = "a bench brings its own clients")]
pub(crate) fn run(args: &LoopArgs) {
    // A lane that is gone would be waited for.
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        told(panic);
        std::process::exit(1);
    }));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let producer: BaseProducer = ClientConfig::new()
        .set("bootstrap.servers", &args.kafka)
        .set("enable.idempotence", "true")
        .set("linger.ms", "2")
        .set("partitioner", "murmur2_random")
        .set("queue.buffering.max.messages", "100000")
        .create()
        .unwrap();
    let producer = Arc::new(producer);
    let is_over = Arc::new(AtomicBool::new(false));
    let polling = {
        let (producer, is_over) = (Arc::clone(&producer), Arc::clone(&is_over));
        std::thread::spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                producer.poll(Duration::from_millis(20));
            }
        })
    };
    let done = Arc::new(AtomicUsize::new(0));
    let lanes: Vec<mpsc::Sender<Document>> = (0..args.lanes)
        .map(|_| {
            let (sender, documents) = mpsc::channel(args.batch * 2);
            let lane = Lane {
                producer: Arc::clone(&producer),
                topic: args.topic_out.clone(),
                url: args.database.clone(),
                batch: args.batch,
                done: Arc::clone(&done),
            };
            runtime.spawn(lane.serve(documents));
            sender
        })
        .collect();
    let read = read(args, &lanes);
    while done.load(Ordering::Acquire) < read {
        std::thread::sleep(Duration::from_millis(2));
    }
    producer.flush(Duration::from_secs(60)).unwrap();
    is_over.store(true, Ordering::Relaxed);
    polling.join().unwrap();
}

/// Reads to the end that the topic had at the start, or for ever; how many records.
#[allow(clippy::disallowed_methods, reason = "a bench brings its own clients")]
fn read(args: &LoopArgs, lanes: &[mpsc::Sender<Document>]) -> usize {
    let consumer: BaseConsumer = ClientConfig::new()
        .set("bootstrap.servers", &args.kafka)
        .set("group.id", &args.topic_out)
        .set("enable.auto.commit", "false")
        .set("queued.max.messages.kbytes", "8192")
        .set("fetch.queue.backoff.ms", "10")
        .set("fetch.wait.max.ms", "25")
        .create()
        .unwrap();
    let mut list = TopicPartitionList::new();
    let metadata = consumer.fetch_metadata(Some(&args.topic_in), Duration::from_secs(10)).unwrap();
    let mut left: usize = 0;
    for partition in metadata.topics()[0].partitions() {
        list.add_partition_offset(&args.topic_in, partition.id(), Offset::Beginning).unwrap();
        let (low, high) =
            consumer.fetch_watermarks(&args.topic_in, partition.id(), Duration::from_secs(10)).unwrap();
        left += usize::try_from(high - low).unwrap();
    }
    consumer.assign(&list).unwrap();
    let (mut count, mut committed) = (0, Instant::now());
    while !args.bounded || count < left {
        let Some(message) = consumer.poll(Duration::from_millis(100)) else { continue };
        let message = message.unwrap();
        let mut hasher = DefaultHasher::new();
        message.key().hash(&mut hasher);
        let lane = &lanes[usize::try_from(hasher.finish() % lanes.len() as u64).unwrap()];
        lane.blocking_send(message.payload().unwrap().to_vec()).unwrap();
        count += 1;
        if committed.elapsed() > Duration::from_secs(1) {
            committed = Instant::now();
            consumer.commit_consumer_state(CommitMode::Async).ok();
        }
    }
    count
}

struct Lane {
    producer: Arc<BaseProducer>,
    topic: String,
    url: String,
    batch: usize,
    done: Arc<AtomicUsize>,
}

impl Lane {
    async fn serve(self, mut documents: mpsc::Receiver<Document>) {
        let mut conn = Conn::new(Opts::from_url(&self.url).unwrap()).await.unwrap();
        conn.query_drop("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED").await.unwrap();
        let mut batch = Vec::with_capacity(self.batch);
        while documents.recv_many(&mut batch, self.batch).await > 0 {
            // Sorted, lanes lock rows in one order and hardly ever meet; by a stable sort, so that a key's order is kept.
            let mut orders: Vec<Order<'_>> = batch.iter().map(|document| parse(document)).collect();
            orders.sort_by_key(|order| order.id);
            while let Err(error) = self.store(&mut conn, &orders).await {
                assert!(matches!(&error, Error::Server(server) if server.code == DEADLOCK), "{error}");
                conn.query_drop("ROLLBACK").await.unwrap();
            }
            self.done.fetch_add(batch.len(), Ordering::Release);
            batch.clear();
        }
    }

    async fn store(&self, conn: &mut Conn, orders: &[Order<'_>]) -> Result<(), Error> {
        conn.query_drop("START TRANSACTION").await?;
        // Few sizes, so that few statements are prepared.
        let size = orders.len().next_power_of_two();
        let wanted = orders.iter().map(|order| order.customer);
        let wanted: Vec<Value> = wanted.chain(std::iter::repeat(-1)).take(size).map(Value::Int).collect();
        let select =
            format!("SELECT id, name, tier FROM bench_customer WHERE id IN ({})", vec!["?"; size].join(","));
        let found: Vec<(i64, String, String)> = conn.exec(select, Params::Positional(wanted)).await?;
        let found: HashMap<i64, (String, String)> =
            found.into_iter().map(|(id, name, tier)| (id, (name, tier))).collect();
        let text = |text: &str| Value::Bytes(text.as_bytes().to_vec());
        let rows = orders.iter().map(|order| {
            let Order { id, customer, total, currency, placed_at, .. } = order;
            Params::Positional(vec![
                text(id),
                Value::Int(*customer),
                text(total),
                text(currency),
                text(placed_at),
            ])
        });
        conn.exec_batch(UPSERT, rows).await?;
        conn.query_drop("COMMIT").await?;
        for order in orders {
            let out = match found.get(&order.customer) {
                Some((name, tier)) => spliced(order.document, order.slash, name, tier),
                None => order.document.to_vec(),
            };
            let mut record = BaseRecord::to(&self.topic).key(order.id).payload(&out);
            while let Err((_, back)) = self.producer.send(record) {
                record = back;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        Ok(())
    }
}

/// `<s:customer ref="1"/>` becomes `<s:customer ref="1"><s:name tier="...">...</s:name></s:customer>`.
fn spliced(document: &[u8], slash: usize, name: &str, tier: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(document.len() + 128);
    out.extend_from_slice(&document[..slash]);
    for part in ["><s:name tier=\"", tier, "\">", name, "</s:name></s:customer"] {
        out.extend_from_slice(part.as_bytes());
    }
    out.extend_from_slice(&document[slash + 1..]);
    out
}

fn parse(document: &[u8]) -> Order<'_> {
    let text = std::str::from_utf8(document).unwrap();
    let mut reader = Reader::from_str(text);
    let mut order = Order { document, id: "", customer: 0, total: "", currency: "", placed_at: "", slash: 0 };
    let mut field = None;
    loop {
        let event = reader.read_event().unwrap();
        match &event {
            Event::Start(tag) | Event::Empty(tag) => {
                let inside = |value: &str| {
                    let at = value.as_ptr().addr() - text.as_ptr().addr();
                    &text[at..at + value.len()]
                };
                let attribute = |wanted: &str| {
                    let found = tag.attributes().map(|a| a.unwrap()).find(|a| a.key.as_ref() == wanted);
                    found.map(|a| match a.value {
                        std::borrow::Cow::Borrowed(v) => inside(v),
                        std::borrow::Cow::Owned(_) => "",
                    })
                };
                match tag.name().as_ref() {
                    "s:order" => order.id = attribute("id").unwrap(),
                    "s:customer" => {
                        order.customer = attribute("ref").unwrap().parse().unwrap();
                        order.slash = usize::try_from(reader.buffer_position()).unwrap() - 2;
                    }
                    "s:total" => {
                        order.currency = attribute("currency").unwrap();
                        field = Some(0);
                    }
                    "s:placedAt" => field = Some(1),
                    _ => field = None,
                }
            }
            Event::Text(found) => {
                let at = found.as_ptr().addr() - text.as_ptr().addr();
                let found = &text[at..at + found.len()];
                match field {
                    Some(0) => order.total = found,
                    Some(1) => order.placed_at = found,
                    _ => {}
                }
                field = None;
            }
            Event::Eof => return order,
            _ => field = None,
        }
    }
}
