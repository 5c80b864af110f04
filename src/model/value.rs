//! Values of fields and of looked-up columns, exact: a decimal is never a float, a date never a number.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One value of a field, a looked-up column or a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// SQL NULL: an optional field that is absent or nil, a column that is NULL.
    Null,
    /// UTF-8 text.
    Text(String),
    /// A signed number.
    Int(i64),
    /// An unsigned number.
    UInt(u64),
    /// An exact decimal number.
    Decimal(Decimal),
    /// A truth value.
    Bool(bool),
    /// A calendar day.
    Date(Date),
    /// A point in time or a wall-clock reading: see [`Zone`].
    Timestamp(Timestamp),
    /// Raw bytes.
    Bytes(Bytes),
    /// A floating-point column that a look-up gave; no field type makes one.
    Float(f64),
}

/// An exact decimal in canonical text: optional `-`, digits without needless leading zeros, and as many
/// digits behind the point as the input had (`0.10` stays `0.10`). Never an exponent, never `-0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Decimal(String);

impl Decimal {
    /// Takes text that is canonical already. Returns `None` where it is not.
    pub fn from_canonical(text: &str) -> Option<Decimal> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = match digits.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (digits, None),
        };
        let all_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        let zero = digits.bytes().all(|b| b == b'0' || b == b'.');
        let canonical = all_digits(whole)
            && (whole.len() == 1 || !whole.starts_with('0'))
            && fraction.is_none_or(all_digits)
            && !(zero && text.starts_with('-'));
        canonical.then(|| Decimal(text.to_owned()))
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A day of the proleptic Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Date {
    /// 0 to 9999.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to 31.
    pub day: u8,
}

/// Whether a timestamp names an instant or only a clock reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Zone {
    /// An instant, held in UTC; printed with `Z`.
    Utc,
    /// A clock reading without a zone, kept as it was; printed without one.
    Local,
}

/// Date and time of day to the microsecond, with what is known of its zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Timestamp {
    /// The day.
    pub date: Date,
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59; leap seconds are refused.
    pub second: u8,
    /// 0 to 999,999.
    pub micros: u32,
    /// UTC, or unknown.
    pub zone: Zone,
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl fmt::Display for Timestamp {
    /// ISO 8601; the fraction only where it is not zero, without trailing zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}T{:02}:{:02}:{:02}", self.date, self.hour, self.minute, self.second)?;
        if self.micros != 0 {
            let fraction = format!("{:06}", self.micros);
            write!(f, ".{}", fraction.trim_end_matches('0'))?;
        }
        if self.zone == Zone::Utc { f.write_str("Z") } else { Ok(()) }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
