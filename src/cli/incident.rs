//! Incident: what a halt leaves behind, as a file and in words.
//!
//! In:        the first cause, and what the board says     Out: `incident-<job>.json`, and the same on standard error
//! Holds:     what a report says of the job, so that a panic's hook can write one, too
//! Fails:     never: a folder that takes no file is said, and the report goes to standard error whole
//! Not here:  no value of an event and no secret: places, codes and counts only

use super::out::error_line;
use crate::model::Coordinates;
use crate::protocol::halt::{Halt, HaltKind};
use crate::status::Board;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Writes the report of one process of one job.
pub struct Reporter {
    /// `job.name`
    pub(super) job: String,
    /// The job file: its path as it was given, and the SHA-256 of its bytes.
    pub(super) job_file: (PathBuf, String),
    /// `source.topics`
    pub(super) topics: Vec<String>,
    /// This process, and how many there are.
    pub(super) process: usize,
    pub(super) processes: usize,
    /// Workers of each process.
    pub(super) workers: usize,
    /// Where the file goes.
    pub(super) folder: PathBuf,
    /// What the operators have written down.
    pub(super) board: Arc<Board>,
}

impl Reporter {
    /// Reports a halt.
    pub(super) fn report(&self, halt: &Halt) {
        let halt = &self.with_job_file(halt);
        let (kind, code) = (halt.kind.as_str(), halt.kind.exit_code());
        tracing::error!(job = self.job, kind, exit = code, "halted: {}", halt.message);
        let json = format!("{:#}\n", self.json(halt));
        let path = self.folder.join(self.file_name());
        let mut words = self.words(halt);
        match put(&path, &json) {
            Ok(()) => words += &entry("report", &path.display().to_string()),
            Err(error) => {
                words += &entry("report", &format!("{} cannot be written: {error}", path.display()));
                words += &json;
            }
        }
        error_line(words.trim_end());
    }

    /// Commands in a cause can be pasted: the place of the job file stands in them.
    fn with_job_file(&self, halt: &Halt) -> Halt {
        let path = self.job_file.0.display().to_string();
        let path = if path.contains(' ') { format!("'{path}'") } else { path };
        let message =
            halt.message.replace("tidegate offsets reset JOB ", &format!("tidegate offsets reset {path} "));
        Halt { message, ..halt.clone() }
    }

    /// Processes that share a folder do not share a file.
    fn file_name(&self) -> String {
        match self.process {
            0 => format!("incident-{}.json", self.job),
            n => format!("incident-{}-p{n}.json", self.job),
        }
    }

    fn json(&self, halt: &Halt) -> serde_json::Value {
        let now = jiff::Timestamp::now();
        let board = &self.board;
        let record = halt.record.map(|at| {
            serde_json::json!({
                "topic": self.topic(at.at.topic),
                "partition": at.at.partition,
                "offset": at.offset.0,
                "event_index": at.index,
            })
        });
        let error =
            halt.error.as_ref().map(|said| serde_json::json!({ "class": said.class, "code": said.code }));
        let positions = board.positions();
        let positions = positions.iter().map(|((topic, partition), next)| {
            serde_json::json!({ "topic": self.topic(*topic), "partition": partition, "next_offset": next })
        });
        let holding = board.holding();
        let holding = holding.iter().map(|hold| {
            serde_json::json!({ "world": hold.world.as_str(), "seconds": hold.since.as_secs(), "why": hold.why })
        });
        serde_json::json!({
            "job": self.job,
            "kind": halt.kind.as_str(),
            "exit_code": halt.kind.exit_code(),
            "cause": halt.message,
            "record": record,
            "error": error,
            "first_on": halt.worker.map(|worker| self.place_of(worker)),
            "process": self.process,
            "processes": self.processes,
            "workers_per_process": self.workers,
            "at": now.to_string(),
            "unix_ms": now.as_millisecond(),
            "uptime_s": board.uptime().as_secs(),
            "read": board.read.get(),
            "stored": board.stored.get(),
            "emitted": board.emitted.get(),
            "dead_lettered": board.dead_lettered.get(),
            "discarded": board.discarded.get(),
            "refused": board.refused.get(),
            "parked": board.parked.get(),
            "settled": board.committed.get(),
            "ledger_positions": positions.collect::<Vec<_>>(),
            "in_flight": { "records": self.in_flight(), "bytes": board.in_flight_bytes() },
            "holding": holding.collect::<Vec<_>>(),
            "next_start": next_start(halt.kind),
            "version": env!("CARGO_PKG_VERSION"),
            "job_file": self.job_file.0.display().to_string(),
            "job_file_sha256": self.job_file.1,
        })
    }

    fn words(&self, halt: &Halt) -> String {
        let (kind, code) = (halt.kind.as_str(), halt.kind.exit_code());
        let mut text = format!("tidegate: HALTED: job {}, {kind}, exit code {code}\n", self.job);
        text += &entry("cause", &halt.message);
        if let Some(at) = halt.record {
            text += &entry("record", &self.name_of(at));
        }
        if let Some(said) = &halt.error {
            let code = said.code.as_ref().map_or(String::new(), |code| format!(", code {code}"));
            text += &entry("error", &format!("{}{code}", said.class));
        }
        if let Some(worker) = halt.worker {
            let process = worker / self.workers.max(1);
            let this = if self.processes > 1 && process == self.process { ", this one" } else { "" };
            text += &entry("first on", &format!("worker {worker}, of process {process}{this}"));
        }
        text += &entry("ledger", &self.positions_in_words());
        let (records, kib) = (self.in_flight(), self.board.in_flight_bytes() >> 10);
        text += &entry("in flight", &format!("{records} records, {kib} KiB: read and not settled"));
        for hold in self.board.holding() {
            let seconds = hold.since.as_secs();
            text += &entry("held by", &format!("the {} for {seconds} s: {}", hold.world.as_str(), hold.why));
        }
        text += &entry("next start", next_start(halt.kind));
        text
    }

    fn positions_in_words(&self) -> String {
        const NAMED_MAX: usize = 20;
        let positions = self.board.positions();
        if positions.is_empty() {
            return "this process has read nothing yet".to_owned();
        }
        let mut text = "the next record is ".to_owned();
        for (n, ((topic, partition), next)) in positions.iter().take(NAMED_MAX).enumerate() {
            let separator = if n > 0 { ", " } else { "" };
            // Writing to a String cannot fail.
            let _infallible = write!(text, "{separator}{}/{partition}/{next}", self.topic(*topic));
        }
        if let Some(more) = positions.len().checked_sub(NAMED_MAX).filter(|more| *more > 0) {
            let _infallible = write!(text, " and {more} more partitions");
        }
        text
    }

    fn in_flight(&self) -> u64 {
        self.board.read.get().saturating_sub(self.board.committed.get())
    }

    fn place_of(&self, worker: usize) -> serde_json::Value {
        serde_json::json!({ "worker": worker, "process": worker / self.workers.max(1) })
    }

    fn topic(&self, index: u16) -> &str {
        self.topics.get(usize::from(index)).map_or("?", String::as_str)
    }

    fn name_of(&self, Coordinates { at, offset, index }: Coordinates) -> String {
        let event = if index > 0 { format!("/{index}") } else { String::new() };
        format!("{}/{}/{offset}{event}", self.topic(at.topic), at.partition)
    }
}

fn entry(name: &str, text: &str) -> String {
    format!("  {name:<12}{text}\n")
}

/// Whole or not at all: whoever collects incidents never sees half of one.
fn put(path: &Path, text: &str) -> std::io::Result<()> {
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let written = std::fs::File::create(&draft).and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    let placed = written.and_then(|()| std::fs::rename(&draft, path));
    if placed.is_err() {
        // It may not even be there.
        let _gone = std::fs::remove_file(&draft);
    }
    placed
}

/// What the next start does, and what has to be done before it.
fn next_start(kind: HaltKind) -> &'static str {
    match kind {
        HaltKind::Reject => {
            "meets the same record again: do first what the cause says. Then it sends what is stored and not sent, and goes \
             on with that very record; nothing is lost and nothing happens twice"
        }
        HaltKind::Outage => {
            "waits for the one that is out, sends what is stored and not sent, and goes on with the first record that is not \
             settled; nothing is lost and nothing happens twice"
        }
        HaltKind::Internal => {
            "looks up what is in doubt in the ledger and in Kafka, sends what is stored and not sent, and goes on with the \
             first record that is not settled. Keep this report and the log; where the cause is the audit, read \"When the \
             audit speaks\" in docs/operating.md first"
        }
        HaltKind::PeerLost => {
            "must be of every process of the cluster. It looks up what is in doubt, sends what is stored and not sent, and \
             goes on with the first record that is not settled; nothing is lost and nothing happens twice"
        }
        HaltKind::Fenced => {
            "takes the job over from an instance that still runs: where another one was meant to take over, start nothing. \
             Where the cause names positions, do first what it says: a start halts again until then"
        }
        HaltKind::Rights | HaltKind::Misconfigured => {
            "halts again until what the cause names is put right. Then it sends what is stored and not sent, and goes on with \
             the first record that is not settled; nothing is lost and nothing happens twice"
        }
    }
}

#[cfg(test)]
mod tests;
