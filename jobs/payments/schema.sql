-- MariaDB or MySQL. Instants are stored in UTC.
CREATE TABLE IF NOT EXISTS account (
    iban   VARCHAR(34)  NOT NULL PRIMARY KEY,
    branch VARCHAR(20)  NOT NULL,
    holder VARCHAR(140) NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS payment (
    message_id   VARCHAR(35)    NOT NULL PRIMARY KEY,
    created_at   DATETIME(6)    NOT NULL,
    payment_id   VARCHAR(35)    NOT NULL,
    execution_on DATE           NOT NULL,
    debtor       VARCHAR(34)    NOT NULL,
    end_to_end   VARCHAR(35)    NOT NULL,
    amount       DECIMAL(18, 5) NOT NULL,
    currency     CHAR(3)        NOT NULL,
    creditor     VARCHAR(34)    NULL,
    branch       VARCHAR(20)    NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

INSERT INTO account (iban, branch, holder) VALUES ('LT007180000000000000', 'VNO-01', 'IMONE X')
ON DUPLICATE KEY UPDATE branch = VALUES(branch), holder = VALUES(holder);
