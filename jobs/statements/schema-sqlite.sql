-- SQLite. Instants are stored in UTC as text. Decimals are text, so that no digit is lost.
CREATE TABLE IF NOT EXISTS bank_statement (
    iban TEXT NOT NULL CHECK (length(iban) <= 34),
    number INTEGER NOT NULL,
    id TEXT NOT NULL CHECK (length(id) <= 35),
    message_id TEXT NOT NULL CHECK (length(message_id) <= 35),
    created_at TEXT NOT NULL,
    owner TEXT CHECK (length(owner) <= 140),
    opening TEXT NOT NULL,
    closing TEXT NOT NULL,
    currency TEXT NOT NULL CHECK (length(currency) <= 3),
    entries_in INTEGER NOT NULL,
    PRIMARY KEY (iban, number)
) STRICT;

CREATE TABLE IF NOT EXISTS bank_balance (
    iban TEXT NOT NULL CHECK (length(iban) <= 34),
    number INTEGER NOT NULL,
    code TEXT NOT NULL CHECK (length(code) <= 35),
    amount TEXT NOT NULL,
    currency TEXT NOT NULL CHECK (length(currency) <= 3),
    credit INTEGER NOT NULL,
    dated TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS bank_balance_by_iban ON bank_balance (iban, number);

CREATE TABLE IF NOT EXISTS bank_entry (
    iban TEXT NOT NULL CHECK (length(iban) <= 34),
    number INTEGER NOT NULL,
    entry INTEGER NOT NULL,
    reference TEXT CHECK (length(reference) <= 35),
    entry_ref TEXT CHECK (length(entry_ref) <= 35),
    amount TEXT NOT NULL,
    currency TEXT NOT NULL CHECK (length(currency) <= 3),
    credit INTEGER NOT NULL,
    reversal INTEGER NOT NULL,
    booked_on TEXT,
    value_on TEXT,
    family TEXT CHECK (length(family) <= 4),
    sub_family TEXT CHECK (length(sub_family) <= 4),
    info TEXT CHECK (length(info) <= 500),
    PRIMARY KEY (iban, number, entry)
) STRICT;

CREATE TABLE IF NOT EXISTS bank_transaction (
    iban TEXT NOT NULL CHECK (length(iban) <= 34),
    number INTEGER NOT NULL,
    entry INTEGER NOT NULL,
    transaction_no INTEGER NOT NULL,
    reference TEXT CHECK (length(reference) <= 35),
    end_to_end TEXT CHECK (length(end_to_end) <= 35),
    amount TEXT NOT NULL,
    currency TEXT NOT NULL CHECK (length(currency) <= 3),
    PRIMARY KEY (iban, number, entry, transaction_no)
) STRICT;
