//! The log in memory.

use crate::kafka::{
    Asked, AsyncLog, AsyncReader, KafkaSetup, LogError, LogErrorClass, ProgressRow, ReadRecord,
    progress_topic_name,
};
use crate::model::{
    BatchNumber, Destination, Headers, KeyGroup, NextOffset, Offset, Outgoing, Record, TopicPartition,
};
use crate::testing::{Broker, History, Link, LogFaults, MemoryLog, Outage};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

const SOON: Duration = Duration::from_secs(20);
const AT: TopicPartition = TopicPartition { topic: 0, partition: 0 };

/// Waits for it on this thread.
fn answer<T>(asked: Asked<'_, T>) -> Result<T, LogError> {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(asked)
}

/// A job that reads what it writes.
fn log(broker: &Arc<Broker>, faults: LogFaults) -> (MemoryLog, Arc<Link>) {
    let link = Link::new("test", 1, Arc::new(History::default()));
    let setup = KafkaSetup {
        bootstrap_servers: String::new(),
        client: BTreeMap::new(),
        group_id: "group".to_owned(),
        topics: vec!["records".to_owned()],
        output_topics: vec!["records".to_owned()],
        dead_letter_topic: None,
        progress_topic: progress_topic_name("job"),
        job: "job".to_owned(),
        record_bytes_max: 1 << 20,
    };
    (MemoryLog::new(Arc::clone(broker), setup, Arc::clone(&link), faults), link)
}

fn honest() -> (Arc<Broker>, MemoryLog) {
    let broker = Broker::new();
    broker.create_topic("records", 1);
    let (log, _) = log(&broker, LogFaults::default());
    answer(log.create_progress_topic(SOON)).unwrap();
    (broker, log)
}

fn output(text: &str) -> Outgoing {
    Outgoing {
        to: Destination::Output(0),
        key: Some("k".into()),
        value: Some(text.to_owned().into()),
        headers: Headers::new(),
        timestamp_ms: None,
    }
}

fn record(text: &str) -> Record {
    Record { timestamp_ms: None, key: None, headers: Headers::new(), value: Some(text.to_owned().into()) }
}

fn row(batch: u64) -> ProgressRow {
    ProgressRow { group: KeyGroup(3), batch: BatchNumber(batch), ledger_id: "l".to_owned() }
}

fn texts(records: &[ReadRecord]) -> Vec<(i64, String)> {
    let text = |r: &ReadRecord| String::from_utf8(r.record.value.as_ref().unwrap().to_vec()).unwrap();
    records.iter().map(|r| (r.offset.0, text(r))).collect()
}

fn read(reader: &mut dyn AsyncReader) -> Vec<(i64, String)> {
    texts(&answer(reader.read(100, usize::MAX, Duration::ZERO)).unwrap())
}

#[test]
fn control_records_take_offsets_and_positions_step_over_them() {
    let (_, log) = honest();
    let mut writer = answer(log.writer("w", SOON)).unwrap();
    answer(writer.transact(&[&output("a")], &[row(1)], SOON)).unwrap();
    answer(writer.transact(&[&output("b")], &[row(2)], SOON)).unwrap();
    assert_eq!(answer(log.ends(AT, SOON)).unwrap(), (Offset(0), NextOffset(4)));
    let mut reader = log.reader(&[(AT, NextOffset(0))]).unwrap();
    assert_eq!(reader.position(AT), None);
    let first = answer(reader.read(1, usize::MAX, SOON)).unwrap();
    assert_eq!((texts(&first), reader.position(AT)), (vec![(0, "a".to_owned())], Some(NextOffset(1))));
    assert_eq!(read(&mut *reader), [(2, "b".to_owned())]);
    assert_eq!((reader.position(AT), reader.known_end(AT)), (Some(NextOffset(4)), Some(NextOffset(4))));
    assert_eq!(answer(log.progress(SOON)).unwrap(), [row(2)]);
}

#[test]
fn an_open_transaction_holds_back_what_is_behind_it() {
    let (broker, _) = honest();
    let (log, _) = log(&broker, LogFaults { left_open: 1000, ..LogFaults::default() });
    let mut writer = answer(log.writer("w", SOON)).unwrap();
    let error = answer(writer.transact(&[&output("open")], &[row(1)], SOON)).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Outage);
    broker.produce("records", 0, record("behind"));
    let mut reader = log.reader(&[(AT, NextOffset(0))]).unwrap();
    assert_eq!(read(&mut *reader), []);
    assert_eq!(reader.position(AT), Some(NextOffset(0)));
    assert_eq!(answer(log.ends(AT, SOON)).unwrap().1, NextOffset(0));
    let error = answer(log.progress(Duration::from_millis(5))).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Outage, "{error}");

    answer(log.fence(&["w".to_owned()], SOON)).unwrap();
    assert_eq!(broker.open_transactions(), 0);
    assert_eq!(read(&mut *reader), [(1, "behind".to_owned())]);
    assert_eq!(reader.position(AT), Some(NextOffset(3)));
    assert_eq!(answer(log.progress(SOON)).unwrap(), []);
}

#[test]
fn who_is_initialised_again_is_fenced() {
    let (broker, log) = honest();
    let mut old = answer(log.writer("w", SOON)).unwrap();
    let mut new = answer(log.writer("w", SOON)).unwrap();
    assert_eq!(answer(old.transact(&[&output("old")], &[], SOON)).unwrap_err().class, LogErrorClass::Fenced);
    answer(new.transact(&[&output("new")], &[], SOON)).unwrap();
    assert_eq!(broker.committed("records").len(), 1);
}

#[test]
fn a_transaction_that_times_out_fences_its_own_producer() {
    let (broker, _) = honest();
    let (log, _) = log(&broker, LogFaults { timed_out: 1000, ..LogFaults::default() });
    let mut writer = answer(log.writer("w", SOON)).unwrap();
    let error = answer(writer.transact(&[&output("a")], &[row(1)], SOON)).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Fenced);
    assert!(broker.committed("records").is_empty());
    assert_eq!(answer(log.progress(SOON)).unwrap(), []);
}

#[test]
fn an_aborted_transaction_is_hidden_and_its_writer_goes_on() {
    let (broker, well) = honest();
    let (log, link) = log(&broker, LogFaults { aborted: 1000, ..LogFaults::default() });
    let mut writer = answer(log.writer("w", SOON)).unwrap();
    let error = answer(writer.transact(&[&output("a")], &[row(1)], SOON)).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Aborted);
    link.calm();
    answer(writer.transact(&[&output("b")], &[row(2)], SOON)).unwrap();
    let mut reader = well.reader(&[(AT, NextOffset(0))]).unwrap();
    assert_eq!(read(&mut *reader), [(2, "b".to_owned())]);
}

#[test]
fn a_commit_whose_answer_is_lost_is_in_the_progress_topic() {
    let (broker, well) = honest();
    let (log, _) = log(&broker, LogFaults { commit_answer_lost: 1000, ..LogFaults::default() });
    let mut writer = answer(log.writer("w", SOON)).unwrap();
    let error = answer(writer.transact(&[&output("a")], &[row(1)], SOON)).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Outage);
    assert_eq!(answer(well.progress(SOON)).unwrap(), [row(1)]);
    assert_eq!(broker.committed("records").len(), 1);
}

#[test]
fn positions_that_are_not_there_are_gone_for_good() {
    let (broker, log) = honest();
    for n in 0..10 {
        broker.produce("records", 0, record(&n.to_string()));
    }
    broker.trim("records", 0, Offset(5));
    for wrong in [0, 11] {
        let mut reader = log.reader(&[(AT, NextOffset(wrong))]).unwrap();
        for _ in 0..2 {
            let error = answer(reader.read(10, usize::MAX, Duration::ZERO)).unwrap_err();
            assert_eq!((error.class, error.at), (LogErrorClass::PositionGone, Some(AT)));
            assert!(error.message.contains("holds 5 to 10"), "{error}");
        }
    }
    let mut reader = log.reader(&[(AT, NextOffset(5))]).unwrap();
    assert_eq!(read(&mut *reader).len(), 5);
}

#[test]
fn an_outage_fails_calls_at_once_or_at_their_deadline() {
    let (broker, log) = honest();
    broker.set_outage(Some(Outage::AtOnce));
    assert_eq!(answer(log.probe(SOON)).unwrap_err().class, LogErrorClass::Outage);
    broker.set_outage(Some(Outage::AtDeadline));
    let began = Instant::now();
    let deadline = Duration::from_millis(30);
    assert_eq!(answer(log.probe(deadline)).unwrap_err().class, LogErrorClass::Outage);
    assert!(began.elapsed() >= deadline);
    let waiting = log.clone();
    let thread = std::thread::spawn(move || answer(waiting.probe(SOON)));
    broker.set_outage(None);
    thread.join().unwrap().unwrap();
}

#[test]
fn a_frozen_process_goes_on_where_it_was_and_a_killed_one_never() {
    let (broker, _) = honest();
    let (log, link) = log(&broker, LogFaults::default());
    let mut writer = answer(log.writer("w", SOON)).unwrap();
    link.stop_before("ending a transaction");
    let thread = std::thread::spawn(move || answer(writer.transact(&[&output("a")], &[], SOON)));
    assert!(link.wait_for_stop(SOON));
    assert_eq!(broker.open_transactions(), 1);
    link.thaw();
    thread.join().unwrap().unwrap();
    assert_eq!(broker.committed("records").len(), 1);
    link.cut();
    link.thaw();
    assert_eq!(answer(log.probe(SOON)).unwrap_err().class, LogErrorClass::Rights);
}

#[test]
fn a_read_waits_for_a_record_and_no_longer_than_told() {
    let (broker, log) = honest();
    let mut reader = log.reader(&[(AT, NextOffset(0))]).unwrap();
    assert_eq!(read(&mut *reader), []);
    let thread = std::thread::spawn(move || texts(&answer(reader.read(10, usize::MAX, SOON)).unwrap()));
    broker.produce("records", 0, record("a"));
    assert_eq!(thread.join().unwrap(), [(0, "a".to_owned())]);
}

#[test]
fn a_record_over_the_topics_limit_aborts_and_the_writer_goes_on() {
    let (broker, log) = honest();
    let mut writer = answer(log.writer("w", SOON)).unwrap();
    let (fits, over) = (output("1234"), output("12345"));
    broker.set_record_limit("records", Some(fits.batch_bytes()));
    let limits = answer(log.record_limits(&["records".to_owned(), "other".to_owned()], SOON)).unwrap();
    assert_eq!(limits, [Some(fits.batch_bytes()), None]);
    let error = answer(writer.transact(&[&fits, &over], &[row(1)], SOON)).unwrap_err();
    assert_eq!(error.class, LogErrorClass::TooLarge, "{error}");
    answer(writer.transact(&[&fits], &[row(2)], SOON)).unwrap();
    broker.set_record_limit("records", None);
    answer(writer.transact(&[&over], &[], SOON)).unwrap();
    let sent: Vec<_> =
        broker.committed("records").into_iter().map(|sent| sent.record.value.unwrap()).collect();
    assert_eq!(sent, ["1234", "12345"]);
    assert_eq!(answer(log.progress(SOON)).unwrap(), [row(2)]);
}
