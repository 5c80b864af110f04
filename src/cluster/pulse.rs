//! Pulse: processes tell each other that they are alive, so that one that hangs is found.
//!
//! In:        each worker's looks     Out: a halt when another process has been silent for `limits.peer_silence_s`
//! Holds:     a dataflow of its own, in clusters of several processes; its input open until this worker has ended
//! Order:     once a second the first worker of a process tells the first worker of every other one, if since then each
//!            worker of its process has taken a look. A process of which one worker hangs is silent
//! Not here:  what silence is (protocol/watch). A process that is gone is found sooner: its connection closes. Nothing of
//!            this waits for data: its messages overtake them at every queue but the socket's

use crate::protocol::halt::{Halt, HaltKind};
use crate::protocol::watch::Watch;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use timely::dataflow::InputHandleVec;
use timely::dataflow::operators::vec::Input;
use timely::dataflow::operators::{Exchange, Inspect};
use timely::worker::Worker;
use tokio::time::Instant;

/// How often a process says that it is alive.
const PERIOD: Duration = Duration::from_secs(1);

/// How often each worker of this process has taken a look.
#[derive(Clone, Debug)]
pub(super) struct Looks(Arc<[AtomicU64]>);

impl Looks {
    pub(super) fn new(threads: usize) -> Looks {
        Looks((0..threads).map(|_| AtomicU64::new(0)).collect())
    }

    fn count(&self, thread: usize) {
        if let Some(looks) = self.0.get(thread) {
            looks.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn now(&self) -> Vec<u64> {
        self.0.iter().map(|looks| looks.load(Ordering::Relaxed)).collect()
    }
}

/// To a worker, from a process.
type Beat = (u64, u32);

/// One worker's part.
pub(super) struct Pulse {
    thread: usize,
    looks: Looks,
    /// The first worker of the process has it, until it ends.
    first: Option<First>,
    /// Closed with this worker's end.
    input: Option<InputHandleVec<u64, Beat>>,
}

struct First {
    process: usize,
    processes: usize,
    heard: Rc<RefCell<Vec<u32>>>,
    watch: Option<Watch>,
    limit: Duration,
    begun: Instant,
    /// When it last said something, and what it had seen of its workers then.
    said: Instant,
    seen: Vec<u64>,
}

impl Pulse {
    /// None: the job has a single process. Every worker must build it behind the same dataflows. `limit` 0: nobody is
    /// ever taken for lost.
    pub(super) fn build(worker: &mut Worker, looks: &Looks, limit: Duration) -> Option<Pulse> {
        let threads = looks.0.len();
        if worker.peers() <= threads {
            return None;
        }
        let (process, thread) = (worker.index() / threads, worker.index() % threads);
        let processes = worker.peers() / threads;
        let mut input = InputHandleVec::new();
        let heard: Rc<RefCell<Vec<u32>>> = Rc::default();
        let listener = Rc::clone(&heard);
        worker.dataflow_named::<u64, _, _>("pulse", |scope| {
            let beats = scope.input_from(&mut input).exchange(|(to, _): &Beat| *to);
            beats.inspect(move |(_, from)| listener.borrow_mut().push(*from));
        });
        let now = Instant::now();
        let first = (thread == 0).then(|| First {
            process,
            processes,
            heard,
            watch: (!limit.is_zero()).then(|| Watch::new(process, processes, ms(limit))),
            limit,
            begun: now,
            said: now,
            seen: looks.now(),
        });
        Some(Pulse { thread, looks: looks.clone(), first, input: Some(input) })
    }

    /// One look of this worker. Some: another process is lost.
    pub(super) fn look(&mut self) -> Option<Halt> {
        self.looks.count(self.thread);
        let (first, input) = (self.first.as_mut()?, self.input.as_mut()?);
        first.beat(&self.looks, input);
        first.look()
    }

    /// This worker has ended.
    pub(super) fn close(&mut self) {
        self.input = None;
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

impl First {
    fn beat(&mut self, looks: &Looks, input: &mut InputHandleVec<u64, Beat>) {
        if self.said.elapsed() < PERIOD {
            return;
        }
        let now = looks.now();
        if now.iter().zip(&self.seen).any(|(now, seen)| now == seen) {
            return;
        }
        (self.said, self.seen) = (Instant::now(), now);
        let threads = looks.0.len();
        let from = u32::try_from(self.process).unwrap_or(u32::MAX);
        for other in (0..self.processes).filter(|other| *other != self.process) {
            let to = other.saturating_mul(threads);
            input.send((u64::try_from(to).unwrap_or(u64::MAX), from));
        }
        // A flush would leave them in the exchange's buffer.
        input.advance_to(input.time().saturating_add(1));
    }

    fn look(&mut self) -> Option<Halt> {
        let heard = std::mem::take(&mut *self.heard.borrow_mut());
        let watch = self.watch.as_mut()?;
        for process in heard {
            watch.heard(usize::try_from(process).unwrap_or(usize::MAX));
        }
        let lost = watch.look(ms(self.begun.elapsed()))?;
        // Said once.
        self.watch = None;
        let (seconds, line) = (self.limit.as_secs(), lost.saturating_add(1));
        let text = format!(
            "process {lost} of the cluster (line {line} of the hosts file) has said nothing for {seconds} s, and its \
             connection is open: it is stopped, it hangs, or the network to it is gone. When it wakes up it ends by itself. \
             Start the whole cluster again, without waiting for it; limits.peer_silence_s is the limit"
        );
        Some(Halt::new(HaltKind::PeerLost, text))
    }
}
