//! Takes over many transactional ids and lets go of them again, so that no former holder can commit any more.
//!
//! In:        the ids, and a deadline for all of them
//! Out:       every id is fenced, and every transaction that a holder left open is decided
//! Order:     none between the ids
//! Fails:     with the first error, when the ids that were begun are done
//! Not here:  whose ids they are (recovery)

use super::client::remaining;
use super::writer::KafkaWriter;
use super::{KafkaSetup, LogError, LogErrorClass};
use rdkafka::error::RDKafkaErrorCode;
use std::sync::Arc;
use std::time::Instant;

/// Each is a client with four threads and half a megabyte for half a second.
const AT_A_TIME: usize = 32;

/// Fences all of them.
pub(super) fn all(setup: &Arc<KafkaSetup>, ids: &[String], until: Instant) -> Result<(), LogError> {
    for some in ids.chunks(AT_A_TIME) {
        if remaining(until).is_zero() {
            let doing = format!("fencing {} transactional ids", ids.len());
            return Err(LogError::by_code(doing, RDKafkaErrorCode::OperationTimedOut, None));
        }
        together(setup, some, until)?;
    }
    Ok(())
}

fn together(setup: &Arc<KafkaSetup>, ids: &[String], until: Instant) -> Result<(), LogError> {
    std::thread::scope(|scope| {
        let running: Vec<_> = ids
            .iter()
            .map(|id| {
                std::thread::Builder::new()
                    .name("kafka-fence".to_owned())
                    .spawn_scoped(scope, move || one(setup, id, until))
            })
            .collect();
        let mut outcome = Ok(());
        for spawned in running {
            let fenced = match spawned.map(std::thread::ScopedJoinHandle::join) {
                Ok(Ok(fenced)) => fenced,
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                Err(error) => Err(LogError::of(
                    LogErrorClass::Outage,
                    format!("fencing transactional ids: no thread to do it on: {error}"),
                )),
            };
            outcome = outcome.and(fenced);
        }
        outcome
    })
}

fn one(setup: &Arc<KafkaSetup>, id: &str, until: Instant) -> Result<(), LogError> {
    KafkaWriter::open(Arc::clone(setup), id, usize::MAX, remaining(until)).map(KafkaWriter::close)
}
