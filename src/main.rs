//! The binary: the way in and the way out.

use std::process::ExitCode;
use tidegate::cli::{self, Process};

fn main() -> ExitCode {
    let process = Process::new(end_now);
    cli::end_on_panic(&process);
    ExitCode::from(cli::main(&process))
}

#[allow(clippy::disallowed_methods, reason = "the one place that may end the process")]
fn end_now(code: u8) {
    std::process::exit(i32::from(code))
}
