//! Dates, times and timestamps that are not ISO 8601, by a format of strptime's letters such as `%Y%m%d%H%M%z`.
//!
//! In:        a format, checked when the job is read; trimmed text
//! Out:       [`Date`], [`Time`], [`Timestamp`]
//! Holds:     the format
//! Fails:     a text that is not just what the format would write for its value: `%m` takes `04` and never `4`
//! Not here:  zones and rounding (see `time`)
//!
//! A format must say all that its type has, seconds excepted: what it leaves out would have to be guessed. What it says
//! beyond that (the time of day of a date) is read and dropped.

use super::Refusal;
use super::time::{NO_SUCH_DAY, Reading, date_of, micros, placed, time_of, time_of_day};
use crate::job::Round;
use crate::model::{Date, Time, Timestamp};
use jiff::civil::DateTime;
use jiff::fmt::strtime::BrokenDownTime;
use jiff::tz::{Offset, TimeZone};

/// Letters that can be read. The others of strptime's only write, or name a zone.
const LETTERS: &str = "%YymdejFDbBhHkIlMSTRpPfNzsaAuwGgVUWnt";
/// What a job file is told of them.
pub(in crate::job) const HINT: &str = "such as %Y year, %m month, %d day, %H hour, %M minute, %S second, %f and %.f fraction, %z +hhmm, %:z +hh:mm, %s seconds since 1970";

/// What a format has to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::job) enum Says {
    Date,
    Time,
    Timestamp,
}

/// A format that has been found to say what it must.
#[derive(Debug)]
pub(in crate::job) struct Format {
    text: String,
    has_fraction: bool,
}

impl Format {
    /// Checks a format; else what is wrong with it.
    pub(in crate::job) fn new(text: &str, says: Says) -> Result<Format, String> {
        let letters = letters(text)?;
        if letters.contains('s') && letters.contains(['f', 'N']) {
            return Err("has %s and a fraction, which do not belong together".to_owned());
        }
        let format = Format { text: text.to_owned(), has_fraction: letters.contains(['f', 'N']) };
        let zoned = letters.contains(['z', 's']);
        // A late and an early one, so that what only works with two digits is found.
        for sample in [(2021, 11, 23, 13, 45, 56), (2001, 2, 3, 4, 5, 6)] {
            format.check(sample, says, zoned)?;
        }
        Ok(format)
    }

    /// Writes a sample and reads it again.
    fn check(&self, sample: (i16, i8, i8, i8, i8, i8), says: Says, zoned: bool) -> Result<(), String> {
        let (year, month, day, hour, minute, second) = sample;
        let broken = |error: jiff::Error| format!("cannot be used: {error}");
        let sample = DateTime::new(year, month, day, hour, minute, second, 0).map_err(broken)?;
        let offset = if zoned { Offset::constant(5) } else { Offset::UTC };
        let instant = offset.to_timestamp(sample).map_err(broken)?;
        let mut all = BrokenDownTime::from(sample);
        all.set_offset(Some(offset));
        all.set_timestamp(Some(instant));
        let written = all.to_string(&self.text).map_err(broken)?;
        let missing = || {
            match says {
                Says::Date => "does not say year, month and day so that they can be read back",
                Says::Time => "does not say hour and minute so that they can be read back",
                Says::Timestamp => {
                    "does not say year, month, day, hour and minute so that they can be read back"
                }
            }
            .to_owned()
        };
        let read = self.parse(written.trim()).map_err(|_| missing())?;
        let (found, _) = civil(&read).ok_or_else(missing)?;
        // %s is the instant in UTC.
        let wanted = if read.timestamp().is_some() { Offset::UTC.to_datetime(instant) } else { sample };
        let same_date = found.date() == wanted.date();
        let clock = |at: DateTime| (at.hour(), at.minute());
        let same_time = clock(found) == clock(wanted);
        let whole = match says {
            Says::Date => same_date,
            Says::Time => same_time,
            Says::Timestamp => same_date && same_time,
        };
        if whole { Ok(()) } else { Err(missing()) }
    }

    pub(super) fn date(&self, text: &str) -> Result<Date, Refusal> {
        let read = self.parse(text)?;
        let (found, _) = civil(&read).ok_or(NO_SUCH_DAY)?;
        date_of(found.date()).ok_or_else(|| self.other())
    }

    pub(super) fn time(&self, text: &str, round: Round) -> Result<Time, Refusal> {
        let read = self.parse(text)?;
        self.reading(&read, round).and_then(time_of_day)
    }

    pub(super) fn timestamp(
        &self,
        text: &str,
        zone: Option<&TimeZone>,
        round: Round,
    ) -> Result<Timestamp, Refusal> {
        let read = self.parse(text)?;
        let (found, offset) = civil(&read).ok_or(NO_SUCH_DAY)?;
        let date = date_of(found.date()).ok_or_else(|| self.other())?;
        placed(date, &self.reading(&read, round)?, offset.map(Offset::seconds), zone)
    }

    /// The time of day to the microsecond.
    fn reading(&self, read: &BrokenDownTime, round: Round) -> Result<Reading, Refusal> {
        let time = match read.timestamp() {
            Some(instant) => Ok(Offset::UTC.to_datetime(instant).time()),
            None => read.to_time(),
        };
        let time = time.ok().and_then(time_of).ok_or("is a time of day that no clock shows")?;
        let digits = format!("{:09}", read.subsec_nanosecond().unwrap_or(0));
        let (micros, up) = micros(digits.as_bytes(), round)?;
        Ok(Reading { time: Time { micros, ..time }, up })
    }

    /// What the text says, where the format would write it just so.
    fn parse(&self, text: &str) -> Result<BrokenDownTime, Refusal> {
        let read = BrokenDownTime::parse(&self.text, text).map_err(|_| self.other())?;
        let written = |format: &str| read.to_string(format).is_ok_and(|written| alike(written.trim(), text));
        // A fraction is written as short as it can be, and may be read with zeros at its end.
        let with_digits = |digits: usize| {
            let dotted = self.text.replace("%.f", &format!("%.{digits}f"));
            dotted.replace("%f", &format!("%{digits}f"))
        };
        let as_it_is =
            written(&self.text) || (self.has_fraction && (1..=9).any(|digits| written(&with_digits(digits))));
        if as_it_is { Ok(read) } else { Err(self.other()) }
    }

    fn other(&self) -> Refusal {
        format!("is not written as its format says, `{}`", self.text).into()
    }
}

/// The day and the clock's reading, and what it is ahead of UTC. What the format leaves out is the first of January, or midnight.
fn civil(read: &BrokenDownTime) -> Option<(DateTime, Option<Offset>)> {
    if let Some(instant) = read.timestamp() {
        return Some((Offset::UTC.to_datetime(instant), Some(Offset::UTC)));
    }
    let no_date = read.year().is_none() && read.iso_week_year().is_none();
    let date =
        if no_date { DateTime::constant(1970, 1, 1, 0, 0, 0, 0).date() } else { read.to_date().ok()? };
    let time = if read.hour().is_none() { jiff::civil::Time::midnight() } else { read.to_time().ok()? };
    Some((DateTime::from_parts(date, time), read.offset()))
}

/// Two texts, letters of either case; and `-0000`, which some write for `+0000`.
fn alike(written: &str, text: &str) -> bool {
    if written.eq_ignore_ascii_case(text) {
        return true;
    }
    let negative_zero = ["+00", "-00"].into_iter().find(|zero| text.contains(zero));
    negative_zero == Some("-00") && written.replacen("+00", "-00", 1).eq_ignore_ascii_case(text)
}

/// The letters behind the `%`s.
fn letters(format: &str) -> Result<String, String> {
    let mut letters = String::new();
    let mut rest = format;
    while let Some((_, behind)) = rest.split_once('%') {
        let bare = behind
            .trim_start_matches(['_', '-', '0', '^', '#'])
            .trim_start_matches(|c: char| c.is_ascii_digit());
        let bare = bare.trim_start_matches(['.', ':']);
        let bare = bare.trim_start_matches(|c: char| c.is_ascii_digit());
        let Some(letter) = bare.chars().next() else { return Err("ends with a lone %".to_owned()) };
        if !LETTERS.contains(letter) {
            return Err(format!("has %{letter}, which cannot be read"));
        }
        letters.push(letter);
        rest = bare.get(letter.len_utf8()..).unwrap_or("");
    }
    if letters.is_empty() { Err("has no % in it".to_owned()) } else { Ok(letters) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: &str, text: &str) -> String {
        let format = Format::new(format, Says::Timestamp).unwrap();
        format.timestamp(text, None, Round::Never).map_or_else(Refusal::into_owned, |at| at.to_string())
    }

    #[test]
    fn formats_of_others() {
        for (format, text, shown) in [
            ("%Y%m%d%H%M%z", "201409171904-0500", "2014-09-18T00:04:00Z"),
            ("%Y%m%d%H%M%S%z", "20140917190412+0000", "2014-09-17T19:04:12Z"),
            ("%Y%m%d%H%M%S%z", "20140917190412-0000", "2014-09-17T19:04:12Z"),
            ("%Y%m%d%H%M%S", "20140917190412", "2014-09-17T19:04:12"),
            ("%d.%m.%Y %H:%M:%S%.f", "17.09.2014 19:04:12.500", "2014-09-17T19:04:12.5"),
            ("%d.%m.%Y %H:%M:%S%.f", "17.09.2014 19:04:12", "2014-09-17T19:04:12"),
            ("%Y%m%d%H%M%S%f", "20140917190412007", "2014-09-17T19:04:12.007"),
            ("%m/%d/%Y %I:%M %p", "09/17/2014 07:04 pm", "2014-09-17T19:04:00"),
            ("%a, %d %b %Y %H:%M:%S %z", "Wed, 17 Sep 2014 19:04:12 +0200", "2014-09-17T17:04:12Z"),
            ("%Y-%jT%H:%M", "2014-260T19:04", "2014-09-17T19:04:00"),
            ("%s", "1410980652", "2014-09-17T19:04:12Z"),
            ("%s", "-1", "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(read(format, text), shown, "{format} {text}");
        }
        let date = Format::new("%Y%m%d", Says::Date).unwrap();
        assert_eq!(date.date("20140917").unwrap().to_string(), "2014-09-17");
        let date = Format::new("%Y%m%d%H%M", Says::Date).unwrap();
        assert_eq!(date.date("201409171904").unwrap().to_string(), "2014-09-17");
        let time = Format::new("%H%M%S", Says::Time).unwrap();
        assert_eq!(time.time("190412", Round::Never).unwrap().to_string(), "19:04:12");
    }

    #[test]
    fn what_a_format_would_not_write_is_not_guessed() {
        for text in [
            "2014917190412",
            "20140917",
            "201409171904",
            "20140917190460",
            "20140931190412",
            "20140917240000",
            "20140917190412 ",
            "2014091719041",
            "201409171904120",
            "",
            "+0140917190412",
            "é",
        ] {
            let found = read("%Y%m%d%H%M%S", text);
            assert!(found.contains("format says") || found.contains("calendar"), "{text}: {found}");
        }
        assert!(read("%a %F %R", "Mon 2014-09-17 19:04").contains("calendar"), "it was a Wednesday");
        assert!(read("%H:%M:%S%.f %F", "19:04:12.1234567 2014-09-17").contains("finer than a microsecond"));
    }

    #[test]
    fn the_jobs_zone_is_for_values_that_carry_none() {
        let zone = TimeZone::get("Europe/Zurich").unwrap();
        let format = Format::new("%Y%m%d%H%M", Says::Timestamp).unwrap();
        let at = format.timestamp("202107010015", Some(&zone), Round::Never).unwrap();
        assert_eq!(at.to_string(), "2021-06-30T22:15:00Z");
        assert!(format.timestamp("202103280230", Some(&zone), Round::Never).unwrap_err().contains("skipped"));
    }

    #[test]
    fn a_format_says_all_that_its_type_has() {
        for (format, says, detail) in [
            ("%Y%m%d", Says::Timestamp, "hour and minute"),
            ("%H:%M", Says::Timestamp, "year, month"),
            ("%Y%m%d%H", Says::Timestamp, "hour and minute"),
            ("%Y-%m", Says::Date, "year, month and day"),
            ("%H:%M", Says::Date, "year, month and day"),
            ("%I:%M", Says::Time, "hour and minute"),
            ("%F", Says::Time, "hour and minute"),
            ("%Y%-m%-d", Says::Date, "year, month and day"),
            ("%Y%m%d%H%M%Z", Says::Timestamp, "%Z"),
            ("%F %T %Q", Says::Timestamp, "%Q"),
            ("yyyyMMdd", Says::Date, "no %"),
            ("%Y-%m-%", Says::Date, "lone %"),
            ("%s.%f", Says::Timestamp, "belong together"),
            ("", Says::Date, "no %"),
        ] {
            let found = Format::new(format, says).unwrap_err();
            assert!(found.contains(detail), "{format}: {found}");
        }
    }
}
