-- MariaDB or MySQL. Instants are stored in UTC.
CREATE TABLE IF NOT EXISTS notified_entry (
    notification_id VARCHAR(35)    NOT NULL,
    reference       VARCHAR(35)    NOT NULL,
    message_id      VARCHAR(35)    NOT NULL,
    iban            VARCHAR(34)    NOT NULL,
    notified_at     DATETIME(6)    NOT NULL,
    entry_ref       VARCHAR(35)    NULL,
    amount          DECIMAL(18, 5) NOT NULL,
    currency        CHAR(3)        NOT NULL,
    side            VARCHAR(6)     NOT NULL,
    booked_on       DATE           NOT NULL,
    value_on        DATE           NOT NULL,
    charges         DECIMAL(18, 5) NOT NULL,
    batch_of        INT            NULL,
    transactions_in INT            NOT NULL,
    end_to_end_ids  JSON           NOT NULL,
    PRIMARY KEY (notification_id, reference)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS notified_transaction (
    notification_id VARCHAR(35)    NOT NULL,
    entry           VARCHAR(35)    NOT NULL,
    transaction_no  INT            NOT NULL,
    reference       VARCHAR(35)    NULL,
    end_to_end      VARCHAR(35)    NULL,
    amount          DECIMAL(18, 5) NOT NULL,
    debtor          VARCHAR(140)   NULL,
    creditor_ref    VARCHAR(35)    NULL,
    accepted_at     DATETIME(6)    NULL,
    PRIMARY KEY (notification_id, entry, transaction_no)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;
