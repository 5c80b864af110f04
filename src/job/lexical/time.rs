//! Calendar days, times of day and timestamps: ISO 8601 as XML Schema writes it, to the microsecond.
//!
//! In:        trimmed text, the job's zone for values that carry none     Out: [`Date`], [`Time`], [`Timestamp`]
//! Fails:     days and times that no calendar has, digits that a microsecond cannot hold and no rule rounds
//! Not here:  other ways to write them (see `format`)
//!
//! The zone of a date and of a time of day is checked and ignored: a day is a day. A timestamp's zone makes it an
//! instant in UTC. Where it carries none, the job's zone does; without one it stays the clock reading it is. In the
//! hour that a zone repeats in autumn the earlier instant is taken; a reading in the hour that it skips in spring is
//! refused. `24:00:00` and leap seconds are refused. A blank may stand in place of the `T`.

use super::Refusal;
use super::round::goes_up;
use crate::job::Round;
use crate::model::{Date, Time, Timestamp, Zone};
use jiff::SignedDuration;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};

const DATE_FORM: &str = "is not a date: yyyy-mm-dd, a zone allowed";
const TIME_FORM: &str =
    "is not a time of day: hh:mm:ss, a fraction and a zone (`Z`, `+hh:mm`, `-hh:mm`) allowed";
const TIMESTAMP_FORM: &str =
    "is not a timestamp: yyyy-mm-ddThh:mm:ss, a fraction and a zone (`Z`, `+hh:mm`, `-hh:mm`) allowed";
pub(super) const NO_SUCH_DAY: &str = "is a day that the calendar does not have";
const OUT_OF_YEARS: &str = "is out of the years 0000 to 9999 in UTC";
const MICROS_DIGITS: usize = 6;

/// A time of day, and whether it is to be one microsecond more.
pub(super) struct Reading {
    pub(super) time: Time,
    pub(super) up: bool,
}

pub(super) fn date(text: &str) -> Result<Date, Refusal> {
    let mut cursor = Cursor(text.as_bytes());
    let date = cursor.date().ok_or(DATE_FORM)?;
    cursor.zone().ok_or(DATE_FORM)?;
    if !cursor.0.is_empty() {
        return Err(DATE_FORM.into());
    }
    date
}

pub(super) fn time(text: &str, round: Round) -> Result<Time, Refusal> {
    let mut cursor = Cursor(text.as_bytes());
    let reading = cursor.time(round).ok_or(TIME_FORM)?;
    cursor.zone().ok_or(TIME_FORM)?;
    if !cursor.0.is_empty() {
        return Err(TIME_FORM.into());
    }
    reading.and_then(time_of_day)
}

pub(super) fn timestamp(text: &str, zone: Option<&TimeZone>, round: Round) -> Result<Timestamp, Refusal> {
    let mut cursor = Cursor(text.as_bytes());
    let date = cursor.date().ok_or(TIMESTAMP_FORM)?;
    cursor.take(b"T ").ok_or(TIMESTAMP_FORM)?;
    let reading = cursor.time(round).ok_or(TIMESTAMP_FORM)?;
    let offset_s = cursor.zone().ok_or(TIMESTAMP_FORM)?;
    if !cursor.0.is_empty() {
        return Err(TIMESTAMP_FORM.into());
    }
    placed(date?, &reading?, offset_s, zone)
}

/// The time of day, its last microsecond rounded.
pub(super) fn time_of_day(reading: Reading) -> Result<Time, Refusal> {
    if !reading.up {
        return Ok(reading.time);
    }
    // Any day will do that has one behind it.
    let day = Date { year: 1970, month: 1, day: 1 };
    let raised = one_more(at(day, reading.time))?;
    if raised.date == day {
        Ok(raised.time())
    } else {
        Err("is rounded to 24:00:00, which no clock shows".into())
    }
}

/// A reading of a clock on a day: an instant where an offset or a zone says which.
pub(super) fn placed(
    date: Date,
    reading: &Reading,
    offset_s: Option<i32>,
    zone: Option<&TimeZone>,
) -> Result<Timestamp, Refusal> {
    let read = at(date, reading.time);
    let found = match (offset_s, zone) {
        (Some(offset_s), _) => to_utc(read, offset_s)?,
        (None, Some(zone)) => to_utc(read, offset_in(zone, read)?)?,
        (None, None) => read,
    };
    // Behind the zone: an instant has one behind it where a reading may have none.
    if reading.up { one_more(found) } else { Ok(found) }
}

fn at(date: Date, time: Time) -> Timestamp {
    let Time { hour, minute, second, micros } = time;
    Timestamp { date, hour, minute, second, micros, zone: Zone::Local }
}

/// Microseconds of up to nine digits behind the point, and whether the last goes up by one.
pub(super) fn micros(digits: &[u8], round: Round) -> Result<(u32, bool), Refusal> {
    let (kept, beyond) = digits.split_at_checked(MICROS_DIGITS).unwrap_or((digits, &[]));
    let last = kept.last().copied().unwrap_or(b'0');
    let up = goes_up(round, last, beyond)
        .ok_or("has a fraction finer than a microsecond; six digits are kept and none is dropped unseen")?;
    let padded = kept.iter().copied().chain(std::iter::repeat(b'0')).take(MICROS_DIGITS);
    let micros = padded.fold(0_u32, |sum, digit| {
        sum.saturating_mul(10).saturating_add(u32::from(digit.saturating_sub(b'0')))
    });
    Ok((micros, up))
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
        Some(if exists { Ok(date) } else { Err(NO_SUCH_DAY.into()) })
    }

    fn time(&mut self, round: Round) -> Option<Result<Reading, Refusal>> {
        let hour = self.two()?;
        self.take(b":")?;
        let minute = self.two()?;
        self.take(b":")?;
        let second = self.two()?;
        let micros = if self.take(b".").is_some() { self.fraction(round)? } else { Ok((0, false)) };
        Some(micros.and_then(|(micros, up)| match (hour, minute, second) {
            (24, 0, 0) => Err("is 24:00:00; write 00:00:00 of the next day".into()),
            (0..=23, 0..=59, 60) => Err("has a leap second, which is not taken".into()),
            (0..=23, 0..=59, 0..=59) => Ok(Reading { time: Time { hour, minute, second, micros }, up }),
            _ => Err("is a time of day that no clock shows".into()),
        }))
    }

    /// Digits behind the point, as microseconds.
    fn fraction(&mut self, round: Round) -> Option<Result<(u32, bool), Refusal>> {
        let length = self.0.iter().take_while(|b| b.is_ascii_digit()).count();
        let (digits, rest) = self.0.split_at_checked(length).filter(|(digits, _)| !digits.is_empty())?;
        self.0 = rest;
        Some(micros(digits, round))
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
    shifted(reading, SignedDuration::from_secs(i64::from(offset_s).saturating_neg()), Zone::Utc)
}

fn one_more(of: Timestamp) -> Result<Timestamp, Refusal> {
    shifted(of, SignedDuration::from_micros(1), of.zone)
}

fn shifted(of: Timestamp, by: SignedDuration, zone: Zone) -> Result<Timestamp, Refusal> {
    let moved = civil(of).and_then(|civil| civil.checked_add(by).ok()).ok_or(OUT_OF_YEARS)?;
    let date = date_of(moved.date()).ok_or(OUT_OF_YEARS)?;
    let time = time_of(moved.time()).ok_or(OUT_OF_YEARS)?;
    Ok(Timestamp { zone, ..at(date, time) })
}

/// A day of the years 0 to 9999.
pub(super) fn date_of(date: jiff::civil::Date) -> Option<Date> {
    let year = u16::try_from(date.year()).ok().filter(|year| *year <= 9999)?;
    Some(Date { year, month: u8::try_from(date.month()).ok()?, day: u8::try_from(date.day()).ok()? })
}

/// To the microsecond: what is finer is the caller's.
pub(super) fn time_of(time: jiff::civil::Time) -> Option<Time> {
    Some(Time {
        hour: u8::try_from(time.hour()).ok()?,
        minute: u8::try_from(time.minute()).ok()?,
        second: u8::try_from(time.second()).ok()?,
        micros: u32::try_from(time.subsec_nanosecond()).ok()? / 1000,
    })
}

/// What `zone` was ahead of UTC when its clocks showed the reading, in seconds.
fn offset_in(zone: &TimeZone, reading: Timestamp) -> Result<i32, Refusal> {
    let civil = civil(reading).ok_or(NO_SUCH_DAY)?;
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
        timestamp(text, zone.as_ref(), Round::Never)
            .map_or_else(|refusal| refusal.into_owned(), |value| value.to_string())
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

    #[test]
    fn times_of_day() {
        let read = |text| time(text, Round::Never).map(|time| time.to_string());
        for (text, shown) in [
            ("06:07:08", "06:07:08"),
            ("23:59:59.5", "23:59:59.5"),
            ("00:00:00.000001Z", "00:00:00.000001"),
            ("12:00:00-06:00", "12:00:00"),
            ("12:00:00.1200000", "12:00:00.12"),
        ] {
            assert_eq!(read(text).unwrap(), shown, "{text}");
        }
        for text in
            ["", "6:07:08", "06:07", "T06:07:08", "06:07:08.", "06:07:08+0600", "06:07:08 ", "12:00:00 PM"]
        {
            assert_eq!(read(text).unwrap_err(), TIME_FORM, "{text}");
        }
        for (text, detail) in [
            ("24:00:00", "24:00:00"),
            ("23:59:60", "leap second"),
            ("12:60:00", "no clock shows"),
            ("12:00:00.0000001", "finer than a microsecond"),
        ] {
            assert!(read(text).unwrap_err().contains(detail), "{text}");
        }
    }

    #[test]
    fn digits_behind_the_microsecond_are_rounded_where_the_job_says_so() {
        let read = |text: &str, round| match timestamp(text, None, round) {
            Ok(value) => value.to_string(),
            Err(refusal) => refusal.into_owned(),
        };
        let fine = "2026-07-24T19:47:03.1378495Z";
        assert_eq!(read(fine, Round::HalfEven), "2026-07-24T19:47:03.13785Z");
        assert_eq!(read(fine, Round::HalfUp), "2026-07-24T19:47:03.13785Z");
        assert_eq!(read(fine, Round::Down), "2026-07-24T19:47:03.137849Z");
        assert_eq!(read("2026-12-31T23:59:59.9999999", Round::HalfUp), "2027-01-01T00:00:00");
        assert_eq!(read("9999-12-31T23:59:59.9999999", Round::HalfUp), OUT_OF_YEARS);
        assert_eq!(time("23:59:59.9999994", Round::HalfUp).unwrap().to_string(), "23:59:59.999999");
        assert!(time("23:59:59.9999995", Round::HalfUp).unwrap_err().contains("24:00:00"));
    }

    #[test]
    fn rounding_into_the_skipped_hour_gives_the_instant_behind_it() {
        let zone = TimeZone::get("Europe/Zurich").unwrap();
        let read = timestamp("2021-03-28T01:59:59.9999999", Some(&zone), Round::HalfUp).unwrap();
        assert_eq!(read.to_string(), "2021-03-28T01:00:00Z");
    }
}
