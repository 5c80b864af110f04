//! Guesses: of which type the texts at one place are.
//!
//! In:        all texts that the samples have there, and the place's name     Out: a type that every one of them fits
//! Order:     the narrowest first: bool, date, time, timestamp, int64, decimal, else text
//! Fails:     never: every text is text
//! Not here:  base64 and hex are not guessed: words can look like them
//!
//! A type is guessed only where the samples leave no doubt: a number with a leading zero is an identifier, and so is one
//! whose name says so.

use super::shape::BLANKS;
use jiff::civil;

/// A type with what else its fields need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Guess {
    /// `text`
    Text,
    /// `int64`
    Int64,
    /// `decimal(p,s)`
    Decimal {
        /// Digits.
        precision: usize,
        /// Digits behind the point.
        scale: usize,
    },
    /// `bool`
    Bool,
    /// `date`
    Date,
    /// `date` with `format = "%Y%m%d"`
    CompactDate,
    /// `time`
    Time {
        /// A fraction is finer than a microsecond.
        fine: bool,
    },
    /// `timestamp`
    Timestamp {
        /// A fraction is finer than a microsecond.
        fine: bool,
        /// Every value carries its zone.
        zoned: bool,
    },
    /// `xml`
    Xml,
}

/// Digits behind the point that a guess has at the least.
const SCALE_MIN: usize = 2;
/// Digits that a guess has at the least.
const PRECISION_MIN: usize = 18;
/// Digits in front of the point that may come in addition to those of the samples.
const ROOM: usize = 4;
/// Most digits of a decimal, and behind its point.
const PRECISION_MAX: usize = 65;
const SCALE_MAX: usize = 38;
/// Of money, as ISO 20022 has it.
const MONEY: Guess = Guess::Decimal { precision: 18, scale: 5 };
/// A whole number of more digits is an identifier.
const INT_DIGITS_MAX: usize = 15;

/// The type of these texts. `money`: a currency stands beside them.
pub(super) fn guess(texts: &[&str], local: &str, money: bool) -> Guess {
    let texts: Vec<&str> = texts.iter().map(|text| text.trim_matches(BLANKS)).collect();
    let all = |fits: &dyn Fn(&str) -> bool| !texts.is_empty() && texts.iter().all(|text| fits(text));
    let identifier = is_identifier(local);
    if all(&|text| matches!(text, "true" | "false")) {
        return Guess::Bool;
    }
    if all(&is_date) {
        return Guess::Date;
    }
    if all(&is_compact_date) && tells_a_day(local) {
        return Guess::CompactDate;
    }
    if all(&|text| time(text).is_some()) {
        return Guess::Time { fine: texts.iter().any(|text| time(text).is_some_and(|found| found.fine)) };
    }
    if all(&|text| timestamp(text).is_some()) {
        let found: Vec<Clock> = texts.iter().filter_map(|text| timestamp(text)).collect();
        let fine = found.iter().any(|found| found.fine);
        return Guess::Timestamp { fine, zoned: found.iter().all(|found| found.zoned) };
    }
    let shapes: Option<Vec<(usize, usize)>> = texts.iter().map(|text| digits(text)).collect();
    match shapes {
        Some(shapes) if !shapes.is_empty() && !identifier => number(&shapes, money),
        _ => Guess::Text,
    }
}

/// Of the digits in front of and behind the point of each number.
fn number(shapes: &[(usize, usize)], money: bool) -> Guess {
    let whole = shapes.iter().map(|(whole, _)| *whole).max().unwrap_or(0);
    let fraction = shapes.iter().map(|(_, fraction)| *fraction).max().unwrap_or(0);
    if fraction == 0 && !money {
        return if whole <= INT_DIGITS_MAX { Guess::Int64 } else { Guess::Text };
    }
    let Guess::Decimal { precision, scale } = MONEY else { return Guess::Text };
    if money && fraction <= scale && whole + scale <= precision {
        return MONEY;
    }
    let scale = fraction.max(SCALE_MIN);
    let precision = (whole + ROOM + scale).max(PRECISION_MIN);
    if scale > SCALE_MAX || precision > PRECISION_MAX {
        return Guess::Text;
    }
    Guess::Decimal { precision, scale }
}

/// Digits in front of and behind the point of a plain number: no leading zero, no plus, no exponent.
fn digits(text: &str) -> Option<(usize, usize)> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (unsigned, None),
    };
    let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let plain = all_digits(whole)
        && (whole.len() == 1 || !whole.starts_with('0'))
        && fraction.is_none_or(all_digits)
        // `-0` is no number that anybody counts with.
        && (unsigned == text || unsigned.bytes().any(|b| (b'1'..=b'9').contains(&b)));
    plain.then(|| (whole.len(), fraction.map_or(0, str::len)))
}

/// A day: `yyyy-mm-dd`, perhaps with a zone.
fn is_date(text: &str) -> bool {
    let Some((day, zone)) = text.split_at_checked(10) else { return false };
    is_day(day) && (zone.is_empty() || is_zone(zone))
}

fn is_day(text: &str) -> bool {
    let form = text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(at, b)| if at == 4 || at == 7 { b == b'-' } else { b.is_ascii_digit() });
    form && text.parse::<civil::Date>().is_ok()
}

fn is_compact_date(text: &str) -> bool {
    let form = text.len() == 8 && text.bytes().all(|b| b.is_ascii_digit());
    let in_time = ["19", "20"].iter().any(|century| text.starts_with(century));
    form && in_time && civil::Date::strptime("%Y%m%d", text).is_ok()
}

/// Whether a name says that a day stands there: eight digits can be anything.
fn tells_a_day(local: &str) -> bool {
    let lower = local.to_ascii_lowercase();
    ["date", "time", "day", "birth", "dt"].iter().any(|word| lower.contains(word))
}

fn is_zone(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(['+', '-']) else { return text == "Z" };
    let Some((hours, minutes)) = rest.split_once(':') else { return false };
    let part = |part: &str, max: u8| {
        part.len() == 2
            && part.bytes().all(|b| b.is_ascii_digit())
            && part.parse::<u8>().is_ok_and(|n| n <= max)
    };
    part(hours, 13) && part(minutes, 59) || rest == "14:00"
}

/// What a time of day or a timestamp shows.
struct Clock {
    fine: bool,
    zoned: bool,
}

/// `hh:mm:ss`, a fraction, a zone.
fn time(text: &str) -> Option<Clock> {
    const MICROS_DIGITS: usize = 6;
    const NANOS_DIGITS: usize = 9;
    let (clock, rest) = text.split_at_checked(8)?;
    let form = clock
        .bytes()
        .enumerate()
        .all(|(at, b)| if at == 2 || at == 5 { b == b':' } else { b.is_ascii_digit() });
    let second = clock.get(6..)?.parse::<u8>().ok()?;
    // Jiff takes a leap second and makes 59 of it.
    if !form || second > 59 || clock.parse::<civil::Time>().is_err() {
        return None;
    }
    let (fraction, zone) = match rest.strip_prefix('.') {
        Some(rest) => {
            let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            rest.split_at_checked(end)?
        }
        None => ("0", rest),
    };
    if fraction.is_empty() || fraction.len() > NANOS_DIGITS || !(zone.is_empty() || is_zone(zone)) {
        return None;
    }
    Some(Clock { fine: fraction.len() > MICROS_DIGITS, zoned: !zone.is_empty() })
}

fn timestamp(text: &str) -> Option<Clock> {
    let (day, rest) = text.split_at_checked(10)?;
    // At either end of time, a zone may lead out of the years that there are.
    let far = day.starts_with("0000") || day.starts_with("9999");
    is_day(day).then_some(())?;
    let found = time(rest.strip_prefix('T')?)?;
    (!far || !found.zoned).then_some(found)
}

/// Whether a name says that its numbers are names, too.
pub(super) fn is_identifier(local: &str) -> bool {
    let lower = local.to_ascii_lowercase();
    let words = [
        "iban",
        "bic",
        "phone",
        "telephone",
        "fax",
        "postalcode",
        "postalzone",
        "zip",
        "zipcode",
        "pstcd",
        "uuid",
        "guid",
    ];
    let camel = local.ends_with("Id")
        || local.ends_with("ID")
        || local.ends_with("Idr")
        || local.ends_with("Ref")
        || local.ends_with("_id");
    camel
        || lower == "id"
        || lower.contains("identif")
        || lower.contains("reference")
        || words.contains(&lower.as_str())
}

/// Whether a name is that of a currency.
pub(super) fn is_currency(local: &str) -> bool {
    ["ccy", "currency", "currencyid", "currencycode"].contains(&local.to_ascii_lowercase().as_str())
}

impl Guess {
    /// As `type` has it.
    pub(super) fn as_type(&self) -> String {
        match self {
            Guess::Text => "text".to_owned(),
            Guess::Int64 => "int64".to_owned(),
            Guess::Decimal { precision, scale } => format!("decimal({precision},{scale})"),
            Guess::Bool => "bool".to_owned(),
            Guess::Date | Guess::CompactDate => "date".to_owned(),
            Guess::Time { .. } => "time".to_owned(),
            Guess::Timestamp { .. } => "timestamp".to_owned(),
            Guess::Xml => "xml".to_owned(),
        }
    }

    /// Keys beside `type`, with a comma in front.
    pub(super) fn beside(&self) -> &'static str {
        match self {
            Guess::CompactDate => ", format = \"%Y%m%d\"",
            Guess::Time { fine: true } | Guess::Timestamp { fine: true, .. } => ", round = \"down\"",
            _ => "",
        }
    }

    /// What is worth knowing of it.
    pub(super) fn note(&self) -> Option<&'static str> {
        match self {
            Guess::Xml => Some("text and elements side by side: the element as it stands"),
            Guess::Timestamp { fine: true, .. } | Guess::Time { fine: true } => {
                Some("finer than a microsecond: the rest is cut")
            }
            Guess::Timestamp { zoned: false, .. } => {
                Some("without a zone: say which with zone = \"Europe/Zurich\"")
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> String {
        guess(texts, "x", false).as_type()
    }

    #[test]
    fn the_narrowest_type_that_every_text_fits() {
        for (texts, expected) in [
            (&["true", "false"][..], "bool"),
            (&["0", "1"], "int64"),
            (&["true", "1"], "text"),
            (&[" 7 ", "-12"], "int64"),
            (&["007"], "text"),
            (&["+7"], "text"),
            (&["-0"], "text"),
            (&["20190424375204228750931"], "text"),
            (&["9223372036854775807"], "text"),
            (&["1.5", "20"], "decimal(18,2)"),
            (&["1.2345"], "decimal(18,4)"),
            (&["12345678901234567.25"], "decimal(23,2)"),
            (&["1e5"], "text"),
            (&["1,5"], "text"),
            (&["2024-02-29"], "date"),
            (&["2023-02-29"], "text"),
            (&["2024-02-29Z", "2024-02-28"], "date"),
            (&["12:30:00"], "time"),
            (&["24:00:00"], "text"),
            (&["12:30:60"], "text"),
            (&["2024-02-29T12:30:00"], "timestamp"),
            (&["2024-02-29T12:30:00.123456789Z"], "timestamp"),
            (&["2024-02-29T12:30:00.1234567890Z"], "text"),
            (&["2024-02-29T12:30:00+02:00", "2024-02-29T12:30:00"], "timestamp"),
            (&["2024-02-29T12:30:60Z"], "text"),
            (&["2024-02-29", "2024-02-29T12:30:00"], "text"),
            (&["20240229"], "int64"),
            (&["deadbeef"], "text"),
            (&["aGVsbG8="], "text"),
            (&[], "text"),
        ] {
            assert_eq!(of(texts), expected, "{texts:?}");
        }
    }

    #[test]
    fn names_and_neighbours_say_what_texts_do_not() {
        assert_eq!(guess(&["20240229"], "IssueDate", false), Guess::CompactDate);
        assert_eq!(guess(&["20241329"], "IssueDate", false), Guess::Int64);
        assert_eq!(guess(&["5000"], "Amt", true), MONEY);
        assert_eq!(guess(&["5000.123456"], "Amt", true), Guess::Decimal { precision: 18, scale: 6 });
        assert_eq!(guess(&["4711"], "orderID", false), Guess::Text);
        assert_eq!(guess(&["4711"], "Valid", false), Guess::Int64);
        assert!(guess(&["2024-02-29T12:30:00"], "x", false).note().unwrap().contains("zone"));
        assert_eq!(guess(&["2024-02-29T12:30:00.1234567Z"], "x", false).beside(), ", round = \"down\"");
    }
}
