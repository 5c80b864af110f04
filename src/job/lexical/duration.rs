//! xs:duration: its text, checked, or one number of it.
//!
//! In:        trimmed text     Out: the text; whole seconds, milliseconds or months
//! Fails:     another form; days and smaller units where months are asked for, and the other way round: no month has
//!            a length; parts of the unit that no rule rounds
//! Not here:  weeks, which XML Schema does not have

use super::Refusal;
use super::round::goes_up;
use crate::job::Round;

const FORM: &str = "is not a duration: PnYnMnDTnHnMnS with at least one part, a `-` in front and a fraction of seconds allowed";
const TOO_LONG: &str = "is a duration out of the range of int64";

/// The parts that are there; none of them is negative.
struct Parts<'a> {
    negative: bool,
    /// Years, months, days, hours, minutes, seconds: digits, empty where the part is left out.
    numbers: [&'a str; 6],
    /// Of the seconds.
    fraction: &'a str,
}

/// Seconds and what is smaller in one, and months in the other.
const SECONDS_IN: [u64; 6] = [0, 0, 86_400, 3_600, 60, 1];
const MONTHS_IN: [u64; 6] = [12, 1, 0, 0, 0, 0];

/// Whether the text is a duration.
pub(super) fn check(text: &str) -> Result<(), Refusal> {
    parts(text).map(|_| ()).ok_or_else(|| FORM.into())
}

/// Whole units of which a second has `10^digits`.
pub(super) fn seconds(text: &str, digits: usize, round: Round) -> Result<i64, Refusal> {
    let parts = parts(text).ok_or(FORM)?;
    if parts.any_of(&MONTHS_IN) {
        return Err("has years or months, which are not so many seconds".into());
    }
    let (kept, beyond) = parts.fraction.split_at_checked(digits).unwrap_or((parts.fraction, ""));
    let [.., seconds] = parts.numbers;
    let last = kept.bytes().next_back().or(seconds.bytes().next_back()).unwrap_or(b'0');
    let up = goes_up(round, last, beyond.as_bytes())
        .ok_or("has a fraction of a second that the type does not hold; none is dropped unseen")?;
    let mut fraction = 0_u64;
    for digit in kept.bytes().chain(std::iter::repeat(b'0')).take(digits) {
        fraction = fraction.saturating_mul(10).saturating_add(u64::from(digit.saturating_sub(b'0')));
    }
    let scale = u32::try_from(digits).ok().and_then(|digits| 10_u64.checked_pow(digits));
    let whole = parts.sum(&SECONDS_IN).zip(scale).and_then(|(sum, scale)| sum.checked_mul(scale));
    let total = whole.and_then(|whole| whole.checked_add(fraction)?.checked_add(u64::from(up)));
    parts.signed(total)
}

/// Whole months.
pub(super) fn months(text: &str) -> Result<i64, Refusal> {
    let parts = parts(text).ok_or(FORM)?;
    if parts.any_of(&SECONDS_IN) || parts.fraction.bytes().any(|digit| digit != b'0') {
        return Err("has days or smaller parts, which are not so many months".into());
    }
    parts.signed(parts.sum(&MONTHS_IN))
}

impl Parts<'_> {
    /// Whether a part is more than zero that counts in these units.
    fn any_of(&self, units: &[u64; 6]) -> bool {
        let counted = self.numbers.iter().zip(units).filter(|(_, unit)| **unit > 0);
        counted.into_iter().any(|(digits, _)| digits.bytes().any(|digit| digit != b'0'))
    }

    fn sum(&self, units: &[u64; 6]) -> Option<u64> {
        let mut sum = 0_u64;
        for (digits, unit) in
            self.numbers.iter().zip(units).filter(|(digits, unit)| !digits.is_empty() && **unit > 0)
        {
            let number = digits.trim_start_matches('0');
            let number: u64 = if number.is_empty() { 0 } else { number.parse().ok()? };
            sum = sum.checked_add(number.checked_mul(*unit)?)?;
        }
        Some(sum)
    }

    fn signed(&self, total: Option<u64>) -> Result<i64, Refusal> {
        let total = total.map(i128::from).map(|total| if self.negative { -total } else { total });
        total.and_then(|total| i64::try_from(total).ok()).ok_or_else(|| TOO_LONG.into())
    }
}

fn parts(text: &str) -> Option<Parts<'_>> {
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let rest = rest.strip_prefix('P')?;
    let (days, times) = match rest.split_once('T') {
        Some((days, times)) if !times.is_empty() => (days, times),
        Some(_) => return None,
        None => (rest, ""),
    };
    if days.is_empty() && times.is_empty() {
        return None;
    }
    let ([years, months, day_count], none) = run(days, ['Y', 'M', 'D'], false)?;
    let ([hours, minutes, seconds], fraction) = run(times, ['H', 'M', 'S'], true)?;
    none.is_empty().then_some(Parts {
        negative,
        numbers: [years, months, day_count, hours, minutes, seconds],
        fraction,
    })
}

/// Three parts in this order, each with its letter behind it; the last may have a fraction.
fn run(text: &str, letters: [char; 3], fraction_allowed: bool) -> Option<([&str; 3], &str)> {
    let mut rest = text;
    let mut numbers = [""; 3];
    let mut fraction = "";
    for (index, (letter, number)) in letters.into_iter().zip(&mut numbers).enumerate() {
        let Some((before, behind)) = rest.split_once(letter) else { continue };
        let (whole, part) = match before.split_once('.') {
            Some((whole, part)) if fraction_allowed && index == 2 && !part.is_empty() => (whole, part),
            Some(_) => return None,
            None => (before, ""),
        };
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !digits(whole) || !digits(part) {
            return None;
        }
        *number = whole;
        fraction = part;
        rest = behind;
    }
    rest.is_empty().then_some((numbers, fraction))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        for text in [
            "P1Y",
            "-P1Y2M3DT4H5M6.789S",
            "PT0S",
            "P1M",
            "PT1M",
            "P0Y0M0DT0H0M0.000S",
            "P99999999999999999999Y",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
        for text in [
            "", "P", "PT", "P1DT", "1D", "P1", "P1S", "PT1D", "P1D1Y", "P1.5D", "PT1.S", "PT.5S", "P-1D",
            "+P1D", "P1Y1Y", "PT1H1H", "p1d", "P1W", "P1D T1H", "P١D", "PT1.5M", "P1M1D1M",
        ] {
            assert_eq!(check(text).unwrap_err(), FORM, "{text}");
        }
    }

    #[test]
    fn seconds_and_milliseconds() {
        for (text, whole, milli) in [
            ("PT0S", 0, 0),
            ("P1DT2H3M4S", 93_784, 93_784_000),
            ("-PT1M", -60, -60_000),
            ("P0Y0MT5.000S", 5, 5_000),
            ("P1D", 86_400, 86_400_000),
        ] {
            assert_eq!(seconds(text, 0, Round::Never), Ok(whole), "{text}");
            assert_eq!(seconds(text, 3, Round::Never), Ok(milli), "{text}");
        }
        assert_eq!(seconds("PT1.25S", 3, Round::Never), Ok(1_250));
        assert_eq!(seconds("PT1.2345S", 3, Round::HalfEven), Ok(1_234));
        assert_eq!(seconds("PT1.2345S", 3, Round::HalfUp), Ok(1_235));
        assert_eq!(seconds("-PT0.5S", 0, Round::HalfUp), Ok(-1));
        assert_eq!(seconds("PT1.5S", 0, Round::HalfEven), Ok(2));
        assert_eq!(seconds("-PT9223372036854775808S", 0, Round::Never), Ok(i64::MIN));
        assert!(seconds("PT1.5S", 0, Round::Never).unwrap_err().contains("fraction of a second"));
        assert!(seconds("P1M", 0, Round::Never).unwrap_err().contains("years or months"));
        for text in ["PT9223372036854775808S", "P99999999999999999999D", "P300000000000000D"] {
            assert_eq!(seconds(text, 0, Round::Never).unwrap_err(), TOO_LONG, "{text}");
        }
    }

    #[test]
    fn whole_months() {
        assert_eq!(months("P1Y2M"), Ok(14));
        assert_eq!(months("-P1Y"), Ok(-12));
        assert_eq!(months("P3MT0S"), Ok(3));
        for text in ["P1M1D", "PT1S", "P1YT0.1S"] {
            assert!(months(text).unwrap_err().contains("days or smaller"), "{text}");
        }
        assert_eq!(months("P999999999999999999Y").unwrap_err(), TOO_LONG);
    }
}
