//! Values between the model and the MySQL protocol, exactly.
//!
//! In:        [`Value`] to bind; a column's type and the driver's value to read
//! Out:       the driver's value; [`Value`]
//! Order:     DECIMAL never passes through a float. DATETIME is a clock reading ([`Zone::Local`]); TIMESTAMP is an
//!            instant ([`Zone::Utc`]), since every session runs in UTC. TIME is a time of day, and text where it is
//!            a span (negative, 24 h or more). YEAR is a number, and a date that is none (`0000-00-00`) is text.
//! Not here:  which column is which (`steps.rs`)

use crate::model::{Date, Decimal, Time, Timestamp, Value, Zone};
use bytes::Bytes;
use mysql_async::Column;
use mysql_async::Value as Wire;
use mysql_async::consts::{ColumnFlags, ColumnType};

/// The protocol's number for "no character set": bytes.
const BINARY: u16 = 63;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Signed,
    Unsigned,
    Decimal,
    Float,
    Double,
    Date,
    DateTime,
    Timestamp,
    Time,
    Year,
    Text,
    Bytes,
}

impl Kind {
    pub(super) fn of(column: &Column) -> Kind {
        let unsigned = column.flags().contains(ColumnFlags::UNSIGNED_FLAG);
        match column.column_type() {
            ColumnType::MYSQL_TYPE_TINY
            | ColumnType::MYSQL_TYPE_SHORT
            | ColumnType::MYSQL_TYPE_LONG
            | ColumnType::MYSQL_TYPE_INT24
            | ColumnType::MYSQL_TYPE_LONGLONG => {
                if unsigned {
                    Kind::Unsigned
                } else {
                    Kind::Signed
                }
            }
            ColumnType::MYSQL_TYPE_DECIMAL | ColumnType::MYSQL_TYPE_NEWDECIMAL => Kind::Decimal,
            ColumnType::MYSQL_TYPE_FLOAT => Kind::Float,
            ColumnType::MYSQL_TYPE_DOUBLE => Kind::Double,
            ColumnType::MYSQL_TYPE_DATE | ColumnType::MYSQL_TYPE_NEWDATE => Kind::Date,
            ColumnType::MYSQL_TYPE_DATETIME | ColumnType::MYSQL_TYPE_DATETIME2 => Kind::DateTime,
            ColumnType::MYSQL_TYPE_TIMESTAMP | ColumnType::MYSQL_TYPE_TIMESTAMP2 => Kind::Timestamp,
            ColumnType::MYSQL_TYPE_TIME | ColumnType::MYSQL_TYPE_TIME2 => Kind::Time,
            ColumnType::MYSQL_TYPE_YEAR => Kind::Year,
            // MySQL calls JSON binary although it is text.
            ColumnType::MYSQL_TYPE_JSON => Kind::Text,
            ColumnType::MYSQL_TYPE_BIT | ColumnType::MYSQL_TYPE_GEOMETRY => Kind::Bytes,
            _ if column.character_set() == BINARY => Kind::Bytes,
            _ => Kind::Text,
        }
    }
}

/// What is sent for a value.
pub(super) fn bind(value: &Value) -> Wire {
    match value {
        Value::Null => Wire::NULL,
        Value::Text(text) => Wire::Bytes(text.as_bytes().to_vec()),
        Value::Int(number) => Wire::Int(*number),
        Value::UInt(number) => Wire::UInt(*number),
        Value::Decimal(number) => Wire::Bytes(number.as_str().as_bytes().to_vec()),
        Value::Bool(truth) => Wire::Int(i64::from(*truth)),
        Value::Date(Date { year, month, day }) => Wire::Date(*year, *month, *day, 0, 0, 0, 0),
        Value::Timestamp(at) => {
            let Date { year, month, day } = at.date;
            Wire::Date(year, month, day, at.hour, at.minute, at.second, at.micros)
        }
        Value::Bytes(bytes) => Wire::Bytes(bytes.to_vec()),
        Value::Float(number) => Wire::Double(*number),
        Value::Time(at) => Wire::Time(false, 0, at.hour, at.minute, at.second, at.micros),
    }
}

/// As what a value is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    Signed,
    Unsigned,
    Double,
    Clock,
    Time,
    Bytes,
}

/// As what [`bind`] sends a value; nothing has no type.
pub(super) fn sent(value: &Value) -> Option<Sent> {
    match value {
        Value::Null => None,
        Value::Text(_) | Value::Decimal(_) | Value::Bytes(_) => Some(Sent::Bytes),
        Value::Int(_) | Value::Bool(_) => Some(Sent::Signed),
        Value::UInt(_) => Some(Sent::Unsigned),
        Value::Date(_) | Value::Timestamp(_) => Some(Sent::Clock),
        Value::Float(_) => Some(Sent::Double),
        Value::Time(_) => Some(Sent::Time),
    }
}

/// What was read from a column.
pub(super) fn read(kind: Kind, value: Wire) -> Value {
    match value {
        Wire::NULL => Value::Null,
        Wire::Int(number) => integer(kind, number),
        Wire::UInt(number) => Value::UInt(number),
        // By way of its shortest text: 0.1f32 is 0.1, and not 0.10000000149.
        Wire::Float(number) => Value::Float(number.to_string().parse().unwrap_or_else(|_| f64::from(number))),
        Wire::Double(number) => Value::Float(number),
        Wire::Bytes(bytes) => text_or_bytes(kind, bytes),
        Wire::Date(year, month, day, hour, minute, second, micros) => {
            let date = Date { year, month, day };
            let zone = if kind == Kind::Timestamp { Zone::Utc } else { Zone::Local };
            let at = Timestamp { date, hour, minute, second, micros, zone };
            match kind {
                Kind::Date if month == 0 || day == 0 => Value::Text(date.to_string()),
                Kind::Date => Value::Date(date),
                _ if month == 0 || day == 0 => Value::Text(at.to_string()),
                _ => Value::Timestamp(at),
            }
        }
        Wire::Time(negative, days, hours, minutes, seconds, micros) => {
            let time = Time { hour: hours, minute: minutes, second: seconds, micros };
            let of_day = !negative && days == 0 && hours < 24;
            // MySQL's TIME may also be a span of up to 838 hours: that is no time of day.
            let text = || span(negative, days * 24 + u32::from(hours), minutes, seconds, micros);
            if of_day { Value::Time(time) } else { Value::Text(text()) }
        }
    }
}

fn integer(kind: Kind, number: i64) -> Value {
    match (kind, u64::try_from(number)) {
        // The driver gives an unsigned number as a signed one where it fits; its type must not depend on that.
        (Kind::Unsigned, Ok(number)) => Value::UInt(number),
        _ => Value::Int(number),
    }
}

fn text_or_bytes(kind: Kind, bytes: Vec<u8>) -> Value {
    if kind == Kind::Bytes {
        return Value::Bytes(Bytes::from(bytes));
    }
    match String::from_utf8(bytes) {
        Ok(text) if kind == Kind::Decimal => decimal(text),
        Ok(text) => Value::Text(text),
        Err(error) => Value::Bytes(Bytes::from(error.into_bytes())),
    }
}

/// Takes the leading zeros of a ZEROFILL column and the sign of a zero off; every other digit stays.
fn decimal(text: String) -> Value {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.as_str()),
    };
    let trimmed = digits.trim_start_matches('0');
    let whole = if trimmed.is_empty() || trimmed.starts_with('.') { "0" } else { "" };
    let zero = trimmed.bytes().all(|b| b == b'0' || b == b'.');
    let canonical = format!("{}{whole}{trimmed}", if zero { "" } else { sign });
    Decimal::from_canonical(&canonical).map_or(Value::Text(text), Value::Decimal)
}

fn span(negative: bool, hours: u32, minutes: u8, seconds: u8, micros: u32) -> String {
    let sign = if negative { "-" } else { "" };
    let fraction = if micros == 0 { String::new() } else { format!(".{micros:06}") };
    format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{}", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_become_canonical_and_keep_every_digit() {
        let read = |text: &str| match decimal(text.to_owned()) {
            Value::Decimal(found) => found.as_str().to_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(read("0012.50"), "12.50");
        assert_eq!(read("-0.00"), "0.00");
        assert_eq!(read("-0.10"), "-0.10");
        assert_eq!(read("000"), "0");
        assert_eq!(read(".5"), "0.5");
        assert_eq!(read("99999999999999999999999999999999999999"), "99999999999999999999999999999999999999");
        assert_eq!(read("1e5"), "Text(\"1e5\")");
    }

    #[test]
    fn a_type_does_not_depend_on_how_large_a_number_is() {
        assert_eq!(read(Kind::Unsigned, Wire::Int(7)), Value::UInt(7));
        assert_eq!(read(Kind::Signed, Wire::Int(-7)), Value::Int(-7));
        assert_eq!(read(Kind::Float, Wire::Float(0.1)), Value::Float(0.1));
    }

    #[test]
    fn a_date_that_is_none_stays_readable() {
        assert_eq!(read(Kind::Date, Wire::Date(0, 0, 0, 0, 0, 0, 0)), Value::Text("0000-00-00".into()));
        assert_eq!(read(Kind::Time, Wire::Time(true, 2, 3, 4, 5, 600)), Value::Text("-51:04:05.0006".into()));
    }
}
