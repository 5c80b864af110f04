//! Outputs: what a batch sends, and how the outbox keeps it.
//!
//! In:        events, each with the rows that its look-ups gave     Out: outgoing records in event order
//! Order:     one record per event that sends something
//! Fails:     a value that XML cannot express -> an error that names the event
//! Not here:  no splicing (xml), no sending (sink)

use crate::job::{Content, Edit, JobSpec, Meta, ValueRef};
use crate::model::{
    Body, Coordinates, Destination, Epoch, Event, Headers, Outgoing, Reading, Reason, RecordLimits,
    Timestamp, Value,
};
use crate::operator::letter::fit;
use crate::xml::{Added, splice, text_of, text_or_bytes};
use bytes::Bytes;
use std::sync::Arc;

/// What one batch sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outputs {
    /// In event order.
    pub records: Vec<Outgoing>,
    /// Bytes of all records, bookkeeping included.
    pub bytes: usize,
    /// Per event of the batch, in their order, whether its outcome is a record in Kafka: by what was decided about it, not by
    /// what was made of it. Empty in what an outbox gave.
    pub sends: Vec<bool>,
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
    /// Whether its outcome is a record in Kafka; else it is that its batch is stored.
    pub sends: bool,
}

/// The outbox holds something that this version did not write.
#[derive(Debug, thiserror::Error)]
#[error("outbox row has format {found:?} and this version reads {FORMAT} and {FORMAT_RETRY}: {source}")]
pub struct BadOutbox {
    found: Option<u8>,
    source: postcard::Error,
}

/// First byte of each outbox row.
const FORMAT: u8 = 1;

/// The same, of a batch of parked events that were tried again.
const FORMAT_RETRY: u8 = 2;

/// Whether an outbox row is of a batch of parked events that were tried again.
pub fn is_of_retry(row: &[u8]) -> bool {
    row.first() == Some(&FORMAT_RETRY)
}

impl Outputs {
    /// The outbox row; none where nothing is sent.
    ///
    /// # Errors
    /// Never for records that fit in memory.
    pub fn to_outbox(&self) -> Result<Option<Vec<u8>>, postcard::Error> {
        if self.records.is_empty() {
            return Ok(None);
        }
        let format = if self.is_retry { FORMAT_RETRY } else { FORMAT };
        postcard::to_extend(&self.records, vec![format]).map(Some)
    }

    /// Reads an outbox row.
    ///
    /// # Errors
    /// Anything that [`Outputs::to_outbox`] did not write.
    pub fn from_outbox(row: &[u8]) -> Result<Outputs, BadOutbox> {
        let bad = |source| BadOutbox { found: row.first().copied(), source };
        let body = match row.split_first() {
            Some((&(FORMAT | FORMAT_RETRY), body)) => body,
            _ => return Err(bad(postcard::Error::DeserializeBadEncoding)),
        };
        let outputs = postcard::from_bytes(body).map(Outputs::of).map_err(bad)?;
        Ok(Outputs { is_retry: is_of_retry(row), ..outputs })
    }

    /// These records, of which nothing else is known.
    pub(super) fn of(records: Vec<Outgoing>) -> Outputs {
        let bytes = records.iter().map(Outgoing::footprint_bytes).sum();
        Outputs { records, bytes, ..Outputs::default() }
    }
}

/// An event with what its look-ups gave: per step, the referenced columns.
pub(super) struct Looked<'a> {
    pub(super) event: &'a Event,
    pub(super) rows: Vec<Option<Vec<Value>>>,
    pub(super) now: Timestamp,
}

/// An output that cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("the output of {at} cannot be written: {why}")]
pub(super) struct CannotEncode {
    pub(super) event: Coordinates,
    at: String,
    pub(super) why: String,
}

/// Makes outputs.
#[derive(Debug)]
pub struct OutputSetup {
    spec: Arc<JobSpec>,
    limits: RecordLimits,
}

impl OutputSetup {
    /// For this job, with the limits of the topics that it sends to.
    pub fn new(spec: Arc<JobSpec>, limits: RecordLimits) -> OutputSetup {
        OutputSetup { spec, limits }
    }

    /// Whether a job sends something of an event that is handled.
    pub(super) fn sends(&self) -> bool {
        !self.spec.outputs.is_empty()
    }

    /// What an event sends, if it sends anything.
    pub(super) fn of_event(&self, looked: &Looked<'_>) -> Result<Option<Outgoing>, CannotEncode> {
        self.document(looked)
    }

    /// Bytes of an output, and the limit of its topic, where they are over it.
    pub(super) fn over_limit(&self, outgoing: &Outgoing) -> Option<(usize, usize)> {
        let (bytes, limit) = (outgoing.batch_bytes(), self.limits.of(outgoing.to)?);
        (bytes > limit).then_some((bytes, limit))
    }

    /// The dead letter of an event, cut where its topic would not take it whole.
    pub(super) fn letter(&self, event: &Event, reason: &Reason) -> Outgoing {
        let letter = self.dead_letter(event, reason);
        match self.limits.of(letter.to) {
            Some(limit) => fit(letter, limit),
            None => letter,
        }
    }

    /// The value of a reference.
    pub(super) fn value(&self, looked: &Looked<'_>, of: &ValueRef) -> Value {
        let event = looked.event;
        match of {
            ValueRef::Field(index) => match &event.body {
                Body::Readable(Reading { values, .. }) | Body::Tombstone { values } => {
                    values.get(*index).cloned().unwrap_or(Value::Null)
                }
                Body::Unreadable(_) => Value::Null,
            },
            ValueRef::Lookup { step, column } => {
                let row = looked.rows.get(*step).and_then(Option::as_ref);
                row.and_then(|row| row.get(*column)).cloned().unwrap_or(Value::Null)
            }
            ValueRef::Row { .. } | ValueRef::RowIndex { .. } => Value::Null,
            ValueRef::Meta(meta) => self.meta(looked, meta),
        }
    }

    fn text(&self, looked: &Looked<'_>, content: &Content) -> Option<String> {
        match content {
            Content::Literal(text) => Some(text.clone()),
            Content::Value(of) => text_of(&self.value(looked, of)),
        }
    }

    fn meta(&self, looked: &Looked<'_>, meta: &Meta) -> Value {
        let (at, record) = (looked.event.at, &looked.event.record);
        match meta {
            Meta::Topic => Value::Text(self.spec.topic_of(at.at).to_owned()),
            Meta::Partition => Value::Int(i64::from(at.at.partition)),
            Meta::Offset => Value::Int(at.offset.0),
            Meta::Timestamp => {
                record.timestamp_ms.and_then(Timestamp::from_unix_ms).map_or(Value::Null, Value::Timestamp)
            }
            Meta::Key => record.key.as_ref().map_or(Value::Null, text_or_bytes),
            Meta::Header(name) => {
                let header = record.headers.iter().rev().find(|(found, _)| found == name);
                header.and_then(|(_, value)| value.as_ref()).map_or(Value::Null, text_or_bytes)
            }
            Meta::Now => Value::Timestamp(looked.now),
        }
    }

    fn document(&self, looked: &Looked<'_>) -> Result<Option<Outgoing>, CannotEncode> {
        let Some(output) = self.spec.outputs.first() else { return Ok(None) };
        let event = looked.event;
        let (Body::Readable(Reading { marks, .. }), Some(input)) = (&event.body, &event.record.value) else {
            return Ok(None);
        };
        let additions: Vec<Added> = output
            .edits
            .iter()
            .filter_map(|edit| match edit {
                Edit::Add(addition) => Some(addition),
                Edit::Set(_) | Edit::Remove(_) => None,
            })
            .map(|addition| Added {
                text: addition.text.as_ref().and_then(|content| self.text(looked, content)),
                attributes: addition
                    .attributes
                    .iter()
                    .filter_map(|(name, content)| Some((name.clone(), self.text(looked, content)?)))
                    .collect(),
            })
            .collect();
        let document = splice(input, marks, &additions).map_err(|why| CannotEncode {
            event: event.at,
            at: self.source_of(event.at),
            why: why.to_string(),
        })?;
        let key = if output.key.is_empty() {
            event.key.clone()
        } else {
            let parts: Vec<String> =
                output.key.iter().map(|of| text_of(&self.value(looked, of)).unwrap_or_default()).collect();
            Bytes::from(crate::xml::join_key(&parts))
        };
        let mut headers = event.record.headers.clone();
        headers.push(self.source_header(event.at));
        Ok(Some(Outgoing {
            to: Destination::Output,
            key: Some(key),
            value: Some(Bytes::from(document)),
            headers,
            timestamp_ms: event.record.timestamp_ms,
        }))
    }

    fn dead_letter(&self, event: &Event, reason: &Reason) -> Outgoing {
        let mut headers = event.record.headers.clone();
        let header =
            |name: &str, value: &str| (name.to_owned(), Some(Bytes::copy_from_slice(value.as_bytes())));
        headers.push(header("tidegate-reason", reason.code.as_str()));
        headers.push(header("tidegate-detail", &reason.detail));
        headers.push(self.source_header(event.at));
        headers.push(header("tidegate-job", &self.spec.name));
        Outgoing {
            to: Destination::DeadLetter,
            key: event.record.key.clone(),
            value: event.record.value.clone(),
            headers,
            timestamp_ms: event.record.timestamp_ms,
        }
    }

    fn source_header(&self, at: Coordinates) -> <Headers as IntoIterator>::Item {
        ("tidegate-source".to_owned(), Some(Bytes::from(self.source_of(at))))
    }

    /// `topic/partition/offset[/event index]`
    pub(super) fn source_of(&self, at: Coordinates) -> String {
        let index = if at.index > 0 { format!("/{}", at.index) } else { String::new() };
        format!("{}/{}/{}{index}", self.spec.topic_of(at.at), at.at.partition, at.offset)
    }
}
