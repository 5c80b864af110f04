//! A transactional producer: one transaction at a time, confirmed or not at all.
//!
//! In:        outgoing records and progress, and a deadline
//! Out:       committed; or aborted and usable again; or lost, with an outcome that only a new writer's initialisation
//!            and the progress topic tell
//! Holds:     no record between two calls: what a transaction leaves behind is purged
//! Order:     as given, per partition
//! Fails:     by the flags of librdkafka's error (fatal, abortable, retriable), never by its code alone: the same code
//!            comes with different flags
//! Not here:  no retry of a whole transaction, no decision who is the newer instance (protocol)

mod deliveries;
mod flags;
mod sending;

pub(super) use deliveries::Deliveries;
use flags::{Flags, aborted, is_lasting, lost};
use sending::Sending;

use super::client::{self, ProducerClient, moment_in, remaining};
use super::{KafkaSetup, LogError, LogErrorClass, Placed, ProgressRow, Writer, native, progress};
use crate::model::{Headers, Outgoing};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::{Producer, PurgeConfig};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long one call of commit or abort may block before the client's events are served again.
const SLICE: Duration = Duration::from_secs(1);
/// Between two looks at the queue. `poll` with a time-out would spin through its last millisecond.
const NAP: Duration = Duration::from_micros(200);
/// Between two looks once the broker is slow.
const LONG_NAP: Duration = Duration::from_millis(2);

/// A [`Writer`] on Kafka.
pub(super) struct KafkaWriter {
    setup: Arc<KafkaSetup>,
    transactional_id: String,
    /// `None` only while it is being dropped.
    producer: Option<ProducerClient>,
}

/// Why an attempt did not commit.
enum Trouble {
    /// The transaction can be aborted, and the producer goes on.
    Abort(LogError),
    /// The producer is of no use any more, and the outcome may be unknown.
    Lost(LogError),
}

impl KafkaWriter {
    /// Builds the producer and fences whoever had its id. A batch of several records has at most so many bytes.
    pub(super) fn open(
        setup: Arc<KafkaSetup>,
        transactional_id: &str,
        batch_bytes_max: usize,
        deadline: Duration,
    ) -> Result<KafkaWriter, LogError> {
        let producer = client::producer(&setup, transactional_id, batch_bytes_max)?;
        // From here on a failure lets go of the producer on another thread.
        let writer =
            KafkaWriter { setup, transactional_id: transactional_id.to_owned(), producer: Some(producer) };
        writer.initialise(writer.producer()?, moment_in(deadline))?;
        Ok(writer)
    }

    /// Lets go of the producer on this thread. Only for one that has just been initialised: closing it is quick.
    pub(super) fn close(mut self) {
        drop(self.producer.take());
    }

    fn producer(&self) -> Result<&ProducerClient, LogError> {
        self.producer.as_ref().ok_or_else(|| LogError::of(LogErrorClass::Unknown, "the writer is closed"))
    }

    fn initialise(&self, producer: &ProducerClient, until: Instant) -> Result<(), LogError> {
        let doing = format!("taking over the transactional id `{}`", self.transactional_id);
        loop {
            let Err(error) = producer.init_transactions(remaining(until)) else { return Ok(()) };
            producer.poll(Duration::ZERO);
            let again = matches!(&error, KafkaError::Transaction(inner) if inner.is_retriable());
            if !again || remaining(until).is_zero() {
                return Err(producer.context().said.explain(LogError::by(doing, &error)));
            }
            std::thread::sleep(LONG_NAP);
        }
    }

    fn doing(&self, what: &str) -> String {
        format!("{what} of `{}`", self.transactional_id)
    }

    fn attempt(
        &self,
        producer: &ProducerClient,
        sendings: &[Sending<'_>],
        until: Instant,
    ) -> Result<(), Trouble> {
        producer
            .begin_transaction()
            .map_err(|error| Trouble::Lost(self.lost(&error, "beginning a transaction")))?;
        producer.context().begin();
        for (index, sending) in sendings.iter().enumerate() {
            self.send(producer, index, sending, until)?;
        }
        self.confirm(producer, sendings, until)?;
        self.commit(producer, until)
    }

    fn run(&self, sendings: &[Sending<'_>], deadline: Duration) -> Result<(), LogError> {
        if sendings.is_empty() {
            return Ok(());
        }
        let until = moment_in(deadline);
        let producer = self.producer()?;
        match self.attempt(producer, sendings, until) {
            Ok(()) => Ok(()),
            Err(Trouble::Abort(cause)) => Err(self.abort(producer, cause, until)),
            Err(Trouble::Lost(error)) => {
                // Records in the queue of a producer that cannot send may cost a whole core.
                purge(producer);
                Err(error)
            }
        }
    }

    fn sending<'a>(&'a self, record: &'a Outgoing) -> Result<Sending<'a>, LogError> {
        let topic = self.setup.destination(record.to).ok_or_else(|| {
            let text = format!("a record goes to {:?}, but the job names no such topic", record.to);
            LogError::of(LogErrorClass::Misconfigured, text)
        })?;
        Ok(Sending {
            topic,
            partition: None,
            key: record.key.as_deref(),
            value: record.value.as_deref(),
            timestamp_ms: record.timestamp_ms,
            headers: &record.headers,
        })
    }

    /// The record that was not delivered, for messages. Too large is said of a whole batch: then it is the largest that
    /// went to the same topic.
    fn refused(sendings: &[Sending<'_>], index: usize, code: RDKafkaErrorCode) -> String {
        let mut sending = sendings.get(index);
        if LogError::by_code("", code, None).class == LogErrorClass::TooLarge {
            let beside = sendings.iter().filter(|other| sending.is_some_and(|one| one.topic == other.topic));
            sending = beside.max_by_key(|other| other.bytes());
        }
        sending.map_or_else(|| "a record".to_owned(), Sending::name)
    }

    /// Hands one record to librdkafka. A full queue is waited for; any other refusal means that the transaction must
    /// not commit, although librdkafka would let it.
    fn send(
        &self,
        producer: &ProducerClient,
        index: usize,
        sending: &Sending<'_>,
        until: Instant,
    ) -> Result<(), Trouble> {
        const SERVED_EVERY: usize = 1024;
        if index.is_multiple_of(SERVED_EVERY) {
            producer.poll(Duration::ZERO);
        }
        let mut record = sending.record(producer.context().token(index));
        loop {
            let error = match producer.send(record) {
                Ok(()) => return Ok(()),
                Err((KafkaError::MessageProduction(RDKafkaErrorCode::QueueFull), refused))
                    if !remaining(until).is_zero() =>
                {
                    record = refused;
                    native::send_now(producer);
                    producer.poll(Duration::ZERO);
                    std::thread::sleep(LONG_NAP);
                    continue;
                }
                Err((error, _)) => error,
            };
            let doing = format!("sending {}", sending.name());
            let code = error.rdkafka_error_code().unwrap_or(RDKafkaErrorCode::Unknown);
            return Err(Self::why(producer, doing, code));
        }
    }

    /// Waits until every record is confirmed.
    fn confirm(
        &self,
        producer: &ProducerClient,
        sendings: &[Sending<'_>],
        until: Instant,
    ) -> Result<(), Trouble> {
        let drained = drain(producer, until, true);
        let tally = producer.context().tally();
        if let Some((index, code)) = tally.failure {
            let doing = format!("delivering {}", Self::refused(sendings, index, code));
            return Err(Self::why(producer, doing, code));
        }
        let sent = sendings.len();
        if drained && tally.delivered == sent {
            return Ok(());
        }
        let missing = sent.saturating_sub(tally.delivered);
        let late = LogError::by_code(
            format!("waiting for the delivery of {missing} of {sent} records of `{}`", self.transactional_id),
            RDKafkaErrorCode::OperationTimedOut,
            None,
        );
        Err(Trouble::Lost(producer.context().said.explain(late)))
    }

    /// What became of the transaction whose record failed with this code.
    fn why(producer: &ProducerClient, doing: String, code: RDKafkaErrorCode) -> Trouble {
        if let Some((code, text)) = producer.client().fatal_error() {
            return Trouble::Lost(lost(LogError::by_code(doing, code, Some(text.as_str()))));
        }
        if !deliveries::is_given_up(code) {
            return Trouble::Abort(LogError::by_code(doing, code, None));
        }
        // The record was only given up since something else went wrong. Beginning once more is refused, and tells what
        // that was, without changing anything.
        match producer.begin_transaction() {
            Err(error) if Flags::of(&error) == Flags::Abortable => {
                Trouble::Abort(LogError::by(doing, &error))
            }
            _ => Trouble::Abort(LogError::by_code(doing, code, None)),
        }
    }

    /// Commits; the call is resumed until it is decided or the time is up.
    fn commit(&self, producer: &ProducerClient, until: Instant) -> Result<(), Trouble> {
        loop {
            let Err(error) = producer.commit_transaction(remaining(until).min(SLICE)) else { return Ok(()) };
            producer.poll(Duration::ZERO);
            match Flags::of(&error) {
                Flags::Again if !remaining(until).is_zero() => std::thread::sleep(LONG_NAP),
                Flags::Abortable => {
                    return Err(Trouble::Abort(LogError::by(self.doing("committing a transaction"), &error)));
                }
                _ => {
                    let error = self.lost(&error, "committing a transaction");
                    return Err(Trouble::Lost(producer.context().said.explain(error)));
                }
            }
        }
    }

    /// Aborts, and says with which class the caller goes on. The transaction after one that was aborted for a refused
    /// batch fails once more, as its sequence numbers have a gap; that one is abortable, too.
    fn abort(&self, producer: &ProducerClient, cause: LogError, until: Instant) -> LogError {
        clear(producer, until);
        loop {
            let Err(error) = producer.abort_transaction(remaining(until).min(SLICE)) else { break };
            producer.poll(Duration::ZERO);
            match Flags::of(&error) {
                Flags::Again | Flags::Abortable if !remaining(until).is_zero() => {
                    std::thread::sleep(LONG_NAP);
                }
                _ => {
                    let mut error = self.lost(&error, "aborting a transaction");
                    error.message = format!("{}, after: {}", error.message, cause.message);
                    // Nothing of it was committed, whatever became of the abort. A cause that repeating cannot help
                    // must not pass for an outage.
                    if error.class == LogErrorClass::Outage && is_lasting(cause.class) {
                        error.class = cause.class;
                        return error;
                    }
                    return producer.context().said.explain(error);
                }
            }
        }
        drain(producer, until, false);
        aborted(cause)
    }

    /// An error of a transactional call that leaves the producer unusable.
    fn lost(&self, error: &KafkaError, what: &str) -> LogError {
        lost(LogError::by(self.doing(what), error))
    }
}

impl Writer for KafkaWriter {
    fn transact(
        &mut self,
        outgoing: &[&Outgoing],
        progress: &[ProgressRow],
        deadline: Duration,
    ) -> Result<(), LogError> {
        let rows = progress.iter().map(progress::encode).collect::<Result<Vec<_>, _>>()?;
        let no_headers = Headers::new();
        let row = |(key, value)| Sending {
            topic: &self.setup.progress_topic,
            partition: Some(progress::PARTITION),
            key: Some(str::as_bytes(key)),
            value: Some(value),
            timestamp_ms: None,
            headers: &no_headers,
        };
        let mut sendings =
            outgoing.iter().map(|record| self.sending(record)).collect::<Result<Vec<_>, _>>()?;
        sendings.extend(rows.iter().map(|(key, value)| row((key, value.as_slice()))));
        self.run(&sendings, deadline)
    }

    fn transact_placed(&mut self, records: &[Placed], deadline: Duration) -> Result<(), LogError> {
        let sendings: Vec<Sending<'_>> = records
            .iter()
            .map(|Placed { topic, partition, record }| Sending {
                topic,
                partition: Some(*partition),
                key: record.key.as_deref(),
                value: record.value.as_deref(),
                timestamp_ms: record.timestamp_ms,
                headers: &record.headers,
            })
            .collect();
        self.run(&sendings, deadline)
    }
}

impl Drop for KafkaWriter {
    fn drop(&mut self) {
        if let Some(producer) = self.producer.take() {
            purge(&producer);
            client::retire(producer);
        }
    }
}

/// Throws away what waits and what is on its way, without waiting for the client's threads.
fn purge(producer: &ProducerClient) {
    producer.purge(PurgeConfig::default().queue().inflight().non_blocking());
}

/// Throws away what waits until nothing is left or the time is up. What is on its way is waited for: purging that would
/// tear the sequence of record numbers. It may come back into the queue, where a batch before it was refused, and nobody
/// will send it again then: hence more than once.
fn clear(producer: &ProducerClient, until: Instant) {
    loop {
        producer.purge(PurgeConfig::default().queue());
        producer.poll(Duration::ZERO);
        if producer.in_flight_count() == 0 || remaining(until).is_zero() {
            return;
        }
        std::thread::sleep(LONG_NAP);
    }
}

/// Serves delivery reports until nothing is left (`true`) or the time is up. `hurry` makes librdkafka send what lingers,
/// and gives up as soon as it is known why a record has failed.
fn drain(producer: &ProducerClient, until: Instant, hurry: bool) -> bool {
    const SLOW_AFTER: Duration = Duration::from_millis(50);
    let began = Instant::now();
    loop {
        if hurry {
            native::send_now(producer);
        }
        producer.poll(Duration::ZERO);
        if producer.in_flight_count() == 0 {
            return true;
        }
        if remaining(until).is_zero() || (hurry && producer.context().tally().has_cause()) {
            return false;
        }
        if began.elapsed() >= SLOW_AFTER {
            std::thread::sleep(LONG_NAP);
        } else if !hurry {
            std::thread::sleep(NAP);
        }
    }
}
