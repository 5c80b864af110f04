//! World: everything there is at one moment.

use crate::database::Database;
use crate::kafka::{Ghost, Kafka};
use crate::plan::{Budget, Plan};
use crate::run::{Emitter, Run, Running, Worker, own_id};
use crate::start::{Stage, Start};
use std::sync::Arc;

/// Runs that can live side by side: an old one and a new one.
pub const SLOTS: u8 = 2;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    pub kafka: Kafka,
    pub database: Database,
    pub runs: Vec<Option<Arc<Run>>>,
    /// Runs that were started.
    pub started: u8,
    /// Events that were refused until somebody mends the world are refused no more.
    pub mended: bool,
    pub budget: Budget,
}

impl World {
    pub fn new(plan: &Plan) -> World {
        World {
            kafka: Kafka::new(),
            database: Database::new(plan),
            runs: vec![None; usize::from(SLOTS)],
            started: 0,
            mended: false,
            budget: plan.budget,
        }
    }

    pub fn run(&self, slot: u8) -> Option<&Run> {
        self.runs[usize::from(slot)].as_deref()
    }

    pub fn run_mut(&mut self, slot: u8) -> &mut Run {
        Arc::make_mut(self.runs[usize::from(slot)].as_mut().unwrap())
    }

    pub fn lives(&self) -> bool {
        self.runs.iter().any(Option::is_some)
    }

    pub fn worker(&self, slot: u8, worker: u8) -> &Worker {
        &self.run(slot).unwrap().workers[usize::from(worker)]
    }

    pub fn running(&self, slot: u8, worker: u8) -> &Running {
        match self.worker(slot, worker) {
            Worker::Running(running) => running,
            Worker::Starting(_) => panic!("worker {worker} of slot {slot} is not running"),
        }
    }

    pub fn starting(&self, slot: u8, worker: u8) -> &Start {
        match self.worker(slot, worker) {
            Worker::Starting(start) => start,
            Worker::Running(_) => panic!("worker {worker} of slot {slot} is not starting"),
        }
    }

    pub fn worker_mut(&mut self, slot: u8, worker: u8) -> &mut Worker {
        Arc::make_mut(&mut self.run_mut(slot).workers[usize::from(worker)])
    }

    pub fn running_mut(&mut self, slot: u8, worker: u8) -> &mut Running {
        match self.worker_mut(slot, worker) {
            Worker::Running(running) => running,
            Worker::Starting(_) => panic!("worker {worker} of slot {slot} is not running"),
        }
    }

    pub fn starting_mut(&mut self, slot: u8, worker: u8) -> &mut Start {
        match self.worker_mut(slot, worker) {
            Worker::Starting(start) => start,
            Worker::Running(_) => panic!("worker {worker} of slot {slot} is not starting"),
        }
    }

    /// The run is gone: what it had sent to Kafka and not heard of stays on its way; of the database's transactions
    /// those that were running roll back.
    pub fn end_run(&mut self, slot: u8) {
        let Some(run) = self.runs[usize::from(slot)].take() else { return };
        for (worker, state) in (0_u8..).zip(&run.workers) {
            let request = match &**state {
                Worker::Starting(start) => match start.stage {
                    Stage::Produce => Some(Ghost::Produce(start.content())),
                    Stage::Commit => Some(Ghost::EndTxn),
                    _ => None,
                },
                Worker::Running(running) => match &running.emitter {
                    Emitter::Produce(batches) => Some(Ghost::Produce(crate::apply::content(batches))),
                    Emitter::Commit(_) => Some(Ghost::EndTxn),
                    _ => None,
                },
            };
            self.kafka.give_up(own_id(worker), (slot, worker), request);
        }
    }
}
