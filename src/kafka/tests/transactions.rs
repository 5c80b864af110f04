//! Transactions on a real broker.

use super::super::{LogErrorClass, ProgressRow, client, progress};
use super::broker::shared;
use super::support::{SOON, create_topic, eventually, job, output, read_all, texts};
use crate::model::{BatchNumber, Destination, KeyGroup, Outgoing};
use bytes::Bytes;
use rdkafka::producer::{BaseRecord, Producer};
use std::time::Duration;

fn row(group: u32, batch: u64) -> ProgressRow {
    ProgressRow { group: KeyGroup(group), batch: BatchNumber(batch), ledger_id: "ledger".to_owned() }
}

#[test]
fn a_committed_transaction_is_seen_whole_and_in_order() {
    let (_, log) = job(&shared(), 1);
    let mut writer = log.writer("w-committed", SOON).unwrap();
    let records: Vec<Outgoing> = (0..500).map(|n| output("k", &n.to_string())).collect();
    let records: Vec<&Outgoing> = records.iter().collect();
    writer.transact(&records[..200], &[row(0, 1), row(1, 7)], SOON).unwrap();
    writer.transact(&records[200..], &[row(0, 2)], SOON).unwrap();
    writer.transact(&[], &[], SOON).unwrap();
    log.fence(&["w-committed".to_owned()], SOON).unwrap();
    let expected: Vec<String> = (0..500).map(|n: i32| n.to_string()).collect();
    assert_eq!(texts(&read_all(&*log)), expected);
    assert_eq!(log.progress(SOON).unwrap(), [row(0, 2), row(1, 7)]);
}

#[test]
fn a_record_keeps_all_that_it_has() {
    let (_, log) = job(&shared(), 1);
    let some = |text: &'static str| Some(Bytes::from_static(text.as_bytes()));
    let full = Outgoing {
        to: Destination::Output(0),
        key: Some(Bytes::from_static(b"\x00key\xff")),
        value: Some(Bytes::from_static(b"")),
        headers: vec![
            ("twice".to_owned(), some("first")),
            ("null".to_owned(), None),
            ("twice".to_owned(), some("second")),
            ("empty".to_owned(), some("")),
            ("h\u{e9}".to_owned(), Some(Bytes::from_static(b"\x00\xff"))),
        ],
        timestamp_ms: Some(1_234_567_890_123),
    };
    let bare = Outgoing { key: None, value: None, headers: Vec::new(), ..full.clone() };
    let mut writer = log.writer("w-full", SOON).unwrap();
    writer.transact(&[&full, &bare], &[], SOON).unwrap();
    log.fence(&["w-full".to_owned()], SOON).unwrap();
    let read = read_all(&*log);
    assert_eq!(read.len(), 2);
    for (read, sent) in read.iter().zip([&full, &bare]) {
        assert_eq!(read.record.key, sent.key);
        assert_eq!(read.record.value, sent.value);
        assert_eq!(read.record.headers, sent.headers);
        assert_eq!(read.record.timestamp_ms, sent.timestamp_ms);
    }
}

#[test]
fn a_second_writer_of_an_id_fences_the_first() {
    let (_, log) = job(&shared(), 1);
    let mut zombie = log.writer("w-same", SOON).unwrap();
    zombie.transact(&[&output("k", "before")], &[row(3, 1)], SOON).unwrap();
    let mut newer = log.writer("w-same", SOON).unwrap();
    let error = zombie.transact(&[&output("k", "zombie")], &[row(3, 2)], SOON).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Fenced, "{error}");
    assert_eq!(error.code.as_deref(), Some("_FENCED"));
    newer.transact(&[&output("k", "after")], &[], SOON).unwrap();
    log.fence(&["w-same".to_owned()], SOON).unwrap();
    assert_eq!(texts(&read_all(&*log)), ["before", "after"]);
    assert_eq!(log.progress(SOON).unwrap(), [row(3, 1)]);
}

#[test]
fn fencing_many_ids_stops_all_their_writers() {
    let (setup, log) = job(&shared(), 1);
    let ids: Vec<String> = (0..20).map(|n| format!("{}-{n}", setup.job)).collect();
    let mut writers: Vec<_> = ids.iter().step_by(5).map(|id| log.writer(id, SOON).unwrap()).collect();
    log.fence(&ids, SOON).unwrap();
    for writer in &mut writers {
        let error = writer.transact(&[&output("k", "zombie")], &[], SOON).unwrap_err();
        assert_eq!(error.class, LogErrorClass::Fenced, "{error}");
    }
    assert!(read_all(&*log).is_empty());
}

#[test]
fn a_record_over_the_topics_limit_aborts_and_the_writer_goes_on() {
    let (_, log) = job(&shared(), 1);
    let mut writer = log.writer("w-large-topic", SOON).unwrap();
    // The broker's default limit is a mebibyte, the client's here is four.
    let large = output("k", &"x".repeat(2 << 20));
    let small = output("k", "small");
    let error = writer.transact(&[&small, &large], &[row(0, 1)], SOON).unwrap_err();
    assert_eq!(error.class, LogErrorClass::TooLarge, "{error}");
    let again: Vec<_> = (0..3).map(|_| writer.transact(&[&small], &[row(0, 2)], SOON)).collect();
    assert!(
        again.iter().flat_map(|r| r.as_ref().err()).all(|e| e.class == LogErrorClass::Aborted),
        "{again:?}"
    );
    let committed = again.iter().filter(|result| result.is_ok()).count();
    assert!(committed >= 2, "at most one more transaction is aborted: {again:?}");
    log.fence(&["w-large-topic".to_owned()], SOON).unwrap();
    assert_eq!(texts(&read_all(&*log)), vec!["small"; committed]);
    assert_eq!(log.progress(SOON).unwrap(), [row(0, 2)]);
}

#[test]
fn records_behind_one_that_is_too_large_do_not_hold_the_abort_up() {
    let (_, log) = job(&shared(), 1);
    let mut writer = log.writer("w-large-first", SOON).unwrap();
    // A batch of its own; the small one behind it is sent before the broker has refused it, and comes back.
    let large = output("k", &"x".repeat(1_100_000));
    let small = output("k", "small");
    let error = writer.transact(&[&large, &small], &[row(0, 1)], SOON).unwrap_err();
    assert_eq!(error.class, LogErrorClass::TooLarge, "{error}");
    assert!(error.message.contains("1100000 bytes"), "{error}");
    eventually("the writer goes on", || match writer.transact(&[&small], &[row(0, 2)], SOON) {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.class, LogErrorClass::Aborted, "{error}");
            false
        }
    });
    log.fence(&["w-large-first".to_owned()], SOON).unwrap();
    assert_eq!(texts(&read_all(&*log)), ["small"]);
}

#[test]
fn a_record_over_the_clients_limit_aborts_and_the_writer_goes_on() {
    let (_, log) = job(&shared(), 1);
    let mut writer = log.writer("w-large-client", SOON).unwrap();
    let large = output("k", &"x".repeat(5 << 20));
    let small = output("k", "small");
    let error = writer.transact(&[&small, &large], &[], SOON).unwrap_err();
    assert_eq!(error.class, LogErrorClass::TooLarge, "{error}");
    writer.transact(&[&small], &[], SOON).unwrap();
    log.fence(&["w-large-client".to_owned()], SOON).unwrap();
    assert_eq!(texts(&read_all(&*log)), ["small"], "what was sent beside the large record is not seen");
}

#[test]
fn a_missing_output_topic_is_misconfigured() {
    let (mut setup, _) = job(&shared(), 1);
    setup.output_topics = vec!["no-such-output".to_owned()];
    setup.client.insert("topic.metadata.propagation.max.ms".to_owned(), crate::job::Secret("500".to_owned()));
    let log = super::super::open(setup);
    let mut writer = log.writer("w-missing", SOON).unwrap();
    let error = writer.transact(&[&output("k", "v")], &[], SOON).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Misconfigured, "{error}");
    assert!(error.message.contains("aborted"), "{error}");
}

#[test]
fn a_topic_that_others_write_to_is_no_progress_topic() {
    let (mut setup, _) = job(&shared(), 1);
    setup.progress_topic = format!("{}-other", setup.job);
    create_topic(&setup, &setup.progress_topic, 1);
    setup.output_topics = vec![setup.progress_topic.clone()];
    let log = super::super::open(setup);
    log.create_progress_topic(SOON).unwrap();
    assert_eq!(log.progress(SOON).unwrap(), []);
    let mut writer = log.writer("w-other", SOON).unwrap();
    writer.transact(&[&output("k", "v")], &[], SOON).unwrap();
    log.fence(&["w-other".to_owned()], SOON).unwrap();
    let error = log.progress(Duration::from_secs(10)).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Misconfigured, "{error}");
    assert!(error.message.contains("offset 0"), "{error}");
}

#[test]
fn progress_is_not_guessed_while_a_transaction_is_undecided() {
    let (setup, log) = job(&shared(), 1);
    let mut writer = log.writer("w-decided", SOON).unwrap();
    writer.transact(&[], &[row(0, 1)], SOON).unwrap();
    let open_one = client::producer(&setup, &format!("{}-open", setup.job), usize::MAX).unwrap();
    open_one.init_transactions(SOON).unwrap();
    open_one.begin_transaction().unwrap();
    let (key, value) = progress::encode(&row(1, 9)).unwrap();
    let record = BaseRecord::with_opaque_to(&setup.progress_topic, 0).key(&key).payload(&value);
    open_one.send(record).map_err(|(error, _)| error).unwrap();
    open_one.flush(SOON).unwrap();
    writer.transact(&[], &[row(0, 2)], SOON).unwrap();
    log.fence(&["w-decided".to_owned()], SOON).unwrap();

    // Read to the last stable offset alone, key group 0 would stand at batch 1.
    let error = log.progress(Duration::from_secs(1)).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Outage, "{error}");
    assert!(error.message.contains("held back by a transaction that is not decided"), "{error}");
    open_one.abort_transaction(SOON).unwrap();
    assert_eq!(log.progress(SOON).unwrap(), [row(0, 2)]);
}
