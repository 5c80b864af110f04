//! [`AsyncWriter`] in memory: a transactional producer, and what can happen to its transactions.
//!
//! In:        outgoing records and progress     Out: committed, aborted, or lost with an outcome that nobody is told
//! Holds:     its id and epoch
//! Order:     as given, per partition; a key is always in one partition
//! Fails:     fenced where the id was initialised again; with the faults of the log

use super::log::{MemoryLog, failed, record_of};
use crate::kafka::{Asked, AsyncWriter, LogError, LogErrorClass, Placed, ProgressRow};
use crate::model::{Destination, Outgoing, Record};
use bytes::Bytes;
use siphasher::sip::SipHasher13;
use std::hash::Hasher;
use std::time::Duration;
use tokio::time::Instant;

pub(super) struct MemoryWriter {
    log: MemoryLog,
    id: String,
    epoch: u32,
}

/// What a transaction is made of.
enum What<'a> {
    Outgoing(&'a Outgoing),
    Placed(&'a Placed),
    Row(&'a ProgressRow),
}

impl MemoryWriter {
    pub(super) fn new(log: MemoryLog, id: &str, epoch: u32) -> MemoryWriter {
        MemoryWriter { log, id: id.to_owned(), epoch }
    }

    async fn send(&self, topic: &str, partition: i32, record: Record) -> Result<(), LogError> {
        self.log.pass("sending").await?;
        match self.log.broker.send(&self.id, self.epoch, (topic, partition), record) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let text = format!("sending: there is no partition {topic}/{partition}");
                Err(failed(LogErrorClass::Misconfigured, text))
            }
            Err(_refused) => Err(self.fenced("sending")),
        }
    }

    fn fenced(&self, doing: &str) -> LogError {
        self.log.link.say(&format!("{} epoch {}: fenced while {doing}", self.id, self.epoch));
        failed(LogErrorClass::Fenced, format!("{doing}: `{}` was initialised by a newer producer", self.id))
    }

    fn too_large(&self, topic: &str, bytes: usize) -> LogError {
        self.log.link.say(&format!("{} epoch {}: a record is too large", self.id, self.epoch));
        failed(
            LogErrorClass::TooLarge,
            format!("sending: a record of {bytes} bytes is over the limit of {topic}"),
        )
    }

    fn lost(&self, what: &str) -> LogError {
        self.log.link.say(&format!("{} epoch {}: {what}", self.id, self.epoch));
        failed(LogErrorClass::Outage, format!("`{}`: no answer", self.id))
    }

    fn placed(&self, record: &Outgoing) -> Result<Placed, LogError> {
        let setup = &self.log.setup;
        let topic = match record.to {
            Destination::Output(topic) => setup.output_topics.get(usize::from(topic)).cloned(),
            Destination::DeadLetter => setup.dead_letter_topic.clone(),
        };
        let topic = topic.ok_or_else(|| failed(LogErrorClass::Misconfigured, "sending: no such topic"))?;
        let limit = self.log.broker.record_limit(&topic);
        if limit.is_some_and(|limit| record.batch_bytes() > limit) {
            return Err(self.too_large(&topic, record.batch_bytes()));
        }
        let count = self.log.broker.lock().partition_count(&topic).unwrap_or(1);
        Ok(Placed { topic, partition: partition_of(record.key.as_ref(), count), record: copy(record) })
    }

    async fn send_all(&self, records: &[What<'_>]) -> Result<(), LogError> {
        for what in records {
            let Placed { topic, partition, record } = match what {
                What::Outgoing(record) => self.placed(record)?,
                What::Placed(placed) => (*placed).clone(),
                What::Row(row) => {
                    let topic = self.log.setup.progress_topic.clone();
                    Placed { topic, partition: 0, record: record_of(row) }
                }
            };
            self.send(&topic, partition, record).await?;
        }
        Ok(())
    }

    async fn end(&self, commit: bool) -> Result<(), LogError> {
        self.log.link.about_to("ending a transaction");
        self.log.pass("ending a transaction").await?;
        self.log.broker.end(&self.id, self.epoch, commit).map_err(|_| self.fenced("ending a transaction"))
    }
}

impl MemoryWriter {
    async fn run(&mut self, records: &[What<'_>], deadline: Duration) -> Result<(), LogError> {
        let until = Instant::now() + deadline;
        let (link, faults) = (&self.log.link, self.log.faults);
        self.log.enter("beginning a transaction", deadline).await?;
        if let Err(error) = self.send_all(records).await {
            if error.class == LogErrorClass::TooLarge {
                self.end(false).await?;
            }
            return Err(error);
        }
        if link.chance(faults.timed_out) {
            link.say(&format!("{} epoch {}: the transaction times out", self.id, self.epoch));
            self.log.broker.time_out(&self.id, self.epoch);
        }
        if link.chance(faults.left_open) || !self.log.broker.is_up(until).await {
            return Err(self.lost("the transaction is left open"));
        }
        if link.chance(faults.aborted) {
            self.end(false).await?;
            link.say(&format!("{} epoch {}: aborted", self.id, self.epoch));
            return Err(failed(LogErrorClass::Aborted, "the transaction was aborted"));
        }
        self.end(true).await?;
        let row = |what: &What<'_>| match what {
            What::Row(row) => Some(format!("{}:{}", row.group, row.batch)),
            _ => None,
        };
        let rows: Vec<String> = records.iter().filter_map(row).collect();
        let (id, epoch, sent) = (&self.id, self.epoch, records.len() - rows.len());
        link.say(&format!("{id} epoch {epoch}: sent {sent} records, [{}]", rows.join(" ")));
        self.log.pass("committing a transaction").await?;
        if self.log.broker.tells_abort() {
            return Err(failed(LogErrorClass::Aborted, "the transaction was aborted"));
        }
        if link.chance(faults.commit_answer_lost) {
            return Err(self.lost("the answer to the commit is lost"));
        }
        Ok(())
    }
}

impl AsyncWriter for MemoryWriter {
    fn transact<'a>(
        &'a mut self,
        outgoing: &'a [&'a Outgoing],
        progress: &'a [ProgressRow],
        deadline: Duration,
    ) -> Asked<'a, ()> {
        let outgoing = outgoing.iter().map(|record| What::Outgoing(record));
        let all: Vec<What<'a>> = outgoing.chain(progress.iter().map(What::Row)).collect();
        Box::pin(async move { self.run(&all, deadline).await })
    }

    fn transact_placed<'a>(&'a mut self, records: &'a [Placed], deadline: Duration) -> Asked<'a, ()> {
        let all: Vec<What<'a>> = records.iter().map(What::Placed).collect();
        Box::pin(async move { self.run(&all, deadline).await })
    }
}

fn copy(of: &Outgoing) -> Record {
    Record {
        timestamp_ms: of.timestamp_ms,
        key: of.key.clone(),
        headers: of.headers.clone(),
        value: of.value.clone(),
    }
}

fn partition_of(key: Option<&Bytes>, partitions: i32) -> i32 {
    let mut hasher = SipHasher13::new();
    hasher.write(key.map_or(&[], |key| key));
    let partitions = u64::try_from(partitions).unwrap_or(1);
    let partition = hasher.finish().checked_rem(partitions).unwrap_or(0);
    i32::try_from(partition).unwrap_or(0)
}
