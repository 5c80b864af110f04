//! Link: one process's wire to the outside worlds.
//!
//! In:        freeze, thaw, cut     Out: whether a call may go on, and when
//! Holds:     the calls that stand still while it is frozen
//! Fails:     a cut link stays cut: every call through it fails with the class "rights", at which a job halts at once,
//!            so that its threads end as those of a killed process
//! Not here:  what the calls do

use super::{History, Random};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// What the wire does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Open,
    Frozen,
    Cut,
}

/// A wire.
#[derive(Debug)]
pub struct Link {
    name: String,
    history: Arc<History>,
    mode: Mutex<Mode>,
    changed: Notify,
    calm: AtomicBool,
    random: Mutex<Random>,
    stop: Mutex<Stop>,
    stopped: Condvar,
}

/// Where a process is to be frozen.
#[derive(Debug, Default)]
struct Stop {
    before: Option<String>,
    reached: bool,
}

impl Link {
    /// An open wire. `name` stands in the history; `seed` decides about faults.
    pub fn new(name: &str, seed: u64, history: Arc<History>) -> Arc<Link> {
        Arc::new(Link {
            name: name.to_owned(),
            history,
            mode: Mutex::new(Mode::Open),
            changed: Notify::new(),
            calm: AtomicBool::new(false),
            random: Mutex::new(Random::new(seed)),
            stop: Mutex::default(),
            stopped: Condvar::new(),
        })
    }

    /// Every call stands still, where it is.
    pub fn freeze(&self) {
        self.turn(Mode::Frozen, "is frozen");
    }

    /// Every call goes on.
    pub fn thaw(&self) {
        self.turn(Mode::Open, "is thawed");
    }

    /// No call arrives any more.
    pub fn cut(&self) {
        self.turn(Mode::Cut, "is killed");
    }

    /// Freezes the process when it is about to do this: the history names what calls do.
    pub fn stop_before(&self, doing: &str) {
        *self.lock_stop() = Stop { before: Some(doing.to_owned()), reached: false };
    }

    /// Waits until the process is frozen where it was to be; `false`: it has not come there within `wait`.
    pub fn wait_for_stop(&self, wait: Duration) -> bool {
        let stop = self.lock_stop();
        let waited = self.stopped.wait_timeout_while(stop, wait, |stop| !stop.reached);
        waited.unwrap_or_else(PoisonError::into_inner).0.reached
    }

    /// A call is about to do this.
    pub(super) fn about_to(&self, doing: &str) {
        let mut stop = self.lock_stop();
        if stop.before.as_deref() != Some(doing) {
            return;
        }
        *stop = Stop { before: None, reached: true };
        self.turn(Mode::Frozen, &format!("is frozen before {doing}"));
        drop(stop);
        self.stopped.notify_all();
    }

    /// From now on nothing fails by itself.
    pub fn calm(&self) {
        self.calm.store(true, Ordering::Relaxed);
    }

    /// Adds a line to the history.
    pub fn say(&self, what: &str) {
        self.history.say(&self.name, what);
    }

    fn turn(&self, to: Mode, what: &str) {
        let mut mode = self.lock();
        if *mode == Mode::Cut || *mode == to {
            return;
        }
        *mode = to;
        drop(mode);
        self.say(what);
        self.changed.notify_waiters();
    }

    /// As [`Link::pass`]; `None`: it is still frozen after `patience`.
    pub(super) async fn pass_within(&self, patience: Duration) -> Option<bool> {
        tokio::time::timeout(patience, self.pass()).await.ok()
    }

    /// Waits while it is frozen; `false`: it is cut.
    pub(super) async fn pass(&self) -> bool {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            let mode = *self.lock();
            match mode {
                Mode::Open => return true,
                Mode::Cut => return false,
                Mode::Frozen => changed.await,
            }
        }
    }

    /// True so many times out of a thousand.
    pub(super) fn chance(&self, per_mille: u32) -> bool {
        let calm = self.calm.load(Ordering::Relaxed);
        per_mille > 0 && !calm && self.random.lock().unwrap_or_else(PoisonError::into_inner).chance(per_mille)
    }

    /// A time up to this long.
    pub(super) fn some_of(&self, at_most: Duration) -> Duration {
        let us = u64::try_from(at_most.as_micros()).unwrap_or(u64::MAX);
        let mut random = self.random.lock().unwrap_or_else(PoisonError::into_inner);
        Duration::from_micros(random.below(us))
    }

    fn lock_stop(&self) -> MutexGuard<'_, Stop> {
        self.stop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Mode> {
        self.mode.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
