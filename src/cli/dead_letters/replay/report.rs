//! Report: what a replay did, or would do.
//!
//! In:        counts, and letters that cannot be replayed     Out: lines, or one JSON object
//! Holds:     the first [`SHOWN_MAX`] of those letters

use crate::cli::dead_letters::topic::Topic;
use crate::model::Offset;
use serde_json::{Value, json};

const SHOWN_MAX: usize = 20;

/// What came of a replay.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Letters that the filter takes.
    pub(super) meant: u64,
    /// Of them, those that had been replayed before.
    pub(super) replayed_before: u64,
    /// Of them, those that were sent; or, without `--execute`, would be.
    pub(super) sent: u64,
    /// Of them, those beyond `--at-most`.
    pub(super) left: u64,
    /// Of them, those that cannot be replayed.
    pub(super) refused: u64,
    shown: Vec<Refused>,
}

#[derive(Debug)]
struct Refused {
    partition: i32,
    offset: Offset,
    source: String,
    why: String,
}

impl Outcome {
    /// A letter cannot be replayed.
    pub(super) fn refuse(&mut self, (partition, offset): (i32, Offset), source: &str, why: String) {
        self.refused += 1;
        if self.shown.len() < SHOWN_MAX {
            self.shown.push(Refused { partition, offset, source: source.to_owned(), why });
        }
    }

    /// For a person.
    pub(super) fn as_text(&self, topic: &Topic, executed: bool) -> String {
        let mut lines: Vec<String> = self.shown.iter().map(Refused::as_text).collect();
        let rest = self.refused.saturating_sub(u64::try_from(self.shown.len()).unwrap_or(0));
        if rest > 0 {
            lines.push(format!("not replayed: and {rest} more"));
        }
        lines.push(format!(
            "{} letters in \"{}\" are meant: {} were replayed before, {} {} now, {} are left by --at-most, {} cannot be",
            self.meant,
            topic.name,
            self.replayed_before,
            self.sent,
            if executed { "are replayed" } else { "would be replayed" },
            self.left,
            self.refused
        ));
        lines.push(if executed {
            format!("the records stand at the ends of their partitions: job \"{}\" reads them as new ones", topic.job)
        } else {
            "nothing was sent: --execute does it. The job reads the records as new ones, behind newer events of their keys"
                .to_owned()
        });
        lines.join("\n")
    }

    /// For a program.
    pub(super) fn as_json(&self, topic: &Topic, executed: bool) -> String {
        let shown: Vec<Value> = self
            .shown
            .iter()
            .map(|refused| {
                json!({
                    "partition": refused.partition, "offset": refused.offset, "source": refused.source,
                    "why": refused.why,
                })
            })
            .collect();
        json!({
            "job": topic.job, "topic": topic.name, "executed": executed, "letters": self.meant,
            "replayed_before": self.replayed_before, "replayed": self.sent, "left": self.left,
            "refused": { "count": self.refused, "first": shown },
        })
        .to_string()
    }
}

impl Refused {
    fn as_text(&self) -> String {
        format!("not replayed: {}/{} of {}: {}", self.partition, self.offset, self.source, self.why)
    }
}
