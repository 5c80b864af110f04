//! What a broker tells of topics beside their partitions: ids, and where a moment lies in them.
//!
//! In:        a client; names or partitions; a deadline
//! Out:       ids; positions
//! Fails:     within the deadline. A broker that knows no ids is an answer
//! Not here:  what another id means (protocol)

use super::client::{self, ReadingClient, remaining};
use super::{KafkaSetup, LogError, LogErrorClass, list, native};
use crate::model::{NextOffset, TopicPartition};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rdkafka::consumer::Consumer;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::topic_partition_list::Offset;
use std::time::{Duration, Instant};

/// So long an answer is waited for.
const ANSWER_MAX: Duration = Duration::from_secs(10);

/// The ids, as `kafka-topics.sh --describe` prints them.
pub(super) fn ids(
    client: &ReadingClient,
    topics: &[String],
    until: Instant,
) -> Result<Vec<Option<String>>, LogError> {
    if is_mock(client, until) {
        return Ok(vec![None; topics.len()]);
    }
    let asked = native::topic_ids(client, topics, remaining(until).min(ANSWER_MAX));
    client::serve(client);
    let found = match asked {
        // A broker that answers other questions does not know this one.
        None => super::admin::partition_count(client, topics.first().map_or("", String::as_str), until)
            .map(|_| Vec::new())
            .map_err(|_| RDKafkaErrorCode::OperationTimedOut),
        // Brokers before 2.8.
        Some(Err(RDKafkaErrorCode::UnsupportedFeature | RDKafkaErrorCode::UnsupportedVersion)) => {
            Ok(Vec::new())
        }
        Some(answer) => answer,
    };
    let found = found.map_err(|code| {
        let error = LogError::by_code("asking for the ids of the job's topics", code, None);
        client.context().said.explain(error)
    })?;
    let id = |topic: &String| {
        let (_, id) = found.iter().find(|(name, _)| name == topic)?;
        id.filter(|id| *id != 0).map(|id| URL_SAFE_NO_PAD.encode(id.to_be_bytes()))
    };
    Ok(topics.iter().map(id).collect())
}

/// librdkafka's mock cluster, which the demo runs on, never answers the questions for ids and configurations.
pub(super) fn is_mock(client: &ReadingClient, until: Instant) -> bool {
    let id = client.client().fetch_cluster_id(remaining(until));
    id.is_some_and(|id| id.starts_with("mockCluster"))
}

/// The positions of a moment.
pub(super) fn offsets_at(
    client: &ReadingClient,
    setup: &KafkaSetup,
    of: &[TopicPartition],
    timestamp_ms: i64,
    until: Instant,
) -> Result<Vec<(TopicPartition, NextOffset)>, LogError> {
    if of.is_empty() {
        return Ok(Vec::new());
    }
    let doing = "asking for the offsets of a moment";
    let positions: Vec<_> = of.iter().map(|at| (*at, NextOffset(timestamp_ms))).collect();
    let answer = client.offsets_for_times(list::to_native(setup, &positions)?, remaining(until));
    client::serve(client);
    let answer = answer.map_err(|error| client.context().said.explain(LogError::by(doing, &error)))?;
    let mut found = Vec::with_capacity(of.len());
    for at in of {
        let topic = list::topic_name(setup, *at)?;
        let element = answer.find_partition(topic, at.partition);
        let offset = match element.as_ref().map(|element| (element.error(), element.offset())) {
            Some((Err(error), _)) => return Err(LogError::by(doing, &error).at(*at)),
            Some((Ok(()), Offset::Offset(offset))) => NextOffset(offset),
            // Nothing is that late.
            Some((Ok(()), Offset::End)) => super::admin::ends(client, topic, *at, until)?.1,
            _ => {
                let text = format!("{doing}: the broker said nothing of {topic}/{}", at.partition);
                return Err(LogError::of(LogErrorClass::Unknown, text).at(*at));
            }
        };
        found.push((*at, offset));
    }
    Ok(found)
}
