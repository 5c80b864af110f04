//! What a field may hold against the column that it is stored in, so that `check` can say what would be refused or changed.
//!
//! In:        the job's events and statements; the columns of the tables, as the database declares them
//! Out:       one sentence per field and column that do not fit
//! Order:     in the order of the steps
//! Fails:     as the database does; a statement that hides where a value goes is passed over, and says nothing
//! Not here:  whether the statements are right at all (`Session::check_statements`)

mod column;

mod target;

use super::{DatabaseError, Session};
use crate::job::{EventSpec, Field, FieldType, JobSpec, Step, ValueRef};
use column::Holds;
pub(super) use column::columns;
use target::{Target, target};

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type as the database writes it, such as `decimal(10,2) unsigned`.
    pub declared: String,
    /// How to understand it.
    pub engine: ColumnEngine,
}

/// Whose types a column's are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnEngine {
    /// In strict mode, as every session is.
    MySql,
    /// Declared types are hints.
    Sqlite,
}

/// Asks for the columns of every table that the job's statements store into, and compares.
///
/// # Errors
/// As the database's.
pub async fn range_notes(spec: &JobSpec, session: &mut dyn Session) -> Result<Vec<String>, DatabaseError> {
    let mut notes = Vec::new();
    for (step, number) in spec.database.steps.iter().zip(1_usize..) {
        let Step::Store(store) = step else { continue };
        let Some(target) = target(&store.statement.sql) else { continue };
        let columns = session.columns(target.schema.as_deref(), &target.table).await?;
        let parameters = &store.statement.parameters;
        notes.extend(notes_of(&spec.event, number, &target, parameters, &columns));
    }
    Ok(notes)
}

/// What one statement's fields and columns have against each other, each once.
fn notes_of(
    event: &EventSpec,
    step: usize,
    target: &Target,
    parameters: &[ValueRef],
    columns: &[Column],
) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for (parameter, name) in &target.places {
        let field = parameters.get(*parameter).and_then(|of| field_of(event, of));
        let column = columns.iter().find(|column| column.name.eq_ignore_ascii_case(name));
        let (Some((shown, field)), Some(column)) = (field, column) else { continue };
        let Some(misfit) = misfit(field, &column.holds(), target.ignores) else { continue };
        let note = format!(
            "step {step}: the field `{shown}` is {}, the column {}.{} is {}: {misfit}",
            written(field),
            target.table,
            column.name,
            column.declared
        );
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes
}

/// A field, as a statement calls it.
fn field_of<'a>(event: &'a EventSpec, of: &ValueRef) -> Option<(String, &'a Field)> {
    match of {
        ValueRef::Field(index) => event.fields.get(*index).map(|field| (field.name.clone(), field)),
        ValueRef::Row { list, field } => {
            let list = event.lists.get(*list)?;
            list.fields.get(*field).map(|field| (format!("{}.{}", list.name, field.name), field))
        }
        ValueRef::Lookup { .. } | ValueRef::RowIndex { .. } | ValueRef::Meta(_) => None,
    }
}

/// The field's type as the job file has it.
fn written(field: &Field) -> String {
    match (&field.of_type, chars_max(field)) {
        (FieldType::Text, Some(chars_max)) => format!("text of up to {chars_max} characters"),
        (FieldType::Text, None) => "text of any length".to_owned(),
        (FieldType::Int64, _) => "int64".to_owned(),
        (FieldType::UInt64, _) => "uint64".to_owned(),
        (FieldType::Decimal { precision, scale }, _) => format!("decimal({precision},{scale})"),
        (FieldType::Float64, _) => "float64".to_owned(),
        (FieldType::Time, _) => "a time to the microsecond".to_owned(),
        (FieldType::Timestamp { .. }, _) => "a timestamp to the microsecond".to_owned(),
        (FieldType::Duration(_), _) => "a duration in an int64".to_owned(),
        (FieldType::Bool | FieldType::Date | FieldType::Base64 | FieldType::Hex, _) => "a value".to_owned(),
        (FieldType::Json, _) => "json of any length".to_owned(),
        (FieldType::Xml, _) => "xml of any length".to_owned(),
    }
}

/// Characters at the most; `None`: any number.
fn chars_max(field: &Field) -> Option<usize> {
    let rules = &field.rules;
    if rules.values.is_empty() {
        return rules.chars_max;
    }
    rules.values.values().chain(&rules.default).map(|text| text.chars().count()).max()
}

/// What becomes of values that the column does not hold; `None`: it holds all of them, or nobody can tell.
fn misfit(field: &Field, holds: &Holds, ignores: bool) -> Option<String> {
    // What an enumeration gives is written in the job file: there is nothing to be afraid of but its length.
    let enumerated = !field.rules.values.is_empty();
    let refused = if ignores { "is stored changed, since the statement says IGNORE" } else { "is refused" };
    match (&field.of_type, holds) {
        (FieldType::Text | FieldType::Json | FieldType::Xml, Holds::Chars(most)) => {
            let longest = chars_max(field).and_then(|chars| u64::try_from(chars).ok());
            longest.is_none_or(|longest| longest > *most).then(|| format!("a longer text {refused}"))
        }
        _ if enumerated => None,
        (FieldType::Int64 | FieldType::Duration(_), Holds::Whole { least, most }) => {
            outside(i128::from(i64::MIN), i128::from(i64::MAX), *least, *most, refused)
        }
        (FieldType::UInt64, Holds::Whole { least, most }) => {
            outside(0, i128::from(u64::MAX), *least, *most, refused)
        }
        (FieldType::Decimal { precision, scale }, Holds::Decimal { precision: of_column, scale: behind }) => {
            let in_front = precision.saturating_sub(*scale);
            digits(in_front, *scale, of_column.saturating_sub(*behind), *behind, refused)
        }
        (FieldType::Decimal { scale, .. }, Holds::Whole { .. }) if *scale > 0 => {
            Some("the database rounds what is behind the point".to_owned())
        }
        (FieldType::Decimal { .. }, Holds::Real) => Some(
            "it is kept as a floating-point number, with some 15 digits and without its last zeros"
                .to_owned(),
        ),
        (FieldType::Decimal { .. } | FieldType::Float64, Holds::Float) => {
            Some("some 7 digits are kept".to_owned())
        }
        (FieldType::Decimal { precision, .. }, Holds::Double) if *precision > 15 => {
            Some("some 15 digits are kept".to_owned())
        }
        (FieldType::Timestamp { .. } | FieldType::Time, Holds::Clock { digits }) if *digits < 6 => {
            Some(format!("the database rounds a second's fraction to {digits} digits"))
        }
        (FieldType::Timestamp { .. }, Holds::Day) => Some("the time of day is dropped".to_owned()),
        _ => None,
    }
}

fn outside(from: i128, to: i128, least: i128, most: i128, refused: &str) -> Option<String> {
    (from < least || to > most).then(|| format!("a number outside of {least} to {most} {refused}"))
}

fn digits(in_front: u8, behind: u8, column_in_front: u8, column_behind: u8, refused: &str) -> Option<String> {
    let front = (in_front > column_in_front)
        .then(|| format!("a number of more than {column_in_front} digits in front of the point {refused}"));
    let rounded = (behind > column_behind)
        .then(|| format!("the database rounds to {column_behind} digits behind the point"));
    let both: Vec<String> = front.into_iter().chain(rounded).collect();
    (!both.is_empty()).then(|| both.join(", and "))
}

#[cfg(test)]
mod tests;
