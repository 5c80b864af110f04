//! Out: text to standard output and standard error. A reader that has gone away is no error of ours.

use std::io::Write;

/// A line to standard output.
pub(super) fn line(text: &str) {
    let _closed = writeln!(std::io::stdout().lock(), "{text}");
}

/// A line to standard error.
pub(super) fn error_line(text: &str) {
    let _closed = writeln!(std::io::stderr().lock(), "{text}");
}

/// Text to standard error without a line end, shown at once.
pub(super) fn error_part(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _closed = write!(stderr, "{text}");
    let _closed = stderr.flush();
}
