-- MariaDB or MySQL. Instants are stored in UTC.
CREATE TABLE IF NOT EXISTS bank_statement (
    iban       VARCHAR(34)    NOT NULL,
    number     BIGINT         NOT NULL,
    id         VARCHAR(35)    NOT NULL,
    message_id VARCHAR(35)    NOT NULL,
    created_at DATETIME(6)    NOT NULL,
    owner      VARCHAR(140)   NULL,
    opening    DECIMAL(18, 5) NOT NULL,
    closing    DECIMAL(18, 5) NOT NULL,
    currency   CHAR(3)        NOT NULL,
    entries_in INT            NOT NULL,
    PRIMARY KEY (iban, number)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS bank_balance (
    iban     VARCHAR(34)    NOT NULL,
    number   BIGINT         NOT NULL,
    code     VARCHAR(35)    NOT NULL,
    amount   DECIMAL(18, 5) NOT NULL,
    currency CHAR(3)        NOT NULL,
    credit   TINYINT        NOT NULL,
    dated    DATE           NOT NULL,
    KEY (iban, number)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS bank_entry (
    iban       VARCHAR(34)    NOT NULL,
    number     BIGINT         NOT NULL,
    entry      INT            NOT NULL,
    reference  VARCHAR(35)    NULL,
    entry_ref  VARCHAR(35)    NULL,
    amount     DECIMAL(18, 5) NOT NULL,
    currency   CHAR(3)        NOT NULL,
    credit     TINYINT        NOT NULL,
    reversal   TINYINT        NOT NULL,
    booked_on  DATE           NULL,
    value_on   DATE           NULL,
    family     CHAR(4)        NULL,
    sub_family CHAR(4)        NULL,
    info       VARCHAR(500)   NULL,
    PRIMARY KEY (iban, number, entry)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS bank_transaction (
    iban           VARCHAR(34)    NOT NULL,
    number         BIGINT         NOT NULL,
    entry          INT            NOT NULL,
    transaction_no INT            NOT NULL,
    reference      VARCHAR(35)    NULL,
    end_to_end     VARCHAR(35)    NULL,
    amount         DECIMAL(18, 5) NOT NULL,
    currency       CHAR(3)        NOT NULL,
    PRIMARY KEY (iban, number, entry, transaction_no)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;
