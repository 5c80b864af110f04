//! Codes of the table, provoked on a real broker.

use super::super::{LogError, LogErrorClass, classes, client};
use super::broker::{shared, shared_for_accounts};
use super::support::{SOON, at, create_topic, eventually, from_start, job, output, set_topic, setup};
use crate::job::Secret;
use crate::model::{NextOffset, Outgoing};
use rdkafka::admin::{AdminOptions, NewTopic, TopicReplication};
use rdkafka::consumer::Consumer;
use std::net::TcpListener;
use std::time::{Duration, Instant};

/// An error that was provoked on a real broker: its code and class, and that the table marks the code as seen.
fn met(error: &LogError, name: &str, class: LogErrorClass) {
    assert_eq!((error.code.as_deref(), error.class), (Some(name), class), "{error}");
    let marked = classes::codes().iter().any(|known| known.name == name && known.seen);
    assert!(marked, "mark {name} as seen: {error}");
}

#[test]
fn every_code_that_is_marked_as_seen_is_provoked() {
    let text = include_str!("codes.rs");
    let marked: Vec<String> =
        classes::codes().into_iter().filter(|code| code.seen).map(|code| code.name).collect();
    assert!(marked.len() >= 8, "{marked:?}");
    let unproved: Vec<&String> =
        marked.iter().filter(|name| !text.contains(&format!("\"{name}\""))).collect();
    assert!(unproved.is_empty(), "no test names {unproved:?}");
}

#[test]
fn records_that_a_topic_refuses() {
    let (setup, log) = job(&shared(), 1);
    let mut writer = log.writer("w-refused", SOON).unwrap();
    let large = output("k", &"x".repeat(2 << 20));
    met(&writer.transact(&[&large], &[], SOON).unwrap_err(), "MSG_SIZE_TOO_LARGE", LogErrorClass::TooLarge);
    drop(writer);
    set_topic(&setup, &setup.topics[0], "cleanup.policy", "compact");
    let mut writer = log.writer("w-refused", SOON).unwrap();
    let keyless = Outgoing { key: None, ..output("k", "v") };
    let refused = writer.transact(&[&keyless], &[], SOON).unwrap_err();
    met(&refused, "INVALID_RECORD", LogErrorClass::Misconfigured);
}

#[test]
fn a_second_writer_is_the_only_one() {
    let (_, log) = job(&shared(), 1);
    let mut zombie = log.writer("w-two", SOON).unwrap();
    let _newer = log.writer("w-two", SOON).unwrap();
    let fenced = zombie.transact(&[&output("k", "v")], &[], SOON).unwrap_err();
    met(&fenced, "_FENCED", LogErrorClass::Fenced);
}

#[test]
fn a_time_out_that_the_broker_does_not_allow() {
    let mut setup = setup(&shared());
    setup.client.insert("transaction.timeout.ms".to_owned(), Secret("900001".to_owned()));
    let log = super::super::open(setup);
    let refused = log.writer("w-long", SOON).err().expect("the broker allows a quarter of an hour");
    met(&refused, "INVALID_TRANSACTION_TIMEOUT", LogErrorClass::Misconfigured);
}

#[test]
fn a_group_that_has_members() {
    let (setup, log) = job(&shared(), 1);
    let member = client::consumer(&setup).unwrap();
    member.subscribe(&[setup.topics[0].as_str()]).unwrap();
    eventually("the other consumer is a member", || {
        drop(member.poll(Duration::from_millis(50)));
        member.assignment().unwrap().count() == 1
    });
    let refused = log.commit_group(&[(at(0), NextOffset(2))], "us", SOON).unwrap_err();
    met(&refused, "UNKNOWN_MEMBER_ID", LogErrorClass::Misconfigured);
}

#[test]
fn brokers_that_do_not_answer() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let log = super::super::open(setup(&address));
    let silent = log.writer("w-silent", Duration::from_secs(1)).err().expect("nobody answers");
    met(&silent, "_TIMED_OUT", LogErrorClass::Outage);
    drop((log, listener));
    let log = super::super::open(setup(&address));
    let closed = log.probe(Duration::from_secs(2)).unwrap_err();
    met(&closed, "_TRANSPORT", LogErrorClass::Outage);
}

#[test]
fn accounts_that_may_not() {
    /// A refusal that the client takes for an outage is told when the time is up.
    const SHORT: Duration = Duration::from_secs(5);
    let (mut setup, _) = job(&shared(), 1);
    setup.bootstrap_servers = shared_for_accounts();
    assert!(!setup.bootstrap_servers.is_empty(), "TIDEGATE_KAFKA is given, and TIDEGATE_KAFKA_SASL is not");
    let mut set = |option: &str, value: &str| {
        setup.client.insert(option.to_owned(), Secret(value.to_owned()));
    };
    set("security.protocol", "SASL_PLAINTEXT");
    set("sasl.mechanism", "PLAIN");
    set("sasl.username", "app");
    set("sasl.password", "nonsense");
    let refused = super::super::open(setup.clone()).probe(SHORT).unwrap_err();
    met(&refused, "_AUTHENTICATION", LogErrorClass::Rights);
    setup.client.insert("sasl.password".to_owned(), Secret("app".to_owned()));
    let log = super::super::open(setup.clone());
    let refused = log.partition_counts(&setup.topics, SHORT).unwrap_err();
    met(&refused, "TOPIC_AUTHORIZATION_FAILED", LogErrorClass::Rights);
    let refused = log.writer("w-barred", SHORT).err().expect("no rule allows it");
    met(&refused, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", LogErrorClass::Rights);
    let refused = log.group_positions(&[at(0)], SHORT).unwrap_err();
    met(&refused, "GROUP_AUTHORIZATION_FAILED", LogErrorClass::Rights);
    // Whoever may not ask how large records may be goes on without knowing.
    assert_eq!(log.record_limits(&setup.topics, SHORT).unwrap(), [Some(setup.record_bytes_max)]);
}

/// What an administrator's question comes back with has its class, too.
#[test]
fn an_admin_operation_keeps_its_code() {
    use rdkafka::error::{KafkaError, RDKafkaErrorCode};
    let of = |code| LogError::by("creating", &KafkaError::AdminOp(code)).class;
    assert_eq!(of(RDKafkaErrorCode::OperationTimedOut), LogErrorClass::Outage);
    assert_eq!(of(RDKafkaErrorCode::ClusterAuthorizationFailed), LogErrorClass::Rights);
}

#[test]
fn topics_and_positions_that_are_not_there() {
    let (mut setup, log) = job(&shared(), 1);
    let mut reader = log.reader(&[(at(0), NextOffset(100))]).unwrap();
    let gone = reader.read(10, usize::MAX, SOON).unwrap_err();
    met(&gone, "_AUTO_OFFSET_RESET", LogErrorClass::PositionGone);
    assert!(from_start(&*log).read(1, 1, Duration::from_millis(50)).unwrap().is_empty());
    let admin = client::admin(&setup).unwrap();
    let wrong = NewTopic::new("two words", 1, TopicReplication::Fixed(1));
    let made = admin.create_topics([&wrong], &AdminOptions::new());
    let made = super::super::wait::block_on(made, Instant::now() + SOON).expect("in time").unwrap();
    let (_, code) = made[0].as_ref().unwrap_err();
    met(&LogError::by_code("creating", *code, None), "TOPIC_EXCEPTION", LogErrorClass::Misconfigured);
    create_topic(&setup, &format!("{}-there", setup.job), 1);
    setup.client.insert("topic.metadata.propagation.max.ms".to_owned(), Secret("500".to_owned()));
    setup.output_topics = vec![format!("{}-nowhere", setup.job)];
    let log = super::super::open(setup);
    let mut writer = log.writer("w-nowhere", SOON).unwrap();
    let missing = writer.transact(&[&output("k", "v")], &[], SOON).unwrap_err();
    met(&missing, "UNKNOWN_TOPIC_OR_PART", LogErrorClass::Misconfigured);
}
