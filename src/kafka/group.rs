//! The consumer group's committed offsets: a display for lag tools, and where a job may begin.
//!
//! In:        partitions or positions; a client of the group that is not a member
//! Out:       committed positions; or that they are committed now
//! Fails:     within the deadline. While somebody else has subscribed with the group, commits are refused: misconfigured
//! Not here:  the truth about positions (the ledger)

use super::client::{self, ReadingClient, remaining};
use super::{GroupPosition, KafkaSetup, LogError, list, native};
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
) -> Result<Vec<GroupPosition>, LogError> {
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
    let mark = |at: TopicPartition| {
        let topic = setup.topic_name(at)?;
        Some(committed.find_partition(topic, at.partition)?.metadata().to_owned())
    };
    let found = list::from_native(setup, &committed).into_iter();
    Ok(found.map(|(at, next)| GroupPosition { at, next, mark: mark(at).unwrap_or_default() }).collect())
}

/// Commits.
pub(super) fn commit(
    client: &ReadingClient,
    setup: &KafkaSetup,
    positions: &[(TopicPartition, NextOffset)],
    mark: &str,
    until: Instant,
) -> Result<(), LogError> {
    if positions.is_empty() {
        return Ok(());
    }
    let doing = format!("committing the offsets of the group `{}`", setup.group_id);
    let list = list::to_native(setup, positions)?;
    for (at, _) in positions {
        if let Some(mut element) = list.find_partition(list::topic_name(setup, *at)?, at.partition) {
            element.set_metadata(mark);
        }
    }
    let outcome = native::commit(client, &list, remaining(until));
    client::serve(client);
    outcome
        .unwrap_or(Err(RDKafkaErrorCode::OperationTimedOut))
        .map_err(|code| client.context().said.explain(LogError::by_code(&doing, code, None)))
}
