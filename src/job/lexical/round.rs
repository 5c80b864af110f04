//! What becomes of digits that a type does not hold: exact, on the digits themselves.
//!
//! In:        the last digit that is kept, the digits behind it     Out: whether the kept ones go up by one
//! Fails:     where nobody asked for rounding: `None`, and the caller says what is too much
//!
//! A number's sign plays no part: up is away from zero.

use crate::job::Round;
use std::cmp::Ordering;

/// Whether the kept digits go up by one; `None`: digits would be lost and no rule allows it.
pub(super) fn goes_up(rule: Round, kept_last: u8, beyond: &[u8]) -> Option<bool> {
    if beyond.iter().all(|digit| *digit == b'0') {
        return Some(false);
    }
    let half = match beyond.split_first() {
        Some((b'5', rest)) if rest.iter().all(|digit| *digit == b'0') => Ordering::Equal,
        Some((first, _)) if *first >= b'5' => Ordering::Greater,
        _ => Ordering::Less,
    };
    match rule {
        Round::Never => None,
        Round::Down => Some(false),
        Round::HalfUp => Some(half != Ordering::Less),
        // ASCII digits are even where their bytes are.
        Round::HalfEven => Some(half == Ordering::Greater || (half == Ordering::Equal && kept_last % 2 == 1)),
    }
}

/// Adds one to a run of digits; a carry out of the first makes it one digit longer.
pub(super) fn add_one(digits: &mut String) {
    let mut raised = String::with_capacity(digits.len().saturating_add(1));
    let nines = digits.bytes().rev().take_while(|digit| *digit == b'9').count();
    let kept = digits.len().saturating_sub(nines);
    match digits.get(..kept).and_then(|kept| kept.split_at_checked(kept.len().saturating_sub(1))) {
        Some((before, last)) if !last.is_empty() => {
            raised.push_str(before);
            raised.extend(last.bytes().map(|digit| char::from(digit.saturating_add(1))));
        }
        _ => raised.push('1'),
    }
    raised.extend(std::iter::repeat_n('0', nines));
    *digits = raised;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_its_sides() {
        for (kept, beyond, even, up) in [
            (b'2', "5", false, true),
            (b'3', "5", true, true),
            (b'2', "500", false, true),
            (b'2', "5001", true, true),
            (b'3', "4999", false, false),
            (b'2', "6", true, true),
            (b'2', "0", false, false),
            (b'2', "", false, false),
        ] {
            assert_eq!(goes_up(Round::HalfEven, kept, beyond.as_bytes()), Some(even), "{beyond}");
            assert_eq!(goes_up(Round::HalfUp, kept, beyond.as_bytes()), Some(up), "{beyond}");
            assert_eq!(goes_up(Round::Down, kept, beyond.as_bytes()), Some(false), "{beyond}");
        }
        assert_eq!(goes_up(Round::Never, b'2', b"001"), None);
        assert_eq!(goes_up(Round::Never, b'2', b"000"), Some(false));
    }

    #[test]
    fn one_more() {
        for (digits, more) in
            [("", "1"), ("0", "1"), ("9", "10"), ("1299", "1300"), ("999", "1000"), ("18", "19")]
        {
            let mut text = digits.to_owned();
            add_one(&mut text);
            assert_eq!(text, more, "{digits}");
        }
    }
}
