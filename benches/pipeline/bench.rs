//! Bench: one run of one contender over a full topic: what was used, how fast it was, and whether it was right.
//!
//! In:        a contender, an input     Out: a [`Run`]
//! Holds:     the topics that are filled, with what must come of each
//! Fails:     by panicking where outputs or rows are not what they must be: a fast wrong answer is none
//! Not here:  who runs when (scenarios)

use crate::cli::Cli;
use crate::contender::{Contender, Place, flink_jar};
use crate::expected::Expected;
use crate::inputs::{Draw, Input, fill};
use crate::job::{Shape, sqlite_orders};
use crate::output::{Read, read};
use crate::sampler::{Sample, Sampler, at};
use crate::world::World;
use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What all scenarios share.
pub(crate) struct Bench {
    pub(crate) cli: Cli,
    pub(crate) world: World,
    pub(crate) folder: PathBuf,
    /// Number of the next run: its topics, jobs and groups are named by it.
    next: u32,
    filled: HashMap<Input, (String, Expected)>,
}

/// What one run came to.
pub(crate) struct Run {
    pub(crate) read: Read,
    pub(crate) wall_s: f64,
    pub(crate) samples: Vec<Sample>,
}

pub(crate) const COLUMNS: [&str; 8] = [
    "events/s, middle 80 %",
    "events/s, start and end included",
    "own CPU, us/event",
    "database CPU, us/event",
    "broker CPU, us/event",
    "all CPU, us/event",
    "peak memory, MB",
    "database writes, bytes/event",
];

/// The place of the first column.
pub(crate) const RATE: usize = 0;
pub(crate) const OWN_CPU: usize = 2;
pub(crate) const MEMORY: usize = 6;

impl Run {
    /// In the order of [`COLUMNS`].
    pub(crate) fn values(&self) -> [f64; 8] {
        let (from, to) = (self.read.moment(0.1), self.read.moment(0.9));
        let events = self.read.at_ms.len() as f64;
        let used = |of: &dyn Fn(&Sample) -> f64| at(&self.samples, to, of) - at(&self.samples, from, of);
        let us = |of: &dyn Fn(&Sample) -> f64| used(of) * 1e6 / (0.8 * events);
        let (job, database, broker) =
            (us(&|s| s.job.cpu_s), us(&|s| s.database.cpu_s), us(&|s| s.broker.cpu_s));
        let peak = self.samples.iter().map(|s| s.job.peak_bytes).max().unwrap_or(0) as f64 / 1e6;
        let written = used(&|s| s.database.written_bytes as f64) / (0.8 * events);
        [
            self.read.rate(),
            events / self.wall_s,
            job,
            database,
            broker,
            job + database + broker,
            peak,
            written,
        ]
    }
}

impl Bench {
    pub(crate) fn new(cli: Cli, world: World, folder: PathBuf) -> Bench {
        Bench { cli, world, folder, next: 0, filled: HashMap::new() }
    }

    /// A name for a run's topics, job and group.
    pub(crate) fn name(&mut self) -> String {
        self.next += 1;
        format!("bench-{}-{}", std::process::id(), self.next)
    }

    pub(crate) fn events(&self) -> usize {
        if self.cli.quick { 10_000 } else { self.cli.events }
    }

    pub(crate) fn turns(&self) -> usize {
        if self.cli.quick { 1 } else { self.cli.repeat }
    }

    /// What is typed; where nothing is, the main scenario's.
    pub(crate) fn main_input(&self) -> Input {
        let Cli { bytes, keys, partitions, zipf, .. } = self.cli;
        let draw = if zipf { Draw::Zipf } else { Draw::Uniform };
        Input { events: self.events(), bytes, keys, draw, partitions }
    }

    /// Which forms of the Flink job can run here.
    pub(crate) fn flinks(&self) -> Vec<Contender> {
        if self.cli.no_flink {
            return Vec::new();
        }
        if !flink_jar().exists() {
            println!(
                "flink: left out, {} is not there (scripts/bench builds it where there is a JDK and Maven)",
                flink_jar().display()
            );
            return Vec::new();
        }
        ["blocking", "batching"].map(|form| Contender::Flink { form, subtasks: 2 }).into()
    }

    /// Whether this contender was asked for.
    pub(crate) fn is_wanted(&self, contender: &Contender) -> bool {
        let name = contender.name();
        self.cli.who.is_empty() || self.cli.who.iter().any(|who| name.contains(who.as_str()))
    }

    /// The topic that holds this input, filled once, and what must come of it.
    pub(crate) fn filled(&mut self, input: &Input) -> (String, Expected) {
        if let Some(filled) = self.filled.get(input) {
            return filled.clone();
        }
        let topic = self.name() + "-in";
        let filled = (topic.clone(), fill(&self.world, &topic, input));
        self.filled.insert(*input, filled.clone());
        filled
    }

    pub(crate) fn place<'a>(&'a self, topic_in: &'a str, topic_out: &'a str, is_bounded: bool) -> Place<'a> {
        Place {
            world: &self.world,
            tidegate: &self.cli.tidegate,
            folder: &self.folder,
            topic_in,
            topic_out,
            is_bounded,
        }
    }

    /// Lets go of what a run has left at the broker.
    pub(crate) fn leave(&self, topic_out: &str) {
        self.world.delete_topics(&[topic_out, &format!("tidegate-{topic_out}-progress")]);
    }

    /// Takes a full topic through once.
    pub(crate) fn once(&mut self, contender: &Contender, input: &Input) -> Run {
        let (topic_in, expected) = self.filled(input);
        let topic_out = self.name();
        self.world.make_topic(&topic_out, input.partitions);
        self.world.empty_tables();
        let place = self.place(&topic_in, &topic_out, true);
        let begun = Instant::now();
        let mut running = contender.start(&place);
        let pids = running.children.iter().map(|child| child.id()).collect();
        let sampler = Sampler::start(pids, self.world.pid("db"), self.world.pid("kafka"));
        running.wait(Duration::from_secs(3_600));
        let wall_s = begun.elapsed().as_secs_f64();
        let samples = sampler.stop();
        let read = read(&self.world, &topic_out, input.partitions);
        self.check(contender, &place, input, &expected, &read);
        self.leave(&topic_out);
        let run = Run { read, wall_s, samples };
        println!(
            "{:>40}  {:>9.0} events/s  {:>5.1} us own CPU",
            contender.name(),
            run.values()[RATE],
            run.values()[OWN_CPU]
        );
        run
    }

    fn check(
        &self,
        contender: &Contender,
        place: &Place<'_>,
        input: &Input,
        expected: &Expected,
        read: &Read,
    ) {
        let name = contender.name();
        assert_eq!(read.at_ms.len(), input.events, "{name}: outputs");
        assert_eq!(read.digest, expected.outputs, "{name}: outputs, or the order within a key, are wrong");
        let shape = match contender {
            Contender::Tidegate { shape, .. } => *shape,
            Contender::Loop { .. } | Contender::Flink { .. } => Shape::Main,
        };
        let orders = || self.world.rows("bench_order", "id, customer, total, currency, placed_at");
        let lines = || self.world.rows("bench_line", "order_id, line, article, quantity, price");
        let journal = || self.world.rows("bench_journal", "order_id, customer, total");
        if matches!(shape, Shape::Main | Shape::Three) {
            assert_eq!(orders(), expected.orders, "{name}: orders");
        }
        if shape == Shape::Three {
            assert_eq!(lines(), expected.lines, "{name}: lines");
        }
        if matches!(shape, Shape::Append | Shape::Three) {
            assert_eq!(journal(), expected.journal, "{name}: journal");
        }
        if shape == Shape::Sqlite {
            assert_eq!(sqlite_orders(place), expected.orders_sqlite, "{name}: orders in SQLite");
        }
    }

    /// Lets go of everything.
    pub(crate) fn end(self) {
        let topics: Vec<&str> = self.filled.values().map(|(topic, _)| topic.as_str()).collect();
        if !topics.is_empty() {
            self.world.delete_topics(&topics);
        }
        std::fs::remove_dir_all(&self.folder).expect("the folder goes");
    }
}
