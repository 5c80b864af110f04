//! The log: what is read, what is sent, and what was sent last. The only module that names `rdkafka`.
//!
//! In:        partitions and positions; outgoing records and progress
//! Out:       records in offset order per partition; confirmed transactions; or a `LogError` with its class
//! Order:     per partition as the broker keeps it, in and out
//! Fails:     by class only: whoever calls decides by `LogErrorClass` and never by code
//! Not here:  no decision (protocol), no dataflow (operator). All calls block: they run on threads of their own

use crate::model::{BatchNumber, KeyGroup, NextOffset, Offset, Outgoing, Record, TopicPartition};
use std::time::Duration;

mod setup;
pub use setup::{KafkaSetup, progress_topic_name};

mod log;
pub use log::open;

mod futures;
pub use futures::{Asked, AsyncLog, AsyncReader, AsyncWriter, blocking};

mod reader;
mod writer;

mod fence;
mod progress;

mod admin;
mod group;
mod limits;

mod classes;
pub use classes::{KnownCode, codes};
mod client;
pub use client::{OWNED_OPTIONS, check_options};
mod list;
mod native;
mod topic;
mod wait;

pub mod mock;

#[cfg(test)]
mod tests;

/// A log that can be read from and written to: Kafka, librdkafka's mock cluster, or a fake.
pub trait Log: Send + Sync {
    /// Opens a reader on these partitions at these positions, read committed. Positions that do not exist are an
    /// error of class [`LogErrorClass::PositionGone`] at the first read, never a silent jump.
    fn reader(&self, from: &[(TopicPartition, NextOffset)]) -> Result<Box<dyn Reader>, LogError>;

    /// Opens a transactional writer and runs `init_transactions`: fences former holders of the id, and waits until
    /// their open transactions are decided and their markers written.
    fn writer(&self, transactional_id: &str, deadline: Duration) -> Result<Box<dyn Writer>, LogError>;

    /// Runs `init_transactions` for each id, many at a time, and lets go of them again.
    fn fence(&self, transactional_ids: &[String], deadline: Duration) -> Result<(), LogError>;

    /// Reads the progress topic to its end, read committed: the last batch emitted per key group. To be called only
    /// after [`Log::fence`] or [`Log::writer`] has returned for every id: they decide what former holders left open.
    /// Where a transaction stays undecided all the same, the rows behind it cannot be read, and the answer is an outage.
    fn progress(&self, deadline: Duration) -> Result<Vec<ProgressRow>, LogError>;

    /// Per topic of the job, in order: its number of partitions, or `None` where the topic does not exist.
    fn partition_counts(&self, topics: &[String], deadline: Duration) -> Result<Vec<Option<i32>>, LogError>;

    /// Creates the progress topic, compacted, where it is missing.
    fn create_progress_topic(&self, deadline: Duration) -> Result<(), LogError>;

    /// The first offset and the last stable offset (the end for read-committed readers) of a partition.
    fn ends(&self, at: TopicPartition, deadline: Duration) -> Result<(Offset, NextOffset), LogError>;

    /// Per topic, in order, the id that the broker gave it when it was made; `None` where the topic does not exist, or
    /// the broker does not tell.
    fn topic_ids(&self, topics: &[String], deadline: Duration) -> Result<Vec<Option<String>>, LogError>;

    /// Per partition, in order, the offset of its first record with this timestamp (milliseconds since 1970) or a later
    /// one; its end where there is none.
    fn offsets_at(
        &self,
        of: &[TopicPartition],
        timestamp_ms: i64,
        deadline: Duration,
    ) -> Result<Vec<(TopicPartition, NextOffset)>, LogError>;

    /// The consumer group's committed positions; partitions without one are left out.
    fn group_positions(
        &self,
        of: &[TopicPartition],
        deadline: Duration,
    ) -> Result<Vec<GroupPosition>, LogError>;

    /// Commits positions to the consumer group, for lag tools alone. The mark goes with them: what somebody else
    /// commits later does not bear it.
    fn commit_group(
        &self,
        positions: &[(TopicPartition, NextOffset)],
        mark: &str,
        deadline: Duration,
    ) -> Result<(), LogError>;

    /// Per topic, in order, the most bytes that a record may have to be taken, as [`Outgoing::batch_bytes`] counts them: what
    /// the topic's `max.message.bytes` allows and what the client sends, whichever is less. `None` where nobody tells. A
    /// broker that does not answer this question, or not to this account, is no error.
    fn record_limits(&self, topics: &[String], deadline: Duration) -> Result<Vec<Option<usize>>, LogError>;

    /// The cheapest question that a broker can answer.
    fn probe(&self, deadline: Duration) -> Result<(), LogError>;
}

/// Reads partitions from explicit positions. Dropping it closes the connection without leaving a group.
pub trait Reader: Send {
    /// Waits up to `wait` for a first record, then takes what is there at once, up to both limits (the first record is
    /// given even when it alone is over `bytes_max`). An empty list means that nothing came.
    fn read(
        &mut self,
        records_max: usize,
        bytes_max: usize,
        wait: Duration,
    ) -> Result<Vec<ReadRecord>, LogError>;

    /// The position of a partition: behind the last record given, stepping over control records at the end; `None`
    /// before something of the partition was given or its end was met.
    fn position(&self, at: TopicPartition) -> Option<NextOffset>;

    /// The last known end of a partition, from what the fetches said, without asking the broker; for lag. Records of
    /// transactions that are not decided yet are counted.
    fn known_end(&self, at: TopicPartition) -> Option<NextOffset>;
}

/// One record and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRecord {
    /// Its partition.
    pub at: TopicPartition,
    /// Its offset.
    pub offset: Offset,
    /// The record.
    pub record: Record,
}

/// A transactional producer. After an error of any class but [`LogErrorClass::Aborted`] and [`LogErrorClass::TooLarge`]
/// it must be dropped. Dropping it does not wait for a broker.
pub trait Writer: Send {
    /// One transaction: begins, sends every record in order and the progress records, waits for every delivery, commits.
    /// The deadline must be well below the producer's `transaction.timeout.ms` (60 s), at which
    /// the broker ends the transaction and fences the writer.
    /// `Ok`: committed. `Aborted`, `TooLarge`: nothing of it will be seen and the writer can be used again (the next
    /// transaction may come back `Aborted` once more). Anything else: the outcome may be unknown: a new writer's
    /// initialisation and the progress topic tell.
    fn transact(
        &mut self,
        outgoing: &[&Outgoing],
        progress: &[ProgressRow],
        deadline: Duration,
    ) -> Result<(), LogError>;

    /// The same with records that go to partitions that the caller names, and no progress.
    fn transact_placed(&mut self, records: &[Placed], deadline: Duration) -> Result<(), LogError>;
}

/// A record and exactly where it goes, whatever its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The topic.
    pub topic: String,
    /// Its partition.
    pub partition: i32,
    /// The record.
    pub record: Record,
}

/// A position that the consumer group has committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPosition {
    /// The partition.
    pub at: TopicPartition,
    /// The position.
    pub next: NextOffset,
    /// What stands beside it (Kafka calls it metadata): the mark of who committed it, or empty.
    pub mark: String,
}

/// One key group's last emitted batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressRow {
    /// The key group.
    pub group: KeyGroup,
    /// Its last batch in the log.
    pub batch: BatchNumber,
    /// The ledger that the number belongs to: [`crate::database::JobRow::ledger_id`].
    pub ledger_id: String,
}

/// What an error asks for: `kafka/classes.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogErrorClass {
    /// The broker is not there, or cannot do it now: hold.
    Outage,
    /// The transaction was aborted cleanly; the same writer can run it again.
    Aborted,
    /// Fenced: by a newer instance, or because a transaction outlived its time-out. The ledger knows which.
    Fenced,
    /// A position that the log does not have any more, or not yet.
    PositionGone,
    /// A record over a size limit of the producer, the topic or the broker.
    TooLarge,
    /// A topic that does not exist, an option that is refused.
    Misconfigured,
    /// Rights are missing.
    Rights,
    /// A code that the table does not know: handled as an outage, with an alarm.
    Unknown,
}

impl LogErrorClass {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            LogErrorClass::Outage => "outage",
            LogErrorClass::Aborted => "aborted",
            LogErrorClass::Fenced => "fenced",
            LogErrorClass::PositionGone => "position gone",
            LogErrorClass::TooLarge => "too large",
            LogErrorClass::Misconfigured => "misconfigured",
            LogErrorClass::Rights => "rights",
            LogErrorClass::Unknown => "unknown",
        }
    }
}

/// What the log said, classified.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct LogError {
    /// What it asks for.
    pub class: LogErrorClass,
    /// librdkafka's name of the code, where there is one.
    pub code: Option<String>,
    /// What was being done and what was said.
    pub message: String,
    /// The partition that it is about, where there is one.
    pub at: Option<TopicPartition>,
}
