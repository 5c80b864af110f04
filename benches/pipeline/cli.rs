//! What is typed.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// Runs Tidegate beside a hand-written loop and two forms of a Flink job, on one machine, in one run.
#[derive(Debug, Parser)]
#[command(bin_name = "scripts/bench")]
pub(crate) struct Cli {
    /// Scenarios to run; all where none is named: main, latency, curve, scaling, shapes, recovery, catchup, idle.
    #[arg(long, value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Contenders of `main` and `latency`, by any part of their names: loop, flink, "tidegate -w 1"; all where none is named.
    #[arg(long, value_delimiter = ',')]
    pub(crate) who: Vec<String>,
    /// Events of a throughput run.
    #[arg(long, default_value_t = 300_000)]
    pub(crate) events: usize,
    /// Bytes of a document.
    #[arg(long, default_value_t = 1024)]
    pub(crate) bytes: usize,
    /// Different orders.
    #[arg(long, default_value_t = 10_000)]
    pub(crate) keys: usize,
    /// Draw keys by Zipf, not uniformly.
    #[arg(long)]
    pub(crate) zipf: bool,
    /// Partitions of the input and the output.
    #[arg(long, default_value_t = 4)]
    pub(crate) partitions: i32,
    /// Turns: each contender of a scenario once a turn, one after the other.
    #[arg(long, default_value_t = 3)]
    pub(crate) repeat: usize,
    /// Seconds that are measured of a latency run.
    #[arg(long, default_value_t = 20)]
    pub(crate) seconds: u64,
    /// Events a second of the latency runs.
    #[arg(long, default_value_t = 2_000)]
    pub(crate) rate: u32,
    /// Seconds for which the database is out.
    #[arg(long, default_value_t = 60)]
    pub(crate) outage: u64,
    /// Everything once, small: to see that it works, not how fast it is.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Leave the Flink contenders out.
    #[arg(long)]
    pub(crate) no_flink: bool,
    /// Where the results go as JSON, beside the table on standard output.
    #[arg(long)]
    pub(crate) json: Option<PathBuf>,
    /// Write the results into docs/performance-results.json and .md; scenarios that were not run keep what stands there.
    #[arg(long)]
    pub(crate) record: bool,
    /// The Tidegate that is measured.
    #[arg(long, env = "TIDEGATE_BENCH_TIDEGATE", default_value = env!("CARGO_BIN_EXE_tidegate"))]
    pub(crate) tidegate: PathBuf,
    /// Cargo adds it.
    #[arg(long, hide = true)]
    pub(crate) bench: bool,
    #[command(subcommand)]
    pub(crate) command: Option<Contender>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Contender {
    /// The hand-written loop, as a process of its own.
    #[command(hide = true)]
    Loop(LoopArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LoopArgs {
    #[arg(long)]
    pub(crate) kafka: String,
    #[arg(long)]
    pub(crate) database: String,
    #[arg(long)]
    pub(crate) topic_in: String,
    #[arg(long)]
    pub(crate) topic_out: String,
    #[arg(long)]
    pub(crate) lanes: usize,
    #[arg(long)]
    pub(crate) batch: usize,
    /// End where the topic ended at the start.
    #[arg(long)]
    pub(crate) bounded: bool,
}
