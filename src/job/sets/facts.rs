//! Facts: what the schema says of the job's tables that their SQL does not.
//!
//! In:        what a session has read (database)     Out: questions about tables, columns, keys and links
//! Holds:     names in small letters: whether capitals count depends on the server, and to take two tables for one is the safe side
//! Not here:  how they are read (database), what follows from them (sets)

use std::fmt;

/// A table as a statement names it, in small letters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TableName {
    /// Where the statement says it.
    pub schema: Option<String>,
    /// Its name.
    pub name: String,
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.schema {
            Some(schema) => write!(f, "{schema}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// What is known of a schema.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SchemaFacts {
    /// The tables that were asked for and are there.
    pub tables: Vec<TableFacts>,
    /// The foreign keys from and to them.
    pub links: Vec<ForeignKey>,
}

/// What is known of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableFacts {
    /// In small letters.
    pub name: String,
    /// A table of rows with transactions: no view, not virtual, not of an engine that cannot roll back.
    pub is_plain: bool,
    /// Its columns.
    pub columns: Vec<ColumnFacts>,
    /// Its primary key and its further unique keys.
    pub unique: Vec<UniqueKey>,
    /// The names of its triggers.
    pub triggers: Vec<String>,
}

/// What is known of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnFacts {
    /// In small letters.
    pub name: String,
    /// How it compares.
    pub kind: ColumnKind,
    /// The engine gives it a number where none is given, in the order of the rows.
    pub numbers: bool,
}

/// How values of a column compare with a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColumnKind {
    /// Texts that are equal but for blanks at their ends, at the most.
    Exact,
    /// Of ASCII texts those are equal that differ by capitals and blanks at their ends, at the most.
    Folded,
    /// Whole numbers.
    Integer,
    /// In a way that nobody has looked into; or it is calculated.
    Other,
}

/// A unique key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UniqueKey {
    /// Its name.
    pub name: String,
    /// Its columns in small letters; a part of a column, and what is calculated, is left empty.
    pub columns: Vec<String>,
}

/// A foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignKey {
    /// Its name.
    pub name: String,
    /// The table that has it, in small letters.
    pub child: String,
    /// The table that it points to.
    pub parent: String,
    /// Columns of the child and the ones that they point to; empty where that is not known.
    pub columns: Vec<(String, String)>,
    /// A row that goes, or changes its key, takes or changes the rows that point to it.
    pub cascades: bool,
}

impl SchemaFacts {
    /// The tables of this name, in whichever schema.
    pub(super) fn tables_of(&self, name: &str) -> impl Iterator<Item = &TableFacts> {
        self.tables.iter().filter(move |table| table.name == name)
    }

    /// How a column compares, in the coarsest of the tables of this name; none: one of them does not have it.
    pub(super) fn kind(&self, table: &str, column: &str) -> Option<(ColumnKind, bool)> {
        let of = |table: &TableFacts| {
            let columns = table.columns.iter().filter(|found| found.name == column);
            columns.map(|found| (found.kind, found.numbers)).reduce(coarser)
        };
        self.tables_of(table).map(of).reduce(|a, b| Some(coarser(a?, b?))).flatten()
    }

    /// Whether the engine numbers rows of this table by a column that is not among these.
    pub(super) fn numbers_beside(&self, table: &str, columns: &[String]) -> bool {
        self.tables_of(table)
            .flat_map(|table| &table.columns)
            .any(|c| c.numbers && !columns.contains(&c.name))
    }

    /// Its unique keys.
    pub(super) fn unique(&self, table: &str) -> impl Iterator<Item = &UniqueKey> {
        self.tables_of(table).flat_map(|table| &table.unique)
    }
}

fn coarser(a: (ColumnKind, bool), b: (ColumnKind, bool)) -> (ColumnKind, bool) {
    let kind = match (a.0, b.0) {
        (ColumnKind::Integer, other) | (other, ColumnKind::Integer) if other != ColumnKind::Integer => {
            ColumnKind::Other
        }
        (one, other) => one.max(other),
    };
    (kind, a.1 || b.1)
}
