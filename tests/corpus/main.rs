//! The stored inputs of the fuzz targets (`fuzz/corpus`), on the stable compiler: none panics, none is slow, none takes memory.
//!
//! One test, so that nothing else runs in the process while memory is looked at. Time is what the thread had of a processor, so
//! that a busy machine is no slow one. The bounds are far above what is needed (a document of 1 KiB takes some 20 us): they tell
//! work that grows with its square from work that does not, not one build or machine from another.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking; helpers of a test are not inside of one"
)]

mod targets;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Per KiB of input, and for the first one; the best of three turns.
const PER_KIB: Duration = Duration::from_millis(10);

/// However short the input: a job file is checked before a document is read, and the fixed limits of entities allow 100,000.
const ALWAYS: Duration = Duration::from_millis(200);

/// What the process may take beyond what it had, whatever the input.
const MEMORY_KIB: u64 = 64 * 1024;

type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 3] =
    [("decode", targets::decode), ("paths", targets::paths), ("job", targets::job_file)];

fn inputs(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{} is empty", folder.display());
    files
}

/// The most memory that the process has had, in KiB. 0 where the system does not tell.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or_default()
}

/// What this thread has had of a processor; where the system does not tell, the time that has passed since `start`.
fn thread_time(start: Instant) -> Duration {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = told.split(' ').next().and_then(|on_cpu| on_cpu.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

#[test]
fn every_stored_input_is_handled_in_time_and_memory() {
    let start = Instant::now();
    let mut offences: Vec<String> = Vec::new();
    let mut slowest: Vec<(Duration, PathBuf)> = Vec::new();
    for (target, run) in TARGETS {
        for path in inputs(target) {
            let bytes = std::fs::read(&path).unwrap();
            let before = peak_kib();
            let turn = || {
                let before = thread_time(start);
                run(&bytes);
                thread_time(start) - before
            };
            let best = (0..3).map(|_| turn()).min().unwrap();
            let kib = u32::try_from(bytes.len() / 1024).unwrap() + 1;
            let taken = peak_kib() - before;
            if best > ALWAYS + PER_KIB * kib || taken > MEMORY_KIB {
                offences.push(format!("{}: {best:?} and {taken} KiB for {kib} KiB", path.display()));
            }
            slowest.push((best, path));
        }
    }
    slowest.sort();
    for (time, path) in slowest.iter().rev().take(5) {
        println!("{time:?} {}", path.display());
    }
    assert!(offences.is_empty(), "slow or large: {offences:#?}");
}
