//! Start: everything between "the process runs" and "the first record is read", on a thread of its own per worker.
//!
//! In:        the job, the log, the database, this worker's number     Out: what the operators begin with
//! Order:     0 hold the world against the ledger; 1 claim all key groups, one worker
//!            for all; 2 fence every producer that the job may ever have had, then wait for all workers; 3 ask whether the claims still stand, read the progress topic, then the outbox; 4 send what
//!            the outbox has and Kafka has not; 5 find where to read, and which keys are parked
//! Fails:     an outage is waited for; ledger and log that do not fit together, or a job that does not fit its ledger -> halt
//! Not here:  what the numbers mean (protocol::recovery)
//!
//! The order is the proof. Behind the claim nobody else's database transaction can be stored any more, so positions and
//! outbox are final. Behind the fence nobody's Kafka transaction is open any more, and nobody older begins another: a
//! producer that is initialised later asks the ledger before it sends (protocol::sink; here: 3), finds the claim, and
//! stops. So the progress topic is final, too. The other way round, fence and then claim, an older instance could get a
//! producer between the two, still be told that the key groups are its own, and send what is sent here as well.
//!
//! One transaction claims all key groups: of two instances that start side by side one is then the newer everywhere, and
//! "still mine" means the same for every key group.

pub(super) mod claim;
mod facts;
pub(super) mod first;
mod limits;
pub(super) mod outbox;
mod parked;
mod patience;
pub(super) mod world;

pub(super) use patience::{Patience, Stopped};

use super::ledger::LedgerClient;
use crate::database::{FrontierRow, JobRow, PositionRow};
use crate::job::{JobSpec, SetPlan};
use crate::kafka::{AsyncLog, AsyncWriter, LogError};
use crate::model::{
    BatchNumber, Incarnation, KeyGroup, KeyId, NextOffset, Places, RecordLimits, TopicPartition,
};
use crate::operator::exchange::owns;
use crate::operator::sink::EmitterSetup;
use crate::protocol::gate::Claimed;
use crate::protocol::halt::{Halt, HaltKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// What a start needs.
pub(super) struct StartSetup {
    pub(super) spec: Arc<JobSpec>,
    pub(super) log: Arc<dyn AsyncLog>,
    pub(super) ledger: LedgerClient,
    pub(super) worker: usize,
    pub(super) workers: usize,
    /// Read up to where the topics end now.
    pub(super) until_end: bool,
    /// Whether anything may be held against records.
    pub(super) watches: bool,
    pub(super) patience: Patience,
}

/// What the operators begin with.
pub(super) struct Started {
    pub(super) claimed: Vec<Claimed>,
    pub(super) emitted: BTreeMap<KeyGroup, BatchNumber>,
    pub(super) emitter: Option<EmitterSetup>,
    pub(super) from: Vec<(TopicPartition, NextOffset)>,
    /// Before here somebody has read; empty where nobody asks.
    pub(super) read_past: Vec<(TopicPartition, NextOffset)>,
    pub(super) until: Option<BTreeMap<TopicPartition, NextOffset>>,
    /// How often the ledger's positions were reset before this start.
    pub(super) resets: u64,
    /// How large a record may be.
    pub(super) limits: RecordLimits,
    /// Which steps run for many events at once.
    pub(super) plan: Arc<SetPlan>,
    /// What this job's commits to the consumer group are marked with.
    pub(super) mark: String,
    /// Batches that the outbox held and this start has sent.
    pub(super) sent_from_outbox: usize,
    /// Key groups of this worker of which somebody wants parked events tried.
    pub(super) marked: Vec<KeyGroup>,
}

/// How long a question to the broker may take at a start, before it is asked again.
pub(super) const DEADLINE: Duration = Duration::from_secs(15);

/// What the workers of a start tell each other.
pub(super) struct Cluster<'a> {
    /// The first worker tells all, itself included, what it has claimed.
    pub(super) claimed: &'a dyn Fn(Vec<(KeyGroup, Incarnation)>),
    /// This worker has taken over its share of the transactional ids.
    pub(super) fenced: &'a dyn Fn(),
    /// What is heard.
    pub(super) words: &'a mut mpsc::Receiver<Word>,
}

/// What a start waits for: one of each, in this order.
#[derive(Debug)]
pub(super) enum Word {
    /// What the first worker has claimed.
    Claimed(Vec<(KeyGroup, Incarnation)>),
    /// All transactional ids are taken over.
    AllFenced,
}

/// Runs the start.
pub(super) async fn start(setup: &StartSetup, cluster: &mut Cluster<'_>) -> Result<Started, Stopped> {
    let partitions = first::partitions(setup).await?;
    let mut elsewhere = world::Elsewhere::default();
    if setup.worker == 0 {
        elsewhere = first::prepare_ledger(setup, &partitions).await?;
        (cluster.claimed)(claim::all(setup).await?);
    }
    let Word::Claimed(claims) = setup.patience.next_word(cluster.words).await? else {
        return Err(out_of_order());
    };
    let rows = claim::rows_of_mine(setup, &claims).await?;
    let job = setup.patience.ledger(&setup.ledger, async |session| session.job_row().await).await?;
    let job = job
        .ok_or_else(|| Halt::new(HaltKind::Internal, "the ledger has lost the job's row during the start"))?;
    // Before the producer is built: its batches keep to them.
    let limits = limits::read(setup).await?;
    let plan = facts::plan(setup).await?;
    let writer = fence(setup).await?;
    (cluster.fenced)();
    let Word::AllFenced = setup.patience.next_word(cluster.words).await? else {
        return Err(out_of_order());
    };

    let (emitter, emitted, sent_from_outbox) = outbox::send(setup, writer, &job, &rows).await?;
    // Only now: a start that refuses has not touched the group.
    world::show(setup, &elsewhere, &job).await?;
    let parked::Found { mut parked, marked } = parked::find(setup, &rows).await?;
    let claimed = |row: &PositionRow| claimed(setup, row, &emitted, parked.remove(&row.group));
    let claimed = rows.iter().map(claimed).collect::<Result<_, Halt>>()?;
    let frontier = setup.patience.ledger(&setup.ledger, async |session| session.frontier().await).await?;
    let from = first::positions(setup, &partitions, &frontier).await?;
    let until = if setup.until_end { Some(ends(setup, &from).await?) } else { None };
    let read_past = if setup.watches { read_past(setup, &from).await? } else { Vec::new() };
    let (resets, mark) = (job.resets, group_mark(&job.ledger_id));
    Ok(Started {
        claimed,
        emitted,
        emitter,
        from,
        read_past,
        until,
        resets,
        limits,
        plan,
        mark,
        sent_from_outbox,
        marked,
    })
}

fn out_of_order() -> Stopped {
    Halt::new(HaltKind::Internal, "the workers told each other of the start's steps out of order").into()
}

/// Step 2: this worker's own producer, and its share of all ids that the job may ever have used.
pub(super) async fn fence(setup: &StartSetup) -> Result<Option<Box<dyn AsyncWriter>>, Stopped> {
    if !setup.spec.sends() {
        return Ok(None);
    }
    let name = |id: u32| format!("{}-{id}", setup.spec.name);
    let share = (0..setup.spec.key_groups).filter(|id| owns(u64::from(*id), setup.worker, setup.workers));
    let others: Vec<String> =
        share.filter(|id| usize::try_from(*id).ok() != Some(setup.worker)).map(name).collect();
    setup.patience.log(async || setup.log.fence(&others, DEADLINE).await).await?;
    let writer =
        setup.patience.log(async || setup.log.writer(&transactional_id(setup), DEADLINE).await).await?;
    Ok(Some(writer))
}

fn transactional_id(setup: &StartSetup) -> String {
    format!("{}-{}", setup.spec.name, setup.worker)
}

fn claimed(
    setup: &StartSetup,
    row: &PositionRow,
    emitted: &BTreeMap<KeyGroup, BatchNumber>,
    parked: Option<BTreeSet<KeyId>>,
) -> Result<Claimed, Halt> {
    let (places, _strangers) = parse(&row.positions, row.group, &setup.spec)?;
    Ok(Claimed {
        group: row.group,
        incarnation: row.incarnation,
        batch: row.batch,
        places,
        emitted: emitted.get(&row.group).copied().unwrap_or_default(),
        parked: parked.unwrap_or_default(),
    })
}

pub(super) type Parsed = (Places, Vec<(String, i32, crate::model::Place)>);

pub(super) fn parse(text: &str, group: KeyGroup, spec: &JobSpec) -> Result<Parsed, Halt> {
    Places::parse(text, &spec.source.topics).map_err(|bad| {
        let text = format!("the ledger's positions of key group {group} cannot be read: {bad}");
        Halt::new(HaltKind::Fenced, text)
    })
}

/// How far somebody has read each of these partitions, as the places of all key groups tell it. Whoever reads a partition
/// asks before it begins, so they are of earlier processes.
async fn read_past(
    setup: &StartSetup,
    from: &[(TopicPartition, NextOffset)],
) -> Result<Vec<(TopicPartition, NextOffset)>, Stopped> {
    let rows = setup.patience.ledger(&setup.ledger, async |session| session.positions().await).await?;
    let mut past = BTreeMap::new();
    for row in rows {
        let (places, _strangers) = parse(&row.positions, row.group, &setup.spec)?;
        for (at, place) in places.iter().filter(|(at, _)| from.iter().any(|(mine, _)| mine == at)) {
            // Of a record that was taken in part every event was read.
            let next = if place.events > 0 { place.offset.next() } else { NextOffset(place.offset.0) };
            let furthest = past.entry(at).or_insert(next);
            *furthest = next.max(*furthest);
        }
    }
    Ok(past.into_iter().collect())
}

/// Where the partitions end now, as a read-committed reader sees it.
async fn ends(
    setup: &StartSetup,
    from: &[(TopicPartition, NextOffset)],
) -> Result<BTreeMap<TopicPartition, NextOffset>, Stopped> {
    let mut ends = BTreeMap::new();
    for (at, _) in from {
        let (_, end) = setup.patience.log(async || setup.log.ends(*at, DEADLINE).await).await?;
        ends.insert(*at, end);
    }
    Ok(ends)
}

/// The halt, or the wait, that an error of the log asks for.
pub(super) fn log_trouble(error: LogError) -> super::ledger::Trouble {
    use super::ledger::Trouble;
    use crate::kafka::LogErrorClass;
    let kind = match error.class {
        // Fenced at a start: another start is running, and one of the two will win.
        LogErrorClass::Outage | LogErrorClass::Unknown | LogErrorClass::Aborted | LogErrorClass::Fenced => {
            return Trouble::Later(error.message);
        }
        LogErrorClass::PositionGone => HaltKind::Fenced,
        LogErrorClass::TooLarge => HaltKind::Reject,
        LogErrorClass::Misconfigured => HaltKind::Misconfigured,
        LogErrorClass::Rights => HaltKind::Rights,
    };
    Trouble::Halt(
        Halt::new(kind, error.message).because(format!("kafka {}", error.class.as_str()), error.code),
    )
}

/// The frontier's row of a partition.
pub(super) fn row_of<'a>(
    frontier: &'a [FrontierRow],
    topic: &str,
    partition: i32,
) -> Option<&'a FrontierRow> {
    frontier.iter().find(|row| row.topic == topic && row.partition == partition)
}

/// A job row for a job that has never run.
fn new_job_row(spec: &JobSpec) -> JobRow {
    JobRow {
        key_groups: spec.key_groups,
        fingerprint: spec.fingerprint(),
        ledger_id: ledger_id(),
        resets: 0,
        marked_group: String::new(),
    }
}

/// What this job's commits to the consumer group are marked with.
pub(super) fn group_mark(ledger_id: &str) -> String {
    format!("tidegate {ledger_id}")
}

/// A name that no other life of a ledger has.
fn ledger_id() -> String {
    use std::hash::{BuildHasher, Hasher};
    let random = || std::hash::RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}
