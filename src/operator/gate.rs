//! Gate: takes each key group's events through one database transaction and holds their epoch open until it is durable.
//!
//! In:        bundle of events @ epoch, exchanged by key group; ticket @ epoch: parked events of a key group are to be tried
//! Out:       stored batch @ the oldest epoch of its events, or of its ticket; for the audit events that an earlier run has
//!            stored
//! Holds:     one capability per epoch that has an event queued or out, or a ticket
//! Order:     per key group first in, first out; key groups are independent
//! Fails:     outage -> hold; contention -> again; what the database will never take -> the job's rule
//! Not here:  no SQL (database), no decisions (protocol), no documents (outputs, xml)

mod lane;

mod attempt;
mod plan;
mod steps;

mod cache;
mod looked;
mod shown;
mod values;

mod aside;
mod retry;

mod finish;
mod locked;
mod outbox;
mod outputs;

mod trial;
pub use trial::{Trial, Tried, try_event};

pub use outbox::{BadOutbox, Damaged, is_of_retry};
pub use outputs::{Audited, OutputSetup, Outputs};

use super::account::{Accounts, Tally, Tap, Way};
use super::bundle::{Bundle, route};
use super::exchange::key_id_of;
use super::guard::Care;
use super::host::Host;
use super::mailbox::{Mailbox, Sender, mailbox};
use super::prober::{Answer, Prober};
use super::stop::StopRequest;
use crate::database::Database;
use crate::job::{JobSpec, SetPlan};
use crate::kafka::ReadRecord;
use crate::model::{BatchNumber, Coordinates, Epoch, Event, KeyGroup, KeyId, Place};
use crate::protocol::gate::{Action, Again, Claimed, Gate, Input, Item, Limits, Transaction};
use crate::protocol::halt::{Halt, HaltKind};
use crate::protocol::sink::Emission;
use crate::status::Board;
use lane::{Command, Lane, Report};
use locked::Locked;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::Capability;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use tokio::sync::Notify;

/// A batch on its way to the sink.
pub type StoredBatch = Emission<Arc<Outputs>>;

/// What Kafka has confirmed, from the sink to the gate of the same worker: they own the same key groups.
pub type Confirmations = Rc<RefCell<VecDeque<(KeyGroup, BatchNumber)>>>;

/// Reads an event of this index anew from a record that was parked; none: it has none of this index.
pub type ReadAgain = Arc<dyn Fn(ReadRecord, u32) -> Option<Event> + Send + Sync>;

/// What the gate needs.
pub struct GateSetup {
    /// The job.
    pub spec: Arc<JobSpec>,
    /// Which of its steps run for many events at once.
    pub plan: Arc<SetPlan>,
    /// Where its lanes connect.
    pub database: Arc<dyn Database>,
    /// The key groups that this worker has claimed.
    pub claimed: Vec<Claimed>,
    /// Database connections of this worker.
    pub lanes: usize,
    /// Makes the outputs of a batch.
    pub outputs: Arc<OutputSetup>,
    /// For events that were parked.
    pub read_again: ReadAgain,
    /// Behind an unclean end: for the making of documents.
    pub care: Option<Arc<Care>>,
    /// Keys that may be parked in this worker's key groups.
    pub parked_max: usize,
    /// Told when a pass over parked events is over: marks are looked for at once.
    pub passed: Arc<Notify>,
    /// The database's prober of this process.
    pub prober: Arc<Prober>,
    /// Where lanes run.
    pub host: Host,
    /// From the sink.
    pub confirmations: Confirmations,
    /// Where counts go.
    pub board: Arc<Board>,
    /// For a halt.
    pub stop: StopRequest,
}

/// An event and its epoch, which its capability keeps open.
#[derive(Clone, Debug)]
pub struct Queued {
    epoch: Epoch,
    event: Event,
    weight_bytes: usize,
}

impl Item for Queued {
    fn at(&self) -> Coordinates {
        self.event.at
    }
    fn place_behind(&self) -> Place {
        Place::behind(self.event.at, self.event.last_of_record)
    }
    fn group(&self) -> KeyGroup {
        self.event.key_group
    }
    fn key(&self) -> Option<KeyId> {
        aside::key_of(&self.event).map(key_id_of)
    }
    fn weight_bytes(&self) -> usize {
        self.weight_bytes
    }
}

/// Bytes of the events of one transaction: their outputs must fit into one packet of any server in the outbox.
const TRANSACTION_BYTES_MAX: usize = 4 << 20;

/// Beside a transaction that is soon through, so many events get one of their own; fewer wait for it.
const BESIDE_MIN: usize = 64;

/// What the gate gives.
pub struct Stored<'scope> {
    /// Stored batches.
    pub batches: StreamVec<'scope, Epoch, StoredBatch>,
    /// For the audit: events that go no further, since an earlier run has stored them.
    pub accounts: Accounts<'scope>,
}

/// Adds the operator.
pub fn gate<'scope>(
    bundles: StreamVec<'scope, Epoch, Bundle>,
    tickets: StreamVec<'scope, Epoch, KeyGroup>,
    setup: GateSetup,
) -> Stored<'scope> {
    let scope = bundles.scope();
    let mut builder = OperatorBuilder::new("3-gate".to_owned(), scope);
    let wake = scope.worker().sync_activator_for(builder.operator_info().address.to_vec());
    let mut input = builder.new_input(bundles, Exchange::new(route));
    let mut tickets = builder.new_input(tickets, Pipeline);
    let (output, batches) = builder.new_output::<Vec<StoredBatch>>();
    let mut output = OutputBuilder::<_, CapacityContainerBuilder<Vec<StoredBatch>>>::from(output);
    let (mut tap, accounts) = Tap::new(&mut builder, setup.spec.audit);
    let mut shell = {
        let mailbox = mailbox(setup.host.wake(wake));
        Shell::new(setup, mailbox)
    };
    builder.build(move |capabilities| {
        drop(capabilities);
        move |_frontiers| {
            let mut actions = Vec::new();
            // What may be skipped has come in this activation, so its capabilities are these.
            let mut oldest: Option<Capability<Epoch>> = None;
            shell.take_confirmations(&mut actions);
            // Before the reports: one that ends a pass ends it for all tickets that are here, and would for a later one's, too.
            tickets.for_each(|capability, data| {
                if let Some((epoch, capability)) = capability.least().copied().zip(capability.retain_least(0))
                {
                    for group in data.drain(..) {
                        shell.epochs.open(epoch, &capability);
                        shell.tickets.entry(group).or_default().push(epoch);
                        shell.machine.step(Input::Retry(group), &mut actions);
                    }
                }
            });
            shell.take_reports(&mut actions);
            // One container at a time: grouping by stamp sorts unstably, and would mix up the containers of an epoch.
            input.for_each(|capability, data| {
                let epoch = capability.least().copied();
                let is_older =
                    |oldest: &Capability<Epoch>| capability.least().is_some_and(|e| e < oldest.time());
                if tap.is_on() && oldest.as_ref().is_none_or(is_older) {
                    oldest = capability.retain_least(1);
                }
                if let Some((epoch, capability)) = epoch.zip(capability.retain_least(0)) {
                    for event in data.drain(..).flat_map(Bundle::into_events) {
                        shell.epochs.open(epoch, &capability);
                        let weight_bytes = shell.outputs.weight_bytes(&event);
                        let queued = Queued { epoch, event, weight_bytes };
                        shell.machine.step(Input::Arrived(queued), &mut actions);
                    }
                }
            });
            shell.machine.step(Input::Dispatch, &mut actions);
            let mut output = output.activate();
            for action in actions {
                if let Some((epoch, batches, events)) = shell.act(action) {
                    if let Some(capability) = shell.epochs.capability(epoch) {
                        output.session(capability).give_iterator(batches.into_iter());
                    }
                    events.into_iter().for_each(|epoch| shell.epochs.close_one(epoch));
                }
            }
            if let Some(capability) = &oldest {
                tap.give(capability, &mut shell.skipped, Way::Settled);
            }
        }
    });
    Stored { batches, accounts }
}

/// Open epochs: a capability each, as long as any of its events is queued or out.
#[derive(Default)]
struct Epochs(BTreeMap<Epoch, (Capability<Epoch>, usize)>);

impl Epochs {
    fn open(&mut self, epoch: Epoch, capability: &Capability<Epoch>) {
        self.0.entry(epoch).or_insert_with(|| (capability.clone(), 0)).1 += 1;
    }

    fn capability(&self, epoch: Epoch) -> Option<&Capability<Epoch>> {
        self.0.get(&epoch).map(|(capability, _)| capability)
    }

    fn close_one(&mut self, epoch: Epoch) {
        if let Some((_, open)) = self.0.get_mut(&epoch) {
            *open -= 1;
            if *open == 0 {
                self.0.remove(&epoch);
            }
        }
    }
}

/// Carries the machine's actions out.
struct Shell {
    machine: Gate<Queued, Outputs>,
    lanes: Vec<Lane>,
    reports: Mailbox<Report>,
    to_me: Sender<Report>,
    epochs: Epochs,
    /// Epochs of the tickets whose pass is not over.
    tickets: BTreeMap<KeyGroup, Vec<Epoch>>,
    locked: Locked,
    passed: Arc<Notify>,
    confirmations: Confirmations,
    prober: Arc<Prober>,
    board: Arc<Board>,
    stop: StopRequest,
    /// What the last outage said, for the prober.
    said: String,
    spec: Arc<JobSpec>,
    outputs: Arc<OutputSetup>,
    /// For the audit.
    skipped: Tally,
}

/// Batches for the sink, the epoch to send them at, and the epochs of the events that are now its matter.
type HandOver = (Epoch, Vec<StoredBatch>, Vec<Epoch>);

impl Shell {
    fn new(setup: GateSetup, (to_me, reports): (Sender<Report>, Mailbox<Report>)) -> Shell {
        let events_max = usize::try_from(setup.spec.database.batch_events).unwrap_or(1);
        let limits = Limits {
            events_max,
            bytes_max: TRANSACTION_BYTES_MAX,
            beside_min: BESIDE_MIN,
            parked_max: setup.parked_max,
        };
        let locked = Locked::new(&setup.spec, &setup.board);
        let work = lane::Work::new(&setup, to_me.clone());
        Shell {
            machine: Gate::new(setup.claimed, setup.lanes, limits),
            lanes: (0..setup.lanes).map(|lane| Lane::start(lane, &work, &setup.host)).collect(),
            reports,
            to_me,
            epochs: Epochs::default(),
            tickets: BTreeMap::new(),
            locked,
            passed: setup.passed,
            confirmations: setup.confirmations,
            prober: setup.prober,
            board: setup.board,
            stop: setup.stop,
            said: String::new(),
            spec: setup.spec,
            outputs: setup.outputs,
            skipped: Tally::default(),
        }
    }

    fn take_confirmations(&mut self, actions: &mut Vec<Action<Queued, Outputs>>) {
        let confirmed = std::mem::take(&mut *self.confirmations.borrow_mut());
        for (group, batch) in confirmed {
            self.machine.step(Input::Confirmed { group, batch }, actions);
        }
    }

    fn take_reports(&mut self, actions: &mut Vec<Action<Queued, Outputs>>) {
        for report in self.reports.take() {
            let input = match report {
                Report::Stored { lane, outcomes } => {
                    self.board.transactions.add(1);
                    self.prober.worked();
                    self.locked.through(lane);
                    Input::Stored { lane, outcomes }
                }
                Report::Contended { lane, said } => {
                    if let Some(halt) = self.locked.again(lane, &said) {
                        self.stop.halt(halt);
                        continue;
                    }
                    Input::Undone { lane, again: Again::Now }
                }
                Report::Slow { lane } => Input::Slow { lane },
                Report::TooMuch { lane } => Input::Undone { lane, again: Again::Smaller },
                Report::Out { lane, said } => {
                    self.said = said;
                    Input::Undone { lane, again: Again::WhenUp }
                }
                Report::InDoubt { lane, outcomes, said } => {
                    self.said = said;
                    Input::InDoubt { lane, outcomes }
                }
                Report::Settled { lane, rows } => Input::Settled { lane, rows },
                Report::Unsettled { lane, said } => {
                    self.said = said;
                    Input::Unsettled { lane }
                }
                Report::Fenced { lane } => Input::Fenced { lane },
                Report::Up => Input::Up,
                Report::Halt(halt) => {
                    self.stop.halt(halt);
                    continue;
                }
            };
            self.machine.step(input, actions);
        }
    }

    fn act(&mut self, action: Action<Queued, Outputs>) -> Option<HandOver> {
        match action {
            Action::Store { lane, transaction, contended } => {
                self.tell(lane, Command::Store { transaction, contended });
            }
            Action::Settle { lane, groups } => self.tell(lane, Command::Settle { groups }),
            Action::Probe => {
                let to_me = self.to_me.clone();
                self.prober.wait(&self.said, move |answer| {
                    to_me.send(match answer {
                        Answer::Up => Report::Up,
                        Answer::GaveUp(halt) => Report::Halt(halt),
                    });
                });
            }
            Action::Stored { transaction, outputs } => return self.hand_over(&transaction, outputs),
            Action::Skip(queued) => {
                self.board.skipped.add(1);
                if self.spec.audit {
                    self.skipped.add(queued.event.at, queued.epoch);
                }
                self.epochs.close_one(queued.epoch);
            }
            Action::Passed { group, more: _ } => {
                self.passed.notify_one();
                let tickets = self.tickets.remove(&group).unwrap_or_default();
                tickets.into_iter().for_each(|epoch| self.epochs.close_one(epoch));
            }
            Action::Halt(halt) => self.stop.halt(halt),
        }
        None
    }

    fn tell(&self, lane: usize, command: Command) {
        if !self.lanes.get(lane).is_some_and(|lane| lane.tell(command)) {
            self.stop
                .halt(Halt::new(HaltKind::Internal, format!("the task of database lane {lane} has ended")));
        }
    }

    fn hand_over(&self, transaction: &Transaction<Queued>, outputs: Vec<Outputs>) -> Option<HandOver> {
        let events: Vec<Epoch> =
            transaction.batches.iter().flat_map(|batch| batch.events.iter().map(|e| e.epoch)).collect();
        self.board.stored.add(events.len());
        let tickets = transaction.batches.iter().filter(|batch| batch.is_retry);
        let tickets: Vec<Epoch> =
            tickets.filter_map(|batch| self.tickets.get(&batch.group)).flatten().copied().collect();
        let batches = transaction.batches.iter().zip(outputs);
        let batches = batches
            .map(|(batch, mut outputs)| {
                if self.spec.audit {
                    let events = batch.events.iter().zip(&outputs.sends);
                    outputs.audited = events.map(|(queued, sends)| audited(queued, *sends)).collect();
                }
                Emission {
                    group: batch.group,
                    number: batch.number,
                    records: outputs.records.len(),
                    bytes: outputs.bytes,
                    outputs: Arc::new(outputs),
                }
            })
            .collect();
        // The sink keeps this epoch open until Kafka has all of the transaction; the later ones close behind it.
        let Some(oldest) = events.iter().chain(&tickets).copied().min() else {
            let text = "a batch was stored that has no epoch: it cannot be sent before the next start";
            self.stop.halt(Halt::new(HaltKind::Internal, text));
            return None;
        };
        Some((oldest, batches, events))
    }
}

fn audited(queued: &Queued, sends: u32) -> Audited {
    Audited { at: queued.event.at, epoch: queued.epoch, sends }
}

#[cfg(test)]
mod tests;
