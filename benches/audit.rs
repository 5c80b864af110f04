//! What the audit costs: the same job with and without it, in turns, in this process, on a log and a database in
//! memory; and the audit's dataflow alone.
//!
//! In:        `cargo bench --bench audit [-- EVENTS [TURNS [WORKERS]]]`; 300000, 5 and 1 where nothing is given
//! Out:       user CPU time per million events and events a second of each turn, and the ratio of the medians; user CPU time
//!            per event of the audit alone, the number to trust on a machine that does other things, too
//! Order:     without, with, without, ...: whatever else the machine does meets both
//! Not here:  no network and no real database: beside those the share of the audit is smaller than here. CPU time is of the
//!            whole process, the servers in memory included, to 10 ms: Linux alone has it in this form

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]
#![allow(clippy::print_stdout, reason = "its report")]

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use tidegate::cluster::{self, Cluster, Ended, Job, Signals};
use tidegate::job::{self, JobSpec};
use tidegate::kafka::KafkaSetup;
use tidegate::model::{Coordinates, Epoch, Offset, Record, TopicPartition};
use tidegate::operator::account::{Accounts, Tally, Tap, Way};
use tidegate::operator::audit::{AuditSetup, audit};
use tidegate::operator::guard::Guard;
use tidegate::operator::stop::StopRequest;
use tidegate::status::Board;
use tidegate::testing::{
    Broker, DatabaseFaults, FaultyDatabase, Link, LogFaults, MemoryDatabase, MemoryLog, MemoryStep, Random,
};
use timely::dataflow::Scope;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;

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
    alone();
    held();
}

/// The audit alone on one worker: accounting, exchange and sums; what making the events takes is taken off.
fn alone() {
    const EVENTS: i64 = 5_000_000;
    let per_event = |began: f64| (cpu_seconds() - began) * 1e9 / 5e6;
    let turn = |_| {
        let began = cpu_seconds();
        let mut load = Load::new(EVENTS);
        while let Some(step) = load.step() {
            black_box(step);
        }
        let without = per_event(began);
        let began = cpu_seconds();
        timely::execute_directly(move |worker| {
            let stop = StopRequest::default();
            let setup = AuditSetup { spec: spec(true), stop: stop.clone() };
            worker.dataflow::<Epoch, _, _>(|scope| {
                audit(scope, [accounts(scope, Load::new(EVENTS))], setup);
            });
            while worker.step() {}
            assert_eq!(stop.take(), None, "everything is settled");
        });
        per_event(began) - without
    };
    let ns: Vec<f64> = (0..5).map(turn).collect();
    println!("the audit alone, user CPU ns per event: {ns:.0?}");
}

/// Events in epochs of 500, and their outcomes: Kafka transactions of 2000, by key group.
struct Load {
    events: i64,
    next: i64,
    epoch: Epoch,
    open: VecDeque<(Coordinates, Epoch, u64)>,
    random: Random,
}

/// What one step reads and settles, at which epoch, and the oldest epoch that was open.
struct Step {
    read: Vec<Coordinates>,
    settled: Vec<(Coordinates, Epoch, u64)>,
    epoch: Epoch,
    oldest: Epoch,
}

impl Load {
    fn new(events: i64) -> Load {
        Load { events, next: 0, epoch: 0, open: VecDeque::new(), random: Random::new(1) }
    }

    fn step(&mut self) -> Option<Step> {
        let (epoch, more) = (self.epoch, self.next < self.events);
        if !more && self.open.is_empty() {
            return None;
        }
        self.epoch += 1;
        let mut read = Vec::new();
        for number in self.next..self.next + if more { 500 } else { 0 } {
            let at = TopicPartition { topic: 0, partition: i32::try_from(number / 125 % 4).unwrap() };
            let event = Coordinates { at, offset: Offset(number / 500 * 125 + number % 125), index: 0 };
            self.open.push_back((event, epoch, self.random.below(16)));
            read.push(event);
        }
        self.next += i64::try_from(read.len()).unwrap();
        let oldest = self.open.front().map_or(epoch, |(_, epoch, _)| *epoch);
        let full = self.open.len() >= 2_500 || !more;
        let count = if full { self.open.len().min(2_000) } else { 0 };
        let mut settled: Vec<_> = self.open.drain(..count).collect();
        settled.sort_by_key(|(_, _, group)| *group);
        Some(Step { read, settled, epoch, oldest })
    }
}

fn accounts(scope: Scope<'_, Epoch>, mut load: Load) -> Accounts<'_> {
    let mut builder = OperatorBuilder::new("events".to_owned(), scope);
    let again = scope.activator_for(builder.operator_info().address);
    let (mut tap, accounts) = Tap::new(&mut builder, true);
    builder.build(move |mut capabilities| {
        let mut held = capabilities.pop();
        let (mut read, mut settled) = (Tally::default(), Tally::default());
        move |_frontiers| {
            let Some(capability) = &mut held else { return };
            let Some(step) = load.step() else {
                held = None;
                return;
            };
            capability.downgrade(&step.oldest);
            step.read.iter().for_each(|event| read.add(*event, step.epoch));
            tap.give(&capability.delayed(&step.epoch), &mut read, Way::Expected);
            step.settled.iter().for_each(|(event, epoch, _)| settled.add(*event, *epoch));
            tap.give(capability, &mut settled, Way::Settled);
            again.activate();
        }
    });
    accounts
}

/// What the audit keeps while nothing closes: a million events in flight, every other one settled, which is the worst that
/// runs can meet. Resident bytes per event; the budget counts more than a thousand for each.
fn held() {
    const EVENTS: i64 = 1_000_000;
    timely::execute_directly(|worker| {
        let stop = StopRequest::default();
        let setup = AuditSetup { spec: spec(true), stop: stop.clone() };
        let before = resident_bytes();
        worker.dataflow::<Epoch, _, _>(|scope| {
            let mut builder = OperatorBuilder::new("events".to_owned(), scope);
            let again = scope.activator_for(builder.operator_info().address);
            let (mut tap, accounts) = Tap::new(&mut builder, true);
            builder.build(move |mut capabilities| {
                let (mut held, mut tally, mut next) = (capabilities.pop(), Tally::default(), 0);
                move |_frontiers| {
                    let Some(capability) = &held else { return };
                    let epoch = |offset: i64| Epoch::try_from(offset / 500).unwrap();
                    let mut give = |offsets: &mut dyn Iterator<Item = i64>, way| {
                        let at = TopicPartition { topic: 0, partition: 0 };
                        let event = |offset| Coordinates { at, offset: Offset(offset), index: 0 };
                        offsets.for_each(|offset| tally.add(event(offset), epoch(offset)));
                        tap.give(capability, &mut tally, way);
                    };
                    if next < EVENTS {
                        give(&mut (next..next + 500), Way::Expected);
                        give(&mut (next..next + 500).step_by(2), Way::Settled);
                        next += 500;
                    } else if next == EVENTS {
                        let grown = (resident_bytes() - before) / 1e6;
                        println!("in flight and half settled: {grown:.0} bytes resident per event");
                        (0..EVENTS / 500).for_each(|n| {
                            give(&mut (n * 500 + 1..n * 500 + 500).step_by(2), Way::Settled);
                        });
                        next += 1;
                    } else {
                        held = None;
                    }
                    again.activate();
                }
            });
            audit(scope, [accounts], setup);
        });
        while worker.step() {}
        assert_eq!(stop.take(), None, "everything is settled");
    });
}

/// Pages of this process that are in memory, of 4 KiB each.
fn resident_bytes() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux's statm file");
    pages.split_whitespace().nth(1).expect("resident").parse::<f64>().expect("a number") * 4096.0
}

struct Run {
    seconds: f64,
    cpu_seconds: f64,
}

fn run(audit: bool, events: u32, workers: u32) -> Run {
    let spec = spec(audit);
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
    let database = MemoryDatabase::new(vec![MemoryStep::Store { unique: Vec::new(), refuses: None }], None);
    let workers = usize::try_from(workers).unwrap();
    let setup = KafkaSetup::from_spec(&spec);
    let job = Job {
        log: Arc::new(MemoryLog::new(broker, setup, Arc::clone(&link), LogFaults::default())),
        database: Arc::new(FaultyDatabase::new(database.handle(), link, DatabaseFaults::default())),
        board: Arc::new(Board::new(workers)),
        spec,
        until_end: true,
        guard: Guard::default(),
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

fn spec(audit: bool) -> Arc<JobSpec> {
    Arc::new(job::check("bench.toml", &job_file(audit), &|_| None).expect("the job file is right").spec)
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
