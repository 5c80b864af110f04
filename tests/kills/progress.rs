//! Whether the job gets on: its frontier in the ledger, which moves behind the database's commit and Kafka's.

use super::instance::Instance;
use super::job::Job;
use super::kafka::Positions;
use super::sql::Sql;
use super::wait::say;
use std::time::{Duration, Instant};

/// How long anything may take to go on, once nothing is in its way, on a machine that has much else to do.
const DEADLINE: Duration = Duration::from_secs(300);
const PAUSE: Duration = Duration::from_millis(20);
/// From here on it is said what there is to do.
const SLOW: Duration = Duration::from_secs(60);

pub struct Progress {
    sql: Sql,
    input: Positions,
    job: String,
}

impl Progress {
    pub fn new(job: &Job) -> Progress {
        Progress { sql: job.sql(), input: job.input_positions(), job: job.name.clone() }
    }

    /// Asks until there is an answer, while the instance runs.
    ///
    /// # Panics
    /// When the deadline passes, or the instance ends; with its log.
    pub fn wait<T>(instance: &mut Instance, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
        let start = Instant::now();
        loop {
            if let Some(answer) = ask() {
                return answer;
            }
            instance.assert_runs();
            assert!(
                start.elapsed() < DEADLINE,
                "waited {DEADLINE:?} in vain for {what}; the job's logs end with\n{}",
                instance.tails()
            );
            std::thread::sleep(PAUSE);
        }
    }

    /// The sum of the frontier's positions; 0 before the first start. `None`: the database does not answer.
    fn sum(&mut self) -> Option<i64> {
        let query = format!(
            "SELECT CAST(COALESCE(SUM(next_offset), 0) AS SIGNED) FROM tidegate_frontier WHERE job = '{}'",
            self.job
        );
        self.sql.peek(&query)
    }

    /// How far it is now.
    pub fn now(&mut self, instance: &mut Instance) -> i64 {
        // Before the very first start there is no table to ask.
        let tables = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE() \
                      AND table_name = 'tidegate_frontier'";
        let exists = Progress::wait(instance, "the database", || self.sql.peek::<i64>(tables));
        if exists == 0 { 0 } else { Progress::wait(instance, "the database", || self.sum()) }
    }

    /// Waits until the frontier is beyond this.
    pub fn beyond(&mut self, instance: &mut Instance, before: i64) -> Duration {
        let start = Instant::now();
        let mut said = false;
        Progress::wait(instance, "the job's next progress", || {
            let sum = self.sum();
            if start.elapsed() >= SLOW && !std::mem::replace(&mut said, true) {
                // Whether there is anything to read tells whose fault it is.
                let ends = self.input.ends(Duration::from_secs(1));
                say(&format!(
                    "kills: no progress for {SLOW:?}: before it {before}, now {sum:?}, the input ends at {ends:?}"
                ));
            }
            sum.filter(|&sum| sum > before)
        });
        start.elapsed()
    }

    /// Waits until every partition's frontier is where the partition ends now: nothing is stuck anywhere.
    pub fn level(&mut self, instance: &mut Instance) -> Duration {
        let start = Instant::now();
        let ends = Progress::wait(instance, "the broker", || self.input.ends(Duration::from_secs(1)));
        let reached: Vec<_> = (0..)
            .zip(&ends)
            .map(|(partition, end): (i32, _)| {
                format!("(partition_id = {partition} AND next_offset >= {end})")
            })
            .collect();
        let query = format!(
            "SELECT COUNT(*) FROM tidegate_frontier WHERE job = '{}' AND ({})",
            self.job,
            reached.join(" OR ")
        );
        let all = ends.len() as i64;
        Progress::wait(instance, &format!("every partition's frontier to come to {ends:?}"), || {
            self.sql.peek::<i64>(&query).filter(|&count| count == all)
        });
        start.elapsed()
    }
}
