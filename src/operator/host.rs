//! Host: what a process gives its operators: tasks, threads for what blocks, and chance.
//!
//! In:        futures to run     Out: nothing; they report through mailboxes
//! Holds:     a handle on the tokio runtime; the runtime itself for as long as a thread runs on it
//! Order:     none
//! Fails:     a thread that cannot be started is the caller's matter
//! Not here:  what runs
//!
//! There are two of them. In a real process a future that asks Kafka blocks, so it gets a thread of its own, or one of
//! tokio's blocking threads. In a simulated one nothing blocks: all of a process's futures are tasks of one runtime, whose
//! clock a test moves, and which it can end like a process, all at once and wherever they are.

use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use timely::scheduling::SyncActivator;
use tokio::runtime::{Handle, Runtime};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// Where futures run. A clone is the same host.
#[derive(Clone)]
pub struct Host(Kind);

#[derive(Clone)]
enum Kind {
    Real(Arc<Runtime>),
    Simulated(Arc<Simulated>),
}

struct Simulated {
    tasks: Mutex<Vec<AbortHandle>>,
    stirred: Arc<Notify>,
    chance: AtomicU64,
}

impl Simulated {
    fn spawn(&self, future: impl Future<Output = ()> + 'static) {
        let task = tokio::task::spawn_local(future);
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        tasks.retain(|task| !task.is_finished());
        tasks.push(task.abort_handle());
    }
}

impl Host {
    /// A real process on this runtime.
    pub fn real(runtime: Arc<Runtime>) -> Host {
        Host(Kind::Real(runtime))
    }

    /// A simulated process: all of it must be called from within one [`tokio::task::LocalSet`], and nothing that it runs
    /// may block. `seed` decides what is left to chance; `stirred` is told whenever one of its workers has something to do.
    pub fn simulated(seed: u64, stirred: Arc<Notify>) -> Host {
        let simulated = Simulated { tasks: Mutex::default(), stirred, chance: AtomicU64::new(seed) };
        Host(Kind::Simulated(Arc::new(simulated)))
    }

    /// Runs a task that never blocks.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        match &self.0 {
            Kind::Real(runtime) => drop(runtime.spawn(future)),
            Kind::Simulated(simulated) => simulated.spawn(future),
        }
    }

    /// Runs a future that may block, on a thread of this name, which makes it.
    ///
    /// # Errors
    /// When the thread cannot be started: what the system says.
    pub fn spawn_blocking<F: Future<Output = ()> + 'static>(
        &self,
        name: String,
        make: impl FnOnce() -> F + Send + 'static,
    ) -> std::io::Result<()> {
        match &self.0 {
            Kind::Simulated(simulated) => simulated.spawn(make()),
            Kind::Real(runtime) => {
                let runtime = Arc::clone(runtime);
                std::thread::Builder::new().name(name).spawn(move || {
                    runtime.block_on(make());
                    let_go(runtime);
                })?;
            }
        }
        Ok(())
    }

    /// For a task that has to wait for a future that may block.
    pub fn aside(&self) -> Aside {
        Aside(match &self.0 {
            Kind::Real(runtime) => Some(runtime.handle().clone()),
            Kind::Simulated(_) => None,
        })
    }

    /// What wakes an operator; in a simulated process also whoever steps its workers.
    pub fn wake(&self, activator: SyncActivator) -> Wake {
        Wake { activator, stirred: self.stirring() }
    }

    /// Says that a worker has something to look at.
    pub fn stirring(&self) -> Stirred {
        match &self.0 {
            Kind::Real(_) => Stirred(None),
            Kind::Simulated(simulated) => Stirred(Some(Arc::clone(simulated))),
        }
    }

    /// A number between 0 and 1.
    pub fn chance(&self) -> Chance {
        match &self.0 {
            Kind::Real(_) => Chance(None),
            Kind::Simulated(simulated) => Chance(Some(Arc::clone(simulated))),
        }
    }

    /// Ends every task of a simulated process, wherever it is.
    pub fn kill(&self) {
        if let Kind::Simulated(simulated) = &self.0 {
            let tasks = std::mem::take(&mut *simulated.tasks.lock().unwrap_or_else(PoisonError::into_inner));
            tasks.iter().for_each(AbortHandle::abort);
        }
    }
}

/// The last one to hold a runtime ends it, and waits for nothing.
pub fn let_go(runtime: Arc<Runtime>) {
    if let Some(runtime) = Arc::into_inner(runtime) {
        runtime.shutdown_background();
    }
}

/// A way for a task to a future that may block. Unlike a [`Host`] it keeps no runtime alive, so a task can hold it.
#[derive(Clone)]
pub struct Aside(Option<Handle>);

impl Aside {
    /// Runs it on one of tokio's blocking threads. None: the thread ended early.
    pub async fn run<T: Send + 'static>(
        &self,
        future: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        match self.0.clone() {
            Some(runtime) => tokio::task::spawn_blocking(move || runtime.block_on(future)).await.ok(),
            None => Some(future.await),
        }
    }
}

/// Wakes an operator.
#[derive(Clone)]
pub struct Wake {
    activator: SyncActivator,
    stirred: Stirred,
}

impl Wake {
    /// Wakes it. An operator that is gone is not woken, and nobody needs to know.
    pub fn wake(&self) {
        // An error says that the worker has ended.
        let _ended = self.activator.activate();
        self.stirred.say();
    }
}

/// Tells whoever steps a simulated worker that it is worth a step; in a real process nobody.
#[derive(Clone)]
pub struct Stirred(Option<Arc<Simulated>>);

impl Stirred {
    /// Says it.
    pub fn say(&self) {
        if let Some(simulated) = &self.0 {
            simulated.stirred.notify_one();
        }
    }
}

/// A source of chance, for pauses.
#[derive(Clone)]
pub struct Chance(Option<Arc<Simulated>>);

impl Chance {
    /// A number between 0 and 1: in a real process different at each call and in each process.
    pub fn draw(&self) -> f64 {
        use std::hash::{BuildHasher, Hasher};
        let random = match &self.0 {
            None => std::hash::RandomState::new().build_hasher().finish(),
            Some(simulated) => {
                let next = |seed: u64| {
                    Some(seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
                };
                let drawn = simulated.chance.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
                drawn.unwrap_or_else(|seed| seed)
            }
        };
        let sixteen_bits = u16::try_from(random >> 48).unwrap_or(u16::MAX);
        f64::from(sixteen_bits) / f64::from(u16::MAX)
    }
}
