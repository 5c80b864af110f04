//! Columns: which table of a database an event or a list belongs to, and which column each field.
//!
//! In:        a planned table, its fields, the tables that there are     Out: the plan with the real names and types
//! Order:     the table that most fields fit, then per field the column of its name
//! Fails:     never: what fits nothing stays as it was planned, or is named
//! Not here:  how the tables were read (`database`)
//!
//! Names are compared without case and underscores. A column counts only where the samples' texts fit its type.

use super::draft::FieldDraft;
use super::guess::Guess;
use super::tables::{ColumnPlan, TablePlan};
use crate::database::{Table, TableColumn};
use std::collections::HashSet;

/// A table that so few fields fit is another one.
const FITTING_MIN: usize = 2;
/// Of the table's columns, in percent.
const FITTING_PERCENT: usize = 40;

/// Lets the plan be the table that it fits best, if there is one. A table is taken once.
pub(super) fn fit(
    plan: &mut TablePlan,
    fields: &mut [FieldDraft],
    there: &[Table],
    taken: &mut HashSet<String>,
) {
    let score = |table: &&Table| {
        let own = plain(&plan.name) == plain(&table.name);
        (own, matches(plan, fields, table).len())
    };
    let free = there.iter().filter(|table| !taken.contains(&table.name));
    let Some(best) = free.max_by_key(score) else { return };
    let found = matches(plan, fields, best);
    let own_name = plain(&plan.name) == plain(&best.name);
    let enough = found.len() >= FITTING_MIN && found.len() * 100 >= best.columns.len() * FITTING_PERCENT;
    let meant = own_name && !found.is_empty();
    if !(enough || meant) {
        return;
    }
    taken.insert(best.name.clone());
    take(plan, fields, best, &found);
}

/// Per planned column the place of the table's column.
fn matches(plan: &TablePlan, fields: &[FieldDraft], table: &Table) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (index, column) in plan.columns.iter().enumerate() {
        let field = field_of(column, plan, fields);
        let names = candidates(column, field, plan);
        let at = names.iter().find_map(|name| {
            let is_it = |(place, real): &(usize, &TableColumn)| {
                plain(&real.name) == *name && !found.iter().any(|(_, taken)| taken == place)
            };
            table.columns.iter().enumerate().find(is_it)
        });
        let Some((place, real)) = at else { continue };
        if field.is_none_or(|field| fits(field, &real.declared).is_ok()) {
            found.push((index, place));
        }
    }
    found
}

/// The field that a column takes: of a list's table, a field of its rows.
fn field_of<'f>(column: &ColumnPlan, plan: &TablePlan, fields: &'f [FieldDraft]) -> Option<&'f FieldDraft> {
    let name = match &plan.rows_of {
        None => column.parameter.as_str(),
        Some((list, _)) => column.parameter.strip_prefix(list.as_str())?.strip_prefix('.')?,
    };
    fields.iter().find(|field| field.name == name)
}

/// Names that a column of this plan may have, the likeliest first.
fn candidates(column: &ColumnPlan, field: Option<&FieldDraft>, plan: &TablePlan) -> Vec<String> {
    let mut names = vec![plain(&column.name)];
    if let Some(field) = field {
        names.push(plain(&field.local));
        names.push(plain(&format!("{}{}", plan.name, field.local)));
    }
    if let (Some((_, event)), true) = (&plan.rows_of, column.of_event) {
        names.push(plain(&format!("{event}{}", column.name)));
    }
    if column.parameter.ends_with("._index") {
        names.extend(
            ["lineno", "linenumber", "line", "position", "pos", "seq", "rowno", "no"].map(str::to_owned),
        );
    }
    names
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn take(plan: &mut TablePlan, fields: &mut [FieldDraft], table: &Table, found: &[(usize, usize)]) {
    plan.name.clone_from(&table.name);
    plan.is_there = true;
    let planned = std::mem::take(&mut plan.columns);
    for (index, column) in planned.into_iter().enumerate() {
        let real =
            found.iter().find(|(planned, _)| *planned == index).and_then(|(_, at)| table.columns.get(*at));
        let Some(real) = real else {
            plan.without_column.push(column.parameter);
            continue;
        };
        let name = field_of(&column, plan, fields).map(|field| field.name.clone());
        let field = fields.iter_mut().find(|own| Some(&own.name) == name.as_ref());
        if let Some(field) = field
            && let Ok(Some((guess, text))) = fits(field, &real.declared)
        {
            (field.guess, field.type_text) = (guess, text);
        }
        let field = fields.iter_mut().find(|own| Some(&own.name) == name.as_ref());
        if let Some(field) = field.filter(|field| field.optional && !real.nullable) {
            field.note = Some(format!("not in every sample, and the column {} takes no NULL", real.name));
        }
        plan.columns.push(ColumnPlan {
            name: real.name.clone(),
            sql_type: real.declared.clone(),
            not_null: !real.nullable,
            is_key: real.in_key,
            ..column
        });
    }
    // A part of the key that nothing fills makes the rest of it no key.
    let whole = table
        .columns
        .iter()
        .filter(|column| column.in_key)
        .all(|column| plan.columns.iter().any(|planned| planned.name == column.name));
    if !whole {
        plan.columns.iter_mut().for_each(|column| column.is_key = false);
    }
    let filled: HashSet<&str> = plan.columns.iter().map(|column| column.name.as_str()).collect();
    plan.without_field = table
        .columns
        .iter()
        .filter(|column| !column.nullable && !column.has_default && !filled.contains(column.name.as_str()))
        .map(|column| column.name.clone())
        .collect();
}

/// Whether the field's texts fit a column; and what its type becomes, where the column says more than the guess.
fn fits(field: &FieldDraft, declared: &str) -> Result<Option<(Guess, String)>, ()> {
    let declared = declared.to_ascii_lowercase();
    let base: String = declared.chars().take_while(char::is_ascii_alphabetic).collect();
    let numbers: Vec<usize> =
        declared.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect();
    match base.as_str() {
        "char" | "varchar" | "character" | "nvarchar" | "nchar" => match numbers.first() {
            Some(chars) if field.longest_chars > *chars => Err(()),
            Some(chars) if field.guess == Guess::Text => Ok(Some((Guess::Text, format!("text({chars})")))),
            _ => Ok(None),
        },
        "decimal" | "numeric" => {
            decimal(field, numbers.first().copied().unwrap_or(10), numbers.get(1).copied().unwrap_or(0))
        }
        "int" | "integer" | "bigint" | "smallint" | "mediumint" | "tinyint" => whole(field, &base),
        "bool" | "boolean" if field.guess == Guess::Bool => Ok(None),
        "date" => (matches!(field.guess, Guess::Date | Guess::CompactDate)).then_some(None).ok_or(()),
        "datetime" | "timestamp" => matches!(field.guess, Guess::Timestamp { .. }).then_some(None).ok_or(()),
        "time" => matches!(field.guess, Guess::Time { .. }).then_some(None).ok_or(()),
        "double" | "float" | "real" => number(field).then_some(None).ok_or(()),
        // Texts and what SQLite does not care about take everything; bytes are not guessed.
        "blob" | "binary" | "varbinary" | "longblob" | "bit" | "year" | "enum" | "set" => Err(()),
        _ => Ok(None),
    }
}

fn number(field: &FieldDraft) -> bool {
    matches!(field.guess, Guess::Int64 | Guess::Decimal { .. })
}

/// A decimal takes the column's shape where all texts of the samples have room in it.
fn decimal(field: &FieldDraft, precision: usize, scale: usize) -> Result<Option<(Guess, String)>, ()> {
    const PRECISION_MAX: usize = 65;
    const SCALE_MAX: usize = 38;
    if !number(field) || precision == 0 || precision > PRECISION_MAX || scale > precision.min(SCALE_MAX) {
        return Err(());
    }
    let has_room = |text: &String| {
        let text = text.trim().trim_start_matches('-');
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let whole = whole.trim_start_matches('0').len();
        whole <= precision - scale && fraction.trim_end_matches('0').len() <= scale
    };
    if !field.texts.iter().all(has_room) {
        return Err(());
    }
    let guess = Guess::Decimal { precision, scale };
    let text = guess.as_type();
    Ok(Some((guess, text)))
}

/// An identifier of digits alone is a number where the column is one.
fn whole(field: &FieldDraft, base: &str) -> Result<Option<(Guess, String)>, ()> {
    if field.guess == Guess::Bool || field.guess == Guess::Int64 {
        return Ok(None);
    }
    let plain = |text: &String| {
        let text = text.trim();
        let canonical = text == "0" || (!text.is_empty() && !text.starts_with('0'));
        canonical && text.bytes().all(|b| b.is_ascii_digit()) && text.parse::<i64>().is_ok()
    };
    let is_number = base != "tinyint"
        && field.guess == Guess::Text
        && !field.texts.is_empty()
        && field.texts.iter().all(plain);
    if is_number && !field.empty { Ok(Some((Guess::Int64, Guess::Int64.as_type()))) } else { Err(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(name: &str, guess: Guess, texts: &[&str]) -> FieldDraft {
        FieldDraft {
            name: name.to_owned(),
            local: name.to_owned(),
            path: name.to_owned(),
            type_text: guess.as_type(),
            guess,
            optional: false,
            empty: false,
            longest_chars: texts.iter().map(|text| text.chars().count()).max().unwrap_or(0),
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
            note: None,
        }
    }

    fn as_text(field: &FieldDraft, declared: &str) -> String {
        match fits(field, declared) {
            Ok(Some((_, text))) => text,
            Ok(None) => "as guessed".to_owned(),
            Err(()) => "no".to_owned(),
        }
    }

    #[test]
    fn a_column_says_more_than_a_guess_where_the_samples_fit() {
        let money = field("amt", Guess::Decimal { precision: 18, scale: 5 }, &["12.50", "-100"]);
        assert_eq!(as_text(&money, "decimal(12,2)"), "decimal(12,2)");
        assert_eq!(as_text(&money, "DECIMAL(4,2)"), "no");
        assert_eq!(as_text(&money, "decimal(4,1)"), "decimal(4,1)");
        assert_eq!(as_text(&money, "int(11)"), "no");
        assert_eq!(as_text(&money, "double"), "as guessed");
        let text = field("name", Guess::Text, &["Grün", "Blau"]);
        assert_eq!(as_text(&text, "varchar(4)"), "text(4)");
        assert_eq!(as_text(&text, "varchar(3)"), "no");
        assert_eq!(as_text(&text, "text"), "as guessed");
        assert_eq!(as_text(&text, "int"), "no");
        let id = field("id", Guess::Text, &["4711"]);
        assert_eq!(as_text(&id, "bigint unsigned"), "int64");
        assert_eq!(as_text(&field("id", Guess::Text, &["0471"]), "bigint"), "no");
        assert_eq!(as_text(&field("d", Guess::Date, &["2024-01-01"]), "datetime"), "no");
    }
}
