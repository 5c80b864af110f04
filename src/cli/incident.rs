//! Incident: what a halt leaves behind, as a file and in words.

use super::out::error_line;
use crate::protocol::halt::Halt;
use crate::status::Board;
use std::time::{SystemTime, UNIX_EPOCH};

/// Writes `incident-<job>.json` into the working directory, and the same in words to standard error.
pub(super) fn report(job: &str, halt: &Halt, board: &Board) {
    let file = format!("incident-{job}.json");
    let unix_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let body = serde_json::json!({
        "job": job,
        "kind": halt.kind.as_str(),
        "exit_code": halt.kind.exit_code(),
        "cause": halt.message,
        "unix_ms": u64::try_from(unix_ms).unwrap_or(u64::MAX),
        "uptime_s": board.uptime().as_secs(),
        "read": board.read.get(),
        "stored": board.stored.get(),
        "emitted": board.emitted.get(),
        "dead_lettered": board.dead_lettered.get(),
        "settled": board.committed.get(),
        "next_start": NEXT_START,
    });
    let written = std::fs::write(&file, format!("{body:#}\n"));
    tracing::error!(kind = halt.kind.as_str(), exit = halt.kind.exit_code(), "halted: {}", halt.message);
    match written {
        Ok(()) => error_line(&format!("tidegate: the whole report is in {file}. {NEXT_START}")),
        Err(error) => error_line(&format!("tidegate: {file} could not be written: {error}. {NEXT_START}")),
    }
}

const NEXT_START: &str = "The next start sends what is stored and not sent, and goes on with the first record that is not \
                          settled; nothing is lost and nothing happens twice.";
