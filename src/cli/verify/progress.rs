//! Progress: how far a verification has come, as a line that renews itself; nothing where nobody looks.
//!
//! In:        counts     Out: lines on standard error, if that is a terminal
//! Not here:  the findings (report)

use crate::cli::out::{end_renewing, renew_line};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_millis(200);

/// Shows until it is dropped.
pub(in crate::cli) struct Progress {
    shown: bool,
    doing: String,
    done: u64,
    of: u64,
    started: Instant,
    last: Instant,
}

impl Progress {
    pub(in crate::cli) fn new() -> Progress {
        let now = Instant::now();
        let shown = std::io::stderr().is_terminal();
        Progress { shown, doing: String::new(), done: 0, of: 0, started: now, last: now }
    }

    /// Begins a step of about so many records.
    pub(in crate::cli) fn begin(&mut self, doing: impl Into<String>, of: u64) {
        (self.doing, self.done, self.of, self.started) = (doing.into(), 0, of, Instant::now());
        self.show();
    }

    /// One record more.
    pub(in crate::cli) fn step(&mut self) {
        self.done += 1;
        // A clock is not asked for each record.
        if self.done.is_multiple_of(256) && self.last.elapsed() >= PERIOD {
            self.show();
        }
    }

    fn show(&mut self) {
        if !self.shown {
            return;
        }
        self.last = Instant::now();
        let ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX).max(1);
        let rate = self.done.saturating_mul(1000) / ms;
        renew_line(&format!("{} {} of {} | {rate} records/s", self.doing, self.done, self.of));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            end_renewing();
        }
    }
}
