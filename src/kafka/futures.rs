//! The log as futures, for code that must run as well under a simulated clock.
//!
//! In:        the same questions as [`Log`]     Out: the same answers, as futures
//! Fails:     as [`Log`] does
//! Not here:  no meaning of its own. On Kafka a future does its whole call when it is first polled, and blocks for as long
//!            as that takes: whoever polls it has a thread for it. A log in memory really waits, so that a simulation can
//!            stop a process, or end it, in the middle of any call

use super::{GroupPosition, Log, LogError, Placed, ProgressRow, ReadRecord, Reader, Writer};
use crate::model::{NextOffset, Offset, Outgoing, TopicPartition};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// An answer of the log that is still to come.
pub type Asked<'a, T> = Pin<Box<dyn Future<Output = Result<T, LogError>> + Send + 'a>>;

/// [`Log`] as futures.
pub trait AsyncLog: Send + Sync {
    /// As [`Log::reader`].
    ///
    /// # Errors
    /// As there.
    fn reader(&self, from: &[(TopicPartition, NextOffset)]) -> Result<Box<dyn AsyncReader>, LogError>;

    /// As [`Log::writer`].
    fn writer<'a>(&'a self, transactional_id: &'a str, deadline: Duration)
    -> Asked<'a, Box<dyn AsyncWriter>>;

    /// As [`Log::fence`].
    fn fence<'a>(&'a self, transactional_ids: &'a [String], deadline: Duration) -> Asked<'a, ()>;

    /// As [`Log::progress`].
    fn progress(&self, deadline: Duration) -> Asked<'_, Vec<ProgressRow>>;

    /// As [`Log::partition_counts`].
    fn partition_counts<'a>(
        &'a self,
        topics: &'a [String],
        deadline: Duration,
    ) -> Asked<'a, Vec<Option<i32>>>;

    /// As [`Log::create_progress_topic`].
    fn create_progress_topic(&self, deadline: Duration) -> Asked<'_, ()>;

    /// As [`Log::ends`].
    fn ends(&self, at: TopicPartition, deadline: Duration) -> Asked<'_, (Offset, NextOffset)>;

    /// As [`Log::group_positions`].
    fn group_positions<'a>(
        &'a self,
        of: &'a [TopicPartition],
        deadline: Duration,
    ) -> Asked<'a, Vec<GroupPosition>>;

    /// As [`Log::commit_group`].
    fn commit_group<'a>(
        &'a self,
        positions: &'a [(TopicPartition, NextOffset)],
        mark: &'a str,
        deadline: Duration,
    ) -> Asked<'a, ()>;

    /// As [`Log::topic_ids`].
    fn topic_ids<'a>(&'a self, topics: &'a [String], deadline: Duration) -> Asked<'a, Vec<Option<String>>>;

    /// As [`Log::offsets_at`].
    fn offsets_at<'a>(
        &'a self,
        of: &'a [TopicPartition],
        timestamp_ms: i64,
        deadline: Duration,
    ) -> Asked<'a, Vec<(TopicPartition, NextOffset)>>;

    /// As [`Log::record_limits`].
    fn record_limits<'a>(&'a self, topics: &'a [String], deadline: Duration)
    -> Asked<'a, Vec<Option<usize>>>;

    /// As [`Log::probe`].
    fn probe(&self, deadline: Duration) -> Asked<'_, ()>;
}

/// [`Reader`] as futures.
pub trait AsyncReader: Send {
    /// As [`Reader::read`].
    fn read(&mut self, records_max: usize, bytes_max: usize, wait: Duration) -> Asked<'_, Vec<ReadRecord>>;

    /// As [`Reader::position`].
    fn position(&self, at: TopicPartition) -> Option<NextOffset>;

    /// As [`Reader::known_end`].
    fn known_end(&self, at: TopicPartition) -> Option<NextOffset>;
}

/// [`Writer`] as futures.
pub trait AsyncWriter: Send {
    /// As [`Writer::transact`].
    fn transact<'a>(
        &'a mut self,
        outgoing: &'a [&'a Outgoing],
        progress: &'a [ProgressRow],
        deadline: Duration,
    ) -> Asked<'a, ()>;

    /// As [`Writer::transact_placed`].
    fn transact_placed<'a>(&'a mut self, records: &'a [Placed], deadline: Duration) -> Asked<'a, ()>;
}

/// A log whose calls block, as futures that block.
pub fn blocking(log: Arc<dyn Log>) -> Arc<dyn AsyncLog> {
    Arc::new(Blocking(log))
}

struct Blocking<T>(T);

impl AsyncLog for Blocking<Arc<dyn Log>> {
    fn reader(&self, from: &[(TopicPartition, NextOffset)]) -> Result<Box<dyn AsyncReader>, LogError> {
        Ok(Box::new(Blocking(self.0.reader(from)?)))
    }

    fn writer<'a>(
        &'a self,
        transactional_id: &'a str,
        deadline: Duration,
    ) -> Asked<'a, Box<dyn AsyncWriter>> {
        Box::pin(async move {
            let writer: Box<dyn AsyncWriter> = Box::new(Blocking(self.0.writer(transactional_id, deadline)?));
            Ok(writer)
        })
    }

    fn fence<'a>(&'a self, transactional_ids: &'a [String], deadline: Duration) -> Asked<'a, ()> {
        Box::pin(async move { self.0.fence(transactional_ids, deadline) })
    }

    fn progress(&self, deadline: Duration) -> Asked<'_, Vec<ProgressRow>> {
        Box::pin(async move { self.0.progress(deadline) })
    }

    fn partition_counts<'a>(
        &'a self,
        topics: &'a [String],
        deadline: Duration,
    ) -> Asked<'a, Vec<Option<i32>>> {
        Box::pin(async move { self.0.partition_counts(topics, deadline) })
    }

    fn create_progress_topic(&self, deadline: Duration) -> Asked<'_, ()> {
        Box::pin(async move { self.0.create_progress_topic(deadline) })
    }

    fn ends(&self, at: TopicPartition, deadline: Duration) -> Asked<'_, (Offset, NextOffset)> {
        Box::pin(async move { self.0.ends(at, deadline) })
    }

    fn group_positions<'a>(
        &'a self,
        of: &'a [TopicPartition],
        deadline: Duration,
    ) -> Asked<'a, Vec<GroupPosition>> {
        Box::pin(async move { self.0.group_positions(of, deadline) })
    }

    fn commit_group<'a>(
        &'a self,
        positions: &'a [(TopicPartition, NextOffset)],
        mark: &'a str,
        deadline: Duration,
    ) -> Asked<'a, ()> {
        Box::pin(async move { self.0.commit_group(positions, mark, deadline) })
    }

    fn topic_ids<'a>(&'a self, topics: &'a [String], deadline: Duration) -> Asked<'a, Vec<Option<String>>> {
        Box::pin(async move { self.0.topic_ids(topics, deadline) })
    }

    fn offsets_at<'a>(
        &'a self,
        of: &'a [TopicPartition],
        timestamp_ms: i64,
        deadline: Duration,
    ) -> Asked<'a, Vec<(TopicPartition, NextOffset)>> {
        Box::pin(async move { self.0.offsets_at(of, timestamp_ms, deadline) })
    }

    fn record_limits<'a>(
        &'a self,
        topics: &'a [String],
        deadline: Duration,
    ) -> Asked<'a, Vec<Option<usize>>> {
        Box::pin(async move { self.0.record_limits(topics, deadline) })
    }

    fn probe(&self, deadline: Duration) -> Asked<'_, ()> {
        Box::pin(async move { self.0.probe(deadline) })
    }
}

impl AsyncReader for Blocking<Box<dyn Reader>> {
    fn read(&mut self, records_max: usize, bytes_max: usize, wait: Duration) -> Asked<'_, Vec<ReadRecord>> {
        Box::pin(async move { self.0.read(records_max, bytes_max, wait) })
    }

    fn position(&self, at: TopicPartition) -> Option<NextOffset> {
        self.0.position(at)
    }

    fn known_end(&self, at: TopicPartition) -> Option<NextOffset> {
        self.0.known_end(at)
    }
}

impl AsyncWriter for Blocking<Box<dyn Writer>> {
    fn transact<'a>(
        &'a mut self,
        outgoing: &'a [&'a Outgoing],
        progress: &'a [ProgressRow],
        deadline: Duration,
    ) -> Asked<'a, ()> {
        Box::pin(async move { self.0.transact(outgoing, progress, deadline) })
    }

    fn transact_placed<'a>(&'a mut self, records: &'a [Placed], deadline: Duration) -> Asked<'a, ()> {
        Box::pin(async move { self.0.transact_placed(records, deadline) })
    }
}
