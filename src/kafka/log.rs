//! [`Log`] on Kafka: hands each question to the file that answers it.
//!
//! In:        [`KafkaSetup`]
//! Out:       readers, writers, answers
//! Holds:     one client for questions, built at the first and kept while it is heard of; the least record limit that was met
//! Fails:     within the deadline that each call is given
//! Not here:  no connection before the first call

use super::client::{Shared, moment_in};
use super::reader::KafkaReader;
use super::writer::KafkaWriter;
use super::{
    GroupPosition, KafkaSetup, Log, LogError, ProgressRow, Reader, Writer, admin, fence, group, limits, list,
    progress, topic,
};
use crate::model::{NextOffset, Offset, TopicPartition};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Opens the log of a job. Nothing is asked yet, and nothing can fail.
pub fn open(setup: KafkaSetup) -> Arc<dyn Log> {
    let least_limit = AtomicUsize::new(usize::MAX);
    Arc::new(KafkaLog { setup: Arc::new(setup), questions: Arc::default(), least_limit })
}

struct KafkaLog {
    setup: Arc<KafkaSetup>,
    questions: Arc<Shared>,
    /// Writers that are opened from then on put no more than this into one batch.
    least_limit: AtomicUsize,
}

impl Log for KafkaLog {
    fn reader(&self, from: &[(TopicPartition, NextOffset)]) -> Result<Box<dyn Reader>, LogError> {
        Ok(Box::new(KafkaReader::open(Arc::clone(&self.setup), Arc::clone(&self.questions), from)?))
    }

    fn writer(&self, transactional_id: &str, deadline: Duration) -> Result<Box<dyn Writer>, LogError> {
        let batch_bytes_max = self.least_limit.load(Ordering::Relaxed);
        let setup = Arc::clone(&self.setup);
        Ok(Box::new(KafkaWriter::open(setup, transactional_id, batch_bytes_max, deadline)?))
    }

    fn fence(&self, transactional_ids: &[String], deadline: Duration) -> Result<(), LogError> {
        fence::all(&self.setup, transactional_ids, moment_in(deadline))
    }

    fn progress(&self, deadline: Duration) -> Result<Vec<ProgressRow>, LogError> {
        progress::read(&self.setup, deadline)
    }

    fn partition_counts(&self, topics: &[String], deadline: Duration) -> Result<Vec<Option<i32>>, LogError> {
        let until = moment_in(deadline);
        self.questions.ask(&self.setup, |client| {
            topics.iter().map(|topic| admin::partition_count(client, topic, until)).collect()
        })
    }

    fn create_progress_topic(&self, deadline: Duration) -> Result<(), LogError> {
        let until = moment_in(deadline);
        self.questions.ask(&self.setup, |client| admin::create_progress_topic(client, &self.setup, until))
    }

    fn ends(&self, at: TopicPartition, deadline: Duration) -> Result<(Offset, NextOffset), LogError> {
        let topic = list::topic_name(&self.setup, at)?;
        let until = moment_in(deadline);
        self.questions.ask(&self.setup, |client| admin::ends(client, topic, at, until))
    }

    fn topic_ids(&self, topics: &[String], deadline: Duration) -> Result<Vec<Option<String>>, LogError> {
        let until = moment_in(deadline);
        self.questions.ask(&self.setup, |client| topic::ids(client, topics, until))
    }

    fn offsets_at(
        &self,
        of: &[TopicPartition],
        timestamp_ms: i64,
        deadline: Duration,
    ) -> Result<Vec<(TopicPartition, NextOffset)>, LogError> {
        let until = moment_in(deadline);
        self.questions
            .ask(&self.setup, |client| topic::offsets_at(client, &self.setup, of, timestamp_ms, until))
    }

    fn group_positions(
        &self,
        of: &[TopicPartition],
        deadline: Duration,
    ) -> Result<Vec<GroupPosition>, LogError> {
        let until = moment_in(deadline);
        self.questions.ask(&self.setup, |client| group::positions(client, &self.setup, of, until))
    }

    fn commit_group(
        &self,
        positions: &[(TopicPartition, NextOffset)],
        mark: &str,
        deadline: Duration,
    ) -> Result<(), LogError> {
        let until = moment_in(deadline);
        self.questions.ask(&self.setup, |client| group::commit(client, &self.setup, positions, mark, until))
    }

    fn record_limits(&self, topics: &[String], deadline: Duration) -> Result<Vec<Option<usize>>, LogError> {
        let until = moment_in(deadline);
        let found = self
            .questions
            .ask(&self.setup, |client| limits::of_topics(client, &self.setup, topics, until))?;
        // A limit holds for a whole batch: records that fit must not be refused for what travels with them.
        let least = found.iter().filter_map(|limits| limits.topic).min();
        self.least_limit.store(least.unwrap_or(usize::MAX), Ordering::Relaxed);
        Ok(found.into_iter().map(|limits| limits.effective()).collect())
    }

    fn probe(&self, deadline: Duration) -> Result<(), LogError> {
        let until = moment_in(deadline);
        self.questions.ask(&self.setup, |client| admin::probe(client, &self.setup, until))
    }
}
