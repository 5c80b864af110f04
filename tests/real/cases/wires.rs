//! The network between the job and its database: gone and back every few seconds, or silent in both directions without a
//! close. The job goes on whenever there is a wire, knocks with one connection at a time, and everything is there once, in
//! order.

use super::bench::{Bench, DEADLINE};
use crate::process::Process;
use crate::services::{Server, turn};
use crate::wait::{report, wait_for};
use crate::wire::{State, Wire};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const TABLE: &str =
    "CREATE TABLE store (entry INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(10), n INT NOT NULL)";

const REST: &str = r#"
[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }
n = { path = "@n", type = "int64" }

[[database.steps]]
store = "INSERT INTO store (k, n) VALUES (:k, :n)"

[output]
topic = "OUTPUT"
"#;

const KEYS: usize = 8;

/// A job of two workers and four connections behind a wire, and what it was sent.
struct Wired {
    bench: Bench,
    wire: Wire,
    process: Process,
    sent: usize,
}

impl Wired {
    fn new(mut bench: Bench, database: &str) -> Wired {
        let wire = Wire::start(&bench.services.db);
        bench.db.clone_from(&wire.address);
        bench.key_groups = 8;
        bench.job(&format!("connections = 4\n{database}"), REST);
        let process = bench.tidegate(&["run", "job.toml", "-w", "2"]);
        Wired { bench, wire, process, sent: 0 }
    }

    fn send(&mut self, events: usize) {
        let all = self.sent..self.sent + events;
        let documents: Vec<_> = all.map(|n| format!("<r k=\"k{}\" n=\"{n}\"/>", n % KEYS)).collect();
        self.bench.send_texts(&documents);
        self.sent += events;
    }

    fn stored(&mut self) -> usize {
        self.process.assert_runs();
        self.bench.sql().peek::<i64>("SELECT COUNT(*) FROM store").expect("the server itself is there")
            as usize
    }

    /// Waits until something more is stored; gives after how long.
    fn goes_on(&mut self, deadline: Duration) -> Duration {
        let (before, since) = (self.stored(), Instant::now());
        wait_for("the job to go on", deadline, || (self.stored() > before).then_some(()));
        since.elapsed()
    }

    /// Waits for the rest, drains; everything is there, each once and in the order of its key.
    fn ends(mut self) -> String {
        let sent = self.sent;
        wait_for("all events", DEADLINE, || (self.stored() == sent).then_some(()));
        self.process.signal("TERM");
        let log = self.process.expect(0, DEADLINE).log;
        let rows = self.bench.column("SELECT CONCAT(k, ' ', n) FROM store ORDER BY entry");
        let outputs = self.bench.output_texts();
        let of_output =
            |text: &String| text.replace("<r k=\"", "").replace("\" n=\"", " ").replace("\"/>", "");
        for list in [rows, outputs.iter().map(of_output).collect()] {
            let mut by_key: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
            for text in &list {
                let (key, n) = text.split_once(' ').expect("a key and a number");
                by_key.entry(key).or_default().push(n.parse().expect("a number"));
            }
            for (key, found) in by_key {
                let first: usize = key[1..].parse().expect("a number");
                assert!(found.iter().copied().eq((first..sent).step_by(KEYS)), "{key}: {found:?}");
            }
            assert_eq!(list.len(), sent);
        }
        log
    }
}

#[test]
fn a_wire_that_is_there_for_one_second_in_three_lets_the_job_get_on_each_time() {
    const ROUNDS: usize = 5;
    let turn = turn();
    let mut job = Wired::new(Bench::new(turn.services, "flapping", &[TABLE]), "batch_events = 5");
    job.send(1_500);
    job.goes_on(DEADLINE);
    let (mut steps, mut knocks) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        // Some seconds' worth, however fast the machine is.
        let enough: usize = 500 + 3 * steps.iter().max().unwrap_or(&1_000);
        let left = job.sent - job.stored();
        job.send(enough.saturating_sub(left));
        job.wire.set(State::Refuses);
        let down = Instant::now();
        std::thread::sleep(Duration::from_secs(2));
        knocks.push(job.wire.taken_since(down).len());
        let before = job.stored();
        job.wire.set(State::Whole);
        std::thread::sleep(Duration::from_secs(1));
        steps.push(job.stored() - before);
    }
    let left = job.sent - job.stored();
    report(&format!(
        "a wire there for 1 s in 3: {steps:?} events each time, {left} left for a whole one; knocked {knocks:?} times"
    ));
    assert!(left > 0, "all was stored before the wire was whole for good: the test shows nothing");
    assert!(steps.iter().all(|step| *step > 0), "no progress while the wire was there: {steps:?}");
    // Pauses are drawn from nothing to 0.75 s once they are as long as they get; one more a second writes the frontier.
    assert!(knocks.iter().all(|knocks| *knocks <= 30), "a storm: {knocks:?}");
    let log = job.ends();
    assert!(log.matches(" holding").count() >= ROUNDS, "{log}");
    assert!(log.len() < 16 * 1024, "{} bytes of log:\n{log}", log.len());
}

#[test]
fn a_wire_that_swallows_everything_is_noticed_and_knocked_at_by_one() {
    const SILENT: Duration = Duration::from_secs(20);
    let turn = turn();
    let mut job =
        Wired::new(Bench::new(turn.services, "silent", &[TABLE]), "deadline_s = 3\nbatch_events = 20");
    job.send(3_000);
    job.goes_on(DEADLINE);
    let before = job.wire.open_now();
    job.wire.set(State::Swallows);
    let since = Instant::now();
    let said = wait_for("the job to hold", Duration::from_secs(10), || {
        job.process.assert_runs();
        job.process.log().contains(" holding").then(|| since.elapsed())
    });
    // What was open before is given up by then.
    std::thread::sleep(Duration::from_secs(8).saturating_sub(since.elapsed()));
    job.wire.open_most();
    let from = Instant::now();
    std::thread::sleep(SILENT.saturating_sub(since.elapsed()));
    let (knocks, most) = (job.wire.taken_since(from), job.wire.open_most());
    let stored = job.stored();
    job.wire.set(State::Whole);
    let again = Instant::now();
    job.goes_on(DEADLINE);
    report(&format!(
        "a silent wire: {before} connections before, said after {} ms; then {} connections in {} s, {most} at a time; \
         went on {} ms after the wire was whole, with {stored} stored before",
        said.as_millis(),
        knocks.len(),
        SILENT.as_secs() - 8,
        again.elapsed().as_millis()
    ));
    job.ends();
    // The prober; beside it who writes the frontier, and who looks every ten seconds whether the claims stand.
    assert!(most <= 3, "{most} connections at a time");
    assert!(knocks.len() <= 16, "{knocks:?}");
}

#[test]
fn a_database_that_is_out_for_longer_than_the_limit_halts_with_69() {
    let turn = turn();
    let mut bench = Bench::new(turn.services, "limit", &[TABLE]);
    let wire = Wire::start(&turn.services.db);
    bench.db.clone_from(&wire.address);
    let process = limited(&bench);
    wire.set(State::Refuses);
    bench.send_texts(&["<r k=\"k0\" n=\"1\"/>"]);
    ends_behind_the_limit(process, Instant::now(), "database out for ");
    wire.set(State::Whole);
    bench.run_to_end(0);
    assert_eq!(bench.column("SELECT n FROM store ORDER BY entry"), ["0", "1"]);
}

#[test]
fn a_broker_that_is_out_for_longer_than_the_limit_halts_with_69() {
    let turn = turn();
    let bench = Bench::new(turn.services, "limit", &[TABLE]);
    let process = limited(&bench);
    let since = Instant::now();
    // Takes its time: the limit may be over before it has ended.
    turn.services.act(Server::Kafka, "stop");
    ends_behind_the_limit(process, since, "broker out for ");
    turn.services.act(Server::Kafka, "start");
    bench.send_texts(&["<r k=\"k0\" n=\"1\"/>"]);
    bench.run_to_end(0);
    assert_eq!(bench.output_texts().len(), 2);
}

/// A job whose limit is 3 s, that has stored and sent one event.
fn limited(bench: &Bench) -> Process {
    bench.job("", &format!("{REST}\n[outage]\nlimit_s = 3\n"));
    let mut process = bench.run();
    bench.send_texts(&["<r k=\"k0\" n=\"0\"/>"]);
    wait_for("the first output", DEADLINE, || {
        process.assert_runs();
        (bench.outputs().len() == 1).then_some(())
    });
    process
}

fn ends_behind_the_limit(process: Process, since: Instant, says: &str) {
    let log = process.expect(69, DEADLINE).log;
    let took = since.elapsed();
    report(&format!("{says}3 s, the limit: ended after {} ms", took.as_millis()));
    assert!(log.contains(says) && log.contains("outage.limit_s"), "{log}");
    assert!(took >= Duration::from_secs(2) && took < Duration::from_secs(30), "{took:?}");
}
