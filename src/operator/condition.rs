//! Shared: whether a condition (`when`) holds for an event or a row.
//!
//! In:        a checked condition, and what its references give     Out: true, false, or unknown
//! Order:     SQL's logic of three values: NULL is unknown, and what is unknown does not hold
//! Fails:     never: values that cannot be compared are unknown, as NULL is
//! Not here:  the grammar and what is known of the types (`job`)
//!
//! Compared are, exactly and never through a float:
//! - numbers of every kind with each other, a float by the very number that it is;
//! - text with text, by its bytes; bytes with bytes, and with text;
//! - days, times of day and timestamps with their own kind. A reading without a zone is taken for UTC, as the
//!   database's sessions do;
//! - truth values with each other, and with 1 and 0, which is how databases keep them.
//!
//! Databases without such types give numbers, days and times as text: text is read as what it is compared with, in the
//! form that fields have. What is none is unknown.

mod number;

use crate::job::{Comparison, Condition, FieldType, Operand, ValueRef, read_literal};
use crate::model::{Timestamp, Value, Zone};
use number::Number;
use std::cmp::Ordering;

/// Whether the condition holds; what is unknown does not.
pub fn holds(condition: &Condition, value: &dyn Fn(&ValueRef) -> Value) -> bool {
    truth(condition, value) == Some(true)
}

/// `None`: unknown.
pub fn truth(condition: &Condition, value: &dyn Fn(&ValueRef) -> Value) -> Option<bool> {
    match condition {
        Condition::Compare { left, by, right } => {
            let order = compared(&given(left, value), &given(right, value))?;
            Some(accepts(*by, order))
        }
        Condition::IsNull(of) => Some(value(of) == Value::Null),
        Condition::In { value: of, among } => {
            let looked_for = Given::Value(value(of));
            one_of(among, |one| Some(compared(&looked_for, &given(one, value))? == Ordering::Equal))
        }
        Condition::All(parts) => one_of(parts, |part| truth(part, value).map(|truth| !truth)).map(|one| !one),
        Condition::Any(parts) => one_of(parts, |part| truth(part, value)),
        Condition::Not(part) => truth(part, value).map(|truth| !truth),
    }
}

/// True where one is; else unknown where one is; else false.
fn one_of<T>(parts: &[T], truth: impl Fn(&T) -> Option<bool>) -> Option<bool> {
    let mut found = Some(false);
    for part in parts {
        match truth(part) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => found = None,
        }
    }
    found
}

fn accepts(by: Comparison, order: Ordering) -> bool {
    match by {
        Comparison::Equal => order == Ordering::Equal,
        Comparison::NotEqual => order != Ordering::Equal,
        Comparison::Less => order == Ordering::Less,
        Comparison::LessOrEqual => order != Ordering::Greater,
        Comparison::Greater => order == Ordering::Greater,
        Comparison::GreaterOrEqual => order != Ordering::Less,
    }
}

/// One side of a comparison.
enum Given<'a> {
    Value(Value),
    Text(&'a str),
    Number(&'a str),
    Bool(bool),
}

fn given<'a>(operand: &'a Operand, value: &dyn Fn(&ValueRef) -> Value) -> Given<'a> {
    match operand {
        Operand::Value(of) => Given::Value(value(of)),
        Operand::Text(text) => Given::Text(text),
        Operand::Number(number) => Given::Number(number),
        Operand::Bool(truth) => Given::Bool(*truth),
    }
}

impl Given<'_> {
    fn text(&self) -> Option<&str> {
        match self {
            Given::Value(Value::Text(text)) => Some(text),
            Given::Text(text) => Some(text),
            _ => None,
        }
    }

    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Given::Value(Value::Bytes(bytes)) => Some(bytes),
            other => other.text().map(str::as_bytes),
        }
    }

    /// Text is a number where it is written as one.
    fn number(&self) -> Option<Number> {
        match self {
            Given::Value(Value::Int(number)) => Number::read(&number.to_string()),
            Given::Value(Value::UInt(number)) => Number::read(&number.to_string()),
            Given::Value(Value::Decimal(number)) => Number::read(number.as_str()),
            Given::Value(Value::Float(number)) => Number::of_float(*number),
            Given::Number(number) => Number::read(number),
            other => other.text().and_then(Number::read),
        }
    }

    fn is_number(&self) -> bool {
        matches!(
            self,
            Given::Number(_)
                | Given::Value(Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Float(_))
        )
    }

    fn bool(&self) -> Option<bool> {
        match self {
            Given::Bool(truth) | Given::Value(Value::Bool(truth)) => Some(*truth),
            Given::Value(Value::Int(0) | Value::UInt(0)) => Some(false),
            Given::Value(Value::Int(1) | Value::UInt(1)) => Some(true),
            _ => None,
        }
    }

    /// As a value of this type; text is read.
    fn as_type(&self, of_type: &FieldType) -> Option<Value> {
        match self {
            Given::Value(value @ (Value::Date(_) | Value::Time(_) | Value::Timestamp(_))) => {
                Some(value.clone())
            }
            other => read_literal(of_type, other.text()?).ok(),
        }
    }
}

/// How two sides stand to each other; `None`: they cannot be compared.
fn compared(left: &Given<'_>, right: &Given<'_>) -> Option<Ordering> {
    let either = |is: &dyn Fn(&Given<'_>) -> bool| is(left) || is(right);
    let kind = |of: &Given<'_>| match of {
        Given::Value(Value::Date(_)) => Some(FieldType::Date),
        Given::Value(Value::Time(_)) => Some(FieldType::Time),
        Given::Value(Value::Timestamp(_)) => Some(FieldType::Timestamp { zone: None }),
        _ => None,
    };
    if let Some(of_type) = kind(left).or_else(|| kind(right)) {
        return moments(&left.as_type(&of_type)?, &right.as_type(&of_type)?);
    }
    if either(&|one| matches!(one, Given::Bool(_) | Given::Value(Value::Bool(_)))) {
        return Some(left.bool()?.cmp(&right.bool()?));
    }
    if either(&|one| one.is_number()) {
        return Some(left.number()?.cmp(&right.number()?));
    }
    Some(left.bytes()?.cmp(right.bytes()?))
}

fn moments(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Date(left), Value::Date(right)) => Some(left.cmp(right)),
        (Value::Time(left), Value::Time(right)) => Some(left.cmp(right)),
        (Value::Timestamp(left), Value::Timestamp(right)) => {
            let in_utc = |at: &Timestamp| Timestamp { zone: Zone::Utc, ..*at };
            Some(in_utc(left).cmp(&in_utc(right)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
