//! Calendar days and timestamps: ISO 8601 as XML Schema writes it, to the microsecond.
//!
//! In:        trimmed text, the job's zone for values that carry none     Out: [`Date`], [`Timestamp`]
//! Fails:     days and times that no calendar has, digits that a microsecond cannot hold
//!
//! A date's zone is checked and ignored: a day is a day. A timestamp's zone makes it an instant in UTC. Where it
//! carries none, the job's zone does; without one it stays the clock reading it is. In the hour that a zone repeats
//! in autumn the earlier instant is taken; a reading in the hour that it skips in spring is refused. `24:00:00` and
//! leap seconds are refused. A blank may stand in place of the `T`.

use super::Refusal;
use crate::model::{Date, Timestamp, Zone};
use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

const DATE_FORM: &str = "is not a date: yyyy-mm-dd, a zone allowed";
const TIMESTAMP_FORM: &str =
    "is not a timestamp: yyyy-mm-ddThh:mm:ss, a fraction and a zone (`Z`, `+hh:mm`, `-hh:mm`) allowed";
const MICROS_DIGITS: usize = 6;

pub(super) fn date(text: &str) -> Result<Date, Refusal> {
    let mut cursor = Cursor(text.as_bytes());
    let date = cursor.date().ok_or(DATE_FORM)?;
    cursor.zone().ok_or(DATE_FORM)?;
    if !cursor.0.is_empty() {
        return Err(DATE_FORM.into());
    }
    date
}

pub(super) fn timestamp(text: &str, zone: Option<&TimeZone>) -> Result<Timestamp, Refusal> {
    let mut cursor = Cursor(text.as_bytes());
    let date = cursor.date().ok_or(TIMESTAMP_FORM)?;
    let reading = cursor.time().ok_or(TIMESTAMP_FORM)?;
    let offset_s = cursor.zone().ok_or(TIMESTAMP_FORM)?;
    if !cursor.0.is_empty() {
        return Err(TIMESTAMP_FORM.into());
    }
    let reading = Timestamp { date: date?, ..reading? };
    match (offset_s, zone) {
        (Some(offset_s), _) => to_utc(reading, offset_s),
        (None, Some(zone)) => to_utc(reading, offset_in(zone, reading)?),
        (None, None) => Ok(reading),
    }
}

/// What is not read yet. Its methods give `None` where the form is not met.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn take(&mut self, expected: &[u8]) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        expected.contains(first).then_some(())?;
        self.0 = rest;
        Some(*first)
    }

    /// Exactly `count` digits.
    fn number(&mut self, count: usize) -> Option<u16> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        let mut value: u16 = 0;
        for digit in digits {
            let digit = digit.is_ascii_digit().then(|| u16::from(digit.saturating_sub(b'0')))?;
            value = value.checked_mul(10)?.checked_add(digit)?;
        }
        self.0 = rest;
        Some(value)
    }

    fn two(&mut self) -> Option<u8> {
        self.number(2).and_then(|value| u8::try_from(value).ok())
    }

    fn date(&mut self) -> Option<Result<Date, Refusal>> {
        let year = self.number(4)?;
        self.take(b"-")?;
        let month = self.two()?;
        self.take(b"-")?;
        let date = Date { year, month, day: self.two()? };
        let exists = civil_date(date).is_some();
        Some(if exists { Ok(date) } else { Err("is a day that the calendar does not have".into()) })
    }

    /// Time of day, with an arbitrary date that the caller replaces.
    fn time(&mut self) -> Option<Result<Timestamp, Refusal>> {
        self.take(b"T ")?;
        let hour = self.two()?;
        self.take(b":")?;
        let minute = self.two()?;
        self.take(b":")?;
        let second = self.two()?;
        let micros = if self.take(b".").is_some() { self.fraction()? } else { Ok(0) };
        let date = Date { year: 0, month: 1, day: 1 };
        Some(micros.and_then(|micros| match (hour, minute, second) {
            (24, 0, 0) => Err("is 24:00:00; write 00:00:00 of the next day".into()),
            (0..=23, 0..=59, 60) => Err("has a leap second, which is not taken".into()),
            (0..=23, 0..=59, 0..=59) => {
                Ok(Timestamp { date, hour, minute, second, micros, zone: Zone::Local })
            }
            _ => Err("is a time of day that no clock shows".into()),
        }))
    }

    /// Digits behind the point, as microseconds.
    fn fraction(&mut self) -> Option<Result<u32, Refusal>> {
        let length = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(length).filter(|(digits, _)| !digits.is_empty())?;
        self.0 = rest;
        if digits.iter().skip(MICROS_DIGITS).any(|digit| *digit != b'0') {
            let detail =
                "has a fraction finer than a microsecond; six digits are kept and none is dropped unseen";
            return Some(Err(detail.into()));
        }
        let padded = digits.iter().copied().chain(std::iter::repeat(b'0')).take(MICROS_DIGITS);
        let micros = padded.fold(0_u32, |sum, digit| {
            sum.saturating_mul(10).saturating_add(u32::from(digit.saturating_sub(b'0')))
        });
        Some(Ok(micros))
    }

    /// The zone's offset from UTC in seconds, or `Some(None)` where there is none.
    fn zone(&mut self) -> Option<Option<i32>> {
        if self.0.is_empty() {
            return Some(None);
        }
        let sign = self.take(b"Z+-")?;
        if sign == b'Z' {
            return Some(Some(0));
        }
        let hours = self.number(2)?;
        self.take(b":")?;
        let minutes = self.number(2)?;
        // XML Schema's bounds: 14:00 at the most.
        if minutes > 59 || hours > 14 || (hours == 14 && minutes > 0) {
            return None;
        }
        let seconds =
            i32::from(hours).saturating_mul(3600).saturating_add(i32::from(minutes).saturating_mul(60));
        Some(Some(if sign == b'-' { seconds.saturating_neg() } else { seconds }))
    }
}

fn civil_date(date: Date) -> Option<jiff::civil::Date> {
    let year = i16::try_from(date.year).ok()?;
    jiff::civil::Date::new(year, i8::try_from(date.month).ok()?, i8::try_from(date.day).ok()?).ok()
}

fn civil(reading: Timestamp) -> Option<DateTime> {
    let hour = i8::try_from(reading.hour).ok()?;
    let minute = i8::try_from(reading.minute).ok()?;
    let second = i8::try_from(reading.second).ok()?;
    let nanosecond = i32::try_from(reading.micros.checked_mul(1000)?).ok()?;
    let time = jiff::civil::Time::new(hour, minute, second, nanosecond).ok()?;
    Some(DateTime::from_parts(civil_date(reading.date)?, time))
}

/// The instant of a reading that stands `offset_s` seconds ahead of UTC.
fn to_utc(reading: Timestamp, offset_s: i32) -> Result<Timestamp, Refusal> {
    let out_of_range = "is out of the years 0000 to 9999 in UTC";
    let utc = civil(reading)
        .and_then(|civil| civil.checked_sub(SignedDuration::from_secs(i64::from(offset_s))).ok())
        .ok_or(out_of_range)?;
    let year = u16::try_from(utc.year()).ok().filter(|year| *year <= 9999).ok_or(out_of_range)?;
    let small = |value: i8| u8::try_from(value).map_err(|_| Refusal::from(out_of_range));
    Ok(Timestamp {
        date: Date { year, month: small(utc.month())?, day: small(utc.day())? },
        hour: small(utc.hour())?,
        minute: small(utc.minute())?,
        second: small(utc.second())?,
        micros: reading.micros,
        zone: Zone::Utc,
    })
}

/// What `zone` was ahead of UTC when its clocks showed the reading, in seconds.
fn offset_in(zone: &TimeZone, reading: Timestamp) -> Result<i32, Refusal> {
    let civil = civil(reading).ok_or("is a day that the calendar does not have")?;
    match zone.to_ambiguous_timestamp(civil).offset() {
        AmbiguousOffset::Unambiguous { offset } => Ok(offset.seconds()),
        AmbiguousOffset::Fold { before, .. } => Ok(before.seconds()),
        AmbiguousOffset::Gap { .. } => {
            Err("is a reading that the clocks of its zone skipped, going over to summer time".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(text: &str, zone: Option<&str>) -> String {
        let zone = zone.map(|name| TimeZone::get(name).unwrap());
        timestamp(text, zone.as_ref()).map_or_else(|refusal| refusal.into_owned(), |value| value.to_string())
    }

    #[test]
    fn a_date_ignores_its_zone() {
        for text in ["2021-02-28", "2021-02-28Z", "2021-02-28-06:00", "2021-02-28+14:00"] {
            assert_eq!(date(text).unwrap().to_string(), "2021-02-28", "{text}");
        }
        assert_eq!(date("2024-02-29").unwrap().to_string(), "2024-02-29");
        assert_eq!(date("0001-01-01").unwrap().to_string(), "0001-01-01");
    }

    #[test]
    fn dates_refused() {
        for text in ["2021-02-29", "2021-13-01", "2021-00-01", "2021-01-00", "1900-02-29", "2021-04-31Z"] {
            assert!(date(text).unwrap_err().contains("calendar"), "{text}");
        }
        for text in [
            "",
            "2021-2-28",
            "20210228",
            "-2021-02-28",
            "12021-02-28",
            "2021-02-28T00:00:00",
            "2021-02-28+0600",
            "2021-02-28+14:01",
            "2021-02-28+06",
            "2021-02-28z",
            "2021-02-28 Z",
            "2021-02-2é",
            "+021-02-28",
        ] {
            assert_eq!(date(text).unwrap_err(), DATE_FORM, "{text}");
        }
    }

    #[test]
    fn a_zone_makes_an_instant() {
        for (text, utc) in [
            ("2019-04-05T06:07:08Z", "2019-04-05T06:07:08Z"),
            ("2019-04-05 06:07:08Z", "2019-04-05T06:07:08Z"),
            ("2019-04-05T06:07:08.500+02:00", "2019-04-05T04:07:08.5Z"),
            ("2019-12-31T23:30:00-08:30", "2020-01-01T08:00:00Z"),
            ("2019-04-05T06:07:08.123456000Z", "2019-04-05T06:07:08.123456Z"),
            ("2019-04-05T06:07:08.000001-00:00", "2019-04-05T06:07:08.000001Z"),
            ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(instant(text, None), utc, "{text}");
            assert_eq!(instant(text, Some("Europe/Zurich")), utc, "its own zone wins: {text}");
        }
    }

    #[test]
    fn without_a_zone_the_jobs_zone_or_the_reading_itself() {
        assert_eq!(instant("2021-02-28T23:45:00", None), "2021-02-28T23:45:00");
        assert_eq!(instant("2021-02-28T23:45:00", Some("Europe/Zurich")), "2021-02-28T22:45:00Z");
        assert_eq!(instant("2021-07-01T00:15:00.25", Some("Europe/Zurich")), "2021-06-30T22:15:00.25Z");
    }

    #[test]
    fn the_hour_that_is_there_twice_and_the_hour_that_is_not() {
        assert_eq!(instant("2021-10-31T02:30:00", Some("Europe/Zurich")), "2021-10-31T00:30:00Z");
        assert_eq!(instant("2021-10-31T03:00:00", Some("Europe/Zurich")), "2021-10-31T02:00:00Z");
        assert!(instant("2021-03-28T02:30:00", Some("Europe/Zurich")).contains("skipped"));
        assert_eq!(instant("2021-03-28T03:00:00", Some("Europe/Zurich")), "2021-03-28T01:00:00Z");
    }

    #[test]
    fn timestamps_refused() {
        for (text, detail) in [
            ("2021-02-28T24:00:00", "24:00:00"),
            ("2016-12-31T23:59:60Z", "leap second"),
            ("2021-02-28T25:00:00", "no clock shows"),
            ("2021-02-28T24:00:01", "no clock shows"),
            ("2021-02-28T10:60:00", "no clock shows"),
            ("2021-02-30T10:00:00", "calendar"),
            ("2026-07-24T19:47:03.137849324Z", "finer than a microsecond"),
            ("0000-01-01T00:00:00+01:00", "out of the years"),
            ("9999-12-31T23:59:59-01:00", "out of the years"),
            ("2021-02-28", TIMESTAMP_FORM),
            ("2021-02-28T10:00", TIMESTAMP_FORM),
            ("2021-02-28T10:00:00.", TIMESTAMP_FORM),
            ("2021-02-28T10:00:00,5", TIMESTAMP_FORM),
            ("2021-02-28T10:00:00+0100", TIMESTAMP_FORM),
            ("2021-02-28T10:00:00 +01:00", TIMESTAMP_FORM),
            ("2021-02-28T10:00:00+15:00", TIMESTAMP_FORM),
            ("201409171904-0500", TIMESTAMP_FORM),
            ("2021-02-28T10:00:00Zulu", TIMESTAMP_FORM),
        ] {
            let found = instant(text, None);
            assert!(found.contains(detail), "{text}: {found}");
        }
    }
}
