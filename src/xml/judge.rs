//! The job's rules over what was found: an event's key, values, rows and places.
//!
//! In:        an event's element     Out: [`Decoded`], or a [`Verdict`]
//! Order:     key, fields, lists, fields made of lists, places of edits: the first fault is the event's reason
//! Fails:     see [`Verdict`]; what is too large for the whole record ends the record
//! Not here:  finding (see `search`), types (see `field`), rows (see `rows`), places (see `marks`)

use super::chars::{is_blank, trim};
use super::decode::Decoded;
use super::field;
use super::found::{Nil, TextRange, wide};
use super::key::join;
use super::lines::Lines;
use super::plan::{From, KeyPlan, Names, PathPlan, Plan, Taken};
use super::run::{Elements, Runs, World};
use super::search::{At, Finding, Item, each, elements, find};
use super::{json, rows};
use crate::job::{FieldFault, Presence};
use crate::model::{ElementSpan, Reading, Reason, ReasonCode, Record, Value};
use bytes::Bytes;
use std::borrow::Cow;

/// Why an event, or with [`Verdict::TooMuch`] its whole record, cannot be read.
pub(super) enum Verdict {
    /// At a byte of the document's text.
    At(ReasonCode, usize, String),
    Nowhere(Reason),
    TooMuch,
}

/// Reads the events of one document.
pub(super) struct Judge<'a> {
    pub(super) world: World<'a>,
    pub(super) runs: &'a mut Runs,
    pub(super) record: &'a Record,
    pub(super) lines: Lines,
    /// Bytes that the record's events have taken so far, and may take.
    pub(super) spent: usize,
    pub(super) spend_max: usize,
}

/// Says what it is about; called only where there is something to say.
pub(super) trait What: Fn() -> String {}
impl<F: Fn() -> String> What for F {}

/// What a value takes beside its text, about.
const VALUE_BYTES: usize = 32;
/// What an event takes beside its values, about.
const EVENT_BYTES: usize = 64;

impl<'a> Judge<'a> {
    /// The elements of the record's events.
    pub(super) fn events(&mut self) -> Vec<At> {
        let each = &self.world.plan.each;
        let document = At { node: Names::DOCUMENT, element: 0 };
        let at = |element| At { node: each.node, element };
        match elements(self.world, self.runs, each, document) {
            Elements::Run(start, end) => (start..end).map(at).collect(),
            Elements::List(list) => list.iter().copied().map(at).collect(),
        }
    }

    pub(super) fn event(&mut self, at: At) -> Result<Decoded, Verdict> {
        let plan = self.world.plan;
        self.spend(EVENT_BYTES)?;
        let key = self.key(at)?;
        let mut reading = Reading::default();
        reading.values.reserve_exact(plan.fields.len());
        reading.marks.reserve_exact(plan.edits.len());
        for field in &plan.fields {
            reading.values.push(self.value(field, at, None)?);
        }
        reading.lists.resize_with(plan.lists.len(), Vec::new);
        for (index, list) in plan.lists.iter().enumerate() {
            if list.parent.is_none() {
                rows::read(self, index, at, 0, &mut reading.lists)?;
            }
        }
        for (index, field) in plan.fields.iter().enumerate() {
            if let From::List(list) = field.from {
                let rows = rows::to_json(plan, list, &reading.lists, 0..usize::MAX);
                let value = self.made_of_list(field, &rows)?;
                if let Some(place) = reading.values.get_mut(index) {
                    *place = value;
                }
            }
        }
        for index in 0..plan.edits.len() {
            let mark = self.mark(index, at)?;
            reading.marks.push(mark);
        }
        if plan.takes_element {
            reading.element = Some(self.span(at)?);
        }
        Ok(Decoded { key, reading })
    }

    fn key(&mut self, at: At) -> Result<Bytes, Verdict> {
        let plan: &'a Plan = self.world.plan;
        let record: &'a Record = self.record;
        if plan.keys.is_empty() {
            return record_key(record);
        }
        let mut parts: Vec<Cow<'a, [u8]>> = Vec::with_capacity(plan.keys.len());
        for part in &plan.keys {
            parts.push(match part {
                KeyPlan::Path(path) => Cow::Owned(self.key_part(path, at)?.into_bytes()),
                KeyPlan::RecordKey => {
                    Cow::Borrowed(outer_part(record.key.as_deref(), || "the record's key".to_owned())?)
                }
                KeyPlan::Header(name) => {
                    let what = || format!("the key's part, the header `{name}`,");
                    Cow::Borrowed(outer_part(header(record, name).map(<[u8]>::trim_ascii), what)?)
                }
            });
        }
        let key = join(parts.iter().map(Cow::as_ref));
        self.spend(key.len())?;
        Ok(Bytes::from(key))
    }

    fn key_part(&mut self, path: &PathPlan, from: At) -> Result<String, Verdict> {
        let what = || format!("the key's part `{}`", path.text);
        let item = match find(self.world, self.runs, path, from) {
            Finding::Nothing => return Err(self.absent(ReasonCode::KeyMissing, from, what)),
            Finding::Two(second) => return Err(twice(ReasonCode::Ambiguous, &second, what)),
            Finding::Count(count) => return Ok(count.to_string()),
            Finding::One(item) => item,
        };
        if let Item::Element(_, instance) = &item
            && instance.flags.nil != Nil::No
        {
            return Err(Verdict::At(ReasonCode::KeyMissing, item.start(), format!("{} is nil", what())));
        }
        let text = trim(self.text_of(&item));
        if text.is_empty() {
            return Err(Verdict::At(ReasonCode::KeyMissing, item.start(), format!("{} is empty", what())));
        }
        Ok(text.to_owned())
    }

    /// A field's value; NULL for one that is made of a list. `row`: what it is a field of, if not of the event.
    pub(super) fn value(&mut self, field: &Taken, from: At, row: Option<At>) -> Result<Value, Verdict> {
        self.spend(VALUE_BYTES)?;
        match &field.from {
            From::Path(path) => self.of_path(field, path, from, row, false),
            From::Source(path) => self.of_path(field, path, from, row, true),
            From::All(path) => self.of_all(field, path, from, row),
            From::List(_) => Ok(Value::Null),
            From::RecordKey | From::Header(_) => outer_value(field, self.record),
        }
    }

    fn of_path(
        &mut self,
        field: &Taken,
        path: &PathPlan,
        from: At,
        row: Option<At>,
        source: bool,
    ) -> Result<Value, Verdict> {
        let what = || format!("the field `{}` ({})", field.name, path.text);
        let item = match find(self.world, self.runs, path, from) {
            Finding::Nothing => return self.gap(field, from, row, what),
            Finding::Two(second) => return Err(twice(ReasonCode::Ambiguous, &second, what)),
            Finding::Count(count) => {
                let read = field::value_of(&field.reader, Presence::Text(&count.to_string()));
                return read.map_err(|fault| refused(fault, self.start(from), what));
            }
            Finding::One(item) => item,
        };
        let found = self.presence(&item, source, what)?;
        if let Presence::Text(text) = found {
            self.spend(text.len())?;
        }
        field::value_of(&field.reader, found).map_err(|fault| refused(fault, item.start(), what))
    }

    /// All texts that a path finds, as a JSON array; nil ones are null.
    fn of_all(
        &mut self,
        field: &Taken,
        path: &PathPlan,
        from: At,
        row: Option<At>,
    ) -> Result<Value, Verdict> {
        let what = || format!("the field `{}` ({})", field.name, path.text);
        for branch in &path.branches {
            let mut array = String::from("[");
            let mut items = Vec::new();
            let room = self.spend_max.saturating_sub(self.spent) / VALUE_BYTES;
            each(self.world, self.runs, branch, from, |item| {
                items.push(item);
                items.len() <= room
            });
            self.spend(items.len().saturating_mul(VALUE_BYTES))?;
            for item in &items {
                if array.len() > 1 {
                    array.push(',');
                }
                match self.presence(item, false, what)? {
                    Presence::Text(text) => {
                        self.spend(text.len())?;
                        json::push_string(&mut array, text);
                    }
                    Presence::Nil | Presence::Absent => array.push_str("null"),
                }
            }
            if let Some(first) = items.first() {
                array.push(']');
                let read = field::value_of(&field.reader, Presence::Text(&array));
                return read.map_err(|fault| refused(fault, first.start(), what));
            }
        }
        self.gap(field, from, row, what)
    }

    pub(super) fn made_of_list(&mut self, field: &Taken, rows: &str) -> Result<Value, Verdict> {
        self.spend(rows.len())?;
        let what = || format!("the field `{}`", field.name);
        field::value_of(&field.reader, Presence::Text(rows)).map_err(|fault| nowhere(fault, what))
    }

    /// The value of a field that is not there, if its rules give one.
    fn gap(&mut self, field: &Taken, from: At, row: Option<At>, what: impl What) -> Result<Value, Verdict> {
        field::value_of(&field.reader, Presence::Absent).map_err(|fault| match fault {
            FieldFault::Absent if row.is_some() => {
                let detail = format!("{} is not in this row", what());
                Verdict::At(ReasonCode::FieldMissing, self.start(from), detail)
            }
            FieldFault::Absent => self.absent(ReasonCode::FieldMissing, from, what),
            fault => nowhere(fault, what),
        })
    }

    /// What there is of a field; `source`: the element's own source instead of its text.
    fn presence(&self, item: &Item, source: bool, what: impl What) -> Result<Presence<'a>, Verdict> {
        let at = |why: &str| Verdict::At(ReasonCode::FieldType, item.start(), format!("{} {why}", what()));
        let Item::Element(_, instance) = item else { return Ok(Presence::Text(self.text_of(item))) };
        match instance.flags.nil {
            Nil::Unclear => return Err(at("has an xsi:nil that is not `true`, `false`, `1` or `0`")),
            Nil::Yes if !source && !is_blank(self.text_of(item)) => return Err(at("is nil and has text")),
            Nil::Yes => return Ok(Presence::Nil),
            Nil::No => {}
        }
        if source && instance.flags.expanded {
            return Err(at("stands in an entity of the document type, so it has no source here"));
        }
        if source && self.world.found.is_foreign(instance) {
            return Err(at(
                "has what only the document type gives, so its source means something else alone",
            ));
        }
        let range = TextRange { start: instance.start, end: instance.end, arena: false };
        Ok(Presence::Text(match source {
            true => self.world.found.text(self.world.document, range),
            false => self.text_of(item),
        }))
    }

    pub(super) fn text_of(&self, item: &Item) -> &'a str {
        let range = match item {
            Item::Element(_, instance) => instance.text,
            Item::Attribute(here) => here.value,
        };
        self.world.found.text(self.world.document, range)
    }

    /// Where an element begins.
    pub(super) fn start(&self, at: At) -> usize {
        self.world.found.element(at.node, at.element).map_or(0, |instance| wide(instance.start))
    }

    /// Something that is not there: in the document, or in one of its events.
    pub(super) fn absent(&self, code: ReasonCode, from: At, what: impl What) -> Verdict {
        let depth = self.world.plan.names.node(from.node).map_or(0, |node| node.depth);
        if depth <= 1 {
            return Verdict::Nowhere(Reason { code, detail: format!("{} is not in the document", what()) });
        }
        Verdict::At(code, self.start(from), format!("{} is not in this event", what()))
    }

    /// Takes so many bytes of what the record's events may take.
    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), Verdict> {
        self.spent = self.spent.saturating_add(bytes);
        if self.spent > self.spend_max { Err(Verdict::TooMuch) } else { Ok(()) }
    }

    /// Where the event's element is, and what is declared around it.
    fn span(&mut self, at: At) -> Result<ElementSpan, Verdict> {
        let found = self.world.found;
        let missing =
            || Verdict::Nowhere(Reason { code: ReasonCode::Unwritable, detail: "no element".to_owned() });
        let instance = found.element(at.node, at.element).ok_or_else(missing)?;
        let mut declare: Vec<(String, String)> = Vec::new();
        let mut next = found.scopes.get(wide(at.element)).copied().flatten();
        while let Some(declared) = next.and_then(|number| found.declared.get(wide(number))) {
            next = declared.outer;
            self.spend(declared.prefix.len().saturating_add(declared.uri.len()).saturating_add(VALUE_BYTES))?;
            // The innermost of each prefix hides the others, and one without a URI hides and declares nothing.
            if declare.iter().all(|(prefix, _)| *prefix != declared.prefix) {
                declare.push((declared.prefix.clone(), declared.uri.clone()));
            }
        }
        let own = super::splice::declared_in_tag(
            self.world.document,
            wide(instance.start),
            wide(instance.inner_start),
        );
        declare.retain(|(prefix, uri)| !uri.is_empty() && !own.contains(&prefix.as_str()));
        declare.reverse();
        let depends = found.is_foreign(instance) || instance.flags.expanded;
        Ok(ElementSpan { start: instance.start, end: instance.end, declare, depends })
    }
}

/// The key of a record, as it is.
pub(super) fn record_key(record: &Record) -> Result<Bytes, Verdict> {
    let detail = || "the Kafka record has no key".to_owned();
    let none = || Verdict::Nowhere(Reason { code: ReasonCode::KeyMissing, detail: detail() });
    record.key.clone().ok_or_else(none)
}

/// The last header of a name.
fn header<'a>(record: &'a Record, name: &str) -> Option<&'a [u8]> {
    let header = record.headers.iter().rev().find(|(found, _)| found == name);
    header.and_then(|(_, value)| value.as_deref())
}

/// A part of the key from beside the document.
fn outer_part(bytes: Option<&[u8]>, what: impl What) -> Result<&[u8], Verdict> {
    let reason = |why: &str| Reason { code: ReasonCode::KeyMissing, detail: format!("{} {why}", what()) };
    let bytes = bytes.ok_or_else(|| Verdict::Nowhere(reason("is not there")))?;
    if bytes.is_empty() { Err(Verdict::Nowhere(reason("is empty"))) } else { Ok(bytes) }
}

/// A field's value from beside the document; NULL for one of the document.
pub(super) fn outer_value(field: &Taken, record: &Record) -> Result<Value, Verdict> {
    let (bytes, source) = match &field.from {
        From::RecordKey => (record.key.as_deref(), "the record's key".to_owned()),
        From::Header(name) => (header(record, name), format!("the header `{name}`")),
        From::Path(_) | From::Source(_) | From::All(_) | From::List(_) => return Ok(Value::Null),
    };
    let what = || format!("the field `{}`, {source},", field.name);
    let reason = |code, why: &str| Verdict::Nowhere(Reason { code, detail: format!("{} {why}", what()) });
    let found = match bytes.map(std::str::from_utf8) {
        None => Presence::Absent,
        Some(Ok(text)) => Presence::Text(text),
        Some(Err(_)) => return Err(reason(ReasonCode::FieldType, "is not UTF-8")),
    };
    field::value_of(&field.reader, found).map_err(|fault| match fault {
        FieldFault::Absent => reason(ReasonCode::FieldMissing, "is not in the record"),
        fault => nowhere(fault, what),
    })
}

pub(super) fn twice(code: ReasonCode, second: &Item, what: impl What) -> Verdict {
    Verdict::At(code, second.start(), format!("{} is here once more; it may be in a document once", what()))
}

fn refused(fault: FieldFault, at: usize, what: impl What) -> Verdict {
    let (code, why) = field::told(fault);
    Verdict::At(code, at, format!("{} {why}", what()))
}

fn nowhere(fault: FieldFault, what: impl What) -> Verdict {
    let (code, why) = field::told(fault);
    Verdict::Nowhere(Reason { code, detail: format!("{} {why}", what()) })
}
