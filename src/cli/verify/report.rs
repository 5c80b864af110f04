//! Report: what was found, for a person or for a program.
//!
//! In:        [`Found`]     Out: lines, the verdict last; or one JSON object
//! Fails:     never
//! Not here:  keys are shown as they are: whoever may read the topics may read them

use super::entry::SentAt;
use super::found::{Fault, Finding, Found, Kind, Range};
use super::horizon::LossesFrom;
use crate::job::JobSpec;
use crate::model::{Coordinates, Destination};
use serde_json::{Value, json};

/// A key that is longer is cut off, in characters.
const KEY_SHOWN_MAX: usize = 120;

/// What was found, and what must be known to read it right.
pub(super) struct Report<'a> {
    pub(super) spec: &'a JobSpec,
    pub(super) found: &'a Found,
    pub(super) notes: Vec<String>,
}

impl Report<'_> {
    /// For a person.
    pub(super) fn lines(&self) -> Vec<String> {
        let found = self.found;
        let mut lines: Vec<String> = found.ranges.iter().map(|range| self.range(range)).collect();
        lines.push(self.counts());
        lines.extend(self.notes.iter().map(|note| format!("note: {note}")));
        for (name, kind) in self.kinds() {
            lines.extend(kind.shown.iter().map(|finding| format!("{name}: {}", self.finding(finding))));
            let rest = kind.count.saturating_sub(u64::try_from(kind.shown.len()).unwrap_or(0));
            if rest > 0 {
                lines.push(format!("{name}: and {rest} more"));
            }
        }
        lines.push(format!(
            "{} lost, {} doubled, {} out of order",
            found.lost.count, found.doubled.count, found.out_of_order.count
        ));
        lines
    }

    /// For a program.
    pub(super) fn json(&self) -> String {
        let found = self.found;
        let ranges: Vec<Value> = found
            .ranges
            .iter()
            .map(|range| {
                json!({
                    "topic": self.spec.topic_of(range.at), "partition": range.at.partition, "first": range.first,
                    "frontier": range.frontier, "records": range.records,
                    "lost_outputs_judged_from": range.outputs_from,
                    "lost_dead_letters_judged_from": range.letters_from,
                })
            })
            .collect();
        let mut all = json!({
            "job": self.spec.name, "clean": found.is_clean(), "ranges": ranges, "counts": found.counts,
            "notes": self.notes,
        });
        if let Some(map) = all.as_object_mut() {
            for (name, kind) in self.kinds() {
                let shown: Vec<Value> = kind.shown.iter().map(|finding| self.finding_json(finding)).collect();
                map.insert(name.replace(' ', "_"), json!({ "count": kind.count, "first": shown }));
            }
        }
        all.to_string()
    }

    fn kinds(&self) -> [(&'static str, &Kind); 3] {
        let Found { lost, doubled, out_of_order, .. } = self.found;
        [("lost", lost), ("doubled", doubled), ("out of order", out_of_order)]
    }

    fn range(&self, range: &Range) -> String {
        let mut text = format!(
            "{}/{}: {} to {} (exclusive), {} records",
            self.spec.topic_of(range.at),
            range.at.partition,
            range.first,
            range.frontier.0.max(range.first.0),
            range.records
        );
        let judged = |from| match from {
            LossesFrom::Offset(from) if from <= range.first.0 => None,
            LossesFrom::Offset(from) => Some(format!("from offset {from} on")),
            LossesFrom::Behind { offset, records } => {
                Some(format!("from {records} records behind offset {offset} on"))
            }
            LossesFrom::Never => Some("nowhere".to_owned()),
        };
        let outputs = judged(range.outputs_from).filter(|_| !self.spec.outputs.is_empty());
        let letters = judged(range.letters_from).filter(|_| self.spec.rejects.dead_letter_topic.is_some());
        for (what, judged) in [("outputs", outputs), ("dead letters", letters)] {
            if let Some(judged) = judged {
                text += &format!("; missing {what} can be judged {judged}");
            }
        }
        text
    }

    fn counts(&self) -> String {
        let counts = &self.found.counts;
        let mut text = format!(
            "{} records{}: {} with an output, {} with a dead letter",
            counts.records,
            if counts.events == counts.records {
                String::new()
            } else {
                format!(" of {} events", counts.events)
            },
            counts.with_output,
            counts.with_dead_letter
        );
        for (count, what) in [
            (counts.discarded, "without either and discarded by rule"),
            (counts.parked, "parked in the ledger, or on the way out of it"),
            (counts.dropped, "parked and dropped by a person"),
            (counts.only_stored, "only stored, which leaves nothing to compare with"),
            (counts.conditional, "without either, and all outputs have conditions"),
            (counts.without_events, "records without events"),
            (counts.not_judged, "without either, where that cannot be judged"),
            (counts.skipped, "skipped by a reset"),
        ] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        text += &format!("; {} outputs and {} dead letters read", counts.outputs, counts.dead_letters);
        for (count, what) in [
            (counts.again, "copies of events that a reset had handled again"),
            (counts.beyond, "of records beyond the frontier"),
            (counts.older, "of records older than the input's first"),
            (counts.without_record, "of records that the input does not hold"),
            (counts.foreign, "not this job's"),
        ] {
            if count > 0 {
                text += &format!(", {count} {what}");
            }
        }
        text
    }

    fn finding(&self, finding: &Finding) -> String {
        let mut text = self.source(finding.source);
        if let Some(key) = &finding.key {
            text += &format!(", key group {}, key {}", key.group, shown(&key.key));
        }
        text + &match &finding.fault {
            Fault::OutputLost { output } => format!(": no output \"{output}\", and others were sent"),
            Fault::Lost { unreadable: None } => ": no output".to_owned(),
            Fault::Lost { unreadable: Some(code) } => format!(": unreadable ({code}), and no dead letter"),
            Fault::Doubled { copies, places } => {
                let places: Vec<String> = places.iter().map(|place| self.place(*place)).collect();
                format!(": {copies} times, at {}", places.join(", "))
            }
            Fault::SentAndParked => ": it was sent, and is parked in the ledger all the same".to_owned(),
            Fault::OutOfOrder { place, later, before } => format!(
                ": at {}, behind its successor {} at {}",
                self.place(*place),
                self.source(*later),
                self.place(*before)
            ),
        }
    }

    fn finding_json(&self, finding: &Finding) -> Value {
        let Coordinates { at, offset, index } = finding.source;
        let mut all = json!({
            "topic": self.spec.topic_of(at), "partition": at.partition, "offset": offset, "index": index,
            "key_group": finding.key.as_ref().map(|key| key.group),
        });
        if let (Some(all), Some(key)) = (all.as_object_mut(), &finding.key) {
            match std::str::from_utf8(&key.key) {
                Ok(text) => all.insert("key".to_owned(), json!(text)),
                Err(_) => all.insert("key_hex".to_owned(), json!(hex::encode(&key.key))),
            };
        }
        let more = match &finding.fault {
            Fault::OutputLost { output } => json!({ "output": output }),
            Fault::Lost { unreadable } => json!({ "unreadable": unreadable }),
            Fault::Doubled { copies, places } => {
                let places: Vec<Value> = places.iter().map(|place| self.place_json(*place)).collect();
                json!({ "copies": copies, "at": places })
            }
            Fault::SentAndParked => json!({ "sent_and_parked": true }),
            Fault::OutOfOrder { place, later, before } => json!({
                "at": self.place_json(*place), "later_offset": later.offset,
                "later_at": self.place_json(*before),
            }),
        };
        if let (Some(all), Value::Object(more)) = (all.as_object_mut(), more) {
            all.extend(more);
        }
        all
    }

    fn source(&self, at: Coordinates) -> String {
        let index = if at.index > 0 { format!("/{}", at.index) } else { String::new() };
        format!("{}/{}/{}{index}", self.spec.topic_of(at.at), at.at.partition, at.offset)
    }

    fn place(&self, place: SentAt) -> String {
        format!("{}/{}/{}", self.topic(place), place.partition, place.offset)
    }

    fn place_json(&self, place: SentAt) -> Value {
        json!({ "topic": self.topic(place), "partition": place.partition, "offset": place.offset })
    }

    fn topic(&self, place: SentAt) -> &str {
        let name = match place.to {
            Destination::Output(topic) => self.spec.output_topics.get(usize::from(topic)).map(String::as_str),
            Destination::DeadLetter => self.spec.rejects.dead_letter_topic.as_deref(),
        };
        name.unwrap_or("?")
    }
}

/// A key as text in quotation marks, or as hexadecimal digits.
fn shown(key: &[u8]) -> String {
    let text = match std::str::from_utf8(key) {
        Ok(text) => format!("{text:?}"),
        Err(_) => format!("0x{}", hex::encode(key)),
    };
    if text.chars().count() <= KEY_SHOWN_MAX {
        return text;
    }
    text.chars().take(KEY_SHOWN_MAX).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests;
