//! How large a record may be, as a real broker and the client count it.

use super::super::{KafkaSetup, Log, LogErrorClass, mock::MockLogServer, open};
use super::broker::shared;
use super::support::{SOON, eventually, fresh, job, output, read_all, set_topic, setup};
use crate::job::Secret;
use crate::model::{Destination, Headers, Outgoing};
use bytes::Bytes;

fn bytes(len: usize) -> Option<Bytes> {
    Some(Bytes::from(vec![b'x'; len]))
}

fn record(key: Option<Bytes>, value: Option<Bytes>, headers: Headers) -> Outgoing {
    Outgoing { to: Destination::Output(0), key, value, headers, timestamp_ms: Some(1_700_000_000_000) }
}

fn allow(setup: &KafkaSetup, bytes: usize) {
    set_topic(setup, &setup.topics[0], "max.message.bytes", &bytes.to_string());
}

fn send(log: &dyn Log, record: &Outgoing) -> Option<LogErrorClass> {
    let mut writer = log.writer(&fresh("w"), SOON).unwrap();
    writer.transact(&[record], &[], SOON).err().map(|error| error.class)
}

#[test]
fn a_record_is_counted_as_the_broker_counts_it() {
    let (setup, log) = job(&shared(), 1);
    let header = |name: &str, value| (name.to_owned(), value);
    // The transaction's marker must fit, too: of 78 bytes.
    let records = [
        record(bytes(60), None, Headers::new()),
        record(None, None, vec![header(&"h".repeat(63), None), header("", bytes(64))]),
        record(None, bytes(100), vec![header("", None)]),
        record(bytes(0), bytes(63), Headers::new()),
        record(bytes(64), bytes(50), vec![header("h", bytes(0))]),
        record(bytes(200), bytes(9_000), vec![header("name", bytes(64)), header("n\u{e9}", None)]),
        record(None, bytes(200_000), (0..70).map(|n| header(&format!("h{n}"), bytes(n))).collect()),
    ];
    for record in &records {
        allow(&setup, record.batch_bytes());
        assert_eq!(send(&*log, record), None, "at the limit of {} bytes", record.batch_bytes());
        allow(&setup, record.batch_bytes() - 1);
        let refused = send(&*log, record);
        assert_eq!(refused, Some(LogErrorClass::TooLarge), "a byte over {}", record.batch_bytes() - 1);
    }
    eventually("all are seen", || read_all(&*log).len() == records.len());
}

#[test]
fn the_client_takes_what_is_within_its_limit() {
    let (mut setup, _) = job(&shared(), 1);
    setup.client.insert("message.max.bytes".to_owned(), Secret("10000".to_owned()));
    let log = open(setup.clone());
    let limits = log.record_limits(&[setup.topics[0].clone()], SOON).unwrap();
    assert_eq!(limits, [Some(10_000)], "the client's, which is less than the topic's");
    let headers = || (0..20).map(|n| (format!("h{n}"), bytes(n))).collect();
    for (key, headers) in [(None, Headers::new()), (bytes(100), headers())] {
        let of = |len| record(key.clone(), bytes(len), headers.clone());
        let most = (5_000..10_000).rev().find(|len| of(*len).batch_bytes() <= 10_000).unwrap();
        let fits = of(most);
        assert_eq!(send(&*log, &fits), None);
        let over = of(most + 100);
        assert_eq!(send(&*log, &over), Some(LogErrorClass::TooLarge), "the client counts a little less");
    }
}

#[test]
fn limits_are_the_topics_own_and_a_missing_topic_has_none() {
    let (mut setup, log) = job(&shared(), 1);
    let dead = setup.dead_letter_topic.clone().unwrap();
    let missing = fresh("no-such-topic");
    set_topic(&setup, &dead, "max.message.bytes", "2000");
    let topics = [setup.topics[0].clone(), missing, dead];
    let limits = log.record_limits(&topics, SOON).unwrap();
    assert_eq!(limits, [Some(1_048_588), Some(4 << 20), Some(2_000)], "the broker's default, the client's");
    // What a broker counts then comes out of the compression.
    setup.client.insert("compression.type".to_owned(), Secret("lz4".to_owned()));
    assert_eq!(open(setup).record_limits(&topics[..1], SOON).unwrap(), [Some(4 << 20)]);
}

/// A limit holds for a whole batch: what fits alone must not be refused for what travels with it.
#[test]
fn records_that_fit_are_taken_however_many_travel_together() {
    let (setup, log) = job(&shared(), 1);
    allow(&setup, 20_000);
    let records: Vec<Outgoing> =
        (0..200).map(|n| record(bytes(n), bytes(9_000 + n * 50), Headers::new())).collect();
    let records: Vec<&Outgoing> = records.iter().collect();
    assert!(records.iter().all(|record| record.batch_bytes() < 20_000));
    let refused = log.writer(&fresh("w"), SOON).unwrap().transact(&records, &[], SOON).unwrap_err();
    assert_eq!(refused.class, LogErrorClass::TooLarge, "nobody has asked for the limit yet: {refused}");
    log.record_limits(&[setup.topics[0].clone()], SOON).unwrap();
    log.writer(&fresh("w"), SOON).unwrap().transact(&records, &[], SOON).unwrap();
    assert_eq!(read_all(&*log).len(), records.len());
}

#[test]
fn a_broker_that_does_not_tell_is_not_waited_for() {
    let server = MockLogServer::start().unwrap();
    let setup = setup(&server.bootstrap_servers());
    server.create_topic(&setup.topics[0], 1).unwrap();
    let log = open(setup.clone());
    let began = std::time::Instant::now();
    assert_eq!(log.record_limits(&setup.topics, SOON).unwrap(), [Some(4 << 20)], "the client's own");
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    let mut writer = log.writer("w", SOON).unwrap();
    writer.transact(&[&output("k", "v")], &[], SOON).unwrap();
}

#[test]
fn a_broker_that_is_out_is_an_outage() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let log = open(setup(&listener.local_addr().unwrap().to_string()));
    let error = log.record_limits(&["t".to_owned()], std::time::Duration::from_secs(2)).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Outage, "{error}");
}
