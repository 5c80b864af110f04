//! How large a record may be: what topics allow, and what the client sends.
//!
//! In:        names of topics; a deadline
//! Out:       per topic the two limits, in bytes
//! Fails:     within the deadline, and only as an outage: whoever may not ask, or asks a broker that does not know the
//!            question, learns nothing and goes on
//! Not here:  how a record is counted (model), what is done with one that is larger (operator)

use super::client::{self, ReadingClient, remaining};
use super::wait::block_on;
use super::{KafkaSetup, LogError, LogErrorClass, admin, topic};
use rdkafka::admin::{ConfigResource, ConfigResourceResult, ResourceSpecifier};
use rdkafka::consumer::Consumer;
use rdkafka::error::RDKafkaErrorCode;
use std::time::{Duration, Instant};

/// So long an answer is waited for.
const ANSWER_MAX: Duration = Duration::from_secs(10);
const OPTION: &str = "max.message.bytes";
const DOING: &str = "asking for the record limits of topics";

/// Limits of one topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Of a batch in the topic; `None`: not told.
    pub(super) topic: Option<usize>,
    /// Of a record in the client.
    client: usize,
    /// What the topic's limit is held against is smaller than the record.
    compressed: bool,
}

impl Limits {
    /// What a record may have, not compressed.
    pub(super) fn effective(self) -> Option<usize> {
        let topic = self.topic.filter(|_| !self.compressed);
        Some(topic.map_or(self.client, |topic| topic.min(self.client)))
    }
}

/// The limits of these topics, in order.
pub(super) fn of_topics(
    client: &ReadingClient,
    setup: &KafkaSetup,
    topics: &[String],
    until: Instant,
) -> Result<Vec<Limits>, LogError> {
    let (ours, compressed) = (client::producers_limit(setup), client::compresses(setup));
    let found = if topics.is_empty() || topic::is_mock(client, until) {
        vec![None; topics.len()]
    } else {
        allowed(client, setup, topics, until)?
    };
    Ok(found.into_iter().map(|topic| Limits { topic, client: ours, compressed }).collect())
}

/// `max.message.bytes` of each.
fn allowed(
    client: &ReadingClient,
    setup: &KafkaSetup,
    topics: &[String],
    until: Instant,
) -> Result<Vec<Option<usize>>, LogError> {
    let asker = client::admin(setup)?;
    let wanted: Vec<_> = topics.iter().map(|topic| ResourceSpecifier::Topic(topic)).collect();
    let answer_by = until.min(client::moment_in(remaining(until).min(ANSWER_MAX)));
    let options = admin::options(answer_by);
    let answers = block_on(asker.describe_configs(&wanted, &options), answer_by);
    client::retire(asker);
    let answers = match answers {
        Some(Ok(answers)) => answers,
        Some(Err(error)) => return untold(client, topics, LogError::by(DOING, &error), until),
        None => {
            let late = LogError::by_code(DOING, RDKafkaErrorCode::OperationTimedOut, None);
            return untold(client, topics, late, until);
        }
    };
    let limit = |topic: &String| {
        let found = answers.iter().find_map(|answer| limit_in(topic, answer));
        if found.is_none() {
            tracing::debug!(topic, "the broker does not tell how large a record of the topic may be");
        }
        found
    };
    Ok(topics.iter().map(limit).collect())
}

fn limit_in(topic: &str, answer: &ConfigResourceResult) -> Option<usize> {
    let resource: &ConfigResource = answer.as_ref().ok()?;
    let is_it = resource.specifier == rdkafka::admin::OwnedResourceSpecifier::Topic(topic.to_owned());
    resource.get(OPTION).filter(|_| is_it)?.value.as_ref()?.parse().ok()
}

/// No answer at all. Where the broker answers other questions, it does not know this one; where it is out, that is said.
fn untold(
    client: &ReadingClient,
    topics: &[String],
    error: LogError,
    until: Instant,
) -> Result<Vec<Option<usize>>, LogError> {
    if matches!(error.class, LogErrorClass::Outage | LogErrorClass::Unknown) {
        let name = topics.first().map_or("", String::as_str);
        if admin::partition_count(client, name, until).is_err() {
            return Err(client.context().said.explain(error));
        }
    }
    tracing::debug!(%error, "the broker does not tell how large records may be");
    Ok(vec![None; topics.len()])
}
