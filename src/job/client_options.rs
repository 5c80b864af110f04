//! `source.client`: options for librdkafka, passed on as they are, but for those that Tidegate owns.
//!
//! Not here:  whether librdkafka knows an option: whoever builds the client finds out

use super::Secret;
use super::checker::{Checker, Text};
use super::section::{Section, shown_key};
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// Why an option is not the user's to set.
struct Owned {
    /// The option; with `*` at the end: all that begin so.
    option: &'static str,
    /// Goes behind "Tidegate owns this option: ".
    why: &'static str,
}

const fn owned(option: &'static str, why: &'static str) -> Owned {
    Owned { option, why }
}

const OFFSETS: &str = "positions come from the ledger, and are committed behind the frontier alone";
const EXACTLY_ONCE: &str = "exactly once depends on it";
const TRANSACTIONS: &str = "the sink's transactions depend on it";
const MEMORY: &str = "memory is bounded by limits.in_flight_bytes";
const ASSIGNMENT: &str = "workers read fixed partitions; there is no group membership";

const OWNED: &[Owned] = &[
    owned("bootstrap.servers", "set source.bootstrap_servers"),
    owned("metadata.broker.list", "set source.bootstrap_servers"),
    owned("group.id", "set source.group_id"),
    owned("group.*", ASSIGNMENT),
    owned("auto.offset.reset", "set source.start; a position that is gone halts the job"),
    owned("enable.auto.commit", OFFSETS),
    owned("auto.commit.enable", OFFSETS),
    owned("auto.commit.interval.ms", OFFSETS),
    owned("enable.auto.offset.store", OFFSETS),
    owned("offset.store.*", OFFSETS),
    owned("partition.assignment.strategy", ASSIGNMENT),
    owned("session.timeout.ms", ASSIGNMENT),
    owned("heartbeat.interval.ms", ASSIGNMENT),
    owned("max.poll.interval.ms", ASSIGNMENT),
    owned("isolation.level", EXACTLY_ONCE),
    owned("acks", EXACTLY_ONCE),
    owned("request.required.acks", EXACTLY_ONCE),
    owned("enable.idempotence", EXACTLY_ONCE),
    owned("enable.gapless.guarantee", EXACTLY_ONCE),
    owned("transactional.id", EXACTLY_ONCE),
    owned("max.in.flight", "order depends on it"),
    owned("max.in.flight.requests.per.connection", "order depends on it"),
    owned("retries", TRANSACTIONS),
    owned("message.send.max.retries", TRANSACTIONS),
    owned("transaction.timeout.ms", TRANSACTIONS),
    owned("message.timeout.ms", TRANSACTIONS),
    owned("delivery.timeout.ms", TRANSACTIONS),
    owned("delivery.report.only.error", "every delivery is counted"),
    owned("dr_cb", "every delivery is counted"),
    owned("dr_msg_cb", "every delivery is counted"),
    owned("queuing.strategy", "order depends on it"),
    owned("queue.buffering.backpressure.threshold", MEMORY),
    owned("queue.buffering.max.messages", MEMORY),
    owned("queue.buffering.max.kbytes", MEMORY),
    owned("queued.*", MEMORY),
    owned("enable.partition.eof", "ends of partitions are how a run knows that it is done"),
    owned("consume.callback.max.messages", "records are polled"),
    owned("check.crcs", "damaged records must be found"),
    owned("allow.auto.create.topics", "a topic that is missing is an error, and not a new topic"),
    owned("partitioner", "the broker's default partitioner keeps the order of keys"),
    owned("plugin.library.paths", "the job file does not load code"),
    owned("statistics.interval.ms", "statistics are not read, and would fill the client's memory"),
    owned("log_level", "set the level of Tidegate's own log"),
    owned("log.queue", "set the level of Tidegate's own log"),
    owned("test.mock.num.brokers", "a broker inside of the process keeps nothing: `tidegate demo` has one"),
    owned("opaque", "it is not a text"),
    owned("*_cb", "it is not a text"),
];

fn owner(option: &str) -> Option<&'static Owned> {
    OWNED.iter().find(|owned| match (owned.option.strip_suffix('*'), owned.option.strip_prefix('*')) {
        (Some(start), _) => option.starts_with(start),
        (None, Some(end)) => option.ends_with(end),
        (None, None) => option == owned.option,
    })
}

/// Reads the table; `None`: errors are recorded.
pub(super) fn read_client(
    checker: &mut Checker<'_>,
    source: &mut Section<'_>,
) -> Option<BTreeMap<String, Secret>> {
    let mut options = BTreeMap::new();
    let Some(entry) = source.get("client") else {
        source.left_out(checker, "client", None);
        return Some(options);
    };
    let hint = Some("write client = { \"fetch.min.bytes\" = \"1\" }".to_owned());
    let section = Section::of(checker, &entry, hint)?;
    let mut right = true;
    for entry in section.entries() {
        if let Some(owned) = owner(&entry.name) {
            let message = format!("Tidegate owns this option: {}", owned.why);
            checker.error(entry.key_at, &entry.key, message, Some("leave it out".to_owned()));
            right = false;
            continue;
        }
        match entry.value.get_ref() {
            DeValue::String(_) => match checker.text(&entry) {
                Some(text) if text.value.contains('\0') => {
                    checker.error_of(&text, "has a NUL character", None);
                    right = false;
                }
                Some(text) if is_secret(&entry.name) && text.from_variables.is_empty() => {
                    let hint = format!("write {} = \"${{A_VARIABLE}}\"", shown_key(&entry.name));
                    checker.error_of(&text, "holds a secret in plain text", Some(hint));
                    right = false;
                }
                Some(text) => {
                    checker.given_text(&text, shown_value(&entry.name, &text));
                    options.insert(entry.name, Secret(text.value));
                }
                None => right = false,
            },
            DeValue::Integer(number) => {
                let number = number.to_string();
                checker.given(
                    &entry.key,
                    entry.at(),
                    if is_secret_name(&entry.name) { "***" } else { &number },
                );
                options.insert(entry.name, Secret(number));
            }
            DeValue::Boolean(truth) => {
                checker.given(&entry.key, entry.at(), truth.to_string());
                options.insert(entry.name, Secret(truth.to_string()));
            }
            DeValue::Table(table) => {
                let quoted = shown_key(&dotted_name(&entry.name, table));
                let hint = format!("a name with dots needs quotation marks: {quoted} = ...");
                checker.wrong_kind(&entry, "a string, an integer or a boolean", Some(hint));
                right = false;
            }
            _ => {
                checker.wrong_kind(&entry, "a string, an integer or a boolean", None);
                right = false;
            }
        }
    }
    right.then_some(options)
}

/// The name that was meant where its dots were read as tables: `fetch.min.bytes` without quotation marks.
fn dotted_name(start: &str, table: &DeTable<'_>) -> String {
    let mut name = start.to_owned();
    let mut inner = Some(table);
    while let Some((key, value)) = inner.and_then(|table| table.iter().next()) {
        name.push('.');
        name.push_str(key.get_ref());
        inner = value.get_ref().as_table();
    }
    name
}

/// Numbers and truth values of harmless options are shown; any other text may be a secret.
fn shown_value(name: &str, text: &Text) -> String {
    let harmless =
        text.value.chars().all(|c| c.is_ascii_digit()) || text.value == "true" || text.value == "false";
    if harmless && !text.has_variables() && !is_secret_name(name) {
        format!("{:?}", text.value)
    } else {
        "***".to_owned()
    }
}

/// Whether an option holds a secret for sure, so that it may not stand in the job file.
fn is_secret(name: &str) -> bool {
    ["password", "secret", "token", "ssl.key.pem"].iter().any(|word| name.contains(word))
}

fn is_secret_name(name: &str) -> bool {
    ["password", "secret", "key", "token", "sasl", "jaas", "user", "pem", "pin"]
        .iter()
        .any(|word| name.contains(word))
}
