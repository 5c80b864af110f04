//! `dead-letters list`: a line for each letter, and how many there are of which reason. No payload.
//!
//! In:        a job file and a filter     Out: lines as they are read; or one JSON object a line, the totals last
//! Holds:     the totals, and which letters were replayed

use super::letter::{Letter, shown};
use super::topic::Topic;
use crate::cli::args::LetterFilter;
use crate::cli::out::line;
use crate::cli::verify::Failure;
use crate::cli::verify::progress::Progress;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;

#[derive(Default)]
struct Totals {
    letters: u64,
    replayed: u64,
    by_reason: BTreeMap<String, u64>,
}

pub(super) fn list(job: &Path, filter: &LetterFilter, json: bool) -> Result<(), Failure> {
    let topic = Topic::open(job)?;
    let mut totals = Totals::default();
    let mut progress = Progress::new();
    progress.begin("reading the dead letters, twice:", 0);
    topic.letters(|| progress.step(), &mut |letter, replayed| {
        if filter.takes(&letter) {
            totals.count(&letter, replayed);
            line(&if json { letter.as_json(replayed).to_string() } else { as_line(&letter, replayed) });
        }
        Ok(())
    })?;
    drop(progress);
    line(&if json { totals.as_json() } else { totals.as_text(&topic.name) });
    Ok(())
}

fn as_line(letter: &Letter, replayed: bool) -> String {
    let Letter { partition, offset, source, reason, detail, .. } = letter;
    let key = shown(letter.record.key.as_ref());
    let more = match (replayed, letter.cut.is_some()) {
        (true, true) => " (replayed, cut)",
        (true, false) => " (replayed)",
        (false, true) => " (cut)",
        (false, false) => "",
    };
    format!("{partition}/{offset} of {source}, {}, key {key}, {reason}: {detail}{more}", letter.time())
}

impl Totals {
    fn count(&mut self, letter: &Letter, replayed: bool) {
        self.letters += 1;
        self.replayed += u64::from(replayed);
        *self.by_reason.entry(letter.reason.clone()).or_default() += 1;
    }

    fn as_text(&self, topic: &str) -> String {
        let mut lines: Vec<String> =
            self.by_reason.iter().map(|(reason, count)| format!("{count:>9} {reason}")).collect();
        lines.push(format!("{} letters in \"{topic}\", {} of them replayed", self.letters, self.replayed));
        lines.join("\n")
    }

    fn as_json(&self) -> String {
        json!({ "letters": self.letters, "replayed": self.replayed, "by_reason": self.by_reason }).to_string()
    }
}
