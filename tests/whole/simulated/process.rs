//! Process: one simulated instance of the job.

use super::super::instance::How;
use super::super::world::World;
use std::sync::Arc;
use tidegate::cluster::{Ended, Job, Signals, Stepped};
use tidegate::operator::guard::Guard;
use tidegate::operator::host::Host;
use tidegate::status::Board;
use tidegate::testing::{FaultyDatabase, Link, MemoryLog};
use tokio::sync::Notify;

/// A process; none of its workers steps by itself.
pub struct Process {
    pub name: String,
    pub link: Arc<Link>,
    pub signals: Signals,
    pub board: Arc<Board>,
    /// None: it was killed.
    stepped: Option<Stepped>,
    frozen: bool,
    told: bool,
}

impl Process {
    pub fn start(world: &World, name: &str, how: How, stirred: &Arc<Notify>) -> Process {
        let link = Link::new(name, how.seed, Arc::clone(&world.history));
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
        let host = Host::simulated(how.seed, Arc::clone(stirred));
        let stepped = Some(Stepped::start(job, how.workers, &signals, host));
        Process { name: name.to_owned(), link, signals, board, stepped, frozen: false, told: false }
    }

    /// Workers that can step now.
    pub fn workers(&self) -> usize {
        self.stepped.as_ref().filter(|_| !self.frozen).map_or(0, Stepped::workers)
    }

    pub fn step(&mut self, worker: usize) {
        if let Some(stepped) = self.stepped.as_mut().filter(|_| !self.frozen) {
            stepped.step(worker);
        }
    }

    /// As by SIGKILL: wherever its calls are, none goes on.
    pub fn kill(&mut self) {
        if self.stepped.take().is_some() {
            self.link.say("is killed");
        }
    }

    /// As by SIGSTOP.
    pub fn freeze(&mut self) {
        self.frozen = true;
        self.link.freeze();
    }

    /// As by SIGCONT.
    pub fn thaw(&mut self) {
        self.frozen = false;
        self.link.thaw();
    }

    pub fn is_killed(&self) -> bool {
        self.stepped.is_none()
    }

    /// How it ended; none: it goes on, or it was killed.
    pub fn ended(&mut self) -> Option<Ended> {
        let ended = self.stepped.as_ref()?.ended()?;
        if !std::mem::replace(&mut self.told, true) {
            self.link.say(&format!("ends: {ended:?}"));
        }
        Some(ended)
    }
}
