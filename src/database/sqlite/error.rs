//! rusqlite's errors, classified, with every value cut out.
//!
//! In:        what was being done, and the error
//! Out:       [`DatabaseError`]
//! Fails:     never; what nobody knows is [`ErrorClass::Unknown`]
//! Not here:  the table of codes (`classes.rs`)

use super::classes::{Shows, known};
use crate::database::{DatabaseError, ErrorClass};
use rusqlite::{Error, ffi};

/// Classifies an error.
pub(super) fn classify(doing: &str, error: Error) -> DatabaseError {
    match error {
        Error::SqliteFailure(error, text) => engine(doing, error, text.as_deref()),
        Error::SqlInputError { error, msg, .. } => engine(doing, error, Some(&msg)),
        Error::InvalidParameterCount(given, needed) => {
            misconfigured(doing, &format!("the statement has {needed} parameters, and the job binds {given}"))
        }
        Error::MultipleStatement => misconfigured(doing, "this is more than one statement"),
        Error::NulError(_) => misconfigured(doing, "the statement holds a NUL character"),
        Error::Utf8Error(..) => {
            DatabaseError::new(ErrorClass::Reject, format!("{doing}: a text in the database is not UTF-8"))
        }
        _ => DatabaseError::new(ErrorClass::Unknown, format!("{doing}: the driver failed")).session_lost(),
    }
}

fn misconfigured(doing: &str, sentence: &str) -> DatabaseError {
    DatabaseError::new(ErrorClass::Misconfigured, format!("{doing}: {sentence}"))
}

fn engine(doing: &str, error: ffi::Error, text: Option<&str>) -> DatabaseError {
    let code = i64::from(error.extended_code);
    let known = known(code);
    let class = known.map_or(ErrorClass::Unknown, |row| row.code.class);
    let sentence = known.map_or("SQLite answered with a code that is in no table", |row| row.code.sentence);
    let shown = match (known.is_some_and(|row| row.shows == Shows::Text), text) {
        (true, Some(text)) => format!(": {text}"),
        _ => String::new(),
    };
    let message = format!("{doing}: {sentence}{shown} (SQLite code {code})");
    // A file that cannot be opened, read or written may be another one when it is back.
    let broken = matches!(code & 0xff, 8 | 10 | 11 | 14 | 15 | 26);
    DatabaseError { class, code: Some(code), message, broken, rolled_back: false, row: None }
}
