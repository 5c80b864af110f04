//! What the log needs to know of the job: where the brokers are, which topics, under which names.
//!
//! In:        the checked job
//! Out:       [`KafkaSetup`], plain data
//! Fails:     never: whatever is wrong is found by the first call that asks a broker
//! Not here:  no client options of Tidegate's own (client)

use crate::job::{JobSpec, Secret};
use crate::model::{Destination, TopicPartition};
use std::collections::BTreeMap;

/// Everything that [`super::open`] needs.
#[derive(Clone, Debug)]
pub struct KafkaSetup {
    /// `host:port`, several by commas.
    pub bootstrap_servers: String,
    /// The user's librdkafka options. Values may be secrets. What Tidegate owns is set over them.
    pub client: BTreeMap<String, Secret>,
    /// The consumer group whose committed offsets show the job's progress; it never gets a member.
    pub group_id: String,
    /// The topics that are read; [`TopicPartition::topic`] counts in this order.
    pub topics: Vec<String>,
    /// Where [`Destination::Output`] goes.
    pub output_topics: Vec<String>,
    /// Where [`Destination::DeadLetter`] goes.
    pub dead_letter_topic: Option<String>,
    /// The compacted topic of emitted batch numbers.
    pub progress_topic: String,
    /// The job's name, for the clients' names in the broker's logs.
    pub job: String,
    /// The largest record that is sent, in bytes, key and headers included. What the topic allows may be less.
    pub record_bytes_max: usize,
}

impl KafkaSetup {
    /// The setup of a checked job.
    pub fn from_spec(spec: &JobSpec) -> KafkaSetup {
        KafkaSetup {
            bootstrap_servers: spec.source.bootstrap_servers.clone(),
            client: spec.source.client.clone(),
            group_id: spec.source.group_id.clone(),
            topics: spec.source.topics.clone(),
            output_topics: spec.output_topics.clone(),
            dead_letter_topic: spec.rejects.dead_letter_topic.clone(),
            progress_topic: progress_topic_name(&spec.name),
            job: spec.name.clone(),
            record_bytes_max: record_bytes_max(spec.limits.document_bytes),
        }
    }

    /// The name of an input topic, for messages and requests.
    pub(super) fn topic_name(&self, at: TopicPartition) -> Option<&str> {
        self.topics.get(usize::from(at.topic)).map(String::as_str)
    }

    /// The input topic of this name.
    pub(super) fn topic_index(&self, name: &str) -> Option<u16> {
        let index = self.topics.iter().position(|topic| topic == name)?;
        u16::try_from(index).ok()
    }

    /// The topic that a record goes to.
    pub(super) fn destination(&self, to: Destination) -> Option<&str> {
        match to {
            Destination::Output(topic) => self.output_topics.get(usize::from(topic)).map(String::as_str),
            Destination::DeadLetter => self.dead_letter_topic.as_deref(),
        }
    }
}

/// The name of a job's progress topic.
pub fn progress_topic_name(job: &str) -> String {
    format!("tidegate-{job}-progress")
}

/// An output may be longer than its input by what is added, and carries key and headers: twice the document and a
/// mebibyte is more than any sane job adds, and librdkafka's own limit is the end of it.
fn record_bytes_max(document_bytes: usize) -> usize {
    const LEAST: usize = 4 << 20;
    const MOST: usize = 1_000_000_000;
    document_bytes.saturating_mul(2).saturating_add(1 << 20).clamp(LEAST, MOST)
}
