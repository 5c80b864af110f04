//! Words: values, tables and rejects as a person reads them on a terminal.
//!
//! In:        values     Out: one line each: whatever a value holds, it moves no cursor
//! Fails:     never
//! Not here:  which values (`event`, `steps`)

use crate::job::RejectRule;
use crate::model::{Reason, Value};
use crate::xml::text_of;

/// Longer values are cut.
const CHARS_MAX: usize = 240;
/// And in a cell of a table.
const CELL_CHARS_MAX: usize = 40;

/// A value: text in quotation marks, so that it is told from NULL and numbers.
pub(super) fn value(value: &Value) -> String {
    cut(value, CHARS_MAX)
}

/// The same, for a table.
pub(super) fn cell(value: &Value) -> String {
    cut(value, CELL_CHARS_MAX)
}

fn cut(value: &Value, max: usize) -> String {
    let shortened = |text: &str| {
        let chars = text.chars().count();
        let short: String = text.chars().take(max).collect();
        (short, chars > max, chars)
    };
    match value {
        Value::Text(text) => {
            let (short, is_cut, chars) = shortened(text);
            if is_cut { format!("{short:?}... ({chars} characters)") } else { format!("{short:?}") }
        }
        Value::Bytes(bytes) => {
            let (short, is_cut, _) = shortened(&hex::encode(bytes));
            if is_cut { format!("x'{short}'... ({} bytes)", bytes.len()) } else { format!("x'{short}'") }
        }
        other => text_of(other).unwrap_or_else(|| "NULL".to_owned()),
    }
}

/// Columns of equal width, two blanks between them.
pub(super) fn table(indent: usize, head: &[String], rows: &[Vec<String>]) -> String {
    let all: Vec<&[String]> = std::iter::once(head).chain(rows.iter().map(Vec::as_slice)).collect();
    let chars =
        |column: usize| all.iter().filter_map(move |row| row.get(column)).map(|cell| cell.chars().count());
    let widths: Vec<usize> = (0..head.len()).map(|column| chars(column).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in &all {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(&" ".repeat(indent));
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// What becomes of an event that cannot be handled.
pub(super) fn rejected(reason: &Reason, rule: RejectRule, letters: Option<&str>) -> String {
    let becomes = match rule {
        RejectRule::DeadLetter => format!("goes to the dead-letter topic {}", letters.unwrap_or_default()),
        RejectRule::Halt => "halts the job (65)".to_owned(),
        RejectRule::Discard => "is counted, logged and let go".to_owned(),
        RejectRule::Park => "is parked, and what comes behind it with its key".to_owned(),
    };
    format!("  REJECT {reason}\n  by the job's rule it {becomes}; nothing else of it is stored or sent\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ReasonCode;
    use bytes::Bytes;

    #[test]
    fn values_are_told_apart_and_move_no_cursor() {
        assert_eq!(value(&Value::Null), "NULL");
        assert_eq!(value(&Value::Text("NULL".to_owned())), "\"NULL\"");
        assert_eq!(value(&Value::Text("a\u{1b}[2J\nb".to_owned())), "\"a\\u{1b}[2J\\nb\"");
        assert_eq!(value(&Value::Int(-7)), "-7");
        assert_eq!(value(&Value::Bytes(Bytes::from_static(b"\xff\x00"))), "x'ff00'");
        assert_eq!(cell(&Value::Text("x".repeat(50))), format!("\"{}\"... (50 characters)", "x".repeat(40)));
    }

    #[test]
    fn tables_have_columns_of_equal_width() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        assert_eq!(
            table(2, &row(["sku", "n"]), &[row(["A", "10"]), row(["longer", "2"])]),
            "  sku     n\n  A       10\n  longer  2\n"
        );
    }

    #[test]
    fn a_reject_says_by_which_rule() {
        let reason = Reason { code: ReasonCode::FieldType, detail: "line 1, column 2: no".to_owned() };
        let text = rejected(&reason, RejectRule::DeadLetter, Some("orders.rejected"));
        assert_eq!(
            text,
            "  REJECT field_type: line 1, column 2: no\n  by the job's rule it goes to the dead-letter topic orders.rejected; \
             nothing else of it is stored or sent\n"
        );
    }
}
