//! Sampler: what processes use, from outside, as time goes by.
//!
//! In:        process ids     Out: samples of CPU time, memory and bytes written, each with the wall clock's time
//! Holds:     every sample of a run, 20 a second
//! Not here:  nothing is asked of the processes: /proc tells all

use std::fs::read_to_string;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Now, in milliseconds since 1970.
pub(crate) fn now_ms() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64() * 1e3)
}

/// What a group of processes has used until then.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Used {
    pub(crate) cpu_s: f64,
    pub(crate) resident_bytes: u64,
    pub(crate) peak_bytes: u64,
    pub(crate) written_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) at_ms: f64,
    pub(crate) job: Used,
    pub(crate) database: Used,
    pub(crate) broker: Used,
}

pub(crate) struct Sampler {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Sample>>,
}

impl Sampler {
    pub(crate) fn start(job: Vec<u32>, database: u32, broker: u32) -> Sampler {
        let over = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let mut samples = Vec::new();
            let mut last = Used::default();
            while !stop.load(Ordering::Relaxed) {
                // A process that has ended has used what it had used.
                let now = used(&job);
                last = Used {
                    cpu_s: now.cpu_s.max(last.cpu_s),
                    peak_bytes: now.peak_bytes.max(last.peak_bytes),
                    ..now
                };
                samples.push(Sample {
                    at_ms: now_ms(),
                    job: last,
                    database: used(&[database]),
                    broker: used(&[broker]),
                });
                std::thread::sleep(Duration::from_millis(50));
            }
            samples
        });
        Sampler { over, thread }
    }

    pub(crate) fn stop(self) -> Vec<Sample> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().expect("the sampler ends")
    }
}

pub(crate) fn used(pids: &[u32]) -> Used {
    const TICKS_PER_S: f64 = 100.0;
    let mut all = Used::default();
    for pid in pids {
        let file = |name: &str| read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
        // Behind the name, which may hold anything: state is the first, user and system time the 12th and 13th.
        if let Some((_, rest)) = file("stat").rsplit_once(')') {
            let ticks = rest.split_whitespace().skip(11).take(2).filter_map(|t| t.parse::<f64>().ok());
            all.cpu_s += ticks.sum::<f64>() / TICKS_PER_S;
        }
        let number = |text: &str, key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key));
            line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0)
        };
        let status = file("status");
        all.resident_bytes += number(&status, "VmRSS:") * 1024;
        all.peak_bytes += number(&status, "VmHWM:") * 1024;
        all.written_bytes += number(&file("io"), "write_bytes:");
    }
    all
}

/// What was used up to a moment, between the samples around it.
pub(crate) fn at(samples: &[Sample], at_ms: f64, of: impl Fn(&Sample) -> f64) -> f64 {
    let behind = samples.partition_point(|sample| sample.at_ms < at_ms);
    match (behind.checked_sub(1).and_then(|before| samples.get(before)), samples.get(behind)) {
        (Some(a), Some(b)) => {
            let share = (at_ms - a.at_ms) / (b.at_ms - a.at_ms).max(1e-9);
            of(a) + (of(b) - of(a)) * share
        }
        (Some(only), None) | (None, Some(only)) => of(only),
        (None, None) => 0.0,
    }
}
