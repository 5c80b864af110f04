//! The user's own tables: for whoever writes a first job file.
//!
//! In:        a session     Out: the tables of its schema with their columns, by name
//! Order:     tables by name, columns as they were declared
//! Fails:     classified, as every question
//! Not here:  the ledger's own tables are left out

use super::ledger::{Dialect, Engine};
use super::{DatabaseError, Row};
use crate::model::Value;
use std::borrow::Cow;

/// One table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// As the server writes it.
    pub name: String,
    /// In their order.
    pub columns: Vec<TableColumn>,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumn {
    /// As the server writes it.
    pub name: String,
    /// Its type as it was declared, such as `decimal(12,2)`.
    pub declared: String,
    /// It takes NULL.
    pub nullable: bool,
    /// It has a value where none is given: a default, the next number, an expression.
    pub has_default: bool,
    /// Part of the primary key.
    pub in_key: bool,
}

/// Types are text whatever the server's own tables declare.
const MYSQL: &str = "SELECT CAST(c.table_name AS CHAR), CAST(c.column_name AS CHAR), CAST(c.column_type AS CHAR), \
     c.is_nullable = 'YES', COALESCE(c.column_default, 'NULL') <> 'NULL' OR c.extra LIKE '%auto_increment%' OR c.extra LIKE '%GENERATED', \
     c.column_key = 'PRI' \
     FROM information_schema.columns c JOIN information_schema.tables t \
     ON t.table_schema = c.table_schema AND t.table_name = c.table_name \
     WHERE c.table_schema = DATABASE() AND t.table_type = 'BASE TABLE' ORDER BY c.table_name, c.ordinal_position";

/// A number that is the whole key is given by SQLite itself.
const SQLITE: &str = "SELECT m.name, c.name, c.type, c.\"notnull\" = 0 AND c.pk = 0, c.dflt_value IS NOT NULL OR \
     (upper(c.type) = 'INTEGER' AND c.pk = 1 AND (SELECT count(*) FROM pragma_table_info(m.name) k WHERE k.pk > 0) = 1), c.pk > 0 \
     FROM sqlite_master m JOIN pragma_table_info(m.name) c \
     WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY m.name, c.cid";

/// Reads them.
pub(super) async fn tables<E: Engine + ?Sized>(session: &mut E) -> Result<Vec<Table>, DatabaseError> {
    let text = match session.dialect() {
        Dialect::MySql => MYSQL,
        Dialect::Sqlite => SQLITE,
    };
    let ours = |error: DatabaseError| {
        // The session calls all questions that are no step's the ledger's.
        let message = error.message.replacen("the ledger", "the schema's tables", 1);
        DatabaseError { message, ..error }
    };
    let rows = session.query(Cow::Borrowed(text), Vec::new()).await.map_err(ours)?;
    let mut tables: Vec<Table> = Vec::new();
    for row in rows {
        let Some((name, column)) = column(row) else { continue };
        if name.starts_with("tidegate_") {
            continue;
        }
        match tables.last_mut().filter(|table| table.name == name) {
            Some(table) => table.columns.push(column),
            None => tables.push(Table { name, columns: vec![column] }),
        }
    }
    Ok(tables)
}

fn column(row: Row) -> Option<(String, TableColumn)> {
    let [table, name, declared, nullable, has_default, in_key] = <[Value; 6]>::try_from(row).ok()?;
    let column = TableColumn {
        name: text(name)?,
        declared: text(declared)?,
        nullable: truth(&nullable),
        has_default: truth(&has_default),
        in_key: truth(&in_key),
    };
    Some((text(table)?, column))
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::Text(text) => Some(text),
        Value::Bytes(bytes) => String::from_utf8(bytes.to_vec()).ok(),
        _ => None,
    }
}

fn truth(value: &Value) -> bool {
    matches!(value, Value::Int(1) | Value::UInt(1) | Value::Bool(true))
}
