-- MariaDB or MySQL. Instants are stored in UTC.
CREATE TABLE IF NOT EXISTS traffic_situation (
    publisher    VARCHAR(40) NOT NULL,
    id           VARCHAR(64) NOT NULL,
    published_at DATETIME(6) NOT NULL,
    changed_at   DATETIME(6) NOT NULL,
    severity     VARCHAR(20) NULL,
    information  VARCHAR(16) NULL,
    records_in   INT         NOT NULL,
    PRIMARY KEY (publisher, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS traffic_record (
    publisher  VARCHAR(40)   NOT NULL,
    situation  VARCHAR(64)   NOT NULL,
    id         VARCHAR(64)   NOT NULL,
    version    INT           NOT NULL,
    kind       VARCHAR(80)   NOT NULL,
    changed_at DATETIME(6)   NOT NULL,
    cause      VARCHAR(80)   NULL,
    begins     DATETIME(6)   NOT NULL,
    ends       DATETIME(6)   NULL,
    speed      DECIMAL(5, 1) NULL,
    place      MEDIUMTEXT    NULL,
    PRIMARY KEY (publisher, situation, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS roadworks (
    id         VARCHAR(64) NOT NULL,
    version    INT         NOT NULL,
    severity   VARCHAR(20) NULL,
    changed_at DATETIME(6) NOT NULL,
    begins     DATETIME(6) NOT NULL,
    ends       DATETIME(6) NULL,
    location   INT         NULL,
    comment    VARCHAR(2000) NULL,
    record_ids JSON        NOT NULL,
    records    JSON        NOT NULL,
    PRIMARY KEY (id, version)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS parking (
    park_table    VARCHAR(40)   NOT NULL,
    table_version INT           NOT NULL,
    id            VARCHAR(40)   NOT NULL,
    seen_at       DATETIME(6)   NOT NULL,
    vacant        INT UNSIGNED  NOT NULL,
    occupied      INT UNSIGNED  NOT NULL,
    percent       DECIMAL(5, 1) NULL,
    status        VARCHAR(20)   NOT NULL,
    PRIMARY KEY (park_table, id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS parking_group (
    park_table VARCHAR(40)  NOT NULL,
    park       VARCHAR(40)  NOT NULL,
    number     INT          NOT NULL,
    vacant     INT UNSIGNED NOT NULL,
    PRIMARY KEY (park_table, park, number)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;
