//! Outputs: what an event sends, and what its batch does.
//!
//! In:        an event with the rows that its look-ups gave     Out: outgoing records, in the order of the job's outputs
//! Order:     of a batch in event order, of an event in the order of the job file
//! Fails:     a value that XML cannot express, a place that is not there, a topic that is not allowed -> an error that names
//!            the event
//! Not here:  no splicing (xml), no sending (sink), not how the ledger keeps it (outbox)
//!
//! Which outputs an event has is decided first, and what is made of them is held against that by the audit.

use super::looked::Looked;
use super::shown::{Names, shown};
use super::values::Scope;
use crate::job::{Document, Edit, JobSpec, OutputSpec, TopicChoice};
use crate::model::{
    Body, Coordinates, Destination, Epoch, Event, Headers, Outgoing, Reading, Reason, ReasonCode,
    RecordLimits,
};
use crate::operator::letter::{self, fit};
use crate::xml::{Added, Edited, SpliceError, Template, TemplateError, text_of, write};
use bytes::Bytes;
use std::sync::Arc;

/// What one batch sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// In event order.
    pub records: Vec<Outgoing>,
    /// Bytes of all records, bookkeeping included.
    pub bytes: usize,
    /// Per event of the batch, in their order, how many records in Kafka are its outcome: by what was decided about it, not by
    /// what was made of it. Empty in what an outbox gave.
    pub sends: Vec<u32>,
    /// For the audit: the batch's events in their order. Empty where the job is not audited, and in what an outbox gave.
    pub audited: Vec<Audited>,
    /// Its events were parked and came out of the ledger: the audit has had their outcome when they were parked.
    pub is_retry: bool,
}

/// An event of a batch, as the audit has to hear of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audited {
    /// The event.
    pub at: Coordinates,
    /// The epoch that it was read in.
    pub epoch: Epoch,
    /// How many records in Kafka are its outcome; 0: it is that its batch is stored.
    pub sends: u32,
}

impl Outputs {
    /// These records, of which nothing else is known.
    pub(super) fn of(records: Vec<Outgoing>) -> Outputs {
        let bytes = records.iter().map(Outgoing::footprint_bytes).sum();
        Outputs { records, bytes, ..Outputs::default() }
    }
}

/// What one event sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sent {
    /// How many records the job wants of it.
    pub(super) wanted: u32,
    /// Those records.
    pub(super) records: Vec<Outgoing>,
    /// Of each of them, which of the job's outputs it is.
    pub(super) of: Vec<usize>,
}

/// An output that cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("the output of {at} cannot be written: {why}")]
pub(super) struct CannotEncode {
    pub(super) event: Coordinates,
    at: String,
    pub(super) why: String,
    pub(super) code: ReasonCode,
}

/// Why an output cannot be made.
struct Why {
    code: ReasonCode,
    text: String,
}

/// Makes outputs.
#[derive(Debug)]
pub struct OutputSetup {
    spec: Arc<JobSpec>,
    limits: RecordLimits,
    /// Per output, where it is made of one.
    templates: Vec<Option<(Template, Names)>>,
}

impl OutputSetup {
    /// For this job, with the limits of the topics that it sends to.
    ///
    /// # Errors
    /// A template that cannot be compiled; `check` says the same earlier.
    pub fn new(spec: Arc<JobSpec>, limits: RecordLimits) -> Result<OutputSetup, TemplateError> {
        let template = |output: &OutputSpec| {
            let Document::Template(template) = &output.document else { return Ok(None) };
            let template = Template::compile(&template.file, &template.source)?;
            let names = Names::of(&template);
            Ok(Some((template, names)))
        };
        let templates = spec.outputs.iter().map(template).collect::<Result<_, _>>()?;
        Ok(OutputSetup { spec, limits, templates })
    }

    /// What an event sends.
    pub(super) fn of_event(&self, looked: &Looked<'_>) -> Result<Sent, CannotEncode> {
        let scope = Scope::of(&self.spec, looked);
        let tombstone = looked.event.body.is_tombstone();
        let (mut first_mark, mut sent) = (0, Sent::default());
        for (number, output) in self.spec.outputs.iter().enumerate() {
            if output.on.takes(tombstone) && scope.meets(output.when.as_ref()) {
                sent.wanted += 1;
                let made = self.record(&scope, (number, output), first_mark);
                sent.records.push(made.map_err(|why| self.cannot(looked.event.at, number, why))?);
                sent.of.push(number);
            }
            first_mark += output.edits.len();
        }
        Ok(sent)
    }

    fn cannot(&self, event: Coordinates, number: usize, Why { code, text }: Why) -> CannotEncode {
        let why = if self.has_several() { format!("output {}: {text}", self.name_of(number)) } else { text };
        CannotEncode { event, at: self.source_of(event), why, code }
    }

    fn has_several(&self) -> bool {
        self.spec.outputs.len() > 1
    }

    /// As messages and headers call an output: its name, or its number. People count from 1.
    fn name_of(&self, number: usize) -> String {
        let name = self.spec.outputs.get(number).and_then(|output| output.name.clone());
        name.unwrap_or_else(|| number.saturating_add(1).to_string())
    }

    /// The topic, the bytes of an output, and the limit of its topic, where they are over it.
    pub(super) fn over_limit(&self, outgoing: &Outgoing) -> Option<(&str, usize, usize)> {
        let (bytes, limit) = (outgoing.batch_bytes(), self.limits.of(outgoing.to)?);
        let topic = match outgoing.to {
            Destination::Output(topic) => self.spec.output_topics.get(usize::from(topic)),
            Destination::DeadLetter => self.spec.rejects.dead_letter_topic.as_ref(),
        };
        (bytes > limit).then_some((topic.map_or("?", String::as_str), bytes, limit))
    }

    /// The dead letter of an event, cut where its topic would not take it whole.
    pub(super) fn letter(&self, event: &Event, reason: &Reason) -> Outgoing {
        let letter = self.dead_letter(event, reason);
        match self.limits.of(letter.to) {
            Some(limit) => fit(letter, limit),
            None => letter,
        }
    }

    fn record(
        &self,
        scope: &Scope<'_>,
        (number, output): (usize, &OutputSpec),
        first_mark: usize,
    ) -> Result<Outgoing, Why> {
        let event = scope.looked.event;
        let to = topic(scope, &output.topic)?;
        let value = match self.templates.get(number).and_then(Option::as_ref) {
            Some((template, names)) => Some(written(scope, template, names)?),
            None => document(scope, output, first_mark)?,
        };
        let key = if output.key.is_empty() {
            event.key.clone()
        } else {
            let parts = output.key.iter().map(|of| text_of(&scope.value(of)).unwrap_or_default());
            Bytes::from(crate::xml::join_key(&parts.collect::<Vec<String>>()))
        };
        let mut headers = event.record.headers.clone();
        // They say something about the record in this job's input, and nothing about what becomes of it.
        headers.retain(|(name, _)| name != letter::EVENT && name != letter::OUTPUT);
        headers.push(self.source_header(event.at));
        if self.has_several() {
            headers.push((letter::OUTPUT.to_owned(), Some(Bytes::from(self.name_of(number)))));
        }
        Ok(Outgoing { to, key: Some(key), value, headers, timestamp_ms: event.record.timestamp_ms })
    }

    fn dead_letter(&self, event: &Event, reason: &Reason) -> Outgoing {
        let mut headers = event.record.headers.clone();
        let header =
            |name: &str, value: &str| (name.to_owned(), Some(Bytes::copy_from_slice(value.as_bytes())));
        headers.push(header(letter::REASON, reason.code.as_str()));
        headers.push(header(letter::DETAIL, &reason.detail));
        headers.push(self.source_header(event.at));
        headers.push(header(letter::JOB, &self.spec.name));
        if event.at.index > 0 || !event.last_of_record {
            headers.push(header(letter::EVENT, &event.at.index.to_string()));
        }
        Outgoing {
            to: Destination::DeadLetter,
            key: event.record.key.clone(),
            value: event.record.value.clone(),
            headers,
            timestamp_ms: event.record.timestamp_ms,
        }
    }

    fn source_header(&self, at: Coordinates) -> <Headers as IntoIterator>::Item {
        (letter::SOURCE.to_owned(), Some(Bytes::from(self.source_of(at))))
    }

    /// `topic/partition/offset[/event index]`
    pub(super) fn source_of(&self, at: Coordinates) -> String {
        let index = if at.index > 0 { format!("/{}", at.index) } else { String::new() };
        format!("{}/{}/{}{index}", self.spec.topic_of(at.at), at.at.partition, at.offset)
    }

    /// What an event takes in a transaction, in bytes: what was read of it, and what it sends, an estimate. One that is too
    /// low costs a transaction that is tried again in smaller ones.
    pub(super) fn weight_bytes(&self, event: &Event) -> usize {
        const BOOKKEEPING_BYTES: usize = 1024;
        let record = event.record.footprint_bytes();
        let tombstone = event.body.is_tombstone();
        let own = event.body.footprint_bytes();
        let element = match &event.body {
            Body::Readable(Reading { element: Some(span), .. }) => {
                usize::try_from(span.end.saturating_sub(span.start)).unwrap_or(usize::MAX)
            }
            Body::Unreadable(_) => record,
            Body::Readable(_) | Body::Tombstone { .. } => 0,
        };
        let outputs = self.spec.outputs.iter().filter(|output| output.on.takes(tombstone));
        let outputs = outputs.map(|output| match output.document {
            Document::Input => record,
            Document::Element => element,
            Document::Template(_) => own,
            Document::Nothing => 0,
        });
        let letter = if matches!(event.body, Body::Unreadable(_)) { record } else { outputs.sum() };
        BOOKKEEPING_BYTES.saturating_add(own).saturating_add(letter)
    }
}

/// The record's value; none: what a tombstone sends has none.
fn document(scope: &Scope<'_>, output: &OutputSpec, first_mark: usize) -> Result<Option<Bytes>, Why> {
    let event = scope.looked.event;
    let (Body::Readable(Reading { marks, element, .. }), Some(input)) = (&event.body, &event.record.value)
    else {
        return Ok(None);
    };
    let element = match &output.document {
        Document::Nothing | Document::Template(_) => return Ok(None),
        Document::Input => None,
        Document::Element => element.as_ref(),
    };
    if element.is_none() && output.edits.is_empty() {
        return Ok(Some(input.clone()));
    }
    let marks = marks.get(first_mark..first_mark + output.edits.len()).unwrap_or_default();
    let edits: Vec<Edited> = output.edits.iter().map(|edit| edited(scope, edit)).collect();
    write(input, element, marks, &edits).map(|document| Some(Bytes::from(document))).map_err(unwritable)
}

/// A document of a template.
fn written(scope: &Scope<'_>, template: &Template, names: &Names) -> Result<Bytes, Why> {
    let text = template.render(&shown(scope, names));
    text.map(Bytes::from).map_err(|error| Why { code: ReasonCode::Unwritable, text: error.to_string() })
}

fn unwritable(error: SpliceError) -> Why {
    let code = match error {
        SpliceError::Place { .. } => ReasonCode::OutputPlace,
        _ => ReasonCode::Unwritable,
    };
    Why { code, text: error.to_string() }
}

fn topic(scope: &Scope<'_>, choice: &TopicChoice) -> Result<Destination, Why> {
    let place = match choice {
        TopicChoice::Fixed(topic) => *topic,
        TopicChoice::By { value, allowed } => {
            let name = text_of(&scope.value(value));
            let is_it = |topic: &&usize| scope.spec.output_topics.get(**topic) == name.as_ref();
            let why = |text: &str| Why { code: ReasonCode::OutputTopic, text: text.to_owned() };
            if name.is_none() {
                return Err(why("the value that names its topic is NULL"));
            }
            let not_allowed = || why("the value that names its topic is none of output.topics");
            *allowed.iter().find(is_it).ok_or_else(not_allowed)?
        }
    };
    let no_number = |_| Why { code: ReasonCode::OutputTopic, text: "too many topics".to_owned() };
    u16::try_from(place).map(Destination::Output).map_err(no_number)
}

fn edited(scope: &Scope<'_>, edit: &Edit) -> Edited {
    match edit {
        Edit::Add(addition) => Edited::Add(Added {
            text: addition.text.as_ref().and_then(|content| scope.text(content)),
            attributes: addition
                .attributes
                .iter()
                .filter_map(|(name, content)| Some((name.clone(), scope.text(content)?)))
                .collect(),
        }),
        Edit::Set(set) => Edited::Set(scope.text(&set.to)),
        Edit::Remove(_) => Edited::Remove,
    }
}
