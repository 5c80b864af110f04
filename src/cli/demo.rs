//! `demo`: a whole job in one process, on an embedded broker and SQLite, with an outage in the middle and a proof at
//! the end.
//!
//! In:        how many events     Out: what a person sees; 0 only when the proof holds
//! Order:     set up, run, lock the database and let go of it, wait until all is settled, drain, prove
//! Fails:     a halt of the job with its own exit code; a proof that does not hold, or parts that fail, with 70
//! Not here:  nothing that `run` does not do: job file, operators and start are the same

mod collector;
mod feeder;
mod folder;
mod outage;
mod proof;
mod say;
mod shop;
mod tally;

use super::args::DemoArgs;
use super::out::error_line;
use super::progress::Progress;
use super::{Process, exit, load, run, signals, worlds};
use crate::cluster::{self, Cluster, Ended, Signals};
use crate::kafka::mock::MockLogServer;
use crate::kafka::{self, KafkaSetup, Log, progress_topic_name};
use crate::status::Board;
use collector::Collector;
use feeder::{Feeder, Plan};
use folder::Folder;
use outage::Outage;
use say::Teller;
use shop::Shop;
use std::io::IsTerminal;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const PARTITIONS: i32 = 8;
/// More than one, so that records are exchanged by key.
const WORKERS: usize = 2;
/// The shop sells for so long, outage included, so that there is something to see; a long demo takes what it needs.
const PACE: Duration = Duration::from_secs(10);
/// Changes a second once the proof is made.
const TRICKLE: f64 = 10.0;
const LOOK: Duration = Duration::from_millis(20);
/// Nothing moves and nothing holds for so long: it is time to see what is missing.
const STALLED: Duration = Duration::from_secs(60);

pub(super) fn demo(args: &DemoArgs, process: &Process) -> u8 {
    let code = match play(args, process) {
        Ok(true) => {
            say::next_steps();
            exit::OK
        }
        Ok(false) => exit::INTERNAL,
        Err(Failure::Parts(text)) => {
            error_line(&format!("tidegate: {text}"));
            exit::INTERNAL
        }
        Err(Failure::Job(code)) => code,
    };
    process.decided.store(code.saturating_add(1), std::sync::atomic::Ordering::Relaxed);
    code
}

/// Why there is no proof.
enum Failure {
    /// Something around the job failed.
    Parts(String),
    /// The job itself did, and has said why; its exit code.
    Job(u8),
}

impl From<String> for Failure {
    fn from(text: String) -> Failure {
        Failure::Parts(text)
    }
}

/// The whole demo: whether its proof holds.
fn play(args: &DemoArgs, process: &Process) -> Result<bool, Failure> {
    let asked = Signals::default();
    let ending = process.clone();
    signals::listen(asked.clone(), move |code| ending.end(code))?;
    let stays = !args.exit && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    let mut demo = Demo::set_up(args.events, asked)?;
    say::introduce(args.events, &demo.folder);
    let mut job = demo.start_job(process)?;

    let progress = Progress::start(Arc::clone(&demo.board), false);
    let mut changes = demo.main_act(args.events, &mut job, process)?;
    if !stays || demo.asked.is_draining() {
        demo.drain(job, process)?;
        drop(progress);
        return demo.prove(changes);
    }
    drop(progress);
    let mut holds = demo.prove(changes)?;
    if holds {
        say::stay(TRICKLE, &demo.folder);
        let progress = Progress::start(Arc::clone(&demo.board), false);
        changes = demo.trickle(changes, &mut job, process)?;
        demo.drain(job, process)?;
        drop(progress);
        holds = demo.prove(changes)?;
    } else {
        demo.drain(job, process)?;
    }
    Ok(holds)
}

/// Everything around the job. Fields are dropped in order: the broker goes behind those who talk to it.
struct Demo {
    shop: Shop,
    board: Arc<Board>,
    asked: Signals,
    tell: Teller,
    collector: Collector,
    log: Arc<dyn Log>,
    folder: Folder,
    _broker: MockLogServer,
}

/// The job, running.
struct Running {
    signals: Signals,
    thread: Option<JoinHandle<Result<Ended, String>>>,
}

impl Demo {
    fn set_up(events: u64, asked: Signals) -> Result<Demo, String> {
        let broker = MockLogServer::start().map_err(|error| error.to_string())?;
        for topic in ["orders", "orders.enriched", "orders.rejected"] {
            broker.create_topic(topic, PARTITIONS).map_err(|error| error.to_string())?;
        }
        broker.create_topic(&progress_topic_name("demo"), 1).map_err(|error| error.to_string())?;
        let address = broker.bootstrap_servers();
        let folder = Folder::make(&address)?;
        let shop = Shop::new(events);
        let log = kafka::open(shop_log(address));
        let collector = Collector::start(Arc::clone(&log), PARTITIONS, shop)?;
        let board = Arc::new(Board::new(WORKERS));
        Ok(Demo { shop, board, asked, tell: Teller::new(), collector, log, folder, _broker: broker })
    }

    /// Starts the job as `run` does.
    fn start_job(&self, process: &Process) -> Result<Running, Failure> {
        let file = self.folder.job();
        let (checked, sha256) = load::load_with_hash(&file)?;
        let job = worlds::open(checked)?.job(&self.board, false);
        let cluster = Cluster { workers: WORKERS, process: 0, hosts: Vec::new() };
        run::reporter(&job, (file, sha256), &cluster, ".".into(), process);
        let signals = Signals::default();
        let handle = signals.clone();
        let thread = std::thread::Builder::new()
            .name("demo-job".to_owned())
            .spawn(move || cluster::run(job, &cluster, &handle))
            .map_err(|error| format!("no thread for the demo's job: {error}"))?;
        Ok(Running { signals, thread: Some(thread) })
    }

    fn feed(&self, behind: u64, last: u64, rate: f64) -> Result<Feeder, String> {
        let (board, collected) = (Arc::clone(&self.board), self.collector.counter());
        let settled = move || board.committed.get().min(collected());
        Feeder::start(Plan { shop: self.shop, behind, last, rate }, Arc::clone(&self.log), settled)
    }

    /// Sends the events, with the outage in the middle, until all are settled: how many changes were sent.
    fn main_act(&self, events: u64, job: &mut Running, process: &Process) -> Result<u64, Failure> {
        let rate = f64::from(u32::try_from(events).unwrap_or(u32::MAX)) / PACE.as_secs_f64();
        let feeder = self.feed(0, events, rate)?;
        let mut outage = Outage::prepare(&self.folder.database(), events * 2 / 5)?;
        self.wait_until_settled(&feeder, job, process, |early| {
            outage.step(feeder.changes(), early, &self.board, &self.tell)
        })?;
        Ok(feeder.join()?)
    }

    /// A few changes a second until Ctrl-C: how many were sent by then, from the first on.
    fn trickle(&self, behind: u64, job: &mut Running, process: &Process) -> Result<u64, Failure> {
        let feeder = self.feed(behind, u64::MAX, TRICKLE)?;
        self.wait_until_settled(&feeder, job, process, |_early| Ok(()))?;
        Ok(feeder.join()?)
    }

    /// Waits until the feeder has ended, by itself or because of Ctrl-C, and the job has handled all that it sent.
    fn wait_until_settled(
        &self,
        feeder: &Feeder,
        job: &mut Running,
        process: &Process,
        mut meanwhile: impl FnMut(bool) -> Result<(), String>,
    ) -> Result<(), Failure> {
        let mut moved = (Instant::now(), 0);
        loop {
            let early = self.asked.is_draining();
            if early {
                feeder.stop();
            }
            meanwhile(early)?;
            job.must_run(process)?;
            let committed = self.board.committed.get();
            let settled = committed >= feeder.records();
            if feeder.is_finished() && settled && self.board.holding().is_empty() {
                return Ok(());
            }
            if committed != moved.1 || settled || !self.board.holding().is_empty() {
                moved = (Instant::now(), committed);
            } else if moved.0.elapsed() > STALLED {
                self.tell.say("nothing moves any more: time to see what there is");
                feeder.stop();
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
    }

    fn drain(&self, mut job: Running, process: &Process) -> Result<(), Failure> {
        job.signals.drain();
        match job.join() {
            Ok(Ended::Drained) => Ok(()),
            ended => Err(Failure::Job(finish(ended, process))),
        }
    }

    /// Makes the proof and shows it: whether it holds. The folder stays behind where it does not.
    fn prove(&mut self, changes: u64) -> Result<bool, Failure> {
        // A job that goes on writes its frontier once a second.
        const TRIES: u32 = 20;
        let found = self.collector.up_to_the_ends()?;
        let mut proof = proof::prove(self.shop, changes, &self.folder.database(), &found)?;
        for _ in 0..TRIES {
            if proof.is_settled() {
                break;
            }
            std::thread::sleep(Duration::from_millis(200));
            proof = proof::prove(self.shop, changes, &self.folder.database(), &found)?;
        }
        say::show(&proof, self.tell.took());
        if !proof.holds() {
            let path = self.folder.keep();
            error_line(&format!("tidegate: what there is stays in {}", path.display()));
        }
        Ok(proof.holds())
    }
}

impl Running {
    fn join(&mut self) -> Result<Ended, String> {
        let Some(thread) = self.thread.take() else {
            return Err("the demo's job has ended already".to_owned());
        };
        thread.join().map_err(|_panicked| "the demo's job panicked".to_owned())?
    }

    /// A job that has ended by itself has failed.
    fn must_run(&mut self, process: &Process) -> Result<(), Failure> {
        if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(());
        }
        let ended = self.join();
        Err(Failure::Job(match finish(ended, process) {
            exit::OK => exit::INTERNAL,
            code => code,
        }))
    }
}

fn finish(ended: Result<Ended, String>, process: &Process) -> u8 {
    // Set before the job was started.
    process.reporter.get().map_or(exit::INTERNAL, |reporter| run::finish(reporter, ended, process))
}

/// The shop's side of the broker: it writes what the job reads, and reads what the job writes.
fn shop_log(bootstrap_servers: String) -> KafkaSetup {
    KafkaSetup {
        bootstrap_servers,
        client: std::collections::BTreeMap::new(),
        group_id: "demo-shop".to_owned(),
        topics: vec!["orders.enriched".to_owned(), "orders.rejected".to_owned()],
        output_topics: vec!["orders".to_owned()],
        dead_letter_topic: None,
        progress_topic: progress_topic_name("demo-shop"),
        job: "demo-shop".to_owned(),
        record_bytes_max: 4 << 20,
    }
}
