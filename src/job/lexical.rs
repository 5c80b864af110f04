//! A field's text to its value, exactly by the field's type and rules: the texts of documents, of Kafka headers, and the
//! job file's own (defaults, enumerations).
//!
//! In:        text, line ends normalised; or that there is none     Out: a [`Value`]
//! Holds:     the rules of a field, its zone looked up, its defaults and enumerations read
//! Fails:     text that is not of the type or out of its range: a sentence that never quotes the text
//! Not here:  where the text comes from (`xml`)
//!
//! White space (blank, tab, CR, LF) at both ends is cut for every type but text. Absent, nil and empty are three things
//! until a rule says otherwise.

mod binary;

mod duration;

pub(super) mod format;

mod number;

mod round;

mod time;

mod white_space;

use super::{DurationUnit, FieldRules, FieldType, Gap, Round, WhiteSpace};
use crate::model::Value;
use format::{Format, Says};
use jiff::tz::TimeZone;
use std::borrow::Cow;
use std::collections::BTreeMap;
use white_space::{by_rule, trim};

/// Why a text is not of its type: the end of a sentence that begins with the field.
pub type Refusal = Cow<'static, str>;

/// What there is of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence<'a> {
    /// Its path finds nothing, the record has no such header, or no key.
    Absent,
    /// `xsi:nil="true"`
    Nil,
    /// Its text. Of the type json, the array; of the type xml, the element's source.
    Text(&'a str),
}

/// Why a field has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldFault {
    /// It must be there.
    Absent,
    /// It must not be nil.
    Nil,
    /// It must not be empty.
    Empty,
    /// It is there, and its text is not of its type.
    NotOfType(Refusal),
}

/// What makes a field's type and rules impossible. The job file's check has said so before, with its line.
#[derive(Debug, thiserror::Error)]
pub enum FieldRulesError {
    /// A time zone that nobody knows.
    #[error("the time zone `{zone}` is not known; use an IANA name such as Europe/Zurich")]
    Zone {
        /// As the job file has it.
        zone: String,
        /// What the time zone database says.
        source: jiff::Error,
    },
    /// A decimal without digits, or with more of them behind the point than in all.
    #[error("decimal({precision},{scale}) is no shape that a number can have")]
    DecimalShape {
        /// Digits in all.
        precision: u8,
        /// Digits behind the point.
        scale: u8,
    },
    /// A format that cannot be read by.
    #[error("the format {0}")]
    Format(String),
    /// A default or the value of an enumeration that is not of the type.
    #[error("the {what} {refusal}")]
    Text {
        /// Which text.
        what: &'static str,
        /// What is wrong with it.
        refusal: Refusal,
    },
    /// A rule names a default that is not there, or a value where there is none.
    #[error("a rule for what is missing gives nothing")]
    Gap,
}

/// A field's type and rules, ready to read.
#[derive(Debug)]
pub struct FieldReader {
    reader: TypeReader,
    white_space: WhiteSpace,
    absent: Ruling,
    nil: Ruling,
    empty: Ruling,
    /// Empty: every text is read by the type.
    values: BTreeMap<String, Value>,
}

/// What a [`Gap`] gives.
#[derive(Debug)]
enum Ruling {
    Reject,
    Give(Value),
    /// The empty text goes the way of every text.
    Read,
}

impl Ruling {
    fn new(gap: Gap, default: Option<&Value>) -> Result<Ruling, FieldRulesError> {
        Ok(match gap {
            Gap::Reject => Ruling::Reject,
            Gap::Null => Ruling::Give(Value::Null),
            Gap::Default => Ruling::Give(default.cloned().ok_or(FieldRulesError::Gap)?),
            Gap::Value => Ruling::Read,
        })
    }

    fn give(&self, fault: FieldFault) -> Result<Value, FieldFault> {
        match self {
            Ruling::Give(value) => Ok(value.clone()),
            Ruling::Reject | Ruling::Read => Err(fault),
        }
    }
}

impl FieldReader {
    /// Makes a field's rules ready.
    ///
    /// # Errors
    /// Type and rules that do not go together; the job file's check finds the same earlier and with a line.
    pub fn new(of_type: &FieldType, rules: &FieldRules) -> Result<FieldReader, FieldRulesError> {
        let reader = TypeReader::new(of_type, rules)?;
        let read = |what, text: &String| {
            reader.read(text).map_err(|refusal| FieldRulesError::Text { what, refusal })
        };
        let default = rules.default.as_ref().map(|text| read("default", text)).transpose()?;
        let value = |(text, stands_for): (&String, &String)| {
            Ok((text.clone(), read("value of an enumeration", stands_for)?))
        };
        let values = rules.values.iter().map(value).collect::<Result<_, FieldRulesError>>()?;
        let white_space = reader.white_space(rules.white_space);
        let ruling = |gap| Ruling::new(gap, default.as_ref());
        Ok(FieldReader {
            white_space,
            absent: ruling(rules.absent)?,
            nil: ruling(rules.nil)?,
            empty: ruling(rules.empty)?,
            values,
            reader,
        })
    }

    /// The field's value by its rules.
    ///
    /// # Errors
    /// What must be there and is not; a text that is not of the type.
    pub fn read(&self, found: Presence<'_>) -> Result<Value, FieldFault> {
        let text = match found {
            Presence::Absent => return self.absent.give(FieldFault::Absent),
            Presence::Nil => return self.nil.give(FieldFault::Nil),
            Presence::Text(text) => by_rule(self.white_space, text),
        };
        if text.is_empty() && !matches!(self.empty, Ruling::Read) {
            return self.empty.give(FieldFault::Empty);
        }
        if self.values.is_empty() {
            return self.reader.read(&text).map_err(FieldFault::NotOfType);
        }
        let stands_for = self.values.get(text.as_ref()).cloned();
        stands_for.ok_or(FieldFault::NotOfType(Cow::Borrowed("is none of the texts that its `values` name")))
    }
}

/// A field type, ready to read texts.
#[derive(Debug)]
pub(super) enum TypeReader {
    Text {
        chars_max: Option<usize>,
    },
    Int64,
    UInt64,
    Decimal {
        precision: usize,
        scale: usize,
        round: Round,
    },
    Float64,
    Bool,
    Date {
        format: Option<Format>,
    },
    Time {
        format: Option<Format>,
        round: Round,
    },
    Timestamp {
        zone: Option<TimeZone>,
        format: Option<Format>,
        round: Round,
    },
    Duration {
        unit: DurationUnit,
        round: Round,
    },
    Base64,
    Hex,
    /// Made by whoever found it: an array, an element.
    AsItIs,
}

impl TypeReader {
    pub(super) fn new(of_type: &FieldType, rules: &FieldRules) -> Result<TypeReader, FieldRulesError> {
        let round = rules.round;
        let format = |says| {
            let made = rules.format.as_ref().map(|format| Format::new(format, says));
            made.transpose().map_err(FieldRulesError::Format)
        };
        Ok(match of_type {
            FieldType::Text => TypeReader::Text { chars_max: rules.chars_max },
            FieldType::Int64 => TypeReader::Int64,
            FieldType::UInt64 => TypeReader::UInt64,
            FieldType::Decimal { precision, scale } => {
                let (precision, scale) = (*precision, *scale);
                if precision == 0 || scale > precision {
                    return Err(FieldRulesError::DecimalShape { precision, scale });
                }
                TypeReader::Decimal { precision: usize::from(precision), scale: usize::from(scale), round }
            }
            FieldType::Float64 => TypeReader::Float64,
            FieldType::Bool => TypeReader::Bool,
            FieldType::Date => TypeReader::Date { format: format(Says::Date)? },
            FieldType::Time => TypeReader::Time { format: format(Says::Time)?, round },
            FieldType::Timestamp { zone } => {
                let zone = zone.as_ref().map(|zone| zone_of(zone)).transpose()?;
                TypeReader::Timestamp { zone, format: format(Says::Timestamp)?, round }
            }
            FieldType::Duration(unit) => TypeReader::Duration { unit: *unit, round },
            FieldType::Base64 => TypeReader::Base64,
            FieldType::Hex => TypeReader::Hex,
            FieldType::Json | FieldType::Xml => TypeReader::AsItIs,
        })
    }

    /// The rule that the type has, where text alone leaves it to the field.
    fn white_space(&self, rule: WhiteSpace) -> WhiteSpace {
        match self {
            TypeReader::Text { .. } => rule,
            TypeReader::AsItIs => WhiteSpace::Preserve,
            _ => WhiteSpace::Trim,
        }
    }

    /// Whether a text can be there once white space has been dealt with.
    pub(super) fn may_stand(&self, text: &str, rule: WhiteSpace) -> bool {
        by_rule(self.white_space(rule), text) == text
    }

    /// Reads a text that is there.
    pub(super) fn read(&self, text: &str) -> Result<Value, Refusal> {
        match self {
            TypeReader::Text { chars_max } => bounded(text, *chars_max),
            TypeReader::AsItIs => Ok(Value::Text(text.to_owned())),
            _ => match trim(text) {
                "" => Err("is empty, which only text can be".into()),
                trimmed => self.read_trimmed(trimmed),
            },
        }
    }

    fn read_trimmed(&self, text: &str) -> Result<Value, Refusal> {
        match self {
            TypeReader::Text { .. } | TypeReader::AsItIs => Ok(Value::Text(text.to_owned())),
            TypeReader::Int64 => number::int64(text).map(Value::Int),
            TypeReader::UInt64 => number::uint64(text).map(Value::UInt),
            TypeReader::Decimal { precision, scale, round } => {
                number::decimal(text, *precision, *scale, *round).map(Value::Decimal)
            }
            TypeReader::Float64 => number::float64(text).map(Value::Float),
            TypeReader::Bool => match text {
                "true" | "1" => Ok(Value::Bool(true)),
                "false" | "0" => Ok(Value::Bool(false)),
                _ => Err("is not a bool: `true`, `false`, `1` or `0`".into()),
            },
            TypeReader::Date { format: None } => time::date(text).map(Value::Date),
            TypeReader::Date { format: Some(format) } => format.date(text).map(Value::Date),
            TypeReader::Time { format: None, round } => time::time(text, *round).map(Value::Time),
            TypeReader::Time { format: Some(format), round } => format.time(text, *round).map(Value::Time),
            TypeReader::Timestamp { zone, format, round } => match format {
                None => time::timestamp(text, zone.as_ref(), *round),
                Some(format) => format.timestamp(text, zone.as_ref(), *round),
            }
            .map(Value::Timestamp),
            TypeReader::Duration { unit, round } => duration_of(*unit, text, *round),
            TypeReader::Base64 => binary::base64(text).map(Value::Bytes),
            TypeReader::Hex => binary::hex(text).map(Value::Bytes),
        }
    }
}

/// Reads a text of the job file, or of a column, as a value of this type without further rules.
///
/// # Errors
/// It is not of the type.
pub fn read_literal(of_type: &FieldType, text: &str) -> Result<Value, Refusal> {
    let reader = TypeReader::new(of_type, &FieldRules::required()).map_err(|error| error.to_string())?;
    reader.read(text)
}

fn zone_of(name: &str) -> Result<TimeZone, FieldRulesError> {
    TimeZone::get(name).map_err(|source| FieldRulesError::Zone { zone: name.to_owned(), source })
}

fn bounded(text: &str, chars_max: Option<usize>) -> Result<Value, Refusal> {
    // No text has more characters than bytes.
    match chars_max.filter(|chars_max| text.len() > *chars_max) {
        Some(chars_max) if text.chars().count() > chars_max => {
            Err(format!("has {} characters; text({chars_max}) holds {chars_max}", text.chars().count())
                .into())
        }
        _ => Ok(Value::Text(text.to_owned())),
    }
}

fn duration_of(unit: DurationUnit, text: &str, round: Round) -> Result<Value, Refusal> {
    const MILLI_DIGITS: usize = 3;
    match unit {
        DurationUnit::Text => duration::check(text).map(|()| Value::Text(text.to_owned())),
        DurationUnit::Seconds => duration::seconds(text, 0, round).map(Value::Int),
        DurationUnit::Milliseconds => duration::seconds(text, MILLI_DIGITS, round).map(Value::Int),
        DurationUnit::Months => duration::months(text).map(Value::Int),
    }
}

#[cfg(test)]
mod tests;
