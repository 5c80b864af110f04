//! A field's value by its rules, and the reason where it has none.
//!
//! In:        what a field's path, header or list has given     Out: a [`Value`], or a code and the end of a sentence
//! Fails:     see [`FieldFault`]
//! Not here:  types themselves (see `types`), ambiguity and places in the document (see `judge`)

use super::XmlSetupError;
use super::types::{Reader, Refusal};
use crate::job::{Field, FieldType, Gap};
use crate::model::{ReasonCode, Value};
use std::borrow::Cow;

/// What there is of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence<'a> {
    Absent,
    Nil,
    Text(&'a str),
}

/// Why a field has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FieldFault {
    Absent,
    Nil,
    NotOfType(Refusal),
}

/// A field's type and rules, ready to read.
#[derive(Debug)]
pub(super) struct FieldReader {
    reader: Option<Reader>,
    optional: bool,
}

/// Makes a field's type and rules ready.
pub(super) fn reader(field: &Field) -> Result<FieldReader, XmlSetupError> {
    let reader = match field.of_type {
        FieldType::Json | FieldType::Xml => None,
        _ => Some(Reader::new(&field.name, &field.of_type)?),
    };
    Ok(FieldReader { reader, optional: field.rules.absent == Gap::Null })
}

/// The field's value.
pub(super) fn value_of(reader: &FieldReader, found: Presence<'_>) -> Result<Value, FieldFault> {
    match (found, &reader.reader) {
        (Presence::Absent | Presence::Nil, _) if reader.optional => Ok(Value::Null),
        (Presence::Absent, _) => Err(FieldFault::Absent),
        (Presence::Nil, _) => Err(FieldFault::Nil),
        (Presence::Text(text), None) => Ok(Value::Text(text.to_owned())),
        (Presence::Text(text), Some(reader)) => reader.read(text).map_err(FieldFault::NotOfType),
    }
}

/// The reason's code, and what comes behind the field's name.
pub(super) fn told(fault: FieldFault) -> (ReasonCode, Cow<'static, str>) {
    match fault {
        FieldFault::Absent => (ReasonCode::FieldMissing, "is not in the document".into()),
        FieldFault::Nil => (ReasonCode::FieldMissing, "is required and nil".into()),
        FieldFault::NotOfType(refusal) => (ReasonCode::FieldType, refusal),
    }
}
