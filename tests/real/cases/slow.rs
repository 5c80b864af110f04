//! A database that lets two processes wait for far longer than a transaction's deadline: nobody is thrown out of a group,
//! since nobody is in one; nothing is committed that is not stored; and behind it everything is there once, in order.
//!
//! And a single row that somebody keeps locked: an outage with the name of the record that needs it.

use super::bench::{Bench, DEADLINE};
use crate::input;
use crate::job::Job;
use crate::outages::stored_at_least;
use crate::process::run_cluster;
use crate::runs::RUN_DEADLINE;
use crate::services::turn;
use crate::verify;
use crate::wait::wait_for;
use rdkafka::consumer::{BaseConsumer, Consumer};
use std::time::{Duration, Instant};

const DEADLINE_S: u32 = 5;
/// Several deadlines.
const LOCKED: Duration = Duration::from_secs(20);
/// What was stored before the lock is sent and committed by then.
const SETTLED: Duration = Duration::from_secs(5);

#[test]
fn a_locked_table_holds_two_processes_without_a_group_that_could_expel_them() {
    let turn = turn();
    let input = input::small(turn.services);
    let mut job = Job::new(turn.services, input, "slow");
    job.deadline_s = DEADLINE_S;
    let mut processes = run_cluster(&job, 2, 1, &["--until-end"]);
    stored_at_least(&job, &mut processes[0], input.plan.events.len() / 10);
    let mut other = job.sql();
    other.run("LOCK TABLES journal WRITE");
    let start = Instant::now();
    let mut settled = None;
    while start.elapsed() < LOCKED {
        processes.iter_mut().for_each(crate::process::Process::assert_runs);
        if start.elapsed() > SETTLED {
            let committed = job.input_positions().committed();
            assert_eq!(settled.get_or_insert(committed.clone()), &committed, "committed and not stored");
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(members(&job), 0, "members of the job's group");
    other.run("UNLOCK TABLES");
    assert!(
        settled.is_some_and(|at| at.iter().sum::<i64>() < input.plan.ends.iter().sum()),
        "nothing was left"
    );
    for process in processes {
        let ended = process.expect(0, RUN_DEADLINE);
        assert!(ended.log.contains("holding"), "the job does not say that it holds:\n{}", ended.log);
    }
    verify::all(&job);
}

const ROWS: &str = r#"
[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }

[[database.steps]]
name = "touch"
store = "UPDATE store SET n = n + 1 WHERE k = :k"
[[database.steps]]
store = "INSERT INTO seen (k) VALUES (:k)"

[output]
topic = "OUTPUT"
"#;

#[test]
fn a_row_that_somebody_keeps_locked_is_an_outage_with_the_name_of_the_record() {
    let turn = turn();
    let tables = [
        "CREATE TABLE store (k VARCHAR(10) PRIMARY KEY, n INT NOT NULL)",
        "CREATE TABLE seen (entry INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(10))",
        "INSERT INTO store (k, n) SELECT seq, 0 FROM seq_0_to_39",
    ];
    let bench = Bench::new(turn.services, "locked", &tables);
    // A lock is waited for a third of the deadline.
    bench.job("deadline_s = 3", ROWS);
    let mut other = bench.sql();
    other.run("START TRANSACTION");
    other.run("SELECT n FROM store WHERE k = '20' FOR UPDATE");
    let mut process = bench.run();
    let documents: Vec<String> = (0..40).map(|k| format!("<r k=\"{k}\"/>")).collect();
    bench.send_texts(&documents);
    let record = format!("record {}/0/20", bench.input);
    wait_for("the hold with its record", DEADLINE, || {
        process.assert_runs();
        let log = process.log();
        log.contains("somebody else keeps a lock that the job needs").then_some(())
    });
    assert!(process.log().contains(&record), "smaller and smaller batches name it:\n{}", process.log());
    let seen = bench.column("SELECT k FROM seen ORDER BY entry");
    assert!(
        seen.len() <= 20 && seen == (0..seen.len()).map(|k| k.to_string()).collect::<Vec<_>>(),
        "{seen:?}"
    );
    other.run("ROLLBACK");
    bench.wait_count(&mut process, "SELECT COUNT(*) FROM seen", 40);
    process.signal("TERM");
    let ended = process.expect(0, DEADLINE);
    assert!(ended.log.contains("going on"), "{}", ended.log);
    assert_eq!(bench.column("SELECT k FROM seen ORDER BY entry").len(), 40);
    assert_eq!(bench.column("SELECT COUNT(*) FROM store WHERE n <> 1"), ["0"], "each row once");
    assert_eq!(bench.output_texts(), documents);
}

/// How many members the group has in which the job commits.
fn members(job: &Job) -> usize {
    let consumer: BaseConsumer = crate::kafka::client(&job.services.kafka).create().expect("a client");
    let group = format!("tidegate-{}", job.name);
    let list = consumer.fetch_group_list(Some(&group), Duration::from_secs(30)).expect("the broker answers");
    list.groups().iter().map(|group| group.members().len()).sum()
}
