//! Universe: a world, its processes, and the one who moves the clock.
//!
//! In:        "go on until"     Out: whether that came to be
//! Holds:     the seed's random numbers, from which every choice is drawn
//! Order:     everything that can go on does, in an order that is drawn; only when nothing can, time moves to the next moment
//!            at which something does

use super::super::instance::How;
use super::super::world::World;
use super::process::Process;
use std::sync::Arc;
use std::time::Duration;
use tidegate::testing::Random;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

/// Steps of each worker when something has stirred: enough for news to travel through the operators and to all workers.
const ROUNDS: usize = 8;
/// Flags are looked at this often.
const IDLE: Duration = Duration::from_millis(50);

/// Everything there is.
pub struct Universe {
    pub world: World,
    pub random: Random,
    pub processes: Vec<Process>,
    stirred: Arc<Notify>,
}

impl Universe {
    pub fn new(world: World, seed: u64) -> Universe {
        Universe { world, random: Random::new(seed), processes: Vec::new(), stirred: Arc::default() }
    }

    /// Starts a process, and gives its index.
    pub fn start(&mut self, name: &str, how: How) -> usize {
        self.processes.push(Process::start(&self.world, name, how, &self.stirred));
        self.processes.len() - 1
    }

    /// Lets everything go on for so long.
    pub async fn pass(&mut self, time: Duration) {
        self.run_until(time, |_| false).await;
    }

    /// Lets everything go on until it is so; `false`: it is not so after this time.
    pub async fn run_until(&mut self, patience: Duration, mut so: impl FnMut(&mut Universe) -> bool) -> bool {
        let until = Instant::now() + patience;
        let mut rounds = ROUNDS;
        loop {
            for _ in 0..rounds {
                self.step_all();
            }
            if so(self) {
                return true;
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let stirred = timeout(left.min(IDLE), self.stirred.notified()).await;
            rounds = if stirred.is_ok() { ROUNDS } else { 2 };
        }
    }

    /// Every worker takes a step, in an order that is drawn.
    fn step_all(&mut self) {
        let mut all: Vec<(usize, usize)> = Vec::new();
        for (index, process) in self.processes.iter().enumerate() {
            all.extend((0..process.workers()).map(|worker| (index, worker)));
        }
        while !all.is_empty() {
            let drawn = self.random.below(u64::try_from(all.len()).unwrap());
            let (process, worker) = all.swap_remove(usize::try_from(drawn).unwrap());
            self.processes[process].step(worker);
        }
    }
}
