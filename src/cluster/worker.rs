//! Worker: one timely worker from its first step to its last.
//!
//! In:        the job, its number     Out: how it ended
//! Holds:     the control dataflow, and the data dataflow once the start is through
//! Order:     start (a thread of its own) -> data dataflow -> drained or halted -> every worker has acknowledged
//! Fails:     by halt, broadcast; from then on it commits nothing
//! Not here:  no waiting for the worlds: the worker only steps

use super::control::{Control, Message};
use super::launch::{Ended, Job, outage_limit};
use super::ledger::{Claims, LedgerClient, marks, owner, position_writer, superseded};
use super::pulse::{Looks, Pulse};
use super::start::{Cluster, Patience, StartSetup, Started, Stopped, Word, start};
use crate::dataflow::{self, Setup};
use crate::job::JobSpec;
use crate::model::{Incarnation, KeyGroup, RecordLimits};
use crate::operator::audit::AuditSetup;
use crate::operator::budget::Budget;
use crate::operator::commit::CommitSetup;
use crate::operator::decode::{self, DecodeSetup};
use crate::operator::gate::{Confirmations, GateSetup, OutputSetup, ReadAgain};
use crate::operator::host::{Host, Stirred};
use crate::operator::planted::Planted;
use crate::operator::prober::Prober;
use crate::operator::sink::SinkSetup;
use crate::operator::source::{Marks, ReaderSetup};
use crate::operator::stop::StopRequest;
use crate::protocol::halt::{Halt, HaltKind};
use crate::protocol::sink::{Limits, Sink};
use crate::xml::Decoder;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;
use std::time::Duration;
use timely::dataflow::operators::probe;
use timely::worker::Worker;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

/// What the workers of one process share.
pub(super) struct Shared {
    pub(super) job: Job,
    pub(super) host: Host,
    pub(super) budget: Arc<Budget>,
    pub(super) database_prober: Arc<Prober>,
    pub(super) broker_prober: Arc<Prober>,
    pub(super) drain: Arc<AtomicBool>,
    /// Workers of this process.
    pub(super) threads: usize,
    /// How often each of them has looked at what came of its steps.
    pub(super) looks: Looks,
    /// In tests of the audit.
    pub(super) planted: Option<Arc<Planted>>,
}

/// One Kafka transaction takes no more than this.
const SINK_LIMITS: Limits = Limits { records_max: 10_000, bytes_max: 16 << 20 };

/// How long a worker waits for the others to acknowledge its end.
const ACKNOWLEDGE: Duration = Duration::from_secs(5);

/// The same where one of them is lost, and will not: the rest answer at once.
const ACKNOWLEDGE_LOST: Duration = Duration::from_secs(1);

/// What a start reports to its worker.
enum News {
    Claimed(Vec<(KeyGroup, Incarnation)>),
    Fenced,
    Over(Box<Result<Started, Stopped>>),
}

/// Runs the worker to its end. `true`: every other worker has acknowledged it.
pub(super) fn run(worker: &mut Worker, shared: &Arc<Shared>) -> (Ended, bool) {
    let mut run = Run::begin(worker, shared);
    loop {
        worker.step_or_park(Some(run.pause()));
        if let Some(end) = run.look(worker) {
            let acknowledged = run.control.is_done();
            if !acknowledged || end != Ended::Drained {
                // timely steps a worker until its dataflows are done, and behind a peer that hangs these never are.
                worker.installed_dataflows().into_iter().for_each(|index| worker.drop_dataflow(index));
            }
            return (end, acknowledged);
        }
    }
}

/// A worker between its steps: somebody steps it, and lets this look at what came of the step.
pub(super) struct Run {
    control: Control,
    /// None: the job has a single process.
    pulse: Option<Pulse>,
    life: Life,
    /// How it ended, and since when it waits for the others to hear that.
    ended: Option<(Ended, Instant)>,
}

impl Run {
    /// Builds the dataflows over which workers speak to each other, and lets the start begin.
    pub(super) fn begin(worker: &mut Worker, shared: &Arc<Shared>) -> Run {
        let control = Control::build(worker);
        let limit = Duration::from_secs(shared.job.spec.limits.peer_silence_s);
        let pulse = Pulse::build(worker, &shared.looks, limit);
        Run { control, pulse, life: Life::begin(worker, shared), ended: None }
    }

    /// How long the worker may park.
    fn pause(&self) -> Duration {
        if self.ended.is_some() { Duration::from_millis(20) } else { self.life.pause() }
    }

    /// Looks at everything once; `Some`: the worker has ended, and all others know, or had their time to hear.
    pub(super) fn look(&mut self, worker: &mut Worker) -> Option<Ended> {
        if let Some((end, _)) = &mut self.ended {
            // What others have asked for in the same moment: in the end all name the same cause.
            while let Some(message) = self.control.next() {
                end.hear_late(message);
            }
        } else {
            if let Some(halt) = self.pulse.as_mut().and_then(Pulse::look) {
                self.life.stop.halt(halt);
            }
            let end = self.life.look(worker, &mut self.control)?;
            if let (Ended::Halted(_) | Ended::NotStarted, Some(data)) = (&end, self.life.data_index) {
                // Whole and at once: frontiers freeze where they are.
                worker.drop_dataflow(data);
            }
            self.life.cancelled.store(true, Ordering::Relaxed);
            self.control.close();
            self.pulse.iter_mut().for_each(Pulse::close);
            self.ended = Some((end, Instant::now()));
        }
        let (end, since) = self.ended.as_ref()?;
        let wait = if end.lost_peer() { ACKNOWLEDGE_LOST } else { ACKNOWLEDGE };
        (self.control.is_done() || since.elapsed() >= wait).then(|| end.clone())
    }
}

/// One worker's state between steps.
struct Life {
    shared: Arc<Shared>,
    stop: StopRequest,
    cancelled: Arc<AtomicBool>,
    news: Receiver<News>,
    /// To the start.
    words: mpsc::Sender<Word>,
    fenced: BTreeSet<usize>,
    workers: usize,
    told_drain: bool,
    data_index: Option<usize>,
    committed: Option<probe::Handle<u64>>,
    /// Another instance has claimed what this one had.
    fallen: Arc<AtomicBool>,
}

impl Life {
    fn begin(worker: &Worker, shared: &Arc<Shared>) -> Life {
        let (news_sender, news) = sync_channel(3);
        let (words, mut heard) = mpsc::channel(2);
        let cancelled = Arc::new(AtomicBool::new(false));
        let stop = StopRequest::default();
        let setup = StartSetup {
            spec: Arc::clone(&shared.job.spec),
            log: Arc::clone(&shared.job.log),
            ledger: LedgerClient::new(Arc::clone(&shared.job.database)),
            worker: worker.index(),
            workers: worker.peers(),
            until_end: shared.job.until_end,
            watches: shared.job.guard.care().is_some(),
            patience: Patience {
                board: Arc::clone(&shared.job.board),
                cancelled: Arc::clone(&cancelled),
                limit: outage_limit(&shared.job.spec),
            },
        };
        let teller =
            Teller { news: news_sender, worker: std::thread::current(), stirred: shared.host.stirring() };
        let begin = move || async move {
            let claimed = |claims| teller.tell(News::Claimed(claims));
            let fenced = || teller.tell(News::Fenced);
            let mut cluster = Cluster { claimed: &claimed, fenced: &fenced, words: &mut heard };
            let result = start(&setup, &mut cluster).await;
            teller.tell(News::Over(Box::new(result)));
        };
        let spawned = shared.host.spawn_blocking(format!("start-{}", worker.index()), begin);
        if let Err(error) = spawned {
            stop.halt(Halt::new(HaltKind::Internal, format!("cannot start a thread: {error}")));
        }
        Life {
            shared: Arc::clone(shared),
            stop,
            cancelled,
            news,
            words,
            fenced: BTreeSet::new(),
            workers: worker.peers(),
            told_drain: false,
            data_index: None,
            committed: None,
            fallen: Arc::new(AtomicBool::new(false)),
        }
    }

    /// How long the worker may park: operators are woken by activators, the rest by this look.
    fn pause(&self) -> Duration {
        if self.committed.is_some() { Duration::from_millis(100) } else { Duration::from_millis(10) }
    }

    /// Looks at everything once; `Some`: the worker ends.
    fn look(&mut self, worker: &mut Worker, control: &mut Control) -> Option<Ended> {
        if self.fallen.swap(false, Ordering::Relaxed) {
            let text =
                "the ledger says that a newer instance, or `offsets reset`, has claimed the job's key groups";
            self.stop.halt(Halt::new(HaltKind::Fenced, text));
        }
        if let Some(halt) = self.stop.take() {
            tell_halt(control, worker, halt);
        }
        if self.shared.drain.load(Ordering::Relaxed) && !self.told_drain {
            self.told_drain = true;
            control.tell(Message::Drain);
            if self.committed.is_none() {
                self.cancelled.store(true, Ordering::Relaxed);
            }
        }
        while let Ok(news) = self.news.try_recv() {
            self.hear(news, worker, control);
        }
        while let Some(message) = control.next() {
            match message {
                Message::Halt(halt) => return Some(Ended::Halted(halt)),
                Message::Abandon => return Some(Ended::NotStarted),
                Message::Drain => self.shared.drain.store(true, Ordering::Relaxed),
                // The start waits for these two words, one each; if it is gone, its own news tells why.
                Message::Claimed { claims } => {
                    let _gone = self.words.try_send(Word::Claimed(claims));
                }
                Message::Fenced { worker } => {
                    if self.fenced.insert(worker) && self.fenced.len() == self.workers {
                        let _gone = self.words.try_send(Word::AllFenced);
                    }
                }
            }
        }
        self.committed.as_ref().is_some_and(probe::Handle::done).then_some(Ended::Drained)
    }

    fn hear(&mut self, news: News, worker: &mut Worker, control: &mut Control) {
        match news {
            News::Claimed(claims) => control.tell(Message::Claimed { claims }),
            News::Fenced => control.tell(Message::Fenced { worker: worker.index() }),
            News::Over(result) => match *result {
                Ok(started) => self.build(started, worker),
                Err(Stopped::Cancelled) => control.tell(Message::Abandon),
                Err(Stopped::Halt(halt)) => tell_halt(control, worker, halt),
            },
        }
    }

    fn build(&mut self, started: Started, worker: &mut Worker) {
        let shared = &self.shared;
        let spec = &shared.job.spec;
        if started.sent_from_outbox > 0 {
            let batches = started.sent_from_outbox;
            tracing::info!(
                worker = worker.index(),
                batches,
                "sent what an earlier run had stored and not sent"
            );
        }
        if let Some(care) = shared.job.guard.care() {
            care.reads(&started.from, &started.read_past);
        }
        for (at, next) in &started.from {
            shared.job.board.set_position(at.topic, at.partition, next.0);
        }
        match Documents::new(spec, &started.limits) {
            Ok(documents) => {
                let setup = self.setup(started, documents, worker.index());
                self.data_index = Some(worker.next_dataflow_index());
                self.committed =
                    Some(worker.dataflow_named::<u64, _, _>(&spec.name.clone(), |scope| {
                        dataflow::build(scope, setup)
                    }));
            }
            Err(why) => self.stop.halt(Halt::new(HaltKind::Misconfigured, why)),
        }
    }

    /// One worker of each process looks whether its claims stand: all were made in one transaction, so they fall together.
    fn watch_claims(&self, claims: &Claims, index: usize) {
        if !index.is_multiple_of(self.shared.threads) {
            return;
        }
        let (database, claims) = (Arc::clone(&self.shared.job.database), Arc::clone(claims));
        let (over, fallen) = (Arc::clone(&self.cancelled), Arc::clone(&self.fallen));
        let stirred = self.shared.host.stirring();
        self.shared.host.spawn(async move {
            if superseded(database, claims, over).await {
                fallen.store(true, Ordering::Relaxed);
                stirred.say();
            }
        });
    }

    fn decode_setup(&self, decoder: Decoder) -> DecodeSetup {
        let Shared { job, planted, budget, .. } = &*self.shared;
        DecodeSetup {
            spec: Arc::clone(&job.spec),
            decoder,
            budget: Arc::clone(budget),
            board: Arc::clone(&job.board),
            stop: self.stop.clone(),
            care: job.guard.care(),
            planted: planted.clone(),
        }
    }

    fn setup(&self, started: Started, documents: Documents, index: usize) -> Setup {
        let Documents { decoder, again, outputs } = documents;
        let Shared { job, host, budget, database_prober, broker_prober, drain, threads, planted, .. } =
            &*self.shared;
        let (spec, board, stop) = (&job.spec, &job.board, &self.stop);
        let claims = started.claimed.iter().map(|claimed| (claimed.group, claimed.incarnation));
        let claims: Claims = Arc::new(claims.collect());
        self.watch_claims(&claims, index);
        let groups = started.claimed.iter().map(|claimed| claimed.group).collect();
        let read_again = read_again(spec, again);
        let passed = Arc::new(Notify::new());
        let confirmations = Confirmations::default();
        let connections = usize::try_from(spec.database.connections).unwrap_or(1);
        Setup {
            reader: ReaderSetup {
                log: Arc::clone(&job.log),
                from: started.from,
                until: started.until,
                budget: Arc::clone(budget),
                drain: Arc::clone(drain),
                outage_limit: outage_limit(spec),
                board: Arc::clone(board),
                worker: index % threads,
                host: host.clone(),
                marks: Marks { first: started.marked, ask: marks(job, groups), passed: Arc::clone(&passed) },
            },
            decode: self.decode_setup(decoder),
            gate: GateSetup {
                spec: Arc::clone(spec),
                plan: planted
                    .as_ref()
                    .map_or_else(|| Arc::clone(&started.plan), |planted| planted.in_plan(&started.plan)),
                database: Arc::clone(&job.database),
                claimed: started.claimed,
                lanes: (connections / threads).max(1),
                outputs: Arc::new(outputs),
                read_again,
                passed,
                care: job.guard.care(),
                parked_max: (spec.limits.parked_keys / threads).max(1),
                prober: Arc::clone(database_prober),
                host: host.clone(),
                confirmations: std::rc::Rc::clone(&confirmations),
                board: Arc::clone(board),
                stop: stop.clone(),
            },
            sink: SinkSetup {
                spec: Arc::clone(spec),
                machine: Sink::new(started.emitted, SINK_LIMITS),
                emitter: started.emitter,
                prober: Arc::clone(broker_prober),
                owner: owner(Arc::clone(&job.database), claims),
                host: host.clone(),
                confirmations,
                board: Arc::clone(board),
                stop: stop.clone(),
                planted: planted.clone(),
            },
            commit: CommitSetup {
                write: position_writer(job, started.resets, started.mark, host.aside()),
                host: host.clone(),
                budget: Arc::clone(budget),
                board: Arc::clone(board),
                stop: stop.clone(),
            },
            audit: AuditSetup { spec: Arc::clone(spec), stop: stop.clone() },
            stop: stop.clone(),
            planted: planted.clone(),
        }
    }
}

/// What reads and writes documents.
struct Documents {
    /// For 2-decode.
    decoder: Decoder,
    /// For parked events.
    again: Decoder,
    outputs: OutputSetup,
}

impl Documents {
    /// Compiles the job's paths and templates; or why it cannot be carried out.
    fn new(spec: &Arc<JobSpec>, limits: &RecordLimits) -> Result<Documents, String> {
        let decoder = || Decoder::new(&spec.event, &spec.outputs, spec.limits).map_err(|e| e.to_string());
        let outputs = OutputSetup::new(Arc::clone(spec), limits.clone()).map_err(|e| e.to_string())?;
        Ok(Documents { decoder: decoder()?, again: decoder()?, outputs })
    }
}

/// Reads parked events as 2-decode reads records.
fn read_again(spec: &Arc<JobSpec>, decoder: Decoder) -> ReadAgain {
    let (spec, decoder) = (Arc::clone(spec), Mutex::new(decoder));
    Arc::new(move |record, index| {
        let mut decoder = decoder.lock().unwrap_or_else(PoisonError::into_inner);
        decode::read_one(record, index, &spec, &mut decoder)
    })
}

fn tell_halt(control: &mut Control, worker: &Worker, halt: Halt) {
    control.tell(Message::Halt(Halt { worker: Some(worker.index()), ..halt }));
}

impl Ended {
    /// Whether a process is lost: nothing may wait for it.
    pub(super) fn lost_peer(&self) -> bool {
        matches!(self, Ended::Halted(halt) if halt.kind == HaltKind::PeerLost)
    }

    /// A message that came when this worker had ended already.
    fn hear_late(&mut self, message: Message) {
        let Message::Halt(other) = message else { return };
        *self = match std::mem::replace(self, Ended::NotStarted) {
            Ended::Halted(own) => Ended::Halted(own.first_of(other)),
            Ended::NotStarted => Ended::Halted(other),
            // All of it is stored, sent and committed: nothing is left to halt.
            Ended::Drained => Ended::Drained,
        };
    }
}

/// The start's end of the way to its worker.
struct Teller {
    news: SyncSender<News>,
    worker: Thread,
    stirred: Stirred,
}

impl Teller {
    fn tell(&self, what: News) {
        // A worker that has ended does not listen any more.
        let _gone = self.news.send(what);
        self.worker.unpark();
        self.stirred.say();
    }
}
