//! Values: what the references of a job stand for in one event, or in one row of its lists.
//!
//! In:        an event with what its look-ups gave, and the row in hand     Out: values, texts, whether a condition holds
//! Fails:     never: what is not there is NULL
//! Not here:  how values are read (xml), bound (database) or compared (condition)

use super::looked::Looked;
use crate::job::{Condition, Content, JobSpec, Meta, ValueRef};
use crate::model::{Body, Reading, Row, Timestamp, Value};
use crate::operator::condition::holds;
use crate::xml::{text_of, text_or_bytes};

/// Where a row stands: its list, and its place in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowAt {
    pub(super) list: usize,
    pub(super) row: usize,
}

/// What references are resolved in.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) spec: &'a JobSpec,
    pub(super) looked: &'a Looked<'a>,
    /// In a step that is run for each row.
    pub(super) row: Option<RowAt>,
}

impl<'a> Scope<'a> {
    /// Of an event, outside of its lists.
    pub(super) fn of(spec: &'a JobSpec, looked: &'a Looked<'a>) -> Scope<'a> {
        Scope { spec, looked, row: None }
    }

    /// The value of a reference.
    pub(super) fn value(&self, of: &ValueRef) -> Value {
        match of {
            ValueRef::Field(index) => self.field(*index),
            ValueRef::Lookup { step, column } => {
                let row = self.looked.rows.get(*step).and_then(Option::as_ref);
                row.and_then(|row| row.get(*column)).cloned().unwrap_or(Value::Null)
            }
            ValueRef::Row { list, field } => {
                self.row_of(*list).and_then(|row| row.values.get(*field)).cloned().unwrap_or(Value::Null)
            }
            ValueRef::RowIndex { list } => {
                self.row_of(*list).map_or(Value::Null, |row| Value::Int(i64::from(row.index)))
            }
            ValueRef::Meta(meta) => self.meta(meta),
        }
    }

    /// As a text for a document; none: it is NULL.
    pub(super) fn text(&self, content: &Content) -> Option<String> {
        match content {
            Content::Literal(text) => Some(text.clone()),
            Content::Value(of) => text_of(&self.value(of)),
        }
    }

    /// Whether what `when` says holds; without it everything does.
    pub(super) fn meets(&self, when: Option<&Condition>) -> bool {
        when.is_none_or(|condition| holds(condition, &|of| self.value(of)))
    }

    fn field(&self, index: usize) -> Value {
        match &self.looked.event.body {
            Body::Readable(Reading { values, .. }) | Body::Tombstone { values } => {
                values.get(index).cloned().unwrap_or(Value::Null)
            }
            Body::Unreadable(_) => Value::Null,
        }
    }

    /// The row of this list that the row in hand is, or is in.
    fn row_of(&self, list: usize) -> Option<&'a Row> {
        let Body::Readable(reading) = &self.looked.event.body else { return None };
        let mut at = self.row?;
        loop {
            let row = reading.lists.get(at.list)?.get(at.row)?;
            if at.list == list {
                return Some(row);
            }
            let parent = self.spec.event.lists.get(at.list)?.parent?;
            at = RowAt { list: parent, row: usize::try_from(row.parent).ok()? };
        }
    }

    fn meta(&self, meta: &Meta) -> Value {
        let (at, record) = (self.looked.event.at, &self.looked.event.record);
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
            Meta::Now => Value::Timestamp(self.looked.now),
        }
    }
}
