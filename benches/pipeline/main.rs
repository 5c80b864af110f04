//! The pipeline from topic to topic: Tidegate beside a hand-written loop and two forms of a Flink job.
//!
//! In:        `scripts/bench [--only SCENARIO,...]`, or `cargo bench --bench pipeline` with the services' variables set
//! Out:       tables on standard output; JSON; docs/performance-results.*
//! Order:     scenario by scenario, within one turn by turn
//! Fails:     by panicking: what cannot be measured has no number
//! Not here:  nothing is asserted about speed: these numbers are read by people

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]
#![allow(clippy::print_stdout, reason = "its report")]
#![allow(
    clippy::as_conversions,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "numbers for people, of data made here"
)]

mod cli;
mod world;

mod expected;
mod feed;
mod inputs;

mod contender;
mod job;
mod looped;

mod output;
mod sampler;

mod bench;
mod latency;
mod scenarios;
mod trouble;

mod report;

use bench::Bench;
use clap::Parser;
use report::{Results, Table, machine};
use std::path::Path;
use world::World;

type Scenario = fn(&mut Bench) -> Vec<Table>;

const SCENARIOS: [(&str, Scenario); 8] = [
    ("main", Bench::main),
    ("latency", Bench::latency),
    ("curve", Bench::curve),
    ("scaling", Bench::scaling),
    ("shapes", Bench::shapes),
    ("recovery", Bench::recovery),
    ("catchup", Bench::catchup),
    ("idle", Bench::idle),
];

fn main() {
    let cli = cli::Cli::parse();
    if let Some(cli::Contender::Loop(args)) = &cli.command {
        return looped::run(args);
    }
    for name in &cli.only {
        assert!(SCENARIOS.iter().any(|(known, _)| known == name), "there is no scenario \"{name}\"");
    }
    let world = World::open();
    world.tables();
    let folder = std::env::temp_dir().join(format!("tidegate-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for job files and logs");
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/performance-results");
    let database =
        world.text("SELECT CONCAT(VERSION(), ', flush at commit: ', @@innodb_flush_log_at_trx_commit)");
    let mut results = Results::new(machine(kafka_version(), database));
    if cli.record {
        results.keep(&record.with_extension("json"));
    }
    let mut bench = Bench::new(cli, world, folder);
    for (name, scenario) in SCENARIOS {
        if bench.cli.only.is_empty() || bench.cli.only.iter().any(|only| only == name) {
            println!("\n== {name}");
            let tables = scenario(&mut bench);
            tables.iter().for_each(|table| println!("\n{}", table.markdown()));
            results.scenarios.insert(name.to_owned(), tables);
            // What is measured is kept, whatever becomes of the rest.
            write(&bench, &results, &record);
        }
    }
    bench.end();
}

fn write(bench: &Bench, results: &Results, record: &Path) {
    if let Some(file) = &bench.cli.json {
        std::fs::write(file, results.json()).expect("the JSON is written");
    }
    if bench.cli.record {
        std::fs::write(record.with_extension("json"), results.json()).expect("the JSON is written");
        std::fs::write(record.with_extension("md"), results.markdown()).expect("the table is written");
    }
}

/// As scripts/services has it.
fn kafka_version() -> Option<String> {
    let script =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/services.d/kafka.sh"))
            .ok()?;
    script.lines().find_map(|line| line.strip_prefix("KAFKA_VERSION=")).map(str::to_owned)
}
