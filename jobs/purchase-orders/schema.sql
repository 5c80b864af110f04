-- MariaDB or MySQL. Instants are stored in UTC.
CREATE TABLE IF NOT EXISTS purchase_order (
    id         VARCHAR(64)    NOT NULL PRIMARY KEY,
    payload_id VARCHAR(100)   NOT NULL,
    sender     VARCHAR(100)   NULL,
    ordered_at DATETIME(6)    NOT NULL,
    total      DECIMAL(18, 2) NOT NULL,
    currency   CHAR(3)        NOT NULL,
    ship_to    VARCHAR(200)   NULL,
    city       VARCHAR(100)   NULL,
    deliver_to JSON           NOT NULL
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS purchase_item (
    order_id VARCHAR(64)    NOT NULL,
    line     INT            NOT NULL,
    quantity DECIMAL(18, 4) NOT NULL,
    wanted   DATETIME(6)    NULL,
    part     VARCHAR(64)    NOT NULL,
    price    DECIMAL(18, 4) NOT NULL,
    currency CHAR(3)        NOT NULL,
    text     VARCHAR(250)   NULL,
    unit     VARCHAR(8)     NULL,
    PRIMARY KEY (order_id, line)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS purchase_shipment (
    id         VARCHAR(64) NOT NULL PRIMARY KEY,
    order_id   VARCHAR(64) NOT NULL,
    shipped_at DATETIME(6) NOT NULL,
    carrier    VARCHAR(20) NULL,
    tracking   VARCHAR(64) NULL,
    KEY (order_id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;
