//! Fields against columns: what is told, and that nothing is told where everything fits.

use super::*;
use crate::job::{Base, Branch, Doctype, End, FieldRules, FieldSource, NoMatch, Path, TombstoneRule};
use std::collections::BTreeMap;

fn field(of_type: FieldType, rules: FieldRules) -> Field {
    let branch = Branch { from: Base::Here { up: 0 }, steps: Vec::new(), end: End::Element };
    let path = Path { text: "f".to_owned(), branches: vec![branch] };
    Field { name: "f".to_owned(), source: FieldSource::Path(path), of_type, rules }
}

fn notes_for(field: Field, engine: ColumnEngine, declared: &str, sql: &str) -> Vec<String> {
    let event = EventSpec {
        each: Vec::new(),
        no_match: NoMatch::Unreadable,
        key: Vec::new(),
        fields: vec![field],
        lists: Vec::new(),
        doctype: Doctype::Read,
        tombstone: TombstoneRule::Unreadable,
    };
    let column = Column { name: "C".to_owned(), declared: declared.to_owned(), engine };
    notes_of(&event, 2, &target(sql).unwrap(), &[ValueRef::Field(0), ValueRef::Field(0)], &[column])
}

const INSERT: &str = "INSERT INTO t (c) VALUES (?), (?)";

fn told(of_type: FieldType, chars_max: Option<usize>, declared: &str) -> String {
    let rules = FieldRules { chars_max, ..FieldRules::required() };
    notes_for(field(of_type, rules), ColumnEngine::MySql, declared, INSERT).join("\n")
}

fn decimal(precision: u8, scale: u8) -> FieldType {
    FieldType::Decimal { precision, scale }
}

const TIMESTAMP: FieldType = FieldType::Timestamp { zone: None };

#[test]
fn what_does_not_fit_is_told_once_with_both_ranges_and_what_happens() {
    assert_eq!(
        told(decimal(12, 2), None, "decimal(10,2)"),
        "step 2: the field `f` is decimal(12,2), the column t.C is decimal(10,2): \
         a number of more than 8 digits in front of the point is refused"
    );
    for (of_type, chars_max, declared, part) in [
        (decimal(10, 4), None, "decimal(10,2)", "rounds to 2 digits behind the point"),
        (decimal(12, 2), None, "int(11)", "rounds what is behind the point"),
        (decimal(12, 2), None, "float", "7 digits"),
        (decimal(16, 2), None, "double", "15 digits"),
        (FieldType::Float64, None, "float", "7 digits"),
        (FieldType::Int64, None, "int(11)", "outside of -2147483648 to 2147483647 is refused"),
        (FieldType::Int64, None, "bigint(20) unsigned", "outside of 0 to"),
        (FieldType::UInt64, None, "bigint(20)", "outside of"),
        (FieldType::Text, Some(21), "varchar(20)", "text of up to 21 characters"),
        (FieldType::Text, None, "varchar(20)", "text of any length"),
        (TIMESTAMP, None, "datetime", "to 0 digits"),
        (TIMESTAMP, None, "timestamp(3)", "to 3 digits"),
        (TIMESTAMP, None, "date", "time of day is dropped"),
        (FieldType::Time, None, "time", "to 0 digits"),
    ] {
        let note = told(of_type.clone(), chars_max, declared);
        assert!(note.contains(part) && note.lines().count() == 1, "{of_type:?} in {declared}: {note}");
    }
}

#[test]
fn what_fits_or_cannot_be_told_is_not_spoken_of() {
    for (of_type, chars_max, declared) in [
        (decimal(10, 2), None, "decimal(10,2)"),
        (decimal(8, 0), None, "decimal(10,2)"),
        (decimal(12, 2), None, "double"),
        (decimal(12, 2), None, "varchar(5)"),
        (FieldType::Int64, None, "bigint(20)"),
        (FieldType::UInt64, None, "bigint(20) unsigned"),
        (FieldType::Int64, None, "decimal(38,0)"),
        (FieldType::Text, Some(20), "varchar(20)"),
        (FieldType::Text, None, "longtext"),
        (FieldType::Text, None, "int(11)"),
        (TIMESTAMP, None, "datetime(6)"),
        (TIMESTAMP, None, "varchar(10)"),
        (FieldType::Date, None, "datetime"),
        (FieldType::Bool, None, "tinyint(1)"),
        (FieldType::Base64, None, "varbinary(1)"),
        (FieldType::Float64, None, "double"),
    ] {
        assert_eq!(told(of_type.clone(), chars_max, declared), "", "{of_type:?} in {declared}");
    }
}

#[test]
fn an_enumeration_is_as_long_as_its_longest_value() {
    let values = |text: &str| BTreeMap::from([("a".to_owned(), text.to_owned())]);
    let notes = |of_type, text| {
        let rules = FieldRules { values: values(text), ..FieldRules::required() };
        notes_for(field(of_type, rules), ColumnEngine::MySql, "varchar(4)", INSERT).len()
    };
    assert_eq!(notes(FieldType::Text, "open"), 0);
    assert_eq!(notes(FieldType::Text, "closed"), 1);
    let rules = FieldRules { values: values("1"), ..FieldRules::required() };
    assert_eq!(notes_for(field(FieldType::Int64, rules), ColumnEngine::MySql, "int(11)", INSERT), [""; 0]);
}

#[test]
fn a_statement_that_ignores_changes_what_does_not_fit() {
    let sql = "INSERT IGNORE INTO t (c) VALUES (?)";
    let notes =
        notes_for(field(FieldType::Int64, FieldRules::required()), ColumnEngine::MySql, "int(11)", sql);
    assert!(notes[0].contains("stored changed"), "{notes:?}");
}

#[test]
fn sqlite_keeps_decimals_in_columns_of_text() {
    let notes = |of_type, declared| {
        notes_for(field(of_type, FieldRules::required()), ColumnEngine::Sqlite, declared, INSERT)
    };
    assert!(notes(decimal(12, 2), "DECIMAL(12,2)")[0].contains("floating-point"));
    assert!(notes(FieldType::UInt64, "INTEGER")[0].contains("is refused"));
    assert_eq!(notes(decimal(12, 2), "TEXT"), [""; 0]);
    assert_eq!(notes(FieldType::Text, "VARCHAR(3)"), [""; 0]);
    assert_eq!(notes(TIMESTAMP, "TEXT"), [""; 0]);
    assert_eq!(notes(FieldType::Int64, "INTEGER"), [""; 0]);
}
