//! Instance: one run of the job, on threads of its own.

use super::world::World;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;
use tidegate::cluster::{self, Cluster, Ended, Job, Signals};
use tidegate::operator::guard::Guard;
use tidegate::operator::planted::Planted;
use tidegate::status::Board;
use tidegate::testing::{DatabaseFaults, FaultyDatabase, Link, LogFaults, MemoryLog};

/// How long a healthy world may need for anything.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// How an instance is to run.
#[derive(Clone, Copy, Debug)]
pub struct How {
    pub workers: usize,
    pub until_end: bool,
    pub log: LogFaults,
    pub database: DatabaseFaults,
    pub seed: u64,
}

impl How {
    /// Without faults, up to the end.
    pub fn well(workers: usize) -> How {
        let (log, database) = (LogFaults::default(), DatabaseFaults::default());
        How { workers, until_end: true, log, database, seed: 0 }
    }
}

/// A running job.
pub struct Instance {
    pub name: String,
    pub link: Arc<Link>,
    pub signals: Signals,
    pub board: Arc<Board>,
    end: Receiver<Result<Ended, String>>,
    pub ended: Option<Result<Ended, String>>,
    pub killed: bool,
}

impl Instance {
    pub fn start(world: &World, name: &str, how: How) -> Instance {
        Instance::on(Link::new(name, how.seed, Arc::clone(&world.history)), world, name, how, None)
    }

    /// Starts one process of several.
    pub fn start_process(
        world: &World,
        name: &str,
        how: How,
        cluster: Cluster,
        planted: Option<Arc<Planted>>,
    ) -> Instance {
        let link = Link::new(name, how.seed, Arc::clone(&world.history));
        Instance::of(link, world, name, how, cluster, planted)
    }

    /// Starts a job in which something goes wrong.
    pub fn start_planted(world: &World, how: How, planted: Arc<Planted>) -> Instance {
        let link = Link::new("planted", how.seed, Arc::clone(&world.history));
        Instance::on(link, world, "planted", how, Some(planted))
    }

    /// Starts, and waits until it is frozen where it is about to do this.
    pub fn start_until(world: &World, name: &str, before: &str, how: How) -> Instance {
        let link = Link::new(name, how.seed, Arc::clone(&world.history));
        link.stop_before(before);
        let instance = Instance::on(link, world, name, how, None);
        instance.assert_stopped();
        instance
    }

    pub fn assert_stopped(&self) {
        assert!(self.link.wait_for_stop(PATIENCE), "{} was not frozen: {:?}", self.name, self.ended);
    }

    fn on(link: Arc<Link>, world: &World, name: &str, how: How, planted: Option<Arc<Planted>>) -> Instance {
        let cluster = Cluster { workers: how.workers, process: 0, hosts: Vec::new() };
        Instance::of(link, world, name, how, cluster, planted)
    }

    fn of(
        link: Arc<Link>,
        world: &World,
        name: &str,
        how: How,
        cluster: Cluster,
        planted: Option<Arc<Planted>>,
    ) -> Instance {
        link.say(&format!("starts with {} workers", how.workers));
        let log = MemoryLog::new(Arc::clone(&world.broker), world.setup.clone(), Arc::clone(&link), how.log);
        let database = FaultyDatabase::new(world.handle(), Arc::clone(&link), how.database);
        let board = Arc::new(Board::new(how.workers));
        let job = Job {
            spec: Arc::clone(&world.spec),
            log: Arc::new(log),
            database: Arc::new(database),
            board: Arc::clone(&board),
            until_end: how.until_end,
            guard: Guard::default(),
        };
        let signals = Signals::default();
        let (sender, end) = sync_channel(1);
        let (for_thread, seen) = (signals.clone(), Arc::clone(&link));
        std::thread::spawn(move || {
            let ended = match planted {
                Some(planted) => cluster::run_planted(job, planted, &cluster, &for_thread),
                None => cluster::run(job, &cluster, &for_thread),
            };
            seen.say(&format!("ends: {ended:?}"));
            drop(sender.send(ended));
        });
        Instance { name: name.to_owned(), link, signals, board, end, ended: None, killed: false }
    }

    /// As by SIGKILL.
    pub fn kill(&mut self) {
        self.killed = true;
        self.link.cut();
    }

    /// Waits for its end; `None`: it goes on.
    pub fn wait(&mut self, wait: Duration) -> Option<&Result<Ended, String>> {
        if self.ended.is_none() {
            self.ended = self.end.recv_timeout(wait).ok();
        }
        self.ended.as_ref()
    }
}
