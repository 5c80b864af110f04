//! Stepped: a process's workers on the thread of whoever steps them, one step at a time and in any order.
//!
//! In:        a job, a number of workers, a simulated [`Host`]     Out: how each worker ended
//! Holds:     the workers between their steps. Dropping it is what SIGKILL is: nothing of the process goes on
//! Order:     the caller's; a worker that is not stepped stands still
//! Fails:     as the workers do
//! Not here:  no clock and no order of its own: simulations bring both (tests/whole/simulated)
//!
//! These are the workers that [`super::run`] runs, on the same operators and the same channels between them. What differs
//! is who calls `step`.

use super::launch::{Ended, Job, Signals, share};
use super::worker::{Run, Shared};
use crate::operator::host::Host;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Instant;
use timely::WorkerConfig;
use timely::communication::Allocator;
use timely::communication::allocator::zero_copy::bytes_slab::BytesRefill;
use timely::communication::allocator::{Process, ProcessBuilder};
use timely::worker::Worker;

/// A process of one job.
pub struct Stepped {
    host: Host,
    workers: Vec<Stepping>,
}

struct Stepping {
    run: Run,
    worker: Worker,
    ended: Option<Ended>,
}

impl Stepped {
    /// Builds the workers; each has a start under way, as in [`super::run`].
    pub fn start(job: Job, workers: usize, signals: &Signals, host: Host) -> Stepped {
        let shared: Arc<Shared> = Arc::new(share(job, workers, signals, host.clone()));
        let build = |process| {
            let config = WorkerConfig::default();
            let mut worker = Worker::new(config, Allocator::Process(process), Some(Instant::now()));
            Stepping { run: Run::begin(&mut worker, &shared), worker, ended: None }
        };
        Stepped { host, workers: allocators(workers).into_iter().map(build).collect() }
    }

    /// How many there are.
    pub fn workers(&self) -> usize {
        self.workers.len()
    }

    /// One step of a worker, and its look at what came of it. An ended worker, or one that there is not, does nothing.
    pub fn step(&mut self, worker: usize) {
        if let Some(Stepping { run, worker, ended }) = self.workers.get_mut(worker)
            && ended.is_none()
        {
            worker.step();
            *ended = run.look(worker);
        }
    }

    /// How the process ended; none: a worker is still at work.
    pub fn ended(&self) -> Option<Ended> {
        let ends: Option<Vec<&Ended>> = self.workers.iter().map(|stepping| stepping.ended.as_ref()).collect();
        Some(Ended::of_all(ends?.into_iter().cloned()))
    }
}

impl Drop for Stepped {
    fn drop(&mut self) {
        self.host.kill();
    }
}

thread_local! {
    static TO_BUILD: RefCell<Vec<ProcessBuilder>> = const { RefCell::new(Vec::new()) };
    static BUILT: RefCell<Vec<Process>> = const { RefCell::new(Vec::new()) };
    static BUFFERS: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Memory for a channel, used again by the next process: to get a mebibyte from the system and give it back costs more
/// than everything that a short-lived process does with it.
struct Buffer(Vec<u8>);

/// Kept for later, at most.
const BUFFERS_MAX: usize = 64;

impl Buffer {
    fn of(bytes: usize) -> Buffer {
        let kept = BUFFERS.with_borrow_mut(|all| {
            let fitting = all.iter().position(|buffer| buffer.len() == bytes);
            fitting.map(|index| all.swap_remove(index))
        });
        Buffer(kept.unwrap_or_else(|| vec![0; bytes]))
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let buffer = std::mem::take(&mut self.0);
        // An error says that the thread is ending.
        let _ending = BUFFERS.try_with(|all| {
            let mut all = all.borrow_mut();
            if all.len() < BUFFERS_MAX {
                all.push(buffer);
            }
        });
    }
}

impl Deref for Buffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

/// The workers' channels, all built on this thread, by index.
///
/// A builder gives its queues to all others, then waits for theirs, one after the other: made for threads. The first
/// queue that it gets is of the worker with index 0, which began first, and for each queue that it gets it asks for a
/// buffer. So the moment in which it asks first is one in which it has given everything: the next builder is built there.
fn allocators(workers: usize) -> Vec<Process> {
    let refill = BytesRefill {
        logic: Arc::new(|bytes| {
            let next = TO_BUILD.with_borrow_mut(Vec::pop);
            if let Some(next) = next {
                let built = next.build();
                BUILT.with_borrow_mut(|all| all.push(built));
            }
            Box::new(Buffer::of(bytes))
        }),
        limit: None,
    };
    let mut builders = ProcessBuilder::new_bytes_vector(workers, refill, None);
    builders.reverse();
    let first = builders.pop();
    TO_BUILD.set(builders);
    let first = first.map(ProcessBuilder::build);
    let mut all = BUILT.take();
    all.extend(first);
    // The one that was begun last was ready first.
    all.reverse();
    all
}
