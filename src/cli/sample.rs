//! `check --sample`: what becomes of a document, by the very code of the job, with nothing stored and nothing sent.
//!
//! In:        a checked job, documents as files, perhaps its database     Out: text on standard output; an exit code
//! Order:     sample by sample, event by event: fields, rows, steps, outputs
//! Fails:     65 where a sample, or an event of it, would be a reject; 64 where a file cannot be read; as `check` where the
//!            database does not answer
//! Not here:  what an event does (operator), how documents are read (xml)
//!
//! Values are shown: whoever asks has given the document himself. They go to standard output alone, never into a log.

mod diff;
mod event;
mod steps;
mod words;

use super::args::CheckArgs;
use super::check::{DEADLINE, code};
use super::exit;
use super::out::{error_line, line};
use super::worlds::Worlds;
use crate::database::{DatabaseError, Session};
use crate::job::{JobSpec, Setting};
use crate::kafka::ReadRecord;
use crate::model::{Body, Event, Offset, Reason, Record, RecordLimits, TopicPartition};
use crate::operator::bundle::{Bundle, bundles};
use crate::operator::decode::read;
use crate::operator::gate::{OutputSetup, Trial, try_event};
use crate::xml::{Decoder, document_text};
use bytes::Bytes;
use std::io::IsTerminal;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Reads `NAME=VALUE`.
pub(super) fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE")?;
    if name.is_empty() {
        Err("the header has no name".to_owned())
    } else {
        Ok((name.to_owned(), value.to_owned()))
    }
}

/// What samples are shown with.
struct Show<'a> {
    spec: &'a Arc<JobSpec>,
    settings: &'a [Setting],
    outputs: OutputSetup,
    colour: bool,
}

/// Shows what becomes of the samples. Without worlds nothing is asked.
pub(super) fn show(
    args: &CheckArgs,
    spec: &Arc<JobSpec>,
    settings: &[Setting],
    worlds: Option<&Worlds>,
) -> u8 {
    if args.sample.is_empty() {
        return exit::OK;
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&format!("cannot start the tokio runtime: {error}"), exit::INTERNAL),
    };
    let limits = worlds.map_or_else(RecordLimits::default, |worlds| limits(spec, worlds));
    let outputs = match OutputSetup::new(Arc::clone(spec), limits) {
        Ok(outputs) => outputs,
        Err(error) => return failed(&format!("{}: {error}", args.job.display()), exit::JOB),
    };
    let show = Show { spec, settings, outputs, colour: wants_colour() };
    let mut decoder = match Decoder::new(&spec.event, &spec.outputs, spec.limits) {
        Ok(decoder) => decoder,
        Err(error) => return failed(&format!("{}: {error}", args.job.display()), exit::JOB),
    };
    let mut worst = exit::OK;
    for file in &args.sample {
        let shown = file.display().to_string();
        let code = match std::fs::read(file) {
            Ok(bytes) => {
                let record = record(Bytes::from(bytes), args);
                match runtime.block_on(show.sample(&shown, record, &mut decoder, worlds)) {
                    Ok((text, code)) => {
                        line(&format!("\n{}", text.trim_end()));
                        code
                    }
                    Err(error) => failed(&format!("database: {error}"), code(&error)),
                }
            }
            Err(error) => failed(&format!("{shown}: cannot be read: {error}"), exit::USAGE),
        };
        worst = worst.max(code);
    }
    worst
}

fn failed(text: &str, code: u8) -> u8 {
    error_line(text);
    code
}

/// Colours are for terminals, and for whoever has not said that they are not wanted.
fn wants_colour() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// The limits of the topics that the job sends to; none, where the broker does not tell.
fn limits(spec: &JobSpec, worlds: &Worlds) -> RecordLimits {
    let outputs = spec.output_topics.len();
    let letters = spec.rejects.dead_letter_topic.iter();
    let topics: Vec<String> = spec.output_topics.iter().chain(letters).cloned().collect();
    let mut found = worlds.log.record_limits(&topics, DEADLINE).unwrap_or_default();
    found.resize(topics.len(), None);
    let dead_letter_bytes = found.get(outputs).copied().flatten();
    found.truncate(outputs);
    RecordLimits { output_bytes: found, dead_letter_bytes }
}

/// The sample as a record of the job's first topic.
fn record(value: Bytes, args: &CheckArgs) -> ReadRecord {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok();
    let text = |text: &String| Bytes::from(text.clone());
    ReadRecord {
        at: TopicPartition { topic: 0, partition: 0 },
        offset: Offset(0),
        record: Record {
            timestamp_ms: now.and_then(|now| i64::try_from(now.as_millis()).ok()),
            key: args.key.as_ref().map(text),
            headers: args.header.iter().map(|(name, value)| (name.clone(), Some(text(value)))).collect(),
            value: Some(value),
        },
    }
}

impl Show<'_> {
    /// What becomes of a document, and the exit code for it.
    async fn sample(
        &self,
        name: &str,
        record: ReadRecord,
        decoder: &mut Decoder,
        worlds: Option<&Worlds>,
    ) -> Result<(String, u8), DatabaseError> {
        let document = record.record.value.clone().unwrap_or_default();
        let parts = read(&record, self.spec, decoder);
        // What cannot be read as a whole is one part, too.
        let unreadable = parts.iter().filter(|part| matches!(part.body, Body::Unreadable(_))).count();
        let count = match (parts.len(), unreadable) {
            (0, _) => "no event: the job discards it".to_owned(),
            (1, 1) => "no event".to_owned(),
            (1, _) => "1 event".to_owned(),
            (count, _) => format!("{count} events"),
        };
        let mut text = format!("{name}: {} bytes, {count}\n", document.len());
        let events: Vec<Event> = bundles(record, parts, 1).flat_map(Bundle::into_events).collect();
        let input = document_text(&document);
        let mut code = exit::OK;
        for event in &events {
            let (of_event, handled) = self.event(event, &input, worlds).await?;
            text.push_str(&of_event);
            code = code.max(if handled { exit::OK } else { exit::REJECT });
        }
        Ok((text, code))
    }

    /// An event as text, and whether it would be handled.
    async fn event(
        &self,
        event: &Event,
        input: &str,
        worlds: Option<&Worlds>,
    ) -> Result<(String, bool), DatabaseError> {
        if let Body::Unreadable(reason) = &event.body {
            let mut text = format!("event {}\n", event.at.index);
            text.push_str(&self.rejected(reason, self.spec.rejects.unreadable));
            if reason.code == crate::model::ReasonCode::KeyMissing && event.record.key.is_none() {
                text.push_str("  (the record's own key is given by --key TEXT)\n");
            }
            return Ok((text, false));
        }
        let trial = self.tried(event, worlds).await?;
        let mut text = self.heading(event);
        text.push_str(&self.fields(event));
        text.push_str(&self.steps(&trial));
        match &trial.reject {
            Some((reason, rule)) => text.push_str(&self.rejected(reason, *rule)),
            None => text.push_str(&self.sent(&trial, event, input)),
        }
        Ok((text, trial.reject.is_none()))
    }

    /// Look-ups are asked in a transaction that can only read, and that is rolled back.
    async fn tried(&self, event: &Event, worlds: Option<&Worlds>) -> Result<Trial, DatabaseError> {
        let Some(worlds) = worlds else { return try_event(self.spec, &self.outputs, event, None).await };
        let asked = async {
            let mut session: Box<dyn Session> = worlds.database.connect().await?;
            session.begin_reading().await?;
            let trial = try_event(self.spec, &self.outputs, event, Some(&mut session)).await?;
            session.rollback().await?;
            Ok(trial)
        };
        match tokio::time::timeout(DEADLINE, asked).await {
            Ok(trial) => trial,
            Err(_elapsed) => Err(no_answer()),
        }
    }

    fn rejected(&self, reason: &Reason, rule: crate::job::RejectRule) -> String {
        words::rejected(reason, rule, self.spec.rejects.dead_letter_topic.as_deref())
    }

    /// What the job file says of a key, as `explain` shows it.
    fn setting(&self, key: &str) -> Option<&str> {
        self.settings.iter().find(|setting| setting.key == key).map(|setting| setting.value.as_str())
    }
}

fn no_answer() -> DatabaseError {
    DatabaseError {
        class: crate::database::ErrorClass::Outage,
        code: None,
        message: format!("no answer for {} s", DEADLINE.as_secs()),
        broken: true,
        rolled_back: false,
        row: None,
    }
}

#[cfg(test)]
pub(super) mod tests;
