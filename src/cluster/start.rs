//! Start: everything between "the process runs" and "the first record is read", on a thread of its own per worker.
//!
//! In:        the job, the log, the database, this worker's number     Out: what the operators begin with
//! Order:     1 claim the key groups; 2 fence every producer that the job may ever have had; 3 see that the claims still
//!            stand; 4 read the progress topic, then the outbox; 5 send what the outbox has and Kafka has not; 6 find
//!            where to read. Behind 1 and 2 every worker waits for all others
//! Fails:     an outage is waited for; ledger and log that do not fit together, or a job that does not fit its ledger -> halt
//! Not here:  what the numbers mean (protocol::recovery)
//!
//! The order is the proof. Behind the claim nobody else's database transaction can be stored any more, so positions and
//! outbox are final; behind the fence nobody's Kafka transaction is open any more, so the progress topic is, unless
//! somebody initialises a producer again. Whoever does so looks into the ledger before it sends (step 3, and
//! protocol::sink): if it has lost its claims, it stops. If it has not, then nobody had begun to claim yet, so nobody had
//! begun to fence, and its producer is met by that fence. The other way around, a former instance could initialise
//! between fence and claim, and send the outbox a second time by an id that other workers send other key groups by.

mod first;
mod outbox;
mod patience;

pub(super) use patience::{Patience, Stopped};

use super::control::Step;
use super::ledger::LedgerClient;
use crate::database::{FrontierRow, JobRow, PositionRow};
use crate::job::JobSpec;
use crate::kafka::{Log, LogError, Writer};
use crate::model::{BatchNumber, KeyGroup, NextOffset, Places, TopicPartition};
use crate::operator::exchange::{owned_groups, owns};
use crate::operator::sink::EmitterSetup;
use crate::protocol::gate::Claimed;
use crate::protocol::halt::{Halt, HaltKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// What a start needs.
pub(super) struct StartSetup {
    pub(super) spec: Arc<JobSpec>,
    pub(super) log: Arc<dyn Log>,
    pub(super) ledger: LedgerClient,
    pub(super) worker: usize,
    pub(super) workers: usize,
    /// Read up to where the topics end now.
    pub(super) until_end: bool,
    pub(super) patience: Patience,
}

/// What the operators begin with.
pub(super) struct Started {
    pub(super) claimed: Vec<Claimed>,
    pub(super) emitted: BTreeMap<KeyGroup, BatchNumber>,
    pub(super) emitter: Option<EmitterSetup>,
    pub(super) from: Vec<(TopicPartition, NextOffset)>,
    pub(super) until: Option<BTreeMap<TopicPartition, NextOffset>>,
    /// Batches that the outbox held and this start has sent.
    pub(super) sent_from_outbox: usize,
}

/// How long a question to the broker may take at a start, before it is asked again.
const DEADLINE: Duration = Duration::from_secs(15);

/// Runs the start. `meet` says that this worker has done a step, and waits until all workers have.
pub(super) fn start(
    setup: &StartSetup,
    meet: &dyn Fn(Step) -> Result<(), Stopped>,
) -> Result<Started, Stopped> {
    let partitions = first::partitions(setup)?;
    if setup.worker == 0 {
        first::prepare_ledger(setup, &partitions)?;
    }
    meet(Step::Prepared)?;
    let groups = owned_groups(setup.spec.key_groups, setup.worker, setup.workers);
    let rows = setup.patience.ledger(&setup.ledger, async |session| session.claim(&groups).await)?;
    meet(Step::Claimed)?;
    let writer = fence(setup)?;
    meet(Step::Fenced)?;

    let job = setup.patience.ledger(&setup.ledger, async |session| session.job_row().await)?;
    let job = job
        .ok_or_else(|| Halt::new(HaltKind::Internal, "the ledger has lost the job's row during the start"))?;
    let (emitter, emitted, sent_from_outbox) = outbox::send(setup, writer, &job, &rows)?;
    let claimed = rows.iter().map(|row| claimed(setup, row, &emitted)).collect::<Result<_, Halt>>()?;
    let frontier = setup.patience.ledger(&setup.ledger, async |session| session.frontier().await)?;
    let from = first::positions(setup, &partitions, &frontier)?;
    let until = if setup.until_end { Some(ends(setup, &from)?) } else { None };
    Ok(Started { claimed, emitted, emitter, from, until, sent_from_outbox })
}

/// Whether this start's claims stand. To be asked behind every initialisation of a producer, before anything is sent.
fn see_claims(setup: &StartSetup, claimed: &[PositionRow]) -> Result<(), Stopped> {
    let rows = setup.patience.ledger(&setup.ledger, async |session| session.positions().await)?;
    let stands = |claimed: &PositionRow| {
        rows.iter().any(|row| row.group == claimed.group && row.incarnation == claimed.incarnation)
    };
    if claimed.iter().all(stands) {
        return Ok(());
    }
    let text = "while this instance started, a newer one has claimed its key groups: this one stops";
    Err(Halt::new(HaltKind::Fenced, text).into())
}

/// Step 2: this worker's own producer, and its share of all ids that the job may ever have used.
fn fence(setup: &StartSetup) -> Result<Option<Box<dyn Writer>>, Stopped> {
    if !setup.spec.sends() {
        return Ok(None);
    }
    let name = |id: u32| format!("{}-{id}", setup.spec.name);
    let share = (0..setup.spec.key_groups).filter(|id| owns(u64::from(*id), setup.worker, setup.workers));
    let others: Vec<String> =
        share.filter(|id| usize::try_from(*id).ok() != Some(setup.worker)).map(name).collect();
    setup.patience.log(|| setup.log.fence(&others, DEADLINE))?;
    let writer = setup.patience.log(|| setup.log.writer(&transactional_id(setup), DEADLINE))?;
    Ok(Some(writer))
}

fn transactional_id(setup: &StartSetup) -> String {
    format!("{}-{}", setup.spec.name, setup.worker)
}

fn claimed(
    setup: &StartSetup,
    row: &PositionRow,
    emitted: &BTreeMap<KeyGroup, BatchNumber>,
) -> Result<Claimed, Halt> {
    let (places, _strangers) = parse(&row.positions, row.group, &setup.spec)?;
    Ok(Claimed {
        group: row.group,
        incarnation: row.incarnation,
        batch: row.batch,
        places,
        emitted: emitted.get(&row.group).copied().unwrap_or_default(),
    })
}

type Parsed = (Places, Vec<(String, i32, crate::model::Place)>);

fn parse(text: &str, group: KeyGroup, spec: &JobSpec) -> Result<Parsed, Halt> {
    Places::parse(text, &spec.source.topics).map_err(|bad| {
        let text = format!("the ledger's positions of key group {group} cannot be read: {bad}");
        Halt::new(HaltKind::Fenced, text)
    })
}

/// Where the partitions end now, as a read-committed reader sees it.
fn ends(
    setup: &StartSetup,
    from: &[(TopicPartition, NextOffset)],
) -> Result<BTreeMap<TopicPartition, NextOffset>, Stopped> {
    let end = |(at, _): &(TopicPartition, NextOffset)| {
        let (_, end) = setup.patience.log(|| setup.log.ends(*at, DEADLINE))?;
        Ok((*at, end))
    };
    from.iter().map(end).collect()
}

/// The halt, or the wait, that an error of the log asks for.
fn log_trouble(error: LogError) -> super::ledger::Trouble {
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
    Trouble::Halt(Halt::new(kind, error.message))
}

/// The frontier's row of a partition.
fn row_of<'a>(frontier: &'a [FrontierRow], topic: &str, partition: i32) -> Option<&'a FrontierRow> {
    frontier.iter().find(|row| row.topic == topic && row.partition == partition)
}

/// A job row for a job that has never run.
fn new_job_row(spec: &JobSpec) -> JobRow {
    JobRow { key_groups: spec.key_groups, fingerprint: spec.fingerprint(), ledger_id: ledger_id() }
}

/// A name that no other life of a ledger has.
fn ledger_id() -> String {
    use std::hash::{BuildHasher, Hasher};
    let random = || std::hash::RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", random(), random())
}
