//! A field's text to its value, exactly by the field's type.
//!
//! In:        text, line ends normalised     Out: a [`Value`]
//! Holds:     the time zone of a field, looked up once
//! Fails:     text that is not of the type or out of its range: a sentence that never quotes the text
//! Not here:  absent and nil (see `decode`)
//!
//! White space (blank, tab, CR, LF) at both ends is cut for every type but text. Empty text is a value for text alone.

mod binary;

mod number;

mod time;

use super::XmlSetupError;
use super::chars::trim;
use crate::job::FieldType;
use crate::model::Value;
use std::borrow::Cow;

/// Why a text is not of its type.
pub(super) type Refusal = Cow<'static, str>;

/// A field type, ready to read.
#[derive(Debug)]
pub(super) enum Reader {
    Text,
    Int64,
    UInt64,
    Decimal { precision: usize, scale: usize },
    Bool,
    Date,
    Timestamp { zone: Option<jiff::tz::TimeZone> },
    Base64,
    Hex,
}

impl Reader {
    pub(super) fn new(field: &str, of_type: &FieldType) -> Result<Reader, XmlSetupError> {
        Ok(match of_type {
            FieldType::Text => Reader::Text,
            FieldType::Int64 => Reader::Int64,
            FieldType::UInt64 => Reader::UInt64,
            FieldType::Decimal { precision, scale } => {
                if *precision == 0 || scale > precision {
                    return Err(XmlSetupError::DecimalShape {
                        field: field.to_owned(),
                        precision: *precision,
                        scale: *scale,
                    });
                }
                Reader::Decimal { precision: usize::from(*precision), scale: usize::from(*scale) }
            }
            FieldType::Bool => Reader::Bool,
            FieldType::Date => Reader::Date,
            FieldType::Timestamp { zone } => Reader::Timestamp {
                zone: match zone {
                    Some(name) => Some(jiff::tz::TimeZone::get(name).map_err(|source| {
                        XmlSetupError::Zone { field: field.to_owned(), zone: name.clone(), source }
                    })?),
                    None => None,
                },
            },
            FieldType::Base64 => Reader::Base64,
            FieldType::Hex => Reader::Hex,
            FieldType::Float64
            | FieldType::Time
            | FieldType::Duration(_)
            | FieldType::Json
            | FieldType::Xml => return Err(XmlSetupError::Internal),
        })
    }

    /// Reads a text that is there.
    pub(super) fn read(&self, text: &str) -> Result<Value, Refusal> {
        let trimmed = trim(text);
        if trimmed.is_empty() && !matches!(self, Reader::Text) {
            return Err("is empty, which only text can be".into());
        }
        match self {
            Reader::Text => Ok(Value::Text(text.to_owned())),
            Reader::Int64 => number::int64(trimmed).map(Value::Int),
            Reader::UInt64 => number::uint64(trimmed).map(Value::UInt),
            Reader::Decimal { precision, scale } => {
                number::decimal(trimmed, *precision, *scale).map(Value::Decimal)
            }
            Reader::Bool => match trimmed {
                "true" | "1" => Ok(Value::Bool(true)),
                "false" | "0" => Ok(Value::Bool(false)),
                _ => Err("is not a bool: `true`, `false`, `1` or `0`".into()),
            },
            Reader::Date => time::date(trimmed).map(Value::Date),
            Reader::Timestamp { zone } => time::timestamp(trimmed, zone.as_ref()).map(Value::Timestamp),
            Reader::Base64 => binary::base64(trimmed).map(Value::Bytes),
            Reader::Hex => binary::hex(trimmed).map(Value::Bytes),
        }
    }
}
