//! The audit: faults planted inside, one at a time. Each must be found, by the name of the very record.

use super::instance::{How, Instance, PATIENCE};
use super::world::{DEAD, World, job_file};
use std::sync::Arc;
use tidegate::cluster::Ended;
use tidegate::model::{Coordinates, Offset, Record, TopicPartition};
use tidegate::operator::planted::{Fault, Planted};
use tidegate::protocol::halt::HaltKind;

/// The record that is met: k4 is in partition 2 of `in-a`, alone there. Its event must not be the key's last one.
const AT: TopicPartition = TopicPartition { topic: 0, partition: 2 };
const OFFSET: i64 = 40;
const SOURCE: &str = "in-a/2/40";

/// 100 records of each of six keys. `unreadable`: the record that is met cannot be read.
fn world(job_file: &str, unreadable: bool) -> World {
    let mut world = World::new();
    world.set_job_file(job_file);
    for key in [0, 1, 2, 3, 5] {
        world.input.produce_key(&world.broker, key, 100);
    }
    world.input.produce_key(&world.broker, 4, 40);
    if unreadable {
        let record = Record { timestamp_ms: None, key: None, headers: Vec::new(), value: Some("<e".into()) };
        assert_eq!(world.broker.produce("in-a", 2, record), Some(Offset(OFFSET)));
    }
    world.input.produce_key(&world.broker, 4, 60);
    world
}

fn run(world: &World, fault: Fault, workers: usize) -> Ended {
    let event = Coordinates { at: AT, offset: Offset(OFFSET), index: 0 };
    let planted: Arc<Planted> = Planted::new(fault, event, SOURCE);
    let mut instance = Instance::start_planted(world, How::well(workers), Arc::clone(&planted));
    let ended = instance.wait(PATIENCE).expect("it ends").clone().expect("no worker panics");
    assert!(planted.has_happened(), "{fault:?} has not happened");
    ended
}

fn audited(on: bool) -> String {
    job_file().replacen("key_groups", &format!("audit = {on}\nkey_groups"), 1)
}

/// Found with the audit, by one worker and by several; and not without it.
fn assert_found(job: &dyn Fn(bool) -> String, unreadable: bool, fault: Fault, says: &str) {
    for workers in [1, 3] {
        let Ended::Halted(halt) = run(&world(&job(true), unreadable), fault, workers) else {
            panic!("{fault:?} was not found by {workers} workers")
        };
        assert_eq!(halt.kind, HaltKind::Internal, "{halt}");
        assert!(halt.message.contains(says), "{fault:?}, {workers} workers: {says:?} is not in {halt}");
    }
    assert_eq!(run(&world(&job(false), unreadable), fault, 2), Ended::Drained, "{fault:?} without the audit");
}

#[test]
fn a_record_that_decode_never_sees_is_lost() {
    assert_found(&audited, false, Fault::RecordLost, "found 1 lost: in-a/2/40.");
}

#[test]
fn an_event_that_the_gate_never_sees_is_lost() {
    assert_found(&audited, false, Fault::EventLost, "found 1 lost: in-a/2/40.");
}

#[test]
fn an_output_that_is_missing_in_its_batch_is_lost() {
    assert_found(&audited, false, Fault::OutputLost, "found 1 lost: in-a/2/40.");
}

#[test]
fn a_dead_letter_that_is_missing_in_its_batch_is_lost() {
    assert_found(&audited, true, Fault::OutputLost, "found 1 lost: in-a/2/40.");
}

#[test]
fn an_output_that_is_twice_in_its_batch_is_doubled() {
    assert_found(&audited, false, Fault::OutputDoubled, "found 1 doubled: in-a/2/40.");
}

#[test]
fn a_dead_letter_that_is_twice_in_its_batch_is_doubled() {
    assert_found(&audited, true, Fault::OutputDoubled, "found 1 doubled: in-a/2/40.");
}

#[test]
fn a_discarded_record_that_came_twice_is_doubled() {
    let job = |on| audited(on).replace("unreadable = \"dead_letter\"", "unreadable = \"discard\"");
    assert_found(&job, true, Fault::RecordDoubled, "found 1 doubled: in-a/2/40.");
}

/// Without `[output]`: an event that can be read sends nothing, and is settled when its batch is stored.
fn stores_only(on: bool) -> String {
    let text = audited(on);
    let (before, rest) = text.split_once("[output]").expect("a section");
    let (_, behind) = rest.split_once("[outage]").expect("a section");
    format!("{before}[outage]{behind}")
}

#[test]
fn a_job_that_only_stores_is_audited_as_well() {
    assert_found(&stores_only, false, Fault::RecordLost, "found 1 lost: in-a/2/40.");
    assert_found(&stores_only, true, Fault::OutputLost, "found 1 lost: in-a/2/40.");
    let world = world(&stores_only(true), true);
    let mut instance = Instance::start(&world, "well", How::well(3));
    assert_eq!(instance.wait(PATIENCE), Some(&Ok(Ended::Drained)), "dead letters beside what is only stored");
    assert_eq!((world.tables().rows.len(), world.broker.committed(DEAD).len()), (600, 1));
}

/// The batches of these tests have one event, so that the message names one.
fn one_event_a_batch(on: bool) -> String {
    audited(on).replace("batch_events = 7", "batch_events = 1")
}

#[test]
fn a_batch_that_the_sink_never_sees_is_lost() {
    assert_found(&one_event_a_batch, false, Fault::BatchLost, "found 1 lost: in-a/2/40.");
}

#[test]
fn a_batch_that_is_done_and_was_never_sent_is_lost() {
    assert_found(&one_event_a_batch, false, Fault::BatchNotSent, "found 1 lost: in-a/2/40.");
}

#[test]
fn a_batch_that_is_twice_in_a_transaction_is_doubled() {
    assert_found(&one_event_a_batch, false, Fault::BatchSentTwice, "found 1 doubled: in-a/2/40.");
}

#[test]
fn a_batch_that_is_sent_again_later_is_doubled() {
    assert_found(&one_event_a_batch, false, Fault::BatchSentAgain, "found 1 doubled: in-a/2/40.");
}

/// One of several events of a record, with two outputs.
mod of_several {
    use super::*;
    use tidegate::job::JobSpec;

    /// The third event of a record of five, of which each has two outputs and the next one of its key comes behind it.
    fn world(audited: bool) -> World {
        let mut world = World::of_many(None);
        world.spec = Arc::new(JobSpec { audit: audited, ..(*world.spec).clone() });
        let event = |n: i64| {
            let key = n % 2 * 2;
            format!(r#"<e key="k{key}" n="{n}" x="yes" to="extra-a"><b/></e>"#)
        };
        for record in 0..20 {
            let events: String = (1..=5).map(|n| event(record * 5 + n)).collect();
            let value = Some(format!("<r>{events}</r>").into());
            let record = Record { timestamp_ms: None, key: None, headers: Vec::new(), value };
            assert!(world.broker.produce("in-a", 2, record).is_some());
        }
        world
    }

    fn run(world: &World, fault: Fault, workers: usize) -> Ended {
        let event = Coordinates { at: AT, offset: Offset(10), index: 2 };
        let planted = Planted::new(fault, event, "in-a/2/10/2");
        let mut instance = Instance::start_planted(world, How::well(workers), Arc::clone(&planted));
        let ended = instance.wait(PATIENCE).expect("it ends").clone().expect("no worker panics");
        assert!(planted.has_happened(), "{fault:?} has not happened");
        ended
    }

    #[test]
    fn each_event_of_a_record_is_audited_by_itself_and_by_all_of_its_outputs() {
        let lost = "found 1 lost: in-a/2/10, event 2.";
        let doubled = "found 1 doubled: in-a/2/10, event 2.";
        for (fault, says) in
            [(Fault::EventLost, lost), (Fault::OutputLost, lost), (Fault::OutputDoubled, doubled)]
        {
            for workers in [1, 3] {
                let Ended::Halted(halt) = run(&world(true), fault, workers) else {
                    panic!("{fault:?} was not found by {workers} workers")
                };
                assert_eq!(halt.kind, HaltKind::Internal, "{halt}");
                assert!(
                    halt.message.contains(says),
                    "{fault:?}, {workers} workers: {says:?} is not in {halt}"
                );
            }
            assert_eq!(run(&world(false), fault, 2), Ended::Drained, "{fault:?} without the audit");
        }
    }
}
