//! The command line: what a user types, and what they see.
//!
//! In:        arguments     Out: an exit code
//! Order:     arguments -> checked job -> what the verb does
//! Fails:     with an exit code of the contract and one message on standard error
//! Not here:  the process is ended by main alone

mod args;
mod check;
mod dead_letters;
mod demo;
mod explain;
mod incident;
mod last_words;
mod load;
mod logging;
mod new;
mod offsets;
mod out;
mod parked;
mod progress;
mod run;
mod sample;
mod signals;
mod trouble;
mod verify;
mod worlds;

pub use incident::Reporter;
pub use last_words::end_on_panic;

use crate::cluster::{self, Cluster, Ended, Job, Signals};
use crate::operator::guard::Guard;
use args::{Arguments, Verb};
use clap::Parser;
use std::ffi::OsString;
use std::sync::atomic::AtomicU8;
use std::sync::{Arc, OnceLock};

/// Exit codes that are not halts.
pub mod exit {
    /// Finished or drained.
    pub const OK: u8 = 0;
    /// Wrong usage.
    pub const USAGE: u8 = 64;
    /// A sample that a job would reject.
    pub const REJECT: u8 = 65;
    /// An internal fault.
    pub const INTERNAL: u8 = 70;
    /// A peer process was lost.
    pub const PEER_LOST: u8 = 75;
    /// The job file, or the schema it meets, is wrong.
    pub const JOB: u8 = 78;
    /// A second signal: ended at once, like an uncaught SIGTERM.
    pub const AT_ONCE: u8 = 143;
}

/// Runs a job until it ends.
pub type RunJob = fn(Job, &Cluster, &Signals) -> Result<Ended, String>;

/// What main lends to the command line. A clone is the same process.
#[derive(Clone)]
pub struct Process {
    /// Ends the process at once, with this code.
    pub end_now: fn(u8),
    /// Once the job's end is decided: its exit code plus one. A peer that closes its connection after that is no loss.
    pub decided: Arc<AtomicU8>,
    /// Once a job is about to run: who writes the incident report.
    pub reporter: Arc<OnceLock<Reporter>>,
    /// Once a job is about to run: its note of the record in hand.
    pub guard: Arc<OnceLock<Guard>>,
    /// What runs a job: [`cluster::run`], but in tests of what goes wrong.
    pub run: RunJob,
}

impl Process {
    /// A process in which nothing runs yet.
    pub fn new(end_now: fn(u8)) -> Process {
        let (decided, reporter, guard) = (Arc::default(), Arc::default(), Arc::default());
        Process { end_now, decided, reporter, guard, run: cluster::run }
    }

    /// The process ends now, with a code that was chosen: no panic.
    fn end(&self, code: u8) {
        self.ends_cleanly();
        (self.end_now)(code);
    }

    /// Whatever follows, the end is no unclean one.
    fn ends_cleanly(&self) {
        self.guard.get().into_iter().for_each(Guard::ended);
    }
}

/// Runs what the process's arguments ask for.
pub fn main(process: &Process) -> u8 {
    main_with(std::env::args_os(), process)
}

/// Runs what these arguments ask for; the first is the program's name.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>, process: &Process) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are errors to clap, and no errors to a user.
            let code = if error.use_stderr() { exit::USAGE } else { exit::OK };
            let _closed = error.print();
            return code;
        }
    };
    logging::start(arguments.log_format);
    match arguments.verb {
        Verb::Run(args) => run::run(&args, arguments.log_format, process),
        Verb::Check(args) => check::check(&args),
        Verb::New(args) => new::new(&args),
        Verb::Demo(args) => demo::demo(&args, process),
        Verb::Explain(args) => explain::explain(&args),
        Verb::Offsets(args) => offsets::offsets(&args),
        Verb::Parked(args) => parked::parked(&args),
        Verb::Verify(args) => verify::verify(&args),
        Verb::DeadLetters(args) => dead_letters::dead_letters(&args),
    }
}
