//! The ledger's tables and their version.
//!
//! In:        a dialect     Out: the statements that create the tables, each harmless where the table exists
//! Not here:  who runs them (`run.rs`), and what they mean (`ledger.rs`)

use super::Dialect;

/// Raised with every change of the tables. An older ledger is brought to it, a newer one is refused.
pub(in crate::database) const VERSION: u64 = 3;

/// Whether a ledger of this version can be brought to [`VERSION`].
pub(super) fn is_older(version: u64) -> bool {
    (1..VERSION).contains(&version)
}

/// All tables of the ledger.
pub(in crate::database) const TABLES: [&str; 9] = [
    "tidegate_ledger",
    "tidegate_job",
    "tidegate_frontier",
    "tidegate_position",
    "tidegate_outbox",
    "tidegate_topic",
    "tidegate_reset",
    "tidegate_parked_key",
    "tidegate_parked",
];

/// Creates what is missing, and writes the version where there is none.
pub(in crate::database) fn ddl(dialect: Dialect) -> Vec<String> {
    let (tables, version) = match dialect {
        Dialect::MySql => {
            (MYSQL, format!("INSERT IGNORE INTO tidegate_ledger (id, version) VALUES (1, {VERSION})"))
        }
        Dialect::Sqlite => {
            (SQLITE, format!("INSERT OR IGNORE INTO tidegate_ledger (id, version) VALUES (1, {VERSION})"))
        }
    };
    tables.iter().map(|text| (*text).to_owned()).chain([version]).collect()
}

/// A column that a ledger of version 1 lacks, and its definition.
pub(super) struct Addition {
    pub(super) table: &'static str,
    pub(super) column: &'static str,
    definition: &'static str,
}

impl Addition {
    /// The statement that adds it.
    pub(super) fn sql(&self) -> String {
        format!("ALTER TABLE {} ADD COLUMN {} {}", self.table, self.column, self.definition)
    }
}

/// What version 2 added to the columns of version 1. Version 3 adds tables alone. Jobs of an older version that run meanwhile do
/// not notice: the columns have defaults.
pub(super) fn additions(dialect: Dialect, from: u64) -> Vec<Addition> {
    if from >= 2 {
        return Vec::new();
    }
    let number = match dialect {
        Dialect::MySql => "BIGINT UNSIGNED NOT NULL DEFAULT 0",
        Dialect::Sqlite => "INTEGER NOT NULL DEFAULT 0",
    };
    vec![
        Addition { table: "tidegate_job", column: "resets", definition: number },
        Addition { table: "tidegate_job", column: "marked_group", definition: "TEXT NULL" },
        Addition { table: "tidegate_position", column: "confirmed_batch", definition: number },
    ]
}

/// Says that the additions are made.
pub(super) const RAISE_VERSION: &str =
    "UPDATE tidegate_ledger SET version = 3 WHERE id = 1 AND version IN (1, 2)";

/// All statements that bring a ledger of an older version to this one, for a person.
pub(in crate::database) fn upgrade(dialect: Dialect, from: u64) -> Vec<String> {
    ddl(dialect).into_iter().chain(raise(dialect, from)).collect()
}

/// Those of them that the missing tables are not made by.
pub(super) fn raise(dialect: Dialect, from: u64) -> Vec<String> {
    let columns = additions(dialect, from).into_iter().map(|addition| addition.sql());
    columns.chain([RAISE_VERSION.to_owned()]).collect()
}

// Names compare byte by byte, whatever the schema's collation says: `orders` and `Orders` are two jobs.
// 249 is Kafka's own limit for a topic's name.
const MYSQL: &[&str] = &[
    "CREATE TABLE IF NOT EXISTS tidegate_ledger (
    id TINYINT UNSIGNED NOT NULL PRIMARY KEY,
    version INT UNSIGNED NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS tidegate_job (
    job VARCHAR(190) NOT NULL PRIMARY KEY,
    key_groups INT UNSIGNED NOT NULL,
    fingerprint VARCHAR(255) NOT NULL,
    ledger_id VARCHAR(64) NOT NULL,
    created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
    resets BIGINT UNSIGNED NOT NULL DEFAULT 0,
    marked_group TEXT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS tidegate_frontier (
    job VARCHAR(190) NOT NULL,
    topic VARCHAR(249) NOT NULL,
    partition_id INT NOT NULL,
    next_offset BIGINT NOT NULL,
    PRIMARY KEY (job, topic, partition_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS tidegate_position (
    job VARCHAR(190) NOT NULL,
    key_group INT UNSIGNED NOT NULL,
    incarnation BIGINT UNSIGNED NOT NULL,
    batch BIGINT UNSIGNED NOT NULL,
    output_batch BIGINT UNSIGNED NOT NULL,
    positions MEDIUMTEXT NOT NULL,
    confirmed_batch BIGINT UNSIGNED NOT NULL DEFAULT 0,
    PRIMARY KEY (job, key_group)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS tidegate_outbox (
    job VARCHAR(190) NOT NULL,
    key_group INT UNSIGNED NOT NULL,
    batch BIGINT UNSIGNED NOT NULL,
    outputs LONGBLOB NOT NULL,
    PRIMARY KEY (job, key_group, batch)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS tidegate_topic (
    job VARCHAR(190) NOT NULL,
    topic VARCHAR(249) NOT NULL,
    topic_id VARCHAR(64) NOT NULL,
    PRIMARY KEY (job, topic)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS tidegate_reset (
    job VARCHAR(190) NOT NULL,
    reset_number BIGINT UNSIGNED NOT NULL,
    topic VARCHAR(249) NOT NULL,
    partition_id INT NOT NULL,
    reset_at VARCHAR(40) NOT NULL,
    from_offset BIGINT NOT NULL,
    handled_offset BIGINT NOT NULL,
    to_offset BIGINT NOT NULL,
    PRIMARY KEY (job, reset_number, topic, partition_id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS tidegate_parked_key (
    job VARCHAR(190) NOT NULL,
    key_id BINARY(16) NOT NULL,
    key_group INT UNSIGNED NOT NULL,
    ordering_key MEDIUMBLOB NOT NULL,
    mark TINYINT UNSIGNED NOT NULL,
    PRIMARY KEY (job, key_id),
    KEY tidegate_parked_key_mark (job, key_group, mark)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS tidegate_parked (
    job VARCHAR(190) NOT NULL,
    key_group INT UNSIGNED NOT NULL,
    batch BIGINT UNSIGNED NOT NULL,
    place INT UNSIGNED NOT NULL,
    key_id BINARY(16) NOT NULL,
    ordering_key MEDIUMBLOB NOT NULL,
    topic VARCHAR(249) NOT NULL,
    partition_id INT NOT NULL,
    record_offset BIGINT NOT NULL,
    event_index INT UNSIGNED NOT NULL,
    record_key LONGBLOB NULL,
    record_value LONGBLOB NULL,
    headers LONGBLOB NOT NULL,
    timestamp_ms BIGINT NULL,
    record_bytes BIGINT UNSIGNED NOT NULL,
    reason VARCHAR(64) NOT NULL,
    detail TEXT NOT NULL,
    parked_at VARCHAR(40) NOT NULL,
    tried_at VARCHAR(40) NOT NULL,
    tries INT UNSIGNED NOT NULL,
    state TINYINT UNSIGNED NOT NULL,
    PRIMARY KEY (job, key_group, batch, place),
    KEY tidegate_parked_of_key (job, key_id, state, batch, place)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
];

const SQLITE: &[&str] = &[
    "CREATE TABLE IF NOT EXISTS tidegate_ledger (
    id INTEGER NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT",
    "CREATE TABLE IF NOT EXISTS tidegate_job (
    job TEXT NOT NULL PRIMARY KEY,
    key_groups INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    ledger_id TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    resets INTEGER NOT NULL DEFAULT 0,
    marked_group TEXT NULL
) STRICT, WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS tidegate_frontier (
    job TEXT NOT NULL,
    topic TEXT NOT NULL,
    partition_id INTEGER NOT NULL,
    next_offset INTEGER NOT NULL,
    PRIMARY KEY (job, topic, partition_id)
) STRICT, WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS tidegate_position (
    job TEXT NOT NULL,
    key_group INTEGER NOT NULL,
    incarnation INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    output_batch INTEGER NOT NULL,
    positions TEXT NOT NULL,
    confirmed_batch INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (job, key_group)
) STRICT, WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS tidegate_outbox (
    job TEXT NOT NULL,
    key_group INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    outputs BLOB NOT NULL,
    PRIMARY KEY (job, key_group, batch)
) STRICT",
    "CREATE TABLE IF NOT EXISTS tidegate_topic (
    job TEXT NOT NULL,
    topic TEXT NOT NULL,
    topic_id TEXT NOT NULL,
    PRIMARY KEY (job, topic)
) STRICT, WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS tidegate_reset (
    job TEXT NOT NULL,
    reset_number INTEGER NOT NULL,
    topic TEXT NOT NULL,
    partition_id INTEGER NOT NULL,
    reset_at TEXT NOT NULL,
    from_offset INTEGER NOT NULL,
    handled_offset INTEGER NOT NULL,
    to_offset INTEGER NOT NULL,
    PRIMARY KEY (job, reset_number, topic, partition_id)
) STRICT, WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS tidegate_parked_key (
    job TEXT NOT NULL,
    key_id BLOB NOT NULL,
    key_group INTEGER NOT NULL,
    ordering_key BLOB NOT NULL,
    mark INTEGER NOT NULL,
    PRIMARY KEY (job, key_id)
) STRICT, WITHOUT ROWID",
    "CREATE INDEX IF NOT EXISTS tidegate_parked_key_mark ON tidegate_parked_key (job, key_group, mark)",
    "CREATE TABLE IF NOT EXISTS tidegate_parked (
    job TEXT NOT NULL,
    key_group INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    place INTEGER NOT NULL,
    key_id BLOB NOT NULL,
    ordering_key BLOB NOT NULL,
    topic TEXT NOT NULL,
    partition_id INTEGER NOT NULL,
    record_offset INTEGER NOT NULL,
    event_index INTEGER NOT NULL,
    record_key BLOB NULL,
    record_value BLOB NULL,
    headers BLOB NOT NULL,
    timestamp_ms INTEGER NULL,
    record_bytes INTEGER NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    parked_at TEXT NOT NULL,
    tried_at TEXT NOT NULL,
    tries INTEGER NOT NULL,
    state INTEGER NOT NULL,
    PRIMARY KEY (job, key_group, batch, place)
) STRICT",
    "CREATE INDEX IF NOT EXISTS tidegate_parked_of_key ON tidegate_parked (job, key_id, state, batch, place)",
];
