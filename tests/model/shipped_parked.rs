//! The protocol that ships, on plans in which the database refuses events: every plan is searched whole, and nothing is found.
//!
//! The plans differ in what meets a parked key: events behind it and another key of its group, a takeover, a person who
//! marks too early, lost answers and a crash in the middle of a pass, two runs, contention that takes a batch apart.

use crate::plan::{Budget, Plan};
use crate::shipped::{budget, passes};

/// With marks of a person who has mended nothing.
fn marked_early(marks: u8, budget: Budget) -> Budget {
    Budget { marks, ..budget }
}

#[test]
fn events_wait_behind_a_parked_one_through_a_takeover() {
    passes(&Plan {
        events_max: 2,
        budget: budget([0, 1, 1], [1, 1, 1]),
        ..Plan::plain(
            "a parked key and what waits behind it",
            &["0 0 0 key=a bad", "0 1 0 key=a", "0 2 0 key=b"],
        )
    });
}

#[test]
fn a_pass_with_lost_answers_and_a_crash() {
    passes(&Plan {
        mends: true,
        events_max: 2,
        budget: budget([1, 1, 0], [2, 1, 0]),
        ..Plan::plain("a pass of 2 batches, lost answers, a crash", &["0 0 0 key=a bad", "0 1 0 key=a"])
    });
}

#[test]
fn a_pass_in_two_runs() {
    passes(&Plan {
        mends: true,
        events_max: 2,
        budget: budget([0, 0, 1], [1, 0, 1]),
        ..Plan::plain("a pass in 2 runs", &["0 0 0 key=a bad", "0 1 0 key=a"])
    });
}

#[test]
fn contention_takes_a_batch_apart_while_a_key_is_parked() {
    passes(&Plan {
        mends: true,
        events_max: 2,
        budget: budget([2, 0, 0], [3, 0, 0]),
        ..Plan::plain(
            "contention while a key is parked",
            &["0 0 0 key=a bad", "0 1 0 key=b silent", "0 2 0 key=a silent"],
        )
    });
}

#[test]
fn one_key_is_parked_and_the_other_one_flows() {
    passes(&Plan {
        mends: true,
        retry_rows: 2,
        budget: marked_early(1, budget([0, 0, 0], [1, 0, 0])),
        ..Plan::plain(
            "2 keys, 1 parked and marked too early",
            &["0 0 0 key=a bad", "0 1 0 key=b", "0 2 0 key=a silent", "0 3 0 key=b"],
        )
    });
}

#[test]
fn two_keys_of_two_groups_on_two_connections() {
    passes(&Plan {
        mends: true,
        lanes: 2,
        budget: budget([1, 0, 0], [1, 1, 0]),
        ..Plan::plain("2 keys in 2 groups, 2 connections", &["0 0 0 key=a bad", "0 1 1 key=c bad"])
    });
}

#[test]
fn an_event_that_is_refused_for_ever_ends_its_pass() {
    passes(&Plan {
        mends: true,
        retry_rows: 2,
        budget: marked_early(1, budget([1, 0, 0], [1, 1, 0])),
        ..Plan::plain("refused again in the middle of a pass", &["0 0 0 key=a bad", "0 1 0 key=a never"])
    });
}

#[test]
fn a_pass_that_more_workers_end() {
    passes(&Plan {
        mends: true,
        workers: vec![1, 2],
        events_max: 2,
        budget: budget([0, 1, 0], [1, 1, 0]),
        ..Plan::plain("a pass by 1 worker, then 2", &["0 0 0 key=a bad", "0 1 0 key=a"])
    });
}
