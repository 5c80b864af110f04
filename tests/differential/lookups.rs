//! Lookups: SELECTs by seed, from the plain one by the key to those that see whole tables.
//!
//! In:        a draft     Out: the statement, and its columns
//! Not here:  what does not say which row it gives: a look-up's answer must depend on what the tables hold alone

use super::chance::Chance;
use super::params::{Draft, Of};
use super::schema::{Dialect, Kind, Table};

/// A SELECT and what its columns hold.
pub type Select = (String, Vec<(&'static str, Of)>);

/// How often each shape comes, in jobs of either kind.
const WILD: [u64; 12] = [40, 12, 8, 6, 5, 6, 4, 5, 4, 4, 4, 6];
const KEYED: [u64; 12] = [85, 1, 2, 1, 1, 3, 1, 1, 8, 1, 1, 1];
const OWN: [u64; 12] = [80, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0];

pub fn select(draft: &mut Draft<'_>) -> Select {
    let table = draft.table();
    let plain = vec![("n", Of::Int), ("v", Of::Text), ("d", Of::Decimal), ("u", Of::Text)];
    let name = draft.named(&table);
    let key = draft.key();
    let lock = lock(draft);
    match draft.shape(&WILD, &KEYED, &OWN) {
        0 => (by_key(draft, &table, &name, &key, lock), plain),
        1 => by_second(draft, &name, lock),
        2 => sum(draft, &name, &key),
        3 => {
            let columns = vec![("id", Of::Key), ("v", Of::Text), ("n", Of::Int)];
            let order = order(&table);
            let way = draft.random.one(&["", " DESC"]);
            let sql = format!("SELECT id, v, n FROM {name} WHERE id >= {key} ORDER BY {order}{way} LIMIT 1");
            (sql + lock, columns)
        }
        4 => join(draft, &table, &name, &key),
        5 => match &table.view {
            Some(view) => (format!("SELECT n, v, d, u FROM {view} WHERE id = {key}"), plain),
            None => (by_key(draft, &table, &name, &key, lock), plain),
        },
        6 => {
            let other = draft.other(&table);
            let sql = format!("SELECT n, (SELECT COUNT(*) FROM {other}) AS c FROM {name} WHERE id = {key}");
            (one_row(&table, sql), vec![("n", Of::Int), ("c", Of::Int)])
        }
        7 => (one_row(&table, format!("SELECT n, v, d, u FROM {name} WHERE id = LOWER({key})")), plain),
        8 => {
            let int = draft.int();
            let sql = format!("SELECT n, v, d, u FROM {name} WHERE id = {key} AND n > {int}");
            (one_row(&table, sql), plain)
        }
        9 => {
            let second = draft.key();
            let order = order(&table);
            let sql = format!(
                "SELECT n, v, d, u FROM {name} WHERE id IN ({key}, {second}) ORDER BY {order} LIMIT 1"
            );
            (sql, plain)
        }
        10 => {
            let second = draft.second();
            (
                format!(
                    "SELECT n, v, d, u FROM {name} WHERE id = {key} OR u = {second} ORDER BY {} LIMIT 1",
                    order(&table)
                ),
                plain,
            )
        }
        _ => numbers(draft, &table, &name, &key),
    }
}

/// The plain one, as people write it.
fn by_key(draft: &mut Draft<'_>, table: &Table, name: &str, key: &str, lock: &str) -> String {
    let sql = match draft.random.below(6) {
        0 => format!("SELECT x.n, x.v, x.d AS d, x.u FROM {name} x WHERE x.id = {key}"),
        1 => format!("SELECT n, v, d, u FROM {name} WHERE {key} = id"),
        2 => format!("SELECT n, v, d, u FROM {name} WHERE (id = {key}) AND 1 = 1"),
        _ => format!("SELECT n, v, d, u FROM {name} WHERE id = {key}"),
    };
    one_row(table, sql) + lock
}

fn by_second(draft: &mut Draft<'_>, name: &str, lock: &str) -> Select {
    let by = draft.second();
    let (sql, columns) = match draft.random.below(3) {
        // Several rows are a reject, which must come of the same events.
        0 if draft.taste.rough => (
            format!("SELECT id, n, v FROM {name} WHERE u = {by}"),
            vec![("id", Of::Key), ("n", Of::Int), ("v", Of::Text)],
        ),
        1 => (
            format!("SELECT SUM(n) AS n, MAX(v) AS v FROM {name} WHERE v = {by}"),
            vec![("n", Of::Int), ("v", Of::Text)],
        ),
        _ => (
            format!("SELECT SUM(n) AS n, MAX(v) AS v FROM {name} WHERE u = {by}"),
            vec![("n", Of::Int), ("v", Of::Text)],
        ),
    };
    (sql + lock, columns)
}

fn sum(draft: &mut Draft<'_>, name: &str, key: &str) -> Select {
    let columns = vec![("c", Of::Int), ("m", Of::Int)];
    let narrow = match draft.random.below(4) {
        0 => String::new(),
        1 => format!(" WHERE p = {key}"),
        2 => " WHERE v = :s".to_owned(),
        _ => format!(" WHERE id = {key}"),
    };
    let narrow = if draft.tombstone { String::new() } else { narrow };
    (format!("SELECT COUNT(*) AS c, MAX(n) AS m FROM {name}{narrow}"), columns)
}

fn join(draft: &mut Draft<'_>, table: &Table, name: &str, key: &str) -> Select {
    let other = draft.other(table);
    let columns = vec![("n", Of::Int), ("c", Of::Int)];
    let sql = format!(
        "SELECT MAX(a.n) AS n, COUNT(b.n) AS c FROM {name} a LEFT JOIN {other} b ON b.n = a.n WHERE a.id = {key}"
    );
    (sql, columns)
}

/// The engine's own numbers, where they do not depend on what was taken back.
fn numbers(draft: &mut Draft<'_>, table: &Table, name: &str, key: &str) -> Select {
    if draft.dialect() == Dialect::Sqlite && table.kind.is_numbered() {
        return (format!("SELECT MAX(seq) AS m FROM {name} WHERE id = {key}"), vec![("m", Of::Int)]);
    }
    (format!("SELECT COALESCE(SUM(n), 0) AS c FROM {name}"), vec![("c", Of::Int)])
}

/// Of a table that has a key as often as it likes, the last one.
fn one_row(table: &Table, sql: String) -> String {
    match table.kind {
        Kind::Log => format!("{sql} ORDER BY seq DESC LIMIT 1"),
        Kind::Lines => format!("{sql} ORDER BY id, n LIMIT 1"),
        Kind::Keyed | Kind::Numbered => sql,
    }
}

/// What no two of its rows share.
fn order(table: &Table) -> &'static str {
    match table.kind {
        Kind::Log => "seq",
        Kind::Lines => "n, id",
        Kind::Keyed | Kind::Numbered => "id",
    }
}

fn lock(draft: &mut Draft<'_>) -> &'static str {
    if draft.dialect() == Dialect::MariaDb && draft.random.percent(12) { " FOR UPDATE" } else { "" }
}
