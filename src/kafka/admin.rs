//! Questions about topics, and the making of the one topic that is Tidegate's own.
//!
//! In:        a client of the group that has no assignment; names; a deadline
//! Out:       partition counts, ends, a topic
//! Fails:     within the deadline, by class; a missing topic is an answer where it is asked for, else misconfigured
//! Not here:  the group's offsets (group), reading (reader)

use super::client::{self, AdminContext, ReadingClient, moment_in, remaining};
use super::wait::block_on;
use super::{KafkaSetup, LogError};
use crate::model::{NextOffset, Offset, TopicPartition};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, ResourceSpecifier, TopicReplication};
use rdkafka::consumer::Consumer;
use rdkafka::error::RDKafkaErrorCode;
use rdkafka::metadata::Metadata;
use std::time::{Duration, Instant};

/// Closed segments alone are compacted: small ones keep the topic, and so the start of a job, short.
const PROGRESS_SEGMENT_BYTES: &str = "16777216";
/// Fewer where the cluster has fewer brokers.
const PROGRESS_REPLICAS_MAX: usize = 3;

/// Asks for anything at all: an answer means that a broker is there.
pub(super) fn probe(client: &ReadingClient, setup: &KafkaSetup, until: Instant) -> Result<(), LogError> {
    let topic = setup.topics.first().unwrap_or(&setup.progress_topic);
    metadata(client, topic, until).map(drop)
}

/// The number of a topic's partitions; `None` where it does not exist.
pub(super) fn partition_count(
    client: &ReadingClient,
    topic: &str,
    until: Instant,
) -> Result<Option<i32>, LogError> {
    let metadata = metadata(client, topic, until)?;
    let found = metadata.topics().iter().find(|found| found.name() == topic);
    let Some(found) = found else { return Ok(None) };
    match found.error().map(RDKafkaErrorCode::from) {
        None => Ok(i32::try_from(found.partitions().len()).ok().filter(|count| *count > 0)),
        Some(RDKafkaErrorCode::UnknownTopicOrPartition | RDKafkaErrorCode::UnknownTopic) => Ok(None),
        Some(code) => Err(LogError::by_code(format!("asking for the partitions of `{topic}`"), code, None)),
    }
}

/// The first offset and the last stable offset of an input partition.
pub(super) fn ends(
    client: &ReadingClient,
    topic: &str,
    at: TopicPartition,
    until: Instant,
) -> Result<(Offset, NextOffset), LogError> {
    let doing = format!("asking for the ends of {topic}/{}", at.partition);
    let (low, end) = watermarks(client, topic, at.partition, &doing, until).map_err(|error| error.at(at))?;
    Ok((Offset(low), NextOffset(end)))
}

/// The first offset and the last stable offset. `doing` is for the message.
///
/// librdkafka calls a partition unknown, too, that has no leader at the moment, as after a broker's start, and goes on to say
/// so from memory when it has one again. The cluster's metadata tell the two apart, and refresh that memory.
pub(super) fn watermarks(
    client: &ReadingClient,
    topic: &str,
    partition: i32,
    doing: &str,
    until: Instant,
) -> Result<(i64, i64), LogError> {
    const PAUSE: Duration = Duration::from_millis(100);
    loop {
        let error = match client.fetch_watermarks(topic, partition, remaining(until)) {
            Ok(found) => return Ok(found),
            Err(error) => error,
        };
        let is_unknown = error.rdkafka_error_code() == Some(RDKafkaErrorCode::UnknownPartition);
        if !is_unknown || partition_count(client, topic, until)?.is_none_or(|count| partition >= count) {
            return Err(LogError::by(doing, &error));
        }
        if remaining(until) <= PAUSE {
            return Err(LogError::by_code(doing, RDKafkaErrorCode::LeaderNotAvailable, None));
        }
        std::thread::sleep(PAUSE);
    }
}

/// Makes the progress topic where it is missing, and waits until it can be used.
pub(super) fn create_progress_topic(
    client: &ReadingClient,
    setup: &KafkaSetup,
    until: Instant,
) -> Result<(), LogError> {
    let topic = setup.progress_topic.as_str();
    if partition_count(client, topic, until)?.is_some() {
        warn_unless_compacted(setup);
        return Ok(());
    }
    let brokers = metadata(client, topic, until)?.brokers().len();
    let replicas = i32::try_from(brokers.clamp(1, PROGRESS_REPLICAS_MAX)).unwrap_or(1);
    let admin = client::admin(setup)?;
    let created = create_compacted(&admin, topic, replicas, until);
    client::retire(admin);
    created?;
    while partition_count(client, topic, until)?.is_none() {
        if remaining(until).is_zero() {
            let doing = format!("waiting for the new topic `{topic}`");
            return Err(LogError::by_code(doing, RDKafkaErrorCode::OperationTimedOut, None));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn create_compacted(
    admin: &AdminClient<AdminContext>,
    topic: &str,
    replicas: i32,
    until: Instant,
) -> Result<(), LogError> {
    let doing =
        format!("creating the progress topic `{topic}` (compacted, 1 partition, {replicas} replicas)");
    let wanted = NewTopic::new(topic, 1, TopicReplication::Fixed(replicas))
        .set("cleanup.policy", "compact")
        .set("segment.bytes", PROGRESS_SEGMENT_BYTES);
    let options = options(until);
    let answer = block_on(admin.create_topics([&wanted], &options), until)
        .ok_or_else(|| LogError::by_code(&doing, RDKafkaErrorCode::OperationTimedOut, None))?
        .map_err(|error| LogError::by(&doing, &error))?;
    match answer.into_iter().next() {
        // Another worker or process of the job was first.
        None | Some(Ok(_) | Err((_, RDKafkaErrorCode::TopicAlreadyExists))) => Ok(()),
        Some(Err((_, code))) => Err(LogError::by_code(
            format!("{doing}; where the job may not create topics, somebody who may has to do it"),
            code,
            None,
        )),
    }
}

/// A topic of that name that deletes old records would forget batches of quiet key groups. It is only a warning, as
/// the question may be forbidden or never answered (librdkafka's mock cluster): so nobody waits for it, either.
fn warn_unless_compacted(setup: &KafkaSetup) {
    const PATIENCE: Duration = Duration::from_secs(10);
    let setup = setup.clone();
    let asking = std::thread::Builder::new().name("kafka-compacted".to_owned()).spawn(move || {
        let topic = setup.progress_topic.as_str();
        match cleanup_policy(&setup, moment_in(PATIENCE)) {
            Some(policy) if !policy.split(',').any(|part| part.trim() == "compact") => tracing::warn!(
                topic,
                found = policy,
                "the progress topic is not compacted: set its cleanup.policy to compact, or batches of quiet keys are forgotten"
            ),
            Some(_) => {}
            None => tracing::debug!(topic, "the broker does not tell whether the progress topic is compacted"),
        }
    });
    if let Err(error) = asking {
        tracing::debug!(%error, "no thread to ask whether the progress topic is compacted");
    }
}

fn cleanup_policy(setup: &KafkaSetup, until: Instant) -> Option<String> {
    let admin = client::admin(setup).ok()?;
    let options = options(until);
    let topic = ResourceSpecifier::Topic(&setup.progress_topic);
    let answers = block_on(admin.describe_configs([&topic], &options), until)?.ok()?;
    answers.into_iter().next()?.ok()?.get("cleanup.policy")?.value.clone()
}

pub(super) fn options(until: Instant) -> AdminOptions {
    // librdkafka refuses a time-out of nothing.
    let left = remaining(until).max(Duration::from_millis(10));
    AdminOptions::new().request_timeout(Some(left)).operation_timeout(Some(left))
}

fn metadata(client: &ReadingClient, topic: &str, until: Instant) -> Result<Metadata, LogError> {
    let asked = client.fetch_metadata(Some(topic), remaining(until));
    client::serve(client);
    asked.map_err(|error| {
        let error = LogError::by(format!("asking a broker about the topic `{topic}`"), &error);
        client.context().said.explain(error)
    })
}
