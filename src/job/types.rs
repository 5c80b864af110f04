//! The types of fields: `text`, `decimal(12,2)`, `bytes(base64)` ...

use super::suggest::did_you_mean;
use super::{DurationUnit, FieldType};

/// What a field's `type` may be, for messages and for "did you mean".
pub(super) const WORDS: &[&str] = &[
    "text",
    "text(n)",
    "int64",
    "uint64",
    "decimal(p,s)",
    "float64",
    "bool",
    "date",
    "time",
    "timestamp",
    "duration",
    "duration(s)",
    "duration(ms)",
    "duration(months)",
    "bytes(base64)",
    "bytes(hex)",
    "json",
    "xml",
];
/// Those of [`WORDS`] that have numbers in them, as a regular expression.
pub(super) const PATTERN: &str = "^(text\\( *[0-9]+ *\\)|decimal\\( *[0-9]+ *(, *[0-9]+ *)?\\))$";
/// MariaDB's and MySQL's limits.
const PRECISION_MAX: u8 = 65;
const SCALE_MAX: u8 = 38;
/// Of a text: more than any column holds.
const CHARS_MAX: usize = 1 << 30;

/// A type as the job file writes it.
#[derive(Debug, PartialEq)]
pub(super) struct Written {
    pub(super) of_type: FieldType,
    /// Of `text(n)`: characters at the most.
    pub(super) chars_max: Option<usize>,
}

type Wrong = (String, Option<String>);

/// Reads a type; else message and hint. `shown` is the text as a message may quote it.
pub(super) fn parse(text: &str, shown: &str) -> Result<Written, Wrong> {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let written = |of_type| Ok(Written { of_type, chars_max: None });
    if let Some(of_type) = plain(&compact) {
        return written(of_type);
    }
    let (word, within) = match compact.strip_suffix(')').and_then(|open| open.split_once('(')) {
        Some((word, within)) => (word, Some(within)),
        None => (compact.as_str(), None),
    };
    match (word, within) {
        ("text", Some(count)) => {
            let chars_max = chars(count, shown)?;
            Ok(Written { of_type: FieldType::Text, chars_max: Some(chars_max) })
        }
        ("decimal", Some(digits)) => written(decimal(digits, shown)?),
        ("decimal", None) => Err(("decimal needs its digits".to_owned(), Some(DECIMAL_HINT.to_owned()))),
        ("bytes", None) => {
            Err(("bytes needs its encoding".to_owned(), Some("write bytes(base64) or bytes(hex)".to_owned())))
        }
        _ => {
            let allowed = WORDS.join(", ");
            Err((format!("must be one of {allowed}, got {shown}"), hint_for(&compact)))
        }
    }
}

/// The types without numbers in them.
fn plain(word: &str) -> Option<FieldType> {
    Some(match word {
        "text" => FieldType::Text,
        "int64" => FieldType::Int64,
        "uint64" => FieldType::UInt64,
        "float64" => FieldType::Float64,
        "bool" => FieldType::Bool,
        "date" => FieldType::Date,
        "time" => FieldType::Time,
        "timestamp" => FieldType::Timestamp { zone: None },
        "duration" => FieldType::Duration(DurationUnit::Text),
        "duration(s)" => FieldType::Duration(DurationUnit::Seconds),
        "duration(ms)" => FieldType::Duration(DurationUnit::Milliseconds),
        "duration(months)" => FieldType::Duration(DurationUnit::Months),
        "bytes(base64)" => FieldType::Base64,
        "bytes(hex)" => FieldType::Hex,
        "json" => FieldType::Json,
        "xml" => FieldType::Xml,
        _ => return None,
    })
}

const DECIMAL_HINT: &str = "write decimal(12,2): at most 12 digits, 2 of them behind the point";

fn decimal(digits: &str, shown: &str) -> Result<FieldType, Wrong> {
    let wrong = |message: String| (message, Some(DECIMAL_HINT.to_owned()));
    let (precision, scale) = digits.split_once(',').unwrap_or((digits, "0"));
    let (Ok(precision), Ok(scale)) = (precision.parse::<u8>(), scale.parse::<u8>()) else {
        return Err(wrong(format!("must be decimal(p,s) with two numbers, got {shown}")));
    };
    if !(1..=PRECISION_MAX).contains(&precision) {
        return Err(wrong(format!("decimal(p,s): p must be 1..={PRECISION_MAX}, got {shown}")));
    }
    if scale > precision.min(SCALE_MAX) {
        return Err(wrong(format!("decimal(p,s): s must be at most p and at most {SCALE_MAX}, got {shown}")));
    }
    Ok(FieldType::Decimal { precision, scale })
}

fn chars(count: &str, shown: &str) -> Result<usize, Wrong> {
    let number = count.parse::<usize>().ok().filter(|number| (1..=CHARS_MAX).contains(number));
    number.ok_or_else(|| {
        let hint = "write text(40): at most 40 characters".to_owned();
        (format!("text(n): n must be 1..={CHARS_MAX}, got {shown}"), Some(hint))
    })
}

/// Names that other systems use; else the nearest of ours.
fn hint_for(word: &str) -> Option<String> {
    let meant = match word.to_ascii_lowercase().as_str() {
        "string" | "str" | "varchar" | "char" => "text",
        "int" | "integer" | "long" | "bigint" | "int32" | "i64" => "int64",
        "uint" | "unsigned" | "u64" | "uint32" => "uint64",
        "number" | "numeric" => "decimal(p,s)",
        "float" | "double" | "real" | "f64" => {
            return Some("write decimal(p,s), which is exact, or float64".to_owned());
        }
        "boolean" => "bool",
        "datetime" | "instant" => "timestamp",
        "base64" | "binary" | "blob" => "bytes(base64)",
        "hex" => "bytes(hex)",
        "array" | "list" => "json",
        "element" | "fragment" => "xml",
        other => return did_you_mean(other, WORDS.iter().copied().chain(["decimal"])),
    };
    Some(format!("did you mean `{meant}`?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_with_blanks_and_numbers() {
        let of = |text: &str| parse(text, text).map(|written| (written.of_type, written.chars_max));
        assert_eq!(of("decimal( 12 , 2 )"), Ok((FieldType::Decimal { precision: 12, scale: 2 }, None)));
        assert_eq!(of("text (40)"), Ok((FieldType::Text, Some(40))));
        assert_eq!(of("duration( ms )"), Ok((FieldType::Duration(DurationUnit::Milliseconds), None)));
        for bad in [
            "text(0)",
            "text()",
            "text(-1)",
            "text(9999999999)",
            "text(4",
            "int64(8)",
            "duration(h)",
            "bytes(utf8)",
        ] {
            assert!(of(bad).is_err(), "{bad}");
        }
        for word in WORDS.iter().filter(|word| !word.contains("(n)") && !word.contains("(p,s)")) {
            assert!(of(word).is_ok(), "{word}");
        }
    }
}
