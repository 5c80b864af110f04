//! Reading from a real broker.

use super::super::LogErrorClass;
use super::broker::shared;
use super::support::{SOON, at, delete_records, eventually, from_start, job, output, texts};
use crate::model::{NextOffset, Offset};
use std::time::{Duration, Instant};

#[test]
fn the_position_steps_over_control_records_at_the_end() {
    let (_, log) = job(&shared(), 1);
    let mut writer = log.writer("w-control", SOON).unwrap();
    writer.transact(&[&output("k", "a")], &[], SOON).unwrap();
    writer.transact(&[&output("k", "b")], &[], SOON).unwrap();
    log.fence(&["w-control".to_owned()], SOON).unwrap();
    assert_eq!(log.ends(at(0), SOON).unwrap(), (Offset(0), NextOffset(4)));
    let mut reader = from_start(&*log);
    assert_eq!(reader.position(at(0)), None);
    let mut records = Vec::new();
    eventually("the position is at the end", || {
        records.extend(reader.read(1, usize::MAX, Duration::from_millis(100)).unwrap());
        reader.position(at(0)) == Some(NextOffset(4))
    });
    assert_eq!(texts(&records), ["a", "b"]);
    assert_eq!(reader.known_end(at(0)), Some(NextOffset(4)));
}

/// The control record that ends a transaction is all that stands between position and end.
#[test]
fn a_position_in_front_of_a_control_record_reaches_the_end() {
    let (_, log) = job(&shared(), 1);
    let mut writer = log.writer("w-only-control", SOON).unwrap();
    writer.transact(&[&output("k", "a")], &[], SOON).unwrap();
    log.fence(&["w-only-control".to_owned()], SOON).unwrap();
    let mut reader = log.reader(&[(at(0), NextOffset(1))]).unwrap();
    eventually("the position is at the end", || {
        assert!(reader.read(10, usize::MAX, Duration::from_millis(100)).unwrap().is_empty());
        reader.position(at(0)) == Some(NextOffset(2))
    });
}

#[test]
fn an_empty_partition_is_read_to_its_end() {
    let (_, log) = job(&shared(), 1);
    let mut reader = from_start(&*log);
    eventually("the end is known", || {
        assert!(reader.read(10, usize::MAX, Duration::from_millis(50)).unwrap().is_empty());
        reader.position(at(0)) == Some(NextOffset(0))
    });
    assert_eq!(reader.known_end(at(0)), Some(NextOffset(0)));
}

#[test]
fn a_position_that_was_deleted_is_gone_for_good() {
    let (setup, log) = job(&shared(), 2);
    let mut writer = log.writer("w-deleted", SOON).unwrap();
    let records: Vec<_> = (0..10).map(|n| output("k", &n.to_string())).collect();
    writer.transact(&records.iter().collect::<Vec<_>>(), &[], SOON).unwrap();
    log.fence(&["w-deleted".to_owned()], SOON).unwrap();
    let with_records =
        [0, 1].into_iter().find(|p| log.ends(at(*p), SOON).unwrap().1 > NextOffset(0)).unwrap();
    delete_records(&setup, &setup.topics[0], with_records, 5);
    let mut reader = log.reader(&[(at(0), NextOffset(0)), (at(1), NextOffset(0))]).unwrap();
    for _ in 0..2 {
        let began = Instant::now();
        let error = loop {
            match reader.read(10, usize::MAX, Duration::from_millis(100)) {
                Ok(records) => assert!(records.is_empty() && began.elapsed() < SOON),
                Err(error) => break error,
            }
        };
        assert_eq!(error.class, LogErrorClass::PositionGone, "{error}");
        assert_eq!(error.at, Some(at(with_records)));
        assert!(error.message.contains("next position is 0, but the partition holds 5 to 11"), "{error}");
    }
}

#[test]
fn a_position_beyond_the_end_is_gone() {
    let (_, log) = job(&shared(), 1);
    let mut reader = log.reader(&[(at(0), NextOffset(100))]).unwrap();
    let error = reader.read(10, usize::MAX, SOON).unwrap_err();
    assert_eq!(error.class, LogErrorClass::PositionGone, "{error}");
    assert_eq!(error.at, Some(at(0)));
    assert!(error.message.contains("next position is 100, but the partition holds 0 to 0"), "{error}");
}

#[test]
fn a_partition_that_does_not_exist_is_misconfigured() {
    let (_, log) = job(&shared(), 1);
    let mut reader = log.reader(&[(at(7), NextOffset(0))]).unwrap();
    let error = loop {
        if let Err(error) = reader.read(10, usize::MAX, SOON) {
            break error;
        }
    };
    assert_eq!(error.class, LogErrorClass::Misconfigured, "{error}");
}
