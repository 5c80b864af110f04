//! Sink: sends what is stored, many batches in one Kafka transaction, and holds their epoch open until it is committed.
//!
//! In:        stored batch @ epoch, from the gate of the same worker     Out: nothing; its frontier is the news. For the
//!            audit the events of each batch that Kafka has confirmed, or that had nothing to send
//! Holds:     one capability per batch that Kafka does not have yet
//! Order:     per key group by batch number; one transaction at a time
//! Fails:     outage -> hold, then ask the progress topic; fenced -> ask the ledger; else halt
//! Not here:  no Kafka calls (emitter, kafka), no decisions (protocol)

mod emitter;
mod settled;

pub use emitter::EmitterSetup;

use super::account::{Accounts, Tally, Tap, Way};
use super::gate::{Confirmations, Outputs, StoredBatch};
use super::mailbox::{Mailbox, Sender, mailbox};
use super::planted::Planted;
use super::prober::{Answer, Prober};
use super::stop::StopRequest;
use crate::job::JobSpec;
use crate::model::{BatchNumber, Destination, Epoch, KeyGroup};
use crate::protocol::halt::{Halt, HaltKind};
use crate::protocol::sink::{Action, Input, Sink};
use crate::status::Board;
use emitter::{Command, Emitter, Report};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::Capability;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;

/// Asks the ledger whether this instance still owns its key groups, as long as it takes to get an answer.
pub type AskOwner = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = bool> + Send>> + Send + Sync>;

/// What the sink needs.
pub struct SinkSetup {
    /// The job.
    pub spec: Arc<JobSpec>,
    /// The machine as the start left it: nothing out, producer good.
    pub machine: Sink<Arc<Outputs>>,
    /// Its producer and how to build another one; none: the job never sends anything.
    pub emitter: Option<EmitterSetup>,
    /// The broker's prober of this process.
    pub prober: Arc<Prober>,
    /// Who owns the job.
    pub owner: AskOwner,
    /// Where the question to the ledger runs.
    pub runtime: tokio::runtime::Handle,
    /// To the gate.
    pub confirmations: Confirmations,
    /// Where counts go.
    pub board: Arc<Board>,
    /// For a halt.
    pub stop: StopRequest,
    /// In tests of the audit.
    pub planted: Option<Arc<Planted>>,
}

/// What the sink gives.
pub struct Sunk<'scope> {
    /// Nothing but its frontier.
    pub done: StreamVec<'scope, Epoch, ()>,
    /// For the audit: what is through.
    pub accounts: Accounts<'scope>,
}

/// Adds the operator.
pub fn sink<'scope>(stored: StreamVec<'scope, Epoch, StoredBatch>, setup: SinkSetup) -> Sunk<'scope> {
    let scope = stored.scope();
    let mut builder = OperatorBuilder::new("4-sink".to_owned(), scope);
    let wake = scope.worker().sync_activator_for(builder.operator_info().address.to_vec());
    let mut input = builder.new_input(stored, Pipeline);
    let (_output, done) = builder.new_output::<Vec<()>>();
    let (tap, accounts) = Tap::new(&mut builder, setup.spec.audit);
    let mut shell = Shell::new(setup, tap, mailbox(wake));
    builder.build(move |capabilities| {
        drop(capabilities);
        move |_frontiers| {
            let mut actions = Vec::new();
            shell.take_reports(&mut actions);
            // One container at a time: grouping by stamp sorts unstably, and would mix up the containers of an epoch.
            input.for_each(|capability, data| {
                let audit = shell.tap.is_on().then(|| capability.retain_least(1)).flatten();
                if let Some(epoch) = capability.retain_least(0) {
                    for batch in data.drain(..) {
                        let held = Held { _epoch: epoch.clone(), audit: audit.clone() };
                        shell.held.insert((batch.group, batch.number), held);
                        if batch.records == 0 {
                            shell.through(std::slice::from_ref(&batch));
                        }
                        shell.machine.step(Input::Stored(batch), &mut actions);
                    }
                }
            });
            shell.machine.step(Input::Dispatch, &mut actions);
            for action in actions {
                shell.act(action);
            }
            shell.account();
        }
    });
    Sunk { done, accounts }
}

/// What keeps a batch's epoch open.
struct Held {
    _epoch: Capability<Epoch>,
    /// Of the output to the audit.
    audit: Option<Capability<Epoch>>,
}

/// Carries the machine's actions out.
struct Shell {
    machine: Sink<Arc<Outputs>>,
    emitter: Option<Emitter>,
    reports: Mailbox<Report>,
    to_me: Sender<Report>,
    held: BTreeMap<(KeyGroup, BatchNumber), Held>,
    prober: Arc<Prober>,
    owner: AskOwner,
    runtime: tokio::runtime::Handle,
    confirmations: Confirmations,
    board: Arc<Board>,
    stop: StopRequest,
    /// What the last outage said, for the prober.
    said: String,
    spec: Arc<JobSpec>,
    tap: Tap,
    /// What the emitter was told last and has not confirmed.
    told: Option<Arc<Vec<StoredBatch>>>,
    /// For the audit, and the capability to say so: of the oldest epoch in it.
    settled: (Tally, Option<Capability<Epoch>>),
    planted: Option<Arc<Planted>>,
}

impl Shell {
    fn new(setup: SinkSetup, tap: Tap, (to_me, reports): (Sender<Report>, Mailbox<Report>)) -> Shell {
        let emitter =
            setup.emitter.map(|emitter| Emitter::start(emitter, to_me.clone(), Arc::clone(&setup.prober)));
        Shell {
            machine: setup.machine,
            emitter,
            reports,
            to_me,
            held: BTreeMap::new(),
            prober: setup.prober,
            owner: setup.owner,
            runtime: setup.runtime,
            confirmations: setup.confirmations,
            board: setup.board,
            stop: setup.stop,
            said: String::new(),
            spec: setup.spec,
            tap,
            told: None,
            settled: Default::default(),
            planted: setup.planted,
        }
    }

    fn take_reports(&mut self, actions: &mut Vec<Action<Arc<Outputs>>>) {
        for report in self.reports.take() {
            let input = match report {
                Report::Committed { batches } => {
                    self.prober.worked();
                    self.count(&batches);
                    self.told = None;
                    self.through(&batches);
                    Input::Committed
                }
                Report::Aborted => Input::Aborted,
                Report::Lost { said } => {
                    self.said = said;
                    Input::Lost
                }
                Report::Fenced => Input::Fenced,
                Report::Rebuilt(progress) => {
                    self.prober.worked();
                    self.found_through(&progress);
                    Input::Rebuilt(progress)
                }
                Report::NotRebuilt { said } => {
                    self.said = said;
                    Input::NotRebuilt
                }
                Report::Owner { mine } => Input::Owner { mine },
                Report::Up => Input::Up,
                Report::Halt(halt) => {
                    self.stop.halt(halt);
                    continue;
                }
            };
            self.machine.step(input, actions);
        }
    }

    fn count(&self, batches: &[StoredBatch]) {
        let records = batches.iter().flat_map(|batch| &batch.outputs.records);
        let (outputs, letters): (Vec<_>, Vec<_>) =
            records.partition(|record| record.to == Destination::Output);
        self.board.emitted.add(outputs.len());
        self.board.dead_lettered.add(letters.len());
    }

    fn act(&mut self, action: Action<Arc<Outputs>>) {
        match action {
            Action::Emit { batches, aborted } => {
                let batches = match &self.planted {
                    Some(planted) => planted.in_emission(batches),
                    None => batches,
                };
                self.told = Some(Arc::clone(&batches));
                self.tell(Command::Emit { batches, aborted });
            }
            Action::Rebuild => self.tell(Command::Rebuild),
            Action::Probe => {
                let to_me = self.to_me.clone();
                self.prober.wait(&self.said, move |answer| {
                    to_me.send(match answer {
                        Answer::Up => Report::Up,
                        Answer::GaveUp(text) => {
                            Report::Halt(Halt::new(HaltKind::Outage, format!("broker {text}")))
                        }
                    });
                });
            }
            Action::AskLedger => {
                let (to_me, answer) = (self.to_me.clone(), (self.owner)());
                self.runtime.spawn(async move { to_me.send(Report::Owner { mine: answer.await }) });
            }
            Action::Done { batches, sent } => {
                for batch in batches {
                    self.held.remove(&batch);
                    if sent {
                        self.confirmations.borrow_mut().push_back(batch);
                    }
                }
            }
            Action::Halt(halt) => self.stop.halt(halt),
        }
    }

    /// The last word on what was told and not confirmed has the progress topic.
    fn found_through(&mut self, progress: &BTreeMap<KeyGroup, BatchNumber>) {
        for batch in self.told.take().iter().flat_map(|told| told.iter()) {
            if progress.get(&batch.group).is_some_and(|last| batch.number <= *last) {
                self.through(std::slice::from_ref(batch));
            }
        }
    }

    /// Kafka has these batches, or they have nothing for it. By what was confirmed, not by what the machine makes of it.
    fn through(&mut self, batches: &[StoredBatch]) {
        if !self.tap.is_on() {
            return;
        }
        let (tally, oldest) = &mut self.settled;
        for batch in batches {
            let held = self.held.get(&(batch.group, batch.number));
            let Some(capability) = held.and_then(|held| held.audit.as_ref()) else {
                self.stop.halt(settled::again(batch, &self.spec));
                continue;
            };
            settled::settle(&batch.outputs, *capability.time(), &self.spec.source.topics, tally);
            if oldest.as_ref().is_none_or(|oldest| capability.time() < oldest.time()) {
                *oldest = Some(capability.clone());
            }
        }
    }

    fn account(&mut self) {
        let (tally, oldest) = &mut self.settled;
        if let Some(capability) = oldest.take() {
            self.tap.give(&capability, tally, Way::Settled);
        }
    }

    fn tell(&self, command: Command) {
        if !self.emitter.as_ref().is_some_and(|emitter| emitter.tell(command)) {
            self.stop.halt(Halt::new(HaltKind::Internal, "the thread that sends to Kafka has ended"));
        }
    }
}
