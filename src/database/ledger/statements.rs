//! The texts of the ledger's statements. Every text is made for a number of groups that is a power of two, so
//! that a session's cache of prepared statements stays small; parameters of the last group fill what is over.
//!
//! In:        how many groups     Out: a text with one `?` per parameter
//! Not here:  the parameters (`run.rs`)

use super::Dialect;

/// Most groups that one statement names; more are written by several statements.
pub(super) const GROUPS_MAX: usize = 256;

pub(super) const INSERT_OUTBOX: &str =
    "INSERT INTO tidegate_outbox (job, key_group, batch, outputs) VALUES (?, ?, ?, ?)";

pub(super) const PROBE: &str = "UPDATE tidegate_ledger SET version = version WHERE id = 1";

pub(super) const VERSION: &str = "SELECT version FROM tidegate_ledger WHERE id = 1";

pub(super) const JOB: &str = "SELECT key_groups, fingerprint, ledger_id, resets, COALESCE(marked_group, '') \
     FROM tidegate_job WHERE job = ?";

pub(super) const CREATE_JOB: &str =
    "INSERT INTO tidegate_job (job, key_groups, fingerprint, ledger_id) VALUES (?, ?, ?, ?)";

pub(super) const SET_FINGERPRINT: &str = "UPDATE tidegate_job SET fingerprint = ? WHERE job = ?";

pub(super) const POSITIONS: &str = "SELECT key_group, incarnation, batch, output_batch, positions, confirmed_batch \
     FROM tidegate_position WHERE job = ? ORDER BY key_group";

pub(super) const FRONTIER: &str = "SELECT topic, partition_id, next_offset FROM tidegate_frontier \
     WHERE job = ? ORDER BY topic, partition_id";

/// One group's position row. Locking, where the engine has row locks: one statement per group with the whole
/// primary key, since a statement over several groups may lock rows that it only looks at.
pub(super) fn lock_position(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::MySql => {
            "SELECT key_group, incarnation, batch, output_batch, positions, confirmed_batch \
             FROM tidegate_position WHERE job = ? AND key_group = ? FOR UPDATE"
        }
        Dialect::Sqlite => {
            "SELECT key_group, incarnation, batch, output_batch, positions, confirmed_batch \
             FROM tidegate_position WHERE job = ? AND key_group = ?"
        }
    }
}

pub(super) fn claim(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::MySql => {
            "INSERT INTO tidegate_position (job, key_group, incarnation, batch, output_batch, positions) \
             VALUES (?, ?, 1, 0, 0, '') ON DUPLICATE KEY UPDATE incarnation = incarnation + 1"
        }
        Dialect::Sqlite => {
            "INSERT INTO tidegate_position (job, key_group, incarnation, batch, output_batch, positions) \
             VALUES (?, ?, 1, 0, 0, '') ON CONFLICT (job, key_group) DO UPDATE SET incarnation = incarnation + 1"
        }
    }
}

pub(super) fn advance_frontier(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::MySql => {
            "INSERT INTO tidegate_frontier (job, topic, partition_id, next_offset) VALUES (?, ?, ?, ?) \
             ON DUPLICATE KEY UPDATE next_offset = GREATEST(next_offset, VALUES(next_offset))"
        }
        Dialect::Sqlite => {
            "INSERT INTO tidegate_frontier (job, topic, partition_id, next_offset) VALUES (?, ?, ?, ?) \
             ON CONFLICT (job, topic, partition_id) DO UPDATE SET next_offset = MAX(next_offset, excluded.next_offset)"
        }
    }
}

/// How often the positions were reset, by a read that a reset waits for.
pub(super) fn lock_resets(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::MySql => "SELECT resets FROM tidegate_job WHERE job = ? LOCK IN SHARE MODE",
        Dialect::Sqlite => "SELECT resets FROM tidegate_job WHERE job = ?",
    }
}

/// The outbox of some groups, in order.
pub(super) fn outbox(groups: usize) -> String {
    format!(
        "SELECT key_group, batch, outputs FROM tidegate_outbox WHERE job = ? AND key_group IN ({}) \
         ORDER BY key_group, batch",
        repeat("?", ", ", groups)
    )
}

/// Which outbox rows Kafka has confirmed: a plain read that locks nothing.
///
/// The rows are then deleted by their whole keys. A DELETE by range would be one round trip less, but InnoDB
/// locks the row behind a range's end, too, and that is another key group's: transactions would wait for, and
/// deadlock with, their neighbours.
pub(super) fn confirmed(groups: usize) -> String {
    format!(
        "SELECT key_group, batch FROM tidegate_outbox WHERE job = ? AND ({})",
        repeat("(key_group = ? AND batch <= ?)", " OR ", groups)
    )
}

/// Deletes outbox rows by their whole keys.
pub(super) fn delete_outbox(rows: usize) -> String {
    format!(
        "DELETE FROM tidegate_outbox WHERE job = ? AND ({})",
        repeat("(key_group = ? AND batch = ?)", " OR ", rows)
    )
}

/// The compare-and-set of the position rows. Its parameters, in order: per group `(group, output batch or NULL)`;
/// per group `(group, positions)`; per group `(group, confirmed batch or NULL)`; the job; per group `group`; per group `(group, batch before)`; per group
/// `(group, incarnation)`.
pub(super) fn compare_and_set(groups: usize) -> String {
    let case = |then: &str| repeat(&format!("WHEN ? THEN {then}"), " ", groups);
    format!(
        "UPDATE tidegate_position SET \
         output_batch = CASE key_group {} ELSE output_batch END, \
         positions = CASE key_group {} ELSE positions END, \
         confirmed_batch = CASE key_group {} ELSE confirmed_batch END, \
         batch = batch + 1 \
         WHERE job = ? AND key_group IN ({}) AND batch = CASE key_group {} END AND incarnation = CASE key_group {} END",
        case("COALESCE(?, output_batch)"),
        case("?"),
        case("COALESCE(?, confirmed_batch)"),
        repeat("?", ", ", groups),
        case("?"),
        case("?"),
    )
}

pub(super) fn repeat(part: &str, between: &str, times: usize) -> String {
    vec![part; times].join(between)
}
