//! [`Log`] in memory: the calling thread waits for each answer. For code that is written against a log whose calls block.
//!
//! In:        a [`MemoryLog`]     Out: the same questions and answers
//! Fails:     as the log does; where no runtime can be made, as an outage
//! Not here:  a clock that a test moves: waits take as long as they say

use super::MemoryLog;
use super::log::failed;
use crate::kafka::{
    Asked, AsyncLog, AsyncReader, AsyncWriter, GroupPosition, Log, LogError, LogErrorClass, Placed,
    ProgressRow, ReadRecord, Reader, Writer,
};
use crate::model::{NextOffset, Offset, Outgoing, TopicPartition};
use std::sync::Arc;
use std::time::Duration;

/// The log as one whose calls block.
pub fn waiting(log: MemoryLog) -> Arc<dyn Log> {
    Arc::new(Waiting(log))
}

struct Waiting<T>(T);

fn answer<T>(asked: Asked<'_, T>) -> Result<T, LogError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| failed(LogErrorClass::Outage, format!("no runtime: {error}")))?;
    runtime.block_on(asked)
}

impl Log for Waiting<MemoryLog> {
    fn reader(&self, from: &[(TopicPartition, NextOffset)]) -> Result<Box<dyn Reader>, LogError> {
        Ok(Box::new(Waiting(self.0.reader(from)?)))
    }

    fn writer(&self, transactional_id: &str, deadline: Duration) -> Result<Box<dyn Writer>, LogError> {
        Ok(Box::new(Waiting(answer(self.0.writer(transactional_id, deadline))?)))
    }

    fn fence(&self, transactional_ids: &[String], deadline: Duration) -> Result<(), LogError> {
        answer(self.0.fence(transactional_ids, deadline))
    }

    fn progress(&self, deadline: Duration) -> Result<Vec<ProgressRow>, LogError> {
        answer(self.0.progress(deadline))
    }

    fn partition_counts(&self, topics: &[String], deadline: Duration) -> Result<Vec<Option<i32>>, LogError> {
        answer(self.0.partition_counts(topics, deadline))
    }

    fn create_progress_topic(&self, deadline: Duration) -> Result<(), LogError> {
        answer(self.0.create_progress_topic(deadline))
    }

    fn ends(&self, at: TopicPartition, deadline: Duration) -> Result<(Offset, NextOffset), LogError> {
        answer(self.0.ends(at, deadline))
    }

    fn topic_ids(&self, topics: &[String], deadline: Duration) -> Result<Vec<Option<String>>, LogError> {
        answer(self.0.topic_ids(topics, deadline))
    }

    fn offsets_at(
        &self,
        of: &[TopicPartition],
        timestamp_ms: i64,
        deadline: Duration,
    ) -> Result<Vec<(TopicPartition, NextOffset)>, LogError> {
        answer(self.0.offsets_at(of, timestamp_ms, deadline))
    }

    fn group_positions(
        &self,
        of: &[TopicPartition],
        deadline: Duration,
    ) -> Result<Vec<GroupPosition>, LogError> {
        answer(self.0.group_positions(of, deadline))
    }

    fn commit_group(
        &self,
        positions: &[(TopicPartition, NextOffset)],
        mark: &str,
        deadline: Duration,
    ) -> Result<(), LogError> {
        answer(self.0.commit_group(positions, mark, deadline))
    }

    fn record_limits(&self, topics: &[String], deadline: Duration) -> Result<Vec<Option<usize>>, LogError> {
        answer(self.0.record_limits(topics, deadline))
    }

    fn probe(&self, deadline: Duration) -> Result<(), LogError> {
        answer(self.0.probe(deadline))
    }
}

impl Reader for Waiting<Box<dyn AsyncReader>> {
    fn read(
        &mut self,
        records_max: usize,
        bytes_max: usize,
        wait: Duration,
    ) -> Result<Vec<ReadRecord>, LogError> {
        answer(self.0.read(records_max, bytes_max, wait))
    }

    fn position(&self, at: TopicPartition) -> Option<NextOffset> {
        self.0.position(at)
    }

    fn known_end(&self, at: TopicPartition) -> Option<NextOffset> {
        self.0.known_end(at)
    }
}

impl Writer for Waiting<Box<dyn AsyncWriter>> {
    fn transact(
        &mut self,
        outgoing: &[&Outgoing],
        progress: &[ProgressRow],
        deadline: Duration,
    ) -> Result<(), LogError> {
        answer(self.0.transact(outgoing, progress, deadline))
    }

    fn transact_placed(&mut self, records: &[Placed], deadline: Duration) -> Result<(), LogError> {
        answer(self.0.transact_placed(records, deadline))
    }
}
