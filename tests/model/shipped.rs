//! The protocol that ships: every plan is searched whole, and nothing is found.
//!
//! The plans differ in what they make meet: a takeover by fewer or by more workers, two starts side by side, groups that
//! share a transaction or a connection, an event that sends nothing, a record with events in two key groups. A run
//! that was killed is always followed by another one.

use crate::plan::{Budget, Plan, events};
use crate::search::{Seen, search};
use std::io::Write;

/// The whole budget, where the deep search is asked for.
fn budget(shallow: [u8; 3], deep: [u8; 3]) -> Budget {
    let is_deep = std::env::var("TIDEGATE_MODEL").is_ok_and(|value| value == "deep");
    let [faults, crashes, overlaps] = if is_deep { deep } else { shallow };
    Budget { faults, crashes, overlaps }
}

fn passes(plan: &Plan) {
    let seen = search(plan);
    report(plan, &seen);
    if let Some(found) = &seen.found {
        panic!("{}: {}", plan.name, found.text());
    }
    assert!(seen.complete > 0, "{}: no state is complete", plan.name);
}

/// One line per search, past the runner's capture.
pub fn report(plan: &Plan, seen: &Seen) {
    let Budget { faults, crashes, overlaps } = plan.budget;
    let what = seen.found.as_ref().map_or("", |_| ": found");
    let line = format!(
        "model: {}{what}: {} states, {} steps, depth {}, {:.1} s (faults {faults}, crashes {crashes}, overlaps {overlaps})",
        plan.name, seen.states, seen.steps, seen.depth, seen.seconds
    );
    writeln!(std::io::stderr().lock(), "{line}").unwrap();
}

#[test]
fn takeover_by_fewer_workers() {
    passes(&Plan {
        name: "2 workers, then 1",
        events: events(&["0 0 0", "0 1 1"]),
        workers: vec![2, 1],
        lanes: 1,
        events_max: 2,
        first_is_running: true,
        budget: budget([2, 1, 1], [2, 2, 1]),
        broken: None,
    });
}

#[test]
fn takeover_by_more_workers() {
    passes(&Plan {
        name: "1 worker, then 2",
        events: events(&["0 0 0", "0 1 1"]),
        workers: vec![1, 2],
        lanes: 2,
        events_max: 2,
        first_is_running: true,
        budget: budget([1, 0, 1], [2, 1, 1]),
        broken: None,
    });
}

#[test]
fn takeover_by_as_many_workers() {
    passes(&Plan {
        name: "2 workers, then 2",
        events: events(&["0 0 0", "0 1 1"]),
        workers: vec![2],
        lanes: 1,
        events_max: 2,
        first_is_running: true,
        budget: budget([1, 0, 1], [1, 1, 1]),
        broken: None,
    });
}

#[test]
fn two_starts_side_by_side() {
    passes(&Plan {
        name: "2 workers and 1 start side by side",
        events: events(&["0 0 0", "0 1 1"]),
        workers: vec![2, 1],
        lanes: 1,
        events_max: 2,
        first_is_running: false,
        budget: budget([1, 0, 1], [1, 1, 1]),
        broken: None,
    });
}

#[test]
fn batches_of_one_key_group_follow_each_other() {
    passes(&Plan {
        name: "3 batches of a key group, 1 sends nothing",
        events: events(&["0 0 0", "0 1 0 silent", "0 2 0"]),
        workers: vec![1],
        lanes: 1,
        events_max: 1,
        first_is_running: true,
        budget: budget([1, 1, 1], [2, 1, 1]),
        broken: None,
    });
}

#[test]
fn two_partitions_of_two_workers_in_one_key_group() {
    passes(&Plan {
        name: "a key group from 2 partitions, 2 workers",
        events: events(&["0 0 0", "1 0 0"]),
        workers: vec![2],
        lanes: 1,
        events_max: 2,
        first_is_running: true,
        budget: budget([1, 1, 0], [2, 2, 0]),
        broken: None,
    });
}

#[test]
fn a_record_with_events_in_both_key_groups() {
    passes(&Plan {
        name: "a record in both key groups, 2 workers",
        events: events(&["0 0 0 +", "0 0 1", "0 1 0"]),
        workers: vec![2],
        lanes: 1,
        events_max: 2,
        first_is_running: true,
        budget: budget([1, 1, 0], [2, 1, 0]),
        broken: None,
    });
}

#[test]
fn trouble_upon_trouble_in_one_run() {
    passes(&Plan {
        name: "1 worker, 2 connections, faults in a row",
        events: events(&["0 0 0", "0 1 1", "0 2 0"]),
        workers: vec![1],
        lanes: 2,
        events_max: 2,
        first_is_running: true,
        budget: budget([4, 0, 0], [5, 1, 0]),
        broken: None,
    });
}
