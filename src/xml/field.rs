//! A field's value by its rules, and the reason where it has none.
//!
//! In:        what a field's path, header or list has given     Out: a [`Value`], or a code and the end of a sentence
//! Fails:     see [`FieldFault`]
//! Not here:  types and rules themselves (`job`), ambiguity and places in the document (`judge`)

use super::XmlSetupError;
use crate::job::{Field, FieldFault, FieldReader, Presence};
use crate::model::{ReasonCode, Value};
use std::borrow::Cow;

/// Makes a field's type and rules ready.
pub(super) fn reader(field: &Field) -> Result<FieldReader, XmlSetupError> {
    FieldReader::new(&field.of_type, &field.rules)
        .map_err(|why| XmlSetupError::Field { field: field.name.clone(), why })
}

/// The field's value.
pub(super) fn value_of(reader: &FieldReader, found: Presence<'_>) -> Result<Value, FieldFault> {
    reader.read(found)
}

/// The reason's code, and what comes behind the field's name.
pub(super) fn told(fault: FieldFault) -> (ReasonCode, Cow<'static, str>) {
    match fault {
        FieldFault::Absent => (ReasonCode::FieldMissing, "is not in the document".into()),
        FieldFault::Nil => (ReasonCode::FieldMissing, "is required and nil".into()),
        FieldFault::Empty => (ReasonCode::FieldMissing, "is required and empty".into()),
        FieldFault::NotOfType(refusal) => (ReasonCode::FieldType, refusal),
    }
}
