//! The binary as a child process: started as a user starts it, signalled, watched, and never left behind.

use super::job::Job;
use super::wait::wait_for;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A running process of a job.
pub struct Process {
    child: Child,
    log: PathBuf,
    started: Instant,
}

/// How a process ended.
#[derive(Debug)]
pub struct Ended {
    /// The exit code; `None`: by a signal.
    pub code: Option<i32>,
    /// Everything that it wrote.
    pub log: String,
    pub took: Duration,
}

/// `tidegate run` with the job's file; `args` come behind it.
pub fn run(job: &Job, args: &[&str]) -> Process {
    let file = job.write_file();
    let mut all = vec!["run", file.to_str().expect("a temporary path is text")];
    all.extend(args);
    start(job.dir.path(), &all)
}

/// All processes of a job that runs in `processes` of them, with `workers` each.
pub fn run_cluster(job: &Job, processes: usize, workers: usize, args: &[&str]) -> Vec<Process> {
    // Its own file for each start: an older instance may still be reading its own.
    let free = free_hosts(processes);
    let hosts = job.dir.path().join(format!("hosts-{}", free[0].replace(':', "-")));
    std::fs::write(&hosts, free.join("\n") + "\n").expect("the hosts file is written");
    let (processes_text, workers) = (processes.to_string(), workers.to_string());
    let start_one = |index: usize| {
        let index = index.to_string();
        let hosts = hosts.to_str().expect("a temporary path is text");
        let mut all = vec!["-n", &processes_text, "-p", &index, "--hosts", hosts, "-w", &workers];
        all.extend(args);
        run(job, &all)
    };
    (0..processes).map(start_one).collect()
}

/// Addresses that were free a moment ago, below the range that the system takes for outgoing connections.
fn free_hosts(count: usize) -> Vec<String> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let first = 12_000 + std::process::id() as usize * 16 % 7_000;
    let hosts = std::iter::from_fn(|| {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed) % 1_000;
        Some(format!("127.0.0.1:{port}"))
    });
    hosts.filter(|host| std::net::TcpListener::bind(host).is_ok()).take(count).collect()
}

/// Starts the binary in `dir`; both its outputs go to one file there.
pub fn start(dir: &Path, args: &[&str]) -> Process {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let log = dir.join(format!("log-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
    let out = File::create(&log).expect("a log file");
    let child = Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(args)
        .current_dir(dir)
        // A job file takes no secret in plain text.
        .env("TIDEGATE_TEST_PASSWORD", "app")
        .stdin(Stdio::null())
        .stdout(out.try_clone().expect("a second handle"))
        .stderr(out)
        .spawn()
        .expect("the binary starts");
    Process { child, log, started: Instant::now() }
}

impl Process {
    /// Waits for the end.
    pub fn wait(mut self, deadline: Duration) -> Ended {
        let status = wait_for_end(&mut self, deadline);
        Ended { code: status.code(), log: self.log(), took: self.started.elapsed() }
    }

    /// Waits for the end, which must have this exit code.
    pub fn expect(self, code: i32, deadline: Duration) -> Ended {
        let name = self.log_name();
        let ended = self.wait(deadline);
        assert_eq!(ended.code, Some(code), "exit code; the job's {name}:\n{}", tail(&ended.log));
        ended
    }

    /// Sends a signal by its name.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(status.expect("kill runs").success(), "SIG{name} was not sent");
    }

    /// Ends it as a crash does.
    pub fn kill(mut self) {
        self.assert_runs();
        self.child.kill().expect("SIGKILL is sent");
        self.child.wait().expect("it ends");
    }

    /// Fails when it has ended already.
    pub fn assert_runs(&mut self) {
        if let Some(status) = self.child.try_wait().expect("the child is ours") {
            panic!("the job ended ({status}) and should run; its log:\n{}", tail(&self.log()));
        }
    }

    /// Whether it has come to its end.
    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("the child is ours").is_some()
    }

    /// The name of its log in the job's folder.
    pub fn log_name(&self) -> String {
        self.log.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Resident memory in KiB.
    pub fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let text =
            line.unwrap_or_else(|| panic!("no VmRSS: the job has ended; its log:\n{}", tail(&self.log())));
        text.trim().trim_end_matches(" kB").parse().expect("a number of kB")
    }

    /// What it has written up to now.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).expect("the log file")).into_owned()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Ended already, or a test has failed: either way nothing may be left running.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn wait_for_end(process: &mut Process, deadline: Duration) -> ExitStatus {
    let start = Instant::now();
    wait_for("the job's end", deadline + Duration::from_secs(1), || {
        let log = process.log.clone();
        let status = process.child.try_wait().expect("the child is ours");
        if status.is_none() && start.elapsed() > deadline {
            let log = String::from_utf8_lossy(&std::fs::read(log).unwrap_or_default()).into_owned();
            panic!("the job did not end within {deadline:?}; its log:\n{}", tail(&log));
        }
        status
    })
}

/// The last lines of a log.
pub fn tail(log: &str) -> String {
    let lines: Vec<_> = log.lines().collect();
    lines[lines.len().saturating_sub(30)..].join("\n")
}
