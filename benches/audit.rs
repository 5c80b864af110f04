//! What the audit costs: the same job with and without it, in turns, in this process, on a log and a database in memory.
//!
//! In:        `cargo bench --bench audit [-- EVENTS [TURNS [WORKERS]]]`; 300000, 5 and 1 where nothing is given
//! Out:       user CPU time per million events and events a second of each turn, and the ratio of the medians
//! Order:     without, with, without, ...: whatever else the machine does meets both
//! Not here:  no network and no real database: beside those the share of the audit is smaller than here. CPU time is of the
//!            whole process, the servers in memory included, to 10 ms: Linux alone has it in this form

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]
#![allow(clippy::print_stdout, reason = "its report")]

use std::sync::Arc;
use std::time::Instant;
use tidegate::cluster::{self, Cluster, Ended, Job, Signals};
use tidegate::job;
use tidegate::kafka::KafkaSetup;
use tidegate::model::Record;
use tidegate::status::Board;
use tidegate::testing::{
    Broker, DatabaseFaults, FaultyDatabase, Link, LogFaults, MemoryDatabase, MemoryLog, MemoryStep, Random,
};

const PARTITIONS: i32 = 4;
const KEYS: u64 = 5_000;

fn main() {
    // Cargo adds `--bench`.
    let given: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let number = |place: usize, default: u32| given.get(place).copied().unwrap_or(default);
    let (events, turns, workers) = (number(0, 300_000), number(1, 5), number(2, 1));
    println!("{events} events, {turns} turns, {workers} workers");
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for turn in 1..=turns {
        for (audit, list) in [(false, &mut without), (true, &mut with)] {
            let run = run(audit, events, workers);
            let (rate, cpu) = (f64::from(events) / run.seconds, run.cpu_seconds * 1e6 / f64::from(events));
            println!(
                "turn {turn}, audit = {audit:5}: {rate:8.0} events/s, {cpu:6.2} CPU s per million events"
            );
            list.push(run);
        }
    }
    let median = |list: &[Run], of: fn(&Run) -> f64| {
        let mut values: Vec<f64> = list.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let ratio = |of: fn(&Run) -> f64| median(&with, of) / median(&without, of);
    println!(
        "with / without, medians: time {:.3}, CPU {:.3}",
        ratio(|r| r.seconds),
        ratio(|r| r.cpu_seconds)
    );
}

struct Run {
    seconds: f64,
    cpu_seconds: f64,
}

fn run(audit: bool, events: u32, workers: u32) -> Run {
    let spec =
        Arc::new(job::check("bench.toml", &job_file(audit), &|_| None).expect("the job file is right").spec);
    let broker = Broker::lying(None);
    broker.create_topic("in", PARTITIONS);
    broker.create_topic("out", PARTITIONS);
    let mut random = Random::new(1);
    for number in 0..events {
        let key = random.below(KEYS);
        let partition = i32::try_from(key % u64::try_from(PARTITIONS).unwrap()).unwrap();
        broker.produce("in", partition, document(key, number)).expect("the partition is there");
    }
    let link = Link::new("bench", 0, Arc::default());
    let database = MemoryDatabase::new(vec![MemoryStep::Store { unique: Vec::new() }], None);
    let workers = usize::try_from(workers).unwrap();
    let setup = KafkaSetup::from_spec(&spec);
    let job = Job {
        log: Arc::new(MemoryLog::new(broker, setup, Arc::clone(&link), LogFaults::default())),
        database: Arc::new(FaultyDatabase::new(database.handle(), link, DatabaseFaults::default())),
        board: Arc::new(Board::new(workers)),
        spec,
        until_end: true,
    };
    let board = Arc::clone(&job.board);
    let cluster = Cluster { workers, process: 0, hosts: Vec::new() };
    let (began, cpu) = (Instant::now(), cpu_seconds());
    let ended = cluster::run(job, &cluster, &Signals::default()).expect("it runs");
    let run = Run { seconds: began.elapsed().as_secs_f64(), cpu_seconds: cpu_seconds() - cpu };
    assert_eq!(ended, Ended::Drained);
    assert_eq!(board.emitted.get(), u64::from(events), "every event was sent");
    run
}

fn document(key: u64, number: u32) -> Record {
    let lines = "<line sku=\"A-1000\" count=\"2\">a thing of some length</line>".repeat(10);
    Record {
        timestamp_ms: Some(1_700_000_000_000),
        key: Some(format!("k{key}").into()),
        headers: vec![("trace".to_owned(), Some("4bf92f3577b34da6".into()))],
        value: Some(format!(r#"<e key="k{key}" n="{number}"><b/>{lines}</e>"#).into()),
    }
}

/// User time of this process: `utime` of its `stat`, in ticks of 10 ms.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux's stat file");
    let behind_name = stat.rsplit_once(')').expect("a name in parentheses").1;
    behind_name.split_whitespace().nth(11).expect("utime").parse::<f64>().expect("a number") / 100.0
}

fn job_file(audit: bool) -> String {
    format!(
        r#"
[job]
name = "bench"
audit = {audit}
[source]
bootstrap_servers = "127.0.0.1:9"
topics = ["in"]
[event]
key = ["@key"]
[event.fields]
key    = {{ path = "@key", type = "text" }}
number = {{ path = "@n", type = "int64" }}
[database]
url = "mysql://nobody@127.0.0.1:9/bench"
[[database.steps]]
store = "INSERT INTO journal VALUES (:key, :number, :_partition, :_offset)"
[output]
topic = "out"
[[output.add]]
at = "b"
element = "stored"
"#
    )
}
