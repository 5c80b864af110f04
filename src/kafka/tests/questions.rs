//! Topics and the group on a real broker.

use super::super::{GroupPosition, Log, LogErrorClass, check_options, client, open};
use super::broker::shared;
use super::support::{SOON, at, eventually, fresh, job, make_anew, send_at};
use crate::job::Secret;
use crate::model::{NextOffset, TopicPartition};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rdkafka::consumer::Consumer;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn offsets_of_the_group_come_back_as_they_were_committed() {
    let (_, log) = job(&shared(), 3);
    assert_eq!(log.group_positions(&[at(0), at(1), at(2)], SOON).unwrap(), []);
    log.commit_group(&[(at(0), NextOffset(5)), (at(2), NextOffset(0))], "us", SOON).unwrap();
    log.commit_group(&[(at(0), NextOffset(7))], "us", SOON).unwrap();
    let mut found = log.group_positions(&[at(0), at(1), at(2)], SOON).unwrap();
    found.sort_by_key(|position| position.at);
    assert_eq!(found, [position(0, 7, "us"), position(2, 0, "us")]);
}

fn position(partition: i32, next: i64, mark: &str) -> GroupPosition {
    GroupPosition { at: at(partition), next: NextOffset(next), mark: mark.to_owned() }
}

#[test]
fn what_another_program_commits_does_not_bear_our_mark() {
    let (setup, log) = job(&shared(), 1);
    log.commit_group(&[(at(0), NextOffset(5))], "us", SOON).unwrap();
    let other = client::consumer(&setup).unwrap();
    let mut list = rdkafka::TopicPartitionList::new();
    list.add_partition_offset(&setup.topics[0], 0, rdkafka::Offset::Offset(2)).unwrap();
    other.commit(&list, rdkafka::consumer::CommitMode::Sync).unwrap();
    assert_eq!(log.group_positions(&[at(0)], SOON).unwrap(), [position(0, 2, "")]);
}

#[test]
fn a_topic_that_is_made_anew_has_another_id() {
    let (setup, log) = job(&shared(), 1);
    let topics = [setup.topics[0].clone(), "no-such-topic".to_owned()];
    let id = |log: &Arc<dyn Log>| log.topic_ids(&topics, SOON).unwrap();
    let first = id(&log);
    assert_eq!(first[1], None);
    let bytes = URL_SAFE_NO_PAD.decode(first[0].as_ref().unwrap()).unwrap();
    assert_eq!(bytes.len(), 16, "{first:?}");
    assert_eq!(id(&log), first);
    make_anew(&setup, &topics[0]);
    eventually("the new topic is there", || {
        id(&log)[0].as_ref().is_some_and(|new| Some(new) != first[0].as_ref())
    });
}

#[test]
fn a_moment_is_found_by_timestamp() {
    let (setup, log) = job(&shared(), 2);
    for (timestamp, text) in [(1_000, "a"), (2_000, "b"), (3_000, "c")] {
        send_at(&setup, 0, timestamp, text);
    }
    let of = [at(0), at(1)];
    let offsets = |timestamp| {
        log.offsets_at(&of, timestamp, SOON).unwrap().into_iter().map(|(_, next)| next.0).collect::<Vec<_>>()
    };
    assert_eq!(offsets(0), [0, 0]);
    assert_eq!(offsets(1_001), [1, 0]);
    assert_eq!(offsets(3_000), [2, 0]);
    assert_eq!(offsets(3_001), [3, 0]);
}

#[test]
fn a_commit_says_that_somebody_subscribed_with_the_group() {
    let (setup, log) = job(&shared(), 1);
    log.commit_group(&[(at(0), NextOffset(1))], "us", SOON).unwrap();
    let member = client::consumer(&setup).unwrap();
    member.subscribe(&[setup.topics[0].as_str()]).unwrap();
    eventually("the other consumer is a member", || {
        drop(member.poll(Duration::from_millis(50)));
        member.assignment().unwrap().count() == 1
    });
    let error = log.commit_group(&[(at(0), NextOffset(2))], "us", SOON).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Misconfigured, "{error}");
    assert!(error.message.contains("somebody has subscribed"), "{error}");
    drop(member);
    eventually("commits work again when it has left", || {
        log.commit_group(&[(at(0), NextOffset(3))], "us", SOON).is_ok()
    });
    assert_eq!(log.group_positions(&[at(0)], SOON).unwrap(), [position(0, 3, "us")]);
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
fn a_position_that_is_gone_is_never_replaced_by_the_clients_own_choice() {
    assert!(client::OWNED_OPTIONS.contains(&"auto.offset.reset"));
    let (mut setup, _) = job(&shared(), 1);
    setup.client.insert("auto.offset.reset".to_owned(), Secret("earliest".to_owned()));
    let config = client::consumer_config(&setup);
    assert_eq!(config.get("auto.offset.reset"), Some("error"));
}

#[test]
fn a_topic_that_is_not_the_jobs_is_refused() {
    let (_, log) = job(&shared(), 1);
    let error = log.ends(TopicPartition { topic: 9, partition: 0 }, SOON).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Misconfigured, "{error}");
    fn is_shared_between_threads<T: Send + Sync + ?Sized>(_: &T) {}
    is_shared_between_threads::<dyn Log>(&*log);
}
