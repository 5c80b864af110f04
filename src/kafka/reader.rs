//! Reads partitions from explicit positions: a consumer that never joins its group.
//!
//! In:        partitions and positions; how much to take and how long to wait
//! Out:       records in offset order per partition, each copied once out of librdkafka's memory
//! Holds:     at most one record that did not fit the last call's limit; librdkafka's own queue, bounded (client)
//! Order:     per partition as the broker keeps it
//! Fails:     a position that is gone, once and for all; else what librdkafka tells, which goes on trying by itself, so
//!            that the caller may simply read again. The same error comes at most once a second
//! Not here:  no commit; a deleted topic, which librdkafka does not tell of

mod stall;

use super::client::{self, ReadingClient, Shared, moment_in, remaining};
use super::{KafkaSetup, LogError, LogErrorClass, ReadRecord, Reader, admin, classes, list, native};
use crate::model::{NextOffset, Offset, Record, TopicPartition};
use bytes::Bytes;
use rdkafka::consumer::Consumer;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{BorrowedMessage, Message};
use stall::Watch;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The same code is told again after this long.
const REPEAT_AFTER: Duration = Duration::from_secs(1);

/// A [`Reader`] on Kafka.
pub(super) struct KafkaReader {
    setup: Arc<KafkaSetup>,
    /// `None` only while it is being dropped.
    consumer: Option<ReadingClient>,
    /// What was asked for.
    start: BTreeMap<TopicPartition, NextOffset>,
    /// Behind the last record given.
    positions: BTreeMap<TopicPartition, NextOffset>,
    /// An end was met since the positions were last asked for.
    end_met: bool,
    /// A record that did not fit the last call.
    held: Option<ReadRecord>,
    /// An error that came behind records.
    pending: Option<LogError>,
    /// A position that is gone stays gone.
    gone: Option<LogError>,
    told: Option<(RDKafkaErrorCode, Instant)>,
    watch: Watch,
    /// Asks where partitions end: a client that has stopped fetching may not hear an answer either.
    questions: Arc<Shared>,
}

impl KafkaReader {
    pub(super) fn open(
        setup: Arc<KafkaSetup>,
        questions: Arc<Shared>,
        from: &[(TopicPartition, NextOffset)],
    ) -> Result<KafkaReader, LogError> {
        let consumer = assigned(&setup, from)?;
        Ok(KafkaReader {
            setup,
            consumer: Some(consumer),
            start: from.iter().copied().collect(),
            positions: BTreeMap::new(),
            end_met: false,
            held: None,
            pending: None,
            gone: None,
            told: None,
            watch: Watch::new(stall::EVERY),
            questions,
        })
    }

    /// Whether all there was has been taken.
    fn fill(&mut self, taken: &mut Taken, until: Instant) -> Result<bool, LogError> {
        let Some(consumer) = self.consumer.take() else {
            return Err(LogError::of(LogErrorClass::Unknown, "reading: the reader is closed"));
        };
        let result = self.fill_from(&consumer, taken, until);
        self.consumer = Some(consumer);
        result
    }

    fn fill_from(
        &mut self,
        consumer: &ReadingClient,
        taken: &mut Taken,
        until: Instant,
    ) -> Result<bool, LogError> {
        let mut took_all = false;
        while !taken.is_full() {
            let wait = if taken.records.is_empty() { remaining(until) } else { Duration::ZERO };
            match consumer.poll(wait) {
                Some(Ok(message)) => {
                    let record = self.copy(&message)?;
                    if let Some(too_much) = taken.take(record) {
                        self.held = Some(too_much);
                        break;
                    }
                }
                Some(Err(KafkaError::PartitionEOF(_))) => self.end_met = true,
                Some(Err(error)) => {
                    if let Some(error) = self.trouble(consumer, &error) {
                        return Err(error);
                    }
                }
                None if wait.is_zero() => {
                    took_all = true;
                    break;
                }
                None => {}
            }
        }
        if self.end_met && self.held.is_none() {
            self.end_met = false;
            self.ask_positions(consumer);
        }
        Ok(took_all)
    }

    /// Asks where the partitions end; if one is not fetched any more, goes on with a new consumer.
    fn look_for_stalls(&mut self) {
        const DEADLINE: Duration = Duration::from_secs(1);
        let until = moment_in(DEADLINE);
        let mut stalled = Vec::new();
        for (at, start) in &self.start {
            let Some(topic) = self.setup.topic_name(*at) else { continue };
            let asked = self.questions.ask(&self.setup, |client| {
                admin::watermarks(client, topic, at.partition, "looking for stalls", until)
            });
            let position = self.positions.get(at).unwrap_or(start);
            if self.watch.is_stalled(*at, asked.ok().map(|(_, end)| end), position.0) {
                stalled.push(format!("{topic}/{}", at.partition));
            }
        }
        if !stalled.is_empty() {
            self.renew(&stalled.join(", "));
        }
    }

    fn renew(&mut self, stalled: &str) {
        let position =
            |(at, start): (&TopicPartition, &NextOffset)| (*at, *self.positions.get(at).unwrap_or(start));
        let from: Vec<_> = self.start.iter().map(position).collect();
        match assigned(&self.setup, &from) {
            Ok(new) => {
                tracing::warn!(
                    partitions = stalled,
                    "the Kafka client has stopped fetching: reading on with a new one"
                );
                if let Some(old) = self.consumer.replace(new) {
                    client::retire(old);
                }
                // The new one reads it again.
                self.held = None;
                self.watch = Watch::new(self.watch.every());
            }
            Err(error) => tracing::warn!(partitions = stalled, %error, "no new Kafka client could be built"),
        }
    }

    fn copy(&self, message: &BorrowedMessage<'_>) -> Result<ReadRecord, LogError> {
        let Some(topic) = self.setup.topic_index(message.topic()) else {
            return Err(LogError::of(
                LogErrorClass::Unknown,
                format!("reading: a record came from `{}`, which is not an input topic", message.topic()),
            ));
        };
        Ok(ReadRecord {
            at: TopicPartition { topic, partition: message.partition() },
            offset: Offset(message.offset()),
            record: Record {
                timestamp_ms: message.timestamp().to_millis(),
                key: message.key().map(Bytes::copy_from_slice),
                headers: native::headers(message),
                value: message.payload().map(Bytes::copy_from_slice),
            },
        })
    }

    /// At the end of a partition its position steps over control records, which only the consumer has seen.
    fn ask_positions(&mut self, consumer: &ReadingClient) {
        let list = match consumer.position() {
            Ok(list) => list,
            Err(error) => {
                tracing::debug!(target: "librdkafka", %error, "the consumer does not tell its positions");
                return;
            }
        };
        for (at, next) in list::from_native(&self.setup, &list) {
            let known = self.positions.entry(at).or_insert(next);
            *known = next.max(*known);
        }
        // Where nothing has ever been read the consumer has no position; what was asked for is one if it is the end.
        for (at, start) in &self.start {
            let Some(topic) = self.setup.topic_name(*at) else { continue };
            if native::known_end(consumer, topic, at.partition) == Some(start.0) {
                self.positions.entry(*at).or_insert(*start);
            }
        }
    }

    /// What an error means to the caller; `None` for one that was told a moment ago.
    fn trouble(&mut self, consumer: &ReadingClient, error: &KafkaError) -> Option<LogError> {
        let code = error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Unknown);
        if classes::meaning(code).0 == LogErrorClass::PositionGone {
            let gone = self.find_gone(consumer, error);
            self.gone = Some(gone.clone());
            return Some(gone);
        }
        let now = Instant::now();
        if let Some((told, when)) = self.told
            && told == code
            && now.duration_since(when) < REPEAT_AFTER
        {
            return None;
        }
        self.told = Some((code, now));
        Some(consumer.context().said.explain(LogError::by("reading", error)))
    }

    /// librdkafka does not say which position is gone: each is compared with what its partition holds.
    fn find_gone(&self, consumer: &ReadingClient, error: &KafkaError) -> LogError {
        let until = moment_in(Duration::from_secs(5));
        for (at, start) in &self.start {
            let position = self.positions.get(at).unwrap_or(start);
            let Some(topic) = self.setup.topic_name(*at) else { continue };
            let Ok((low, high)) = consumer.fetch_watermarks(topic, at.partition, remaining(until)) else {
                continue;
            };
            if position.0 < low || position.0 > high {
                return LogError::by(
                    format!(
                        "reading {topic}/{}: the next position is {position}, but the partition holds {low} to {high} (exclusive): \
                         records were deleted before they were read, or the topic was made anew",
                        at.partition
                    ),
                    error,
                )
                .at(*at);
            }
        }
        consumer.context().said.explain(LogError::by(
            "reading: a position is gone, and by now every position is there again: was a topic made anew?",
            error,
        ))
    }
}

impl Reader for KafkaReader {
    fn read(
        &mut self,
        records_max: usize,
        bytes_max: usize,
        wait: Duration,
    ) -> Result<Vec<ReadRecord>, LogError> {
        if let Some(gone) = &self.gone {
            // Whoever asks again and again must not spin.
            std::thread::sleep(wait.min(REPEAT_AFTER));
            return Err(gone.clone());
        }
        if let Some(error) = self.pending.take() {
            return Err(error);
        }
        let mut taken = Taken { records: Vec::new(), bytes: 0, records_max, bytes_max };
        if records_max > 0
            && let Some(record) = self.held.take()
        {
            self.held = taken.take(record);
        }
        let filled = self.fill(&mut taken, moment_in(wait));
        for record in &taken.records {
            self.positions
                .entry(record.at)
                .and_modify(|next| *next = record.offset.next().max(*next))
                .or_insert_with(|| record.offset.next());
        }
        match filled {
            Ok(took_all) => {
                if self.watch.is_due(took_all) {
                    self.look_for_stalls();
                }
                Ok(taken.records)
            }
            Err(error) if taken.records.is_empty() => Err(error),
            Err(error) => {
                self.pending = Some(error);
                Ok(taken.records)
            }
        }
    }

    fn position(&self, at: TopicPartition) -> Option<NextOffset> {
        self.positions.get(&at).copied()
    }

    fn known_end(&self, at: TopicPartition) -> Option<NextOffset> {
        let topic = self.setup.topic_name(at)?;
        let known = native::known_end(self.consumer.as_ref()?, topic, at.partition);
        known.max(self.watch.end(at)).map(NextOffset)
    }
}

impl Drop for KafkaReader {
    fn drop(&mut self) {
        if let Some(consumer) = self.consumer.take() {
            client::retire(consumer);
        }
    }
}

fn assigned(setup: &KafkaSetup, from: &[(TopicPartition, NextOffset)]) -> Result<ReadingClient, LogError> {
    let consumer = client::consumer(setup)?;
    let list = list::to_native(setup, from)?;
    consumer.assign(&list).map_err(|error| LogError::by("assigning the input partitions", &error))?;
    Ok(consumer)
}

/// What one call has taken so far.
struct Taken {
    records: Vec<ReadRecord>,
    bytes: usize,
    records_max: usize,
    bytes_max: usize,
}

impl Taken {
    fn is_full(&self) -> bool {
        self.records.len() >= self.records_max || (self.bytes >= self.bytes_max && !self.records.is_empty())
    }

    /// Takes the record, or gives it back where it does not fit. The first always fits.
    fn take(&mut self, record: ReadRecord) -> Option<ReadRecord> {
        let bytes = self.bytes.saturating_add(record.record.footprint_bytes());
        if bytes > self.bytes_max && !self.records.is_empty() {
            return Some(record);
        }
        self.bytes = bytes;
        self.records.push(record);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::{mock::MockLogServer, open, tests::support};
    use super::*;
    use rdkafka::TopicPartitionList;

    #[test]
    fn a_partition_that_the_client_has_stopped_fetching_is_read_on() {
        let server = MockLogServer::start().unwrap();
        let setup = support::setup(&server.bootstrap_servers());
        server.create_topic(&setup.topics[0], 1).unwrap();
        let log = open(setup.clone());
        let send = |value: &str| {
            let record = support::output("k", value);
            let mut writer = log.writer("stall", support::SOON).unwrap();
            writer.transact(&[&record], &[], support::SOON).unwrap();
        };
        let at = support::at(0);
        let mut reader =
            KafkaReader::open(Arc::new(setup.clone()), Arc::default(), &[(at, NextOffset(0))]).unwrap();
        reader.watch = Watch::new(Duration::from_millis(300));
        let read_one = |reader: &mut KafkaReader| {
            let until = moment_in(support::SOON);
            while !remaining(until).is_zero() {
                let records = reader.read(10, usize::MAX, Duration::from_millis(50)).unwrap();
                if !records.is_empty() {
                    return support::texts(&records);
                }
            }
            Vec::new()
        };
        send("a");
        assert_eq!(read_one(&mut reader), ["a"]);

        let mut list = TopicPartitionList::new();
        list.add_partition(&setup.topics[0], 0);
        reader.consumer.as_ref().unwrap().pause(&list).unwrap();
        send("b");
        assert_eq!(read_one(&mut reader), ["b"]);
        assert_eq!(reader.position(at), reader.known_end(at));
        send("c");
        assert_eq!(read_one(&mut reader), ["c"]);
    }

    #[test]
    fn a_reader_that_paused_or_has_more_to_take_looks_for_no_stall() {
        let mut watch = Watch::new(Duration::ZERO);
        let at = support::at(0);
        assert!(watch.is_due(true));
        assert!(!watch.is_stalled(at, Some(5), 3), "nothing is known of before");
        assert!(watch.is_stalled(at, Some(7), 4));
        assert!(!watch.is_stalled(at, Some(9), 7));
        assert!(!watch.is_due(false));
        assert!(!watch.is_stalled(at, Some(9), 3), "what was known is no measure any more");
        assert!(!watch.is_stalled(at, None, 3) && !watch.is_stalled(at, Some(9), 3));
    }
}
