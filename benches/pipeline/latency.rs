//! Latency: from a producer's hand to a read-committed consumer's, at a constant rate.
//!
//! In:        a contender, a rate     Out: quantiles of receive time minus the time at which the event was due, in ms
//! Order:     by turns; within one by contender, from little load to much
//! Fails:     by panicking where an event of the measured time never comes
//! Not here:  who sends (feed)

use crate::bench::{Bench, RATE};
use crate::contender::Contender;
use crate::feed::{Feed, receive_until};
use crate::inputs::Input;
use crate::output::reader;
use crate::report::Table;
use crate::sampler::{Sample, Sampler, at, now_ms};
use crate::scenarios::LOOPS;
use rdkafka::Offset;
use std::time::{Duration, Instant};

const COLUMNS: [&str; 8] = [
    "events/s",
    "p50, ms",
    "p99, ms",
    "p99.9, ms",
    "max, ms",
    "own CPU, us/event",
    "database CPU, us/event",
    "peak memory, MB",
];
const PARTITIONS: i32 = 4;
/// Few enough for whoever starts slowly to have no backlog behind it.
const RATE_OF_START: u32 = 20;
/// What is not there this long behind the last one was sent, comes never.
const LATEST: Duration = Duration::from_secs(60);

impl Bench {
    pub(crate) fn latency(&mut self) -> Vec<Table> {
        let mut list = vec![Contender::tidegate(1), LOOPS[0].clone()];
        list.extend(self.flinks());
        list.retain(|contender| self.is_wanted(contender));
        let limits: Vec<f64> = list.iter().map(|contender| self.limit(contender)).collect();
        let note = format!(
            "`scripts/bench --only latency`: documents of 1 KB at a constant rate, {} s behind a warm-up, as a read-committed reader sees them; \
             fsync at each commit of the database. Ten events a second: the latency of one event alone. Half of its limit: of what each \
             took from a full topic just before; the driver that feeds and reads works on the same cores.",
            self.measured_s()
        );
        let mut table = Table::new("Latency", note, &COLUMNS);
        for _ in 0..self.turns() {
            for rate in [10, self.cli.rate] {
                for contender in &list {
                    self.paced(&mut table, contender, rate, &format!("{}, {rate}/s", contender.name()));
                }
            }
            for (contender, limit) in list.iter().zip(&limits) {
                let row = format!("{}, half of its limit", contender.name());
                self.paced(&mut table, contender, (limit / 2.0) as u32, &row);
            }
        }
        vec![table]
    }

    /// From little to nearly all that the main scenario takes.
    pub(crate) fn curve(&mut self) -> Vec<Table> {
        let contender = Contender::tidegate(2);
        let limit = self.limit(&contender);
        let shares: &[u32] = if self.cli.quick { &[10, 50] } else { &[10, 25, 50, 75, 90, 95] };
        let note = format!(
            "`scripts/bench --only curve`: {}, shares of {limit:.0} events/s, which it took from a full topic just before. The driver that \
             feeds and reads works on the same cores, so that the last shares may be more than is left.",
            contender.name()
        );
        let mut table = Table::new("Latency by load", note, &COLUMNS);
        for _ in 0..self.turns() {
            for share in shares {
                let rate = (limit * f64::from(*share) / 100.0) as u32;
                self.paced(&mut table, &contender, rate, &format!("{share} % of the limit"));
            }
        }
        vec![table]
    }

    fn measured_s(&self) -> u64 {
        if self.cli.quick { 3 } else { self.cli.seconds }
    }

    /// Events a second from a full topic.
    fn limit(&mut self, contender: &Contender) -> f64 {
        let input = self.main_input();
        let share = if matches!(contender, Contender::Flink { form: "blocking", .. }) { 9 } else { 3 };
        let input = Input { events: (input.events / share).max(1_000), ..input };
        self.once(contender, &input).values()[RATE]
    }

    fn paced(&mut self, table: &mut Table, contender: &Contender, rate: u32, row: &str) {
        let (topic_in, topic_out) = (self.name() + "-in", self.name());
        self.world.make_topic(&topic_in, PARTITIONS);
        self.world.make_topic(&topic_out, PARTITIONS);
        self.world.empty_tables();
        let consumer = reader(&self.world, &topic_out, PARTITIONS, Offset::Beginning);
        let place = self.place(&topic_in, &topic_out, false);
        let mut running = contender.start(&place);
        let pids = running.children.iter().map(|child| child.id()).collect();
        let feed = Feed::start(&self.world, &topic_in, rate.min(RATE_OF_START));
        // The first record out says that all is up; then caches and compilers warm up.
        let first = receive_until(&consumer, Instant::now() + Duration::from_secs(120), true);
        assert!(!first.is_empty(), "{row}: nothing came out within two minutes");
        feed.set_rate(rate);
        let warm_s = if self.cli.quick { 1 } else { 10 };
        let warm = receive_until(&consumer, Instant::now() + Duration::from_secs(warm_s), false);
        let sampler = Sampler::start(pids, self.world.pid("db"), self.world.pid("kafka"));
        let from = now_ms();
        let until = Instant::now() + Duration::from_secs(self.measured_s());
        let mut seen = receive_until(&consumer, until, false);
        let to = now_ms();
        let samples = sampler.stop();
        let sent = usize::try_from(feed.stop()).expect("a number of events");
        let before = first.len() + warm.len();
        // What was due in the measured time and is not there yet counts, too.
        let latest = Instant::now() + LATEST;
        while before + seen.len() < sent && Instant::now() < latest {
            seen.extend(receive_until(&consumer, Instant::now() + Duration::from_millis(50), false));
        }
        assert_eq!(before + seen.len(), sent, "{row}: outputs of the events that were sent");
        running.stop(matches!(contender, Contender::Tidegate { .. }));
        self.leave(&topic_out);
        self.world.delete_topics(&[&topic_in]);
        let ms: Vec<f64> =
            seen.iter().filter(|(due, _)| (from..to).contains(due)).map(|(due, got)| got - due).collect();
        let values = values(ms, (from, to), &samples);
        println!("{row:>40}  p50 {:.1} ms  p99 {:.1} ms  max {:.1} ms", values[1], values[2], values[4]);
        table.add(row, &values);
    }
}

/// In the order of [`COLUMNS`].
fn values(mut ms: Vec<f64>, (from, to): (f64, f64), samples: &[Sample]) -> [f64; 8] {
    ms.sort_by(f64::total_cmp);
    let quantile = |q: f64| ms[((ms.len() as f64 - 1.0) * q).ceil() as usize];
    let us =
        |of: &dyn Fn(&Sample) -> f64| (at(samples, to, of) - at(samples, from, of)) * 1e6 / ms.len() as f64;
    [
        ms.len() as f64 / ((to - from) / 1e3),
        quantile(0.5),
        quantile(0.99),
        quantile(0.999),
        quantile(1.0),
        us(&|s| s.job.cpu_s),
        us(&|s| s.database.cpu_s),
        samples.iter().map(|s| s.job.peak_bytes).max().unwrap_or(0) as f64 / 1e6,
    ]
}
