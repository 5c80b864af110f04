-- SQLite. Instants are stored in UTC as text.
CREATE TABLE IF NOT EXISTS statement (
    id               TEXT    NOT NULL PRIMARY KEY,
    number           INTEGER NOT NULL,
    created_at       TEXT    NOT NULL,
    iban             TEXT    NOT NULL,
    owner            TEXT,
    is_last          INTEGER,
    source_topic     TEXT    NOT NULL,
    source_partition INTEGER NOT NULL,
    source_offset    INTEGER NOT NULL
) STRICT;
