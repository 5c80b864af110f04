//! Lane: one database connection, and the task that runs transactions on it.
//!
//! In:        a transaction to run, or position rows to look up     Out: one report per command
//! Holds:     a session while the database answers; none through an outage
//! Order:     one command at a time; a transaction in which an event is refused runs again without it, until it commits
//! Fails:     by report, with the class that the database gave. A deadline drops the connection: what was sent may be
//!            done or not, and is looked up
//! Not here:  what is sent to the database (attempt, retry), what becomes of a refused event (aside), no decision
//!            (protocol::gate)

use super::aside::Asides;
use super::attempt::{Run, attempt};
use super::cache::Cache;
use super::outputs::{OutputSetup, Outputs};
use super::retry::retry;
use super::{GateSetup, Queued, ReadAgain, Sender};
use crate::database::{Database, DatabaseError, ErrorClass, Session};
use crate::job::{JobSpec, SetPlan};
#[cfg(test)]
use crate::model::RecordLimits;
use crate::model::{BatchNumber, Coordinates, Incarnation, KeyGroup};
use crate::operator::guard::Care;
use crate::operator::host::Host;
use crate::operator::prober::Prober;
use crate::protocol::gate::{Outcome, Transaction};
use crate::protocol::halt::{Halt, HaltKind};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// A transaction that is not through by then takes long: nobody waits for it. Most take 5 to 20 ms.
const SOON: Duration = Duration::from_millis(50);

/// What a lane is told.
pub(super) enum Command {
    Store { transaction: Arc<Transaction<Queued>>, contended: u32 },
    Settle { groups: Vec<KeyGroup> },
}

/// What a lane, or the prober, reports.
pub(super) enum Report {
    Stored {
        lane: usize,
        outcomes: Vec<Outcome<Outputs>>,
    },
    Contended {
        lane: usize,
        said: String,
    },
    /// What it runs takes long. Its report comes later.
    Slow {
        lane: usize,
    },
    TooMuch {
        lane: usize,
    },
    Out {
        lane: usize,
        said: String,
    },
    InDoubt {
        lane: usize,
        outcomes: Vec<Outcome<Outputs>>,
        said: String,
    },
    Settled {
        lane: usize,
        rows: Vec<(KeyGroup, Incarnation, BatchNumber)>,
    },
    Unsettled {
        lane: usize,
        said: String,
    },
    Fenced {
        lane: usize,
    },
    Up,
    Halt(Halt),
}

/// What all lanes of a worker share.
#[derive(Clone)]
pub(super) struct Work {
    pub(super) spec: Arc<JobSpec>,
    pub(super) plan: Arc<SetPlan>,
    pub(super) database: Arc<dyn Database>,
    pub(super) outputs: Arc<OutputSetup>,
    pub(super) read_again: ReadAgain,
    pub(super) asides: Asides,
    pub(super) cache: Cache,
    pub(super) care: Option<Arc<Care>>,
    reports: Sender<Report>,
    prober: Arc<Prober>,
    /// Of each part of a transaction.
    pub(super) deadline: Duration,
}

impl Work {
    pub(super) fn new(setup: &GateSetup, reports: Sender<Report>) -> Work {
        Work {
            spec: Arc::clone(&setup.spec),
            plan: Arc::clone(&setup.plan),
            database: Arc::clone(&setup.database),
            outputs: Arc::clone(&setup.outputs),
            read_again: Arc::clone(&setup.read_again),
            asides: Asides::new(&setup.spec, &setup.board),
            cache: Cache::default(),
            care: setup.care.clone(),
            reports,
            prober: Arc::clone(&setup.prober),
            deadline: Duration::from_secs(u64::from(setup.spec.database.deadline_s)),
        }
    }

    /// What runs steps, with nobody to report to.
    #[cfg(test)]
    pub(super) fn alone(
        spec: Arc<JobSpec>,
        plan: Arc<SetPlan>,
        database: Arc<dyn Database>,
        host: &Host,
    ) -> Work {
        use crate::operator::mailbox::mailbox;
        use crate::status::{Board, World};
        let board = Arc::new(Board::new(1));
        let activations = timely::scheduling::activate::Activations::new(None);
        let nobody = timely::scheduling::SyncActivator::new(Vec::new(), activations.sync());
        let (reports, _unread) = mailbox(host.wake(nobody));
        let probe: crate::operator::prober::Probe = Box::new(|| Box::pin(async { Ok(()) }));
        Work {
            outputs: Arc::new(OutputSetup::new(Arc::clone(&spec), RecordLimits::default()).unwrap()),
            read_again: Arc::new(|_, _| None),
            asides: Asides::new(&spec, &board),
            cache: Cache::default(),
            care: None,
            reports,
            prober: Prober::start(World::Database, None, board, host, probe),
            deadline: Duration::from_secs(10),
            spec,
            plan,
            database,
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
                let stored = async {
                    tokio::time::sleep(pause(contended)).await;
                    store(lane, &work, &mut session, &transaction).await
                };
                slow_or_not(lane, &work, stored).await
            }
            Command::Settle { groups } => settle(lane, &work, &mut session, &groups).await,
        };
        drop(question);
        work.reports.send(report);
    }
}

/// Says that a transaction takes long, where it does; what it came to in any case.
async fn slow_or_not(lane: usize, work: &Work, stored: impl Future<Output = Report>) -> Report {
    let mut stored = pin!(stored);
    match timeout(SOON, stored.as_mut()).await {
        Ok(report) => report,
        Err(_elapsed) => {
            work.reports.send(Report::Slow { lane });
            stored.await
        }
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
pub(super) enum Failure {
    /// With the event that it is about, where that is known.
    Database(DatabaseError, Option<Coordinates>),
    /// No session was to be had.
    NoSession(DatabaseError),
    /// An event was set aside: the transaction runs again without it.
    Again,
    /// Nothing is wrong with any of its events, and all of them are too much for one transaction.
    TooMuch,
    /// The ledger's outbox refuses what is to be sent.
    Outbox(DatabaseError),
    /// The job's rule for an event that was refused is to halt.
    Refused(Halt),
    Fenced,
    Halt(Halt),
}

impl From<DatabaseError> for Failure {
    fn from(error: DatabaseError) -> Failure {
        Failure::Database(error, None)
    }
}

/// A transaction that is ready to be committed, batch by batch. Filled just before COMMIT is sent: from then on the outcome
/// may be unknown.
pub(super) type Committing = Option<Vec<Outcome<Outputs>>>;

async fn store(
    lane: usize,
    work: &Work,
    session: &mut Option<Box<dyn Session>>,
    transaction: &Transaction<Queued>,
) -> Report {
    let mut run = Run::new(work, transaction);
    loop {
        let mut committing = None;
        let once = if run.is_retry() {
            retry(work, session, transaction, &mut run, &mut committing).await
        } else {
            attempt(work, session, transaction, &mut run, &mut committing).await
        };
        let Err(failure) = once else {
            run.was_committed(work);
            return Report::Stored { lane, outcomes: committing.unwrap_or_default() };
        };
        if let Failure::Again = failure {
            *session = roll_back(session.take(), work.deadline).await;
            continue;
        }
        if let Failure::TooMuch = failure {
            *session = roll_back(session.take(), work.deadline).await;
            return Report::TooMuch { lane };
        }
        let report = failed(lane, work, session, transaction, failure, committing).await;
        if let Report::InDoubt { .. } = &report {
            run.was_committed(work);
        }
        return report;
    }
}

async fn failed(
    lane: usize,
    work: &Work,
    session: &mut Option<Box<dyn Session>>,
    transaction: &Transaction<Queued>,
    failure: Failure,
    committing: Committing,
) -> Report {
    // Whatever went wrong, the connection goes: its state is not worth a guess, and contention is rare.
    let dropped = session.take();
    let (error, record) = match failure {
        Failure::Fenced => return Report::Fenced { lane },
        Failure::Halt(halt) => return Report::Halt(halt),
        Failure::Refused(halt) => {
            drop(dropped);
            return refused_or_fenced(lane, work, transaction, halt).await;
        }
        Failure::NoSession(error) if is_refusal(error.class) => {
            return Report::Out { lane, said: error.message };
        }
        Failure::Again | Failure::TooMuch => {
            (no_answer("a transaction that runs again", work.deadline), None)
        }
        Failure::NoSession(error) => (error, None),
        Failure::Outbox(error) => (error, None),
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
        (ErrorClass::Outage | ErrorClass::Unknown, Some(outcomes)) if !error.rolled_back => {
            drop(dropped);
            Report::InDoubt { lane, outcomes, said: error.message }
        }
        (ErrorClass::Outage | ErrorClass::Unknown, _) => Report::Out { lane, said: error.message },
        (ErrorClass::Contention, _) => {
            *session = roll_back(dropped, work.deadline).await;
            Report::Contended { lane, said: error.message }
        }
        (ErrorClass::Reject, _) => {
            drop(dropped);
            refused_or_fenced(lane, work, transaction, refused(error.class, &error).about(record)).await
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
    halt: Halt,
) -> Report {
    match is_mine(work, transaction).await {
        Ok(true) => Report::Halt(halt),
        Ok(false) => Report::Fenced { lane },
        Err(error) => Report::Out { lane, said: error.message },
    }
}

/// Whether this instance still owns the key groups of a transaction, asked on a new connection.
pub(super) async fn is_mine(work: &Work, transaction: &Transaction<Queued>) -> Result<bool, DatabaseError> {
    let asked = timeout(work.deadline, async {
        let mut session = work.database.connect().await?;
        session.positions().await
    });
    let rows =
        asked.await.unwrap_or_else(|_elapsed| Err(no_answer("a look-up of positions", work.deadline)))?;
    let mine =
        |group, incarnation| rows.iter().any(|row| row.group == group && row.incarnation == incarnation);
    Ok(transaction.batches.iter().all(|batch| mine(batch.group, batch.incarnation)))
}

async fn roll_back(session: Option<Box<dyn Session>>, deadline: Duration) -> Option<Box<dyn Session>> {
    let mut session = session?;
    let rolled_back = timeout(deadline, session.rollback()).await;
    matches!(rolled_back, Ok(Ok(()))).then_some(session)
}

/// Who is not let in has done nothing yet: whether that passes, as it may behind a failover, is for the prober to find out,
/// which halts the job where it stays.
fn is_refusal(class: ErrorClass) -> bool {
    matches!(class, ErrorClass::Rights | ErrorClass::Misconfigured)
}

/// Begins on the session that is there, or on a new one. A session that has idled may be dead without anybody
/// having noticed; nothing was sent on it yet, so it is replaced without a word.
pub(super) async fn begin<'a>(
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

/// The halt of what the database will not take.
pub(super) fn refused(class: ErrorClass, error: &DatabaseError) -> Halt {
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
        Ok(Err(Failure::Database(error, _) | Failure::NoSession(error) | Failure::Outbox(error))) => error,
        Ok(Err(Failure::Fenced)) => return Report::Fenced { lane },
        Ok(Err(Failure::Halt(halt) | Failure::Refused(halt))) => return Report::Halt(halt),
        Ok(Err(Failure::Again | Failure::TooMuch)) => no_answer("a look-up of positions", work.deadline),
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

/// A deadline has passed.
pub(super) fn no_answer(what: &str, deadline: Duration) -> DatabaseError {
    DatabaseError {
        class: ErrorClass::Outage,
        code: None,
        message: format!("{what} had no answer for {} s; its connection is given up", deadline.as_secs()),
        broken: true,
        rolled_back: false,
        row: None,
    }
}
