//! The job itself killed in the middle, once and again, with other numbers of workers; a process of two killed; a newer
//! instance started beside an old one.

use super::input;
use super::job::Job;
use super::outages::stored_at_least;
use super::process::{run, run_cluster};
use super::runs::RUN_DEADLINE;
use super::services::turn;
use super::verify;
use std::time::Duration;

#[test]
fn killed_twice_and_started_again_with_other_workers() {
    let turn = turn();
    let input = input::full(turn.services);
    let events = input.plan.events.len();
    let job = Job::new(turn.services, input, "crash");
    for (workers, share) in [("2", events / 3), ("4", events * 2 / 3)] {
        let mut process = run(&job, &["-w", workers, "--until-end"]);
        stored_at_least(&job, &mut process, share);
        process.kill();
    }
    run(&job, &["-w", "1", "--until-end"]).expect(0, RUN_DEADLINE);
    verify::all(&job);
}

#[test]
fn a_killed_process_ends_its_peer_and_both_start_again() {
    let turn = turn();
    let input = input::small(turn.services);
    let job = Job::new(turn.services, input, "peer");
    let mut processes = run_cluster(&job, 2, 2, &["--until-end"]);
    let mut second = processes.pop().expect("two processes");
    let first = processes.pop().expect("two processes");
    stored_at_least(&job, &mut second, input.plan.events.len() / 3);
    second.kill();
    first.expect(75, Duration::from_secs(30));

    for process in run_cluster(&job, 2, 2, &["--until-end"]) {
        process.expect(0, RUN_DEADLINE);
    }
    verify::all(&job);
}

#[test]
fn a_newer_instance_fences_the_older_one() {
    let turn = turn();
    let input = input::full(turn.services);
    let job = Job::new(turn.services, input, "fence");
    let mut older = run(&job, &["-w", "2"]);
    stored_at_least(&job, &mut older, input.plan.events.len() / 3);
    let newer = run(&job, &["-w", "2", "--until-end"]);
    older.expect(76, Duration::from_secs(60));
    newer.expect(0, RUN_DEADLINE);
    verify::all(&job);
}
