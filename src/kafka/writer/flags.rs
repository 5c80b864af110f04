//! What an error asks of the transaction it came from.
//!
//! In:        an error of a transactional call, or the cause of an abort
//! Out:       whether to go on, to abort or to give up; and the class that the caller is told
//! Fails:     never
//! Not here:  what a code means by itself (classes)

use crate::kafka::{LogError, LogErrorClass};
use rdkafka::error::{KafkaError, RDKafkaError, RDKafkaErrorCode};

/// What the flags of an error of a transactional call ask for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flags {
    /// The call can be resumed.
    Again,
    /// The transaction must be aborted.
    Abortable,
    /// The producer is of no use any more.
    Fatal,
    /// None of these.
    None,
}

impl Flags {
    pub(super) fn of(error: &KafkaError) -> Flags {
        match error {
            // The wrapper's own flush before the commit ran out of time: it has no flags.
            KafkaError::Flush(_) => Flags::Again,
            KafkaError::Transaction(inner) => Flags::of_native(inner),
            _ => Flags::None,
        }
    }

    fn of_native(error: &RDKafkaError) -> Flags {
        if error.is_fatal() {
            Flags::Fatal
        } else if error.txn_requires_abort() {
            Flags::Abortable
        } else if error.is_retriable() || error.code() == RDKafkaErrorCode::OperationTimedOut {
            Flags::Again
        } else {
            Flags::None
        }
    }
}

/// An error whose outcome is unknown keeps only a class that makes sense for a producer that is gone.
pub(super) fn lost(mut error: LogError) -> LogError {
    error.class = match error.class {
        LogErrorClass::Fenced
        | LogErrorClass::Rights
        | LogErrorClass::Misconfigured
        | LogErrorClass::Unknown => error.class,
        _ => LogErrorClass::Outage,
    };
    error
}

/// Whether the same transaction would fail again, however often it is sent.
pub(super) fn is_lasting(class: LogErrorClass) -> bool {
    matches!(class, LogErrorClass::TooLarge | LogErrorClass::Misconfigured | LogErrorClass::Rights)
}

/// What the caller is told when a transaction was aborted cleanly: the cause where repeating cannot help.
pub(super) fn aborted(mut cause: LogError) -> LogError {
    if !is_lasting(cause.class) {
        cause.class = LogErrorClass::Aborted;
    }
    cause.message = format!("{}; the transaction was aborted", cause.message);
    cause
}
