//! The consumer group's committed offsets: a display for lag tools, and where a job may begin.
//!
//! In:        partitions or positions; a client of the group that is not a member
//! Out:       committed positions; or that they are committed now
//! Fails:     within the deadline. While somebody else has subscribed with the group, commits are refused: misconfigured
//! Not here:  the truth about positions (the ledger)

use super::client::{self, ReadingClient, remaining};
use super::{KafkaSetup, LogError, list, native};
use crate::model::{NextOffset, TopicPartition};
use rdkafka::consumer::Consumer;
use rdkafka::error::RDKafkaErrorCode;
use std::time::Instant;

/// The committed positions; partitions without one are left out.
pub(super) fn positions(
    client: &ReadingClient,
    setup: &KafkaSetup,
    of: &[TopicPartition],
    until: Instant,
) -> Result<Vec<(TopicPartition, NextOffset)>, LogError> {
    if of.is_empty() {
        return Ok(Vec::new());
    }
    let doing = format!("asking for the offsets of the group `{}`", setup.group_id);
    let asked = client.committed_offsets(list::without_positions(setup, of)?, remaining(until));
    client::serve(client);
    let committed = asked.map_err(|error| client.context().said.explain(LogError::by(&doing, &error)))?;
    if let Some(error) = committed.elements().iter().find_map(|element| element.error().err()) {
        return Err(LogError::by(&doing, &error));
    }
    Ok(list::from_native(setup, &committed))
}

/// Commits.
pub(super) fn commit(
    client: &ReadingClient,
    setup: &KafkaSetup,
    positions: &[(TopicPartition, NextOffset)],
    until: Instant,
) -> Result<(), LogError> {
    if positions.is_empty() {
        return Ok(());
    }
    let doing = format!("committing the offsets of the group `{}`", setup.group_id);
    let outcome = native::commit(client, &list::to_native(setup, positions)?, remaining(until));
    client::serve(client);
    outcome
        .unwrap_or(Err(RDKafkaErrorCode::OperationTimedOut))
        .map_err(|code| client.context().said.explain(LogError::by_code(&doing, code, None)))
}
