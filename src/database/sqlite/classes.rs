//! The table of SQLite's result codes: what each asks for, in one sentence for a person.
//!
//! In:        a result code, extended or primary
//! Out:       class, sentence, and whether SQLite's text may be shown
//! Order:     an extended code is looked for first, then its primary code
//! Fails:     never: a code that stands nowhere is [`ErrorClass::Unknown`]
//! Not here:  errors that are no engine's (`error.rs`)

use crate::database::ErrorClass::{self, Misconfigured, Outage, Reject, Rights};

/// What is known of a code.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) code: i64,
    pub(super) class: ErrorClass,
    /// SQLite's own text names tables and columns only; else it may hold values.
    pub(super) shows_text: bool,
    pub(super) sentence: &'static str,
}

/// The row of a code.
pub(super) fn known(extended: i64) -> Option<&'static Known> {
    let row = |code: i64| TABLE.iter().find(|row| row.code == code);
    row(extended).or_else(|| row(extended & 0xff))
}

/// Class and sentence of a code.
pub(in crate::database) fn explain(code: i64) -> Option<(ErrorClass, &'static str)> {
    known(code).map(|row| (row.class, row.sentence))
}

const fn names(code: i64, class: ErrorClass, sentence: &'static str) -> Known {
    Known { code, class, shows_text: true, sentence }
}

const fn silent(code: i64, class: ErrorClass, sentence: &'static str) -> Known {
    Known { code, class, shows_text: false, sentence }
}

const TABLE: &[Known] = &[
    names(1, Misconfigured, "the SQL is not understood, or a table or column does not exist"),
    names(2, ErrorClass::Unknown, "SQLite failed inside"),
    names(3, Rights, "the file may not be used"),
    names(4, Outage, "the statement was aborted"),
    names(5, Outage, "another process holds the file's lock"),
    names(6, Outage, "another connection holds the table's lock"),
    names(7, Outage, "memory ran out"),
    names(8, Outage, "the file is read-only"),
    names(9, Outage, "the statement was interrupted"),
    names(10, Outage, "the disk failed"),
    names(11, Outage, "the file is damaged"),
    names(13, Outage, "the disk, or the file's page limit, is full"),
    names(14, Outage, "the file cannot be opened"),
    names(15, Outage, "the file's lock protocol failed"),
    names(17, Outage, "the schema keeps changing"),
    silent(18, Reject, "a text or blob is larger than SQLite takes"),
    silent(19, Reject, "a constraint refuses the row"),
    names(275, Reject, "a CHECK constraint refuses the row"),
    names(787, Reject, "the row refers to a row that does not exist, or is still referred to"),
    names(1299, Reject, "a column that must not be NULL got NULL"),
    names(1555, Reject, "a row with this key exists"),
    silent(1811, Reject, "a trigger refuses the row (RAISE)"),
    names(2067, Reject, "a row with this key exists"),
    names(2579, Reject, "a row with this rowid exists"),
    names(3091, Reject, "the value is not of its column's type"),
    silent(20, Reject, "the value is not of the type that is needed here"),
    names(21, ErrorClass::Unknown, "SQLite was used wrongly"),
    names(22, Misconfigured, "the operating system does not offer large files"),
    names(23, Rights, "the statement is not allowed"),
    names(25, Misconfigured, "the statement's parameters and its `?` do not fit"),
    names(26, Misconfigured, "the file is not an SQLite database"),
];
