-- MariaDB or MySQL.
CREATE TABLE IF NOT EXISTS invoice_supplier (
    vat_id      VARCHAR(40)  NOT NULL PRIMARY KEY,
    account     VARCHAR(20)  NOT NULL,
    cost_centre VARCHAR(40)  NOT NULL,
    buyer_ref   VARCHAR(100) NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS invoice (
    vat_id    VARCHAR(40)    NOT NULL,
    id        VARCHAR(64)    NOT NULL,
    issued_on DATE           NOT NULL,
    type_code INT            NOT NULL,
    currency  CHAR(3)        NOT NULL,
    payable   DECIMAL(18, 2) NOT NULL,
    buyer_ref VARCHAR(100)   NULL,
    seller    VARCHAR(100)   NULL,
    notes     JSON           NOT NULL,
    account   VARCHAR(20)    NULL,
    PRIMARY KEY (vat_id, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS invoice_line (
    vat_id       VARCHAR(40)    NOT NULL,
    invoice      VARCHAR(64)    NOT NULL,
    line         INT            NOT NULL,
    sub_line     INT            NOT NULL,
    sub_sub_line INT            NOT NULL,
    line_id      VARCHAR(100)   NOT NULL,
    name         VARCHAR(250)   NOT NULL,
    quantity     DECIMAL(18, 6) NOT NULL,
    unit         VARCHAR(8)     NOT NULL,
    amount       DECIMAL(18, 2) NOT NULL,
    tax          DECIMAL(5, 2)  NULL,
    PRIMARY KEY (vat_id, invoice, line, sub_line, sub_sub_line)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

INSERT INTO invoice_supplier (vat_id, account, cost_centre, buyer_ref)
VALUES ('DE123456789', '70012', 'Zeitschriften & Bücher', '04011000-12345-34')
ON DUPLICATE KEY UPDATE account = VALUES(account), cost_centre = VALUES(cost_centre), buyer_ref = VALUES(buyer_ref);
