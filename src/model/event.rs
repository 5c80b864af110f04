//! One decoded thing to handle, or the reason why a record could not be decoded.

use super::{Coordinates, ElementSpan, KeyGroup, Mark, Record, Value};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// What the gate handles. From decode to the gate several of a record travel as one.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Topic, partition, offset and index.
    pub at: Coordinates,
    /// Whether it is its record's last event.
    pub last_of_record: bool,
    /// Where it is handled.
    pub key_group: KeyGroup,
    /// The ordering key. Parts of a compound key are joined so that different keys stay different.
    pub key: Bytes,
    /// The record it came from, shared by all events of it.
    pub record: Arc<Record>,
    /// What was read from it.
    pub body: Body,
}

/// What decoding made of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Body {
    /// A readable event.
    Readable(Reading),
    /// A record without a value, where the job makes events of them.
    Tombstone {
        /// One value per field, in the order of the job's fields; NULL where it comes from the document.
        values: Vec<Value>,
    },
    /// A record that cannot be read, on its way to the dead-letter topic.
    Unreadable(Reason),
}

/// What was read of a document for one event.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// One value per field, in the order of the job's fields.
    pub values: Vec<Value>,
    /// Per list, in the order of the job's lists, its rows in document order.
    pub lists: Vec<Vec<Row>>,
    /// One mark per edit of all outputs, in the order of the job file.
    pub marks: Vec<Mark>,
    /// The event's element, where an output is made of it alone.
    pub element: Option<ElementSpan>,
}

/// One row of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Index of the row that it is in, in its parent list; 0 where the list is in the event.
    pub parent: u32,
    /// Which of its parent's rows it is, from 1.
    pub index: u32,
    /// One value per field of the list.
    pub values: Vec<Value>,
}

/// Why a record or an event is rejected: a stable code and a sentence. It never quotes payload values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Stable, goes into the header `tidegate-reason`.
    pub code: ReasonCode,
    /// For a person: what, and where (line and column, field name, limit).
    pub detail: String,
}

/// The stable codes of [`Reason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ReasonCode {
    /// The record has no value (a tombstone).
    NoValue,
    /// Not well-formed XML, or XML that is not 1.0.
    NotWellFormed,
    /// Bytes that are not in the encoding they claim, or an encoding that is not supported.
    Encoding,
    /// Over `limits.document_bytes` or `limits.document_depth`.
    Limit,
    /// The root element is not the one that the job reads.
    NotTheEvent,
    /// A part of the ordering key is absent.
    KeyMissing,
    /// A required field is absent.
    FieldMissing,
    /// A field's text is not of its type, or out of its range.
    FieldType,
    /// A path of a field or of the key matches more than once.
    Ambiguous,
    /// A place where the output adds something is absent or there twice.
    OutputPlace,
    /// The database can never store it.
    Refused,
    /// A look-up found no row.
    MissingLookup,
    /// The output is over Kafka's limit.
    TooLarge,
    /// The output would hold what XML cannot express.
    Unwritable,
    /// It came from a topic that the job does not read any more.
    UnknownTopic,
    /// The process has ended while this record was in hand, and more than once or by a panic.
    KillsTheProcess,
    /// The value that names an output's topic is NULL or none of the topics that are allowed.
    OutputTopic,
    /// A document type definition that the job refuses, or content that only something outside the document has.
    Doctype,
}

impl ReasonCode {
    /// The code as it stands in headers and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            ReasonCode::NoValue => "no_value",
            ReasonCode::NotWellFormed => "not_well_formed",
            ReasonCode::Encoding => "encoding",
            ReasonCode::Limit => "limit",
            ReasonCode::NotTheEvent => "not_the_event",
            ReasonCode::KeyMissing => "key_missing",
            ReasonCode::FieldMissing => "field_missing",
            ReasonCode::FieldType => "field_type",
            ReasonCode::Ambiguous => "ambiguous",
            ReasonCode::OutputPlace => "output_place",
            ReasonCode::Refused => "refused",
            ReasonCode::MissingLookup => "missing_lookup",
            ReasonCode::TooLarge => "too_large",
            ReasonCode::Unwritable => "unwritable",
            ReasonCode::UnknownTopic => "unknown_topic",
            ReasonCode::KillsTheProcess => "kills_the_process",
            ReasonCode::OutputTopic => "output_topic",
            ReasonCode::Doctype => "doctype",
        }
    }
}

impl Body {
    /// Whether its record has no value.
    pub fn is_tombstone(&self) -> bool {
        matches!(self, Body::Tombstone { .. })
    }

    /// What was read costs so many bytes in memory, an estimate; the record itself is not in it.
    pub fn footprint_bytes(&self) -> usize {
        match self {
            Body::Readable(reading) => reading.footprint_bytes(),
            Body::Tombstone { values } => values.iter().map(Value::footprint_bytes).sum(),
            Body::Unreadable(reason) => reason.detail.len(),
        }
    }
}

impl Reading {
    /// An estimate, in bytes.
    pub fn footprint_bytes(&self) -> usize {
        const ROW_BYTES: usize = 48;
        let of = |values: &[Value]| values.iter().map(Value::footprint_bytes).sum::<usize>();
        let rows: usize = self.lists.iter().flatten().map(|row| ROW_BYTES + of(&row.values)).sum();
        of(&self.values) + rows + self.marks.len() * size_of::<Mark>()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.detail)
    }
}
