//! Stores: one statement for many rows of parameters, in as few round trips as give the same outcome.
//!
//! In:        a statement, rows of parameters in order
//! Out:       the effect of running the statement once per row, in order
//! Order:     MariaDB takes many rows in one message; MySQL, and MariaDB where the rows' types differ, or where the statement
//!            looks at more than its row, one by one
//! Fails:     a refused row is named: after a refused message its rows run one by one up to the one that fails.
//!            The transaction is lost by then anyway, so this costs time only, and only then.
//! Not here:  which rows may go together (the caller's waves)

use super::classes::known;
use super::error::classify;
use super::session::MySqlSession;
use crate::database::{DatabaseError, ErrorClass};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, Params, Statement, Value as Wire};
use std::mem::discriminant;
use std::ops::Range;

/// Room in a packet for what is not values, in bytes.
const PACKET_OVERHEAD_BYTES: usize = 1024;

/// The server's code for "not in this protocol".
const UNSUPPORTED_IN_BULK: u16 = 1295;

/// Runs `sql` once per row.
pub(super) async fn run(
    session: &mut MySqlSession,
    label: &str,
    sql: &str,
    mut rows: Vec<Vec<Wire>>,
) -> Result<(), DatabaseError> {
    let server = session.server;
    let room_bytes = server.packet_bytes_max.saturating_sub(PACKET_OVERHEAD_BYTES);
    refuse_too_large(label, &rows, room_bytes)?;
    let conn = session.conn()?;
    let statement = conn.prep(sql).await.map_err(|error| classify(label, error))?;
    if !server.bulk || rows.len() < 2 || statement.num_params() == 0 || !may_go_in_bulk(sql) {
        return one_by_one(conn, label, &statement, rows, 0).await;
    }
    let mut done = 0;
    for part in parts(&rows, room_bytes) {
        let part: Vec<Vec<Wire>> = rows.drain(..part.len()).collect();
        let length = part.len();
        if length == 1 {
            one_by_one(conn, label, &statement, part, done).await?;
        } else {
            in_bulk(conn, label, &statement, is_one_statement(sql), part, done).await?;
        }
        done += length;
    }
    Ok(())
}

fn refuse_too_large(label: &str, rows: &[Vec<Wire>], room_bytes: usize) -> Result<(), DatabaseError> {
    match rows.iter().position(|row| row_bytes(row) > room_bytes) {
        None => Ok(()),
        Some(row) => {
            let sentence = "the row is larger than the server takes (max_allowed_packet)";
            Err(DatabaseError::new(ErrorClass::Reject, format!("{label}: {sentence}")).at_row(row))
        }
    }
}

async fn one_by_one(
    conn: &mut Conn,
    label: &str,
    statement: &Statement,
    rows: Vec<Vec<Wire>>,
    first: usize,
) -> Result<(), DatabaseError> {
    for (index, row) in rows.into_iter().enumerate() {
        let done = conn.exec_drop(statement, Params::Positional(row)).await;
        done.map_err(|error| classify(label, error).at_row(first + index))?;
    }
    Ok(())
}

async fn in_bulk(
    conn: &mut Conn,
    label: &str,
    statement: &Statement,
    all_or_nothing: bool,
    rows: Vec<Vec<Wire>>,
    first: usize,
) -> Result<(), DatabaseError> {
    if !all_or_nothing {
        // Rows before the refused one would stay, and the search below would run them twice.
        conn.query_drop("SAVEPOINT tidegate_bulk").await.map_err(|error| classify(label, error))?;
    }
    let Err(error) = conn.exec_batch(statement, rows.iter().map(|row| Params::Positional(row.clone()))).await
    else {
        return Ok(());
    };
    let unsupported = matches!(&error, Error::Server(server) if server.code == UNSUPPORTED_IN_BULK);
    let refused = matches!(&error, Error::Server(server)
        if known(server.code).is_some_and(|row| row.class == ErrorClass::Reject));
    let refusal = classify(label, error);
    if refusal.broken || !(unsupported || refused) {
        return Err(refusal);
    }
    if !all_or_nothing {
        let back = conn.query_drop("ROLLBACK TO SAVEPOINT tidegate_bulk").await;
        back.map_err(|error| classify(label, error))?;
    }
    one_by_one(conn, label, statement, rows, first).await?;
    if unsupported { Ok(()) } else { Err(refusal) }
}

/// Whether a bulk of rows is the same as row by row. MariaDB calculates a sub-select among VALUES for the first row alone
/// (MDEV-23864), and nobody has looked into what it makes of a state, a clock or a die there.
fn may_go_in_bulk(sql: &str) -> bool {
    const NOT: &[&str] = &[
        "SELECT",
        "LAST_INSERT_ID",
        "ROW_COUNT",
        "FOUND_ROWS",
        "NEXTVAL",
        "NEXT",
        "LASTVAL",
        "SETVAL",
        "PREVIOUS",
        "RAND",
        "UUID",
        "UUID_SHORT",
        "SYS_GUID",
        "SYSDATE",
        "GET_LOCK",
        "RELEASE_LOCK",
        "SLEEP",
    ];
    !sql.contains('@') && !words(sql).any(|word| NOT.iter().any(|not| word.eq_ignore_ascii_case(not)))
}

fn words(sql: &str) -> impl Iterator<Item = &str> {
    sql.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Whether the server runs a bulk of this statement as one statement, which it undoes as a whole where a row is
/// refused. That is so for a plain INSERT or REPLACE of values.
fn is_one_statement(sql: &str) -> bool {
    words(sql)
        .next()
        .is_some_and(|word| word.eq_ignore_ascii_case("INSERT") || word.eq_ignore_ascii_case("REPLACE"))
}

/// Runs of rows that can go in one message: each column keeps one type, and the whole fits a packet.
fn parts(rows: &[Vec<Wire>], room_bytes: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    let mut types: Vec<Option<std::mem::Discriminant<Wire>>> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let row_types: Vec<_> = row.iter().map(|v| (*v != Wire::NULL).then(|| discriminant(v))).collect();
        let fits_types = types.iter().zip(&row_types).all(|(a, b)| a.is_none() || b.is_none() || a == b);
        if index > start && (!fits_types || bytes + row_bytes(row) > room_bytes) {
            parts.push(start..index);
            (start, bytes, types) = (index, 0, Vec::new());
        }
        bytes += row_bytes(row);
        if types.is_empty() {
            types = row_types;
        } else {
            types = types.into_iter().zip(row_types).map(|(a, b)| a.or(b)).collect();
        }
    }
    if start < rows.len() {
        parts.push(start..rows.len());
    }
    parts
}

/// What a row takes in a message, in bytes, rounded up.
fn row_bytes(row: &[Wire]) -> usize {
    const NUMBER_BYTES: usize = 16;
    let value = |value: &Wire| match value {
        Wire::Bytes(bytes) => bytes.len() + NUMBER_BYTES,
        _ => NUMBER_BYTES,
    };
    row.iter().map(value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_keeps_one_type_per_column_and_fits_a_packet() {
        let (int, uint, null) = (Wire::Int(-1), Wire::UInt(1), Wire::NULL);
        let rows =
            vec![vec![null.clone()], vec![int.clone()], vec![null.clone()], vec![uint.clone()], vec![int]];
        assert_eq!(parts(&rows, 1000), vec![0..3, 3..4, 4..5]);
        let long = vec![vec![Wire::Bytes(vec![b'x'; 40])]; 5];
        assert_eq!(parts(&long, 120), vec![0..2, 2..4, 4..5]);
        assert_eq!(parts(&[vec![uint]], 1), vec![0..1]);
        assert!(parts(&[], 1).is_empty());
    }

    #[test]
    fn what_looks_at_more_than_its_row_goes_row_by_row() {
        assert!(may_go_in_bulk(
            "INSERT INTO t (a, selected) VALUES (?, ?) ON DUPLICATE KEY UPDATE a = VALUES(a)"
        ));
        for sql in [
            "INSERT INTO t SELECT ?",
            "INSERT INTO t (a) VALUES ((select max(b) FROM u WHERE c = ?))",
            "UPDATE t SET a = last_insert_id() WHERE b = ?",
            "UPDATE t SET a = (@n := @n + 1) WHERE b = ?",
            "INSERT INTO t VALUES (NEXT VALUE FOR s, ?)",
            "INSERT INTO t VALUES (uuid(), ?)",
        ] {
            assert!(!may_go_in_bulk(sql), "{sql}");
        }
    }

    #[test]
    fn only_a_plain_insert_is_one_statement_in_bulk() {
        assert!(is_one_statement("\n insert INTO t (a) VALUES (?)"));
        assert!(is_one_statement("REPLACE t SET a = ?"));
        assert!(!is_one_statement("UPDATE t SET a = ?"));
        assert!(!is_one_statement("/* x */ UPDATE t SET a = ?"));
    }
}
