//! Tables: where the draft's fields are stored, and the statements that do it.
//!
//! In:        the draft, and the tables of a database where one was asked     Out: per event and list its table and its columns
//! Order:     the event's table, then those of the lists, in their order
//! Fails:     never: what no column is found for is named in a comment
//! Not here:  how the job file is laid out (`write`), which columns fit (`columns`)

use super::columns;
use super::draft::{Draft, FieldDraft};
use super::guess::Guess;
use super::names::sql_name;
use crate::database::Table;
use std::collections::HashSet;

/// What statements are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    MySql,
    Sqlite,
}

/// Characters of a column for texts that are short; MySQL takes so many in a key, and 64 such columns in a row.
const SHORT_CHARS: usize = 190;
/// Texts of the samples up to this length are short.
const SHORT_SEEN: usize = 100;
/// Longest name of a table.
const NAME_CHARS_MAX: usize = 64;

/// One table.
#[derive(Debug)]
pub(super) struct TablePlan {
    /// Its name, without quotation marks.
    pub(super) name: String,
    /// Of a list: its name, and that of the event's table.
    pub(super) rows_of: Option<(String, String)>,
    /// It is there already.
    pub(super) is_there: bool,
    /// What is stored.
    pub(super) columns: Vec<ColumnPlan>,
    /// Fields for which the table has no column: names and why.
    pub(super) without_column: Vec<String>,
    /// Columns that must have a value and get none.
    pub(super) without_field: Vec<String>,
}

/// One column.
#[derive(Clone, Debug)]
pub(super) struct ColumnPlan {
    /// Its name, without quotation marks.
    pub(super) name: String,
    /// What is bound, without its colon.
    pub(super) parameter: String,
    /// As `CREATE TABLE` has it.
    pub(super) sql_type: String,
    pub(super) not_null: bool,
    /// Part of the primary key.
    pub(super) is_key: bool,
    /// Part of the event's key, which in the table of a list says whose row it is.
    pub(super) of_event: bool,
}

impl Dialect {
    fn quote(self) -> char {
        match self {
            Dialect::MySql => '`',
            Dialect::Sqlite => '"',
        }
    }

    pub(super) fn name(self, name: &str) -> String {
        sql_name(name, self.quote())
    }

    fn sql_type(self, field: &FieldDraft, is_key: bool) -> String {
        let short = is_key || field.longest_chars <= SHORT_SEEN;
        match (self, &field.guess) {
            (Dialect::Sqlite, Guess::Int64 | Guess::Bool) => "INTEGER".to_owned(),
            // SQLite has no exact decimals, no days and no times: their texts are exact.
            (Dialect::Sqlite, _) => "TEXT".to_owned(),
            (Dialect::MySql, Guess::Text) if short => format!("VARCHAR({SHORT_CHARS})"),
            (Dialect::MySql, Guess::Text) => "TEXT".to_owned(),
            (Dialect::MySql, Guess::Xml) => "LONGTEXT".to_owned(),
            (Dialect::MySql, Guess::Int64) => "BIGINT".to_owned(),
            (Dialect::MySql, Guess::Decimal { precision, scale }) => format!("DECIMAL({precision},{scale})"),
            (Dialect::MySql, Guess::Bool) => "BOOLEAN".to_owned(),
            (Dialect::MySql, Guess::Date | Guess::CompactDate) => "DATE".to_owned(),
            (Dialect::MySql, Guess::Time { .. }) => "TIME(6)".to_owned(),
            (Dialect::MySql, Guess::Timestamp { .. }) => "DATETIME(6)".to_owned(),
        }
    }

    fn short_text(self) -> String {
        match self {
            Dialect::MySql => format!("VARCHAR({SHORT_CHARS})"),
            Dialect::Sqlite => "TEXT".to_owned(),
        }
    }

    fn whole_number(self) -> String {
        match self {
            Dialect::MySql => "INT".to_owned(),
            Dialect::Sqlite => "INTEGER".to_owned(),
        }
    }
}

/// Plans the tables. Where there are tables already, fields take over what their columns say of their types.
pub(super) fn plan(draft: &mut Draft, dialect: Dialect, there: &[Table]) -> Vec<TablePlan> {
    let mut plans = vec![event_table(draft, dialect)];
    let mut names = HashSet::from([draft.table.clone()]);
    for index in 0..draft.lists.len() {
        let plan = list_table(draft, index, dialect, &mut names);
        plans.push(plan);
    }
    let mut taken = HashSet::new();
    for (index, plan) in plans.iter_mut().enumerate() {
        let fields = match index.checked_sub(1) {
            None => Some(&mut draft.fields),
            Some(list) => draft.lists.get_mut(list).map(|list| &mut list.fields),
        };
        if let Some(fields) = fields {
            columns::fit(plan, fields, there, &mut taken);
        }
    }
    plans
}

fn event_table(draft: &Draft, dialect: Dialect) -> TablePlan {
    let mut columns = Vec::new();
    if draft.key.fields.is_empty() {
        columns.push(ColumnPlan {
            name: "record_key".to_owned(),
            parameter: "_key".to_owned(),
            sql_type: dialect.short_text(),
            not_null: true,
            is_key: true,
            of_event: true,
        });
    }
    columns.extend(draft.fields.iter().enumerate().map(|(index, field)| {
        let is_key = draft.key.fields.contains(&index);
        ColumnPlan {
            name: field.name.clone(),
            parameter: field.name.clone(),
            sql_type: dialect.sql_type(field, is_key),
            not_null: !field.optional,
            is_key,
            of_event: is_key,
        }
    }));
    TablePlan::new(draft.table.clone(), None, columns)
}

fn list_table(draft: &Draft, index: usize, dialect: Dialect, names: &mut HashSet<String>) -> TablePlan {
    let whole = event_table(draft, dialect);
    let own = draft.lists.get(index);
    let rows = own.map_or("", |list| &list.name);
    let fields = own.map_or(&[][..], |list| &list.fields);
    let mut taken: HashSet<String> = fields.iter().map(|field| field.name.clone()).collect();
    let mut columns: Vec<ColumnPlan> = Vec::new();
    for column in whole.columns.into_iter().filter(|column| column.of_event) {
        let name = free(&column.name, &draft.table, &mut taken);
        columns.push(ColumnPlan { name, ..column });
    }
    for list in ancestors(draft, index).into_iter().filter_map(|list| draft.lists.get(list)) {
        columns.push(ColumnPlan {
            name: free(&format!("{}_no", list.name), &draft.table, &mut taken),
            parameter: format!("{}._index", list.name),
            sql_type: dialect.whole_number(),
            not_null: true,
            is_key: true,
            of_event: false,
        });
    }
    columns.extend(fields.iter().map(|field| ColumnPlan {
        name: field.name.clone(),
        parameter: format!("{rows}.{}", field.name),
        sql_type: dialect.sql_type(field, false),
        not_null: !field.optional,
        is_key: false,
        of_event: false,
    }));
    let wished: String = format!("{}_{rows}", draft.table).chars().take(NAME_CHARS_MAX - 4).collect();
    let name = free(&wished, "t", names);
    TablePlan::new(name, Some((rows.to_owned(), draft.table.clone())), columns)
}

/// The list and those that it is in, from the outside in.
pub(super) fn ancestors(draft: &Draft, list: usize) -> Vec<usize> {
    let mut way = vec![list];
    let mut at = list;
    while let Some(parent) = draft.lists.get(at).and_then(|list| list.parent) {
        way.push(parent);
        at = parent;
    }
    way.reverse();
    way
}

/// The name, or one like it that is not taken; it is taken then.
fn free(name: &str, before: &str, taken: &mut HashSet<String>) -> String {
    let clipped = |name: String| name.chars().take(NAME_CHARS_MAX - 4).collect::<String>();
    let longer = clipped(format!("{before}_{name}"));
    let numbered = (2_u32..).map(|number| format!("{longer}_{number}"));
    let mut candidates = [clipped(name.to_owned()), longer.clone()].into_iter().chain(numbered);
    let found = candidates.find(|candidate| !taken.contains(candidate)).unwrap_or_else(|| name.to_owned());
    taken.insert(found.clone());
    found
}

impl TablePlan {
    fn new(name: String, rows_of: Option<(String, String)>, columns: Vec<ColumnPlan>) -> TablePlan {
        let (without_column, without_field) = (Vec::new(), Vec::new());
        TablePlan { name, rows_of, is_there: false, columns, without_column, without_field }
    }

    /// Whether anything can be stored in it.
    pub(super) fn is_usable(&self) -> bool {
        self.columns.iter().any(|column| !column.of_event) || !self.is_there && !self.columns.is_empty()
    }

    /// Whether it says whose its rows are.
    pub(super) fn has_event(&self) -> bool {
        self.columns.iter().any(|column| column.of_event)
    }

    /// The columns are of a row that takes the place of an earlier one.
    fn has_key(&self) -> bool {
        self.columns.iter().any(|column| column.is_key)
    }

    /// `INSERT`, which replaces the row of the same key.
    pub(super) fn upsert(&self, dialect: Dialect) -> String {
        let insert = self.insert(dialect);
        if !self.has_key() {
            return insert;
        }
        let name = |column: &ColumnPlan| dialect.name(&column.name);
        let others: Vec<String> = self.columns.iter().filter(|column| !column.is_key).map(name).collect();
        let keys: Vec<String> = self.columns.iter().filter(|column| column.is_key).map(name).collect();
        let (mut head, sets) = match dialect {
            Dialect::MySql => {
                // MySQL knows no "do nothing": a key that becomes itself is nothing.
                let set = if others.is_empty() { keys.iter().take(1).cloned().collect() } else { others };
                let sets = set.iter().map(|column| format!("{column} = VALUES({column})")).collect();
                ("ON DUPLICATE KEY UPDATE".to_owned(), sets)
            }
            Dialect::Sqlite if others.is_empty() => {
                (format!("ON CONFLICT ({}) DO NOTHING", keys.join(", ")), Vec::new())
            }
            Dialect::Sqlite => {
                let sets: Vec<String> =
                    others.iter().map(|column| format!("{column} = excluded.{column}")).collect();
                (format!("ON CONFLICT ({}) DO UPDATE SET", keys.join(", ")), sets)
            }
        };
        if !sets.is_empty() {
            head.push_str("\n    ");
            head.push_str(&wrapped(&sets, 4));
        }
        format!("{insert}\n{head}")
    }

    /// `INSERT`
    pub(super) fn insert(&self, dialect: Dialect) -> String {
        let names: Vec<String> = self.columns.iter().map(|column| dialect.name(&column.name)).collect();
        let values: Vec<String> =
            self.columns.iter().map(|column| format!(":{}", column.parameter)).collect();
        format!(
            "INSERT INTO {} (\n    {})\nVALUES (\n    {})",
            dialect.name(&self.name),
            wrapped(&names, 4),
            wrapped(&values, 4)
        )
    }

    /// `DELETE` of the event's rows.
    pub(super) fn delete(&self, dialect: Dialect) -> String {
        let of_event = self.columns.iter().filter(|column| column.of_event);
        let terms: Vec<String> = of_event
            .map(|column| format!("{} = :{}", dialect.name(&column.name), column.parameter))
            .collect();
        format!("DELETE FROM {} WHERE {}", dialect.name(&self.name), terms.join(" AND "))
    }

    /// `CREATE TABLE`
    pub(super) fn create(&self, dialect: Dialect) -> String {
        let names: Vec<String> = self.columns.iter().map(|column| dialect.name(&column.name)).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let mut lines: Vec<String> = self
            .columns
            .iter()
            .zip(&names)
            .map(|(column, name)| {
                let null = if column.not_null || column.is_key { " NOT NULL" } else { "" };
                format!("    {name:<width$} {}{null}", column.sql_type)
            })
            .collect();
        let keys: Vec<String> = self
            .columns
            .iter()
            .filter(|column| column.is_key)
            .map(|column| dialect.name(&column.name))
            .collect();
        if !keys.is_empty() {
            lines.push(format!("    PRIMARY KEY ({})", keys.join(", ")));
        }
        let end = match dialect {
            Dialect::MySql => " ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
            Dialect::Sqlite => " STRICT",
        };
        format!("CREATE TABLE IF NOT EXISTS {} (\n{}\n){end};", dialect.name(&self.name), lines.join(",\n"))
    }
}

/// Joined by commas, in lines that a screen shows whole.
fn wrapped(parts: &[String], indent: usize) -> String {
    const WIDTH: usize = 112;
    let mut out = String::new();
    let mut column = indent;
    for (index, part) in parts.iter().enumerate() {
        let comma = if index + 1 < parts.len() { "," } else { "" };
        let chars = part.chars().count() + comma.len();
        if column > indent && column + 1 + chars > WIDTH {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if column > indent {
            out.push(' ');
            column += 1;
        }
        out.push_str(part);
        out.push_str(comma);
        column += chars;
    }
    out
}
