//! Whole, decimal and floating-point numbers: no wrap, and no digit lost unless the job rounds.
//!
//! In:        trimmed text     Out: i64, u64, f64 or [`Decimal`]
//! Fails:     anything but an optional sign and digits; a number out of its type's range; digits that no rule rounds
//!
//! Allowed by XML Schema and so here: a leading `+`, leading zeros, `.5` and `5.`. An exponent is for float64 alone.

use super::Refusal;
use super::round::{add_one, goes_up};
use crate::job::Round;
use crate::model::Decimal;

/// Sign (`true`: negative) and the rest.
fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

/// Digits without their leading zeros; empty for zero.
fn whole(text: &str) -> Result<(bool, &str), Refusal> {
    let (negative, digits) = sign(text);
    if digits.is_empty() || !all_digits(digits) {
        return Err("is not a whole number: an optional sign and digits".into());
    }
    let significant = digits.trim_start_matches('0');
    Ok((negative && !significant.is_empty(), significant))
}

pub(super) fn int64(text: &str) -> Result<i64, Refusal> {
    let (negative, digits) = whole(text)?;
    if digits.is_empty() {
        return Ok(0);
    }
    let magnitude = digits.parse::<i128>().ok().map(|value| if negative { -value } else { value });
    magnitude
        .and_then(|value| i64::try_from(value).ok())
        .ok_or_else(|| format!("is out of the range of int64, {} to {}", i64::MIN, i64::MAX).into())
}

pub(super) fn uint64(text: &str) -> Result<u64, Refusal> {
    let (negative, digits) = whole(text)?;
    if digits.is_empty() {
        return Ok(0);
    }
    let value = if negative { None } else { digits.parse::<u64>().ok() };
    value.ok_or_else(|| format!("is out of the range of uint64, 0 to {}", u64::MAX).into())
}

/// `precision` digits at most, `scale` of them behind the point. Zeros behind the scale are cut: the number stays the
/// same; any other digit there is refused unless the job rounds. Too many digits in front of the point always are.
pub(super) fn decimal(text: &str, precision: usize, scale: usize, round: Round) -> Result<Decimal, Refusal> {
    let (negative, digits) = sign(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if !all_digits(whole) || !all_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        let detail =
            "is not a decimal number: an optional sign, digits and an optional point, without an exponent";
        return Err(detail.into());
    }
    let whole = whole.trim_start_matches('0');
    let whole_max = precision.saturating_sub(scale);
    let too_long = |found: usize| -> Refusal {
        format!("has {found} digits in front of the point; decimal({precision},{scale}) holds {whole_max}")
            .into()
    };
    if whole.len() > whole_max {
        return Err(too_long(whole.len()));
    }
    let (fraction, beyond) = fraction.split_at_checked(scale).unwrap_or((fraction, ""));
    let last = fraction.bytes().next_back().or(whole.bytes().next_back()).unwrap_or(b'0');
    let up = goes_up(round, last, beyond.as_bytes()).ok_or_else(|| -> Refusal {
        format!("has more than {scale} digits behind the point; decimal({precision},{scale}) would lose some")
            .into()
    })?;
    if !up {
        return canonical(negative, whole, fraction);
    }
    // There were digits beyond, so the fraction has all of its own and keeps that length.
    let mut raised = format!("{whole}{fraction}");
    add_one(&mut raised);
    let padded = format!("{raised:0>scale$}");
    let (whole, fraction) =
        padded.split_at_checked(padded.len().saturating_sub(scale)).unwrap_or((&padded, ""));
    let whole = whole.trim_start_matches('0');
    if whole.len() > whole_max { Err(too_long(whole.len())) } else { canonical(negative, whole, fraction) }
}

/// `whole` without leading zeros, empty for zero.
fn canonical(negative: bool, whole: &str, fraction: &str) -> Result<Decimal, Refusal> {
    let zero = whole.is_empty() && fraction.bytes().all(|b| b == b'0');
    let mut text = String::with_capacity(whole.len().saturating_add(fraction.len()).saturating_add(3));
    if negative && !zero {
        text.push('-');
    }
    text.push_str(if whole.is_empty() { "0" } else { whole });
    if !fraction.is_empty() {
        text.push('.');
        text.push_str(fraction);
    }
    Decimal::from_canonical(&text).ok_or_else(|| "is not a decimal number".into())
}

/// The nearest IEEE 754 number, as xs:double is written; the infinities and NaN are no numbers.
pub(super) fn float64(text: &str) -> Result<f64, Refusal> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (_, digits) = sign(mantissa);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let (_, exponent) = sign(exponent);
    let written = all_digits(whole) && all_digits(fraction) && !(whole.is_empty() && fraction.is_empty());
    if !written || exponent.is_empty() || !all_digits(exponent) {
        return Err(
            "is not a finite number: an optional sign, digits, a point, an exponent; INF and NaN are none"
                .into(),
        );
    }
    let number: f64 = text.parse().map_err(|_| Refusal::from("is not a number"))?;
    if number.is_finite() { Ok(number) } else { Err("is out of the range of float64, some 1.8e308".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers() {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("+7", 7),
            ("007", 7),
            ("-9223372036854775808", i64::MIN),
            ("9223372036854775807", i64::MAX),
            ("00000000000000000000000000000000000000000000001", 1),
        ] {
            assert_eq!(int64(text).unwrap(), value, "{text}");
        }
        assert_eq!(uint64("18446744073709551615").unwrap(), u64::MAX);
        assert_eq!(uint64("-0").unwrap(), 0);
        assert_eq!(uint64("+00").unwrap(), 0);
    }

    #[test]
    fn whole_numbers_refused() {
        let long = "9".repeat(60);
        for text in ["9223372036854775808", "-9223372036854775809", "20201124375204229003967", &long] {
            assert!(int64(text).unwrap_err().contains("out of the range of int64"), "{text}");
        }
        for text in ["-1", "18446744073709551616"] {
            assert!(uint64(text).unwrap_err().contains("out of the range of uint64"), "{text}");
        }
        for text in ["", "+", "-", "1e3", "1.0", "1 000", "--1", "+-1", "0x10", "١", "1_000"] {
            assert!(int64(text).unwrap_err().contains("not a whole number"), "{text}");
            assert!(uint64(text).unwrap_err().contains("not a whole number"), "{text}");
        }
    }

    #[test]
    fn decimals_keep_their_digits() {
        for (text, canonical) in [
            ("1111111111111111200000002222.0987654321", "1111111111111111200000002222.0987654321"),
            ("204170000.11223344", "204170000.11223344"),
            ("0.10", "0.10"),
            ("-0.00", "0.00"),
            ("-0", "0"),
            ("+5", "5"),
            ("007.50", "7.50"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("5.", "5"),
            ("1.00000000000000000000", "1.0000000000"),
        ] {
            assert_eq!(decimal(text, 38, 10, Round::Never).unwrap().as_str(), canonical, "{text}");
        }
        assert_eq!(decimal("5.000", 3, 0, Round::Never).unwrap().as_str(), "5");
        assert_eq!(decimal("0.25", 2, 2, Round::Never).unwrap().as_str(), "0.25");
        assert_eq!(decimal("000.25", 2, 2, Round::Never).unwrap().as_str(), "0.25");
    }

    #[test]
    fn decimals_refused() {
        for text in ["", "+", ".", "-.", "1E3", "1e-2", "1,5", "1.2.3", "NaN", "INF", "1 0", "--1"] {
            assert!(
                decimal(text, 10, 2, Round::Never).unwrap_err().contains("not a decimal number"),
                "{text}"
            );
        }
        let refusal = decimal("123456789012.345", 10, 2, Round::Never).unwrap_err();
        assert_eq!(refusal, "has 12 digits in front of the point; decimal(10,2) holds 8");
        let refusal = decimal("1.005", 10, 2, Round::Never).unwrap_err();
        assert_eq!(refusal, "has more than 2 digits behind the point; decimal(10,2) would lose some");
        assert!(decimal("1", 2, 2, Round::Never).is_err());
    }

    #[test]
    fn decimals_are_rounded_where_the_job_says_so() {
        for (text, even, up, down) in [
            ("1.005", "1.00", "1.01", "1.00"),
            ("1.015", "1.02", "1.02", "1.01"),
            ("1.0150000001", "1.02", "1.02", "1.01"),
            ("-1.005", "-1.00", "-1.01", "-1.00"),
            ("-0.004", "0.00", "0.00", "0.00"),
            ("0.999", "1.00", "1.00", "0.99"),
            (".995", "1.00", "1.00", "0.99"),
            ("0.005", "0.00", "0.01", "0.00"),
            ("9.994", "9.99", "9.99", "9.99"),
            ("1.1", "1.1", "1.1", "1.1"),
        ] {
            let by = |round| decimal(text, 4, 2, round).unwrap().as_str().to_owned();
            assert_eq!(by(Round::HalfEven), even, "{text}");
            assert_eq!(by(Round::HalfUp), up, "{text}");
            assert_eq!(by(Round::Down), down, "{text}");
        }
        assert_eq!(decimal("2.5", 3, 0, Round::HalfEven).unwrap().as_str(), "2");
        assert_eq!(decimal("0.5", 3, 0, Round::HalfEven).unwrap().as_str(), "0");
        assert_eq!(decimal("9.5", 3, 0, Round::HalfEven).unwrap().as_str(), "10");
    }

    #[test]
    fn no_rule_takes_digits_in_front_of_the_point() {
        for round in [Round::Never, Round::HalfEven, Round::HalfUp, Round::Down] {
            assert!(decimal("100.001", 4, 2, round).unwrap_err().contains("3 digits in front"), "{round:?}");
        }
        let refusal = decimal("99.995", 4, 2, Round::HalfUp).unwrap_err();
        assert_eq!(refusal, "has 3 digits in front of the point; decimal(4,2) holds 2");
        assert_eq!(
            decimal("0.95", 1, 1, Round::HalfUp).unwrap_err(),
            "has 1 digits in front of the point; decimal(1,1) holds 0"
        );
    }

    #[test]
    fn floats() {
        for (text, number) in [
            ("0.1", 0.1),
            ("-1.5E-3", -0.0015),
            ("+5.", 5.0),
            (".5e1", 5.0),
            ("1e-400", 0.0),
            ("179769313486231570000000000000000000000e270", f64::MAX),
        ] {
            assert_eq!(float64(text).unwrap().to_bits(), f64::to_bits(number), "{text}");
        }
        for text in [
            "", "INF", "-INF", "NaN", "inf", "infinity", "1e", "e5", ".", "1e1.5", "0x1p3", "1_0", "1,5",
            "--1",
        ] {
            assert!(float64(text).unwrap_err().contains("finite number"), "{text}");
        }
        for text in ["1e309", "-1e309"] {
            assert!(float64(text).unwrap_err().contains("out of the range"), "{text}");
        }
    }
}
