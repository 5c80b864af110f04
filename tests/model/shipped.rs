//! The protocol that ships: every plan is searched whole, and nothing is found.
//!
//! The plans differ in what they make meet: a takeover by fewer or by more workers, two starts side by side, groups that
//! share a transaction or a connection, an event that sends nothing, a record with events in two key groups. A run
//! that was killed is always followed by another one.

use crate::plan::{Budget, Plan};
use crate::search::{Seen, search};
use std::io::Write;

/// The whole budget, where the deep search is asked for.
pub fn budget(shallow: [u8; 3], deep: [u8; 3]) -> Budget {
    let is_deep = std::env::var("TIDEGATE_MODEL").is_ok_and(|value| value == "deep");
    let [faults, crashes, overlaps] = if is_deep { deep } else { shallow };
    Budget { faults, crashes, overlaps, marks: 0 }
}

pub fn passes(plan: &Plan) {
    let seen = search(plan);
    report(plan, &seen);
    if let Some(found) = &seen.found {
        panic!("{}: {}", plan.name, found.text());
    }
    assert!(seen.complete > 0, "{}: no state is complete", plan.name);
}

/// One line per search, past the runner's capture.
pub fn report(plan: &Plan, seen: &Seen) {
    let Budget { faults, crashes, overlaps, marks } = plan.budget;
    let what = seen.found.as_ref().map_or("", |_| ": found");
    let line = format!(
        "model: {}{what}: {} states, {} steps, depth {}, {:.1} s (faults {faults}, crashes {crashes}, overlaps {overlaps}, marks {marks})",
        plan.name, seen.states, seen.steps, seen.depth, seen.seconds
    );
    writeln!(std::io::stderr().lock(), "{line}").unwrap();
}

#[test]
fn takeover_by_fewer_workers() {
    passes(&Plan {
        workers: vec![2, 1],
        events_max: 2,
        budget: budget([2, 1, 1], [2, 2, 1]),
        ..Plan::plain("2 workers, then 1", &["0 0 0", "0 1 1"])
    });
}

#[test]
fn takeover_by_more_workers() {
    passes(&Plan {
        workers: vec![1, 2],
        lanes: 2,
        events_max: 2,
        budget: budget([1, 0, 1], [2, 1, 1]),
        ..Plan::plain("1 worker, then 2", &["0 0 0", "0 1 1"])
    });
}

#[test]
fn takeover_by_as_many_workers() {
    passes(&Plan {
        workers: vec![2],
        events_max: 2,
        budget: budget([1, 0, 1], [1, 1, 1]),
        ..Plan::plain("2 workers, then 2", &["0 0 0", "0 1 1"])
    });
}

#[test]
fn two_starts_side_by_side() {
    passes(&Plan {
        workers: vec![2, 1],
        events_max: 2,
        first_is_running: false,
        budget: budget([1, 0, 1], [1, 1, 1]),
        ..Plan::plain("2 workers and 1 start side by side", &["0 0 0", "0 1 1"])
    });
}

#[test]
fn batches_of_one_key_group_follow_each_other() {
    passes(&Plan {
        budget: budget([1, 1, 1], [2, 1, 1]),
        ..Plan::plain("3 batches of a key group, 1 sends nothing", &["0 0 0", "0 1 0 silent", "0 2 0"])
    });
}

#[test]
fn two_partitions_of_two_workers_in_one_key_group() {
    passes(&Plan {
        workers: vec![2],
        events_max: 2,
        budget: budget([1, 1, 0], [2, 2, 0]),
        ..Plan::plain("a key group from 2 partitions, 2 workers", &["0 0 0", "1 0 0"])
    });
}

#[test]
fn a_record_with_events_in_both_key_groups() {
    passes(&Plan {
        workers: vec![2],
        events_max: 2,
        budget: budget([1, 1, 0], [2, 1, 0]),
        ..Plan::plain("a record in both key groups, 2 workers", &["0 0 0 +", "0 0 1", "0 1 0"])
    });
}

#[test]
fn trouble_upon_trouble_in_one_run() {
    passes(&Plan {
        lanes: 2,
        events_max: 2,
        budget: budget([4, 0, 0], [5, 1, 0]),
        ..Plan::plain("1 worker, 2 connections, faults in a row", &["0 0 0", "0 1 1", "0 2 0"])
    });
}

#[test]
fn few_events_wait_for_a_transaction_that_is_soon_through() {
    passes(&Plan {
        lanes: 2,
        events_max: 2,
        beside_min: 2,
        budget: budget([2, 1, 0], [3, 1, 0]),
        ..Plan::plain("1 worker, 2 connections, few events go together", &["0 0 0", "0 1 1", "0 2 0"])
    });
}
