//! One instance of the job: all its processes, and how they end.

use super::job::Job;
use super::process::{Process, run, run_cluster, tail};
use super::script::Shape;
use std::time::Duration;

/// How long an instance may take to end by itself.
const END: Duration = Duration::from_secs(90);

pub struct Instance {
    processes: Vec<Process>,
}

impl Instance {
    pub fn start(job: &Job, shape: Shape, args: &[&str]) -> Instance {
        let processes = if shape.processes == 1 {
            let workers = shape.workers.to_string();
            vec![run(job, &[&["-w", &workers], args].concat())]
        } else {
            run_cluster(job, shape.processes, shape.workers, args)
        };
        Instance { processes }
    }

    pub fn assert_runs(&mut self) {
        self.processes.iter_mut().for_each(Process::assert_runs);
    }

    /// The names of its logs.
    pub fn logs(&self) -> String {
        self.processes.iter().map(Process::log_name).collect::<Vec<_>>().join(" ")
    }

    /// The last lines of every process, for a message.
    pub fn tails(&self) -> String {
        let one = |process: &Process| format!("-- {}\n{}", process.log_name(), tail(&process.log()));
        self.processes.iter().map(one).collect::<Vec<_>>().join("\n")
    }

    /// Sends a signal to every process.
    pub fn signal(&self, name: &str) {
        self.processes.iter().for_each(|process| process.signal(name));
    }

    /// Sends a signal to one process; `index` may be beyond the last.
    pub fn signal_one(&self, index: usize, name: &str) {
        self.processes[index % self.processes.len()].signal(name);
    }

    /// Kills all; what a process ended with before its turn came is no matter.
    pub fn kill(self) {
        self.signal("KILL");
        for process in self.processes {
            process.wait(END);
        }
    }

    /// Kills one; the others must end with 75 by themselves. Gives all exit codes.
    pub fn kill_one(mut self, victim: usize) -> String {
        let victim = self.processes.remove(victim % self.processes.len());
        victim.kill();
        let others = codes(self.expect(75));
        format!("KILL {others}")
    }

    /// Asks one process to drain: all must end with 0.
    pub fn drain(self, asked: usize) -> String {
        self.signal_one(asked, "TERM");
        codes(self.expect(0))
    }

    /// Waits for the end of all, with this code each.
    pub fn expect(self, code: i32) -> Vec<i32> {
        self.processes.into_iter().map(|process| process.expect(code, END)).map(|_| code).collect()
    }
}

pub fn codes(codes: Vec<i32>) -> String {
    codes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
