//! A flood of unreadable records halts the job before more than the budget of them has been let through; a steady few
//! never do.

use super::check::check;
use super::input::Sent;
use super::instance::{How, Instance, PATIENCE};
use super::world::{DEAD, World, job_file};
use tidegate::cluster::Ended;
use tidegate::model::{Offset, Record};
use tidegate::protocol::halt::{Halt, HaltKind};

const AT_LEAST: usize = 10;
const BEFORE: i64 = 400;
const FLOOD: usize = 600;

fn with_budget(rule: &str) -> String {
    let budget = format!("[rejects]\nbudget = {{ share = 0.05, at_least = {AT_LEAST} }}\n");
    let text = job_file().replace("[rejects]\n", &budget);
    text.replace("unreadable = \"dead_letter\"", &format!("unreadable = \"{rule}\""))
}

/// Partition 2 of `in-a` is k4's.
fn unreadable(world: &mut World) {
    let value = Some("<e key=".into());
    let record = Record { timestamp_ms: None, key: None, headers: Vec::new(), value };
    let offset = world.broker.produce("in-a", 2, record).expect("the partition is there");
    world.input.sent.push(Sent { source: format!("in-a/2/{offset}"), event: None });
}

/// Good records, then nothing but unreadable ones.
fn flooded(rule: &str) -> World {
    let mut world = World::new();
    world.set_job_file(&with_budget(rule));
    world.input.produce_key(&world.broker, 4, usize::try_from(BEFORE).unwrap());
    world.input.produce_key(&world.broker, 1, 50);
    (0..FLOOD).for_each(|_| unreadable(&mut world));
    world
}

fn halted(world: &World, workers: usize) -> Halt {
    let mut instance = Instance::start(world, "flooded", How::well(workers));
    match instance.wait(PATIENCE) {
        Some(Ok(Ended::Halted(halt))) => halt.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_flood_halts_each_start_behind_its_budget_and_loses_nothing() {
    for workers in [1, 3] {
        let mut world = flooded("dead_letter");
        let mut sent = 0;
        for start in 0..3 {
            let halt = halted(&world, workers);
            assert_eq!(halt.kind, HaltKind::Reject, "{halt}");
            assert!(halt.message.contains("rejects.budget"), "{halt}");
            let record = halt.record.expect("it names the record that is too many");
            let letters = world.broker.committed(DEAD).len();
            assert!(letters <= sent + AT_LEAST, "start {start}: {letters} letters, {sent} before it");
            let most = BEFORE + i64::try_from(sent + AT_LEAST).unwrap();
            assert!(record.offset <= Offset(most), "start {start}: {halt} at {record:?}, {sent} sent before");
            sent = letters;
        }
        // The flood was meant: without a budget all of it goes through, each record once.
        world.set_job_file(&job_file());
        let mut instance = Instance::start(&world, "without", How::well(workers));
        assert_eq!(instance.wait(PATIENCE), Some(&Ok(Ended::Drained)));
        assert_eq!(check(&world), Vec::<String>::new());
        assert_eq!(world.broker.committed(DEAD).len(), FLOOD);
    }
}

#[test]
fn discarded_records_count_as_well() {
    let world = flooded("discard");
    let halt = halted(&world, 2);
    assert_eq!(halt.kind, HaltKind::Reject, "{halt}");
    let record = halt.record.expect("it names the record that is too many");
    assert_eq!(record.offset, Offset(BEFORE + i64::try_from(AT_LEAST).unwrap()));
}

#[test]
fn one_in_a_hundred_never_halts() {
    let mut world = World::new();
    world.set_job_file(&with_budget("dead_letter"));
    for _ in 0..50 {
        world.input.produce_key(&world.broker, 4, 99);
        unreadable(&mut world);
    }
    let mut instance = Instance::start(&world, "steady", How::well(2));
    assert_eq!(instance.wait(PATIENCE), Some(&Ok(Ended::Drained)));
    assert_eq!(check(&world), Vec::<String>::new());
    assert_eq!(world.broker.committed(DEAD).len(), 50);
}
