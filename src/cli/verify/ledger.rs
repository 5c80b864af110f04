//! Ledger: what it says of the job, read once at the beginning.
//!
//! In:        a job     Out: its row and its frontier
//! Fails:     a database that does not answer; a job that has not run: then there is nothing to hold anything against
//! Not here:  the outbox: nothing in front of the frontier is on its way (compare)

use super::Failure;
use super::reading::DEADLINE;
use crate::cli::worlds::Worlds;
use crate::database::{DatabaseError, ErrorClass, FrontierRow, JobRow, LedgerState, ResetRow};
use crate::protocol::halt::HaltKind;

/// What the ledger says.
pub(super) struct Ledger {
    pub(super) job: JobRow,
    pub(super) frontier: Vec<FrontierRow>,
    pub(super) resets: Vec<ResetRow>,
}

pub(super) fn read(job: &Worlds) -> Result<Ledger, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| {
        Failure::new(HaltKind::Internal, format!("cannot start the tokio runtime: {error}"))
    })?;
    let asked = async {
        let mut session = job.database.connect().await?;
        if session.ledger_state().await? == LedgerState::Missing {
            return Ok((None, Vec::new(), Vec::new()));
        }
        let row = session.job_row().await?;
        Ok::<_, DatabaseError>((row, session.frontier().await?, session.resets().await?))
    };
    let answer = runtime.block_on(async { tokio::time::timeout(DEADLINE, asked).await });
    let no_answer =
        |_elapsed| Failure::new(HaltKind::Outage, format!("ledger: no answer for {} s", DEADLINE.as_secs()));
    match answer.map_err(no_answer)? {
        Ok((Some(row), frontier, resets)) => Ok(Ledger { job: row, frontier, resets }),
        Ok((None, ..)) => Err(not_run(job)),
        Err(error) => {
            let kind = match error.class {
                ErrorClass::Rights => HaltKind::Rights,
                ErrorClass::Reject | ErrorClass::Misconfigured => HaltKind::Misconfigured,
                ErrorClass::Outage | ErrorClass::Contention | ErrorClass::Unknown => HaltKind::Outage,
            };
            Err(Failure::new(kind, format!("ledger: {error}")))
        }
    }
}

fn not_run(job: &Worlds) -> Failure {
    let text = format!(
        "the ledger knows no job \"{}\": it has not run yet, or database.url names another database",
        job.spec.name
    );
    Failure::new(HaltKind::Misconfigured, text)
}
