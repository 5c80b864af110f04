//! Processes that are stopped and not dead: their connections stay open. The others end within the job's limit, a new
//! cluster takes over, and whoever was stopped ends by itself when it wakes up, having done nothing twice.

use super::input;
use super::job::Job;
use super::outages::{stored_at_least, stored_more};
use super::process::{Process, run_cluster};
use super::runs::RUN_DEADLINE;
use super::services::turn;
use super::verify;
use super::wait::report;
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(5);
/// Behind the limit: the beat before it, the acknowledgement that never comes, and a slow machine.
const SLACK: Duration = Duration::from_secs(15);

#[test]
fn a_stopped_process_ends_its_peers_and_itself_when_it_wakes_up() {
    let turn = turn();
    let mut job = Job::new(turn.services, input::small(turn.services), "stopped");
    job.peer_silence_s = LIMIT.as_secs();
    let events = job.input.plan.events.len();
    let mut processes = run_cluster(&job, 3, 1, &["--until-end"]);
    stored_at_least(&job, &mut processes[0], events / 4);
    let stopped = processes.remove(1);
    let since = Instant::now();
    stopped.signal("STOP");
    for process in processes {
        let ended = process.expect(75, LIMIT + SLACK);
        assert!(ended.log.contains("process 1 of the cluster"), "it names the lost one:\n{}", ended.log);
    }
    let took = since.elapsed();
    report(&format!(
        "a peer stopped, limit {} s: the others ended after {} ms",
        LIMIT.as_secs(),
        took.as_millis()
    ));
    // What was heard last may have been said a second before the stop.
    assert!(took >= LIMIT - Duration::from_secs(1), "not before its limit: {took:?}");
    for (name, process) in [("", 0), ("-p2", 2)] {
        let incident = job.incident(name);
        assert_eq!(incident["exit_code"], 75, "{incident:#}");
        assert_eq!(incident["process"], process, "{incident:#}");
    }
    // It wakes up in the middle of what the next ones do.
    let mut next = run_cluster(&job, 2, 1, &["--until-end"]);
    stored_more(&job, &mut next[0], 1_000);
    stopped.signal("CONT");
    let ended = stopped.wait(Duration::from_secs(60));
    assert!(matches!(ended.code, Some(75 | 76)), "{:?}:\n{}", ended.code, ended.log);
    for process in next {
        process.expect(0, RUN_DEADLINE);
    }
    verify::all(&job);
}

#[test]
fn a_pause_below_the_limit_and_a_pause_of_all_are_no_loss() {
    let turn = turn();
    let mut job = Job::new(turn.services, input::small(turn.services), "pauses");
    job.peer_silence_s = LIMIT.as_secs();
    let mut processes = run_cluster(&job, 2, 1, &["--until-end"]);
    stored_at_least(&job, &mut processes[0], 1_000);
    pause(&processes[1..], LIMIT * 2 / 5);
    // As a machine that is suspended with all that runs on it.
    pause(&processes, LIMIT * 2);
    for process in processes {
        process.expect(0, RUN_DEADLINE);
    }
    verify::all(&job);
}

/// Stops these, for so long: the time is what is tested.
fn pause(processes: &[Process], lasts: Duration) {
    processes.iter().for_each(|process| process.signal("STOP"));
    std::thread::sleep(lasts);
    processes.iter().for_each(|process| process.signal("CONT"));
}
