//! Statements of both dialects, and what is read of them.

use super::*;
use crate::job::Meta;

/// The n-th `?` is field n.
fn of(sql: &str, dialect: Dialect) -> Result<Vec<String>, String> {
    let parameters = (0..sql.matches('?').count()).map(ValueRef::Field).collect();
    let list = read(&Text { sql: sql.to_owned(), parameters }, dialect)?;
    Ok(list.iter().map(shown).collect())
}

fn shown(access: &Access) -> String {
    let how = match &access.how {
        How::Read => "reads".to_owned(),
        How::Write(Write { inserts, deletes, assigned }) => {
            let mut words = Vec::new();
            words.extend(inserts.then_some("inserts".to_owned()));
            words.extend(deletes.then_some("deletes".to_owned()));
            words.extend(
                (!assigned.is_empty())
                    .then(|| format!("sets {}", assigned.iter().cloned().collect::<Vec<_>>().join("+"))),
            );
            words.join(" ")
        }
    };
    let bound = access.bound.iter().map(|(column, of)| match of {
        ValueRef::Field(index) => format!(" {column}=?{index}"),
        other => format!(" {column}={other:?}"),
    });
    format!("{how} {}{}", access.table, bound.collect::<String>())
}

fn mysql(sql: &str) -> Vec<String> {
    of(sql, Dialect::MySql).unwrap_or_else(|why| panic!("{sql}: {why}"))
}

fn sqlite(sql: &str) -> Vec<String> {
    of(sql, Dialect::Sqlite).unwrap_or_else(|why| panic!("{sql}: {why}"))
}

#[test]
fn lookups() {
    assert_eq!(mysql("SELECT name, tier FROM Customer WHERE ID = ?"), ["reads customer id=?0"]);
    assert_eq!(mysql("SELECT a FROM `t` x WHERE (? = x.id AND b > ?) AND c = ? OR d = ?"), ["reads t"]);
    assert_eq!(mysql("SELECT a FROM t x WHERE (? = x.id AND b > ?) AND c = ?"), ["reads t c=?2 id=?0"]);
    assert_eq!(mysql("SELECT MAX(a) FROM shop.t WHERE id IN (?, ?)"), ["reads shop.t"]);
    assert_eq!(
        mysql("SELECT c.a FROM t c JOIN u ON u.c = c.id WHERE c.id = ? AND u.x = ? AND free = ?"),
        ["reads t id=?0", "reads u x=?1"]
    );
    assert_eq!(
        mysql("SELECT a FROM t WHERE id = ? AND b = (SELECT MAX(b) FROM t WHERE id = ?)"),
        ["reads t id=?0", "reads t"]
    );
    assert_eq!(
        mysql("SELECT a FROM t WHERE id = ? UNION ALL SELECT a FROM u WHERE id = ?"),
        ["reads t", "reads u"]
    );
    assert_eq!(mysql("SELECT q.a FROM (SELECT a FROM t WHERE id = ?) q LIMIT 1"), ["reads t"]);
    assert_eq!(mysql("SELECT ? + 1 AS n FROM dual"), Vec::<String>::new());
    assert_eq!(
        sqlite("SELECT iif(a > 1, 'x', 'y') AS a FROM t WHERE id = ? ORDER BY b LIMIT 1"),
        ["reads t id=?0"]
    );
    assert_eq!(mysql("SELECT a FROM t WHERE a COLLATE utf8mb4_bin = ? AND LOWER(b) = ?"), ["reads t"]);
}

#[test]
fn stores() {
    assert_eq!(mysql("INSERT INTO t (id, Total) VALUES (?, ? * 2)"), ["inserts t id=?0"]);
    assert_eq!(mysql("INSERT INTO t SET id = ?, total = ?"), ["inserts t id=?0 total=?1"]);
    assert_eq!(mysql("INSERT INTO t VALUES (?, ?)"), ["inserts t"]);
    assert_eq!(mysql("INSERT IGNORE INTO t (id) VALUES (?)"), ["inserts t"]);
    assert_eq!(sqlite("INSERT OR IGNORE INTO t (id) VALUES (?)"), ["inserts t id=?0"]);
    assert_eq!(mysql("REPLACE INTO t (id, a) VALUES (?, ?)"), ["inserts deletes t a=?1 id=?0"]);
    assert_eq!(sqlite("INSERT OR REPLACE INTO t (id) VALUES (?)"), ["inserts deletes t id=?0"]);
    assert_eq!(
        mysql(
            "INSERT INTO t (id, n, m) VALUES (?, ?, ?) ON DUPLICATE KEY UPDATE n = n + VALUES(n), m = VALUES(m)"
        ),
        ["inserts sets m+n t id=?0 m=?2"]
    );
    assert_eq!(
        sqlite(
            "INSERT INTO t (id, n) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET n = excluded.n WHERE n < excluded.n"
        ),
        ["inserts sets n t id=?0 n=?1"]
    );
    assert_eq!(sqlite("INSERT INTO t (id) VALUES (?) ON CONFLICT DO NOTHING"), ["inserts t id=?0"]);
    assert_eq!(mysql("INSERT INTO t (id, a) VALUES (?, 1), (?, 2)"), ["inserts t"]);
    assert_eq!(mysql("UPDATE t SET a = a + ? WHERE id = ? AND b = ?"), ["sets a t b=?2 id=?1"]);
    assert_eq!(mysql("UPDATE t SET id = ? WHERE id = ?"), ["sets id t"]);
    assert_eq!(mysql("UPDATE t x SET x.a = ? WHERE x.id = ?"), ["sets a t id=?1"]);
    assert_eq!(mysql("DELETE FROM t WHERE id = ? AND a < 3"), ["deletes t id=?0"]);
    assert_eq!(mysql("DELETE FROM t"), ["deletes t"]);
    assert_eq!(sqlite("UPDATE \"T\" SET a = strftime('%s', ?) WHERE [id] = ?"), ["sets a t id=?1"]);
}

/// What is not understood, and why.
#[test]
fn whatever_may_do_more_is_refused() {
    let cases: &[(&str, &str)] = &[
        ("SELECT a FROM t WHERE id = ? FOR UPDATE", "locks"),
        ("SELECT a FROM t WHERE id = ? LOCK IN SHARE MODE", ""),
        ("SELECT a FROM t WHERE id = ? FOR SHARE", "locks"),
        ("SELECT LAST_INSERT_ID() AS a FROM t", "what ran before"),
        ("SELECT ROW_COUNT() AS a", "what ran before"),
        ("SELECT SQL_CALC_FOUND_ROWS a FROM t", "state"),
        ("SELECT FOUND_ROWS() AS a", "what ran before"),
        ("SELECT GET_LOCK(?, 1) AS a", "what ran before"),
        ("SELECT NEXTVAL(s) AS a", "what ran before"),
        ("SELECT NEXT VALUE FOR s AS a", ""),
        ("SELECT @a AS a FROM t", "variable"),
        ("SELECT @@identity AS a", "variable"),
        ("SELECT a FROM t WHERE (@n := @n + 1) > ?", "variable"),
        ("SELECT a FROM t ORDER BY RAND() LIMIT 1", "another value each time"),
        ("SELECT UUID() AS a", "another value each time"),
        ("SELECT a FROM t WHERE b < NOW()", ":_now"),
        ("SELECT a FROM t WHERE b < CURRENT_TIMESTAMP", ":_now"),
        ("SELECT a FROM t WHERE b < UTC_TIMESTAMP", ":_now"),
        ("SELECT a FROM t WHERE b < utc_date", ":_now"),
        ("SELECT UNIX_TIMESTAMP() AS a FROM t", ":_now"),
        ("SELECT CURRENT_USER AS a FROM t", ""),
        ("SELECT my_function(?) AS a FROM t", "`my_function`"),
        ("SELECT shop.f(?) AS a FROM t", "function of the schema"),
        ("SELECT a FROM information_schema.tables WHERE b = ?", "own tables"),
        ("SELECT a FROM tidegate_position WHERE b = ?", "own tables"),
        ("SELECT ROW_NUMBER() OVER (ORDER BY a) AS a FROM t", "not looked into"),
        ("WITH q AS (SELECT a FROM t) SELECT a FROM q", "not looked into"),
        ("SELECT a FROM t WHERE MATCH (a) AGAINST (?)", "not looked into"),
        ("SELECT a FROM JSON_TABLE(?, '$' COLUMNS (a INT PATH '$.a')) j", ""),
        ("INSERT INTO t (id, at) VALUES (?, NOW())", ":_now"),
        ("INSERT INTO t (id, n) VALUES (?, (SELECT MAX(n) FROM t))", "sub-select"),
        ("INSERT INTO t (id) SELECT id FROM u WHERE a = ?", "sub-select"),
        ("INSERT INTO t (id) VALUES (?) RETURNING id", "not looked into"),
        ("INSERT DELAYED INTO t (id) VALUES (?)", ""),
        ("UPDATE t SET a = LAST_INSERT_ID(a + 1) WHERE id = ?", "what ran before"),
        ("UPDATE t SET a = ? WHERE b = ? LIMIT 1", "LIMIT"),
        ("UPDATE t SET a = ? ORDER BY b", ""),
        ("UPDATE t JOIN u ON u.id = t.id SET t.a = u.a WHERE t.id = ?", "several tables"),
        ("UPDATE t SET a = (SELECT b FROM u WHERE u.id = t.id) WHERE id = ?", "sub-select"),
        ("DELETE FROM t WHERE id = ? LIMIT 1", "LIMIT"),
        ("DELETE t FROM t JOIN u ON u.id = t.id WHERE u.a = ?", "not looked into"),
        ("DELETE FROM t WHERE id IN (SELECT id FROM u WHERE a = ?)", "sub-select"),
        ("CALL p(?)", "neither"),
        ("this is no SQL ?", "not understood"),
    ];
    refused(cases, Dialect::MySql);
}

fn refused(cases: &[(&str, &str)], dialect: Dialect) {
    for (sql, part) in cases {
        match of(sql, dialect) {
            Ok(read) => panic!("{sql}: {read:?}"),
            Err(why) => assert!(why.contains(part), "{sql}: {why}"),
        }
    }
}

#[test]
fn whatever_may_do_more_in_sqlite_is_refused() {
    let cases: &[(&str, &str)] = &[
        ("SELECT rowid AS a FROM t WHERE id = ?", "row's number"),
        ("SELECT t._rowid_ AS a FROM t WHERE id = ?", "row's number"),
        ("SELECT datetime('now') AS a FROM t", ":_now"),
        ("SELECT datetime(\"now\", '+1 day') AS a FROM t", ":_now"),
        ("SELECT date() AS a FROM t", ":_now"),
        ("SELECT strftime('%s') AS a FROM t", ":_now"),
        ("SELECT current_timestamp AS a FROM t", ":_now"),
        ("SELECT random() AS a FROM t", "another value each time"),
        ("SELECT last_insert_rowid() AS a", "what ran before"),
        ("SELECT changes() AS a", "what ran before"),
        ("SELECT name FROM sqlite_master WHERE name = ?", "own tables"),
        ("SELECT name FROM pragma_table_info(?)", ""),
        ("SELECT left(a, 1) AS a FROM t", "`left`"),
        ("INSERT OR ROLLBACK INTO t (id) VALUES (?)", "conflict"),
        ("UPDATE OR IGNORE t SET a = ? WHERE id = ?", "not looked into"),
    ];
    refused(cases, Dialect::Sqlite);
    for sql in [
        "SELECT iif(a, 1, 2) AS a FROM t",
        "SELECT julianday(a) AS a FROM t",
        "SELECT printf('%d', a) AS a FROM t",
    ] {
        assert!(of(sql, Dialect::MySql).is_err(), "{sql}");
        assert!(of(sql, Dialect::Sqlite).is_ok(), "{sql}");
    }
}

#[test]
fn each_parameter_is_what_is_bound_to_it() {
    let key = ValueRef::Meta(Meta::Key);
    let text = Text {
        sql: "SELECT '?' AS q, a FROM t WHERE b = ? /* ? */ AND id = ?".to_owned(),
        parameters: vec![ValueRef::Field(4), key.clone()],
    };
    let list = read(&text, Dialect::MySql).unwrap();
    assert_eq!(list[0].bound, [("b".to_owned(), ValueRef::Field(4)), ("id".to_owned(), key)].into());
}
