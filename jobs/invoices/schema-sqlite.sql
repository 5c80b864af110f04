-- SQLite. Decimals are text, so that no digit is lost.
CREATE TABLE IF NOT EXISTS invoice_supplier (
    vat_id TEXT NOT NULL PRIMARY KEY CHECK (length(vat_id) <= 40),
    account TEXT NOT NULL CHECK (length(account) <= 20),
    cost_centre TEXT NOT NULL CHECK (length(cost_centre) <= 40),
    buyer_ref TEXT NOT NULL CHECK (length(buyer_ref) <= 100)
) STRICT;

CREATE TABLE IF NOT EXISTS invoice (
    vat_id TEXT NOT NULL CHECK (length(vat_id) <= 40),
    id TEXT NOT NULL CHECK (length(id) <= 64),
    issued_on TEXT NOT NULL,
    type_code INTEGER NOT NULL,
    currency TEXT NOT NULL CHECK (length(currency) <= 3),
    payable TEXT NOT NULL,
    buyer_ref TEXT CHECK (length(buyer_ref) <= 100),
    seller TEXT CHECK (length(seller) <= 100),
    notes TEXT NOT NULL CHECK (json_valid(notes)),
    account TEXT CHECK (length(account) <= 20),
    PRIMARY KEY (vat_id, id)
) STRICT;

CREATE TABLE IF NOT EXISTS invoice_line (
    vat_id TEXT NOT NULL CHECK (length(vat_id) <= 40),
    invoice TEXT NOT NULL CHECK (length(invoice) <= 64),
    line INTEGER NOT NULL,
    sub_line INTEGER NOT NULL,
    sub_sub_line INTEGER NOT NULL,
    line_id TEXT NOT NULL CHECK (length(line_id) <= 100),
    name TEXT NOT NULL CHECK (length(name) <= 250),
    quantity TEXT NOT NULL,
    unit TEXT NOT NULL CHECK (length(unit) <= 8),
    amount TEXT NOT NULL,
    tax TEXT,
    PRIMARY KEY (vat_id, invoice, line, sub_line, sub_sub_line)
) STRICT;

INSERT INTO invoice_supplier (vat_id, account, cost_centre, buyer_ref)
VALUES ('DE123456789', '70012', 'Zeitschriften & Bücher', '04011000-12345-34')
ON CONFLICT (vat_id) DO UPDATE SET account = excluded.account, cost_centre = excluded.cost_centre, buyer_ref = excluded.buyer_ref;
