//! `offsets reset`: what a person decides is done exactly, and a start goes on from there.

use super::check::check;
use super::instance::{How, Instance, PATIENCE};
use super::world::{OUTPUT, World};
use std::collections::BTreeMap;
use std::sync::Arc;
use tidegate::cluster::{Ended, Failed, Job, Preview, Reset};
use tidegate::model::{NextOffset, Offset, Value};
use tidegate::operator::guard::Guard;
use tidegate::protocol::reset::{InDoubt, Target, Wish};
use tidegate::status::Board;
use tidegate::testing::{DatabaseFaults, FaultyDatabase, Link, LogFaults, MemoryLog, Random};

fn produce(world: &mut World, seed: u64) {
    world.input.produce(&world.broker, &mut Random::new(seed), 12, 250);
}

fn used() -> World {
    let mut world = World::new();
    produce(&mut world, 1);
    drained(&world);
    world
}

fn run(world: &World) -> Result<Ended, String> {
    let mut instance = Instance::start(world, "run", How::well(2));
    instance.wait(PATIENCE).expect("it ends").clone()
}

fn drained(world: &World) {
    let ended = run(world);
    assert!(matches!(ended, Ok(Ended::Drained)), "{ended:?}");
}

fn refused(world: &World) -> String {
    match run(world) {
        Ok(Ended::Halted(halt)) if halt.kind.exit_code() == 76 => halt.message,
        ended => panic!("it was not refused: {ended:?}"),
    }
}

fn command(world: &World) -> Reset {
    let link = Link::new("reset", 0, Arc::clone(&world.history));
    let log = MemoryLog::new(
        Arc::clone(&world.broker),
        world.setup.clone(),
        Arc::clone(&link),
        LogFaults::default(),
    );
    let database = FaultyDatabase::new(world.handle(), link, DatabaseFaults::default());
    let job = Job {
        spec: Arc::clone(&world.spec),
        log: Arc::new(log),
        database: Arc::new(database),
        board: Arc::new(Board::new(1)),
        until_end: false,
        guard: Guard::default(),
    };
    Reset::new(&job).unwrap()
}

fn wish(to: Target) -> Wish {
    Wish { to, only: Vec::new(), in_doubt: None }
}

/// Shows, changes nothing by that, and then does.
fn execute(world: &World, wish: &Wish) -> Preview {
    let before = format!("{:?}", world.tables());
    let shown = command(world).preview(wish).unwrap();
    assert_eq!(format!("{:?}", world.tables()), before, "a preview changes nothing");
    let done = command(world).execute(wish).unwrap();
    assert_eq!(done.plan, shown.plan);
    assert_eq!(done.group_failed, None);
    done
}

/// How often each record's row was stored, by topic, partition and offset.
fn times_stored(world: &World) -> BTreeMap<(String, i64, i64), usize> {
    let mut times = BTreeMap::new();
    for stored in world.tables().rows {
        let [.., Value::Text(topic), Value::Int(partition), Value::Int(offset)] = stored.row.as_slice()
        else {
            panic!("another row: {stored:?}")
        };
        *times.entry((topic.clone(), *partition, *offset)).or_default() += 1;
    }
    times
}

fn end(world: &World, topic: &str, partition: i32) -> NextOffset {
    world.broker.ends(topic, partition).unwrap().1
}

fn assert_each_stored(world: &World, times: impl Fn(&(String, i64, i64)) -> usize) {
    for (record, found) in times_stored(world) {
        assert_eq!(found, times(&record), "{record:?}");
    }
}

#[test]
fn back_to_an_offset_exactly_those_records_are_handled_again() {
    let mut world = used();
    let offsets = BTreeMap::from([(("in-a".to_owned(), 0), NextOffset(20))]);
    let done = execute(&world, &wish(Target::Offsets(offsets)));
    let step = done.plan.steps.iter().find(|step| step.chosen).unwrap();
    assert_eq!(step.again(), end(&world, "in-a", 0).0 - 20);
    assert_eq!(world.broker.group_position(&world.setup.group_id, "in-a", 0), Some(NextOffset(20)));
    let sent_before = world.broker.committed(OUTPUT).len();
    let stored_before = world.tables().rows.len();
    let old_end = end(&world, "in-a", 0).0;
    produce(&mut world, 2);
    drained(&world);
    let again = |(topic, partition, offset): &(String, i64, i64)| {
        topic == "in-a" && *partition == 0 && (20..old_end).contains(offset)
    };
    assert_each_stored(&world, |record| if again(record) { 2 } else { 1 });
    let new_rows = world.tables().rows.len() - stored_before;
    assert_eq!(world.broker.committed(OUTPUT).len() - sent_before, new_rows, "one output a row");
    // And no more than once again.
    drained(&world);
    assert_each_stored(&world, |record| if again(record) { 2 } else { 1 });
    let resets = world.tables().resets;
    assert_eq!(resets.len(), 1);
    assert_eq!((resets[0].moved.to, resets[0].moved.from.0), (NextOffset(20), old_end));
}

#[test]
fn the_ledgers_side_of_a_moved_group_is_taken() {
    let mut world = used();
    world.broker.set_group_position(&world.setup.group_id, "in-a", 0, NextOffset(3));
    produce(&mut world, 2);
    refused(&world);
    let done = execute(&world, &wish(Target::Ledger));
    assert!(done.plan.steps.iter().all(|step| !step.moves()));
    drained(&world);
    assert!(check(&world).is_empty());
    assert_eq!(world.tables().resets, []);
}

#[test]
fn the_groups_side_is_taken_back_and_forward() {
    let mut world = used();
    let group = world.setup.group_id.clone();
    let old_end = end(&world, "in-b", 1).0;
    produce(&mut world, 2);
    world.broker.set_group_position(&group, "in-a", 0, NextOffset(10));
    world.broker.set_group_position(&group, "in-b", 1, NextOffset(old_end + 4));
    refused(&world);
    let a_end = world.tables().frontier[&("in-a".to_owned(), 0)].0;
    let done = execute(&world, &wish(Target::Group));
    let of = |name: &str, n| {
        done.plan.steps.iter().find(|step| step.found.topic == name && step.found.partition == n).unwrap()
    };
    assert_eq!((of("in-a", 0).again(), of("in-b", 1).skipped()), (a_end - 10, 4));
    drained(&world);
    assert_each_stored(&world, |(topic, partition, offset)| {
        if topic == "in-a" && *partition == 0 && (10..a_end).contains(offset) { 2 } else { 1 }
    });
    let skipped = times_stored(&world).into_keys().filter(|(topic, partition, offset)| {
        topic == "in-b" && *partition == 1 && (old_end..old_end + 4).contains(offset)
    });
    assert_eq!(skipped.count(), 0);
}

#[test]
fn what_was_stored_and_not_sent_is_sent_before_positions_move() {
    let mut world = World::new();
    produce(&mut world, 1);
    let reading_on = How { until_end: false, ..How::well(1) };
    let mut killed = Instance::start_until(&world, "killed", "beginning a transaction", reading_on);
    world.wait_for_rows(1, PATIENCE);
    killed.kill();
    killed.wait(PATIENCE);
    assert!(!world.tables().outbox.is_empty());
    let done = execute(&world, &wish(Target::Ledger));
    assert!(!done.plan.send.is_empty());
    assert!(world.tables().outbox.is_empty());
    drained(&world);
    assert!(check(&world).is_empty(), "{:?}", check(&world));
}

#[test]
fn an_instance_that_runs_is_ended_and_cannot_undo_the_reset() {
    let mut world = used();
    produce(&mut world, 2);
    let reading_on = How { until_end: false, ..How::well(2) };
    let mut running = Instance::start_until(&world, "running", "moving the frontier", reading_on);
    let done = command(&world).execute(&wish(Target::Earliest)).unwrap();
    assert!(done.plan.steps.iter().all(|step| step.to == NextOffset(0)));
    running.link.thaw();
    let ended = running.wait(PATIENCE);
    let Some(Ok(Ended::Halted(halt))) = ended else { panic!("it goes on: {ended:?}") };
    assert_eq!(halt.kind.exit_code(), 76, "{halt}");
    assert!(
        world.tables().frontier.values().all(|next| *next == NextOffset(0)),
        "{:?}",
        world.tables().frontier
    );
    drained(&world);
}

#[test]
fn a_topic_that_was_made_anew_is_read_from_its_beginning() {
    let mut world = used();
    let old_rows = world.tables().rows.len();
    world.broker.delete_topic("in-b");
    world.broker.create_topic("in-b", 2);
    produce(&mut world, 2);
    refused(&world);
    let only = Wish { only: vec![("in-b".to_owned(), None)], ..wish(Target::Earliest) };
    let done = execute(&world, &only);
    assert_eq!(done.plan.steps.iter().filter(|step| step.found.anew && step.chosen).count(), 2);
    drained(&world);
    let new_in_b = world.broker.committed("in-b");
    let rows = world.tables().rows.split_off(old_rows);
    let of_b = |row: &&tidegate::testing::StoredRow| row.row.contains(&Value::Text("in-b".to_owned()));
    let readable = world.input.sent.iter().rev().take(new_in_b.len()).count();
    let stored = rows.iter().filter(of_b).count();
    assert!(stored > 0 && stored <= readable, "{stored} of {readable}");
    // Nothing of it is left out or handled twice: another start finds nothing to do.
    drained(&world);
    assert_eq!(world.tables().rows.len(), old_rows + rows.len());
}

#[test]
fn retention_is_stepped_over() {
    let mut world = used();
    let old_end = end(&world, "in-a", 0).0;
    produce(&mut world, 2);
    world.broker.trim("in-a", 0, Offset(old_end + 3));
    refused(&world);
    let refused_wish = command(&world).preview(&wish(Target::Ledger)).unwrap_err();
    assert!(matches!(refused_wish, Failed::Halt(_)), "{refused_wish:?}");
    let only = Wish { only: vec![("in-a".to_owned(), Some(0))], ..wish(Target::Earliest) };
    execute(&world, &only);
    drained(&world);
    assert_each_stored(&world, |_| 1);
}

#[test]
fn an_older_database_goes_on_and_handles_again_what_came_behind_it() {
    let mut world = used();
    let backup = world.tables();
    let frontier = backup.frontier.clone();
    produce(&mut world, 2);
    drained(&world);
    let sent = world.broker.committed(OUTPUT).len();
    let newer = world.tables().rows.len() - backup.rows.len();
    world.database.restore(backup);
    refused(&world);
    let done = execute(&world, &wish(Target::Ledger));
    assert!(!done.raised.is_empty());
    assert_eq!(world.tables().frontier, frontier);
    drained(&world);
    assert_each_stored(&world, |_| 1);
    assert_eq!(world.broker.committed(OUTPUT).len(), sent + newer, "outputs behind the backup came again");
}

#[test]
fn outputs_in_doubt_need_a_word() {
    for (rule, again) in [(InDoubt::Drop, false), (InDoubt::Send, true)] {
        let mut world = used();
        world.broker.delete_topic(&world.setup.progress_topic);
        refused(&world);
        let sent = world.broker.committed(OUTPUT).len();
        let error = command(&world).execute(&wish(Target::Ledger)).unwrap_err();
        let Failed::Halt(halt) = error else { panic!("{error:?}") };
        assert!(halt.kind.exit_code() == 76 && halt.message.contains("--outbox send"), "{halt}");
        let with_rule = Wish { in_doubt: Some(rule), ..wish(Target::Ledger) };
        execute(&world, &with_rule);
        produce(&mut world, 2);
        drained(&world);
        assert_each_stored(&world, |_| 1);
        if !again {
            assert!(check(&world).is_empty(), "{:?}", check(&world));
        } else {
            assert!(world.broker.committed(OUTPUT).len() > sent);
            assert!(!check(&world).is_empty(), "what Kafka had was sent again, as was asked for");
        }
    }
}

#[test]
fn it_works_on_a_real_ledger_too() {
    let mut world = World::on_sqlite();
    produce(&mut world, 1);
    drained(&world);
    execute(&world, &wish(Target::Earliest));
    drained(&world);
    assert_each_stored(&world, |_| 2);
    drained(&world);
    assert_each_stored(&world, |_| 2);
}

#[test]
fn a_job_that_has_not_run_has_no_positions() {
    let world = World::new();
    let error = command(&world).preview(&wish(Target::Earliest)).unwrap_err();
    let Failed::Halt(halt) = error else { panic!("{error:?}") };
    assert!(halt.kind.exit_code() == 78 && halt.message.contains("has not run yet"), "{halt}");
}
