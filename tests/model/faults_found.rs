//! Broken protocols: in each the checker must find what is wrong, and print the shortest history of it.

use crate::broken::Broken;
use crate::plan::{Budget, Plan, events};
use crate::search::search;
use crate::shipped::report;

/// One event per key group; an old run of two workers, and whatever comes after it has one.
fn plan(broken: Broken, name: &'static str, [faults, crashes, overlaps]: [u8; 3]) -> Plan {
    Plan {
        workers: vec![2, 1],
        events_max: 2,
        budget: Budget { faults, crashes, overlaps, marks: 0 },
        broken: Some(broken),
        ..Plan::plain(name, &["0 0 0", "0 1 1"])
    }
}

/// The same plan passes when nothing is broken, so it is the broken rule that was found.
pub fn finds(plan: &Plan, what: &str) {
    let seen = search(plan);
    report(plan, &seen);
    let found = seen.found.unwrap_or_else(|| panic!("{:?} was not found", plan.broken));
    eprintln!("model: {:?} is found: {}", plan.broken, found.text());
    assert!(found.what.contains(what), "{:?}: another thing was found: {}", plan.broken, found.text());
    let healthy = search(&Plan { broken: None, ..plan.clone() });
    if let Some(found) = healthy.found {
        panic!("the protocol that ships fails on the same plan: {}", found.text());
    }
}

/// Two batches of one key group, one worker.
fn two_batches(broken: Broken, name: &'static str, budget: [u8; 3]) -> Plan {
    Plan {
        events: events(&["0 0 0", "0 1 0"]),
        workers: vec![1],
        events_max: 1,
        ..plan(broken, name, budget)
    }
}

#[test]
fn skipping_the_fence() {
    finds(&plan(Broken::SkipFence, "skip the fence", [0, 0, 1]), "Kafka has of key group");
}

#[test]
fn claiming_worker_by_worker() {
    let plan =
        Plan { first_is_running: false, ..plan(Broken::ClaimApart, "claim worker by worker", [0, 0, 1]) };
    finds(&plan, "Kafka has of key group");
}

#[test]
fn fencing_before_the_claim() {
    finds(&plan(Broken::FenceBeforeClaim, "fence, then claim", [0, 0, 1]), "Kafka has of key group");
}

#[test]
fn reading_before_the_fence() {
    finds(
        &plan(Broken::ReadBeforeFence, "read the progress topic, then fence", [0, 0, 1]),
        "Kafka has of key group",
    );
}

#[test]
fn starting_without_asking() {
    let plan = plan(Broken::StartTrustsFence, "start without asking", [0, 1, 1]);
    finds(&Plan { workers: vec![2, 2, 1], ..plan }, "Kafka has of key group");
}

#[test]
fn rebuilding_without_asking() {
    finds(&plan(Broken::RebuildTrustsFence, "rebuild without asking", [1, 0, 1]), "Kafka has of key group");
}

#[test]
fn repeating_a_database_commit_blindly() {
    finds(
        &plan(Broken::RepeatStore, "repeat a database commit blindly", [1, 0, 0]),
        "no newer run has claimed",
    );
}

#[test]
fn believing_a_database_commit_blindly() {
    finds(
        &plan(Broken::BelieveStore, "believe a database commit blindly", [1, 0, 0]),
        "Kafka has of key group",
    );
}

#[test]
fn repeating_a_kafka_commit_blindly() {
    finds(
        &plan(Broken::RepeatEmission, "repeat a Kafka commit blindly", [1, 0, 0]),
        "Kafka has of key group",
    );
}

#[test]
fn confirming_the_outbox_early() {
    finds(
        &two_batches(Broken::ConfirmEarly, "confirm before the Kafka commit", [0, 0, 0]),
        "nor in the outbox",
    );
}

#[test]
fn reading_the_progress_topic_uncommitted() {
    finds(&plan(Broken::ReadUncommitted, "read the progress topic uncommitted", [0, 1, 0]), "not in Kafka");
}

#[test]
fn reading_to_the_last_stable_offset() {
    finds(
        &plan(Broken::ReadToLastStable, "read to the last stable offset", [1, 0, 0]),
        "Kafka has of key group",
    );
}

#[test]
fn committing_offsets_on_arrival() {
    finds(&plan(Broken::CommitOnArrival, "commit offsets on arrival", [0, 0, 0]), "not stored");
}

#[test]
fn committing_offsets_when_stored() {
    finds(&plan(Broken::CommitOnStore, "commit offsets when stored", [0, 0, 0]), "not in Kafka");
}

#[test]
fn settling_by_a_plain_read() {
    finds(&plan(Broken::PlainSettle, "settle by a plain read", [1, 0, 0]), "no newer run has claimed");
}

#[test]
fn forgetting_positions_at_a_restart() {
    finds(&plan(Broken::ForgetPositions, "forget positions at a restart", [0, 1, 0]), "should have");
}

#[test]
fn never_hearing_that_the_database_is_back() {
    finds(
        &plan(Broken::NeverUp, "never hear that the database is back", [1, 0, 0]),
        "nothing more can happen",
    );
}

#[test]
fn storing_without_comparing() {
    finds(&plan(Broken::NoCompare, "store without comparing", [0, 0, 1]), "no newer run has claimed");
}
