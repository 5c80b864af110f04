//! The one place where clients of the broker are built, and where they are let go.
//!
//! In:        [`KafkaSetup`]
//! Out:       consumers and producers whose options nobody can undo: Tidegate's defaults, then the user's options, then
//!            what Tidegate owns
//! Fails:     options that librdkafka does not take, as misconfigured. Nothing here waits for a broker
//! Not here:  what is asked of the clients (reader, writer, admin, group, progress)
#![allow(
    clippy::disallowed_methods,
    reason = "this is the one place that the ban on ClientConfig::new points to"
)]

use super::{KafkaSetup, LogError, LogErrorClass};
use rdkafka::admin::AdminClient;
use rdkafka::client::ClientContext;
use rdkafka::config::{ClientConfig, FromClientConfigAndContext, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, ConsumerContext};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::producer::BaseProducer;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A consumer that reads by explicit assignment and asks questions.
pub(super) type ReadingClient = BaseConsumer<ReadingContext>;
/// A producer with one transactional id.
pub(super) type ProducerClient = BaseProducer<super::writer::Deliveries>;

/// librdkafka's own `batch.size`.
const BATCH_BYTES: usize = 1_000_000;

/// Options that Tidegate sets last: a job file that names one of them is wrong.
pub const OWNED_OPTIONS: &[&str] = &[
    "bootstrap.servers",
    "metadata.broker.list",
    "group.id",
    "group.instance.id",
    "enable.auto.commit",
    "auto.commit.enable",
    "enable.auto.offset.store",
    "auto.offset.reset",
    "isolation.level",
    "enable.partition.eof",
    "allow.auto.create.topics",
    "transactional.id",
    "enable.idempotence",
    "enable.gapless.guarantee",
    "acks",
    "request.required.acks",
    "partitioner",
    "statistics.interval.ms",
    "log.queue",
    "log_level",
    "test.mock.num.brokers",
];

/// Asks librdkafka whether it takes the user's options: their names and values, not what they lead to. Opens nothing.
///
/// # Errors
/// Misconfigured, naming the first option that it does not take, and never its value.
pub fn check_options(setup: &KafkaSetup) -> Result<(), LogError> {
    for config in [consumer_config(setup), producer_config(setup, "check")] {
        config.create_native_config().map_err(|error| LogError::by("checking source.client", &error))?;
    }
    Ok(())
}

/// A consumer of the job's group, read committed, that has no assignment yet and never joins the group.
pub(super) fn consumer(setup: &KafkaSetup) -> Result<ReadingClient, LogError> {
    create(&consumer_config(setup), setup, ReadingContext::default())
}

/// A producer with this transactional id. It knows of no broker yet. A batch of several records has at most so many bytes,
/// framing included.
pub(super) fn producer(
    setup: &KafkaSetup,
    transactional_id: &str,
    batch_bytes_max: usize,
) -> Result<ProducerClient, LogError> {
    let mut config = producer_config(setup, transactional_id);
    let wanted = config.get("batch.size").and_then(|size| size.parse().ok()).unwrap_or(BATCH_BYTES);
    if batch_bytes_max < wanted {
        config.set("batch.size", batch_bytes_max.max(1).to_string());
    }
    create(&config, setup, super::writer::Deliveries::default())
}

/// The largest record that the producer takes, in bytes.
pub(super) fn producers_limit(setup: &KafkaSetup) -> usize {
    let config = producer_config(setup, "limit");
    config.get("message.max.bytes").and_then(|limit| limit.parse().ok()).unwrap_or(setup.record_bytes_max)
}

/// Whether the producer compresses what it sends: the broker then counts what comes out of that.
pub(super) fn compresses(setup: &KafkaSetup) -> bool {
    let config = producer_config(setup, "limit");
    let set = ["compression.type", "compression.codec"].into_iter().filter_map(|option| config.get(option));
    set.into_iter().any(|codec| codec != "none")
}

/// A client for creating and describing topics.
pub(super) fn admin(setup: &KafkaSetup) -> Result<AdminClient<AdminContext>, LogError> {
    let mut config = common(setup);
    users_options(&mut config, setup);
    create(&config, setup, AdminContext)
}

pub(super) fn consumer_config(setup: &KafkaSetup) -> ClientConfig {
    let mut config = common(setup);
    // A partition whose queue was full is asked again when the request is over that waits for the others: soon, then. More
    // often costs an idle job its quiet.
    config.set("fetch.wait.max.ms", "100");
    config.set("fetch.queue.backoff.ms", "10");
    // What librdkafka holds when nobody reads: the memory of a job that holds.
    config.set("queued.max.messages.kbytes", "8192");
    config.set("fetch.max.bytes", "8388608");
    users_options(&mut config, setup);
    config.set("enable.auto.commit", "false");
    config.set("enable.auto.offset.store", "false");
    config.set("auto.offset.reset", "error");
    config.set("isolation.level", "read_committed");
    config.set("enable.partition.eof", "true");
    config.set("allow.auto.create.topics", "false");
    // `assign` and `commit` want one; without `subscribe` it makes nobody a member.
    config.set("group.id", &setup.group_id);
    config
}

fn producer_config(setup: &KafkaSetup, transactional_id: &str) -> ClientConfig {
    let mut config = common(setup);
    // A transaction's records are sent when all of them are there (writer::drain), or a batch is full. One that is ready while
    // another of its partition is on its way costs a core until that is through: librdkafka looks at it without a pause.
    config.set("linger.ms", "1000");
    config.set("transaction.timeout.ms", "60000");
    config.set("message.max.bytes", setup.record_bytes_max.to_string());
    // A topic that is gone must be said to be gone within a transaction's deadline (15 s), not behind it (30 s): else
    // the producer is given up first, and its successor knows as little.
    config.set("topic.metadata.propagation.max.ms", "5000");
    // One transaction must fit: the caller bounds it.
    config.set("queue.buffering.max.messages", "1000000");
    users_options(&mut config, setup);
    config.set("transactional.id", transactional_id);
    config.set("enable.idempotence", "true");
    config.set("acks", "all");
    // As Java clients do it, so that others who write by key meet the same partition.
    config.set("partitioner", "murmur2_random");
    config.set("allow.auto.create.topics", "false");
    config
}

fn common(setup: &KafkaSetup) -> ClientConfig {
    let mut config = ClientConfig::new();
    config.set("client.id", format!("tidegate-{}", setup.job));
    // With the default of 10 s a job would go on up to 10 s after the broker does.
    config.set("reconnect.backoff.ms", "50");
    config.set("reconnect.backoff.max.ms", "500");
    config.set("socket.keepalive.enable", "true");
    config
}

fn users_options(config: &mut ClientConfig, setup: &KafkaSetup) {
    for (option, value) in &setup.client {
        if !OWNED_OPTIONS.contains(&option.as_str()) {
            config.set(option, &value.0);
        }
    }
    config.set("bootstrap.servers", &setup.bootstrap_servers);
    config.set("statistics.interval.ms", "0");
    // Whatever is said more is only collected in the client's memory until somebody polls it.
    config.set_log_level(if tracing::enabled!(target: "librdkafka", tracing::Level::DEBUG) {
        RDKafkaLogLevel::Info
    } else {
        RDKafkaLogLevel::Error
    });
}

fn create<C, T>(config: &ClientConfig, setup: &KafkaSetup, context: C) -> Result<T, LogError>
where
    C: ClientContext,
    T: FromClientConfigAndContext<C>,
{
    config
        .create_with_context(context)
        .map_err(|error| LogError::by(format!("building a client of {}", setup.bootstrap_servers), &error))
}

/// Lets go of a client on a thread of its own: closing it may wait for a broker that does not answer.
pub(super) fn retire<T: Send + 'static>(client: T) {
    let spawned = std::thread::Builder::new().name("kafka-retire".to_owned()).spawn(move || drop(client));
    if let Err(error) = spawned {
        // The closure was dropped, and the client with it, here on this thread.
        tracing::debug!(target: "librdkafka", %error, "no thread to close a client on");
    }
}

/// What is left until a moment, for librdkafka's time-outs, which count whole milliseconds in 31 bits.
pub(super) fn remaining(until: Instant) -> Duration {
    const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
    until.saturating_duration_since(Instant::now()).min(LONGEST)
}

/// The moment so far away; one that no clock can name is far enough.
pub(super) fn moment_in(deadline: Duration) -> Instant {
    const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    let now = Instant::now();
    now.checked_add(deadline.min(LONGEST)).unwrap_or(now)
}

/// A lock whose data stays whole when a holder panics: every critical section here is one assignment.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The last thing that a client said by itself: the reason behind a time-out.
#[derive(Debug, Default)]
pub(super) struct LastSaid(Mutex<Option<(RDKafkaErrorCode, String)>>);

impl LastSaid {
    pub(super) fn note(&self, error: &KafkaError, reason: &str) {
        tracing::debug!(target: "librdkafka", %error, reason, "client error");
        let Some(code) = error.rdkafka_error_code() else { return };
        let mut last = lock(&self.0);
        // "All are down" comes behind the reason why.
        if code != RDKafkaErrorCode::AllBrokersDown || last.is_none() {
            *last = Some((code, reason.to_owned()));
        }
    }

    /// Adds what was said to an error that only says that time ran out; refused credentials give their class, too.
    pub(super) fn explain(&self, mut error: LogError) -> LogError {
        if error.class != LogErrorClass::Outage {
            return error;
        }
        if let Some((code, reason)) = lock(&self.0).take() {
            if super::classes::meaning(code).0 == LogErrorClass::Rights {
                error.class = LogErrorClass::Rights;
                error.code = Some(super::native::code_name(code));
            }
            error.message = format!("{}; the client's last word: {reason}", error.message);
        }
        error
    }
}

/// librdkafka's own lines, all at debug level: what matters of them comes back as an error of a call.
pub(super) fn log_line(level: RDKafkaLogLevel, facility: &str, line: &str) {
    tracing::debug!(target: "librdkafka", ?level, facility, "{line}");
}

/// What a consumer tells beside its records.
#[derive(Debug, Default)]
pub(super) struct ReadingContext {
    pub(super) said: LastSaid,
}

impl ClientContext for ReadingContext {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, line: &str) {
        log_line(level, facility, line);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        self.said.note(&error, reason);
    }
}

impl ConsumerContext for ReadingContext {}

/// What an admin client tells beside its answers.
pub(super) struct AdminContext;

impl ClientContext for AdminContext {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, line: &str) {
        log_line(level, facility, line);
    }

    fn error(&self, error: KafkaError, reason: &str) {
        tracing::debug!(target: "librdkafka", %error, reason, "client error");
    }
}

/// Takes what a client without an assignment has to say: its context keeps what matters.
pub(super) fn serve(client: &ReadingClient) {
    // A poll that met a line of its log looks like one that met nothing, so it is asked more than once.
    for _ in 0..64 {
        drop(client.poll(Duration::ZERO));
    }
}

/// A client fails for at least so long before another is built. It is given up at all because librdkafka 2.12.1 may be left
/// without a broker to connect to, for good: where a broker that starts, or is overloaded, answers once with a list of no
/// brokers, the client drops all that it knows, those of its configuration included.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(20);

/// A client for questions, which is shared, built at its first use, and built anew when it has failed for long.
#[derive(Default)]
pub(super) struct Shared(Mutex<Option<Kept>>);

struct Kept {
    client: Arc<ReadingClient>,
    /// When it was built, or answered last.
    good_at: Instant,
}

impl Shared {
    /// Asks by the client, which is built if need be.
    pub(super) fn ask<T>(
        &self,
        setup: &KafkaSetup,
        question: impl FnOnce(&ReadingClient) -> Result<T, LogError>,
    ) -> Result<T, LogError> {
        let client = self.get(setup)?;
        let answer = question(&client);
        let heard = answer.as_ref().err().is_none_or(|error| error.class != LogErrorClass::Outage);
        self.learn(&client, heard, GIVEN_UP_AFTER);
        answer
    }

    fn get(&self, setup: &KafkaSetup) -> Result<Arc<ReadingClient>, LogError> {
        let mut held = lock(&self.0);
        if let Some(kept) = held.as_ref() {
            return Ok(Arc::clone(&kept.client));
        }
        let client = Arc::new(consumer(setup)?);
        *held = Some(Kept { client: Arc::clone(&client), good_at: Instant::now() });
        Ok(client)
    }

    /// Whether the client was heard of; one that has not been for so long is let go.
    fn learn(&self, client: &Arc<ReadingClient>, heard: bool, lasts: Duration) {
        let mut held = lock(&self.0);
        let Some(kept) = held.as_mut().filter(|kept| Arc::ptr_eq(&kept.client, client)) else { return };
        if heard {
            kept.good_at = Instant::now();
        } else if kept.good_at.elapsed() >= lasts
            && let Some(old) = held.take()
        {
            retire(old.client);
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(kept) = lock(&self.0).take() {
            retire(kept.client);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::support::setup;
    use super::*;

    #[test]
    fn a_client_that_nobody_has_heard_of_for_long_is_replaced() {
        let (shared, setup) = (Shared::default(), setup("127.0.0.1:1"));
        let first = shared.get(&setup).unwrap();
        shared.learn(&first, false, GIVEN_UP_AFTER);
        assert!(Arc::ptr_eq(&first, &shared.get(&setup).unwrap()), "one failure is none");
        shared.learn(&first, true, Duration::ZERO);
        assert!(Arc::ptr_eq(&first, &shared.get(&setup).unwrap()), "it answers");
        shared.learn(&first, false, Duration::ZERO);
        let second = shared.get(&setup).unwrap();
        assert!(!Arc::ptr_eq(&first, &second));
        shared.learn(&first, false, Duration::ZERO);
        assert!(
            Arc::ptr_eq(&second, &shared.get(&setup).unwrap()),
            "what the first says is no matter any more"
        );
    }
}
