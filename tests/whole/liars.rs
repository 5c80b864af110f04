//! Servers that lie: the check must find each of them out. A check that cannot fail proves nothing.

use super::check::check;
use super::instance::{How, Instance, PATIENCE};
use super::world::World;
use super::zombies::{frozen_before_it_sends, frozen_before_it_stores};
use tidegate::testing::{Lie, Random};

/// A plain run, and what is wrong behind it.
fn plain_run(lie: Option<Lie>) -> Vec<String> {
    let mut world = World::lying(lie);
    world.input.produce(&world.broker, &mut Random::new(7), 6, 200);
    let mut instance = Instance::start(&world, "run", How::well(2));
    let ended = format!("{:?}", instance.wait(PATIENCE));
    instance.kill();
    world.history.say("test", &ended);
    check(&world)
}

fn assert_found(wrong: &[String], what: &str) {
    assert!(wrong.iter().any(|line| line.contains(what)), "nothing {what:?} among {wrong:#?}");
}

#[test]
fn honest_servers_pass() {
    assert!(plain_run(None).is_empty());
    assert!(frozen_before_it_sends(None).is_empty());
    assert!(frozen_before_it_stores(None).is_empty());
}

#[test]
fn a_broker_that_confirms_and_aborts_loses_outputs() {
    assert_found(&plain_run(Some(Lie::CommitAborts)), "is lost");
}

#[test]
fn a_broker_that_commits_and_says_that_it_aborted_doubles_outputs() {
    assert_found(&plain_run(Some(Lie::AbortCommits)), "is there 2 times");
}

#[test]
fn a_broker_that_does_not_fence_lets_a_zombie_send_twice() {
    let wrong = frozen_before_it_sends(Some(Lie::NoFence));
    assert_found(&wrong, "output: Sent");
    assert_found(&wrong, "is there 2 times");
}

#[test]
fn a_database_that_loses_rows_loses_events() {
    assert_found(&plain_run(Some(Lie::CommitLosesRows)), "database: Sent");
}

#[test]
fn a_database_that_forgets_a_batch_stops_the_job_and_leaves_work() {
    let wrong = plain_run(Some(Lie::CommitForgets));
    assert_found(&wrong, "is lost");
    assert_found(&wrong, "the frontier of");
}

#[test]
fn a_database_that_does_not_compare_lets_a_zombie_store_twice() {
    let wrong = frozen_before_it_stores(Some(Lie::NoCompare));
    assert_found(&wrong, "database: Sent");
    assert_found(&wrong, "is there 2 times");
}
