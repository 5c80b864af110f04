//! Replays on a log in memory: each letter once, in the order of its input, through faults, kills and a second replay.
#![allow(clippy::as_conversions, reason = "the numbers of a test are small")]

use super::super::letter::{Met, read};
use super::super::topic::Topic;
use super::{Outcome, Replay};
use crate::cli::args::LetterFilter;
use crate::cli::verify::Failure;
use crate::kafka::{KafkaSetup, ReadRecord, progress_topic_name};
use crate::model::{Headers, Offset, Record, TopicPartition};
use crate::testing::{Broker, History, Link, LogFaults, MemoryLog, Random, waiting};
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;

const JOB: &str = "job";
const DEAD: &str = "dead";
const PARTITIONS: i32 = 2;

fn sources() -> Vec<String> {
    vec!["in".to_owned(), "other".to_owned()]
}

fn bytes(text: &str) -> Option<Bytes> {
    Some(Bytes::copy_from_slice(text.as_bytes()))
}

/// A broker with both input topics and the dead letters.
fn broker() -> Arc<Broker> {
    let broker = Broker::new();
    for topic in ["in", "other", DEAD] {
        broker.create_topic(topic, PARTITIONS);
    }
    broker
}

fn link(seed: u64) -> Arc<Link> {
    Link::new("replay", seed, Arc::new(History::default()))
}

fn topic(broker: &Arc<Broker>, link: &Arc<Link>, faults: LogFaults) -> Result<Topic, Failure> {
    let topics = sources().into_iter().chain([DEAD.to_owned()]).collect();
    let setup = KafkaSetup {
        bootstrap_servers: String::new(),
        client: BTreeMap::new(),
        group_id: "group".to_owned(),
        topics,
        output_topics: Vec::new(),
        dead_letter_topic: Some(DEAD.to_owned()),
        progress_topic: progress_topic_name(JOB),
        job: JOB.to_owned(),
        record_bytes_max: 1 << 20,
    };
    let log = MemoryLog::new(Arc::clone(broker), setup, Arc::clone(link), faults);
    Topic::of(JOB, &sources(), DEAD, waiting(log))
}

fn honest(broker: &Arc<Broker>) -> Topic {
    topic(broker, &link(1), LogFaults::default()).unwrap()
}

/// The record that was rejected at this place.
fn record(source: &str) -> Record {
    let headers = vec![("original".to_owned(), bytes(source)), ("null".to_owned(), None)];
    Record {
        timestamp_ms: Some(1_000),
        key: bytes("k"),
        headers,
        value: bytes(&format!("value of {source}")),
    }
}

/// A letter of this record; further headers behind.
fn letter(
    broker: &Broker,
    partition: i32,
    source: &str,
    job: &str,
    record: Record,
    more: &[(&str, &str)],
) -> Offset {
    let own = [
        ("tidegate-reason", "limit"),
        ("tidegate-detail", "why"),
        ("tidegate-source", source),
        ("tidegate-job", job),
    ];
    let own = own.iter().chain(more).map(|(name, value)| ((*name).to_owned(), bytes(value)));
    let headers: Headers = record.headers.iter().cloned().chain(own).collect();
    broker.produce(DEAD, partition, Record { headers, ..record }).unwrap()
}

/// Letters of two topics, in the order in which key groups may have sent them, and what is no letter of the job.
fn letters(broker: &Broker, count: i64) -> Vec<String> {
    let mut all = Vec::new();
    for n in 0..count {
        // Side by side, in pairs that are the wrong way round.
        let offset = n ^ 1;
        let source = format!("{}/{}/{offset}", if n % 3 == 0 { "other" } else { "in" }, n % 2);
        letter(broker, (n % 5 % 2) as i32, &source, JOB, record(&source), &[]);
        letter(broker, (n % 2) as i32, "in/0/0", "another", record("in/0/0"), &[]);
        all.push(source);
    }
    all
}

fn replay(topic: &Topic, filter: &LetterFilter, most: u64) -> Result<Outcome, Failure> {
    Replay::new(topic, filter, most, true).run()
}

fn all(topic: &Topic) -> Result<Outcome, Failure> {
    replay(topic, &LetterFilter::default(), u64::MAX)
}

/// What stands in the inputs, by partition, in order.
fn sent(broker: &Broker) -> BTreeMap<(String, i32), Vec<Record>> {
    let mut found: BTreeMap<(String, i32), Vec<Record>> = BTreeMap::new();
    for topic in sources() {
        for committed in broker.committed(&topic) {
            found.entry((topic.clone(), committed.partition)).or_default().push(committed.record);
        }
    }
    found
}

/// Each of these records once, where it came from, in the order of its offset there.
fn assert_each_once(broker: &Broker, expected: &[String]) {
    let mut wanted: BTreeMap<(String, i32), Vec<(i64, Record)>> = BTreeMap::new();
    for source in expected {
        let parts: Vec<&str> = source.split('/').collect();
        let place = (parts[0].to_owned(), parts[1].parse().unwrap());
        wanted.entry(place).or_default().push((parts[2].parse().unwrap(), record(source)));
    }
    let in_order = |mut records: Vec<(i64, Record)>| {
        records.sort_by_key(|(offset, _)| *offset);
        records.into_iter().map(|(_, record)| record).collect::<Vec<_>>()
    };
    let wanted: BTreeMap<_, _> =
        wanted.into_iter().map(|(place, records)| (place, in_order(records))).collect();
    assert_eq!(sent(broker), wanted);
}

#[test]
fn every_letter_goes_back_once_as_it_was_and_in_the_order_of_its_input() {
    let broker = broker();
    let expected = letters(&broker, 40);
    let dry = Replay::new(&honest(&broker), &LetterFilter::default(), u64::MAX, false).run().unwrap();
    assert_eq!((dry.meant, dry.sent, sent(&broker).len()), (40, 40, 0), "a dry run counts and sends nothing");
    let outcome = all(&honest(&broker)).unwrap();
    assert_eq!((outcome.meant, outcome.sent, outcome.replayed_before, outcome.refused), (40, 40, 0, 0));
    assert_each_once(&broker, &expected);
    let again = all(&honest(&broker)).unwrap();
    assert_eq!((again.meant, again.sent, again.replayed_before), (40, 0, 40));
    assert_each_once(&broker, &expected);
}

#[test]
fn a_part_at_a_time_comes_to_the_same() {
    let broker = broker();
    let expected = letters(&broker, 30);
    let one = LetterFilter { source: Some(expected[7].clone()), ..LetterFilter::default() };
    assert_eq!(replay(&honest(&broker), &one, u64::MAX).unwrap().sent, 1);
    let first = replay(&honest(&broker), &LetterFilter::default(), 12).unwrap();
    assert_eq!((first.sent, first.replayed_before + first.left), (12, 18));
    let rest = all(&honest(&broker)).unwrap();
    assert_eq!((rest.sent, rest.replayed_before), (17, 13));
    let total: usize = sent(&broker).values().map(Vec::len).sum();
    assert_eq!(total, expected.len());
}

/// Markers lie in the partition of their letter, so that retention deletes no marker before its letter.
#[test]
fn a_marker_lies_behind_its_letter_in_the_same_partition() {
    let broker = broker();
    letters(&broker, 20);
    all(&honest(&broker)).unwrap();
    let mut markers = 0;
    for committed in broker.committed(DEAD) {
        let at = TopicPartition { topic: 2, partition: committed.partition };
        let met = read(ReadRecord { at, offset: committed.offset, record: committed.record }, JOB);
        if let Met::Marker { partition, offset } = met {
            assert_eq!(partition, committed.partition);
            assert!(offset < committed.offset);
            markers += 1;
        }
    }
    assert_eq!(markers, 20);
}

#[test]
fn a_cut_letters_record_is_taken_from_its_topic_if_it_is_still_that_record() {
    let broker = broker();
    let whole = record("in/0/0");
    broker.produce("in", 0, whole.clone());
    broker.produce("in", 0, Record { value: bytes("another value of len"), ..whole.clone() });
    broker.produce("in", 1, whole.clone());
    broker.trim("in", 1, Offset(1));
    let value_bytes = whole.value.as_ref().unwrap().len().to_string();
    let cut =
        Record { value: bytes("value"), key: None, headers: whole.headers[1..].to_vec(), ..whole.clone() };
    let more =
        [("tidegate-cut", value_bytes.as_str()), ("tidegate-cut-headers", "1"), ("tidegate-cut-key", "1")];
    for source in ["in/0/0", "in/0/1", "in/1/0", "in/0/99"] {
        letter(&broker, 0, source, JOB, cut.clone(), &more);
    }
    let outcome = all(&honest(&broker)).unwrap();
    assert_eq!((outcome.sent, outcome.refused), (1, 3));
    let text = outcome.as_text(&honest(&broker), true);
    assert!(text.contains("0/1 of in/0/1: the letter is cut, and another record"), "{text}");
    assert!(text.contains("0/2 of in/1/0: the letter is cut, and the record is gone"), "{text}");
    assert_eq!(sent(&broker)[&("in".to_owned(), 0)].last(), Some(&whole), "whole, as it was");
}

#[test]
fn what_cannot_go_back_is_named_and_takes_nobodys_place() {
    let broker = broker();
    for source in ["gone/0/1", "in/7/1", "in/9/1/3", "nonsense"] {
        letter(&broker, 0, source, JOB, record(source), &[]);
    }
    letter(&broker, 1, "other/1/5", JOB, record("other/1/5"), &[]);
    let outcome = replay(&honest(&broker), &LetterFilter::default(), 1).unwrap();
    assert_eq!((outcome.sent, outcome.refused, outcome.left), (1, 2, 2), "those in front of it in the order");
    let outcome = all(&honest(&broker)).unwrap();
    assert_eq!((outcome.sent, outcome.refused, outcome.replayed_before), (0, 4, 1));
    let json: serde_json::Value = serde_json::from_str(&outcome.as_json(&honest(&broker), true)).unwrap();
    assert_eq!(json["refused"]["count"], 4);
    let why = |n: usize| json["refused"]["first"][n]["why"].as_str().unwrap().to_owned();
    assert!(why(0).contains("no partition 7") && why(1).contains("no partition 9"), "{json}");
    assert!(why(2).contains("does not read the topic"), "{json}");
    assert_each_once(&broker, &["other/1/5".to_owned()]);
}

#[test]
fn a_letter_of_one_of_several_events_goes_back_with_the_index_of_that_event() {
    let broker = broker();
    // In the wrong order; one whose index nobody wrote down but its source.
    let letters: [(&str, &[(&str, &str)]); 4] = [
        ("in/0/5/12", &[]),
        ("in/0/5/3", &[("tidegate-event", "3")]),
        ("in/0/5", &[("tidegate-event", "0")]),
        ("in/0/6", &[]),
    ];
    for (source, more) in letters {
        letter(&broker, 0, source, JOB, record("in/0/5"), more);
    }
    assert_eq!(all(&honest(&broker)).unwrap().sent, 4);
    let records = sent(&broker).remove(&("in".to_owned(), 0)).unwrap();
    let event = |record: &Record| {
        let (_, value) = record.headers.iter().find(|(name, _)| name == "tidegate-event")?;
        Some(String::from_utf8(value.as_ref()?.to_vec()).unwrap())
    };
    let events: Vec<Option<String>> = records.iter().map(event).collect();
    let named = |index: u32| Some(format!("{JOB}/{index}"));
    assert_eq!(events, [named(0), named(3), named(12), None]);
    assert_eq!(records[3], record("in/0/5"), "a letter about a whole record is its record");
}

#[test]
fn of_two_replays_side_by_side_the_older_is_fenced_and_nothing_is_sent_twice() {
    let broker = broker();
    let expected = letters(&broker, 25);
    let (older_topic, filter) = (honest(&broker), LetterFilter::default());
    let mut older = Replay::new(&older_topic, &filter, u64::MAX, true);
    older.sender.as_mut().unwrap().begin().unwrap();
    let mut sorted = older.gather().unwrap().finish().unwrap();
    let mut entries = Vec::new();
    while let Some(bytes) = sorted.next().unwrap() {
        entries.push(super::Entry::from_bytes(&bytes));
    }
    older.send(&entries[..10]).unwrap();
    let newer = all(&honest(&broker)).unwrap();
    assert_eq!((newer.sent, newer.replayed_before), (15, 10));
    let failure = older.send(&entries[10..]).unwrap_err();
    assert_eq!(failure.code, 76, "{}", failure.text);
    assert!(failure.text.contains("another `dead-letters replay`"), "{}", failure.text);
    assert_each_once(&broker, &expected);
}

/// Letters that come while a replay runs are not its own: one that is rejected again would go round for ever.
#[test]
fn letters_that_come_meanwhile_wait_for_the_next_time() {
    let broker = broker();
    letters(&broker, 4);
    let (topic, filter) = (honest(&broker), LetterFilter::default());
    let mut replay = Replay::new(&topic, &filter, u64::MAX, true);
    replay.sender.as_mut().unwrap().begin().unwrap();
    let sorter = replay.gather().unwrap();
    letter(&broker, 0, "in/0/77", JOB, record("in/0/77"), &[]);
    let mut sorted = sorter.finish().unwrap();
    let mut count = 0;
    while sorted.next().unwrap().is_some() {
        count += 1;
    }
    assert_eq!(count, 4);
}

/// Faults of every kind by seed, and a kill in the middle: given again until it comes through, each letter goes once.
#[test]
fn through_faults_and_kills_each_letter_goes_once() {
    for seed in 0..25 {
        let mut random = Random::new(seed);
        let broker = broker();
        let expected = letters(&broker, 12 + random.below(30) as i64);
        let faults = LogFaults { slow: 0, ..LogFaults::all(random.below(120) as u32) };
        for attempt in 0.. {
            assert!(attempt < 60, "seed {seed}: no attempt comes through");
            let link = link(random.draw());
            if attempt > 40 {
                link.calm();
            }
            let kill_at = random.chance(500).then(|| random.below(expected.len() as u64 * 2) as usize);
            let done =
                with_kill(&broker, &link, faults, kill_at.filter(|_| attempt < 40), 1 + random.below(9));
            if let Ok(outcome) = done
                && outcome.left == 0
            {
                break;
            }
        }
        assert_each_once(&broker, &expected);
        assert_eq!(broker.open_transactions(), 0, "seed {seed}");
    }
}

/// One replay of so many letters, whose process is killed once so many records stand in the inputs, open ones included.
fn with_kill(
    broker: &Arc<Broker>,
    link: &Arc<Link>,
    faults: LogFaults,
    kill_at: Option<usize>,
    most: u64,
) -> Result<Outcome, Failure> {
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            let topic = topic(broker, link, faults)?;
            replay(&topic, &LetterFilter::default(), most)
        });
        while let Some(at) = kill_at
            && !running.is_finished()
        {
            let stands: usize = sent(broker).values().map(Vec::len).sum();
            if stands >= at {
                link.cut();
                break;
            }
            std::thread::yield_now();
        }
        running.join().unwrap()
    })
}
