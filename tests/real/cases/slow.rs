//! A database that lets two processes wait for far longer than a transaction's deadline: nobody is thrown out of a group,
//! since nobody is in one; nothing is committed that is not stored; and behind it everything is there once, in order.

use crate::input;
use crate::job::Job;
use crate::outages::stored_at_least;
use crate::process::run_cluster;
use crate::runs::RUN_DEADLINE;
use crate::services::turn;
use crate::verify;
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

/// How many members the group has in which the job commits.
fn members(job: &Job) -> usize {
    let consumer: BaseConsumer = crate::kafka::client(&job.services.kafka).create().expect("a client");
    let group = format!("tidegate-{}", job.name);
    let list = consumer.fetch_group_list(Some(&group), Duration::from_secs(30)).expect("the broker answers");
    list.groups().iter().map(|group| group.members().len()).sum()
}
