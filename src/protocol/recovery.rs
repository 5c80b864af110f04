//! Recovery: what a start makes of the ledger, its outbox and the progress topic.
//!
//! In:        position rows, outbox batches and progress of the key groups that a worker has claimed
//! Out:       which outbox batches are to be emitted before anything else, or why the three disagree
//! Order:     per key group by batch number
//! Fails:     with a [`Disagreement`]: something outside has moved one of the three, and no guess is safe
//! Not here:  no reading of any of them. It relies on the order of a start: the key groups claimed, then every producer
//!            fenced, then the claims found to stand, then the progress topic read, then the outbox

use crate::model::{BatchNumber, KeyGroup};
use std::collections::BTreeMap;

/// What ledger and log say of one key group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Found {
    /// The key group.
    pub group: KeyGroup,
    /// The last batch stored.
    pub batch: BatchNumber,
    /// The last batch stored that had something to send.
    pub output_batch: BatchNumber,
    /// The outbox's batches, rising.
    pub outbox: Vec<BatchNumber>,
    /// The last batch in the progress topic; 0: none.
    pub emitted: BatchNumber,
}

/// Ledger and log do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disagreement {
    /// Kafka has what the ledger never stored.
    #[error(
        "key group {group}: Kafka has batch {emitted} and the ledger's last one with outputs is {stored}: the database \
         was put back to an earlier state, or the ledger's tables were emptied"
    )]
    LedgerBehind {
        /// The key group.
        group: KeyGroup,
        /// In the progress topic.
        emitted: BatchNumber,
        /// In the ledger.
        stored: BatchNumber,
    },
    /// The job's frontier has moved over outputs that the progress topic does not know.
    #[error(
        "key group {group}: the job's frontier says that Kafka has everything up to batch {stored}, and the progress topic \
         has batch {emitted}: the progress topic was emptied or recreated, or has lost records"
    )]
    ProgressBehind {
        /// The key group.
        group: KeyGroup,
        /// In the progress topic.
        emitted: BatchNumber,
        /// In the ledger.
        stored: BatchNumber,
    },
    /// The ledger has heard of Kafka that it has what the progress topic does not know.
    #[error(
        "key group {group}: Kafka has confirmed batch {confirmed} (the ledger's row says so), and the progress topic has batch \
         {emitted}: the progress topic was emptied or recreated, or has lost records"
    )]
    ConfirmedMissing {
        /// The key group.
        group: KeyGroup,
        /// In the progress topic.
        emitted: BatchNumber,
        /// In the ledger.
        confirmed: BatchNumber,
    },
    /// The ledger stored outputs that are neither in Kafka nor in the outbox.
    #[error(
        "key group {group}: the ledger stored outputs up to batch {stored}, Kafka has them up to {emitted}, and the \
         outbox does not hold the rest: the progress topic was emptied or recreated, or outbox rows were deleted"
    )]
    OutputsMissing {
        /// The key group.
        group: KeyGroup,
        /// In the progress topic.
        emitted: BatchNumber,
        /// In the ledger.
        stored: BatchNumber,
    },
}

impl Disagreement {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Disagreement::LedgerBehind { .. } => {
                "Bring the newer state of the database back; or `tidegate offsets reset JOB --to ledger` goes on from the older \
                 one: what came behind it is handled again, and its outputs are sent again"
            }
            Disagreement::ProgressBehind { .. }
            | Disagreement::ConfirmedMissing { .. }
            | Disagreement::OutputsMissing { .. } => super::world::PROGRESS_LOST,
        }
    }
}

/// Whether the progress topic knows what Kafka has confirmed. The row is to be read before the topic.
///
/// # Errors
/// [`Disagreement::ConfirmedMissing`].
pub fn knows_confirmed(
    group: KeyGroup,
    confirmed: BatchNumber,
    emitted: BatchNumber,
) -> Result<(), Disagreement> {
    if emitted < confirmed {
        return Err(Disagreement::ConfirmedMissing { group, emitted, confirmed });
    }
    Ok(())
}

/// Whether all that Kafka lacks of a key group are retries. Positions say nothing of those: their events were parked, and
/// the frontier has passed them before they were tried again. `outbox`: the key group's rows, each with whether it is a retry.
pub fn lacks_retries_alone(
    emitted: BatchNumber,
    output_batch: BatchNumber,
    outbox: impl Iterator<Item = (BatchNumber, bool)>,
) -> bool {
    let lacking: Vec<_> = outbox.filter(|(batch, _)| *batch > emitted).collect();
    let reaches = lacking.iter().any(|(batch, _)| *batch == output_batch);
    reaches && lacking.iter().all(|(_, is_retry)| *is_retry)
}

/// The outbox batches to be emitted, per key group in order.
///
/// # Errors
/// The first [`Disagreement`].
pub fn plan(found: &[Found]) -> Result<BTreeMap<KeyGroup, Vec<BatchNumber>>, Disagreement> {
    let mut plan = BTreeMap::new();
    for row in found {
        assert!(
            row.output_batch <= row.batch,
            "key group {}: outputs of a batch that was not stored",
            row.group
        );
        if row.emitted > row.output_batch {
            return Err(Disagreement::LedgerBehind {
                group: row.group,
                emitted: row.emitted,
                stored: row.output_batch,
            });
        }
        let missing: Vec<BatchNumber> = row.outbox.iter().copied().filter(|n| *n > row.emitted).collect();
        if missing.last().copied().unwrap_or(row.emitted) != row.output_batch {
            return Err(Disagreement::OutputsMissing {
                group: row.group,
                emitted: row.emitted,
                stored: row.output_batch,
            });
        }
        if !missing.is_empty() {
            plan.insert(row.group, missing);
        }
    }
    Ok(plan)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(batch: u64, output_batch: u64, outbox: &[u64], emitted: u64) -> Found {
        Found {
            group: KeyGroup(3),
            batch: BatchNumber(batch),
            output_batch: BatchNumber(output_batch),
            outbox: outbox.iter().map(|n| BatchNumber(*n)).collect(),
            emitted: BatchNumber(emitted),
        }
    }

    #[test]
    fn only_what_kafka_lacks_is_emitted() {
        let plan = plan(&[found(9, 8, &[5, 7, 8], 5)]).unwrap();
        assert_eq!(plan[&KeyGroup(3)], vec![BatchNumber(7), BatchNumber(8)]);
    }

    #[test]
    fn a_fresh_job_and_a_clean_end_have_nothing_to_emit() {
        assert!(plan(&[found(0, 0, &[], 0), found(9, 8, &[8], 8), found(9, 8, &[], 8)]).unwrap().is_empty());
    }

    #[test]
    fn kafka_ahead_of_the_ledger_is_refused() {
        let error = plan(&[found(4, 4, &[], 6)]).unwrap_err();
        assert!(matches!(error, Disagreement::LedgerBehind { .. }), "{error}");
    }

    #[test]
    fn what_kafka_has_confirmed_must_stand_in_the_progress_topic() {
        let knows =
            |confirmed, emitted| knows_confirmed(KeyGroup(3), BatchNumber(confirmed), BatchNumber(emitted));
        assert!(knows(0, 0).is_ok() && knows(4, 4).is_ok() && knows(4, 9).is_ok());
        assert!(matches!(knows(4, 3).unwrap_err(), Disagreement::ConfirmedMissing { .. }));
        assert!(knows(1, 0).is_err());
    }

    #[test]
    fn behind_the_frontier_kafka_may_lack_retries_and_nothing_else() {
        let lacks = |emitted, output_batch, outbox: &[(u64, bool)]| {
            let outbox = outbox.iter().map(|(batch, is_retry)| (BatchNumber(*batch), *is_retry));
            lacks_retries_alone(BatchNumber(emitted), BatchNumber(output_batch), outbox)
        };
        assert!(lacks(4, 6, &[(4, false), (5, true), (6, true)]));
        assert!(!lacks(4, 6, &[(5, false), (6, true)]), "a batch of the queue is lacking");
        assert!(!lacks(4, 6, &[(5, true)]), "the last one is not there");
        assert!(!lacks(4, 6, &[]));
    }

    #[test]
    fn outputs_that_nobody_has_are_refused() {
        for row in [found(4, 4, &[], 2), found(4, 4, &[3], 2), found(4, 4, &[], 0)] {
            assert!(matches!(plan(&[row]).unwrap_err(), Disagreement::OutputsMissing { .. }));
        }
    }
}
