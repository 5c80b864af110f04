//! Whole and decimal numbers, exact: no float, no wrap, no rounding.
//!
//! In:        trimmed text     Out: i64, u64 or [`Decimal`]
//! Fails:     anything but an optional sign and digits; a number out of its type's range
//!
//! Allowed by XML Schema and so here: a leading `+`, leading zeros, `.5` and `5.`. An exponent is not.

use super::Refusal;
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
/// same; any other digit there is refused, since rounding is not ours to do.
pub(super) fn decimal(text: &str, precision: usize, scale: usize) -> Result<Decimal, Refusal> {
    let (negative, digits) = sign(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if !all_digits(whole) || !all_digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        let detail =
            "is not a decimal number: an optional sign, digits and an optional point, without an exponent";
        return Err(detail.into());
    }
    let whole = whole.trim_start_matches('0');
    let whole_max = precision.saturating_sub(scale);
    if whole.len() > whole_max {
        let found = whole.len();
        return Err(format!(
            "has {found} digits in front of the point; decimal({precision},{scale}) holds {whole_max}"
        )
        .into());
    }
    let (fraction, beyond) = fraction.split_at_checked(scale).unwrap_or((fraction, ""));
    if beyond.bytes().any(|b| b != b'0') {
        return Err(format!(
            "has more than {scale} digits behind the point; decimal({precision},{scale}) would lose some"
        )
        .into());
    }
    let zero = whole.is_empty() && fraction.bytes().all(|b| b == b'0');
    let mut canonical =
        String::with_capacity(digits.len().saturating_add(2).min(precision.saturating_add(4)));
    if negative && !zero {
        canonical.push('-');
    }
    canonical.push_str(if whole.is_empty() { "0" } else { whole });
    if !fraction.is_empty() {
        canonical.push('.');
        canonical.push_str(fraction);
    }
    Decimal::from_canonical(&canonical).ok_or_else(|| "is not a decimal number".into())
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
            assert_eq!(decimal(text, 38, 10).unwrap().as_str(), canonical, "{text}");
        }
        assert_eq!(decimal("5.000", 3, 0).unwrap().as_str(), "5");
        assert_eq!(decimal("0.25", 2, 2).unwrap().as_str(), "0.25");
        assert_eq!(decimal("000.25", 2, 2).unwrap().as_str(), "0.25");
    }

    #[test]
    fn decimals_refused() {
        for text in ["", "+", ".", "-.", "1E3", "1e-2", "1,5", "1.2.3", "NaN", "INF", "1 0", "--1"] {
            assert!(decimal(text, 10, 2).unwrap_err().contains("not a decimal number"), "{text}");
        }
        let refusal = decimal("123456789012.345", 10, 2).unwrap_err();
        assert_eq!(refusal, "has 12 digits in front of the point; decimal(10,2) holds 8");
        let refusal = decimal("1.005", 10, 2).unwrap_err();
        assert_eq!(refusal, "has more than 2 digits behind the point; decimal(10,2) would lose some");
        assert!(decimal("1", 2, 2).is_err());
    }
}
