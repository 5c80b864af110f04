-- SQLite. Instants are stored in UTC as text.
CREATE TABLE IF NOT EXISTS clinical_document (
    root TEXT NOT NULL CHECK (length(root) <= 64),
    extension TEXT NOT NULL CHECK (length(extension) <= 64),
    set_root TEXT CHECK (length(set_root) <= 64),
    set_extension TEXT CHECK (length(set_extension) <= 64),
    version INTEGER NOT NULL,
    code TEXT NOT NULL CHECK (length(code) <= 20),
    title TEXT NOT NULL CHECK (length(title) <= 250),
    made_at TEXT NOT NULL,
    patient_root TEXT NOT NULL CHECK (length(patient_root) <= 64),
    patient TEXT NOT NULL CHECK (length(patient) <= 64),
    family TEXT CHECK (length(family) <= 40),
    born_on TEXT,
    templates TEXT NOT NULL CHECK (json_valid(templates)),
    replaces_root TEXT CHECK (length(replaces_root) <= 64),
    replaces_extension TEXT CHECK (length(replaces_extension) <= 64),
    replaced_by_root TEXT CHECK (length(replaced_by_root) <= 64),
    replaced_by_extension TEXT CHECK (length(replaced_by_extension) <= 64),
    PRIMARY KEY (root, extension)
) STRICT;

CREATE TABLE IF NOT EXISTS clinical_section (
    root TEXT NOT NULL CHECK (length(root) <= 64),
    extension TEXT NOT NULL CHECK (length(extension) <= 64),
    section INTEGER NOT NULL,
    code TEXT CHECK (length(code) <= 20),
    title TEXT CHECK (length(title) <= 250),
    narrative TEXT,
    entries INTEGER NOT NULL,
    PRIMARY KEY (root, extension, section)
) STRICT;
