//! Broken ways to park and to retry: in each the checker must find what is wrong.

use crate::broken::Broken;
use crate::faults_found::finds;
use crate::plan::{Budget, Plan};

/// An event that is refused and one behind it; one worker.
fn plan(broken: Broken, name: &'static str, [faults, crashes]: [u8; 2]) -> Plan {
    Plan {
        mends: true,
        budget: Budget { faults, crashes, overlaps: 0, marks: 0 },
        broken: Some(broken),
        ..Plan::plain(name, &["0 0 0 key=a bad", "0 1 0 key=a"])
    }
}

#[test]
fn forgetting_parked_keys_at_a_restart() {
    finds(&plan(Broken::ForgetParked, "forget parked keys at a restart", [0, 1]), "keys for parked");
}

#[test]
fn handling_what_should_wait() {
    finds(&plan(Broken::ApplyWaiting, "handle what should wait", [0, 0]), "is out of order");
}

#[test]
fn retrying_the_newest_first() {
    finds(&plan(Broken::RetryNewestFirst, "retry the newest first", [0, 0]), "is out of order");
}

#[test]
fn believing_a_retry_blindly() {
    finds(&plan(Broken::BelieveRetry, "believe a retry blindly", [1, 0]), "keys for parked");
}

#[test]
fn parking_apart_from_the_batch() {
    finds(&plan(Broken::ParkApart, "park apart from the batch", [1, 0]), "and the ledger 0");
}

#[test]
fn deleting_apart_from_the_retry() {
    finds(&plan(Broken::UnparkApart, "delete apart from the retry", [1, 0]), "should have");
}

#[test]
fn closing_tickets_of_the_next_pass() {
    let plan = Plan {
        events: crate::plan::events(&["0 0 0 key=a bad", "0 1 0 key=b bad"]),
        ..plan(Broken::CloseNewTickets, "close the next pass's tickets", [0, 0])
    };
    finds(&plan, "nothing more can happen");
}

#[test]
fn holding_retries_against_the_frontier() {
    let plan = plan(Broken::FrontierCountsRetries, "hold retries against the frontier", [0, 1]);
    finds(&plan, "no newer run has claimed");
}
