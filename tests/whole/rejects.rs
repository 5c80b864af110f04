//! Rules of rejects over the whole job: the budget, and what a retry does under another rule than the one that has parked.

use super::instance::{How, Instance, PATIENCE};
use super::world::{DEAD, OUTPUT, World, job_file};
use tidegate::cluster::Ended;
use tidegate::database::ParkedMark;
use tidegate::job::RejectRule;
use tidegate::protocol::halt::HaltKind;

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// Runs to the end of the topics.
fn run(world: &World) -> Ended {
    let mut instance = Instance::start(world, "run", How::well(2));
    match instance.wait(PATIENCE) {
        Some(Ok(ended)) => ended.clone(),
        other => panic!("{other:?}"),
    }
}

fn with_rule(world: &mut World, rule: &str, budget: &str) {
    let text = job_file().replace("[rejects]", &format!("[rejects]\nrefused = \"{rule}\"\n{budget}"));
    world.set_job_file(&text);
}

/// Keys of which the third event is refused, and two come behind it.
fn refusing(keys: u64, rule: RejectRule) -> World {
    let mut world = World::refusing(rule);
    (0..keys).for_each(|key| world.input.produce_key(&world.broker, key, 5));
    world
}

fn retry_all(world: &World) {
    let keys = world.parked();
    assert!(!keys.is_empty());
    runtime().block_on(async {
        let mut session = world.database.handle().connect().await.unwrap();
        session.mark_parked(&keys, ParkedMark::Retry, &[]).await.unwrap();
    });
}

/// Of the job: transactions that are committed side by side do not know of each other's rejects.
const CONNECTIONS: usize = 4;

fn counts(world: &World) -> (usize, usize, usize) {
    let (outputs, letters) = (world.broker.committed(OUTPUT).len(), world.broker.committed(DEAD).len());
    (outputs, letters, world.parked().len())
}

#[test]
fn a_flood_of_refused_events_halts_before_more_than_the_budget_are_set_aside() {
    let mut world = refusing(60, RejectRule::DeadLetter);
    with_rule(&mut world, "dead_letter", "budget = { share = 0.01, at_least = 3 }");
    let Ended::Halted(halt) = run(&world) else { panic!("a fifth of the events is refused") };
    assert_eq!(halt.kind, HaltKind::Reject, "{halt}");
    assert!(halt.message.contains("rejects.budget") && halt.record.is_some(), "{halt}");
    assert!(counts(&world).1 <= 3 * CONNECTIONS, "{:?}", counts(&world));
}

#[test]
fn events_that_only_wait_behind_a_parked_one_are_no_rejects() {
    let mut world = refusing(3, RejectRule::Park);
    (0..3).for_each(|key| world.input.produce_key(&world.broker, key, 40));
    with_rule(&mut world, "park", "budget = { share = 0.01, at_least = 3 }");
    assert_eq!(run(&world), Ended::Drained);
    assert_eq!(counts(&world), (3 * 2, 0, 3));
}

#[test]
fn a_retry_under_a_rule_that_sets_aside_frees_the_key_with_a_letter() {
    let mut world = refusing(4, RejectRule::Park);
    assert_eq!(run(&world), Ended::Drained);
    assert_eq!(counts(&world), (4 * 2, 0, 4));
    with_rule(&mut world, "dead_letter", "");
    retry_all(&world);
    assert_eq!(run(&world), Ended::Drained);
    assert_eq!(counts(&world), (4 * 4, 4, 0));
}

#[test]
fn a_retry_under_a_rule_that_halts_leaves_what_is_parked_and_halts_nobody() {
    let mut world = refusing(4, RejectRule::Park);
    assert_eq!(run(&world), Ended::Drained);
    with_rule(&mut world, "halt", "");
    retry_all(&world);
    assert_eq!(run(&world), Ended::Drained);
    assert_eq!(counts(&world), (4 * 2, 0, 4));
}

#[test]
fn a_retry_sets_no_more_aside_than_the_budget_allows() {
    let mut world = refusing(60, RejectRule::Park);
    assert_eq!(run(&world), Ended::Drained);
    with_rule(&mut world, "dead_letter", "budget = { share = 0.01, at_least = 3 }");
    retry_all(&world);
    assert_eq!(run(&world), Ended::Drained);
    let (_, letters, parked) = counts(&world);
    assert!((1..=3 * CONNECTIONS).contains(&letters) && parked == 60 - letters, "{:?}", counts(&world));
}
