//! The schema's facts: what decides which steps may run for many events at once.
//!
//! In:        a session, tables as the statements name them     Out: [`SchemaFacts`]
//! Order:     table by table, each once
//! Fails:     classified, as every question. A table that is not there, or that the account cannot see, is left out
//! Not here:  what follows from them (job::sets)
//!
//! Columns whose collation nobody has looked into count as comparing in an unknown way. Of the collations that are known, no
//! two ASCII texts are equal but by capitals and blanks at their ends: that is not so of Lithuanian (i and y), for one.

use super::ledger::{Dialect, Engine};
use super::{DatabaseError, Row, Session};
use crate::job::{
    ColumnFacts, ColumnKind, ForeignKey, JobSpec, SchemaFacts, SetPlan, TableFacts, TableName, UniqueKey,
};
use crate::model::Value;
use std::borrow::Cow;

/// The questions of one engine, about one table.
struct Questions {
    columns: &'static str,
    unique: &'static str,
    triggers: &'static str,
    links: &'static str,
}

/// Parameters are the table's name, but for one in a COALESCE: the schema, where NULL means the connection's.
const MYSQL: Questions = Questions {
    columns: "SELECT CAST(c.table_name AS CHAR), CAST(LOWER(c.column_name) AS CHAR), CAST(LOWER(c.data_type) AS CHAR), \
        CAST(LOWER(COALESCE(c.collation_name, '')) AS CHAR), c.extra LIKE '%GENERATED%', \
        c.extra LIKE '%auto_increment%' OR COALESCE(c.column_default, '') LIKE '%nextval%', \
        COALESCE(t.table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') AND t.engine = 'InnoDB', 0) \
        FROM information_schema.columns c JOIN information_schema.tables t \
        ON t.table_schema = c.table_schema AND t.table_name = c.table_name \
        WHERE LOWER(c.table_name) = ? AND c.table_schema = COALESCE(?, DATABASE()) ORDER BY c.table_name, c.ordinal_position",
    unique: "SELECT CAST(s.table_name AS CHAR), CAST(s.index_name AS CHAR), \
        CAST(IF(s.sub_part IS NULL, COALESCE(LOWER(s.column_name), ''), '') AS CHAR) FROM information_schema.statistics s \
        WHERE s.non_unique = 0 AND LOWER(s.table_name) = ? AND s.table_schema = COALESCE(?, DATABASE()) \
        ORDER BY s.table_name, s.index_name, s.seq_in_index",
    triggers: "SELECT CAST(g.event_object_table AS CHAR), CAST(g.trigger_name AS CHAR) FROM information_schema.triggers g \
        WHERE LOWER(g.event_object_table) = ? AND g.event_object_schema = COALESCE(?, DATABASE()) ORDER BY g.trigger_name",
    links: "SELECT CAST(CONCAT(k.table_name, '.', k.constraint_name) AS CHAR), \
        CAST(IF(k.table_schema = DATABASE() OR LOWER(k.table_name) = ?, LOWER(k.table_name), \
        CONCAT(k.table_schema, '.', k.table_name)) AS CHAR), CAST(LOWER(k.column_name) AS CHAR), \
        CAST(IF(k.referenced_table_schema = DATABASE() OR LOWER(k.referenced_table_name) = ?, \
        LOWER(k.referenced_table_name), CONCAT(k.referenced_table_schema, '.', k.referenced_table_name)) AS CHAR), \
        CAST(LOWER(k.referenced_column_name) AS CHAR), \
        r.update_rule NOT IN ('RESTRICT', 'NO ACTION') OR r.delete_rule NOT IN ('RESTRICT', 'NO ACTION') \
        FROM information_schema.key_column_usage k JOIN information_schema.referential_constraints r \
        ON r.constraint_schema = k.constraint_schema AND r.constraint_name = k.constraint_name AND r.table_name = k.table_name \
        WHERE k.table_schema = COALESCE(?, DATABASE()) AND k.referenced_table_name IS NOT NULL \
        AND (LOWER(k.table_name) = ? OR LOWER(k.referenced_table_name) = ?) \
        ORDER BY k.table_name, k.constraint_name, k.ordinal_position",
};

/// A collation is in the text of the table or of an index: how the column compares is then not asked any further.
const SQLITE: Questions = Questions {
    columns: "SELECT m.name, lower(c.name), lower(c.type), CASE WHEN EXISTS (SELECT 1 FROM sqlite_master s \
        WHERE s.tbl_name = m.name AND s.sql LIKE '%collate%') THEN 'nocase' ELSE 'binary' END, c.hidden <> 0, \
        upper(c.type) = 'INTEGER' AND c.pk = 1 AND (SELECT count(*) FROM pragma_table_info(m.name) k WHERE k.pk > 0) = 1, \
        m.type = 'table' AND m.sql NOT LIKE 'create virtual%' \
        FROM sqlite_master m JOIN pragma_table_xinfo(m.name) c \
        WHERE m.type IN ('table', 'view') AND m.name = ?1 COLLATE NOCASE ORDER BY c.cid",
    unique: "SELECT m.name, l.name, lower(coalesce(i.name, '')) FROM sqlite_master m JOIN pragma_index_list(m.name) l \
        JOIN pragma_index_info(l.name) i WHERE m.type = 'table' AND m.name = ?1 COLLATE NOCASE AND l.\"unique\" \
        UNION ALL SELECT m.name, 'PRIMARY KEY', lower(c.name) FROM sqlite_master m JOIN pragma_table_info(m.name) c \
        WHERE m.type = 'table' AND m.name = ?1 COLLATE NOCASE AND c.pk > 0 ORDER BY 1, 2",
    triggers: "SELECT tbl_name, name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE ORDER BY name",
    links: "SELECT m.name || '.' || f.id, lower(m.name), lower(f.\"from\"), lower(f.\"table\"), lower(coalesce(f.\"to\", '')), \
        f.on_update NOT IN ('RESTRICT', 'NO ACTION') OR f.on_delete NOT IN ('RESTRICT', 'NO ACTION') \
        FROM sqlite_master m JOIN pragma_foreign_key_list(m.name) f \
        WHERE m.type = 'table' AND (m.name = ?1 COLLATE NOCASE OR f.\"table\" = ?1 COLLATE NOCASE) ORDER BY 1, f.seq",
};

/// So many times links lead further.
const ROUNDS_MAX: usize = 8;

/// The plan of a job's steps by the schema as it is now: first the tables of the statements, then those that their foreign
/// keys lead to.
///
/// # Errors
/// What the database says.
pub async fn set_plan(spec: &JobSpec, session: &mut dyn Session) -> Result<SetPlan, DatabaseError> {
    let mut facts = SchemaFacts::default();
    let mut asked = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let tables = SetPlan::tables(spec, &facts);
        if !spec.database.together || tables == asked {
            break;
        }
        asked = tables;
        facts = session.facts(&asked).await?;
    }
    Ok(SetPlan::of(spec, Some(&facts)))
}

/// Reads them.
pub(super) async fn facts<E: Engine + ?Sized>(
    session: &mut E,
    tables: &[TableName],
) -> Result<SchemaFacts, DatabaseError> {
    let dialect = session.dialect();
    let questions = match dialect {
        Dialect::MySql => MYSQL,
        Dialect::Sqlite => SQLITE,
    };
    let mut facts = SchemaFacts::default();
    for asked in tables {
        let columns = ask(session, questions.columns, asked).await?;
        let mut found: Vec<TableFacts> = Vec::new();
        columns
            .into_iter()
            .filter_map(|row| column(dialect, row))
            .for_each(|column| column.into(&mut found, asked));
        for row in ask(session, questions.unique, asked).await? {
            let Ok([of, key, column]) = <[Value; 3]>::try_from(row).map(|row| row.map(text)) else {
                continue;
            };
            found.iter_mut().for_each(|table| unique(table, &format!("{of}.{key}"), &column));
        }
        for row in ask(session, questions.triggers, asked).await? {
            let Ok([_, name]) = <[Value; 2]>::try_from(row).map(|row| row.map(text)) else { continue };
            found.iter_mut().for_each(|table| table.triggers.push(name.clone()));
        }
        facts.tables.append(&mut found);
        for row in ask(session, questions.links, asked).await? {
            link(&mut facts.links, row);
        }
    }
    Ok(facts)
}

async fn ask<E: Engine + ?Sized>(
    session: &mut E,
    question: &'static str,
    table: &TableName,
) -> Result<Vec<Row>, DatabaseError> {
    let name = || Value::Text(table.name.clone());
    let schema = || table.schema.clone().map_or(Value::Null, Value::Text);
    let parameters = match session.dialect() {
        Dialect::Sqlite => vec![name()],
        // In the order in which they stand in the text.
        Dialect::MySql => {
            let signs = question.match_indices('?').map(|(at, _)| question.get(..at).unwrap_or_default());
            signs.map(|before| if before.ends_with("COALESCE(") { schema() } else { name() }).collect()
        }
    };
    let ours = |error: DatabaseError| {
        // The session calls all questions that are no step's the ledger's.
        let message = error.message.replacen("the ledger", "the schema's facts", 1);
        DatabaseError { message, ..error }
    };
    session.query(Cow::Borrowed(question), parameters).await.map_err(ours)
}

/// A column, and what is said of its table.
struct Found {
    is_plain: bool,
    column: ColumnFacts,
}

impl Found {
    /// Tables whose names differ by capitals are taken for one: that is the safe side.
    fn into(self, tables: &mut Vec<TableFacts>, asked: &TableName) {
        let Found { is_plain, column } = self;
        let fresh = TableFacts {
            name: asked.name.clone(),
            is_plain,
            columns: Vec::new(),
            unique: Vec::new(),
            triggers: Vec::new(),
        };
        if tables.is_empty() {
            tables.push(fresh);
        }
        if let Some(last) = tables.last_mut() {
            last.is_plain &= is_plain;
            last.columns.push(column);
        }
    }
}

fn column(dialect: Dialect, row: Row) -> Option<Found> {
    let [_table, name, declared, collation, calculated, numbers, is_plain] =
        <[Value; 7]>::try_from(row).ok()?;
    let (declared, collation) = (text(declared), text(collation));
    let kind = match dialect {
        _ if truth(&calculated) => ColumnKind::Other,
        Dialect::MySql => mysql_kind(&declared, &collation),
        Dialect::Sqlite => sqlite_kind(&declared, &collation),
    };
    let column = ColumnFacts { name: text(name), kind, numbers: truth(&numbers) };
    Some(Found { is_plain: truth(&is_plain), column })
}

fn mysql_kind(declared: &str, collation: &str) -> ColumnKind {
    match declared {
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" => ColumnKind::Integer,
        "varbinary" => ColumnKind::Exact,
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" => of_collation(collation),
        _ => ColumnKind::Other,
    }
}

fn of_collation(collation: &str) -> ColumnKind {
    const EXACT: &[&str] = &[
        "utf8mb4_bin",
        "utf8mb4_nopad_bin",
        "utf8mb4_0900_bin",
        "utf8mb3_bin",
        "utf8mb3_nopad_bin",
        "utf8_bin",
        "utf8_nopad_bin",
    ];
    const FOLDED: &[&str] = &[
        "general_ci",
        "general_nopad_ci",
        "unicode_ci",
        "unicode_nopad_ci",
        "unicode_520_ci",
        "unicode_520_nopad_ci",
        "0900_ai_ci",
        "0900_as_ci",
        "0900_as_cs",
        "uca1400_ai_ci",
        "uca1400_ai_cs",
        "uca1400_as_ci",
        "uca1400_as_cs",
        "uca1400_nopad_ai_ci",
        "uca1400_nopad_ai_cs",
        "uca1400_nopad_as_ci",
        "uca1400_nopad_as_cs",
    ];
    const OTHERS: &[&str] = &[
        "ascii_bin",
        "ascii_general_ci",
        "latin1_bin",
        "latin1_general_ci",
        "latin1_general_cs",
        "latin1_swedish_ci",
        "latin1_swedish_nopad_ci",
    ];
    if EXACT.contains(&collation) {
        return ColumnKind::Exact;
    }
    let of_unicode = ["utf8mb4_", "utf8mb3_", "utf8_"].iter().find_map(|set| collation.strip_prefix(set));
    if of_unicode.is_some_and(|name| FOLDED.contains(&name))
        || (collation.starts_with("uca1400_") && FOLDED.contains(&collation))
        || OTHERS.contains(&collation)
    {
        return ColumnKind::Folded;
    }
    ColumnKind::Other
}

/// By SQLite's rules of affinity; of the type of a strict table ANY, too, which changes nothing.
fn sqlite_kind(declared: &str, collation: &str) -> ColumnKind {
    let texts = if collation == "binary" { ColumnKind::Exact } else { ColumnKind::Folded };
    let has = |part: &str| declared.contains(part);
    if has("int") {
        ColumnKind::Integer
    } else if has("char") || has("clob") || has("text") || has("blob") || declared.is_empty() {
        texts
    } else {
        ColumnKind::Other
    }
}

fn unique(table: &mut TableFacts, key: &str, column: &str) {
    match table.unique.iter_mut().find(|known| known.name == key) {
        Some(known) => known.columns.push(column.to_owned()),
        None => table.unique.push(UniqueKey { name: key.to_owned(), columns: vec![column.to_owned()] }),
    }
}

fn link(links: &mut Vec<ForeignKey>, row: Row) {
    let Ok([name, child, from, parent, to, cascades]) = <[Value; 6]>::try_from(row) else { return };
    let (name, pair) = (text(name), (text(from), text(to)));
    let at = links.iter().position(|known| known.name == name);
    let known = match at.and_then(|at| links.get_mut(at)) {
        Some(known) => known,
        None => {
            links.push(ForeignKey {
                name,
                child: text(child),
                parent: text(parent),
                columns: Vec::new(),
                cascades: truth(&cascades),
            });
            let Some(last) = links.last_mut() else { return };
            last
        }
    };
    // Where it does not say which columns it points to, none are known.
    if !pair.1.is_empty() && !known.columns.contains(&pair) {
        known.columns.push(pair);
    }
}

fn text(value: Value) -> String {
    match value {
        Value::Text(text) => text,
        Value::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        _ => String::new(),
    }
}

fn truth(value: &Value) -> bool {
    matches!(value, Value::Int(1) | Value::UInt(1) | Value::Bool(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_collations_that_were_looked_into_are_used() {
        for exact in ["utf8mb4_bin", "utf8mb3_bin", "utf8mb4_nopad_bin", "utf8mb4_0900_bin"] {
            assert_eq!(mysql_kind("varchar", exact), ColumnKind::Exact, "{exact}");
        }
        for folded in [
            "utf8mb4_general_ci",
            "utf8mb4_uca1400_ai_ci",
            "uca1400_ai_ci",
            "latin1_swedish_ci",
            "utf8mb4_0900_ai_ci",
        ] {
            assert_eq!(mysql_kind("varchar", folded), ColumnKind::Folded, "{folded}");
        }
        for other in ["utf8mb4_lithuanian_ci", "utf8mb4_hu_0900_ai_ci", "utf8mb4_roman_ci", "ucs2_bin", ""] {
            assert_eq!(mysql_kind("varchar", other), ColumnKind::Other, "{other}");
        }
        assert_eq!(mysql_kind("bigint", ""), ColumnKind::Integer);
        for other in ["decimal", "double", "enum", "json", "timestamp", "uuid", "binary", "bit"] {
            assert_eq!(mysql_kind(other, "utf8mb4_bin"), ColumnKind::Other, "{other}");
        }
    }

    #[test]
    fn sqlite_goes_by_affinity() {
        assert_eq!(sqlite_kind("varchar(20)", "binary"), ColumnKind::Exact);
        assert_eq!(sqlite_kind("text", "nocase"), ColumnKind::Folded);
        assert_eq!(sqlite_kind("bigint", "binary"), ColumnKind::Integer);
        assert_eq!(sqlite_kind("", "binary"), ColumnKind::Exact);
        for other in ["real", "numeric", "decimal(10,2)", "date", "boolean", "any"] {
            assert_eq!(sqlite_kind(other, "binary"), ColumnKind::Other, "{other}");
        }
    }
}
