//! Launch: a process's workers, its runtime, its signals, and how all of it ended.
//!
//! In:        a job and the cluster's shape     Out: [`Ended`]
//! Holds:     the tokio runtime, the probers, the budget
//! Fails:     a cluster that cannot be formed -> an error text; everything later is a halt
//! Not here:  no process exit (main). A worker that panics is main's matter, too: its panic hook ends the process

use super::pulse::Looks;
use super::sockets::{Greeting, NoCluster, connect};
use super::worker::{Shared, run as run_worker};
use crate::database::{Database, ErrorClass};
use crate::job::JobSpec;
use crate::kafka::{AsyncLog, LogErrorClass};
use crate::operator::budget::Budget;
use crate::operator::guard::Guard;
use crate::operator::host::{Host, let_go};
use crate::operator::planted::Planted;
use crate::operator::prober::{Probe, Prober, Said};
use crate::protocol::halt::{Halt, HaltKind};
use crate::status::{Board, World};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use timely::WorkerConfig;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::allocator::{AllocatorBuilder, ProcessBuilder};
use timely::communication::{Config as Communication, Hooks};
use timely::worker::Worker;

/// What runs.
#[derive(Clone)]
pub struct Job {
    /// The checked job.
    pub spec: Arc<JobSpec>,
    /// Where it reads and sends.
    pub log: Arc<dyn AsyncLog>,
    /// Where it stores.
    pub database: Arc<dyn Database>,
    /// What it writes down.
    pub board: Arc<Board>,
    /// Stop where the topics end now.
    pub until_end: bool,
    /// The note of the record in hand.
    pub guard: Guard,
}

/// The cluster's shape, as this process sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Worker threads of each process.
    pub workers: usize,
    /// This process's number.
    pub process: usize,
    /// `host:port` of each process, in order; one or none: a single process.
    pub hosts: Vec<String>,
}

/// What can be said to a running job from outside its dataflow.
#[derive(Clone, Debug, Default)]
pub struct Signals {
    drain: Arc<AtomicBool>,
}

impl Signals {
    /// Read no more, finish, commit, end: on every worker of every process.
    pub fn drain(&self) {
        self.drain.store(true, Ordering::Relaxed);
    }

    /// Whether the job was told to drain.
    pub fn is_draining(&self) -> bool {
        self.drain.load(Ordering::Relaxed)
    }
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything that was read is stored, sent and committed.
    Drained,
    /// It was told to end before it had begun; nothing was read.
    NotStarted,
    /// Stopped everywhere, for this reason.
    Halted(Halt),
}

impl Ended {
    /// How a process ended whose workers ended like this: with the first halt, if there was one.
    pub(super) fn of_all(ends: impl IntoIterator<Item = Ended>) -> Ended {
        let worse = |one, other| match (one, other) {
            (Ended::Halted(one), Ended::Halted(other)) => Ended::Halted(one.first_of(other)),
            (halted @ Ended::Halted(_), _) | (_, halted @ Ended::Halted(_)) => halted,
            (Ended::NotStarted, _) | (_, Ended::NotStarted) => Ended::NotStarted,
            (Ended::Drained, Ended::Drained) => Ended::Drained,
        };
        ends.into_iter().reduce(worse).unwrap_or(Ended::Drained)
    }
}

/// Runs the job until it ends.
///
/// # Errors
/// When the workers cannot be started: the text says why.
pub fn run(job: Job, cluster: &Cluster, signals: &Signals) -> Result<Ended, String> {
    run_with(job, None, cluster, signals)
}

/// Runs a job in which something goes wrong: for tests of the audit.
///
/// # Errors
/// As [`run`].
pub fn run_planted(
    job: Job,
    planted: Arc<Planted>,
    cluster: &Cluster,
    signals: &Signals,
) -> Result<Ended, String> {
    run_with(job, Some(planted), cluster, signals)
}

fn run_with(
    job: Job,
    planted: Option<Arc<Planted>>,
    cluster: &Cluster,
    signals: &Signals,
) -> Result<Ended, String> {
    let workers = cluster.workers * cluster.hosts.len().max(1);
    let groups = usize::try_from(job.spec.key_groups).unwrap_or(usize::MAX);
    if workers > groups {
        let text = format!(
            "{workers} workers, and job.key_groups is {groups}: a worker needs a key group to work on"
        );
        return Ok(Ended::Halted(Halt::new(HaltKind::Misconfigured, text)));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("tokio")
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start the tokio runtime: {error}"))?;
    let runtime = Arc::new(runtime);
    let host = Host::real(Arc::clone(&runtime));
    let shared = Arc::new(Shared { planted, ..share(job, cluster.workers, signals, host) });
    let ended = match builders(&shared, cluster) {
        Ok((builders, guard)) => run_workers(builders, guard, shared)?,
        Err(NoCluster::Cancelled) => return Ok(Ended::NotStarted),
        Err(NoCluster::Failed(text)) => return Ok(Ended::Halted(Halt::new(HaltKind::Misconfigured, text))),
    };
    // A start that is still on its way keeps the runtime under its feet, and ends it when it ends.
    let_go(runtime);
    Ok(ended)
}

/// Runs the workers, and waits for all of them.
fn run_workers(
    builders: Vec<AllocatorBuilder>,
    guard: Box<dyn Any + Send>,
    shared: Arc<Shared>,
) -> Result<Ended, String> {
    let threads = shared.threads;
    let (sender, ends) = sync_channel(threads);
    let run = move |worker: &mut Worker| {
        // Whoever waits for it is there until every worker has sent its own, or has panicked.
        let _gone = sender.send(run_worker(worker, &shared));
    };
    let guards = timely::execute::execute_from(builders, guard, WorkerConfig::default(), run)?;
    // Fewer, when one panics: the closure of the last worker takes the channel with it.
    let ends: Vec<(Ended, bool)> = ends.iter().take(threads).collect();
    let hangs = |(end, acknowledged): &(Ended, bool)| !acknowledged || end.lost_peer();
    if ends.len() == threads && ends.iter().any(hangs) {
        // A peer hangs: the threads that talk to it would wait for it to hang up.
        std::mem::forget(guards);
    } else {
        guards.join().into_iter().collect::<Result<(), String>>()?;
    }
    Ok(Ended::of_all(ends.into_iter().map(|(end, _)| end)))
}

pub(super) fn share(job: Job, threads: usize, signals: &Signals, host: Host) -> Shared {
    let limit = outage_limit(&job.spec);
    let prober = |world, probe| Prober::start(world, limit, Arc::clone(&job.board), &host, probe);
    Shared {
        budget: Arc::new(Budget::new(job.spec.limits.in_flight_bytes)),
        database_prober: prober(World::Database, database_probe(&job)),
        broker_prober: prober(World::Broker, broker_probe(&job, &host)),
        drain: Arc::clone(&signals.drain),
        threads,
        looks: Looks::new(threads),
        planted: None,
        host,
        job,
    }
}

/// How long an outage may last; none: for ever.
pub(super) fn outage_limit(spec: &JobSpec) -> Option<Duration> {
    (spec.outage.limit_s > 0).then(|| Duration::from_secs(spec.outage.limit_s))
}

const PROBE_DEADLINE: Duration = Duration::from_secs(2);

/// A new connection each time: the question is whether new work can begin.
fn database_probe(job: &Job) -> Probe {
    let database = Arc::clone(&job.database);
    Box::new(move || {
        let database = Arc::clone(&database);
        Box::pin(async move {
            let asked = tokio::time::timeout(PROBE_DEADLINE, async {
                let mut session = database.connect().await?;
                session.probe().await
            });
            match asked.await {
                Ok(answer) => answer.map_err(|error| Said {
                    refuses: match error.class {
                        ErrorClass::Rights => Some(HaltKind::Rights),
                        ErrorClass::Misconfigured => Some(HaltKind::Misconfigured),
                        _ => None,
                    },
                    text: error.message,
                }),
                Err(_elapsed) => Err(Said::out(format!("no answer for {} s", PROBE_DEADLINE.as_secs()))),
            }
        })
    })
}

fn broker_probe(job: &Job, host: &Host) -> Probe {
    let (log, aside) = (Arc::clone(&job.log), host.aside());
    Box::new(move || {
        let (log, aside) = (Arc::clone(&log), aside.clone());
        Box::pin(async move {
            match aside.run(async move { log.probe(PROBE_DEADLINE).await }).await {
                Some(answer) => answer.map_err(|error| Said {
                    refuses: match error.class {
                        LogErrorClass::Rights => Some(HaltKind::Rights),
                        LogErrorClass::Misconfigured => Some(HaltKind::Misconfigured),
                        _ => None,
                    },
                    text: error.message,
                }),
                None => Err(Said::out("the probe of the broker ended early")),
            }
        })
    })
}

type Builders = (Vec<AllocatorBuilder>, Box<dyn Any + Send>);

/// The workers' channels: in memory within a process, over sockets between processes.
fn builders(shared: &Shared, cluster: &Cluster) -> Result<Builders, NoCluster> {
    if cluster.hosts.len() <= 1 {
        return Communication::Process(cluster.workers).try_build().map_err(NoCluster::Failed);
    }
    let greeting = Greeting::new(&shared.job.spec, cluster);
    let sockets = connect(cluster, &greeting, &shared.drain)?;
    let hooks = Hooks::default();
    // Bytes between the threads, too: with these channels a panic of one worker reaches all others.
    let local = ProcessBuilder::new_bytes_vector(cluster.workers, hooks.refill.clone(), None);
    let (builders, guard) =
        initialize_networking_from_sockets(local, sockets, cluster.process, cluster.workers, hooks)
            .map_err(|error| NoCluster::Failed(format!("cannot set the cluster's sockets up: {error}")))?;
    Ok((builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(guard)))
}
