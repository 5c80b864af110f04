//! Ledger: what it says of the job, read once at the beginning; and its parked events, page by page behind that.
//!
//! In:        a job     Out: its row and its frontier; where its parked events came from
//! Fails:     a database that does not answer; a job that has not run: then there is nothing to hold anything against
//! Not here:  the rest of the outbox: of what was never parked nothing in front of the frontier is on its way (compare)

use super::Failure;
use super::gather::source_of;
use super::reading::DEADLINE;
use crate::cli::worlds::Worlds;
use crate::database::{
    DatabaseError, ErrorClass, FrontierRow, JobRow, LedgerState, ParkedState, ParkedWish, ResetRow,
};
use crate::model::{Coordinates, KeyGroup, TopicPartition};
use crate::operator::gate::{Outputs, is_of_retry};
use crate::protocol::halt::HaltKind;
use tokio::runtime::Runtime;
use tokio::time::error::Elapsed;
use tokio::time::timeout;

/// Rows of a page.
const PAGE: usize = 5_000;

/// What the ledger says.
pub(super) struct Ledger {
    pub(super) job: JobRow,
    pub(super) frontier: Vec<FrontierRow>,
    pub(super) resets: Vec<ResetRow>,
    /// An older ledger has no table for parked events.
    pub(super) has_parked: bool,
}

pub(super) fn read(job: &Worlds) -> Result<Ledger, Failure> {
    let runtime = runtime()?;
    let asked = async {
        let mut session = job.database.connect().await?;
        let state = session.ledger_state().await?;
        if state == LedgerState::Missing {
            return Ok((None, Vec::new(), Vec::new(), false));
        }
        let has_parked = state == LedgerState::Ready;
        let row = session.job_row().await?;
        Ok::<_, DatabaseError>((row, session.frontier().await?, session.resets().await?, has_parked))
    };
    let answer = runtime.block_on(async { timeout(DEADLINE, asked).await });
    match in_time(answer)? {
        (Some(row), frontier, resets, has_parked) => Ok(Ledger { job: row, frontier, resets, has_parked }),
        (None, ..) => Err(not_run(job)),
    }
}

/// Every parked event, dropped ones included: what it came from and its state; and, behind them, every event that came out of
/// the parked ones and is on its way to Kafka. To be asked behind the frontier and in front of what was sent: an event that is
/// tried again meanwhile is then found in one of the three.
pub(super) fn parked(
    job: &Worlds,
    key_groups: u32,
    each: &mut dyn FnMut(Aside) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let runtime = runtime()?;
    let mut session = in_time(runtime.block_on(async { timeout(DEADLINE, job.database.connect()).await }))?;
    let mut after = None;
    loop {
        let wish = ParkedWish::default();
        let page = session.parked(&wish, after, PAGE, false);
        let page = in_time(runtime.block_on(async { timeout(DEADLINE, page).await }))?;
        for row in &page {
            let Some(topic) = job.spec.topic_index(&row.topic) else { continue };
            let at = TopicPartition { topic, partition: row.partition };
            let source = Coordinates { at, offset: row.offset, index: row.index };
            each(Aside { source, is_dropped: row.state == ParkedState::Dropped })?;
        }
        after = match page.last() {
            Some(last) if page.len() == PAGE => Some(last.at),
            _ => break,
        };
    }
    for group in (0..key_groups).map(KeyGroup) {
        let groups = [group];
        let rows = session.outbox(&groups);
        let rows = in_time(runtime.block_on(async { timeout(DEADLINE, rows).await }))?;
        for row in rows.iter().filter(|row| is_of_retry(&row.outputs)) {
            let outputs = Outputs::from_outbox(&row.outputs, &job.spec.output_topics).map_err(|bad| {
                let text = format!("outbox of key group {group}, batch {}: {bad}", row.batch);
                Failure::new(HaltKind::Fenced, text)
            })?;
            for record in &outputs.records {
                if let Some(source) = source_of(&record.headers, &job.spec.source.topics) {
                    each(Aside { source, is_dropped: false })?;
                }
            }
        }
    }
    Ok(())
}

/// An event that the ledger holds.
pub(super) struct Aside {
    pub(super) source: Coordinates,
    pub(super) is_dropped: bool,
}

/// Which of these events wait in the ledger now.
pub(super) fn still_parked(job: &Worlds, of: &[Coordinates]) -> Result<Vec<Coordinates>, Failure> {
    if of.is_empty() {
        return Ok(Vec::new());
    }
    let runtime = runtime()?;
    let mut session = in_time(runtime.block_on(async { timeout(DEADLINE, job.database.connect()).await }))?;
    let mut still = Vec::new();
    for at in of {
        let source = (job.spec.topic_of(at.at).to_owned(), at.at.partition, at.offset);
        let wish = ParkedWish { source: Some(source), ..ParkedWish::default() };
        let rows = session.parked(&wish, None, PAGE, false);
        let rows = in_time(runtime.block_on(async { timeout(DEADLINE, rows).await }))?;
        if rows.iter().any(|row| row.index == at.index && row.state != ParkedState::Dropped) {
            still.push(*at);
        }
    }
    Ok(still)
}

fn runtime() -> Result<Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime
        .map_err(|error| Failure::new(HaltKind::Internal, format!("cannot start the tokio runtime: {error}")))
}

fn in_time<T>(answer: Result<Result<T, DatabaseError>, Elapsed>) -> Result<T, Failure> {
    let answer = answer.map_err(|_elapsed| {
        Failure::new(HaltKind::Outage, format!("ledger: no answer for {} s", DEADLINE.as_secs()))
    })?;
    answer.map_err(|error| {
        let kind = match error.class {
            ErrorClass::Rights => HaltKind::Rights,
            ErrorClass::Reject | ErrorClass::Misconfigured => HaltKind::Misconfigured,
            ErrorClass::Outage | ErrorClass::Contention | ErrorClass::Unknown => HaltKind::Outage,
        };
        Failure::new(kind, format!("ledger: {error}"))
    })
}

fn not_run(job: &Worlds) -> Failure {
    let text = format!(
        "the ledger knows no job \"{}\": it has not run yet, or database.url names another database",
        job.spec.name
    );
    Failure::new(HaltKind::Misconfigured, text)
}
