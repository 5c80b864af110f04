//! Values of fields and of looked-up columns, exact: a decimal is never a float, a date never a number.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One value of a field, a looked-up column or a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// SQL NULL: a field whose rules give it, a column that is NULL.
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
    /// A floating-point number, finite.
    Float(f64),
    /// A time of day. New kinds stand at the end: stored values are told apart by their place in this list.
    Time(Time),
}

impl Value {
    /// What it costs in memory, in bytes.
    pub fn footprint_bytes(&self) -> usize {
        let beside = match self {
            Value::Text(text) => text.len(),
            Value::Decimal(decimal) => decimal.as_str().len(),
            Value::Bytes(bytes) => bytes.len(),
            _ => 0,
        };
        size_of::<Value>() + beside
    }
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

/// A time of day to the microsecond, without a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time {
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59; leap seconds are refused.
    pub second: u8,
    /// 0 to 999,999.
    pub micros: u32,
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

impl Timestamp {
    /// What its clock shows.
    pub fn time(&self) -> Time {
        Time { hour: self.hour, minute: self.minute, second: self.second, micros: self.micros }
    }

    /// Midnight of the first of January 1970, UTC.
    pub const UNIX_EPOCH: Timestamp = Timestamp {
        date: Date { year: 1970, month: 1, day: 1 },
        hour: 0,
        minute: 0,
        second: 0,
        micros: 0,
        zone: Zone::Utc,
    };

    /// The instant so many milliseconds from 1970 UTC; none outside the years 0 to 9999.
    pub fn from_unix_ms(ms: i64) -> Option<Timestamp> {
        const DAY_MS: i64 = 86_400_000;
        let date = Date::from_unix_days(ms.div_euclid(DAY_MS))?;
        let in_day = ms.rem_euclid(DAY_MS);
        let part = |unit_ms: i64, count: i64| u8::try_from(in_day / unit_ms % count).ok();
        Some(Timestamp {
            date,
            hour: part(3_600_000, 24)?,
            minute: part(60_000, 60)?,
            second: part(1_000, 60)?,
            micros: u32::try_from(in_day % 1_000 * 1_000).ok()?,
            zone: Zone::Utc,
        })
    }
}

impl Date {
    /// The day so many days from 1970-01-01; none outside the years 0 to 9999.
    fn from_unix_days(days: i64) -> Option<Date> {
        // Years that begin in March put the leap day last, and 400 of them have always the same number of days.
        const DAYS_OF_400_YEARS: i64 = 146_097;
        let since_march_0000 = days.checked_add(719_468)?;
        let cycle = since_march_0000.div_euclid(DAYS_OF_400_YEARS);
        let day_of_cycle = since_march_0000.rem_euclid(DAYS_OF_400_YEARS);
        let year_of_cycle =
            (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524 - day_of_cycle / 146_096) / 365;
        let day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        let year = cycle.checked_mul(400)?.checked_add(year_of_cycle)? + i64::from(month <= 2);
        let year = u16::try_from(year).ok().filter(|year| *year <= 9_999)?;
        Some(Date { year, month: u8::try_from(month).ok()?, day: u8::try_from(day).ok()? })
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl fmt::Display for Time {
    /// ISO 8601; the fraction only where it is not zero, without trailing zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}:{:02}", self.hour, self.minute, self.second)?;
        if self.micros == 0 {
            return Ok(());
        }
        let fraction = format!("{:06}", self.micros);
        write!(f, ".{}", fraction.trim_end_matches('0'))
    }
}

impl fmt::Display for Timestamp {
    /// ISO 8601; the fraction only where it is not zero, without trailing zeros.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}T{}", self.date, self.time())?;
        if self.zone == Zone::Utc { f.write_str("Z") } else { Ok(()) }
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_become_calendar_time() {
        let text = |ms| Timestamp::from_unix_ms(ms).map(|t| t.to_string());
        assert_eq!(text(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(text(1_582_934_400_123).as_deref(), Some("2020-02-29T00:00:00.123Z"));
        assert_eq!(text(-1).as_deref(), Some("1969-12-31T23:59:59.999Z"));
        assert_eq!(text(253_402_300_799_999).as_deref(), Some("9999-12-31T23:59:59.999Z"));
        assert_eq!(text(253_402_300_800_000), None);
        assert_eq!(text(i64::MIN), None);
    }

    proptest::proptest! {
        #[test]
        fn calendar_time_agrees_with_jiff(ms in -62_000_000_000_000_i64..253_000_000_000_000) {
            let theirs = jiff::Timestamp::from_millisecond(ms).unwrap().in_tz("UTC").unwrap();
            let ours = Timestamp::from_unix_ms(ms).unwrap();
            proptest::prop_assert_eq!(
                (i32::from(ours.date.year), ours.date.month, ours.date.day, ours.hour, ours.minute, ours.second),
                (
                    i32::from(theirs.year()), u8::try_from(theirs.month()).unwrap(), u8::try_from(theirs.day()).unwrap(),
                    u8::try_from(theirs.hour()).unwrap(), u8::try_from(theirs.minute()).unwrap(),
                    u8::try_from(theirs.second()).unwrap(),
                )
            );
        }
    }
}
