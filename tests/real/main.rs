//! The tests on a real Kafka and a real MariaDB: they run the binary as a user does and look at what it left behind.
//!
//! In:        the two servers of `scripts/services`, found by the variables that `scripts/test` sets; without them the
//!            tests start an instance of their own and stop it at the end
//! Out:       what was measured, on standard error, past the runner's capture
//! Order:     one test at a time ([`services::turn`]): they stop, kill and freeze the servers, and measure
//! Fails:     with the log of the job in the message
//! Not here:  nothing of the crate is called: what must come out is worked out here once more. But in sets, which runs jobs in
//!            this process: what it holds against each other is two runs

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::as_conversions,
    reason = "a test fails by panicking, and its numbers are small"
)]
#![allow(unreachable_pub, reason = "nobody outside uses a test binary")]

// The servers, and how to reach them.
mod acls;
#[path = "../differential/harness.rs"]
mod differential;
mod kafka;
mod services;
#[path = "../shipped/jobs.rs"]
mod shipped;
mod sql;
mod wait;
mod wire;

// What goes in, and what must come out.
mod customers;
mod input;
mod order;
mod plan;
mod unreadable;

// The job, and what it left behind.
mod job;
mod process;
mod tally;
mod verify;

// The tests.
mod cases;
mod crashes;
mod demo;
mod families;
mod halts;
mod hangs;
mod jobs;
mod outages;
mod runs;
mod sets;
mod stops;
mod verify_command;
