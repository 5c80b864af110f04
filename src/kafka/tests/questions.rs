//! Topics and the group on a real broker.

use super::super::{Log, LogErrorClass, check_options, client, open};
use super::broker::shared;
use super::support::{SOON, at, eventually, fresh, job};
use crate::job::Secret;
use crate::model::{NextOffset, TopicPartition};
use rdkafka::consumer::Consumer;
use std::time::Duration;

#[test]
fn offsets_of_the_group_come_back_as_they_were_committed() {
    let (_, log) = job(&shared(), 3);
    assert_eq!(log.group_positions(&[at(0), at(1), at(2)], SOON).unwrap(), []);
    log.commit_group(&[(at(0), NextOffset(5)), (at(2), NextOffset(0))], SOON).unwrap();
    log.commit_group(&[(at(0), NextOffset(7))], SOON).unwrap();
    let mut found = log.group_positions(&[at(0), at(1), at(2)], SOON).unwrap();
    found.sort();
    assert_eq!(found, [(at(0), NextOffset(7)), (at(2), NextOffset(0))]);
}

#[test]
fn a_commit_says_that_somebody_subscribed_with_the_group() {
    let (setup, log) = job(&shared(), 1);
    log.commit_group(&[(at(0), NextOffset(1))], SOON).unwrap();
    let member = client::consumer(&setup).unwrap();
    member.subscribe(&[setup.topics[0].as_str()]).unwrap();
    eventually("the other consumer is a member", || {
        drop(member.poll(Duration::from_millis(50)));
        member.assignment().unwrap().count() == 1
    });
    let error = log.commit_group(&[(at(0), NextOffset(2))], SOON).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Misconfigured, "{error}");
    assert!(error.message.contains("somebody has subscribed"), "{error}");
    drop(member);
    eventually("commits work again when it has left", || {
        log.commit_group(&[(at(0), NextOffset(3))], SOON).is_ok()
    });
    assert_eq!(log.group_positions(&[at(0)], SOON).unwrap(), [(at(0), NextOffset(3))]);
}

#[test]
fn the_progress_topic_is_created_once_and_compacted() {
    let (setup, log) = job(&shared(), 1);
    log.create_progress_topic(SOON).unwrap();
    assert_eq!(log.partition_counts(std::slice::from_ref(&setup.progress_topic), SOON).unwrap(), [Some(1)]);
    assert_eq!(super::support::topic_option(&setup, &setup.progress_topic, "cleanup.policy"), "compact");
    assert_eq!(log.progress(SOON).unwrap(), []);
}

#[test]
fn topics_are_counted_and_missing_ones_are_none() {
    let (setup, log) = job(&shared(), 3);
    let topics = [setup.topics[0].clone(), fresh("no-such-topic")];
    assert_eq!(log.partition_counts(&topics, SOON).unwrap(), [Some(3), None]);
    log.probe(SOON).unwrap();
}

#[test]
fn a_missing_progress_topic_is_misconfigured() {
    let (mut setup, _) = job(&shared(), 1);
    setup.progress_topic = fresh("no-such-progress");
    let error = open(setup).progress(Duration::from_secs(5)).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Misconfigured, "{error}");
}

#[test]
fn options_are_refused_by_name_and_never_by_value() {
    let (setup, _) = job(&shared(), 1);
    check_options(&setup).unwrap();
    for (option, value) in
        [("compression.type", "s3cret"), ("no.such.option", "s3cret"), ("fetch.wait.max.ms", "s3cret")]
    {
        let mut setup = setup.clone();
        setup.client.insert(option.to_owned(), Secret(value.to_owned()));
        let log = open(setup.clone());
        for error in [log.probe(SOON).unwrap_err(), check_options(&setup).unwrap_err()] {
            assert_eq!(error.class, LogErrorClass::Misconfigured, "{error}");
            assert!(error.message.contains(option) && !format!("{error:?}").contains(value), "{error:?}");
        }
        assert!(!format!("{setup:?}").contains(value));
    }
}

#[test]
fn what_tidegate_owns_cannot_be_undone() {
    let (mut setup, _) = job(&shared(), 1);
    for option in client::OWNED_OPTIONS {
        setup.client.insert((*option).to_owned(), Secret("nonsense".to_owned()));
    }
    let log = open(setup);
    log.probe(SOON).unwrap();
    log.writer("w-owned", SOON).unwrap();
}

#[test]
fn a_topic_that_is_not_the_jobs_is_refused() {
    let (_, log) = job(&shared(), 1);
    let error = log.ends(TopicPartition { topic: 9, partition: 0 }, SOON).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Misconfigured, "{error}");
    fn is_shared_between_threads<T: Send + Sync + ?Sized>(_: &T) {}
    is_shared_between_threads::<dyn Log>(&*log);
}
