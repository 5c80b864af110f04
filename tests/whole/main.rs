//! The whole job in one process: its real operators, workers and threads, on a log and a database in memory that fail,
//! freeze and die by seed, and a check of everything that is left behind.
//!
//! In:        seeds: a fixed share of them, or `TIDEGATE_SEED=n` for one, or `TIDEGATE_SEEDS=n` for the first n; for
//!            simulated lives `TIDEGATE_LIFE` and `TIDEGATE_LIVES`, for jobs that are run both ways `TIDEGATE_SET` and
//!            `TIDEGATE_SETS`
//! Out:       nothing, or what is wrong, the history of the run, and how to run it again
//! Order:     several seeds beside each other: a run mostly waits
//! Fails:     also when it cannot fail: servers that lie must be found out
//! Not here:  exact replay of the lives on threads: a seed's faults are the same each time, which thread meets them is not.
//!            Simulated lives are replayed step by step

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

/// A life allocates more than it computes: the allocator is a quarter of the time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

// What there is: servers, input, a job and its instances.
#[path = "../differential/harness.rs"]
mod differential;
mod input;
mod instance;
mod many;
#[path = "../shipped/jobs.rs"]
mod shipped;
mod sqlite;
mod world;

// What must be.
mod check;

// A life by seed, on threads.
mod life;

// The same on one thread, with a clock that is moved: a seed is replayed exactly.
mod simulated;

// The tests.
mod audit;
mod exchange;
mod flood;
mod guard;
mod jobs;
mod liars;
mod panics;
mod parked;
mod rejects;
mod reset;
mod sample;
mod seeds;
mod sets;
mod start;
mod watch;
mod zombies;
