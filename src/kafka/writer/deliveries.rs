//! Counts the delivery reports of the transaction at hand.
//!
//! In:        one report per record, on whichever thread polls the producer
//! Out:       how many were delivered, and the first that was not
//! Holds:     counters; reports of an earlier transaction are told apart by its number and not counted
//! Fails:     never

use crate::kafka::client::{LastSaid, lock, log_line};
use rdkafka::client::ClientContext;
use rdkafka::config::RDKafkaLogLevel;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{DeliveryResult, ProducerContext};
use std::sync::Mutex;

/// Bits of a token that hold the record's index; the rest is the transaction's number.
const INDEX_BITS: u32 = 32;

/// The context of a producer.
#[derive(Debug, Default)]
pub(in crate::kafka) struct Deliveries {
    tally: Mutex<Tally>,
    pub(in crate::kafka) said: LastSaid,
}

/// What has been reported of one transaction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    /// Counts transactions, so that late reports are known as such.
    transaction: usize,
    /// Records that are in the log.
    pub(super) delivered: usize,
    /// Index and code of the first record that is not; one that tells the cause goes before those that were given up.
    pub(super) failure: Option<(usize, RDKafkaErrorCode)>,
}

impl Tally {
    /// It is known why a record has failed.
    pub(super) fn has_cause(&self) -> bool {
        self.failure.is_some_and(|(_, code)| !is_given_up(code))
    }
}

/// The record has failed only because another one did.
pub(super) fn is_given_up(code: RDKafkaErrorCode) -> bool {
    matches!(code, RDKafkaErrorCode::PurgeQueue | RDKafkaErrorCode::PurgeInflight)
}

impl Deliveries {
    /// A new transaction: counts from zero.
    pub(super) fn begin(&self) {
        let mut tally = lock(&self.tally);
        let transaction = tally.transaction.wrapping_add(1) & (usize::MAX >> INDEX_BITS);
        *tally = Tally { transaction, ..Tally::default() };
    }

    /// What goes with a record and comes back with its report.
    pub(super) fn token(&self, index: usize) -> usize {
        (lock(&self.tally).transaction << INDEX_BITS) | index
    }

    /// What has been reported so far.
    pub(super) fn tally(&self) -> Tally {
        *lock(&self.tally)
    }
}

impl ClientContext for Deliveries {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, line: &str) {
        log_line(level, facility, line);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.said.note(&error, reason);
    }
}

impl ProducerContext for Deliveries {
    type DeliveryOpaque = usize;

    fn delivery(&self, result: &DeliveryResult<'_>, token: usize) {
        let mut tally = lock(&self.tally);
        if token >> INDEX_BITS != tally.transaction {
            return;
        }
        match result {
            Ok(_) => tally.delivered = tally.delivered.saturating_add(1),
            Err((error, _)) if !tally.has_cause() => {
                let index = token & (usize::MAX >> INDEX_BITS);
                let code = error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Fail);
                if tally.failure.is_none() || !is_given_up(code) {
                    tally.failure = Some((index, code));
                }
            }
            Err(_) => {}
        }
    }
}
