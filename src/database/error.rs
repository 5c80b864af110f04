//! Building a [`DatabaseError`]: the few shapes that both engines share.
//!
//! In:        a class, and a sentence without values
//! Out:       [`DatabaseError`]
//! Not here:  which code has which class (`mysql/classes.rs`, `sqlite/classes.rs`)

use super::{DatabaseError, ErrorClass};

impl DatabaseError {
    /// An error that no engine's code stands behind.
    pub(super) fn new(class: ErrorClass, message: impl Into<String>) -> DatabaseError {
        DatabaseError {
            class,
            code: None,
            message: message.into(),
            broken: false,
            rolled_back: false,
            row: None,
        }
    }

    /// The same error, about this row of parameters.
    pub(super) fn at_row(mut self, row: usize) -> DatabaseError {
        self.row = Some(row);
        self
    }

    /// The same error on a session that must not be used any more.
    pub(super) fn session_lost(mut self) -> DatabaseError {
        self.broken = true;
        self
    }
}

/// The transaction that something belongs to is not open any more. What is asked of it next must not run on its own.
pub(super) fn transaction_lost() -> DatabaseError {
    let message = "the transaction is not open any more: the database has rolled it back";
    DatabaseError { rolled_back: true, ..DatabaseError::new(ErrorClass::Contention, message) }
}

/// A look-up that found more than one row for one row of parameters.
pub(super) fn more_than_one_row(label: &str, row: usize) -> DatabaseError {
    DatabaseError::new(
        ErrorClass::Reject,
        format!(
            "{label}: more than one row was found where at most one may be; make the WHERE clause unique"
        ),
    )
    .at_row(row)
}
