//! Out: text to standard output and standard error. A reader that has gone away is no error of ours.
//!
//! A terminal shows at most one line that renews itself; whatever else is written takes its place, and the next
//! renewal comes below. Whoever writes holds standard error meanwhile, so that no two lines mix.

use std::io::{StderrLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// A line that renews itself is on the terminal now.
static RENEWING: AtomicBool = AtomicBool::new(false);

/// A line to standard output.
pub(super) fn line(text: &str) {
    let _alone = error_stream();
    let _closed = writeln!(std::io::stdout().lock(), "{text}");
}

/// A line to standard error.
pub(super) fn error_line(text: &str) {
    let _closed = writeln!(error_stream(), "{text}");
}

/// Standard error, for whole lines.
pub(super) fn error_stream() -> StderrLock<'static> {
    let mut stderr = std::io::stderr().lock();
    if RENEWING.swap(false, Ordering::Relaxed) {
        let _closed = write!(stderr, "\r\x1b[K");
    }
    stderr
}

/// Shows the line that renews itself, in the place of the one before. What is wider than the terminal is cut off there.
pub(super) fn renew_line(text: &str) {
    const NO_WRAP: &str = "\x1b[?7l";
    const WRAP: &str = "\x1b[?7h";
    let mut stderr = std::io::stderr().lock();
    RENEWING.store(true, Ordering::Relaxed);
    let _closed = write!(stderr, "\r{NO_WRAP}{text}\x1b[K{WRAP}");
    let _closed = stderr.flush();
}

/// Takes the line that renews itself away.
pub(super) fn end_renewing() {
    let _closed = error_stream().flush();
}
