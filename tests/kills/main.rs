//! A seeded campaign of real kills against a real Kafka and a real MariaDB, under constant input.
//!
//! In:        the two servers of `scripts/services`, as in `tests/real`; `TIDEGATE_SEED` and `TIDEGATE_ROUNDS`, else one
//!            deck of faults of a fixed seed
//! Out:       a line per round on standard error, past the runner's capture: processes x workers, fault, moment, exit codes,
//!            how long after the repair the job got on and was level with its input
//! Order:     the job is started anew in every round with other processes and workers; a feeder sends all the time, and
//!            a fault hits the job, a server or the wire between them (`script.rs` has the kinds, `faults.rs` what they do)
//! Fails:     a process that ends otherwise than its fault says, no progress within its deadline, or at the end either
//!            judge: `tidegate verify`, and the tests' own tally of both tables, outputs and dead letters. The message says
//!            the seed, and the folder of logs is left
//! Not here:  no replay of an interleaving. A seed repeats the script: faults, shapes and drawn moments. What the job is
//!            just doing at such a moment is up to the machine, so a failure may take several runs of its seed to come again
//!
//! `scripts/kills [rounds] [seed]` runs as many as wanted on servers of its own.

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

#[allow(dead_code, reason = "shared with tests/real")]
#[path = "../real/cases/bench.rs"]
mod bench;
#[allow(dead_code, reason = "shared with tests/real")]
#[path = "../real/customers.rs"]
mod customers;
#[allow(dead_code, reason = "shared with tests/real")]
#[path = "../real/input.rs"]
mod input;
#[allow(dead_code, reason = "shared with tests/real")]
#[path = "../real/job.rs"]
mod job;
#[allow(dead_code, reason = "shared with tests/real")]
#[path = "../real/kafka.rs"]
mod kafka;
#[allow(dead_code, reason = "shared with tests/real")]
#[path = "../real/order.rs"]
mod order;
#[allow(dead_code, reason = "shared with tests/real")]
#[path = "../real/plan.rs"]
mod plan;
#[allow(dead_code, reason = "shared with tests/real")]
#[path = "../real/process.rs"]
mod process;
#[allow(dead_code, reason = "shared with tests/real")]
#[path = "../real/services.rs"]
mod services;
#[allow(dead_code, reason = "shared with tests/real")]
#[path = "../real/sql.rs"]
mod sql;
#[allow(dead_code, reason = "shared with tests/real")]
#[path = "../real/tally.rs"]
mod tally;
#[allow(dead_code, reason = "shared with tests/real")]
#[path = "../real/unreadable.rs"]
mod unreadable;
#[allow(dead_code, reason = "shared with tests/real")]
#[path = "../real/verify.rs"]
mod verify;
#[allow(dead_code, reason = "shared with tests/real")]
#[path = "../real/wait.rs"]
mod wait;

// What is drawn.
mod chance;
mod script;

// What runs, and what is done to it.
mod campaign;
mod cut_connections;
mod faults;
mod feeder;
mod idle_zombie;
mod instance;
mod progress;
mod proxy;

/// What `cargo test` plays.
const SEED: u64 = 1;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is no number")))
}

#[test]
fn a_campaign_of_kills_loses_and_doubles_nothing() {
    let turn = services::turn();
    let seed = number("TIDEGATE_SEED").unwrap_or(SEED);
    let rounds = number("TIDEGATE_ROUNDS").map_or(script::DECK, |rounds| rounds as usize);
    campaign::run(turn.services, seed, rounds);
}
