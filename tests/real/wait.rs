//! Waiting for conditions, never for time, and saying what was measured.

use std::io::Write;
use std::time::{Duration, Instant};

/// Asks until there is an answer.
///
/// # Panics
/// When the deadline passes; the message says what was waited for.
pub fn wait_for<T>(what: &str, deadline: Duration, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < deadline, "waited {deadline:?} in vain for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Prints a measured value where it is seen although the test passes: the runner captures the print macros alone.
pub fn report(line: &str) {
    say(&format!("measured: {line}"));
}

/// Prints a line past the runner's capture.
pub fn say(line: &str) {
    let mut err = std::io::stderr().lock();
    writeln!(err, "{line}").expect("standard error is open");
}
