//! The whole input at full size, with nothing in the way: by 1, 2 and 4 workers, and by 2 processes.

use super::input;
use super::job::Job;
use super::process::{run, run_cluster};
use super::services::turn;
use super::verify;
use super::wait::report;
use std::time::Duration;

/// How long a run over the whole input may take on a slow machine.
pub const RUN_DEADLINE: Duration = Duration::from_secs(240);

fn run_whole(workers: usize) {
    let turn = turn();
    let input = input::full(turn.services);
    let job = Job::new(turn.services, input, &format!("whole_{workers}"));
    let ended = run(&job, &["-w", &workers.to_string(), "--until-end"]).expect(0, RUN_DEADLINE);
    report_speed(&format!("{workers} workers"), &job, ended.took);
    verify::all(&job);

    // Nothing is left to do, and nothing is done again.
    run(&job, &["-w", &workers.to_string(), "--until-end"]).expect(0, Duration::from_secs(60));
    verify::all(&job);
}

#[test]
fn one_worker_handles_each_event_once_and_in_order() {
    run_whole(1);
}

#[test]
fn two_workers_handle_each_event_once_and_in_order() {
    run_whole(2);
}

#[test]
fn four_workers_handle_each_event_once_and_in_order() {
    run_whole(4);
}

#[test]
fn two_processes_handle_each_event_once_and_in_order() {
    let turn = turn();
    let input = input::full(turn.services);
    let job = Job::new(turn.services, input, "whole_cluster");
    let mut took = Duration::ZERO;
    for process in run_cluster(&job, 2, 1, &["--until-end"]) {
        took = took.max(process.expect(0, RUN_DEADLINE).took);
    }
    report_speed("2 processes of 1 worker", &job, took);
    verify::all(&job);
}

fn report_speed(what: &str, job: &Job, took: Duration) {
    let events = job.input.plan.events.len();
    let seconds = took.as_secs_f64();
    report(&format!(
        "{what}: {events} events in {seconds:.1} s, {:.0} events/s, start included",
        events as f64 / seconds
    ));
}
