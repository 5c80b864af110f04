//! Documents to events: a pass over the document, then the job's rules over what it found.
//!
//! In:        a record's bytes     Out: [`Decoded`], or the [`Reason`] why there is no event
//! Holds:     the compiled job and buffers; one decoder per worker
//! Order:     encoding and characters, structure, key, fields, places: the first fault is the reason
//! Fails:     see [`crate::model::ReasonCode`]; never by a panic, whatever the bytes
//! Not here:  records without a value (the caller's), hashing the key (the exchange's)
//!
//! The rules, where a user could expect another:
//! - a field that ends at an element takes the element's own text (text, CDATA and references, joined over comments
//!   and processing instructions); the text of child elements is not part of it;
//! - a path that matches twice makes the event ambiguous and so unreadable: taking the first would lose the other;
//! - absent, empty and nil are three things until the field's rules say otherwise: absent or `xsi:nil="true"` is NULL for
//!   an optional field and a reject for a required one; empty is the empty text, and a reject for every other type;
//! - a part of the key is its text without white space at the ends; absent, nil or empty it makes the event unreadable.

use super::XmlSetupError;
use super::chars::{is_blank, trim};
use super::document;
use super::fault::Fault;
use super::field::{told, value_of};
use super::found::{Capture, Found, Nil};
use super::key::join_key;
use super::plan::{FieldPlan, Plan};
use super::walk::{Buffers, Walk};
use crate::job::{EventSpec, LimitsSpec, OutputSpec, Presence};
use crate::model::{Reading, Reason, ReasonCode, Record, Value};
use bytes::Bytes;

/// Reads the documents of one job.
#[derive(Debug)]
pub struct Decoder {
    plan: Plan,
    limits: LimitsSpec,
    buffers: Buffers,
    found: Found,
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
        let found = Found::new(plan.captures, plan.additions.len());
        Ok(Decoder { plan, limits, buffers: Buffers::default(), found })
    }

    /// Reads one record's document: its events in document order, or for each of them the reason why it is none.
    ///
    /// # Errors
    /// The reason why the whole record cannot be read. It names places and rules and never quotes the document.
    pub fn decode(&mut self, record: &Record) -> Result<Vec<Result<Decoded, Reason>>, Reason> {
        let no_value = || Reason {
            code: ReasonCode::NoValue,
            detail: "the record has no value (a tombstone)".to_owned(),
        };
        let document =
            document::open(record.value.as_ref().ok_or_else(no_value)?, self.limits.document_bytes)?;
        self.found.clear();
        let walk = Walk {
            plan: &self.plan,
            depth_max: self.limits.document_depth,
            document,
            buffers: &mut self.buffers,
            found: &mut self.found,
            root_seen: false,
        };
        walk.run().map_err(|fault| fault.into_reason(document.text))?;
        let decoded = self.judge(record).map_err(|verdict| match verdict {
            Verdict::At(fault) => fault.into_reason(document.text),
            Verdict::Nowhere(reason) => reason,
        });
        Ok(vec![decoded])
    }

    fn judge(&mut self, record: &Record) -> Result<Decoded, Verdict> {
        let mut parts = Vec::with_capacity(self.plan.keys.len());
        for (index, path) in &self.plan.keys {
            let capture = self.found.captures.get(*index);
            parts.push(key_part(path, capture)?);
        }
        let mut reading = Reading::default();
        for field in &self.plan.fields {
            let capture = self.found.captures.get(field.capture);
            reading.values.push(field_value(field, capture)?);
        }
        for (addition, place) in self.plan.additions.iter().zip(&mut self.found.places) {
            let what = || format!("the place `{}` of an addition", addition.at.text);
            check_single(ReasonCode::OutputPlace, what, place.second)?;
            let mark = place.mark.take().ok_or_else(|| absent(ReasonCode::OutputPlace, what))?;
            reading.marks.push(mark);
        }
        let key = if self.plan.keys.is_empty() {
            let no_key =
                || Reason { code: ReasonCode::KeyMissing, detail: "the Kafka record has no key".to_owned() };
            record.key.clone().ok_or_else(|| Verdict::Nowhere(no_key()))?
        } else {
            Bytes::from(join_key(&parts))
        };
        Ok(Decoded { key, reading })
    }
}

/// A fault with a place in the document, or one about something that is not there.
enum Verdict {
    At(Fault),
    Nowhere(Reason),
}

fn at(code: ReasonCode, offset: usize, detail: String) -> Verdict {
    Verdict::At(Fault::new(code, offset, detail))
}

/// Says what it is about; called only where there is something to say.
trait What: Fn() -> String {}
impl<F: Fn() -> String> What for F {}

fn absent(code: ReasonCode, what: impl What) -> Verdict {
    Verdict::Nowhere(Reason { code, detail: format!("{} is not in the document", what()) })
}

fn check_single(code: ReasonCode, what: impl What, second: Option<usize>) -> Result<(), Verdict> {
    match second {
        Some(second) => {
            Err(at(code, second, format!("{} is here once more; it may be in a document once", what())))
        }
        None => Ok(()),
    }
}

fn key_part(path: &str, capture: Option<&Capture>) -> Result<String, Verdict> {
    let what = || format!("the key's part `{path}`");
    let Some((capture, first)) = capture.and_then(|capture| Some((capture, capture.first?))) else {
        return Err(absent(ReasonCode::KeyMissing, what));
    };
    check_single(ReasonCode::Ambiguous, what, capture.second)?;
    if capture.nil != Nil::No {
        return Err(at(ReasonCode::KeyMissing, first, format!("{} is nil", what())));
    }
    let text = trim(&capture.text);
    if text.is_empty() {
        return Err(at(ReasonCode::KeyMissing, first, format!("{} is empty", what())));
    }
    Ok(text.to_owned())
}

fn field_value(field: &FieldPlan, capture: Option<&Capture>) -> Result<Value, Verdict> {
    let what = || format!("the field `{}` ({})", field.name, field.path);
    let Some((capture, first)) = capture.and_then(|capture| Some((capture, capture.first?))) else {
        return value_of(field, Presence::Absent).map_err(|fault| {
            let (code, why) = told(fault);
            Verdict::Nowhere(Reason { code, detail: format!("{} {why}", what()) })
        });
    };
    check_single(ReasonCode::Ambiguous, what, capture.second)?;
    let refuse = |code, why: &str| at(code, first, format!("{} {why}", what()));
    let found = match capture.nil {
        Nil::Unclear => {
            let why = "has an xsi:nil that is not `true`, `false`, `1` or `0`";
            return Err(refuse(ReasonCode::FieldType, why));
        }
        Nil::Yes if !is_blank(&capture.text) => {
            return Err(refuse(ReasonCode::FieldType, "is nil and has text"));
        }
        Nil::Yes => Presence::Nil,
        Nil::No => Presence::Text(&capture.text),
    };
    value_of(field, found).map_err(|fault| {
        let (code, why) = told(fault);
        refuse(code, &why)
    })
}
