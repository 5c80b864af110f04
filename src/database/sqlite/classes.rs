//! The table of SQLite's result codes: what each asks for, in one sentence for a person.
//!
//! In:        a result code, extended or primary
//! Out:       class, sentence, and whether SQLite's text may be shown
//! Order:     an extended code is looked for first, then its primary code
//! Fails:     never: a code that stands nowhere is [`ErrorClass::Unknown`]
//! Not here:  errors that are no engine's (`error.rs`)

use crate::database::{ErrorClass, KnownCode};

/// What is known of a code.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) code: KnownCode,
    pub(super) shows: Shows,
}

/// What of SQLite's own text can be shown: values of events must not reach logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shows {
    /// All of it: it names tables and columns only.
    Text,
    /// Nothing: it may hold values.
    Nothing,
}

/// The row of a code.
pub(super) fn known(extended: i64) -> Option<&'static Known> {
    let row = |code: i64| TABLE.iter().find(|row| row.code.number == code);
    row(extended).or_else(|| row(extended & 0xff))
}

/// The whole table, code by code.
pub(in crate::database) fn codes() -> Vec<KnownCode> {
    TABLE.iter().map(|row| row.code).collect()
}

/// `NUMBER NAME Class Shows seen "sentence" => "advice";`, `Shows` is `Text` where SQLite's own text names tables and columns
/// only, and `Nothing` where it may hold values; `seen` where a test provokes the code.
macro_rules! table {
    ($($number:literal $name:ident $class:ident $shows:ident $($seen:ident)? $sentence:literal => $advice:literal;)+) => {
        &[$(Known {
            code: KnownCode {
                number: $number,
                name: stringify!($name),
                class: ErrorClass::$class,
                sentence: $sentence,
                advice: $advice,
                seen: !stringify!($($seen)?).is_empty(),
            },
            shows: Shows::$shows,
        }),+]
    };
}

const TABLE: &[Known] = table! {
    1 SQLITE_ERROR Misconfigured Text seen
        "the SQL is not understood, or a table or column does not exist"
        => "mend the step, or the schema";
    2 SQLITE_INTERNAL Unknown Text
        "SQLite failed inside"
        => "keep the log and report it";
    3 SQLITE_PERM Rights Text
        "the file may not be used"
        => "see the file's owner and rights";
    4 SQLITE_ABORT Outage Text
        "the statement was aborted"
        => "nothing, unless it comes again and again";
    5 SQLITE_BUSY Outage Text seen
        "another process holds the file's lock"
        => "end the other process, or its transaction";
    6 SQLITE_LOCKED Outage Text
        "another connection holds the table's lock"
        => "end the other transaction";
    7 SQLITE_NOMEM Outage Text
        "memory ran out"
        => "give the process more memory";
    8 SQLITE_READONLY Outage Text seen
        "the file is read-only"
        => "see its rights, and those of its folder and file system";
    9 SQLITE_INTERRUPT Outage Text
        "the statement was interrupted"
        => "nothing, unless it comes again and again";
    10 SQLITE_IOERR Outage Text
        "the disk failed"
        => "see the system's log; repair the disk";
    11 SQLITE_CORRUPT Outage Text seen
        "the file is damaged"
        => "a backup, or the recovery of the sqlite3 shell";
    13 SQLITE_FULL Outage Text seen
        "the disk, or the file's page limit, is full"
        => "make room: the job goes on by itself";
    14 SQLITE_CANTOPEN Outage Text seen
        "the file cannot be opened"
        => "see database.url, the folder and its rights";
    15 SQLITE_PROTOCOL Outage Text
        "the file's lock protocol failed"
        => "keep the file on a local disk";
    17 SQLITE_SCHEMA Outage Text
        "the schema keeps changing"
        => "end whoever changes it";
    18 SQLITE_TOOBIG Reject Nothing seen
        "a text or blob is larger than SQLite takes"
        => "store it elsewhere, or a part of it";
    19 SQLITE_CONSTRAINT Reject Nothing
        "a constraint refuses the row"
        => "see the table's constraints";
    275 SQLITE_CONSTRAINT_CHECK Reject Text seen
        "a CHECK constraint refuses the row"
        => "see the constraint that the message names";
    787 SQLITE_CONSTRAINT_FOREIGNKEY Reject Text seen
        "the row refers to a row that does not exist, or is still referred to"
        => "add that row, or store it in a step before";
    1299 SQLITE_CONSTRAINT_NOTNULL Reject Text seen
        "a column that must not be NULL got NULL"
        => "allow NULL, or make the field required (take optional away)";
    1555 SQLITE_CONSTRAINT_PRIMARYKEY Reject Text seen
        "a row with this key exists"
        => "write the step so that it may come twice (ON CONFLICT DO UPDATE), or remove the row";
    1811 SQLITE_CONSTRAINT_TRIGGER Reject Nothing seen
        "a trigger refuses the row (RAISE)"
        => "see the triggers of the step's table";
    2067 SQLITE_CONSTRAINT_UNIQUE Reject Text seen
        "a row with this key exists"
        => "write the step so that it may come twice (ON CONFLICT DO UPDATE), or remove the row";
    2579 SQLITE_CONSTRAINT_ROWID Reject Text seen
        "a row with this rowid exists"
        => "write the step so that it may come twice, or remove the row";
    3091 SQLITE_CONSTRAINT_DATATYPE Reject Text seen
        "the value is not of its column's type"
        => "see the column's type (STRICT tables)";
    20 SQLITE_MISMATCH Reject Nothing seen
        "the value is not of the type that is needed here"
        => "see the column's type";
    21 SQLITE_MISUSE Unknown Text
        "SQLite was used wrongly"
        => "keep the log and report it";
    22 SQLITE_NOLFS Misconfigured Text
        "the operating system does not offer large files"
        => "keep the file on another file system";
    23 SQLITE_AUTH Rights Text
        "the statement is not allowed"
        => "mend the step";
    25 SQLITE_RANGE Misconfigured Text
        "the statement's parameters and its `?` do not fit"
        => "mend the step";
    26 SQLITE_NOTADB Misconfigured Text seen
        "the file is not an SQLite database"
        => "mend database.url, or remove the file";
};
