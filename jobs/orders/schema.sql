-- MariaDB or MySQL. Instants are stored in UTC.
CREATE TABLE IF NOT EXISTS customer (
    id   BIGINT       NOT NULL PRIMARY KEY,
    name VARCHAR(200) NOT NULL,
    tier VARCHAR(20)  NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS orders (
    id        VARCHAR(64)    NOT NULL PRIMARY KEY,
    customer  BIGINT         NOT NULL,
    total     DECIMAL(12, 2) NOT NULL,
    currency  CHAR(3)        NOT NULL,
    placed_at DATETIME(6)    NOT NULL,
    note      TEXT           NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

INSERT INTO customer (id, name, tier) VALUES (4711, 'Müller & Söhne', 'gold'), (4712, 'Ada Lovelace', 'silver')
ON DUPLICATE KEY UPDATE name = VALUES(name), tier = VALUES(tier);
