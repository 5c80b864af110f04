-- SQLite. Instants are stored in UTC as text. Decimals are text, so that no digit is lost.
CREATE TABLE IF NOT EXISTS purchase_order (
    id TEXT NOT NULL PRIMARY KEY CHECK (length(id) <= 64),
    payload_id TEXT NOT NULL CHECK (length(payload_id) <= 100),
    sender TEXT CHECK (length(sender) <= 100),
    ordered_at TEXT NOT NULL,
    total TEXT NOT NULL,
    currency TEXT NOT NULL CHECK (length(currency) <= 3),
    ship_to TEXT CHECK (length(ship_to) <= 200),
    city TEXT CHECK (length(city) <= 100),
    deliver_to TEXT NOT NULL CHECK (json_valid(deliver_to))
) STRICT;

CREATE TABLE IF NOT EXISTS purchase_item (
    order_id TEXT NOT NULL CHECK (length(order_id) <= 64),
    line INTEGER NOT NULL,
    quantity TEXT NOT NULL,
    wanted TEXT,
    part TEXT NOT NULL CHECK (length(part) <= 64),
    price TEXT NOT NULL,
    currency TEXT NOT NULL CHECK (length(currency) <= 3),
    text TEXT CHECK (length(text) <= 250),
    unit TEXT CHECK (length(unit) <= 8),
    PRIMARY KEY (order_id, line)
) STRICT;

CREATE TABLE IF NOT EXISTS purchase_shipment (
    id TEXT NOT NULL PRIMARY KEY CHECK (length(id) <= 64),
    order_id TEXT NOT NULL CHECK (length(order_id) <= 64),
    shipped_at TEXT NOT NULL,
    carrier TEXT CHECK (length(carrier) <= 20),
    tracking TEXT CHECK (length(tracking) <= 64)
) STRICT;
CREATE INDEX IF NOT EXISTS purchase_shipment_by_order_id ON purchase_shipment (order_id);
