//! Which kinds of values a condition may compare.
//!
//! In:        both sides, and the types of what they refer to
//! Out:       nothing, or why they can never be equal
//! Not here:  a look-up's column and a header have no type here: what they hold is seen when they are compared

use super::super::references::Names;
use super::super::{DurationUnit, FieldType, Operand, read_literal};

/// Kinds that compare among themselves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Bool,
    Date,
    Time,
    Timestamp,
    Bytes,
    /// Known to be of no use in a condition.
    Never,
}

impl Kind {
    fn words(self) -> &'static str {
        match self {
            Kind::Text => "text",
            Kind::Number => "a number",
            Kind::Bool => "true or false",
            Kind::Date => "a date",
            Kind::Time => "a time",
            Kind::Timestamp => "a timestamp",
            Kind::Bytes => "bytes",
            Kind::Never => "markup or an array",
        }
    }
}

/// Message and hint, where two sides can never be equal.
pub(super) fn comparable(left: &Operand, right: &Operand, names: &Names) -> Result<(), (String, String)> {
    let (Some(one), Some(other)) = (kind(left, names), kind(right, names)) else { return Ok(()) };
    if one == Kind::Never || other == Kind::Never {
        let hint = "ask for `is null`, or compare a field of another type".to_owned();
        return Err((format!("{} cannot be compared", Kind::Never.words()), hint));
    }
    for (value, of, literal) in [(one, left, right), (other, right, left)] {
        if let Some(answer) = with_literal(value, of, literal, names) {
            return answer;
        }
    }
    if one == other || matches!((one, other), (Kind::Bytes, Kind::Text) | (Kind::Text, Kind::Bytes)) {
        return Ok(());
    }
    let message = format!("{} is compared with {}", one.words(), other.words());
    let hint = match (one, other) {
        (Kind::Number, Kind::Text) | (Kind::Text, Kind::Number) => {
            "write a number without quotation marks, and a text with them"
        }
        (Kind::Bool, _) | (_, Kind::Bool) => "write true or false without quotation marks",
        _ => "both sides must be of one kind",
    };
    Err((message, hint.to_owned()))
}

/// What literals of another kind may say; none: it is no such literal.
fn with_literal(
    value: Kind,
    of: &Operand,
    literal: &Operand,
    names: &Names,
) -> Option<Result<(), (String, String)>> {
    match (value, literal) {
        // How databases keep it.
        (Kind::Bool, Operand::Number(number)) if number == "1" || number == "0" => Some(Ok(())),
        (Kind::Date | Kind::Time | Kind::Timestamp, Operand::Text(text)) => {
            let Operand::Value(of) = of else { return None };
            let of_type = names.type_of(of)?;
            let hint = "such as '2024-02-29', '13:45:00' or '2024-02-29T13:45:00Z'";
            let read = read_literal(&of_type, text);
            Some(read.map(drop).map_err(|refusal| (format!("the text {refusal}"), hint.to_owned())))
        }
        _ => None,
    }
}

/// None: not known.
fn kind(operand: &Operand, names: &Names) -> Option<Kind> {
    match operand {
        Operand::Text(_) => Some(Kind::Text),
        Operand::Number(_) => Some(Kind::Number),
        Operand::Bool(_) => Some(Kind::Bool),
        Operand::Value(value) => names.type_of(value).map(|of_type| kind_of(&of_type)),
    }
}

fn kind_of(of_type: &FieldType) -> Kind {
    match of_type {
        FieldType::Text | FieldType::Duration(DurationUnit::Text) => Kind::Text,
        FieldType::Int64
        | FieldType::UInt64
        | FieldType::Decimal { .. }
        | FieldType::Float64
        | FieldType::Duration(_) => Kind::Number,
        FieldType::Bool => Kind::Bool,
        FieldType::Date => Kind::Date,
        FieldType::Time => Kind::Time,
        FieldType::Timestamp { .. } => Kind::Timestamp,
        FieldType::Base64 | FieldType::Hex => Kind::Bytes,
        FieldType::Json | FieldType::Xml => Kind::Never,
    }
}
