//! Scenarios of trouble, and of nothing at all: kill -9, a database that is out, an idle job.
//!
//! In:        what is typed, the world     Out: tables
//! Fails:     by panicking where a row or an output is missing or is there twice
//! Not here:  what may be killed when is the tests' business; here one kill is measured

use crate::bench::Bench;
use crate::contender::Contender;
use crate::feed::Feed;
use crate::inputs::fill;
use crate::job::Shape;
use crate::output::{Positions, read};
use crate::report::Table;
use crate::sampler::{Sample, Sampler, at, now_ms, used};
use std::time::{Duration, Instant};

/// Of what takes some minutes at the most.
const LIMIT: Duration = Duration::from_secs(600);
/// Events a second on top of a backlog.
const FED: u32 = 2_000;

impl Bench {
    /// kill -9 in the middle of a backlog, with a table in which nothing may come twice.
    pub(crate) fn recovery(&mut self) -> Vec<Table> {
        let note = format!(
            "`scripts/bench --only recovery --events {}`: an append-only table; kill -9 under full load, then a new process. Rows and \
             outputs are compared with the input, each there once.",
            self.events()
        );
        let columns = [
            "new process to first new output, ms",
            "backlog, events",
            "events/s from the first new output on",
            "rows, more or less than events",
            "outputs, more or less than events",
        ];
        let mut table = Table::new("Recovery", note, &columns);
        for _ in 0..self.turns() {
            for share in [4, 2] {
                self.killed(&mut table, share);
            }
        }
        vec![table]
    }

    fn killed(&mut self, table: &mut Table, share: u64) {
        let input = self.main_input();
        let (topic_in, expected) = self.filled(&input);
        let topic_out = self.name();
        self.world.make_topic(&topic_out, input.partitions);
        self.world.empty_tables();
        let place = self.place(&topic_in, &topic_out, true);
        let contender = Contender::Tidegate { shape: Shape::Append, workers: 2, processes: 1 };
        let mut first = contender.start(&place);
        let begun = Instant::now();
        // The newest row's number costs nothing to ask for; a few more are given than are used.
        while self.world.number("SELECT COALESCE(MAX(at), 0) FROM bench_journal")
            < input.events as u64 / share
        {
            assert!(begun.elapsed() < LIMIT && !first.has_ended(), "killed too late");
            std::thread::sleep(Duration::from_millis(5));
        }
        first.kill();
        let sent = read(&self.world, &topic_out, input.partitions).at_ms.len();
        let restarted = now_ms();
        let mut second = contender.start(&place);
        second.wait(LIMIT);
        let read = read(&self.world, &topic_out, input.partitions);
        let rows = self.world.rows("bench_journal", "order_id, customer, total");
        let off = |count: usize| count as f64 - input.events as f64;
        assert_eq!(
            (rows, read.digest),
            (expected.journal, expected.outputs),
            "rows or outputs are wrong: {} rows and {} outputs of {} events",
            rows.count,
            read.at_ms.len(),
            input.events
        );
        let first_new = read.at_ms[sent] as f64;
        let values = [
            first_new - restarted,
            (input.events - sent) as f64,
            read.since(first_new).rate(),
            off(rows.count as usize),
            off(read.at_ms.len()),
        ];
        println!("{:>40}  first output after {:.0} ms", format!("{} events left", values[1]), values[0]);
        table.add(&format!("tidegate -w 2, killed when 1/{share} was stored"), &values);
        self.leave(&topic_out);
    }

    /// The database is out under full input.
    pub(crate) fn catchup(&mut self) -> Vec<Table> {
        let out_s = if self.cli.quick { 3 } else { self.cli.outage };
        let note = format!(
            "`scripts/bench --only catchup --events {} --outage {out_s}`: a backlog of that many events, and {FED} events/s on top; when a \
             third of the backlog is done, the database is stopped for {out_s} s and started again. Memory before: at full load.",
            self.events()
        );
        let columns = [
            "memory before, MB",
            "growth while it is out, MB",
            "peak memory, MB",
            "database accepts to first output, ms",
            "backlog then, events",
            "events/s behind it",
            "outputs, more or less than events",
        ];
        let mut table = Table::new("Outage of the database", note, &columns);
        for _ in 0..self.turns() {
            self.outage(&mut table, out_s);
        }
        vec![table]
    }

    fn outage(&mut self, table: &mut Table, out_s: u64) {
        let input = self.main_input();
        let (topic_in, topic_out) = (self.name() + "-in", self.name());
        fill(&self.world, &topic_in, &input);
        self.world.make_topic(&topic_out, input.partitions);
        self.world.empty_tables();
        let place = self.place(&topic_in, &topic_out, false);
        let mut running = Contender::tidegate(2).start(&place);
        let pids = running.children.iter().map(|child| child.id()).collect();
        let sampler = Sampler::start(pids, self.world.pid("db"), self.world.pid("kafka"));
        let feed = Feed::start(&self.world, &topic_in, FED);
        let positions =
            Positions::of(&self.world, &format!("tidegate-{topic_out}"), &topic_in, input.partitions);
        positions.wait(input.events as u64 / 3, LIMIT);
        let stopping = now_ms();
        self.world.service("db", "stop");
        let stopped = now_ms();
        std::thread::sleep(Duration::from_secs(out_s));
        let behind = now_ms();
        let passed = positions.passed();
        // The script waits for more than the port: when that opens is found out beside it.
        let accepts = std::thread::scope(|scope| {
            scope.spawn(|| self.world.service("db", "start"));
            loop {
                if std::net::TcpStream::connect(self.world.database_address()).is_ok() {
                    break now_ms();
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let sent = input.events as u64 + feed.stop();
        positions.wait(sent, LIMIT);
        running.stop(true);
        let samples = sampler.stop();
        let read = read(&self.world, &topic_out, input.partitions);
        assert_eq!(read.at_ms.len() as u64, sent, "outputs");
        let caught = read.since(behind);
        let resident = |sample: &Sample| sample.job.resident_bytes as f64 / 1e6;
        let out = samples.iter().filter(|sample| (stopped..behind).contains(&sample.at_ms));
        let before = at(&samples, stopping, resident);
        let values = [
            before,
            out.map(resident).fold(before, f64::max) - before,
            samples.iter().map(|s| s.job.peak_bytes).max().unwrap_or(0) as f64 / 1e6,
            caught.moment(0.0) - accepts,
            (sent - passed) as f64,
            caught.rate(),
            read.at_ms.len() as f64 - sent as f64,
        ];
        println!("{:>40}  growth {:.1} MB, first output after {:.0} ms", "outage", values[1], values[3]);
        table.add("tidegate -w 2", &values);
        self.leave(&topic_out);
        self.world.delete_topics(&[&topic_in]);
    }

    /// Nothing to do.
    pub(crate) fn idle(&mut self) -> Vec<Table> {
        let seconds = if self.cli.quick { 5 } else { 20 };
        let note = format!(
            "`scripts/bench --only idle`: a job without anything to read, over {seconds} s, 5 s behind its start."
        );
        let columns =
            ["own CPU, % of a core", "broker CPU, % of a core", "database CPU, % of a core", "memory, MB"];
        let mut table = Table::new("Idle", note, &columns);
        for _ in 0..self.turns() {
            for workers in [1, 4] {
                self.nothing(&mut table, workers, seconds);
            }
        }
        vec![table]
    }

    fn nothing(&mut self, table: &mut Table, workers: usize, seconds: u64) {
        let (topic_in, topic_out) = (self.name() + "-in", self.name());
        self.world.make_topic(&topic_in, 4);
        self.world.make_topic(&topic_out, 4);
        self.world.empty_tables();
        let place = self.place(&topic_in, &topic_out, false);
        let contender = Contender::tidegate(workers);
        let mut running = contender.start(&place);
        std::thread::sleep(Duration::from_secs(5));
        let pids = [running.children[0].id(), self.world.pid("kafka"), self.world.pid("db")];
        let before = pids.map(|pid| used(&[pid]));
        let begun = Instant::now();
        std::thread::sleep(Duration::from_secs(seconds));
        let behind = pids.map(|pid| used(&[pid]));
        let elapsed_s = begun.elapsed().as_secs_f64();
        let share = |place: usize| (behind[place].cpu_s - before[place].cpu_s) * 100.0 / elapsed_s;
        let values = [share(0), share(1), share(2), behind[0].resident_bytes as f64 / 1e6];
        println!("{:>40}  {:.2} % of a core", contender.name(), values[0]);
        table.add(&contender.name(), &values);
        running.stop(true);
        self.leave(&topic_out);
        self.world.delete_topics(&[&topic_in]);
    }
}
