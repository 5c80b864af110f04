-- SQLite. Instants are stored in UTC as text. Decimals are text, so that no digit is lost.
CREATE TABLE IF NOT EXISTS traffic_situation (
    publisher TEXT NOT NULL CHECK (length(publisher) <= 40),
    id TEXT NOT NULL CHECK (length(id) <= 64),
    published_at TEXT NOT NULL,
    changed_at TEXT NOT NULL,
    severity TEXT CHECK (length(severity) <= 20),
    information TEXT CHECK (length(information) <= 16),
    records_in INTEGER NOT NULL,
    PRIMARY KEY (publisher, id)
) STRICT;

CREATE TABLE IF NOT EXISTS traffic_record (
    publisher TEXT NOT NULL CHECK (length(publisher) <= 40),
    situation TEXT NOT NULL CHECK (length(situation) <= 64),
    id TEXT NOT NULL CHECK (length(id) <= 64),
    version INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (length(kind) <= 80),
    changed_at TEXT NOT NULL,
    cause TEXT CHECK (length(cause) <= 80),
    begins TEXT NOT NULL,
    ends TEXT,
    speed TEXT,
    place TEXT,
    PRIMARY KEY (publisher, situation, id)
) STRICT;

CREATE TABLE IF NOT EXISTS roadworks (
    id TEXT NOT NULL CHECK (length(id) <= 64),
    version INTEGER NOT NULL,
    severity TEXT CHECK (length(severity) <= 20),
    changed_at TEXT NOT NULL,
    begins TEXT NOT NULL,
    ends TEXT,
    location INTEGER,
    comment TEXT CHECK (length(comment) <= 2000),
    record_ids TEXT NOT NULL CHECK (json_valid(record_ids)),
    records TEXT NOT NULL CHECK (json_valid(records)),
    PRIMARY KEY (id, version)
) STRICT;

CREATE TABLE IF NOT EXISTS parking (
    park_table TEXT NOT NULL CHECK (length(park_table) <= 40),
    table_version INTEGER NOT NULL,
    id TEXT NOT NULL CHECK (length(id) <= 40),
    seen_at TEXT NOT NULL,
    vacant INTEGER NOT NULL,
    occupied INTEGER NOT NULL,
    percent TEXT,
    status TEXT NOT NULL CHECK (length(status) <= 20),
    PRIMARY KEY (park_table, id)
) STRICT;

CREATE TABLE IF NOT EXISTS parking_group (
    park_table TEXT NOT NULL CHECK (length(park_table) <= 40),
    park TEXT NOT NULL CHECK (length(park) <= 40),
    number INTEGER NOT NULL,
    vacant INTEGER NOT NULL,
    PRIMARY KEY (park_table, park, number)
) STRICT;
