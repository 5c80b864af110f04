//! Reader: asks Kafka on a thread of its own, so that the worker never waits for it.
//!
//! In:        a worker's partitions and where to begin     Out: handfuls of records to the source's mailbox
//! Holds:     one handful; librdkafka prefetches a few MiB beside it
//! Order:     as Kafka gives them
//! Fails:     broker out -> says so and asks again; position gone, rights, wrong topic -> halt
//! Not here:  epochs

use crate::kafka::{AsyncLog, AsyncReader, LogError, LogErrorClass, ReadRecord};
use crate::model::{KeyGroup, NextOffset, TopicPartition};
use crate::operator::budget::Budget;
use crate::operator::host::Host;
use crate::operator::mailbox::Sender;
use crate::operator::refusals::Refusals;
use crate::operator::source::Marks;
use crate::protocol::halt::{Halt, HaltKind};
use crate::status::{Board, World};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// What a reader needs.
pub struct ReaderSetup {
    /// Where it reads.
    pub log: Arc<dyn AsyncLog>,
    /// Its partitions, and the first offset to read of each.
    pub from: Vec<(TopicPartition, NextOffset)>,
    /// Where it ends; none: it reads on for ever.
    pub until: Option<BTreeMap<TopicPartition, NextOffset>>,
    /// What it may read.
    pub budget: Arc<Budget>,
    /// Raised: read no more, the job drains.
    pub drain: Arc<AtomicBool>,
    /// How long the broker may be out.
    pub outage_limit: Option<Duration>,
    /// Where counts go.
    pub board: Arc<Board>,
    /// The worker's number within its process.
    pub worker: usize,
    /// Where it runs.
    pub host: Host,
    /// What a person wants of parked events.
    pub marks: Marks,
}

/// Some records, and what they cover.
#[derive(Debug)]
pub struct Handful {
    /// In order per partition.
    pub records: Vec<ReadRecord>,
    /// What handling them will mean.
    pub covered: Covered,
}

/// What an epoch covers: once it is closed, everything before these positions is handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    /// Positions that moved.
    pub positions: Vec<(TopicPartition, NextOffset)>,
    /// Records in it.
    pub records: usize,
    /// Bytes taken from the budget.
    pub bytes: usize,
}

/// What a reader leaves in the mailbox.
#[derive(Debug)]
pub enum Feed {
    /// Records, or only positions that moved over control records.
    Handful(Handful),
    /// Of these key groups somebody wants parked events tried.
    Marked(Vec<KeyGroup>),
    /// What was marked at the start is done, or the job drains.
    Unmarked,
    /// It will read no more.
    Ended,
    /// It cannot read on.
    Halt(Halt),
}

/// Keeps the reader going; dropping it ends the reader at its next look.
pub(super) struct Running(Arc<AtomicBool>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Starts it.
pub(super) fn spawn(setup: ReaderSetup, feed: Sender<Feed>) -> Running {
    let over = Arc::new(AtomicBool::new(false));
    let running = Running(Arc::clone(&over));
    let failed = feed.clone();
    let (name, host) = (format!("reader-{}", setup.worker), setup.host.clone());
    if let Err(error) = host.spawn_blocking(name, move || async move { run(&setup, &feed, &over).await }) {
        failed.send(Feed::Halt(Halt::new(
            HaltKind::Internal,
            format!("cannot start a reader thread: {error}"),
        )));
    }
    running
}

/// Per partition, the offset behind everything that is dealt with.
type Positions = BTreeMap<TopicPartition, NextOffset>;

const WAIT: Duration = Duration::from_millis(100);

/// Behind a handful, records gather for so long before the next one. A handful costs a step of the worker and a round of progress
/// messages, whatever is in it: at some thousand records a second, which come one by one, that is most of what they cost. A
/// record that comes alone does not wait.
const GATHER: Duration = Duration::from_millis(3);

/// A handful of so many records is not a small one: more is there already, and nothing waits.
const GATHERED: usize = 100;

/// How long a broker may take to answer when it is asked whether it is back.
const PROBE: Duration = Duration::from_secs(1);
const RECORDS_MAX: usize = 1_000;
const BYTES_MAX: usize = 512 << 10;

async fn run(setup: &ReaderSetup, feed: &Sender<Feed>, over: &AtomicBool) {
    let stopped = || over.load(Ordering::Relaxed) || setup.drain.load(Ordering::Relaxed);
    match open(setup, &stopped).await {
        Ok(Some(mut reader)) => {
            if let Err(halt) = read_on(setup, &mut *reader, feed, &stopped).await {
                return feed.send(Feed::Halt(halt));
            }
        }
        Ok(None) => idle(setup, &stopped).await,
        Err(halt) => return feed.send(Feed::Halt(halt)),
    }
    feed.send(Feed::Ended);
}

/// A worker without a partition reads nothing, and must be there until the job drains: it hands out tickets for its key groups.
async fn idle(setup: &ReaderSetup, stopped: &dyn Fn() -> bool) {
    while setup.until.is_none() && !stopped() {
        tokio::time::sleep(WAIT).await;
    }
}

/// Opens the reader, as often as it takes; none when there is nothing to read or the job stops first.
async fn open(setup: &ReaderSetup, stopped: &dyn Fn() -> bool) -> Result<Option<Box<dyn AsyncReader>>, Halt> {
    let mut refusals = Refusals::default();
    while !setup.from.is_empty() && !stopped() {
        match setup.log.reader(&setup.from) {
            Ok(reader) => return Ok(Some(reader)),
            Err(error) => meet(setup, &error, &mut refusals).await?,
        }
    }
    Ok(None)
}

async fn read_on(
    setup: &ReaderSetup,
    reader: &mut dyn AsyncReader,
    feed: &Sender<Feed>,
    stopped: &dyn Fn() -> bool,
) -> Result<(), Halt> {
    let mut positions: Positions = setup.from.iter().copied().collect();
    let mut given = positions.clone();
    let mut outage = None;
    let mut refusals = Refusals::default();
    let mut small: Option<Instant> = None;
    while !stopped() && !reached(setup, &positions) {
        if !setup.budget.wait_for_room(WAIT).await {
            continue;
        }
        if let Some(given) = small.take() {
            tokio::time::sleep(GATHER.saturating_sub(given.elapsed())).await;
        }
        match reader.read(RECORDS_MAX, BYTES_MAX, WAIT).await {
            Ok(mut records) => {
                keep_new(&mut records, &mut given);
                if let Some(since) = outage
                    && is_over(setup, since, &records, &mut refusals).await?
                {
                    outage = None;
                    setup.board.resumes(World::Broker);
                }
                let handful = cover(setup, reader, records, &mut positions);
                small = (1..GATHERED).contains(&handful.records.len()).then(Instant::now);
                if !handful.covered.positions.is_empty() {
                    feed.send(Feed::Handful(handful));
                }
            }
            Err(error) => {
                let since = *outage.get_or_insert_with(Instant::now);
                meet(setup, &error, &mut refusals).await?;
                give_up_after(setup, since, &error.message)?;
            }
        }
        setup.board.set_lag(setup.worker, lag(reader, &positions));
    }
    Ok(())
}

/// Drops what was given before: a client that finds its way back from trouble may begin a little earlier. Behind this
/// point the order of a partition is a promise, and a record that comes again would end the job.
fn keep_new(records: &mut Vec<ReadRecord>, given: &mut Positions) {
    let before = records.len();
    records.retain(|record| {
        let next = given.entry(record.at).or_insert(NextOffset(record.offset.0));
        let is_new = record.offset.0 >= next.0;
        if is_new {
            *next = record.offset.next();
        }
        is_new
    });
    let again = before.saturating_sub(records.len());
    if again > 0 {
        tracing::warn!(records = again, "Kafka's client has given records again; they were dropped");
    }
}

/// Halts when the job allows no outage of this length.
fn give_up_after(setup: &ReaderSetup, since: Instant, said: &str) -> Result<(), Halt> {
    let out_for = since.elapsed();
    match setup.outage_limit.filter(|limit| out_for >= *limit) {
        None => Ok(()),
        Some(limit) => {
            let limit = limit.as_secs();
            let text =
                format!("broker out for {} s, and outage.limit_s is {limit}: {said}", out_for.as_secs());
            Err(Halt::new(HaltKind::Outage, text))
        }
    }
}

/// Whether the broker is back. The client says nothing while it is out, and nothing when it is back and idle: now and
/// then it is asked.
async fn is_over(
    setup: &ReaderSetup,
    since: Instant,
    records: &[ReadRecord],
    refusals: &mut Refusals,
) -> Result<bool, Halt> {
    if !records.is_empty() {
        refusals.end();
        return Ok(true);
    }
    if since.elapsed() < PROBE {
        return Ok(false);
    }
    match setup.log.probe(PROBE).await {
        Ok(()) => {
            refusals.end();
            Ok(true)
        }
        Err(error) => {
            refused(&error, refusals)?;
            give_up_after(setup, since, &error.message).map(|()| false)
        }
    }
}

fn reached(setup: &ReaderSetup, positions: &Positions) -> bool {
    setup.until.as_ref().is_some_and(|until| {
        positions.iter().all(|(at, position)| until.get(at).is_none_or(|end| position >= end))
    })
}

/// Accounts for what was read, and finds the positions that moved.
fn cover(
    setup: &ReaderSetup,
    reader: &dyn AsyncReader,
    mut records: Vec<ReadRecord>,
    positions: &mut Positions,
) -> Handful {
    if let Some(until) = &setup.until {
        // What came behind the end belongs to the next run.
        records.retain(|r| until.get(&r.at).is_none_or(|end| r.offset.next() <= *end));
    }
    let bytes = records.iter().map(|r| r.record.footprint_bytes()).sum();
    setup.budget.take(bytes);
    setup.board.read.add(records.len());
    let mut moved = Vec::new();
    for (at, position) in positions {
        let mut now = reader.position(*at).unwrap_or(*position);
        if let Some(end) = setup.until.as_ref().and_then(|until| until.get(at)) {
            now = now.min(*end);
        }
        if now > *position {
            *position = now;
            moved.push((*at, now));
        }
    }
    Handful { covered: Covered { positions: moved, records: records.len(), bytes }, records }
}

fn lag(reader: &dyn AsyncReader, positions: &Positions) -> i64 {
    let behind = |(at, position): (&TopicPartition, &NextOffset)| {
        reader.known_end(*at).map_or(0, |end| end.0.saturating_sub(position.0).max(0))
    };
    positions.iter().map(behind).sum()
}

/// What an error means to a reader: ask again, or halt.
async fn meet(setup: &ReaderSetup, error: &LogError, refusals: &mut Refusals) -> Result<(), Halt> {
    let kind = match error.class {
        LogErrorClass::Rights => match setup.log.probe(PROBE).await {
            // Not let in: it logs in by itself again and again, and a broker that comes back may refuse that for a moment.
            Err(said) => {
                setup.board.holds(World::Broker, &error.message);
                tokio::time::sleep(WAIT).await;
                return refused(&said, refusals);
            }
            // Let in, and the topic is refused: the client says so once.
            Ok(()) => HaltKind::Rights,
        },
        LogErrorClass::Outage | LogErrorClass::Unknown | LogErrorClass::Aborted | LogErrorClass::TooLarge => {
            setup.board.holds(World::Broker, &error.message);
            tokio::time::sleep(WAIT).await;
            return Ok(());
        }
        LogErrorClass::PositionGone | LogErrorClass::Fenced => HaltKind::Fenced,
        LogErrorClass::Misconfigured => HaltKind::Misconfigured,
    };
    let class = format!("kafka {}", error.class.as_str());
    Err(Halt::new(kind, error.message.clone()).because(class, error.code.clone()))
}

/// What a probe said while the broker is out: a halt, where it goes on refusing.
fn refused(said: &LogError, refusals: &mut Refusals) -> Result<(), Halt> {
    if said.class != LogErrorClass::Rights {
        refusals.end();
        return Ok(());
    }
    match refusals.again() {
        None => Ok(()),
        Some(refused_for) => {
            let text = format!("the broker has refused for {} s: {}", refused_for.as_secs(), said.message);
            Err(Halt::new(HaltKind::Rights, text))
        }
    }
}
