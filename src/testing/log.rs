//! [`Log`] in memory: one process's way to a [`Broker`].
//!
//! In:        names of topics, a link, faults     Out: readers, writers, answers
//! Holds:     nothing of its own
//! Fails:     outage: while the broker is out, or when the seed says so; rights: when the link is cut; else as the broker does
//! Not here:  what is kept (broker)

use super::reader::MemoryReader;
use super::writer::MemoryWriter;
use super::{Broker, Link, LogFaults};
use crate::kafka::{
    Asked, AsyncLog, AsyncReader, AsyncWriter, GroupPosition, KafkaSetup, LogError, LogErrorClass,
    ProgressRow,
};
use crate::model::{BatchNumber, KeyGroup, NextOffset, Offset, Record, TopicPartition};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A log in memory.
#[derive(Clone)]
pub struct MemoryLog {
    pub(super) broker: Arc<Broker>,
    pub(super) setup: Arc<KafkaSetup>,
    pub(super) link: Arc<Link>,
    pub(super) faults: LogFaults,
}

/// The partition of the progress topic.
const PROGRESS: i32 = 0;

/// No slow call takes longer than this.
pub(super) const SLOW: Duration = Duration::from_millis(10);

pub(super) fn failed(class: LogErrorClass, message: impl Into<String>) -> LogError {
    LogError { class, code: None, message: message.into(), at: None }
}

impl MemoryLog {
    /// A way to the broker.
    pub fn new(broker: Arc<Broker>, setup: KafkaSetup, link: Arc<Link>, faults: LogFaults) -> MemoryLog {
        MemoryLog { broker, setup: Arc::new(setup), link, faults }
    }

    /// Every call comes through here before it does anything.
    pub(super) async fn enter(&self, doing: &str, deadline: Duration) -> Result<(), LogError> {
        self.link.about_to(doing);
        self.pass(doing).await?;
        if self.link.chance(self.faults.slow) {
            tokio::time::sleep(self.link.some_of(SLOW)).await;
            self.pass(doing).await?;
        }
        let up = self.broker.is_up(Instant::now() + deadline).await;
        self.pass(doing).await?;
        if !up {
            return Err(failed(LogErrorClass::Outage, format!("{doing}: the broker is out")));
        }
        if self.link.chance(self.faults.outage) {
            self.link.say(&format!("{doing}: the connection fails"));
            return Err(failed(LogErrorClass::Outage, format!("{doing}: the connection failed")));
        }
        Ok(())
    }

    /// Waits while the link is frozen.
    pub(super) async fn pass(&self, doing: &str) -> Result<(), LogError> {
        if self.link.pass().await {
            return Ok(());
        }
        Err(failed(LogErrorClass::Rights, format!("{doing}: this process was killed")))
    }

    pub(super) fn topic(&self, at: TopicPartition) -> Result<&str, LogError> {
        let name = self.setup.topics.get(usize::from(at.topic)).map(String::as_str);
        name.ok_or_else(|| failed(LogErrorClass::Misconfigured, format!("the job has no topic {}", at.topic)))
    }

    pub(super) async fn initialise(&self, id: &str) -> Result<u32, LogError> {
        let epoch = self.broker.initialise(id);
        self.link.say(&format!("{id}: initialised, epoch {epoch}"));
        self.pass("initialising a producer").await?;
        if self.link.chance(self.faults.initialise_answer_lost) {
            self.link.say(&format!("{id}: the answer to the initialisation is lost"));
            return Err(failed(LogErrorClass::Outage, format!("{id}: no answer to the initialisation")));
        }
        Ok(epoch)
    }
}

impl AsyncLog for MemoryLog {
    fn reader(&self, from: &[(TopicPartition, NextOffset)]) -> Result<Box<dyn AsyncReader>, LogError> {
        for (at, _) in from {
            self.topic(*at)?;
        }
        Ok(Box::new(MemoryReader::new(self.clone(), from)))
    }

    fn writer<'a>(
        &'a self,
        transactional_id: &'a str,
        deadline: Duration,
    ) -> Asked<'a, Box<dyn AsyncWriter>> {
        Box::pin(async move {
            self.enter("opening a writer", deadline).await?;
            let epoch = self.initialise(transactional_id).await?;
            let writer: Box<dyn AsyncWriter> =
                Box::new(MemoryWriter::new(self.clone(), transactional_id, epoch));
            Ok(writer)
        })
    }

    fn fence<'a>(&'a self, transactional_ids: &'a [String], deadline: Duration) -> Asked<'a, ()> {
        Box::pin(async move {
            for id in transactional_ids {
                self.enter("fencing", deadline).await?;
                self.initialise(id).await?;
            }
            Ok(())
        })
    }

    fn progress(&self, deadline: Duration) -> Asked<'_, Vec<ProgressRow>> {
        Box::pin(self.read_progress(deadline))
    }

    fn partition_counts<'a>(
        &'a self,
        topics: &'a [String],
        deadline: Duration,
    ) -> Asked<'a, Vec<Option<i32>>> {
        Box::pin(async move {
            self.enter("counting partitions", deadline).await?;
            let state = self.broker.lock();
            Ok(topics.iter().map(|topic| state.partition_count(topic)).collect())
        })
    }

    fn create_progress_topic(&self, deadline: Duration) -> Asked<'_, ()> {
        Box::pin(async move {
            self.enter("creating the progress topic", deadline).await?;
            self.broker.create_topic(&self.setup.progress_topic, 1);
            Ok(())
        })
    }

    fn ends(&self, at: TopicPartition, deadline: Duration) -> Asked<'_, (Offset, NextOffset)> {
        Box::pin(async move {
            self.enter("asking for ends", deadline).await?;
            let topic = self.topic(at)?;
            self.broker.ends(topic, at.partition).ok_or_else(|| {
                let text = format!("there is no partition {topic}/{}", at.partition);
                failed(LogErrorClass::Misconfigured, text)
            })
        })
    }

    fn topic_ids<'a>(&'a self, topics: &'a [String], deadline: Duration) -> Asked<'a, Vec<Option<String>>> {
        Box::pin(async move {
            self.enter("asking for topic ids", deadline).await?;
            Ok(topics.iter().map(|topic| self.broker.topic_id(topic)).collect())
        })
    }

    fn offsets_at<'a>(
        &'a self,
        of: &'a [TopicPartition],
        timestamp_ms: i64,
        deadline: Duration,
    ) -> Asked<'a, Vec<(TopicPartition, NextOffset)>> {
        Box::pin(self.find_offsets(of, timestamp_ms, deadline))
    }

    fn group_positions<'a>(
        &'a self,
        of: &'a [TopicPartition],
        deadline: Duration,
    ) -> Asked<'a, Vec<GroupPosition>> {
        Box::pin(async move {
            self.enter("asking for the group's positions", deadline).await?;
            let mut found = Vec::new();
            for at in of {
                let topic = self.topic(*at)?;
                let committed = self.broker.group_commit(&self.setup.group_id, topic, at.partition);
                found.extend(committed.map(|(next, mark)| GroupPosition { at: *at, next, mark }));
            }
            Ok(found)
        })
    }

    fn commit_group<'a>(
        &'a self,
        positions: &'a [(TopicPartition, NextOffset)],
        mark: &'a str,
        deadline: Duration,
    ) -> Asked<'a, ()> {
        Box::pin(async move {
            self.enter("committing to the group", deadline).await?;
            for (at, next) in positions {
                let key = (self.setup.group_id.clone(), self.topic(*at)?.to_owned(), at.partition);
                self.broker.change(|state| state.group().insert(key, (*next, mark.to_owned())));
            }
            Ok(())
        })
    }

    fn record_limits<'a>(
        &'a self,
        topics: &'a [String],
        deadline: Duration,
    ) -> Asked<'a, Vec<Option<usize>>> {
        Box::pin(async move {
            self.enter("asking for record limits", deadline).await?;
            Ok(topics.iter().map(|topic| self.broker.record_limit(topic)).collect())
        })
    }

    fn probe(&self, deadline: Duration) -> Asked<'_, ()> {
        Box::pin(self.enter("probing", deadline))
    }
}

impl MemoryLog {
    async fn find_offsets(
        &self,
        of: &[TopicPartition],
        timestamp_ms: i64,
        deadline: Duration,
    ) -> Result<Vec<(TopicPartition, NextOffset)>, LogError> {
        self.enter("asking for the offsets of a moment", deadline).await?;
        let mut found = Vec::new();
        for at in of {
            let committed = self.broker.committed(self.topic(*at)?);
            let late = |record: &Record| record.timestamp_ms.is_some_and(|at| at >= timestamp_ms);
            let first = committed.into_iter().find(|c| c.partition == at.partition && late(&c.record));
            let next = match first {
                Some(first) => NextOffset(first.offset.0),
                None => self.ends(*at, deadline).await?.1,
            };
            found.push((*at, next));
        }
        Ok(found)
    }

    async fn read_progress(&self, deadline: Duration) -> Result<Vec<ProgressRow>, LogError> {
        let doing = "reading the progress topic";
        let until = Instant::now() + deadline;
        self.enter(doing, deadline).await?;
        let topic = self.setup.progress_topic.as_str();
        let found = self.broker.wait_for(until, |state| {
            let Some((partition, fates)) = state.partition_ref(topic, PROGRESS) else {
                let text = format!("{doing}: there is no `{topic}`");
                return Some(Err(failed(LogErrorClass::Misconfigured, text)));
            };
            if partition.stable_end() != partition.end() {
                return None;
            }
            let records: Vec<&Record> =
                partition.committed_from(partition.first(), fates).map(|(_, record)| record).collect();
            Some(rows_of(&records))
        });
        let found = found.await;
        self.pass(doing).await?;
        found.unwrap_or_else(|| {
            let text = format!("{doing}: a transaction in it is not decided");
            Err(failed(LogErrorClass::Outage, text))
        })
    }
}

/// A row as a record: key and value as a person would write them.
pub(super) fn record_of(row: &ProgressRow) -> Record {
    let text = |text: String| Some(bytes::Bytes::from(text));
    Record {
        timestamp_ms: None,
        key: text(row.group.to_string()),
        headers: Vec::new(),
        value: text(format!("{} {}", row.batch, row.ledger_id)),
    }
}

fn rows_of(records: &[&Record]) -> Result<Vec<ProgressRow>, LogError> {
    let mut rows: BTreeMap<KeyGroup, ProgressRow> = BTreeMap::new();
    for record in records {
        let row = row_of(record).ok_or_else(|| {
            failed(LogErrorClass::Misconfigured, "the progress topic holds what Tidegate did not write")
        })?;
        rows.insert(row.group, row);
    }
    Ok(rows.into_values().collect())
}

fn row_of(record: &Record) -> Option<ProgressRow> {
    let group = std::str::from_utf8(record.key.as_ref()?).ok()?.parse().ok()?;
    let (batch, ledger_id) = std::str::from_utf8(record.value.as_ref()?).ok()?.split_once(' ')?;
    Some(ProgressRow {
        group: KeyGroup(group),
        batch: BatchNumber(batch.parse().ok()?),
        ledger_id: ledger_id.to_owned(),
    })
}
