//! The ledger's tables and their version.
//!
//! In:        a dialect     Out: the statements that create the tables, each harmless where the table exists
//! Not here:  who runs them (`run.rs`), and what they mean (`ledger.rs`)

use super::Dialect;

/// Raised with every change of the tables. A ledger of another version is refused.
pub(in crate::database) const VERSION: u64 = 1;

/// All tables of the ledger.
pub(in crate::database) const TABLES: [&str; 5] =
    ["tidegate_ledger", "tidegate_job", "tidegate_frontier", "tidegate_position", "tidegate_outbox"];

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

// Names compare byte by byte, whatever the schema's collation says: `orders` and `Orders` are two jobs.
// 249 is Kafka's own limit for a topic's name.
const MYSQL: [&str; 5] = [
    "CREATE TABLE IF NOT EXISTS tidegate_ledger (
    id TINYINT UNSIGNED NOT NULL PRIMARY KEY,
    version INT UNSIGNED NOT NULL
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS tidegate_job (
    job VARCHAR(190) NOT NULL PRIMARY KEY,
    key_groups INT UNSIGNED NOT NULL,
    fingerprint VARCHAR(255) NOT NULL,
    ledger_id VARCHAR(64) NOT NULL,
    created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6)
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
    PRIMARY KEY (job, key_group)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS tidegate_outbox (
    job VARCHAR(190) NOT NULL,
    key_group INT UNSIGNED NOT NULL,
    batch BIGINT UNSIGNED NOT NULL,
    outputs LONGBLOB NOT NULL,
    PRIMARY KEY (job, key_group, batch)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
];

const SQLITE: [&str; 5] = [
    "CREATE TABLE IF NOT EXISTS tidegate_ledger (
    id INTEGER NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL
) STRICT",
    "CREATE TABLE IF NOT EXISTS tidegate_job (
    job TEXT NOT NULL PRIMARY KEY,
    key_groups INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    ledger_id TEXT NOT NULL,
    created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
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
    PRIMARY KEY (job, key_group)
) STRICT, WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS tidegate_outbox (
    job TEXT NOT NULL,
    key_group INTEGER NOT NULL,
    batch INTEGER NOT NULL,
    outputs BLOB NOT NULL,
    PRIMARY KEY (job, key_group, batch)
) STRICT",
];
