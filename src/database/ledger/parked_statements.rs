//! The texts of the statements about parked events. Texts for several keys or rows are made for a few sizes only
//! ([`SIZES`]), so that a session's cache of prepared statements stays small; the last key or row fills what is over.
//!
//! In:        a dialect, or how many     Out: a text with one `?` per parameter
//! Order:     what is written or locked is named by its whole primary key, one row at a time: a statement over several rows may
//!            lock rows of other key groups that it only looks at. Everything else is a plain read
//! Not here:  the parameters (`parked.rs`, `parked_reads.rs`)

use super::Dialect;
use super::statements::repeat;

/// For how many keys or rows texts are made.
pub(super) const SIZES: [usize; 3] = [1, 8, 64];

/// Most keys or rows that one text names.
pub(super) const NAMED_MAX: usize = 64;

/// Puts a key's row where there is none. An existing row keeps its mark, and is locked.
pub(super) fn add_key(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::MySql => {
            "INSERT INTO tidegate_parked_key (job, key_id, key_group, ordering_key, mark) VALUES (?, ?, ?, ?, 0) \
             ON DUPLICATE KEY UPDATE mark = mark"
        }
        Dialect::Sqlite => {
            "INSERT INTO tidegate_parked_key (job, key_id, key_group, ordering_key, mark) VALUES (?, ?, ?, ?, 0) \
             ON CONFLICT (job, key_id) DO NOTHING"
        }
    }
}

/// Locks a key's row. An update that changes nothing: where the engine takes many rows of parameters in one message, many
/// keys cost one round trip.
pub(super) const LOCK_KEY: &str = "UPDATE tidegate_parked_key SET mark = mark WHERE job = ? AND key_id = ?";

pub(super) const SET_MARK: &str = "UPDATE tidegate_parked_key SET mark = ? WHERE job = ? AND key_id = ?";

pub(super) const DELETE_KEY: &str = "DELETE FROM tidegate_parked_key WHERE job = ? AND key_id = ?";

pub(super) const INSERT_EVENT: &str = "INSERT INTO tidegate_parked \
     (job, key_group, batch, place, key_id, ordering_key, topic, partition_id, record_offset, event_index, \
     record_key, record_value, headers, timestamp_ms, record_bytes, reason, detail, parked_at, tried_at, tries, state) \
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)";

pub(super) const DELETE_EVENT: &str =
    "DELETE FROM tidegate_parked WHERE job = ? AND key_group = ? AND batch = ? AND place = ?";

/// Leaves of an event where it came from. Parameters: the empty headers, when, its primary key.
pub(super) const DROP_EVENT: &str = "UPDATE tidegate_parked SET state = 2, record_key = NULL, record_value = NULL, headers = ?, \
     timestamp_ms = NULL, record_bytes = 0, tried_at = ? WHERE job = ? AND key_group = ? AND batch = ? AND place = ?";

pub(super) const REFUSE_EVENT: &str = "UPDATE tidegate_parked SET reason = ?, detail = ?, tried_at = ?, tries = tries + 1 \
     WHERE job = ? AND key_group = ? AND batch = ? AND place = ?";

pub(super) const MARK_EVENT: &str = "UPDATE tidegate_parked SET state = 1 \
     WHERE job = ? AND key_group = ? AND batch = ? AND place = ? AND state = 0";

/// Marked keys of a key group, in the order of their index.
pub(super) const MARKED_KEYS: &str = "SELECT key_id FROM tidegate_parked_key WHERE job = ? AND key_group = ? AND mark > 0 \
     ORDER BY mark, key_id LIMIT ?";

pub(super) const HAS_MARKED: &str =
    "SELECT 1 FROM tidegate_parked_key WHERE job = ? AND key_group = ? AND mark > 0 LIMIT 1";

/// What comes again from a topic.
pub(super) const FROM_OFFSET: &str = "SELECT key_group, batch, place, key_id, state FROM tidegate_parked \
     WHERE job = ? AND topic = ? AND partition_id = ? AND record_offset >= ?";

/// Of each of these keys that is parked: its mark, whether events wait, and whether events are to be dropped.
pub(super) fn key_states(keys: usize) -> String {
    let any = |state: u8| {
        format!(
            "EXISTS (SELECT 1 FROM tidegate_parked p WHERE p.job = k.job AND p.key_id = k.key_id AND p.state = {state})"
        )
    };
    format!(
        "SELECT k.key_id, k.mark, {}, {} FROM tidegate_parked_key k WHERE k.job = ? AND k.key_id IN ({})",
        any(0),
        any(1),
        repeat("?", ", ", keys)
    )
}

/// The first events of each of these keys that are in a state, in order. Parameters per part: the job, the key, the state, how
/// many. Each part reads the index of its key from the front and stops, however many events wait behind.
pub(super) fn first_events(parts: usize) -> String {
    let part = "SELECT * FROM (SELECT batch, place, record_bytes FROM tidegate_parked \
         WHERE job = ? AND key_id = ? AND state = ? ORDER BY batch, place LIMIT ?) AS part";
    repeat(part, " UNION ALL ", parts)
}

/// Which key these events belong to, and in which state they are.
pub(super) fn keys_of_events(rows: usize) -> String {
    format!("SELECT key_group, batch, place, key_id, state FROM tidegate_parked WHERE {}", whole_keys(rows))
}

/// The columns of an event without its record.
macro_rules! overview {
    () => {
        "key_group, batch, place, key_id, ordering_key, topic, partition_id, record_offset, event_index, reason, detail, \
         parked_at, tried_at, tries, state"
    };
}

/// Events without their records.
pub(super) fn overviews(rows: usize) -> String {
    format!("SELECT {} FROM tidegate_parked WHERE {}", overview!(), whole_keys(rows))
}

/// Their records. A statement of its own: together with the overview an answer could be larger than what once was inserted,
/// and than the server sends.
pub(super) fn records(rows: usize) -> String {
    format!(
        "SELECT key_group, batch, place, record_key, record_value, headers, timestamp_ms FROM tidegate_parked WHERE {}",
        whole_keys(rows)
    )
}

fn whole_keys(rows: usize) -> String {
    format!("job = ? AND ({})", repeat("(key_group = ? AND batch = ? AND place = ?)", " OR ", rows))
}

pub(super) fn parked_keys(groups: usize) -> String {
    format!(
        "SELECT key_group, key_id FROM tidegate_parked_key WHERE job = ? AND key_group IN ({})",
        repeat("?", ", ", groups)
    )
}

pub(super) fn marked_groups(groups: usize) -> String {
    format!(
        "SELECT DISTINCT key_group FROM tidegate_parked_key WHERE job = ? AND mark > 0 AND key_group IN ({})",
        repeat("?", ", ", groups)
    )
}

/// A page of events. `conditions`: of the wish, each with its ` AND `. Behind their parameters: those of [`behind`], how many.
pub(super) fn page(conditions: &str, behind: &str) -> String {
    format!(
        "SELECT {} FROM tidegate_parked WHERE job = ?{conditions}{behind} ORDER BY key_group, batch, place LIMIT ?",
        overview!()
    )
}

/// Behind an event, in a form in which the engine goes to it by the primary key. Parameters: group, batch, place for SQLite;
/// group, group, batch, group, batch, place for MySQL, which reads tuples from the table's beginning.
pub(super) fn behind(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::MySql => {
            " AND (key_group > ? OR (key_group = ? AND batch > ?) OR (key_group = ? AND batch = ? AND place > ?))"
        }
        Dialect::Sqlite => " AND (key_group, batch, place) > (?, ?, ?)",
    }
}

/// A page of parked keys behind one, in the order of their ids.
pub(super) fn key_page(of_one: bool) -> &'static str {
    if of_one {
        "SELECT key_id, mark FROM tidegate_parked_key WHERE job = ? AND key_id > ? AND key_id = ? ORDER BY key_id LIMIT ?"
    } else {
        "SELECT key_id, mark FROM tidegate_parked_key WHERE job = ? AND key_id > ? ORDER BY key_id LIMIT ?"
    }
}

/// Of each of these keys of which events wait that are meant: how many. Parameters: the job, the keys, the wish.
pub(super) fn counts(keys: usize, conditions: &str) -> String {
    format!(
        "SELECT key_id, COUNT(*) FROM tidegate_parked WHERE job = ? AND key_id IN ({}) AND state < 2{conditions} \
         GROUP BY key_id",
        repeat("?", ", ", keys)
    )
}

/// The first event of each of these keys that is in a state and meant. Parameters per part: the job, the key, the state, the
/// wish. As in [`first_events`], each part stops where it has found one.
pub(super) fn heads(parts: usize, conditions: &str) -> String {
    let part = format!(
        "SELECT * FROM (SELECT key_group, batch, place, key_id, state FROM tidegate_parked \
         WHERE job = ? AND key_id = ? AND state = ?{conditions} ORDER BY batch, place LIMIT 1) AS part"
    );
    repeat(&part, " UNION ALL ", parts)
}
