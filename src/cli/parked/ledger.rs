//! The ledger, as a person's command asks it: again and again for a while where somebody is in the way.
//!
//! In:        a job file; questions     Out: their answers
//! Holds:     one session
//! Order:     the tables and the job's row are looked at first
//! Fails:     69: no answer; 77: rights; 78: the job file, no such job, or tables that an older Tidegate has made
//! Not here:  no Kafka: nothing of this needs it

use super::Failure;
use crate::cli::{exit, load};
use crate::database::{self, Database, DatabaseError, ErrorClass, LedgerState, Session};
use crate::job::{DatabaseKind, JobSpec};
use crate::protocol::halt::HaltKind;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// How long somebody may be in the way, or the database away.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long one question may take: a page behind a key with a million events is read from disk.
const DEADLINE: Duration = Duration::from_secs(60);

const BETWEEN: Duration = Duration::from_millis(100);

/// An open ledger.
pub(super) struct Ledger {
    pub(super) spec: JobSpec,
    database: Arc<dyn Database>,
    session: Option<Box<dyn Session>>,
    runtime: Runtime,
}

impl Ledger {
    /// Loads the job and looks whether its ledger is there.
    pub(super) fn open(job: &Path) -> Result<Ledger, Failure> {
        let spec = load::load(job).map_err(|text| (text, exit::JOB))?.spec;
        if let DatabaseKind::Sqlite { path } = &spec.database.kind
            && !Path::new(path).exists()
        {
            let text = format!(
                "database.url: the file {path} does not exist: the job has not run yet, or not from this folder"
            );
            return Err((text, exit::JOB));
        }
        let database = database::open(&spec.database, &spec.name);
        let database = database.map_err(|error| (error.to_string(), exit::JOB))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime =
            runtime.map_err(|error| (format!("cannot start the tokio runtime: {error}"), exit::INTERNAL))?;
        let mut ledger = Ledger { spec, database, session: None, runtime };
        let found = ledger.ask(async |session| match session.ledger_state().await? {
            LedgerState::Missing => Ok(None),
            // Of an older version its reading says what to do.
            LedgerState::Older(_) | LedgerState::Ready => session.job_row().await,
        })?;
        if found.is_none() {
            let text = format!(
                "the ledger knows no job \"{}\": it has not run yet, or database.url names another database",
                ledger.spec.name
            );
            return Err((text, exit::JOB));
        }
        Ok(ledger)
    }

    /// Asks, and asks again where that may help.
    pub(super) fn ask<T>(
        &mut self,
        question: impl AsyncFn(&mut dyn Session) -> Result<T, DatabaseError>,
    ) -> Result<T, Failure> {
        let began = Instant::now();
        loop {
            let asked = self.ask_once(&question);
            let error = match asked {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let passes = matches!(error.class, ErrorClass::Outage | ErrorClass::Contention);
            if !passes || began.elapsed() > PATIENCE {
                return Err(failure(&error));
            }
            std::thread::sleep(BETWEEN);
        }
    }

    fn ask_once<T>(
        &mut self,
        question: &impl AsyncFn(&mut dyn Session) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let (database, held) = (Arc::clone(&self.database), self.session.take());
        let asking = async {
            let mut session = match held {
                Some(session) => session,
                None => database.connect().await?,
            };
            let answer = question(&mut *session).await?;
            Ok((session, answer))
        };
        let asked = self.runtime.block_on(async { tokio::time::timeout(DEADLINE, asking).await });
        let (session, answer) = asked.unwrap_or_else(|_elapsed| {
            let message = format!("no answer for {} s", DEADLINE.as_secs());
            let class = ErrorClass::Unknown;
            Err(DatabaseError { class, code: None, message, broken: true, rolled_back: false, row: None })
        })?;
        self.session = Some(session);
        Ok(answer)
    }
}

fn failure(error: &DatabaseError) -> Failure {
    let kind = match error.class {
        ErrorClass::Rights => HaltKind::Rights,
        ErrorClass::Reject | ErrorClass::Misconfigured => HaltKind::Misconfigured,
        ErrorClass::Outage | ErrorClass::Contention | ErrorClass::Unknown => HaltKind::Outage,
    };
    (format!("ledger: {error}"), kind.exit_code())
}
