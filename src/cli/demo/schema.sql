-- The demo's tables.
CREATE TABLE customer (
    id   INTEGER NOT NULL PRIMARY KEY,
    name TEXT    NOT NULL,
    tier TEXT    NOT NULL
) STRICT;

-- The last state of each order.
CREATE TABLE orders (
    id        TEXT    NOT NULL PRIMARY KEY,
    change    INTEGER NOT NULL,
    customer  INTEGER NOT NULL,
    placed_at TEXT    NOT NULL,
    total     TEXT    NOT NULL,
    note      TEXT
) STRICT;

-- Every change in the order in which it arrived. Nothing here would stop a change from being stored twice or late:
-- the proof counts on the job alone.
CREATE TABLE order_history (
    nr            INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT    NOT NULL,
    change        INTEGER NOT NULL,
    customer_name TEXT,
    total         TEXT    NOT NULL
) STRICT;
