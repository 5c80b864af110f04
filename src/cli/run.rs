//! `run`: a job until it ends.

use super::args::{LogFormat, RunArgs};
use super::incident::Reporter;
use super::load::load_with_hash;
use super::out::{error_line, line};
use super::progress::Progress;
use super::{Process, exit, signals, worlds};
use crate::cluster::{Cluster, Ended, Job, Signals};
use crate::operator::guard::Guard;
use crate::protocol::halt::{Halt, HaltKind};
use crate::status::Board;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

pub(super) fn run(args: &RunArgs, format: LogFormat, process: &Process) -> u8 {
    let cluster = match cluster_of(args) {
        Ok(cluster) => cluster,
        Err(text) => {
            error_line(&format!("tidegate: {text}"));
            return exit::USAGE;
        }
    };
    let (checked, sha256) = match load_with_hash(&args.job) {
        Ok(loaded) => loaded,
        Err(text) => {
            error_line(&text);
            return exit::JOB;
        }
    };
    let board = Arc::new(Board::new(cluster.workers));
    let mut job = match worlds::open(checked) {
        Ok(worlds) => worlds.job(&board, args.until_end),
        Err(text) => {
            error_line(&format!("tidegate: {text}"));
            return exit::JOB;
        }
    };
    let handle = Signals::default();
    let ending = process.clone();
    if let Err(text) = signals::listen(handle.clone(), move |code| ending.end(code)) {
        error_line(&format!("tidegate: {text}"));
        return exit::INTERNAL;
    }
    let guard = || Guard::open(&args.incident_dir, &job.spec, cluster.process, cluster.workers);
    job.guard = process.guard.get_or_init(guard).clone();
    let name = job.spec.name.clone();
    let file = (args.job.clone(), sha256);
    let reporter = reporter(&job, file, &cluster, args.incident_dir.clone(), process);
    let progress = Progress::start(Arc::clone(&board), format == LogFormat::Json);
    tracing::info!(job = name, workers = cluster.workers, process = cluster.process, "starting");
    let ended = (process.run)(job, &cluster, &handle);
    drop(progress);
    process.ends_cleanly();
    finish(reporter, ended, process)
}

/// Who reports a halt of this job: also the hook of panics does, from now on.
pub(super) fn reporter<'a>(
    job: &Job,
    job_file: (PathBuf, String),
    cluster: &Cluster,
    folder: PathBuf,
    process: &'a Process,
) -> &'a Reporter {
    process.reporter.get_or_init(|| Reporter {
        job: job.spec.name.clone(),
        job_file,
        topics: job.spec.source.topics.clone(),
        process: cluster.process,
        processes: cluster.hosts.len().max(1),
        workers: cluster.workers,
        folder,
        board: Arc::clone(&job.board),
    })
}

fn cluster_of(args: &RunArgs) -> Result<Cluster, String> {
    let processes = usize::from(args.processes);
    let hosts = match &args.hosts {
        None if processes > 1 => {
            return Err(format!(
                "-n {processes} needs --hosts FILE, with one host:port a line for each process"
            ));
        }
        None => Vec::new(),
        Some(_) if processes == 1 => {
            return Err(
                "--hosts is for several processes: say how many with -n, and which this one is with -p"
                    .to_owned(),
            );
        }
        Some(file) => {
            hosts_in(file, processes).map_err(|text| format!("--hosts {}: {text}", file.display()))?
        }
    };
    if usize::from(args.process) >= processes {
        return Err(format!("-p {} is not one of {processes} processes, which count from 0", args.process));
    }
    Ok(Cluster { workers: usize::from(args.workers), process: usize::from(args.process), hosts })
}

/// One `host:port` a line, as many as there are processes, no two alike.
fn hosts_in(file: &Path, processes: usize) -> Result<Vec<String>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("cannot be read: {error}"))?;
    let mut hosts: Vec<String> = Vec::new();
    for (number, host) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let host = host.trim();
        let port =
            host.rsplit_once(':').filter(|(name, _)| !name.is_empty()).map(|(_, port)| port.parse::<u16>());
        if !matches!(port, Some(Ok(port)) if port > 0) {
            return Err(format!("line {number}: must be host:port, got `{host}`"));
        }
        if hosts.iter().any(|known| known == host) {
            return Err(format!("line {number}: {host} stands there twice"));
        }
        hosts.push(host.to_owned());
    }
    if hosts.len() != processes {
        return Err(format!("has {} hosts, and -n says {processes} processes", hosts.len()));
    }
    Ok(hosts)
}

/// What a user is told at the end, and the exit code.
pub(super) fn finish(reporter: &Reporter, ended: Result<Ended, String>, process: &Process) -> u8 {
    let (name, board) = (&reporter.job, &reporter.board);
    let halt = match ended {
        Ok(Ended::Drained) => {
            line(&summary(name, board));
            return decide(process, exit::OK);
        }
        Ok(Ended::NotStarted) => {
            line(&format!("{name}: ended before it had begun; nothing was read"));
            return decide(process, exit::OK);
        }
        Ok(Ended::Halted(halt)) => halt,
        Err(text) => Halt::new(HaltKind::Internal, text),
    };
    let code = decide(process, halt.kind.exit_code());
    reporter.report(&halt);
    code
}

fn decide(process: &Process, code: u8) -> u8 {
    process.decided.store(code.saturating_add(1), Ordering::Relaxed);
    code
}

/// One line of counts of this process.
pub(super) fn summary(name: &str, board: &Board) -> String {
    let seconds = board.uptime().as_secs_f64();
    let stored = board.stored.get();
    let rate = f64::from(u32::try_from(stored).unwrap_or(u32::MAX)) / seconds.max(0.001);
    format!(
        "{name}: read {}, stored {stored}, emitted {}, dead letters {}, discarded {}, parked {}, stored by an earlier \
         run {}, {} transactions, {seconds:.1} s, {rate:.0} events/s",
        board.read.get(),
        board.emitted.get(),
        board.dead_lettered.get(),
        board.discarded.get(),
        board.parked.get(),
        board.skipped.get(),
        board.transactions.get(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str, processes: usize) -> Result<Vec<String>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        hosts_in(file.path(), processes)
    }

    #[test]
    fn a_hosts_file_is_right_or_says_why_not() {
        assert_eq!(hosts("a:1\n\n b:2 \n", 2).unwrap(), ["a:1", "b:2"]);
        for (text, says) in [
            ("a:1", "has 1 hosts, and -n says 2"),
            ("a:1\nb:2\nc:3", "has 3 hosts"),
            ("a:1\na:1", "line 2: a:1 stands there twice"),
            ("a:1\nb", "line 2: must be host:port, got `b`"),
            ("a:99999\nb:2", "line 1: must be host:port"),
            ("# two\na:1", "line 1: must be host:port"),
        ] {
            let error = hosts(text, 2).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
