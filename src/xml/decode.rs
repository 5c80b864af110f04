//! Documents to events: a pass over the document, then the job's rules over what it found.
//!
//! In:        a record's bytes     Out: per event [`Decoded`] or the [`Reason`] why it is none; or the reason of the record
//! Holds:     the compiled job and buffers; one decoder per worker
//! Order:     encoding and characters, structure, then each event's key, fields, lists, places: the first fault is the reason
//! Fails:     see [`crate::model::ReasonCode`]; never by a panic, whatever the bytes
//! Not here:  hashing the key (the exchange's), the rules over what was found (see `judge`)
//!
//! The rules, where a user could expect another:
//! - a field that ends at an element takes the element's own text (text, CDATA and references, joined over comments
//!   and processing instructions); the text of child elements is not part of it;
//! - a path that matches twice makes the event ambiguous and so unreadable: taking the first would lose the other;
//! - absent, empty and nil are three things until the field's rules say otherwise: absent or `xsi:nil="true"` is NULL for
//!   an optional field and a reject for a required one; empty is the empty text, and a reject for every other type;
//! - a part of the key is its text without white space at the ends; absent, nil or empty it makes the event unreadable;
//! - a document is read to its end before anything is said about its events: one that is not well-formed has none.
//!
//! Memory: what the pass finds is bounded by the document (see `found`); what events and rows are made of may be more than
//! the document, where many of them read the same text, and is bounded by [`SPEND_FACTOR`].

use super::XmlSetupError;
use super::document;
use super::fault::Place;
use super::found::Found;
use super::judge::{Judge, Verdict, outer_value, record_key};
use super::lines::Lines;
use super::plan::Plan;
use super::run::{Runs, World};
use super::seek::{Seek, SeekBuffers};
use super::walk::{Buffers, Walk};
use crate::job::{Doctype, EventSpec, LimitsSpec, NoMatch, OutputSpec};
use crate::model::{Reading, Reason, ReasonCode, Record};
use bytes::Bytes;

/// A record's keys, values, rows and places may take so many times `limits.document_bytes`.
const SPEND_FACTOR: usize = 16;

/// Reads the documents of one job.
#[derive(Debug)]
pub struct Decoder {
    plan: Plan,
    doctype: Doctype,
    limits: LimitsSpec,
    no_match: NoMatch,
    buffers: Buffers,
    seek: SeekBuffers,
    found: Found,
    runs: Runs,
}

/// One event of a record.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The ordering key: the parts of the job file, joined; or the Kafka record key.
    pub key: Bytes,
    /// What was read for it.
    pub reading: Reading,
}

impl Decoder {
    /// Compiles a job's paths.
    ///
    /// # Errors
    /// What makes the job impossible to carry out; the job file's check finds the same earlier and with a line.
    pub fn new(
        event: &EventSpec,
        outputs: &[OutputSpec],
        limits: LimitsSpec,
    ) -> Result<Decoder, XmlSetupError> {
        if u32::try_from(limits.document_bytes).is_err() {
            return Err(XmlSetupError::DocumentBytes { found: limits.document_bytes });
        }
        let plan = Plan::new(event, outputs)?;
        let (found, runs) = (Found::new(&plan), Runs::new(&plan));
        let (buffers, seek) = (Buffers::default(), SeekBuffers::default());
        let (doctype, no_match) = (event.doctype, event.no_match);
        Ok(Decoder { plan, doctype, limits, no_match, buffers, seek, found, runs })
    }

    /// Reads one record's document: its events in document order, or for each of them the reason why it is none. Empty: the
    /// document has no event, and the job discards such documents.
    ///
    /// # Errors
    /// The reason why the whole record cannot be read. It names places and rules and never quotes the document.
    pub fn decode(&mut self, record: &Record) -> Result<Vec<Result<Decoded, Reason>>, Reason> {
        let no_value = || Reason {
            code: ReasonCode::NoValue,
            detail: "the record has no value (a tombstone)".to_owned(),
        };
        let value = record.value.as_ref().ok_or_else(no_value)?;
        let document = document::open(value, self.limits.document_bytes)?;
        let text = document.text();
        if u32::try_from(text.text.len()).is_err() {
            let detail = "the document's text is over 4 GiB once it is decoded".to_owned();
            return Err(Reason { code: ReasonCode::Limit, detail });
        }
        let walk = Walk {
            namespaces: &self.plan.names.namespaces,
            doctype: self.doctype,
            depth_max: self.limits.document_depth,
            document: text,
            buffers: &mut self.buffers,
            finder: Seek::new(&self.plan, text.text, &mut self.seek, &mut self.found),
        };
        walk.run().map_err(|fault| fault.into_reason(text.text))?;
        self.runs.clear();
        self.judge(record, text.text)
    }

    /// Makes the event of a record without a value: its key is the Kafka record key, and only fields of that key and of headers
    /// have values.
    ///
    /// # Errors
    /// A record without a key; a header that is not of its field's type or is required and absent.
    pub fn tombstone(&self, record: &Record) -> Result<Decoded, Reason> {
        let told = |verdict| match verdict {
            Verdict::Nowhere(reason) => reason,
            Verdict::At(code, _, detail) => Reason { code, detail },
            Verdict::TooMuch => too_much(),
        };
        let key = record_key(record).map_err(told)?;
        let values = self.plan.fields.iter().map(|field| outer_value(field, record));
        let values = values.collect::<Result<_, _>>().map_err(told)?;
        let mut lists = Vec::new();
        lists.resize_with(self.plan.lists.len(), Vec::new);
        Ok(Decoded { key, reading: Reading { values, lists, ..Reading::default() } })
    }

    fn judge(&mut self, record: &Record, text: &str) -> Result<Vec<Result<Decoded, Reason>>, Reason> {
        let world = World { plan: &self.plan, found: &self.found, document: text };
        let mut judge = Judge {
            world,
            runs: &mut self.runs,
            record,
            lines: Lines::default(),
            spent: 0,
            spend_max: self.limits.document_bytes.saturating_mul(SPEND_FACTOR),
        };
        let events = judge.events();
        if events.is_empty() && self.no_match == NoMatch::Unreadable {
            return Err(no_event(&self.plan, judge.lines.place(text, self.found.root_start)));
        }
        let mut decoded = Vec::with_capacity(events.len());
        for at in events {
            decoded.push(match judge.event(at) {
                Ok(event) => Ok(event),
                Err(Verdict::Nowhere(reason)) => Err(reason),
                Err(Verdict::At(code, at, detail)) => {
                    let place = judge.lines.place(text, at);
                    Err(Reason { code, detail: format!("{place}: {detail}") })
                }
                Err(Verdict::TooMuch) => return Err(too_much()),
            });
        }
        Ok(decoded)
    }
}

fn no_event(plan: &Plan, root: Place) -> Reason {
    let detail = match &plan.root {
        Some(name) => {
            let uri =
                name.namespace.as_deref().map_or("no namespace".to_owned(), |uri| format!("namespace {uri}"));
            format!("{root}: the root element is not `{}` in {uri}", name.local)
        }
        None => format!("the document has no event: event.each ({}) finds no element", plan.each_text),
    };
    Reason { code: ReasonCode::NotTheEvent, detail }
}

fn too_much() -> Reason {
    let detail = format!(
        "what the record's events are made of is over {SPEND_FACTOR} times limits.document_bytes; raise that limit, or read \
         less per event and row"
    );
    Reason { code: ReasonCode::Limit, detail }
}
