//! Conditions that are right, and what else is written there, each with its place.

use super::super::references::{FieldNames, ListNames, StepNames};
use super::super::{Comparison, FieldType, Meta, On};
use super::*;
use proptest::prelude::*;

fn field(name: &str, of_type: FieldType) -> FieldNames {
    FieldNames { name: name.to_owned(), of_type: Some(of_type), of_record: false }
}

fn names() -> Names {
    let fields = vec![
        field("status", FieldType::Text),
        field("total", FieldType::Decimal { precision: 12, scale: 2 }),
        field("open", FieldType::Bool),
        field("due", FieldType::Date),
        field("raw", FieldType::Xml),
    ];
    let lists = vec![ListNames {
        name: "lines".to_owned(),
        parent: None,
        fields: vec![field("qty", FieldType::Int64)],
    }];
    let steps = vec![StepNames {
        name: Some("customer".to_owned()),
        is_lookup: true,
        on: On::Document,
        columns: Vec::new(),
    }];
    Names { fields, lists, steps, tombstones: Some(false) }
}

const BEHIND: Place = Place { step: None, rows_of: None, on: On::Document };
const IN_ROWS: Place = Place { step: Some(1), rows_of: Some(0), on: On::Document };

fn parsed(text: &str) -> Condition {
    parse_at(text, BEHIND)
        .unwrap_or_else(|problem| panic!("{text}: {} at {}", problem.message, problem.offset))
}

fn parse_at(text: &str, place: Place) -> Result<Condition, Problem> {
    parse(text, &mut names(), place)
}

/// With all of its brackets.
fn written(condition: &Condition) -> String {
    let join = |parts: &[Condition], word: &str| {
        let parts: Vec<String> = parts.iter().map(written).collect();
        format!("({})", parts.join(word))
    };
    match condition {
        Condition::Compare { left, by, right } => {
            let sign = match by {
                Comparison::Equal => "=",
                Comparison::NotEqual => "!=",
                Comparison::Less => "<",
                Comparison::LessOrEqual => "<=",
                Comparison::Greater => ">",
                Comparison::GreaterOrEqual => ">=",
            };
            format!("{} {sign} {}", side(left), side(right))
        }
        Condition::IsNull(value) => format!("{} is null", reference(value)),
        Condition::In { value, among } => {
            let among: Vec<String> = among.iter().map(side).collect();
            format!("{} in ({})", reference(value), among.join(", "))
        }
        Condition::All(parts) => join(parts, " and "),
        Condition::Any(parts) => join(parts, " or "),
        Condition::Not(inside) => format!("not ({})", written(inside)),
    }
}

fn side(operand: &Operand) -> String {
    match operand {
        Operand::Value(value) => reference(value),
        Operand::Text(text) => format!("'{}'", text.replace('\'', "''")),
        Operand::Number(number) => number.clone(),
        Operand::Bool(truth) => truth.to_string(),
    }
}

fn reference(value: &ValueRef) -> String {
    match value {
        ValueRef::Field(index) => format!(":{}", names().fields[*index].name),
        ValueRef::Lookup { .. } => ":customer.tier".to_owned(),
        ValueRef::Row { .. } => ":lines.qty".to_owned(),
        ValueRef::RowIndex { .. } => ":lines._index".to_owned(),
        ValueRef::Meta(Meta::Header(name)) => format!(":_header.{name}"),
        ValueRef::Meta(_) => ":_key".to_owned(),
    }
}

#[test]
fn what_is_written_is_what_is_read() {
    for (text, back) in [
        (":status = 'open'", ":status = 'open'"),
        (":status='it''s'", ":status = 'it''s'"),
        (":status = ''", ":status = ''"),
        ("'open' <> :status", "'open' != :status"),
        (":total >= -01.50", ":total >= -1.5"),
        (":total < 0.0", ":total < 0"),
        (":total > +7", ":total > 7"),
        (":open = TRUE", ":open = true"),
        (":due <= '2024-02-29'", ":due <= '2024-02-29'"),
        (":open = 1", ":open = 1"),
        (":status IS NULL", ":status is null"),
        (":status is not null", "not (:status is null)"),
        (":status in ('a','b')", ":status in ('a', 'b')"),
        (":total not in (1, 2)", "not (:total in (1, 2))"),
        (":open = true and :total > 1 or :total < 0", "((:open = true and :total > 1) or :total < 0)"),
        (":open = true and (:total > 1 or :total < 0)", "(:open = true and (:total > 1 or :total < 0))"),
        ("not :open = true and :total > 1", "(not (:open = true) and :total > 1)"),
        ("not (:open = true and :total > 1)", "not ((:open = true and :total > 1))"),
        (":customer.tier = 'gold'", ":customer.tier = 'gold'"),
        (":customer.tier = 5", ":customer.tier = 5"),
        (":_header.kind != 'x'", ":_header.kind != 'x'"),
        (":raw is null", ":raw is null"),
    ] {
        assert_eq!(written(&parsed(text)), back, "{text}");
    }
}

#[test]
fn a_step_for_each_row_asks_for_its_row() {
    let condition = parse_at(":lines.qty > 0 and :lines._index = 1", IN_ROWS);
    assert_eq!(
        condition.map(|c| written(&c)).ok().as_deref(),
        Some("(:lines.qty > 0 and :lines._index = 1)")
    );
}

/// A condition, the place of the mistake, and how its message begins.
const WRONG: &[(&str, usize, &str)] = &[
    ("", 0, "an empty condition"),
    (":status", 0, "a value alone"),
    (":open and :total > 1", 0, "a value alone"),
    ("true", 0, "a fixed value alone"),
    (":status = ", 10, "a value is missing"),
    (":status == 'a'", 8, "`==` is not known"),
    (":status = \"a\"", 10, "`\"` is not known"),
    (":open = true && :total > 1", 13, "`&&` is not known"),
    (":open = true || :total > 1", 13, "`||` is not known"),
    ("!:open", 0, "`!` is not known"),
    (":status like 'a%'", 8, "`like` is not known"),
    (":total between 1 and 2", 7, "`between` is not known"),
    (":status = null", 10, "nothing compares with null"),
    (":status is 'a'", 11, "`is` is followed by"),
    ("'a' is null", 0, "a fixed value is never null"),
    (":status = 'a", 10, "a text is left open"),
    (":status = status", 10, "`status` is no value"),
    ("(:status = 'a'", 14, "a `(` without"),
    (":status = 'a')", 13, "`)` is not expected"),
    (":status = 'a' :total = 1", 14, "`:total` is not expected"),
    (":status in ()", 12, "a value is expected"),
    (":status in 'a'", 11, "`in` without its `(`"),
    (":status in ('a' 'b')", 16, "the list of `in` goes on"),
    (":status in (:total)", 12, "a reference in the list"),
    (":statu = 'a'", 0, "no field gives"),
    (":lines.qty = 1", 0, "`:lines.qty` is of a row"),
    (":zebra.x = 1", 0, "no lookup named"),
    ("1 = 1", 0, "two fixed values"),
    (":total = 'a'", 9, "a number is compared with text"),
    (":status = 1", 10, "text is compared with a number"),
    (":open = 'true'", 8, "true or false is compared with text"),
    (":due = '2024-02-30'", 7, "the text is a day that"),
    (":due = 'soon'", 7, "the text is not a date"),
    (":open = 2", 8, "true or false is compared with a number"),
    (":due = 20240229", 7, "a date is compared with a number"),
    (":raw = 'a'", 7, "markup or an array cannot"),
    (":total = :status", 9, "a number is compared with text"),
    (":total in (1, 'a')", 14, "a number is compared with text"),
    (":total = 1e3", 9, "`1e3` is no number"),
    (":total = 1 + 1", 11, "`+` is not known"),
    (":status = $x", 10, "`$` is not known"),
    (":status not 'a'", 8, "a comparison is expected"),
    (": = 1", 0, "a `:` without a name"),
];

#[test]
fn whatever_else_is_written_is_named_with_its_place() {
    for (text, offset, message) in WRONG {
        let Err(problem) = parse_at(text, BEHIND) else { panic!("{text} is right") };
        assert!(problem.message.starts_with(message), "{text}: {}", problem.message);
        assert_eq!(problem.offset, *offset, "{text}: {}", problem.message);
        assert!(problem.hint.is_some(), "{text}");
    }
}

#[test]
fn brackets_without_end_are_an_error_and_no_overflow() {
    for deep in ["(", "not "] {
        assert!(parse_at(&deep.repeat(100_000), BEHIND).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_written_is_answered(
        text in r#"(:status|:total|:open|'a'|''|'|1|-2\.50|true|null|=|<|>=|<>|!|\(|\)|,| and | or | not | is | in |ä| ){0,14}"#,
    ) {
        match parse_at(&text, BEHIND) {
            Ok(condition) => {
                let back = written(&condition);
                let again = parse_at(&back, BEHIND);
                prop_assert!(again.is_ok_and(|again| again == condition), "{text} became {back}");
            }
            Err(problem) => prop_assert!(text.is_char_boundary(problem.offset), "{text}: {}", problem.message),
        }
    }
}
