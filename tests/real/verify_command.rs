//! `verify`, by running it: clean behind a job and beside one at work; and each fault that is planted into copies of the
//! topics that the job wrote is found and named.

use super::input;
use super::job::Job;
use super::kafka;
use super::plan::{Event, PARTITIONS};
use super::process::{Ended, run, start};
use super::runs::RUN_DEADLINE;
use super::services::{Services, turn};
use super::wait::{report, wait_for};
use rdkafka::Message;
use rdkafka::message::{BorrowedMessage, Headers, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(120);

/// A sent record as it lies in its topic.
struct Sent {
    partition: i32,
    key: Option<Vec<u8>>,
    value: Option<Vec<u8>>,
    headers: OwnedHeaders,
    source: String,
}

fn verify(job: &Job, code: i32, args: &[&str]) -> Ended {
    let file = job.write_file();
    let mut all = vec!["verify", file.to_str().expect("a temporary path is text")];
    all.extend(args);
    start(job.dir.path(), &all).expect(code, DEADLINE)
}

fn verdict(ended: &Ended) -> &str {
    ended.log.lines().last().unwrap_or_default()
}

fn read(services: &Services, topic: &str) -> Vec<Sent> {
    let mut records = Vec::new();
    kafka::read_committed(&services.kafka, topic, PARTITIONS, |message| records.push(sent(message)));
    // Partitions come side by side; each in its order.
    records.sort_by_key(|record| record.partition);
    records
}

fn sent(message: &BorrowedMessage<'_>) -> Sent {
    let headers = message.headers().expect("what was sent has headers");
    let source = headers.iter().filter(|header| header.key == "tidegate-source").last();
    let source = source.and_then(|header| header.value).expect("a source");
    Sent {
        partition: message.partition(),
        key: message.key().map(<[u8]>::to_vec),
        value: message.payload().map(<[u8]>::to_vec),
        source: String::from_utf8_lossy(source).into_owned(),
        headers: headers.detach(),
    }
}

/// Makes a topic of these records in this order.
fn write(services: &Services, topic: &str, records: &[Sent]) {
    kafka::create_topics(&services.kafka, &[topic], PARTITIONS);
    append(services, topic, records);
}

/// Adds records to a topic in this order.
fn append(services: &Services, topic: &str, records: &[Sent]) {
    let mut config = kafka::client(&services.kafka);
    config.set("enable.idempotence", "true").set("queue.buffering.max.messages", "1000000");
    let producer: BaseProducer = config.create().expect("a producer");
    for record in records {
        let mut out =
            BaseRecord::<[u8], [u8]>::to(topic).partition(record.partition).headers(record.headers.clone());
        if let Some(key) = &record.key {
            out = out.key(key);
        }
        if let Some(value) = &record.value {
            out = out.payload(value);
        }
        producer.send(out).map_err(|(error, _)| error).expect("the record is queued");
    }
    producer.flush(DEADLINE).expect("all is delivered");
}

/// Verifies the job with a copy of its output topic that is not what it was.
fn with_outputs(job: &mut Job, code: i32, args: &[&str], spoil: impl FnOnce(&mut Vec<Sent>)) -> Ended {
    let mut records = read(job.services, &job.output);
    spoil(&mut records);
    let copy = input::unique("spoilt");
    write(job.services, &copy, &records);
    let whole = std::mem::replace(&mut job.output, copy);
    let ended = verify(job, code, args);
    let copy = std::mem::replace(&mut job.output, whole);
    kafka::delete_topics(&job.services.kafka, &[&copy]);
    ended
}

fn position_of(job: &Job, records: &[Sent], event: Event) -> usize {
    let source = job.input.source(event.partition, event.offset);
    records.iter().position(|record| record.source == source).expect("the event was sent")
}

/// An event in the middle of the plan, and the next one of its key.
fn neighbours(job: &Job) -> (Event, Event) {
    let events = &job.input.plan.events;
    let earlier = events[events.len() / 2];
    let later =
        events.iter().find(|event| event.key == earlier.key && event.sequence == earlier.sequence + 1);
    (earlier, *later.expect("the key comes again"))
}

fn named(job: &Job, ended: &Ended, kind: &str, event: Event) -> String {
    let start = format!("{kind}: {}, key group ", job.input.source(event.partition, event.offset));
    let line = ended.log.lines().find(|line| line.starts_with(&start));
    let line = line.unwrap_or_else(|| panic!("no line begins with {start:?}:\n{}", ended.log));
    let key = super::order::id_of_key(event.key);
    assert!(line.contains(&format!("key \"{key}\"")), "{line} lacks the key {key}");
    line.to_owned()
}

#[test]
fn a_job_verifies_clean_while_it_runs_and_behind_it() {
    let turn = turn();
    let job = Job::new(turn.services, input::small(turn.services), "verify_clean");
    verify(&job, 78, &[]);
    let mut running = run(&job, &["-w", "2"]);
    let all: i64 = job.input.plan.ends.iter().sum();
    let committed = |job: &Job| job.input_positions().committed().iter().map(|at| (*at).max(0)).sum::<i64>();
    wait_for("a tenth of the input", RUN_DEADLINE, || (committed(&job) > all / 10).then_some(()));
    let beside = verify(&job, 0, &[]);
    running.assert_runs();
    assert_eq!(verdict(&beside), "0 lost, 0 doubled, 0 out of order", "{}", beside.log);
    wait_for("the whole input", RUN_DEADLINE, || (committed(&job) == all).then_some(()));
    running.signal("TERM");
    running.expect(0, RUN_DEADLINE);

    // One MiB is too little to sort in: the disk takes the rest.
    let behind = verify(&job, 0, &["--memory", "1"]);
    report(&format!("verify of {all} records in {:.1} s", behind.took.as_secs_f64()));
    assert_eq!(verdict(&behind), "0 lost, 0 doubled, 0 out of order", "{}", behind.log);
    let (events, letters) = (job.input.plan.events.len(), job.input.plan.unreadable.len());
    let counts = format!(
        "{all} records: {events} with an output, {letters} with a dead letter; {events} outputs and {letters} dead letters \
         read"
    );
    assert!(behind.log.lines().any(|line| line == counts), "{counts} is not in\n{}", behind.log);
    for (partition, end) in job.input.plan.ends.iter().enumerate() {
        let range = format!("{}/{partition}: 0 to {end} (exclusive), {end} records", job.input.topic);
        assert!(behind.log.lines().any(|line| line == range), "{range} is not in\n{}", behind.log);
    }
    let json = verify(&job, 0, &["--json"]);
    assert!(json.log.contains("\"clean\":true"), "{}", json.log);
}

#[test]
fn each_planted_fault_is_found_and_named() {
    let turn = turn();
    let mut job = Job::new(turn.services, input::small(turn.services), "verify_faults");
    run(&job, &["-w", "2", "--until-end"]).expect(0, RUN_DEADLINE);
    let (earlier, later) = neighbours(&job);
    let outputs = read(turn.services, &job.output);
    let (a, b) = (position_of(&job, &outputs, earlier), position_of(&job, &outputs, later));
    assert_eq!(outputs[a].partition, outputs[b].partition, "one key, one partition");

    let ended = with_outputs(&mut job, 70, &[], |records| drop(records.remove(a)));
    assert_eq!(verdict(&ended), "1 lost, 0 doubled, 0 out of order", "{}", ended.log);
    assert!(named(&job, &ended, "lost", earlier).ends_with(": no output"));

    let ended = with_outputs(&mut job, 70, &["--memory", "1"], |records| records.swap(a, b));
    assert_eq!(verdict(&ended), "0 lost, 0 doubled, 1 out of order", "{}", ended.log);
    let successor = format!("behind its successor {}", job.input.source(later.partition, later.offset));
    assert!(named(&job, &ended, "out of order", earlier).contains(&successor), "{}", ended.log);

    let ended = with_outputs(&mut job, 70, &["--json"], |records| {
        records.remove(a);
    });
    for part in [
        "\"clean\":false".to_owned(),
        format!("\"offset\":{}", earlier.offset),
        format!("\"key\":\"{}\"", super::order::id_of_key(earlier.key)),
    ] {
        assert!(ended.log.contains(&part), "{part} is not in\n{}", ended.log);
    }

    // A dead letter that is not there: the topic of dead letters is one with nothing in it.
    let letters = format!("{}_none", job.dead_letters);
    write(turn.services, &letters, &[]);
    let whole = std::mem::replace(&mut job.dead_letters, letters);
    let ended = verify(&job, 70, &[]);
    let expected = job.input.plan.unreadable.len();
    assert_eq!(verdict(&ended), format!("{expected} lost, 0 doubled, 0 out of order"), "{}", ended.log);
    assert!(ended.log.contains(": unreadable (no_value), and no dead letter"), "{}", ended.log);
    let letters = std::mem::replace(&mut job.dead_letters, whole);
    kafka::delete_topics(&turn.services.kafka, &[&letters]);

    // Last, for it stays: a copy behind the job's own outputs.
    append(turn.services, &job.output, &outputs[a..=a]);
    let ended = verify(&job, 70, &[]);
    assert_eq!(verdict(&ended), "0 lost, 1 doubled, 0 out of order", "{}", ended.log);
    let line = named(&job, &ended, "doubled", earlier);
    let place = format!(": 2 times, at {}/{}/", job.output, outputs[a].partition);
    assert!(line.contains(&place), "{line}");
}
