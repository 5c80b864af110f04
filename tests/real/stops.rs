//! SIGTERM and SIGINT: stop reading, finish what is in flight, commit, exit 0; nothing is done twice afterwards.

use super::input;
use super::job::Job;
use super::outages::{stored_at_least, stored_more};
use super::process::{run, run_cluster};
use super::runs::RUN_DEADLINE;
use super::services::turn;
use super::verify;
use super::wait::report;
use std::time::{Duration, Instant};

const DRAIN_DEADLINE: Duration = Duration::from_secs(30);

#[test]
fn signals_drain_and_the_next_start_goes_on_there() {
    let turn = turn();
    // Large: a drain finishes all that is in flight, and there must be something left for the next one.
    let job = Job::new(turn.services, input::full(turn.services), "drain");
    let mut handled_before = 0;
    for signal in ["TERM", "INT"] {
        let mut process = run(&job, &["-w", "2"]);
        stored_more(&job, &mut process, 5_000);
        let start = Instant::now();
        process.signal(signal);
        process.expect(0, DRAIN_DEADLINE);
        report(&format!("SIG{signal} in full flow: drained in {} ms", start.elapsed().as_millis()));
        let handled = verify::positions_fit(&job);
        assert!(handled > handled_before, "{handled} records handled after {signal}");
        handled_before = handled;
    }
    run(&job, &["-w", "1", "--until-end"]).expect(0, RUN_DEADLINE);
    verify::all(&job);
}

#[test]
fn two_processes_drain_together() {
    let turn = turn();
    let input = input::small(turn.services);
    let job = Job::new(turn.services, input, "drain_cluster");
    let mut processes = run_cluster(&job, 2, 1, &[]);
    stored_at_least(&job, &mut processes[0], input.plan.events.len() / 3);
    for process in &processes {
        process.signal("TERM");
    }
    for process in processes {
        process.expect(0, DRAIN_DEADLINE);
    }
    verify::positions_fit(&job);
    for process in run_cluster(&job, 2, 1, &["--until-end"]) {
        process.expect(0, RUN_DEADLINE);
    }
    verify::all(&job);
}
