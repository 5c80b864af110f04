//! `offsets`: where a job stands, from the ledger, the consumer group and the topics; and moving its positions.
//!
//! In:        a job file     Out: a table, or one JSON object
//! Fails:     with the exit codes of a start: 69, 76, 77, 78; 64 for a place to go to that cannot be
//! Not here:  what a move means (protocol::reset), how it is done (cluster)

mod reset;
mod wish;

pub(super) use wish::{chosen, target};

use super::args::{OffsetsArgs, OffsetsVerb};
use super::out::{error_line, line};
use super::worlds::{self, Worlds};
use super::{exit, load};
use crate::database::{DatabaseError, FrontierRow, LedgerState};
use crate::kafka::LogError;
use crate::model::{NextOffset, Offset, TopicPartition};
use std::path::Path;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(10);

pub(super) fn offsets(args: &OffsetsArgs) -> u8 {
    let done = match &args.what {
        OffsetsVerb::Show { job, json } => show(job, *json).map(|table| (table, exit::OK)),
        OffsetsVerb::Reset(args) => reset::reset(args),
    };
    match done {
        Ok((table, code)) => {
            line(&table);
            code
        }
        Err((text, code)) => {
            error_line(&text);
            code
        }
    }
}

type Failure = (String, u8);

/// One partition's row of the table.
struct Row {
    at: TopicPartition,
    first: Offset,
    end: NextOffset,
    ledger: Option<NextOffset>,
    group: Option<NextOffset>,
}

fn show(path: &Path, json: bool) -> Result<String, Failure> {
    let checked = load::load(path).map_err(|text| (text, exit::JOB))?;
    let job = worlds::open(checked).map_err(|text| (text, exit::JOB))?;
    let frontier = frontier(&job)?;
    let mut rows = Vec::new();
    let asked = |error: LogError| (format!("Kafka: {error}"), 69);
    let counts = job.log.partition_counts(&job.spec.source.topics, DEADLINE).map_err(asked)?;
    for ((topic, name), count) in (0_u16..).zip(&job.spec.source.topics).zip(counts) {
        for partition in 0..count.unwrap_or(0) {
            let at = TopicPartition { topic, partition };
            let (first, end) = job.log.ends(at, DEADLINE).map_err(asked)?;
            let ledger = frontier.iter().find(|row| row.topic == *name && row.partition == partition);
            rows.push(Row { at, first, end, ledger: ledger.map(|row| row.next), group: None });
        }
    }
    let all: Vec<TopicPartition> = rows.iter().map(|row| row.at).collect();
    for position in job.log.group_positions(&all, DEADLINE).map_err(asked)? {
        if let Some(row) = rows.iter_mut().find(|row| row.at == position.at) {
            row.group = Some(position.next);
        }
    }
    Ok(if json { as_json(&job, &rows) } else { table(&job, &rows) })
}

fn as_json(job: &Worlds, rows: &[Row]) -> String {
    let partitions: Vec<serde_json::Value> = rows
        .iter()
        .map(|row| {
            serde_json::json!({
                "topic": job.spec.topic_of(row.at), "partition": row.at.partition, "ledger": row.ledger,
                "group": row.group, "first": row.first, "end": row.end, "lag": row.lag(),
            })
        })
        .collect();
    serde_json::json!({ "job": job.spec.name, "partitions": partitions }).to_string()
}

impl Row {
    /// Records that are not handled yet, as far as offsets tell.
    fn lag(&self) -> i64 {
        let from = self.ledger.map_or(self.first.0, |next| next.0);
        self.end.0.saturating_sub(from).max(0)
    }
}

/// The ledger's positions; none before the job's first start.
fn frontier(job: &Worlds) -> Result<Vec<FrontierRow>, Failure> {
    let failed = |error: DatabaseError| (format!("ledger: {error}"), 69);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| (format!("cannot start the tokio runtime: {error}"), exit::INTERNAL))?;
    runtime.block_on(async {
        let session = tokio::time::timeout(DEADLINE, job.database.connect()).await;
        let mut session = match session {
            Ok(session) => session.map_err(failed)?,
            Err(_elapsed) => return Err((format!("database: no answer for {} s", DEADLINE.as_secs()), 69)),
        };
        match session.ledger_state().await.map_err(failed)? {
            // The tables come with the first start.
            LedgerState::Missing => Ok(Vec::new()),
            LedgerState::Older(_) | LedgerState::Ready => session.frontier().await.map_err(failed),
        }
    })
}

fn table(job: &Worlds, rows: &[Row]) -> String {
    let name = |row: &Row| format!("{}/{}", job.spec.topic_of(row.at), row.at.partition);
    let width = rows.iter().map(|row| name(row).len()).max().unwrap_or(0).max("partition".len());
    let shown = |next: Option<NextOffset>| next.map_or_else(|| "-".to_owned(), |next| next.to_string());
    let mut lines = vec![format!(
        "{:width$} {:>14} {:>14} {:>14} {:>14} {:>12}",
        "partition", "ledger", "group", "first", "end", "lag"
    )];
    for row in rows {
        lines.push(format!(
            "{:width$} {:>14} {:>14} {:>14} {:>14} {:>12}",
            name(row),
            shown(row.ledger),
            shown(row.group),
            row.first.0,
            row.end.0,
            row.lag(),
        ));
    }
    if rows.iter().all(|row| row.ledger.is_none()) {
        lines.push(format!("job \"{}\" has not run yet: the ledger has no positions", job.spec.name));
    }
    lines.join("\n")
}
