//! JSON text of what a document repeats: an array of texts, or of rows.
//!
//! In:        texts and values     Out: JSON, numbers with all their digits, without blanks
//! Fails:     never
//! Not here:  which rows (see `judge`)

use super::text::text_of;
use crate::model::Value;
use std::fmt::Write;

/// Appends a text as a JSON string.
pub(super) fn push_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                // Writing to a String cannot fail.
                _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Appends a value: numbers and truth values as such, NULL as null, everything else as its text. `json`: the text is JSON
/// already.
pub(super) fn push_value(out: &mut String, value: &Value, json: bool) {
    let Some(text) = text_of(value) else { return out.push_str("null") };
    match value {
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Bool(_) | Value::Float(_) => {
            out.push_str(&text)
        }
        _ if json => out.push_str(&text),
        _ => push_string(out, &text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Date, Decimal};

    #[test]
    fn strings_read_back() {
        for text in ["", "a\"b\\c\n\r\t\u{1}\u{7f}ä😀</>", "]]>"] {
            let mut out = String::new();
            push_string(&mut out, text);
            assert_eq!(serde_json::from_str::<String>(&out).unwrap(), text);
        }
    }

    #[test]
    fn numbers_keep_their_digits() {
        let date = Date { year: 2021, month: 2, day: 3 };
        for (value, json) in [
            (Value::Null, "null"),
            (Value::UInt(u64::MAX), "18446744073709551615"),
            (Value::Decimal(Decimal::from_canonical("-0.10").unwrap()), "-0.10"),
            (Value::Bool(true), "true"),
            (Value::Date(date), "\"2021-02-03\""),
            (Value::Text("1".into()), "\"1\""),
        ] {
            let mut out = String::new();
            push_value(&mut out, &value, false);
            assert_eq!(out, json);
        }
        let mut out = String::new();
        push_value(&mut out, &Value::Text("[1]".into()), true);
        assert_eq!(out, "[1]");
    }
}
