//! The exhaustive checker: every schedule of a small job, with every fault at every step, on the machines that ship.
//!
//! In:        a small plan (events, workers of each run, a budget of faults)     Out: how many states there are, or a history
//! Holds:     every state of the world that can be reached, once
//! Order:     breadth first, so that the history of what is found is the shortest there is
//! Fails:     with that history, readable, in the message of the test
//! Not here:  no threads, no time, no I/O. The decisions are those of `tidegate::protocol`, called as the operators call
//!            them; Kafka, the database and the shells around the machines are modelled (`kafka`, `database`, `run`)
//!
//! `TIDEGATE_MODEL=deep cargo test --test model -- --nocapture` goes through larger plans.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::as_conversions,
    clippy::print_stderr,
    reason = "a test fails by panicking, and its numbers are small"
)]
#![allow(unreachable_pub, reason = "nobody outside uses a test binary")]

/// Millions of small copies: the allocator is half of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

// What is played.
mod broken;
mod plan;

// The world: the two services, the runs of the job, and their start.
mod database;
mod kafka;
mod parking;
mod run;
mod start;
mod world;

// What can happen, what must hold, and the search through it all.
mod apply;
mod history;
mod invariants;
mod search;
mod step;

// The tests.
mod faults_found;
mod faults_parked;
mod shipped;
mod shipped_parked;
