//! The one text of a value, for keys and for output documents.
//!
//! In:        a [`Value`]     Out: its canonical text; nothing for NULL
//! Fails:     never
//! Not here:  escaping (see `splice`)
//!
//! Bytes are always base64, whatever they hold: a text that changed its form with its content could not be read back.
//! Kafka keys and headers carry bytes without a type and are text by custom; whoever makes values of them asks
//! [`text_or_bytes`] first.

use crate::model::Value;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

/// Canonical text: decimals with all their digits, days, times and timestamps as ISO 8601, `true` and `false`, bytes as
/// base64, floats without an exponent. `None` for NULL.
pub fn text_of(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Text(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Decimal(number) => number.as_str().to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Date(date) => date.to_string(),
        Value::Timestamp(timestamp) => timestamp.to_string(),
        Value::Bytes(bytes) => STANDARD.encode(bytes),
        Value::Float(number) => number.to_string(),
        Value::Time(time) => time.to_string(),
    })
}

/// A Kafka key or header as a value: text where its bytes are UTF-8, else bytes.
pub fn text_or_bytes(bytes: &Bytes) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => Value::Text(text.to_owned()),
        Err(_) => Value::Bytes(bytes.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Date, Decimal};

    #[test]
    fn every_kind() {
        let date = Date { year: 2021, month: 2, day: 3 };
        for (value, text) in [
            (Value::Text(" a ".into()), " a "),
            (Value::Int(-5), "-5"),
            (Value::UInt(u64::MAX), "18446744073709551615"),
            (Value::Decimal(Decimal::from_canonical("0.10").unwrap()), "0.10"),
            (Value::Bool(true), "true"),
            (Value::Date(date), "2021-02-03"),
            (Value::Bytes(Bytes::from_static(b"hello")), "aGVsbG8="),
            (Value::Float(1e21), "1000000000000000000000"),
        ] {
            assert_eq!(text_of(&value).as_deref(), Some(text));
        }
        assert_eq!(text_of(&Value::Null), None);
    }

    #[test]
    fn keys_and_headers() {
        assert_eq!(text_or_bytes(&Bytes::from_static("ä".as_bytes())), Value::Text("ä".into()));
        assert_eq!(text_or_bytes(&Bytes::from_static(b"\xff")), Value::Bytes(Bytes::from_static(b"\xff")));
    }
}
