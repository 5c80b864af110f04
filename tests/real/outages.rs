//! Database and broker stopped, killed and frozen in the middle: the job holds with flat memory and goes on by itself,
//! in the same process, from the very event that met the trouble.

use super::input::{self, Input};
use super::job::Job;
use super::process::{Process, run};
use super::runs::RUN_DEADLINE;
use super::services::{Server, Services, turn};
use super::sql::Sql;
use super::verify;
use super::wait::{report, wait_for};
use std::time::{Duration, Instant};

/// How much the job may grow from the end of the first second of a hold on.
const GROWTH_KIB_MAX: u64 = 16 * 1024;

/// One outage.
struct Outage {
    server: Server,
    /// `stop`, `kill` or `freeze`
    verb: &'static str,
    lasts: Duration,
    workers: &'static str,
}

impl Outage {
    fn repair(&self) -> &'static str {
        if self.verb == "freeze" { "thaw" } else { "start" }
    }

    /// Runs a job over the input with this outage in the middle, and looks at everything afterwards.
    fn prove(&self, services: &'static Services, input: &'static Input) {
        let what = format!("{:?} {}", self.server, self.verb);
        let job = Job::new(services, input, "outage");
        let mut process = run(&job, &["-w", self.workers, "--until-end"]);
        stored_at_least(&job, &mut process, input.plan.events.len() / 3);

        services.act(self.server, self.verb);
        let growth = hold(&mut process, self.lasts);
        let log = process.log();
        services.act(self.server, self.repair());
        let resumed = time_to_progress(self.server, &job, &mut process);
        report(&format!(
            "{what} for {:.0} s: memory grew by {} KiB past the first second, went on {} ms after the server answered",
            self.lasts.as_secs_f64(),
            growth,
            resumed.as_millis()
        ));

        process.expect(0, RUN_DEADLINE);
        verify::all(&job);
        assert!(growth < GROWTH_KIB_MAX, "{what}: the holding job grew by {growth} KiB");
        assert!(log.to_lowercase().contains("hold"), "{what}: the job does not say that it holds:\n{log}");
        assert!(log.len() < 16 * 1024, "{what}: {} bytes of log for one hold:\n{log}", log.len());
        assert!(resumed < Duration::from_secs(15), "{what}: the job went on only after {resumed:?}");
    }
}

#[test]
fn database_stopped_for_twenty_seconds() {
    let turn = turn();
    let lasts = Duration::from_secs(20);
    Outage { server: Server::Db, verb: "stop", lasts, workers: "2" }
        .prove(turn.services, input::full(turn.services));
}

#[test]
fn database_killed() {
    prove_small(Server::Db, "kill", 5, "1");
}

#[test]
fn database_frozen() {
    prove_small(Server::Db, "freeze", 12, "2");
}

#[test]
fn broker_stopped_for_twenty_seconds() {
    let turn = turn();
    let lasts = Duration::from_secs(20);
    Outage { server: Server::Kafka, verb: "stop", lasts, workers: "2" }
        .prove(turn.services, input::full(turn.services));
}

#[test]
fn broker_killed() {
    prove_small(Server::Kafka, "kill", 5, "4");
}

#[test]
fn broker_frozen() {
    prove_small(Server::Kafka, "freeze", 12, "2");
}

fn prove_small(server: Server, verb: &'static str, lasts_s: u64, workers: &'static str) {
    let turn = turn();
    let lasts = Duration::from_secs(lasts_s);
    Outage { server, verb, lasts, workers }.prove(turn.services, input::small(turn.services));
}

/// Waits until the job has stored so many events; fails at once when it ends before.
pub fn stored_at_least(job: &Job, process: &mut Process, events: usize) {
    let mut sql = job.sql();
    wait_for(&format!("{events} stored events"), RUN_DEADLINE, || {
        process.assert_runs();
        stored(&mut sql).filter(|&stored| stored >= events as i64)
    });
}

/// Waits until the journal has grown by so much from now on.
pub fn stored_more(job: &Job, process: &mut Process, events: i64) {
    let mut sql = job.sql();
    let before = stored(&mut sql).unwrap_or(0);
    wait_for(&format!("{events} more stored events"), RUN_DEADLINE, || {
        process.assert_runs();
        stored(&mut sql).filter(|&stored| stored >= before + events)
    });
}

/// How far the journal is (its numbers may have gaps); `None` while the database does not answer.
fn stored(sql: &mut Sql) -> Option<i64> {
    sql.peek("SELECT COALESCE(MAX(entry), 0) FROM journal")
}

/// Lets the outage last, sampling the job's memory; gives its growth in KiB after the first second.
fn hold(process: &mut Process, lasts: Duration) -> u64 {
    let start = Instant::now();
    let (mut at_first, mut growth) = (0, 0);
    while start.elapsed() < lasts {
        process.assert_runs();
        let resident = process.resident_kib();
        if start.elapsed() <= Duration::from_secs(1) {
            at_first = at_first.max(resident);
        } else {
            growth = growth.max(resident.saturating_sub(at_first));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    growth
}

/// From the server's first answer to the first new row (database) or the first new output (broker).
fn time_to_progress(server: Server, job: &Job, process: &mut Process) -> Duration {
    let mut sql = job.sql();
    let outputs = job.output_positions();
    let mut progress = || match server {
        Server::Db => stored(&mut sql),
        Server::Kafka => outputs.ends(Duration::from_secs(1)).map(|ends| ends.iter().sum()),
    };
    let deadline = Duration::from_secs(60);
    let before = wait_for("the server's answer", deadline, &mut progress);
    let start = Instant::now();
    wait_for("the job to go on", deadline, || {
        process.assert_runs();
        progress().filter(|&now| now > before)
    });
    start.elapsed()
}
