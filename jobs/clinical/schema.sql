-- MariaDB or MySQL. Instants are stored in UTC.
CREATE TABLE IF NOT EXISTS clinical_document (
    root                  VARCHAR(64)  NOT NULL,
    extension             VARCHAR(64)  NOT NULL,
    set_root              VARCHAR(64)  NULL,
    set_extension         VARCHAR(64)  NULL,
    version               INT          NOT NULL,
    code                  VARCHAR(20)  NOT NULL,
    title                 VARCHAR(250) NOT NULL,
    made_at               DATETIME(6)  NOT NULL,
    patient_root          VARCHAR(64)  NOT NULL,
    patient               VARCHAR(64)  NOT NULL,
    family                VARCHAR(40)  NULL,
    born_on               DATE         NULL,
    templates             JSON         NOT NULL,
    replaces_root         VARCHAR(64)  NULL,
    replaces_extension    VARCHAR(64)  NULL,
    replaced_by_root      VARCHAR(64)  NULL,
    replaced_by_extension VARCHAR(64)  NULL,
    PRIMARY KEY (root, extension)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;

CREATE TABLE IF NOT EXISTS clinical_section (
    root      VARCHAR(64)  NOT NULL,
    extension VARCHAR(64)  NOT NULL,
    section   INT          NOT NULL,
    code      VARCHAR(20)  NULL,
    title     VARCHAR(250) NULL,
    narrative MEDIUMTEXT   NULL,
    entries   INT          NOT NULL,
    PRIMARY KEY (root, extension, section)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4;
