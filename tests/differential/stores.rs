//! Stores: INSERTs, REPLACEs, UPDATEs and DELETEs by seed.
//!
//! In:        a draft     Out: the statement
//! Not here:  what an engine may do either way: several rows of which it does not matter which one goes first

use super::chance::Chance;
use super::params::Draft;
use super::schema::{Dialect, Kind, Table};

/// How often each shape comes, in jobs of each kind: first those that can always run, then those that may be refused.
const CALM: [u64; 13] = [6, 40, 12, 8, 14, 6, 6, 4, 4, 4, 4, 0, 0];
const ROUGH: [u64; 13] = [20, 30, 10, 8, 14, 6, 6, 4, 4, 4, 4, 4, 4];
const CALM_KEYED: [u64; 13] = [12, 45, 5, 10, 25, 1, 10, 1, 1, 1, 10, 0, 0];
const ROUGH_KEYED: [u64; 13] = [22, 35, 5, 10, 25, 1, 10, 1, 1, 1, 10, 1, 1];
const OWN: [u64; 13] = [5, 45, 10, 10, 20, 0, 0, 0, 0, 0, 10, 0, 0];

/// A store; `true`: it has an ordinary INSERT's number behind it.
pub fn store(draft: &mut Draft<'_>) -> (String, bool) {
    let table = draft.table();
    let name = draft.named(&table);
    let key = draft.key_that_is();
    let int = draft.int();
    let (wild, keyed) = if draft.taste.rough { (&ROUGH, &ROUGH_KEYED) } else { (&CALM, &CALM_KEYED) };
    let sql = match draft.shape(wild, keyed, &OWN) {
        0 if table.kind == Kind::Log || draft.taste.rough => {
            let sql = insert(draft, "INSERT", &name, &key);
            return (sql, table.kind == Kind::Log);
        }
        0 | 1 => upsert(draft, &table, &name, &key),
        2 => ignore(draft, &name, &key),
        3 => insert(draft, "REPLACE", &name, &key),
        4 => update_by_key(draft, &table, &name, &key, &int),
        5 => update_by_other(draft, &table, &name, &int),
        6 => match draft.random.below(4) {
            0 => format!("DELETE FROM {name} WHERE n > {int}"),
            1 => format!("DELETE FROM {name} WHERE u = {}", draft.second()),
            _ => format!("DELETE FROM {name} WHERE id = {key}"),
        },
        7 => insert_select(draft, &table, &name, &key),
        8 => counted(draft, &table, &name, &key),
        9 => update_from_other(draft, &table, &name, &key),
        10 => format!("UPDATE {name} SET d = COALESCE(d, 0) + 1.25, v = {} WHERE id = {key}", draft.text()),
        11 => format!("UPDATE {name} SET id = {} WHERE id = {key}", draft.key_that_is()),
        // One row: two by two they would double with every event.
        _ => format!("INSERT INTO {name} (id, n) SELECT MIN(id), MAX(n) + 1 FROM {name} WHERE id = {key}"),
    };
    (sql, false)
}

/// A row that refers to the number of the row before it.
pub fn last_number(draft: &mut Draft<'_>) -> String {
    let table = draft.table();
    let function = match draft.dialect() {
        Dialect::MariaDb => "LAST_INSERT_ID()",
        Dialect::Sqlite => "last_insert_rowid()",
    };
    let (name, key) = (draft.named(&table), draft.key_that_is());
    if draft.random.percent(50) {
        return format!("UPDATE {name} SET r = {function} WHERE id = {key}");
    }
    let verb = ignoring(draft.dialect());
    format!("{verb} INTO {name} (id, n, r) VALUES ({key}, 0, {function})")
}

fn ignoring(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::MariaDb => "INSERT IGNORE",
        Dialect::Sqlite => "INSERT OR IGNORE",
    }
}

fn insert(draft: &mut Draft<'_>, verb: &str, name: &str, key: &str) -> String {
    let (int, text, decimal) = (draft.int(), draft.text(), draft.decimal());
    match draft.random.below(4) {
        0 => format!("{verb} INTO {name} (id, n, v) VALUES ({key}, {int}, {text})"),
        1 => {
            let (second, parent) = (draft.second(), draft.key());
            format!(
                "{verb} INTO {name} (id, n, v, d, u, p) VALUES ({key}, {int}, {text}, {decimal}, {second}, {parent})"
            )
        }
        2 => {
            let parent = draft.key();
            format!("{verb} INTO {name} (p, v, id, n) VALUES ({parent}, {text}, {key}, {int})")
        }
        _ => format!("{verb} INTO {name} (id, n, v, d) VALUES ({key}, {int}, {text}, {decimal})"),
    }
}

fn ignore(draft: &mut Draft<'_>, name: &str, key: &str) -> String {
    let verb = ignoring(draft.dialect());
    insert(draft, verb, name, key)
}

fn upsert(draft: &mut Draft<'_>, table: &Table, name: &str, key: &str) -> String {
    let sqlite = draft.dialect() == Dialect::Sqlite;
    if table.kind == Kind::Log && (sqlite || !table.u_is_unique) {
        return insert(draft, "INSERT", name, key);
    }
    if !draft.taste.rough && table.u_is_unique {
        // The second key would refuse.
        let (int, text) = (draft.int(), draft.text());
        let sets = sets(draft, table, name);
        let behind = conflict(draft, table, &sets);
        return format!("INSERT INTO {name} (id, n, v) VALUES ({key}, {int}, {text}){behind}");
    }
    let insert = insert(draft, "INSERT", name, key);
    let sets = sets(draft, table, name);
    format!("{insert}{}", conflict(draft, table, &sets))
}

fn conflict(draft: &mut Draft<'_>, table: &Table, sets: &str) -> String {
    let columns = if table.kind == Kind::Lines { "id, n" } else { "id" };
    match draft.dialect() {
        Dialect::Sqlite => format!(" ON CONFLICT ({columns}) DO UPDATE SET {sets}"),
        Dialect::MariaDb => format!(" ON DUPLICATE KEY UPDATE {sets}"),
    }
}

/// What an upsert does to the row that is there.
fn sets(draft: &mut Draft<'_>, of: &Table, name: &str) -> String {
    let sqlite = draft.dialect() == Dialect::Sqlite;
    let new = |column: &str| if sqlite { format!("excluded.{column}") } else { format!("VALUES({column})") };
    let old = |column: &str| {
        let table = name.rsplit('.').next().unwrap_or(name);
        if sqlite { format!("{table}.{column}") } else { column.to_owned() }
    };
    if of.kind == Kind::Lines {
        return match draft.random.below(2) {
            0 => format!("v = {}", new("v")),
            _ => format!("d = COALESCE({}, 0) + 1.5, v = {}", old("d"), draft.text()),
        };
    }
    match draft.random.below(6) {
        0 => format!("n = {} + 1", old("n")),
        1 => format!("n = {} + {}, v = {}", old("n"), new("n"), new("v")),
        2 => {
            let (greatest, n) = (if sqlite { "MAX" } else { "GREATEST" }, old("n"));
            let newer = format!("CASE WHEN {} >= {n} THEN {} ELSE {} END", new("n"), new("v"), old("v"));
            format!("v = {newer}, n = {greatest}({n}, {})", new("n"))
        }
        3 => format!("v = {}", draft.text()),
        4 => format!("v = {}, n = {}", new("v"), draft.int()),
        _ => format!("n = {}, v = {}", new("n"), new("v")),
    }
}

fn update_by_key(draft: &mut Draft<'_>, table: &Table, name: &str, key: &str, int: &str) -> String {
    // The lines' n is a part of their key.
    if table.kind == Kind::Lines {
        return format!("UPDATE {name} SET v = {}, d = {} WHERE id = {key}", draft.text(), draft.decimal());
    }
    match draft.random.below(4) {
        0 => format!("UPDATE {name} SET n = n + 1 WHERE id = {key}"),
        1 => format!("UPDATE {name} SET v = {}, n = n + {int} WHERE id = {key}", draft.text()),
        2 => format!("UPDATE {name} SET v = {} WHERE id = {key} AND n < {int}", draft.text()),
        _ => format!("UPDATE {name} SET n = {int}, d = {} WHERE id = {key}", draft.decimal()),
    }
}

fn update_by_other(draft: &mut Draft<'_>, table: &Table, name: &str, int: &str) -> String {
    let shape = if table.kind == Kind::Lines { 1 } else { draft.random.below(4) };
    match shape {
        0 => format!("UPDATE {name} SET n = n + {int} WHERE p = {}", draft.key()),
        1 => format!("UPDATE {name} SET v = {} WHERE v = 'x'", draft.text()),
        2 => format!("UPDATE {name} SET n = n + 1 WHERE n < {int}"),
        _ => format!("UPDATE {name} SET n = n + {int} WHERE u = {}", draft.second()),
    }
}

fn insert_select(draft: &mut Draft<'_>, table: &Table, name: &str, key: &str) -> String {
    let other = draft.other(table);
    let int = draft.int();
    match draft.random.below(2) {
        0 => {
            let verb = ignoring(draft.dialect());
            format!("{verb} INTO {name} (id, n) SELECT {key}, COUNT(*) FROM {other}")
        }
        _ => {
            let verb = ignoring(draft.dialect());
            format!("{verb} INTO {name} (id, n, v) SELECT {key}, {int}, MAX(v) FROM {other} WHERE id = {key}")
        }
    }
}

/// An upsert whose number is what another table counts.
fn counted(draft: &mut Draft<'_>, table: &Table, name: &str, key: &str) -> String {
    let other = draft.other(table);
    let verb = if draft.random.percent(50) { "REPLACE" } else { ignoring(draft.dialect()) };
    format!("{verb} INTO {name} (id, n) VALUES ({key}, (SELECT COUNT(*) FROM {other}))")
}

fn update_from_other(draft: &mut Draft<'_>, table: &Table, name: &str, key: &str) -> String {
    let other = draft.other(table);
    format!("UPDATE {name} SET n = (SELECT COALESCE(MAX(n), 0) + 1 FROM {other}) WHERE id = {key}")
}
