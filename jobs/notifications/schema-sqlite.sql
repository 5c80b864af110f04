-- SQLite. Instants are stored in UTC as text. Decimals are text, so that no digit is lost.
CREATE TABLE IF NOT EXISTS notified_entry (
    notification_id TEXT NOT NULL CHECK (length(notification_id) <= 35),
    reference TEXT NOT NULL CHECK (length(reference) <= 35),
    message_id TEXT NOT NULL CHECK (length(message_id) <= 35),
    iban TEXT NOT NULL CHECK (length(iban) <= 34),
    notified_at TEXT NOT NULL,
    entry_ref TEXT CHECK (length(entry_ref) <= 35),
    amount TEXT NOT NULL,
    currency TEXT NOT NULL CHECK (length(currency) <= 3),
    side TEXT NOT NULL CHECK (length(side) <= 6),
    booked_on TEXT NOT NULL,
    value_on TEXT NOT NULL,
    charges TEXT NOT NULL,
    batch_of INTEGER,
    transactions_in INTEGER NOT NULL,
    end_to_end_ids TEXT NOT NULL CHECK (json_valid(end_to_end_ids)),
    PRIMARY KEY (notification_id, reference)
) STRICT;

CREATE TABLE IF NOT EXISTS notified_transaction (
    notification_id TEXT NOT NULL CHECK (length(notification_id) <= 35),
    entry TEXT NOT NULL CHECK (length(entry) <= 35),
    transaction_no INTEGER NOT NULL,
    reference TEXT CHECK (length(reference) <= 35),
    end_to_end TEXT CHECK (length(end_to_end) <= 35),
    amount TEXT NOT NULL,
    debtor TEXT CHECK (length(debtor) <= 140),
    creditor_ref TEXT CHECK (length(creditor_ref) <= 35),
    accepted_at TEXT,
    PRIMARY KEY (notification_id, entry, transaction_no)
) STRICT;
