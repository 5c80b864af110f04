//! A number as its digits, for comparing exactly whatever it was.
//!
//! In:        canonical decimal text, or a float     Out: an order
//! Fails:     what is no number has none

use std::cmp::Ordering;

/// Sign and digits, without needless zeros.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Number {
    /// Never of zero.
    negative: bool,
    /// Without leading zeros; empty below one.
    whole: String,
    /// Without trailing zeros.
    fraction: String,
}

impl Number {
    /// Optional sign, digits, optional point and digits.
    pub(super) fn read(text: &str) -> Option<Number> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !all_digits(whole) || !all_digits(fraction) {
            return None;
        }
        let whole = whole.trim_start_matches('0').to_owned();
        let fraction = fraction.trim_end_matches('0').to_owned();
        let zero = whole.is_empty() && fraction.is_empty();
        Some(Number { negative: negative && !zero, whole, fraction })
    }

    /// The very number that the float is: every finite one has a decimal end.
    pub(super) fn of_float(number: f64) -> Option<Number> {
        /// Digits behind the point of the smallest float.
        const DIGITS: usize = 1074;
        if number.is_finite() { Number::read(&format!("{number:.DIGITS$}")) } else { None }
    }

    fn magnitude(&self, other: &Number) -> Ordering {
        // Digits of one length are in the order of their texts, and so are fractions of every length.
        let whole = self.whole.len().cmp(&other.whole.len()).then_with(|| self.whole.cmp(&other.whole));
        whole.then_with(|| self.fraction.cmp(&other.fraction))
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Number) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Number) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.magnitude(other),
            (true, true) => other.magnitude(self),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn number(text: &str) -> Number {
        Number::read(text).unwrap()
    }

    #[test]
    fn in_order() {
        let order = [
            "-100", "-20.5", "-20.49", "-0.001", "0", "0.0009", "0.001", "0.01", "0.1", "1", "1.1", "2",
            "10", "99.999",
        ];
        for (at, one) in order.iter().enumerate() {
            for (other_at, other) in order.iter().enumerate() {
                assert_eq!(number(one).cmp(&number(other)), at.cmp(&other_at), "{one} {other}");
            }
        }
        assert_eq!(number("-0.0"), number("0"));
        assert_eq!(number("1.50"), number("1.5"));
        for bad in ["", "-", ".", "1.", ".5", "1e3", "+1", "NaN", "--1", "1.2.3", " 1"] {
            assert_eq!(Number::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_float_is_the_number_that_it_is() {
        assert_eq!(Number::of_float(0.5), Some(number("0.5")));
        assert_eq!(Number::of_float(0.1).unwrap().cmp(&number("0.1")), Ordering::Greater);
        assert_eq!(Number::of_float(-0.0), Some(number("0")));
        assert_eq!(Number::of_float(9_007_199_254_740_992.0), Some(number("9007199254740992")));
        assert_eq!(Number::of_float(f64::NAN), None);
        assert!(Number::of_float(5e-324).unwrap() > number("0"));
    }

    proptest! {
        #[test]
        fn floats_are_in_their_own_order(one in any::<f64>(), other in any::<f64>()) {
            prop_assume!(one.is_finite() && other.is_finite());
            let order = Number::of_float(one).unwrap().cmp(&Number::of_float(other).unwrap());
            prop_assert_eq!(Some(order), one.partial_cmp(&other));
        }

        #[test]
        fn decimals_are_in_the_order_of_their_units(one in any::<i64>(), other in any::<i64>(), digits in 0_u32..18) {
            let text = |units: i64| {
                let scale = 10_u64.pow(digits);
                let sign = if units < 0 { "-" } else { "" };
                let (whole, rest) = (units.unsigned_abs() / scale, units.unsigned_abs() % scale);
                let width = usize::try_from(digits).unwrap();
                if digits == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{rest:0width$}") }
            };
            prop_assert_eq!(number(&text(one)).cmp(&number(&text(other))), one.cmp(&other));
        }
    }
}
