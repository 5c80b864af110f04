//! Values between the model and SQLite.
//!
//! In:        [`Value`] to bind; what SQLite holds to read
//! Out:       SQLite's value; [`Value`]
//! Order:     a decimal is its text, a date `yyyy-mm-dd`, a time of day and a timestamp ISO 8601, a truth value 1 or 0. SQLite has no
//!            such types, so they are read back as text and numbers
//! Fails:     reject: a number over 2^63 - 1, which SQLite would round
//! Not here:  MySQL (`mysql/value.rs`)

use crate::database::{DatabaseError, ErrorClass};
use crate::model::Value;
use bytes::Bytes;
use rusqlite::types::{Value as Stored, ValueRef};

/// What is bound for a value.
pub(super) fn bind(label: &str, value: &Value) -> Result<Stored, DatabaseError> {
    Ok(match value {
        Value::Null => Stored::Null,
        Value::Text(text) => Stored::Text(text.clone()),
        Value::Int(number) => Stored::Integer(*number),
        Value::UInt(number) => Stored::Integer(i64::try_from(*number).map_err(|_| too_large(label))?),
        Value::Decimal(number) => Stored::Text(number.as_str().to_owned()),
        Value::Bool(truth) => Stored::Integer(i64::from(*truth)),
        Value::Date(date) => Stored::Text(date.to_string()),
        Value::Timestamp(at) => Stored::Text(at.to_string()),
        Value::Bytes(bytes) => Stored::Blob(bytes.to_vec()),
        Value::Float(number) => Stored::Real(*number),
        Value::Time(at) => Stored::Text(at.to_string()),
    })
}

fn too_large(label: &str) -> DatabaseError {
    let sentence = "a number is over 9223372036854775807, the largest that SQLite keeps exactly";
    DatabaseError::new(ErrorClass::Reject, format!("{label}: {sentence}"))
}

/// What was read from a column.
pub(super) fn read(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Float(number),
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => Value::Text(text.to_owned()),
            Err(_) => Value::Bytes(Bytes::copy_from_slice(text)),
        },
        ValueRef::Blob(bytes) => Value::Bytes(Bytes::copy_from_slice(bytes)),
    }
}
