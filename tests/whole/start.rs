//! When the world does not fit the ledger at a start: recognised, named, refused, and nothing is done.

use super::check::check;
use super::instance::{How, Instance, PATIENCE};
use super::many::EXTRA;
use super::world::{DEAD, OUTPUT, World, job_file};
use std::sync::Arc;
use tidegate::cluster::Ended;
use tidegate::job::TopicChoice;
use tidegate::kafka::KafkaSetup;
use tidegate::model::{NextOffset, Offset};
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
    refused(&world, 76, &["Kafka has batch", "put back to an earlier state", "whole", "--to ledger"]);
    world.database.restore(right);
    produce(&mut world, 3);
    drained(&world, 3);
    assert!(check(&world).is_empty());
}

#[test]
fn an_emptied_ledger_is_refused() {
    let world = used();
    let used = world.tables();
    world.database.restore(tidegate::testing::Tables::default());
    refused(&world, 76, &["written under another ledger"]);
    // The start that was refused has left no trace by which the right ledger would be refused, too.
    world.database.restore(used);
    drained(&world, 2);
}

#[test]
fn a_progress_topic_that_is_gone_is_refused() {
    let world = used();
    world.broker.delete_topic(&world.setup.progress_topic);
    refused(&world, 76, &["progress topic", "whole", "--to ledger --outbox drop"]);
}

#[test]
fn a_progress_topic_that_was_made_anew_is_refused() {
    let world = used();
    world.broker.delete_topic(&world.setup.progress_topic);
    world.broker.create_topic(&world.setup.progress_topic, 1);
    refused(&world, 76, &["the progress topic", "was made anew", "it had id", "--to ledger --outbox drop"]);
}

#[test]
fn a_progress_topic_that_lost_its_records_is_refused() {
    let world = used();
    empty_progress(&world);
    refused(&world, 76, &["the progress topic was emptied or recreated", "--to ledger --outbox drop"]);
}

/// What the ledger has heard of Kafka lags by a batch: the frontier, which moves only over what Kafka has, tells.
#[test]
fn a_progress_topic_that_lost_its_newest_record_is_refused() {
    let world = used();
    let topic = &world.setup.progress_topic;
    let newest = world.broker.committed(topic).pop().expect("there is progress");
    world.broker.cut_off(topic, 0, newest.offset);
    refused(&world, 76, &["the progress topic", "--to ledger --outbox drop"]);
}

fn empty_progress(world: &World) {
    let (_, end) = world.broker.ends(&world.setup.progress_topic, 0).unwrap();
    world.broker.trim(&world.setup.progress_topic, 0, Offset(end.0));
}

/// A job that was killed before it wrote any position: no key group is whole in front of the frontier, so only what the
/// ledger has heard of Kafka tells that the topic should know more.
#[test]
fn a_progress_topic_that_lost_its_records_is_refused_where_all_work_lies_beyond_the_frontier() {
    let world = used();
    let mut tables = world.database.tables();
    assert!(!tables.outbox.is_empty(), "batches that Kafka has still stand in the outbox");
    tables.frontier.values_mut().for_each(|next| *next = NextOffset(0));
    world.database.restore(tables);
    world.broker.expire_group(&world.setup.group_id);
    empty_progress(&world);
    refused(&world, 76, &["Kafka has confirmed batch", "the progress topic has batch 0", "--outbox drop"]);
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
    let command = "tidegate offsets reset JOB --to earliest --only in-a/0`";
    refused(&world, 76, &["in-a/0: the next position is", "records were deleted", command]);
}

#[test]
fn a_topic_that_was_made_anew_is_refused_even_where_it_is_longer_than_before() {
    let mut world = used();
    world.broker.delete_topic("in-b");
    world.broker.create_topic("in-b", 2);
    for seed in 2..6 {
        produce(&mut world, seed);
    }
    let command = "tidegate offsets reset JOB --to earliest --only in-b`";
    refused(&world, 76, &["topic in-b was made anew", "with id id-2", "has id id-", command]);
}

#[test]
fn a_topic_that_is_shorter_than_the_ledger_says_is_refused() {
    let world = used();
    world.broker.delete_topic("in-b");
    world.broker.create_topic("in-b", 2);
    // A ledger that knows no ids yet.
    let mut tables = world.database.tables();
    tables.topics.clear();
    world.database.restore(tables);
    refused(
        &world,
        76,
        &["in-b/0: the next position is", "holds 0 to 0", "--to earliest --only in-b/0,in-b/1`"],
    );
}

#[test]
fn a_group_that_somebody_moved_is_refused_in_either_direction() {
    let mut world = used();
    let group = world.setup.group_id.clone();
    let (_, end) = world.broker.ends("in-a", 0).unwrap();
    assert_eq!(world.broker.group_position(&group, "in-a", 0), Some(end), "lag tools see the end");
    produce(&mut world, 2);
    for next in [NextOffset(0), NextOffset(end.0 + 1)] {
        world.broker.set_group_position(&group, "in-a", 0, next);
        let found = format!(
            "in-a/0: somebody else has set the consumer group's position to {next}, and the ledger's is {end}"
        );
        refused(&world, 76, &[&found, "offsets reset JOB --to ledger`", "offsets reset JOB --to group`"]);
    }
    world.broker.set_group_position(&group, "in-a", 0, end);
    drained(&world, 2);
    assert!(check(&world).is_empty());
}

#[test]
fn a_group_that_has_expired_or_was_left_behind_by_a_crash_is_no_news() {
    let mut world = used();
    let group = world.setup.group_id.clone();
    world.broker.expire_group(&group);
    produce(&mut world, 2);
    let reading_on = How { until_end: false, ..How::well(2) };
    let mut killed = Instance::start_until(&world, "killed", "moving the frontier", reading_on);
    let shown = world.broker.group_position(&group, "in-a", 0);
    assert!(shown.is_some(), "a start shows the ledger's position");
    killed.kill();
    drained(&world, 2);
    let mut killed = Instance::start_until(&world, "killed again", "committing to the group", reading_on);
    killed.kill();
    drained(&world, 3);
    let (_, end) = world.broker.ends("in-a", 0).unwrap();
    assert_eq!(world.broker.group_position(&group, "in-a", 0), Some(end));
    assert!(check(&world).is_empty());
}

#[test]
fn what_stood_in_the_group_before_the_first_start_is_no_news() {
    let mut world = World::new();
    produce(&mut world, 1);
    let group = world.setup.group_id.clone();
    world.broker.set_group_position(&group, "in-a", 0, NextOffset(5));
    drained(&world, 1);
    drained(&world, 1);
    assert!(check(&world).is_empty());
}

/// Of a job that sends nothing the group alone can tell.
#[test]
fn a_ledger_from_a_backup_is_refused_where_nothing_is_sent() {
    let mut world = World::new();
    let only_stores = job_file();
    let (before, _) = only_stores.split_once("[output]").unwrap();
    world.set_job_file(&format!("{before}\n[rejects]\nunreadable = \"discard\"\n"));
    produce(&mut world, 1);
    drained(&world, 2);
    let backup = world.database.tables();
    produce(&mut world, 2);
    drained(&world, 2);
    world.database.restore(backup);
    refused(&world, 76, &["this job has committed position", "put back to an earlier state", "--to ledger`"]);
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

/// Stored, and killed before anything of it was sent.
fn unsent() -> World {
    let mut world = World::of_many(None);
    world.produce(&mut Random::new(7), 12, 40);
    let mut instance = Instance::start_until(&world, "first", "ending a transaction", How::well(2));
    instance.kill();
    assert!(!world.tables().outbox.is_empty(), "the outbox holds what was not sent");
    world
}

/// The same outputs, to these topics of the job, whose list is in this order.
fn with_topics(world: &mut World, order: [&str; 3]) {
    let mut spec = (*world.spec).clone();
    let place = |name: &str| order.iter().position(|topic| *topic == name);
    let place_of = |old: usize| place(&spec.output_topics[old]).unwrap_or(0);
    for output in &mut spec.outputs {
        match &mut output.topic {
            TopicChoice::Fixed(topic) => *topic = place_of(*topic),
            TopicChoice::By { allowed, .. } => allowed.iter_mut().for_each(|topic| *topic = place_of(*topic)),
        }
    }
    spec.output_topics = order.map(str::to_owned).to_vec();
    world.spec = Arc::new(spec);
    world.setup = KafkaSetup::from_spec(&world.spec);
}

#[test]
fn what_an_outbox_holds_goes_to_its_topics_whatever_their_order_is_now() {
    let mut world = unsent();
    with_topics(&mut world, [EXTRA[1], EXTRA[0], OUTPUT]);
    drained(&world, 3);
    assert_eq!(check(&world), Vec::<String>::new());
}

#[test]
fn an_outbox_with_records_for_a_topic_that_is_no_output_any_more_is_refused() {
    let mut world = unsent();
    let right = Arc::clone(&world.spec);
    world.broker.create_topic("another", 1);
    with_topics(&mut world, ["another", EXTRA[0], EXTRA[1]]);
    refused(&world, 78, &["outbox", "topic \"out\"", "start once with the file from before"]);
    world.setup = KafkaSetup::from_spec(&right);
    world.spec = right;
    drained(&world, 2);
    assert_eq!(check(&world), Vec::<String>::new());
}
