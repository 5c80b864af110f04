//! What a start and the commits ask of the ledger, with patience: each question on a session that is there or a new one.
//!
//! In:        a question     Out: its answer, or what the error asks for
//! Holds:     one session between questions
//! Fails:     outage -> the caller asks again; anything else -> halt
//! Not here:  no SQL (database)

use crate::cluster::Job;
use crate::database::{Database, DatabaseError, ErrorClass, FrontierRow, PositionRow, Session};
use crate::job::JobSpec;
use crate::model::{Incarnation, KeyGroup};
use crate::operator::commit::{Positions, WritePositions, Written};
use crate::operator::host::Aside;
use crate::operator::refusals::Refusals;
use crate::operator::sink::AskOwner;
use crate::operator::source::AskMarks;
use crate::protocol::halt::{Halt, HaltKind};
use crate::status::World;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

/// What an error asks for.
#[derive(Debug)]
pub(super) enum Trouble {
    /// Ask again later.
    Later(String),
    /// Stop.
    Halt(Halt),
}

impl From<DatabaseError> for Trouble {
    fn from(error: DatabaseError) -> Trouble {
        let kind = match error.class {
            ErrorClass::Outage | ErrorClass::Unknown | ErrorClass::Contention => {
                return Trouble::Later(error.message);
            }
            ErrorClass::Reject | ErrorClass::Misconfigured => HaltKind::Misconfigured,
            ErrorClass::Rights => HaltKind::Rights,
        };
        let halt = Halt::new(kind, format!("the ledger cannot be used: {}", error.message));
        let (class, code) = (error.class.as_str(), error.code.map(|code| code.to_string()));
        Trouble::Halt(halt.because(format!("database {class}"), code))
    }
}

const DEADLINE: Duration = Duration::from_secs(10);

/// One session, opened when it is needed.
pub(super) struct LedgerClient {
    database: Arc<dyn Database>,
    session: Mutex<Option<Box<dyn Session>>>,
    /// Of the questions that a running job asks.
    refusals: std::sync::Mutex<Refusals>,
}

impl LedgerClient {
    pub(super) fn new(database: Arc<dyn Database>) -> LedgerClient {
        LedgerClient { database, session: Mutex::new(None), refusals: std::sync::Mutex::default() }
    }

    /// Asks once, within a deadline. After any error the session is dropped.
    pub(super) async fn ask<T>(
        &self,
        question: impl AsyncFnOnce(&mut dyn Session) -> Result<T, DatabaseError>,
    ) -> Result<T, Trouble> {
        let mut slot = self.session.lock().await;
        let asked = timeout(DEADLINE, async {
            let mut session = self.session(slot.take()).await?;
            let answer = question(&mut *session).await?;
            *slot = Some(session);
            Ok(answer)
        });
        in_time(asked.await)
    }

    // The next three are `ask` written out: the compiler cannot see yet that a future with an async closure in it is Send.

    async fn positions(&self) -> Result<Vec<PositionRow>, Trouble> {
        let mut slot = self.session.lock().await;
        let asked = timeout(DEADLINE, async {
            let mut session = self.session(slot.take()).await?;
            let rows = session.positions().await?;
            *slot = Some(session);
            Ok(rows)
        });
        self.believe(in_time(asked.await))
    }

    async fn marked(&self, groups: &[KeyGroup]) -> Result<Vec<KeyGroup>, Trouble> {
        let mut slot = self.session.lock().await;
        let asked = timeout(DEADLINE, async {
            let mut session = self.session(slot.take()).await?;
            let marked = session.marked_groups(groups).await?;
            *slot = Some(session);
            Ok(marked)
        });
        in_time(asked.await)
    }

    /// `false`: the positions were reset since.
    async fn advance_frontier(&self, rows: &[FrontierRow], resets: u64) -> Result<bool, Trouble> {
        let mut slot = self.session.lock().await;
        let asked = timeout(DEADLINE, async {
            let mut session = self.session(slot.take()).await?;
            let written = session.advance_frontier(rows, resets).await?;
            *slot = Some(session);
            Ok(written)
        });
        self.believe(in_time(asked.await))
    }

    /// A job that runs does not halt for a refusal that passes: its lanes do not, either.
    fn believe<T>(&self, answer: Result<T, Trouble>) -> Result<T, Trouble> {
        let mut refusals = self.refusals.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Err(Trouble::Halt(halt)) => Err(match refusals.again() {
                None => Trouble::Later(halt.message),
                Some(refused_for) => {
                    let seconds = refused_for.as_secs();
                    let message = format!("the database has refused for {seconds} s: {}", halt.message);
                    Trouble::Halt(Halt { message, ..halt })
                }
            }),
            other => {
                refusals.end();
                other
            }
        }
    }

    async fn session(&self, held: Option<Box<dyn Session>>) -> Result<Box<dyn Session>, DatabaseError> {
        match held {
            Some(session) => Ok(session),
            None => self.database.connect().await,
        }
    }
}

fn in_time<T>(asked: Result<Result<T, DatabaseError>, tokio::time::error::Elapsed>) -> Result<T, Trouble> {
    match asked {
        Ok(answer) => answer.map_err(Trouble::from),
        Err(_elapsed) => {
            Err(Trouble::Later(format!("the ledger had no answer for {} s", DEADLINE.as_secs())))
        }
    }
}

/// What an instance has claimed.
pub(super) type Claims = Arc<Vec<(KeyGroup, Incarnation)>>;

/// Whether these claims are the newest ones.
async fn stand(client: &LedgerClient, claims: &Claims) -> Result<bool, Trouble> {
    let rows = client.positions().await?;
    let held = |(group, incarnation): &(KeyGroup, Incarnation)| {
        rows.iter().any(|row| row.group == *group && row.incarnation == *incarnation)
    };
    Ok(claims.iter().all(held))
}

/// Ends when another instance, or a reset, has claimed one of these key groups: an instance that has nothing to store and
/// nothing to send would not notice by itself. `over`: raised when nobody waits for it any more.
pub(super) async fn superseded(database: Arc<dyn Database>, claims: Claims, over: Arc<AtomicBool>) -> bool {
    const EVERY: Duration = Duration::from_secs(10);
    let client = LedgerClient::new(database);
    loop {
        sleep(EVERY).await;
        if over.load(Ordering::Relaxed) {
            return false;
        }
        // Whatever is wrong with the database is said by those who need it.
        if let Ok(false) = stand(&client, &claims).await {
            return true;
        }
    }
}

/// Asks the ledger who owns these key groups, until it answers.
pub(super) fn owner(database: Arc<dyn Database>, claims: Claims) -> AskOwner {
    let client = Arc::new(LedgerClient::new(database));
    Arc::new(move || {
        let (claims, client) = (Arc::clone(&claims), Arc::clone(&client));
        Box::pin(async move {
            loop {
                match stand(&client, &claims).await {
                    Ok(stand) => return stand,
                    // Who may not even ask does not own the job any more.
                    Err(Trouble::Halt(_)) => return false,
                    Err(Trouble::Later(_)) => sleep(Duration::from_millis(500)).await,
                }
            }
        })
    })
}

/// Asks the ledger which of these key groups are marked; not while the database is out: its prober knocks, and nobody else.
pub(super) fn marks(job: &Job, groups: Vec<KeyGroup>) -> AskMarks {
    let (client, groups) = (Arc::new(LedgerClient::new(Arc::clone(&job.database))), Arc::new(groups));
    let board = Arc::clone(&job.board);
    Arc::new(move || {
        let (client, groups) = (Arc::clone(&client), Arc::clone(&groups));
        let is_out = board.holding().iter().any(|hold| hold.world == World::Database);
        // Whatever is wrong with the database is said by those who need it.
        Box::pin(async move { if is_out { None } else { client.marked(&groups).await.ok() } })
    })
}

/// Writes positions to the ledger; then, for lag tools and with this job's mark, to the consumer group. `resets`: as the
/// ledger had it at the start.
pub(super) fn position_writer(job: &Job, resets: u64, mark: String, aside: Aside) -> WritePositions {
    let client = Arc::new(LedgerClient::new(Arc::clone(&job.database)));
    /// So many times in a row the frontier may be late without a word.
    const LATE: u32 = 30;
    let late = Arc::new(AtomicU32::new(0));
    let (log, spec, mark): (_, _, Arc<str>) = (Arc::clone(&job.log), Arc::clone(&job.spec), mark.into());
    Arc::new(move |positions| {
        let (client, log, spec) = (Arc::clone(&client), Arc::clone(&log), Arc::clone(&spec));
        let (mark, aside, late) = (Arc::clone(&mark), aside.clone(), Arc::clone(&late));
        Box::pin(async move {
            let rows = rows_of(&positions, &spec);
            let written = client.advance_frontier(&rows, resets).await;
            match written {
                Ok(true) => late.store(0, Ordering::Relaxed),
                Ok(false) => return Written::Halt(were_reset(&spec)),
                Err(Trouble::Later(said)) => {
                    // Each second in an outage, which others tell of; what stays when that is over must be heard of.
                    let times = late.fetch_add(1, Ordering::Relaxed).saturating_add(1);
                    if times.is_multiple_of(LATE) {
                        tracing::warn!(
                            said,
                            times,
                            "the frontier could not be written so many times in a row"
                        );
                    } else {
                        tracing::debug!(said, "the frontier is written later");
                    }
                    return Written::NotNow;
                }
                Err(Trouble::Halt(halt)) => return Written::Halt(halt),
            }
            let shown = aside.run(async move { log.commit_group(&positions, &mark, DEADLINE).await }).await;
            if let Some(Err(error)) = shown {
                // A display for lag tools: the ledger is the truth, the next second's commit shows it.
                tracing::debug!(said = error.message, "the consumer group's offsets were not updated");
            }
            Written::Yes
        })
    })
}

fn were_reset(spec: &JobSpec) -> Halt {
    let text = format!(
        "the positions of job \"{}\" were reset (`tidegate offsets reset`) while this instance ran: it stops; the next start \
         goes on at the new positions",
        spec.name
    );
    Halt::new(HaltKind::Fenced, text)
}

fn rows_of(positions: &Positions, spec: &JobSpec) -> Vec<FrontierRow> {
    let row = |(at, next): &(crate::model::TopicPartition, crate::model::NextOffset)| FrontierRow {
        topic: spec.topic_of(*at).to_owned(),
        partition: at.partition,
        next: *next,
    };
    positions.iter().map(row).collect()
}
