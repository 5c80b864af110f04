//! Lane: one database connection, and the task that runs transactions on it.
//!
//! In:        a transaction to run, or position rows to look up     Out: one report per command
//! Holds:     a session while the database answers; none through an outage
//! Order:     one command at a time; within a transaction wave by wave, step by step (plan)
//! Fails:     by report, with the class that the database gave. A deadline drops the connection: what was sent may be
//!            done or not, and is looked up
//! Not here:  no retry, no decision (protocol::gate)

use super::outputs::{CannotEncode, Looked, OutputSetup, Outputs};
use super::plan::waves;
use super::{GateSetup, Queued, Sender};
use crate::database::{Advance, Database, DatabaseError, ErrorClass, Row, Session};
use crate::job::{JobSpec, Missing, Statement, Step};
use crate::model::{BatchNumber, Body, Coordinates, Incarnation, KeyGroup, Timestamp, Value};
use crate::operator::host::Host;
use crate::operator::prober::Prober;
use crate::protocol::gate::Transaction;
use crate::protocol::halt::{Halt, HaltKind};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// What a lane is told.
pub(super) enum Command {
    Store { transaction: Arc<Transaction<Queued>>, contended: u32 },
    Settle { groups: Vec<KeyGroup> },
}

/// What a lane, or the prober, reports.
pub(super) enum Report {
    Stored { lane: usize, outputs: Vec<Outputs> },
    Contended { lane: usize },
    Out { lane: usize, said: String },
    InDoubt { lane: usize, outputs: Vec<Outputs>, said: String },
    Settled { lane: usize, rows: Vec<(KeyGroup, Incarnation, BatchNumber)> },
    Unsettled { lane: usize, said: String },
    Fenced { lane: usize },
    Up,
    Halt(Halt),
}

/// What all lanes of a worker share.
#[derive(Clone)]
pub(super) struct Work {
    spec: Arc<JobSpec>,
    database: Arc<dyn Database>,
    outputs: Arc<OutputSetup>,
    reports: Sender<Report>,
    prober: Arc<Prober>,
    deadline: Duration,
}

impl Work {
    pub(super) fn new(setup: &GateSetup, reports: Sender<Report>) -> Work {
        Work {
            spec: Arc::clone(&setup.spec),
            database: Arc::clone(&setup.database),
            outputs: Arc::clone(&setup.outputs),
            reports,
            prober: Arc::clone(&setup.prober),
            deadline: Duration::from_secs(u64::from(setup.spec.database.deadline_s)),
        }
    }
}

/// The worker's end of a lane. Dropping it ends the task; its connection closes and an open transaction rolls back.
pub(super) struct Lane(mpsc::Sender<Command>);

impl Lane {
    pub(super) fn start(lane: usize, work: &Work, host: &Host) -> Lane {
        // One command at a time is the machine's rule; one place is enough.
        let (sender, commands) = mpsc::channel(1);
        host.spawn(serve(lane, work.clone(), commands));
        Lane(sender)
    }

    /// `false`: the task has ended.
    pub(super) fn tell(&self, command: Command) -> bool {
        self.0.try_send(command).is_ok()
    }
}

async fn serve(lane: usize, work: Work, mut commands: mpsc::Receiver<Command>) {
    let mut session = None;
    while let Some(command) = commands.recv().await {
        let question = work.prober.ask();
        let report = match command {
            Command::Store { transaction, contended } => {
                tokio::time::sleep(pause(contended)).await;
                store(lane, &work, &mut session, &transaction).await
            }
            Command::Settle { groups } => settle(lane, &work, &mut session, &groups).await,
        };
        drop(question);
        work.reports.send(report);
    }
}

/// The wait before a transaction that met contention runs again: nothing at first, then up to 100 ms.
fn pause(contended: u32) -> Duration {
    match contended {
        0 | 1 => Duration::ZERO,
        n => Duration::from_millis(1 << n.min(7)).min(Duration::from_millis(100)),
    }
}

/// How a transaction ended that did not commit.
enum Failure {
    /// With the event that it is about, where the engine named it.
    Database(DatabaseError, Option<Coordinates>),
    /// No session was to be had.
    NoSession(DatabaseError),
    Fenced,
    Halt(Halt),
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Failure {
        Failure::Database(error, None)
    }
}

async fn store(
    lane: usize,
    work: &Work,
    session: &mut Option<Box<dyn Session>>,
    transaction: &Transaction<Queued>,
) -> Report {
    // Filled just before COMMIT is sent: from then on the outcome may be unknown.
    let mut committing = None;
    let attempt = timeout(work.deadline, attempt(work, session, transaction, &mut committing)).await;
    let failure = match attempt {
        Ok(Ok(())) => return Report::Stored { lane, outputs: committing.unwrap_or_default() },
        Ok(Err(failure)) => failure,
        Err(_elapsed) => no_answer("a transaction", work.deadline).into(),
    };
    // Whatever went wrong, the connection goes: its state is not worth a guess, and contention is rare.
    let dropped = session.take();
    let (error, record) = match failure {
        Failure::Fenced => return Report::Fenced { lane },
        Failure::Halt(halt) => return Report::Halt(halt),
        Failure::NoSession(error) if is_refusal(error.class) => {
            return Report::Out { lane, said: error.message };
        }
        Failure::NoSession(error) => (error, None),
        Failure::Database(error, record) => (error, record),
    };
    if error.class == ErrorClass::Unknown {
        let (code, said) = (error.code, &error.message);
        tracing::error!(
            lane,
            code,
            said,
            "an error code that no table knows: held like an outage, please look"
        );
    }
    match (error.class, committing) {
        (ErrorClass::Outage | ErrorClass::Unknown, Some(outputs)) if !error.rolled_back => {
            drop(dropped);
            Report::InDoubt { lane, outputs, said: error.message }
        }
        (ErrorClass::Outage | ErrorClass::Unknown, _) => Report::Out { lane, said: error.message },
        (ErrorClass::Contention, _) => {
            *session = roll_back(dropped, work.deadline).await;
            Report::Contended { lane }
        }
        (ErrorClass::Reject, _) => {
            drop(dropped);
            refused_or_fenced(lane, work, transaction, &error, record).await
        }
        (class, _) => Report::Halt(refused(class, &error).about(record)),
    }
}

/// A newer instance may have stored these very events: their keys are there, and this one meets them before it meets
/// the positions. Whose key groups they are decides what the refusal means.
async fn refused_or_fenced(
    lane: usize,
    work: &Work,
    transaction: &Transaction<Queued>,
    error: &DatabaseError,
    record: Option<Coordinates>,
) -> Report {
    let asked = timeout(work.deadline, async {
        let mut session = work.database.connect().await?;
        session.positions().await
    });
    let rows = match asked.await {
        Ok(Ok(rows)) => rows,
        Ok(Err(error)) => return Report::Out { lane, said: error.message },
        Err(_elapsed) => {
            let said = no_answer("a look-up of positions", work.deadline).message;
            return Report::Out { lane, said };
        }
    };
    let mine =
        |group, incarnation| rows.iter().any(|row| row.group == group && row.incarnation == incarnation);
    if transaction.batches.iter().all(|batch| mine(batch.group, batch.incarnation)) {
        Report::Halt(refused(error.class, error).about(record))
    } else {
        Report::Fenced { lane }
    }
}

async fn roll_back(session: Option<Box<dyn Session>>, deadline: Duration) -> Option<Box<dyn Session>> {
    let mut session = session?;
    let rolled_back = timeout(deadline, session.rollback()).await;
    matches!(rolled_back, Ok(Ok(()))).then_some(session)
}

async fn attempt(
    work: &Work,
    slot: &mut Option<Box<dyn Session>>,
    transaction: &Transaction<Queued>,
    committing: &mut Option<Vec<Outputs>>,
) -> Result<(), Failure> {
    let session = begin(work, slot).await?;
    let mut events: Vec<Looked<'_>> = looked(work, transaction);
    let keys = events.iter().map(|looked| &looked.event.key[..]);
    for wave in waves(keys, work.spec.database.steps.len() == 1) {
        let wave: Vec<usize> = wave.into_iter().filter(|i| events.get(*i).is_some_and(is_readable)).collect();
        if !wave.is_empty() {
            run_steps(work, session, &mut events, &wave).await?;
        }
    }
    let mut outputs = Vec::with_capacity(transaction.batches.len());
    let mut rest = &events[..];
    for batch in &transaction.batches {
        let (mine, others) = rest.split_at(batch.events.len().min(rest.len()));
        rest = others;
        let made = work.outputs.of_batch(mine);
        outputs.push(made.map_err(|e| Failure::Halt(unwritable(&e)))?);
    }
    if !session.advance(&advances(work, transaction, &outputs)?).await? {
        return Err(Failure::Fenced);
    }
    *committing = Some(outputs);
    session.commit().await?;
    Ok(())
}

/// Who is not let in has done nothing yet: whether that passes, as it may behind a failover, is for the prober to find out,
/// which halts the job where it stays.
fn is_refusal(class: ErrorClass) -> bool {
    matches!(class, ErrorClass::Rights | ErrorClass::Misconfigured)
}

/// Begins on the session that is there, or on a new one. A session that has idled may be dead without anybody
/// having noticed; nothing was sent on it yet, so it is replaced without a word.
async fn begin<'a>(
    work: &Work,
    slot: &'a mut Option<Box<dyn Session>>,
) -> Result<&'a mut Box<dyn Session>, Failure> {
    if let Some(mut session) = slot.take() {
        match session.begin().await {
            Ok(()) => return Ok(slot.insert(session)),
            Err(error) if error.broken => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut session = work.database.connect().await.map_err(Failure::NoSession)?;
    session.begin().await?;
    Ok(slot.insert(session))
}

fn is_readable(looked: &Looked<'_>) -> bool {
    matches!(looked.event.body, Body::Readable { .. })
}

fn looked<'a>(work: &Work, transaction: &'a Transaction<Queued>) -> Vec<Looked<'a>> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    let now = i64::try_from(now).ok().and_then(Timestamp::from_unix_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    let events = transaction.batches.iter().flat_map(|batch| &batch.events);
    let steps = work.spec.database.steps.len();
    events.map(|queued| Looked { event: &queued.event, rows: vec![None; steps], now }).collect()
}

async fn run_steps(
    work: &Work,
    session: &mut Box<dyn Session>,
    events: &mut [Looked<'_>],
    wave: &[usize],
) -> Result<(), Failure> {
    for (number, step) in work.spec.database.steps.iter().enumerate() {
        let statement = match step {
            Step::Lookup(lookup) => &lookup.statement,
            Step::Store(store) => &store.statement,
        };
        let rows: Vec<Row> =
            wave.iter().filter_map(|i| events.get(*i)).map(|e| bind(work, e, statement)).collect();
        match step {
            Step::Store(_) => {
                session.store(number, &rows).await.map_err(|error| blame(work, error, events, wave))?;
            }
            Step::Lookup(lookup) => {
                let found =
                    session.lookup(number, &rows).await.map_err(|error| blame(work, error, events, wave))?;
                for (index, row) in wave.iter().zip(found) {
                    let Some(looked) = events.get_mut(*index) else { continue };
                    if row.is_none() && lookup.missing == Missing::Reject {
                        return Err(Failure::Halt(missing(work, looked, lookup.name.as_deref(), number)));
                    }
                    if let Some(slot) = looked.rows.get_mut(number) {
                        *slot = row;
                    }
                }
            }
        }
    }
    Ok(())
}

fn bind(work: &Work, looked: &Looked<'_>, statement: &Statement) -> Vec<Value> {
    statement.parameters.iter().map(|of| work.outputs.value(looked, of)).collect()
}

fn advances(
    work: &Work,
    transaction: &Transaction<Queued>,
    outputs: &[Outputs],
) -> Result<Vec<Advance>, Failure> {
    let batches = transaction.batches.iter().zip(outputs);
    batches
        .map(|(batch, outputs)| {
            let outbox = outputs.to_outbox().map_err(|e| {
                Failure::Halt(Halt::new(HaltKind::Internal, format!("cannot encode an outbox row: {e}")))
            })?;
            Ok(Advance {
                group: batch.group,
                incarnation: batch.incarnation,
                batch: batch.number,
                positions: batch.places.to_text(&work.spec.source.topics),
                outbox,
                confirmed: batch.confirmed,
            })
        })
        .collect()
}

/// Adds to an error which record it is about, where the engine named the row.
fn blame(work: &Work, mut error: DatabaseError, events: &[Looked<'_>], wave: &[usize]) -> Failure {
    let index = error.row.and_then(|row| wave.get(row)).copied();
    let record = index.and_then(|index| events.get(index)).map(|looked| looked.event.at);
    if let Some(at) = record {
        error.message = format!("record {}: {}", work.outputs.source_of(at), error.message);
    }
    Failure::Database(error, record)
}

fn unwritable(error: &CannotEncode) -> Halt {
    Halt::new(HaltKind::Reject, error.to_string()).about(Some(error.event)).because("unwritable output", None)
}

fn missing(work: &Work, looked: &Looked<'_>, name: Option<&str>, number: usize) -> Halt {
    let step =
        name.map_or_else(|| format!("step {}", number.saturating_add(1)), |name| format!("step \"{name}\""));
    Halt::new(
        HaltKind::Reject,
        format!(
            "record {}: look-up {step} found no row, and its `missing` is \"reject\": add the row, or set missing = \
             \"null\", and start again; the job goes on with this very record",
            work.outputs.source_of(looked.event.at)
        ),
    )
    .about(Some(looked.event.at))
    .because("missing look-up", None)
}

fn refused(class: ErrorClass, error: &DatabaseError) -> Halt {
    let (kind, what) = match class {
        ErrorClass::Reject => {
            (HaltKind::Reject, "the database refuses an event, and rejects.refused is \"halt\"")
        }
        ErrorClass::Misconfigured => (HaltKind::Misconfigured, "the job and the schema do not fit"),
        ErrorClass::Rights => (HaltKind::Rights, "the database account may not do this"),
        ErrorClass::Outage | ErrorClass::Contention | ErrorClass::Unknown => {
            (HaltKind::Internal, "an outage was taken for a refusal")
        }
    };
    Halt::new(kind, format!("{what}: {}", error.message))
        .because(format!("database {}", class.as_str()), error.code.map(|code| code.to_string()))
}

async fn settle(
    lane: usize,
    work: &Work,
    slot: &mut Option<Box<dyn Session>>,
    groups: &[KeyGroup],
) -> Report {
    let asked = timeout(work.deadline, async {
        // Always a new connection: the old one may be the one whose COMMIT is still on its way.
        let mut session = work.database.connect().await.map_err(Failure::NoSession)?;
        let rows = session.settle(groups).await?;
        Ok::<_, Failure>((session, rows))
    });
    let error = match asked.await {
        Ok(Ok((session, rows))) => {
            *slot = Some(session);
            let rows = rows.into_iter().map(|row| (row.group, row.incarnation, row.batch)).collect();
            return Report::Settled { lane, rows };
        }
        Ok(Err(Failure::NoSession(error))) if is_refusal(error.class) => {
            return Report::Unsettled { lane, said: error.message };
        }
        Ok(Err(Failure::Database(error, _) | Failure::NoSession(error))) => error,
        Ok(Err(Failure::Fenced)) => return Report::Fenced { lane },
        Ok(Err(Failure::Halt(halt))) => return Report::Halt(halt),
        Err(_elapsed) => no_answer("a look-up of positions", work.deadline),
    };
    match error.class {
        // Contention: the transaction in doubt still holds the rows. It is asked again.
        ErrorClass::Outage | ErrorClass::Unknown | ErrorClass::Contention => {
            Report::Unsettled { lane, said: error.message }
        }
        class => Report::Halt(refused(class, &error)),
    }
}

fn no_answer(what: &str, deadline: Duration) -> DatabaseError {
    DatabaseError {
        class: ErrorClass::Outage,
        code: None,
        message: format!("{what} had no answer for {} s; its connection is given up", deadline.as_secs()),
        broken: true,
        rolled_back: false,
        row: None,
    }
}
