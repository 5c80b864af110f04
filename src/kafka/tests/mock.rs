//! What the mock cluster is enough for: limits, positions and injected errors.

use super::super::mock::MockLogServer;
use super::super::{KafkaSetup, Log, LogErrorClass, ProgressRow, open};
use super::support::{SOON, at, eventually, from_start, output, read_all, setup, texts};
use crate::model::{BatchNumber, KeyGroup, NextOffset, Outgoing};
use rdkafka::types::{RDKafkaApiKey, RDKafkaRespErr};
use std::sync::Arc;
use std::time::{Duration, Instant};

fn start() -> (MockLogServer, KafkaSetup, Arc<dyn Log>) {
    let server = MockLogServer::start().unwrap();
    let setup = setup(&server.bootstrap_servers());
    server.create_topic(&setup.topics[0], 1).unwrap();
    server.create_topic(&setup.progress_topic, 1).unwrap();
    let log = open(setup.clone());
    (server, setup, log)
}

fn send(log: &dyn Log, values: &[&str]) {
    let outgoing: Vec<Outgoing> = values.iter().map(|value| output("k", value)).collect();
    let outgoing: Vec<&Outgoing> = outgoing.iter().collect();
    log.writer("mock-writer", SOON).unwrap().transact(&outgoing, &[], SOON).unwrap();
}

#[test]
fn a_read_stops_at_either_limit_and_loses_nothing() {
    let (_server, _, log) = start();
    send(&*log, &["a", "b", "c", "d", "e"]);
    let mut reader = from_start(&*log);
    let footprint = output("k", "a").value.unwrap().len() + 1 + 256;

    let two = reader.read(2, usize::MAX, SOON).unwrap();
    assert_eq!(texts(&two), ["a", "b"]);
    assert_eq!(reader.position(at(0)), Some(two[1].offset.next()));

    // One and a half records: the second is held back and comes next.
    eventually("the rest has been fetched", || reader.known_end(at(0)).is_some());
    let one = reader.read(10, footprint + footprint / 2, SOON).unwrap();
    assert_eq!(texts(&one), ["c"]);
    assert_eq!(
        reader.position(at(0)),
        Some(one[0].offset.next()),
        "a record held back is not counted as given"
    );

    // The first record is given though it is alone over the limit.
    assert_eq!(texts(&reader.read(10, 1, SOON).unwrap()), ["d"]);
    assert_eq!(texts(&reader.read(10, 1, SOON).unwrap()), ["e"]);
    assert!(reader.read(10, usize::MAX, Duration::from_millis(50)).unwrap().is_empty());
    assert!(reader.read(0, usize::MAX, Duration::ZERO).unwrap().is_empty());
}

#[test]
fn a_read_waits_no_longer_than_it_was_told() {
    let (_server, _, log) = start();
    let mut reader = from_start(&*log);
    let began = Instant::now();
    assert!(reader.read(10, usize::MAX, Duration::from_millis(300)).unwrap().is_empty());
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_partition_without_a_leader_is_an_outage_and_one_that_is_not_there_is_none() {
    let (server, setup, log) = start();
    let classes = |log: &dyn Log, deadline| {
        let ends = log.ends(at(0), deadline).map(drop).map_err(|error| error.class);
        let progress = log.progress(deadline).map(drop).map_err(|error| error.class);
        [ends, progress]
    };
    assert_eq!(classes(&*log, SOON), [Ok(()), Ok(())]);
    for topic in [&setup.topics[0], &setup.progress_topic] {
        server.cluster().partition_leader(topic, 0, None).unwrap();
    }
    // As after a broker's start, or while all of a partition's brokers are down.
    let log = open(setup.clone());
    let outage = || Err(LogErrorClass::Outage);
    assert_eq!(classes(&*log, Duration::from_secs(2)), [outage(), outage()]);
    for topic in [&setup.topics[0], &setup.progress_topic] {
        server.cluster().partition_leader(topic, 0, Some(1)).unwrap();
    }
    assert_eq!(classes(&*log, SOON), [Ok(()), Ok(())]);
    let missing = log.ends(at(7), SOON).map(drop).map_err(|error| error.class);
    assert_eq!(missing, Err(LogErrorClass::Misconfigured));
}

#[test]
fn an_existing_progress_topic_is_enough_where_topics_cannot_be_created() {
    let (server, mut setup, log) = start();
    log.create_progress_topic(SOON).unwrap();
    assert_eq!(log.partition_counts(&setup.topics, SOON).unwrap(), [Some(1)]);
    assert_eq!(log.partition_counts(&["no-such-topic".to_owned()], SOON).unwrap(), [None]);
    setup.progress_topic = "missing".to_owned();
    let error = open(setup).create_progress_topic(Duration::from_millis(500)).unwrap_err();
    assert!(error.message.contains("creating the progress topic `missing`"), "{error}");
    drop(server);
}

#[test]
fn progress_comes_back() {
    let (_server, _, log) = start();
    let row = |group, batch| ProgressRow {
        group: KeyGroup(group),
        batch: BatchNumber(batch),
        ledger_id: "ledger".to_owned(),
    };
    assert_eq!(log.progress(SOON).unwrap(), []);
    let mut writer = log.writer("w", SOON).unwrap();
    writer.transact(&[], &[row(0, 1), row(1, 1)], SOON).unwrap();
    writer.transact(&[], &[row(1, 2)], SOON).unwrap();
    assert_eq!(log.progress(SOON).unwrap(), [row(0, 1), row(1, 2)]);
}

#[test]
fn errors_that_librdkafka_retries_do_not_reach_the_caller() {
    let (server, _, log) = start();
    let mut writer = log.writer("w", SOON).unwrap();
    let cluster = server.cluster();
    cluster.request_errors(
        RDKafkaApiKey::Produce,
        &[
            RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
            RDKafkaRespErr::RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS,
        ],
    );
    cluster.request_errors(RDKafkaApiKey::EndTxn, &[RDKafkaRespErr::RD_KAFKA_RESP_ERR__TRANSPORT]);
    writer.transact(&[&output("k", "v")], &[], SOON).unwrap();
    assert_eq!(texts(&read_all(&*log)), ["v"]);
}

#[test]
fn a_refused_batch_aborts_and_the_writer_goes_on() {
    let (server, _, log) = start();
    let mut writer = log.writer("w", SOON).unwrap();
    server
        .cluster()
        .request_errors(RDKafkaApiKey::Produce, &[RDKafkaRespErr::RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE]);
    let record = output("k", "v");
    let error = writer.transact(&[&record], &[], SOON).unwrap_err();
    assert_eq!(error.class, LogErrorClass::TooLarge, "{error}");
    eventually("the writer goes on", || match writer.transact(&[&record], &[], SOON) {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.class, LogErrorClass::Aborted, "{error}");
            false
        }
    });
}

#[test]
fn a_fenced_writer_says_so() {
    let (server, _, log) = start();
    let mut writer = log.writer("w", SOON).unwrap();
    server
        .cluster()
        .request_errors(RDKafkaApiKey::EndTxn, &[RDKafkaRespErr::RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH]);
    let error = writer.transact(&[&output("k", "v")], &[], SOON).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Fenced, "{error}");
    let error = writer.transact(&[&output("k", "v")], &[], SOON).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Fenced, "{error}");
}

#[test]
fn missing_rights_are_told_as_such() {
    let (server, _, log) = start();
    server.cluster().request_errors(
        RDKafkaApiKey::InitProducerId,
        &[RDKafkaRespErr::RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED],
    );
    let error = log.writer("w", SOON).err().unwrap();
    assert_eq!(error.class, LogErrorClass::Rights, "{error}");
    assert_eq!(error.code.as_deref(), Some("TRANSACTIONAL_ID_AUTHORIZATION_FAILED"));
}

#[test]
fn a_reader_outlives_its_broker_and_does_not_spin() {
    let (server, _, log) = start();
    send(&*log, &["a"]);
    let mut reader = from_start(&*log);
    assert_eq!(texts(&reader.read(10, usize::MAX, SOON).unwrap()), ["a"]);
    server.down().unwrap();
    let began = Instant::now();
    let (mut calls, mut told) = (0, 0);
    while began.elapsed() < Duration::from_secs(3) {
        calls += 1;
        match reader.read(10, usize::MAX, Duration::from_millis(500)) {
            Ok(records) => assert!(records.is_empty()),
            Err(error) => {
                assert_eq!(error.class, LogErrorClass::Outage, "{error}");
                told += 1;
            }
        }
    }
    assert!(told >= 1, "an outage is told");
    assert!(calls <= 6 + 2 * told && told <= 8, "{calls} calls, {told} errors in three seconds");
    server.up().unwrap();
    send(&*log, &["b"]);
    let mut records = Vec::new();
    eventually("the reader goes on behind what it gave", || {
        if let Ok(more) = reader.read(10, usize::MAX, Duration::from_millis(100)) {
            records.extend(more);
        }
        !records.is_empty()
    });
    assert_eq!(texts(&records), ["b"]);
}

#[test]
fn an_outage_is_found_within_the_deadline_of_each_call() {
    let (server, _, log) = start();
    log.probe(SOON).unwrap();
    server.down().unwrap();
    let deadline = Duration::from_millis(500);
    let began = Instant::now();
    for error in [
        log.probe(deadline).unwrap_err(),
        log.writer("w", deadline).err().unwrap(),
        log.fence(&["a".to_owned(), "b".to_owned()], deadline).unwrap_err(),
        log.progress(deadline).unwrap_err(),
        log.ends(at(0), deadline).unwrap_err(),
        log.group_positions(&[at(0)], deadline).unwrap_err(),
        log.commit_group(&[(at(0), NextOffset(1))], "", deadline).unwrap_err(),
        log.create_progress_topic(deadline).unwrap_err(),
    ] {
        assert_eq!(error.class, LogErrorClass::Outage, "{error}");
    }
    assert!(began.elapsed() < 9 * deadline, "{:?}", began.elapsed());
    server.up().unwrap();
    eventually("the broker is back", || log.probe(deadline).is_ok());
}
