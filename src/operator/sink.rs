//! Sink: sends what is stored, many batches in one Kafka transaction, and holds their epoch open until it is committed.
//!
//! In:        stored batch @ epoch, from the gate of the same worker     Out: nothing; its frontier is the news. For the
//!            audit the events of each batch that Kafka has confirmed, or that had nothing to send
//! Holds:     one capability per batch that Kafka does not have yet
//! Order:     per key group by batch number; one transaction at a time
//! Fails:     outage -> hold, then ask the progress topic; fenced -> ask the ledger; else halt
//! Not here:  no Kafka calls (emitter, kafka), no decisions (protocol)

mod emitter;
mod witness;

pub use emitter::EmitterSetup;

use super::account::{Accounts, Tap};
use super::gate::{Confirmations, Outputs, StoredBatch};
use super::host::Host;
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
use witness::Witness;

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
    /// Where the emitter and the question to the ledger run.
    pub host: Host,
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
    let mut shell = {
        let mailbox = mailbox(setup.host.wake(wake));
        Shell::new(setup, tap, mailbox)
    };
    builder.build(move |capabilities| {
        drop(capabilities);
        move |_frontiers| {
            let mut actions = Vec::new();
            shell.take_reports(&mut actions);
            // One container at a time: grouping by stamp sorts unstably, and would mix up the containers of an epoch.
            input.for_each(|capability, data| {
                let to_audit = shell.witness.is_on().then(|| capability.retain_least(1)).flatten();
                if let Some(capability) = capability.retain_least(0) {
                    for batch in data.drain(..) {
                        shell.held.insert((batch.group, batch.number), capability.clone());
                        shell.witness.opened(&batch, to_audit.as_ref());
                        shell.machine.step(Input::Stored(batch), &mut actions);
                    }
                }
            });
            shell.machine.step(Input::Dispatch, &mut actions);
            for action in actions {
                shell.act(action);
            }
            shell.witness.account();
        }
    });
    Sunk { done, accounts }
}

/// Carries the machine's actions out.
struct Shell {
    machine: Sink<Arc<Outputs>>,
    emitter: Option<Emitter>,
    reports: Mailbox<Report>,
    to_me: Sender<Report>,
    held: BTreeMap<(KeyGroup, BatchNumber), Capability<Epoch>>,
    prober: Arc<Prober>,
    owner: AskOwner,
    host: Host,
    confirmations: Confirmations,
    board: Arc<Board>,
    stop: StopRequest,
    /// What the last outage said, for the prober.
    said: String,
    witness: Witness,
    planted: Option<Arc<Planted>>,
}

impl Shell {
    fn new(setup: SinkSetup, tap: Tap, (to_me, reports): (Sender<Report>, Mailbox<Report>)) -> Shell {
        let start = |emitter| Emitter::start(emitter, to_me.clone(), Arc::clone(&setup.prober), &setup.host);
        let emitter = setup.emitter.map(start);
        Shell {
            machine: setup.machine,
            emitter,
            reports,
            to_me,
            held: BTreeMap::new(),
            prober: setup.prober,
            owner: setup.owner,
            host: setup.host,
            confirmations: setup.confirmations,
            board: setup.board,
            witness: Witness::new(setup.spec, tap, setup.stop.clone()),
            stop: setup.stop,
            said: String::new(),
            planted: setup.planted,
        }
    }

    fn take_reports(&mut self, actions: &mut Vec<Action<Arc<Outputs>>>) {
        for report in self.reports.take() {
            let input = match report {
                Report::Committed { batches } => {
                    self.prober.worked();
                    self.count(&batches);
                    self.witness.confirmed(&batches);
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
                    self.witness.looked_up(&progress);
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
        let (mut all, mut letters) = (0_usize, 0_usize);
        for record in records {
            all = all.saturating_add(1);
            letters = letters.saturating_add(usize::from(record.to == Destination::DeadLetter));
        }
        self.board.emitted.add(all.saturating_sub(letters));
        self.board.dead_lettered.add(letters);
    }

    fn act(&mut self, action: Action<Arc<Outputs>>) {
        match action {
            Action::Emit { batches, aborted } => {
                let batches = match &self.planted {
                    Some(planted) => planted.in_emission(batches),
                    None => batches,
                };
                self.witness.told(&batches);
                self.tell(Command::Emit { batches, aborted });
            }
            Action::Rebuild => self.tell(Command::Rebuild),
            Action::Probe => {
                let to_me = self.to_me.clone();
                self.prober.wait(&self.said, move |answer| {
                    to_me.send(match answer {
                        Answer::Up => Report::Up,
                        Answer::GaveUp(halt) => Report::Halt(halt),
                    });
                });
            }
            Action::AskLedger => {
                let (to_me, answer) = (self.to_me.clone(), (self.owner)());
                self.host.spawn(async move { to_me.send(Report::Owner { mine: answer.await }) });
            }
            Action::Done { batches, sent } => {
                for batch in batches {
                    self.held.remove(&batch);
                    self.witness.closed(batch);
                    if sent {
                        self.confirmations.borrow_mut().push_back(batch);
                    }
                }
            }
            Action::Halt(halt) => self.stop.halt(halt),
        }
    }

    fn tell(&self, command: Command) {
        if !self.emitter.as_ref().is_some_and(|emitter| emitter.tell(command)) {
            self.stop.halt(Halt::new(HaltKind::Internal, "the thread that sends to Kafka has ended"));
        }
    }
}
