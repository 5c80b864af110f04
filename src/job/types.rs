//! The types of fields: `text`, `decimal(12,2)`, `bytes(base64)` ...

use super::FieldType;
use super::suggest::did_you_mean;

/// What a field's `type` may be, for messages.
const ALLOWED: &str = "text, int64, uint64, decimal(p,s), bool, date, timestamp, bytes(base64), bytes(hex)";
/// The words of [`ALLOWED`] for "did you mean".
const WORDS: [&str; 9] =
    ["text", "int64", "uint64", "decimal(p,s)", "bool", "date", "timestamp", "bytes(base64)", "bytes(hex)"];
/// MariaDB's and MySQL's limits.
const PRECISION_MAX: u8 = 65;
const SCALE_MAX: u8 = 38;

/// Reads a type; else message and hint. `shown` is the text as a message may quote it.
pub(super) fn parse(text: &str, shown: &str) -> Result<FieldType, (String, Option<String>)> {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    match compact.as_str() {
        "text" => Ok(FieldType::Text),
        "int64" => Ok(FieldType::Int64),
        "uint64" => Ok(FieldType::UInt64),
        "bool" => Ok(FieldType::Bool),
        "date" => Ok(FieldType::Date),
        "timestamp" => Ok(FieldType::Timestamp { zone: None }),
        "bytes(base64)" => Ok(FieldType::Base64),
        "bytes(hex)" => Ok(FieldType::Hex),
        "decimal" => Err(("decimal needs its digits".to_owned(), Some(DECIMAL_HINT.to_owned()))),
        "bytes" => {
            Err(("bytes needs its encoding".to_owned(), Some("write bytes(base64) or bytes(hex)".to_owned())))
        }
        other => match other.strip_prefix("decimal(").and_then(|rest| rest.strip_suffix(')')) {
            Some(digits) => decimal(digits, shown),
            None => Err((format!("must be one of {ALLOWED}, got {shown}"), hint_for(other))),
        },
    }
}

const DECIMAL_HINT: &str = "write decimal(12,2): at most 12 digits, 2 of them behind the point";

fn decimal(digits: &str, shown: &str) -> Result<FieldType, (String, Option<String>)> {
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

/// Names that other systems use; else the nearest of ours.
fn hint_for(word: &str) -> Option<String> {
    let meant = match word.to_ascii_lowercase().as_str() {
        "string" | "str" | "varchar" | "char" => "text",
        "int" | "integer" | "long" | "bigint" | "int32" | "i64" => "int64",
        "uint" | "unsigned" | "u64" | "uint32" => "uint64",
        "float" | "double" | "float64" | "number" | "numeric" => "decimal(p,s)",
        "boolean" => "bool",
        "datetime" | "instant" => "timestamp",
        "base64" | "binary" | "blob" => "bytes(base64)",
        "hex" => "bytes(hex)",
        other => return did_you_mean(other, WORDS),
    };
    Some(format!("did you mean `{meant}`?"))
}
