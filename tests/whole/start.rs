//! When the world does not fit the ledger at a start: recognised, named, refused, and nothing is done.

use super::check::check;
use super::instance::{How, Instance, PATIENCE};
use super::world::{DEAD, OUTPUT, World, job_file};
use tidegate::cluster::Ended;
use tidegate::model::{NextOffset, Offset};
use tidegate::protocol::halt::HaltKind;
use tidegate::testing::Random;

/// A world whose first input is handled, every key group having had several batches.
fn used() -> World {
    let mut world = World::new();
    produce(&mut world, 1);
    drained(&world, 2);
    world
}

fn produce(world: &mut World, seed: u64) {
    world.input.produce(&world.broker, &mut Random::new(seed), 12, 250);
}

fn drained(world: &World, workers: usize) {
    let mut instance = Instance::start(world, "run", How::well(workers));
    let ended = instance.wait(PATIENCE);
    assert!(matches!(ended, Some(Ok(Ended::Drained))), "{ended:?}");
}

/// Starts, and is refused with this code and these words; nothing has changed.
fn refused(world: &World, code: u8, words: &[&str]) {
    let left = |world: &World| {
        let rows = world.database.tables().rows.len();
        (rows, world.broker.committed(OUTPUT).len(), world.broker.committed(DEAD).len())
    };
    let before = left(world);
    let mut instance = Instance::start(world, "refused", How::well(2));
    let Some(Ok(Ended::Halted(halt))) = instance.wait(PATIENCE) else {
        panic!("it was not refused: {:?}", instance.ended)
    };
    assert_eq!(halt.kind.exit_code(), code, "{halt}");
    for word in words {
        assert!(halt.message.contains(word), "{word:?} is not said: {halt}");
    }
    assert_eq!(left(world), before);
}

#[test]
fn a_ledger_from_a_backup_is_refused_and_the_right_one_goes_on() {
    let mut world = used();
    let backup = world.database.tables();
    produce(&mut world, 2);
    drained(&world, 1);
    let right = world.database.tables();
    world.database.restore(backup);
    refused(&world, 76, &["Kafka has batch", "put back to an earlier state", "whole"]);
    world.database.restore(right);
    produce(&mut world, 3);
    drained(&world, 3);
    assert!(check(&world).is_empty());
}

#[test]
fn an_emptied_ledger_is_refused() {
    let world = used();
    world.database.restore(tidegate::testing::Tables::default());
    refused(&world, 76, &["written under another ledger"]);
}

#[test]
fn a_progress_topic_that_is_gone_is_refused() {
    let world = used();
    world.broker.delete_topic(&world.setup.progress_topic);
    refused(&world, 76, &["progress topic", "whole"]);
}

#[test]
fn a_progress_topic_that_lost_its_records_is_refused() {
    let world = used();
    world.broker.delete_topic(&world.setup.progress_topic);
    world.broker.create_topic(&world.setup.progress_topic, 1);
    refused(&world, 76, &["the progress topic was emptied or recreated"]);
}

#[test]
fn other_key_groups_are_refused() {
    let mut world = used();
    world.set_job_file(&job_file().replace("key_groups = 8", "key_groups = 16"));
    refused(&world, 78, &["job.key_groups is 16", "begun with 8"]);
}

#[test]
fn other_keys_are_taken_after_a_clean_end_alone() {
    let other = job_file().replace(r#"key = ["@key"]"#, r#"key = ["@n"]"#);
    let mut world = used();
    produce(&mut world, 2);
    let reading_on = How { until_end: false, ..How::well(2) };
    let mut killed = Instance::start_until(&world, "killed", "moving the frontier", reading_on);
    killed.kill();
    let right = job_file();
    world.set_job_file(&other);
    refused(&world, 78, &["topics or keys have changed", "beyond the frontier"]);
    world.set_job_file(&right);
    drained(&world, 2);
    assert!(check(&world).is_empty());
    world.set_job_file(&other);
    drained(&world, 2);
}

#[test]
fn records_that_were_deleted_before_they_were_read_are_refused() {
    let mut world = used();
    let (_, end) = world.broker.ends("in-a", 0).unwrap();
    produce(&mut world, 2);
    world.broker.trim("in-a", 0, Offset(end.0 + 3));
    refused_while_reading(&world, &["in-a/0", "the next position is", "but the partition holds"]);
}

#[test]
fn a_topic_that_was_made_anew_is_refused() {
    let world = used();
    world.broker.delete_topic("in-b");
    world.broker.create_topic("in-b", 2);
    refused_while_reading(&world, &["in-b/", "the next position is", "holds 0 to 0"]);
}

/// The other partitions may have been read by then.
fn refused_while_reading(world: &World, words: &[&str]) {
    let mut instance = Instance::start(world, "refused", How::well(2));
    let Some(Ok(Ended::Halted(halt))) = instance.wait(PATIENCE) else {
        panic!("it was not refused: {:?}", instance.ended)
    };
    assert_eq!(halt.kind, HaltKind::Fenced, "{halt}");
    for word in words {
        assert!(halt.message.contains(word), "{word:?} is not said: {halt}");
    }
}

#[test]
fn the_groups_offsets_are_a_display() {
    let mut world = used();
    let group = world.setup.group_id.clone();
    let (_, end) = world.broker.ends("in-a", 0).unwrap();
    assert_eq!(world.broker.group_position(&group, "in-a", 0), Some(end), "lag tools see the end");
    world.broker.set_group_position(&group, "in-a", 0, NextOffset(0));
    produce(&mut world, 2);
    drained(&world, 2);
    assert!(check(&world).is_empty());
}

#[test]
fn a_start_that_is_told_to_drain_reads_nothing() {
    let mut world = World::new();
    produce(&mut world, 1);
    let mut instance = Instance::start_until(&world, "early", "fencing", How::well(2));
    instance.signals.drain();
    instance.link.thaw();
    let ended = instance.wait(PATIENCE);
    assert!(matches!(ended, Some(Ok(Ended::NotStarted))), "{ended:?}");
    assert_eq!(world.database.tables().rows.len(), 0);
}

#[test]
fn several_jobs_run_in_one_process() {
    std::thread::scope(|scope| {
        for workers in 1..=4 {
            scope.spawn(move || {
                let mut world = World::new();
                produce(&mut world, workers);
                drained(&world, usize::try_from(workers).unwrap());
                assert!(check(&world).is_empty());
            });
        }
    });
}
