//! Fold: a value as something that is the same wherever the database may hold two values for equal.
//!
//! In:        a value, and how its column compares     Out: bytes; none: it may be equal to anything
//! Not here:  which column (meeting)

use crate::model::Value;

/// How values are held against each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Texts: blanks at their ends do not count.
    Exact,
    /// Texts: nor do capitals. What is not plain ASCII may be equal to anything: what collations make of it is theirs.
    Folded,
    /// Whole numbers.
    Number,
    /// Whole numbers; the engine gives another one in the place of nought.
    Numbered,
}

impl Fold {
    /// Two values with different bytes are never equal to the database.
    pub fn fold(self, value: &Value) -> Option<Vec<u8>> {
        match (self, value) {
            (Fold::Exact | Fold::Folded, Value::Text(text)) => self.text(text),
            (Fold::Exact | Fold::Folded, Value::Bytes(bytes)) => self.text(std::str::from_utf8(bytes).ok()?),
            (Fold::Number | Fold::Numbered, Value::Int(number)) => self.number(i128::from(*number)),
            (Fold::Number | Fold::Numbered, Value::UInt(number)) => self.number(i128::from(*number)),
            _ => None,
        }
    }

    fn text(self, text: &str) -> Option<Vec<u8>> {
        let text = text.trim_end_matches(' ');
        match self {
            Fold::Exact => Some(text.as_bytes().to_vec()),
            // Some collations pass over control characters.
            _ => text
                .bytes()
                .all(|b| matches!(b, b' '..=b'~' | b'\t'..=b'\r'))
                .then(|| text.to_ascii_lowercase().into_bytes()),
        }
    }

    fn number(self, number: i128) -> Option<Vec<u8>> {
        (self == Fold::Number || number != 0).then(|| number.to_be_bytes().to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(fold: Fold, text: &str) -> Option<Vec<u8>> {
        fold.fold(&Value::Text(text.to_owned()))
    }

    #[test]
    fn what_may_be_equal_folds_to_the_same() {
        assert_eq!(text(Fold::Folded, "Ab c "), text(Fold::Folded, "aB C"));
        assert_ne!(text(Fold::Folded, " a"), text(Fold::Folded, "a"));
        for odd in ["ä", "a\u{0}", "a\u{1f}", "\u{7f}", "ｱ"] {
            assert_eq!(text(Fold::Folded, odd), None, "{odd:?}");
        }
        assert_eq!(text(Fold::Exact, "ä  "), text(Fold::Exact, "ä"));
        assert_ne!(text(Fold::Exact, "A"), text(Fold::Exact, "a"));
        assert_eq!(Fold::Number.fold(&Value::Int(7)), Fold::Number.fold(&Value::UInt(7)));
        assert_eq!(Fold::Numbered.fold(&Value::Int(0)), None);
        assert!(Fold::Number.fold(&Value::Int(0)).is_some());
    }

    #[test]
    fn what_is_of_another_kind_may_be_anything() {
        for fold in [Fold::Exact, Fold::Folded, Fold::Number, Fold::Numbered] {
            assert_eq!(fold.fold(&Value::Null), None);
            assert_eq!(fold.fold(&Value::Bool(true)), None);
        }
        assert_eq!(text(Fold::Number, "7"), None);
        assert_eq!(Fold::Folded.fold(&Value::Int(7)), None);
        assert_eq!(Fold::Exact.fold(&Value::Bytes(vec![0xff].into())), None);
    }
}
