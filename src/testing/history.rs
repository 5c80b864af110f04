//! History: what happened in a run, for the person who reads why it failed.
//!
//! In:        lines, from any thread     Out: all of them, in the order in which they were said
//! Holds:     at most [`LINES_MAX`] lines: the first ones, and a count of the rest

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// More than any run that a person wants to read.
const LINES_MAX: usize = 200_000;

/// A list of lines.
#[derive(Debug)]
pub struct History {
    begun: Instant,
    lines: Mutex<Vec<(Duration, String)>>,
}

impl Default for History {
    fn default() -> History {
        History { begun: Instant::now(), lines: Mutex::new(Vec::new()) }
    }
}

impl History {
    /// Adds a line: who, and what.
    pub fn say(&self, who: &str, what: &str) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() < LINES_MAX {
            lines.push((self.begun.elapsed(), format!("{who:<12} {what}")));
        }
    }

    /// The lines, each with its time in milliseconds since the beginning.
    pub fn text(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        for (at, line) in lines.iter() {
            // Writing to a String cannot fail.
            let _infallible = writeln!(text, "{:>6} ms  {line}", at.as_millis());
        }
        if lines.len() == LINES_MAX {
            let _infallible = writeln!(text, "and more: a history keeps its first {LINES_MAX} lines");
        }
        text
    }
}
