//! Gate: each key group's events in numbered batches through the database, a batch at a time per key group.
//!
//! In:        an event arrived | somebody wants parked events tried | a transaction was stored, failed, is in doubt, was looked
//!            up | the database answers again
//! Out:       run this transaction | look these positions up | probe | these batches are stored | this event was stored before
//! Holds:     per key group a queue, at most one batch out and the keys that are parked; per lane (database connection) at
//!            most one transaction
//! Order:     per key group first in, first out; key groups are independent; a transaction that failed is run again, its
//!            events in the same order, in smaller ones where others were in the way
//! Fails:     halt when the ledger says that another instance owns a key group, that half a transaction was stored, or when
//!            more keys are parked than may be
//! Not here:  no SQL, no waiting: who runs a transaction and how long a retry waits is the operator's business. Nor what is
//!            wrong with an event: whoever runs the transaction finds that out
//!
//! A parked key is one of which an event waits in the ledger. Every later event of it is told to be parked behind that one
//! ([`Batch::waiting`]), so that the key's order is kept whenever the first can be stored. Trying them again is a batch like
//! any other, with its number and no events of its own ([`Batch::is_retry`]): whoever runs it takes them from the ledger. As
//! long as such a pass goes on, the group's queue waits, so that it comes to an end also under load; and for so many batches at
//! most, so that the queue comes to its turn.
//!
//! What makes a batch happen once: its number. The ledger takes batch n + 1 of a key group only on top of batch n. So
//! a transaction whose COMMIT went unanswered is not run again but looked up: the position row has either its number
//! (it happened) or the one before (it did not).

mod group;
mod invariants;
mod lane;
mod pressure;
mod words;

pub use words::{Action, Again, Batch, Changes, Claimed, Input, Item, Limits, Outcome, Transaction};

use crate::model::{BatchNumber, Incarnation, KeyGroup};
use crate::protocol::halt::{Halt, HaltKind};
use group::Group;
use lane::Lane;
use pressure::Pressure;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The machine. `E` is an event, `O` is what a batch gives to the sink.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gate<E, O> {
    groups: BTreeMap<KeyGroup, Group<E>>,
    /// Key groups with queued events and no batch out, in the order in which they became so.
    ready: VecDeque<KeyGroup>,
    lanes: Vec<Lane<E, O>>,
    limits: Limits,
    /// How much smaller transactions are at the moment.
    pressure: Pressure,
    up: bool,
}

impl<E: Item + Clone, O> Gate<E, O> {
    /// A gate for the key groups that were claimed, over this many lanes.
    pub fn new(claimed: Vec<Claimed>, lanes: usize, limits: Limits) -> Gate<E, O> {
        assert!(lanes > 0 && limits.events_max > 0, "a gate needs a lane and room for an event");
        Gate {
            groups: claimed.into_iter().map(|c| (c.group, Group::new(c))).collect(),
            ready: VecDeque::new(),
            lanes: (0..lanes).map(|_| Lane::Idle).collect(),
            limits,
            pressure: Pressure::default(),
            up: true,
        }
    }

    /// Takes in what happened; `actions` gets what is to be done, in order.
    pub fn step(&mut self, input: Input<E, O>, actions: &mut Vec<Action<E, O>>) {
        match input {
            Input::Arrived(event) => self.arrived(event, actions),
            Input::Retry(group) => self.wants_retry(group, actions),
            Input::Dispatch => self.dispatch(actions),
            Input::Stored { lane, outcomes } => {
                let transaction = self.lane(lane).take_storing();
                self.stored(transaction, outcomes, actions);
            }
            Input::Slow { lane } => {
                self.lane(lane).slows();
                self.dispatch(actions);
            }
            Input::Undone { lane, again } => self.undone(lane, again, actions),
            Input::InDoubt { lane, outcomes } => {
                let transaction = self.lane(lane).take_storing();
                *self.lane(lane) = Lane::Doubtful { transaction, outcomes };
                self.went_down(actions);
            }
            Input::Settled { lane, rows } => self.settled(lane, &rows, actions),
            Input::Unsettled { lane } => {
                let (transaction, outcomes) = self.lane(lane).take_settling();
                *self.lane(lane) = Lane::Doubtful { transaction, outcomes };
                self.went_down(actions);
            }
            Input::Up => self.came_up(actions),
            Input::Confirmed { group, batch } => {
                if let Some(group) = self.groups.get_mut(&group) {
                    group.confirm(batch);
                }
            }
            Input::Fenced { lane } => {
                let transaction = self.lane(lane).take_storing();
                let groups = transaction.batches.iter().map(|b| b.group);
                actions.push(Action::Halt(not_mine(groups)));
            }
        }
    }

    /// Events that are queued or out.
    pub fn pending(&self) -> usize {
        let out: usize = self.lanes.iter().map(Lane::events).sum();
        self.groups.values().map(Group::queued).sum::<usize>() + out
    }

    /// Whether the gate waits for the database.
    pub fn holding(&self) -> bool {
        !self.up
    }

    fn lane(&mut self, lane: usize) -> &mut Lane<E, O> {
        let lanes = self.lanes.len();
        match self.lanes.get_mut(lane) {
            Some(lane) => lane,
            None => unreachable_lane(lane, lanes),
        }
    }

    fn arrived(&mut self, event: E, actions: &mut Vec<Action<E, O>>) {
        let group = event.group();
        match self.groups.get_mut(&group) {
            Some(state) => {
                if let Some(before) = state.enqueue(event) {
                    actions.push(Action::Skip(before));
                } else if state.became_ready() {
                    self.ready.push_back(group);
                }
            }
            None => actions.push(Action::Halt(Halt::new(
                HaltKind::Internal,
                format!("key group {group} came to a worker that does not own it"),
            ))),
        }
    }

    fn wants_retry(&mut self, group: KeyGroup, actions: &mut Vec<Action<E, O>>) {
        match self.groups.get_mut(&group) {
            Some(state) => {
                state.begin_pass();
                if state.became_ready() {
                    self.ready.push_back(group);
                }
            }
            None => actions.push(Action::Passed { group, more: false }),
        }
    }

    fn dispatch(&mut self, actions: &mut Vec<Action<E, O>>) {
        while self.up && !self.ready.is_empty() && self.is_worth_a_lane() {
            let Some(lane) = self.lanes.iter().position(|lane| matches!(lane, Lane::Idle)) else { return };
            let transaction = Arc::new(self.form());
            *self.lane(lane) = Lane::storing(&transaction, 0);
            actions.push(Action::Store { lane, transaction, contended: 0 });
        }
    }

    /// Whether what is ready goes into the database now, beside what is there. A transaction costs as much by itself as some
    /// dozens of events cost in it: few events wait until one that is soon through is through, and go together with those that
    /// come until then. Nothing waits for a transaction that takes long.
    fn is_worth_a_lane(&self) -> bool {
        if !self.lanes.iter().any(Lane::is_soon_through) {
            return true;
        }
        let enough = self.limits.beside_min.min(self.pressure.applied_to(self.limits).events_max);
        let mut events = 0_usize;
        for state in self.ready.iter().filter_map(|group| self.groups.get(group)) {
            events = events.saturating_add(state.queued());
            if events >= enough || state.is_in_pass() {
                return true;
            }
        }
        false
    }

    /// Takes from the key groups that are ready, oldest first, until the transaction is full. A retry goes alone.
    fn form(&mut self) -> Transaction<E> {
        let mut batches = Vec::new();
        let (mut events, mut bytes) = (0, 0);
        let limits = self.pressure.applied_to(self.limits);
        while events < limits.events_max && (bytes < limits.bytes_max || events == 0) {
            let Some(group) = self.ready.pop_front() else { break };
            let Some(state) = self.groups.get_mut(&group) else { continue };
            if state.is_in_pass() {
                if batches.is_empty() {
                    batches.push(state.form_retry());
                } else {
                    self.ready.push_front(group);
                }
                break;
            }
            let room = Limits {
                events_max: limits.events_max - events,
                bytes_max: limits.bytes_max.saturating_sub(bytes),
                ..limits
            };
            let batch = state.form(room);
            events += batch.events.len();
            bytes += batch.events.iter().map(Item::weight_bytes).sum::<usize>();
            batches.push(batch);
        }
        Transaction { batches }
    }

    fn stored(
        &mut self,
        transaction: Arc<Transaction<E>>,
        outcomes: Vec<Outcome<O>>,
        actions: &mut Vec<Action<E, O>>,
    ) {
        assert_eq!(transaction.batches.len(), outcomes.len(), "one outcome per batch");
        self.pressure.eases();
        let mut outputs = Vec::with_capacity(outcomes.len());
        let (mut passed, mut newly_parked) = (Vec::new(), false);
        for (batch, outcome) in transaction.batches.iter().zip(outcomes) {
            outputs.push(outcome.outputs);
            if let Some(state) = self.groups.get_mut(&batch.group) {
                newly_parked |= !outcome.changes.parked.is_empty();
                if state.stored(batch, &outcome.changes) {
                    passed.push(Action::Passed { group: batch.group, more: outcome.changes.more });
                }
                if state.became_ready() {
                    self.ready.push_back(batch.group);
                }
            }
        }
        actions.push(Action::Stored { transaction, outputs });
        actions.append(&mut passed);
        let (parked, max) = (self.parked(), self.limits.parked_max);
        // What is tried again makes them fewer, and must not be halted for those that are left.
        if newly_parked && parked > max {
            actions.push(Action::Halt(too_many_parked(parked, max)));
        }
        self.dispatch(actions);
    }

    /// Keys that are parked.
    pub fn parked(&self) -> usize {
        self.groups.values().map(Group::parked).sum()
    }

    fn undone(&mut self, lane: usize, again: Again, actions: &mut Vec<Action<E, O>>) {
        let (transaction, contended) = self.lane(lane).take_storing_with_count();
        match again {
            Again::Now if self.up => self.again(lane, transaction, contended, actions),
            Again::Smaller if self.up => self.take_apart(lane, &transaction, actions),
            Again::Now | Again::Smaller => *self.lane(lane) = Lane::Waiting { transaction },
            Again::WhenUp => {
                *self.lane(lane) = Lane::Waiting { transaction };
                self.went_down(actions);
            }
        }
    }

    /// Somebody else was in the way. The second time in a row the transaction is taken apart, and smaller ones are formed of its
    /// events: fewer locks, held for less long. One that cannot be smaller goes on trying as it is.
    fn again(
        &mut self,
        lane: usize,
        transaction: Arc<Transaction<E>>,
        contended: u32,
        actions: &mut Vec<Action<E, O>>,
    ) {
        let contended = contended.saturating_add(1);
        let events: usize = transaction.batches.iter().map(|batch| batch.events.len()).sum();
        if contended < 2 || events < 2 {
            *self.lane(lane) = Lane::storing(&transaction, contended);
            actions.push(Action::Store { lane, transaction, contended });
            return;
        }
        self.take_apart(lane, &transaction, actions);
    }

    /// Puts a transaction's events back in front of their queues, and forms smaller ones of them.
    fn take_apart(&mut self, lane: usize, transaction: &Transaction<E>, actions: &mut Vec<Action<E, O>>) {
        let events: usize = transaction.batches.iter().map(|batch| batch.events.len()).sum();
        if events < 2 {
            let text = format!("lane {lane}: a transaction of {events} events cannot be made smaller");
            return actions.push(Action::Halt(Halt::new(HaltKind::Internal, text)));
        }
        self.pressure.rises(events, self.limits);
        for batch in transaction.batches.iter().rev() {
            if let Some(state) = self.groups.get_mut(&batch.group) {
                state.take_back(batch);
                if state.became_ready() {
                    self.ready.push_front(batch.group);
                }
            }
        }
        self.dispatch(actions);
    }

    fn settled(
        &mut self,
        lane: usize,
        rows: &[(KeyGroup, Incarnation, BatchNumber)],
        actions: &mut Vec<Action<E, O>>,
    ) {
        let (transaction, outcomes) = self.lane(lane).take_settling();
        match lane::verdict(&transaction, rows) {
            lane::Verdict::Stored => self.stored(transaction, outcomes, actions),
            lane::Verdict::NotStored if self.up => {
                *self.lane(lane) = Lane::storing(&transaction, 0);
                actions.push(Action::Store { lane, transaction, contended: 0 });
            }
            lane::Verdict::NotStored => *self.lane(lane) = Lane::Waiting { transaction },
            lane::Verdict::NotMine => {
                actions.push(Action::Halt(not_mine(transaction.batches.iter().map(|b| b.group))));
            }
            lane::Verdict::Torn => actions.push(Action::Halt(Halt::new(
                HaltKind::Internal,
                "the database stored one part of a transaction and not the other: its tables must all be \
                 transactional (InnoDB)",
            ))),
        }
    }

    fn went_down(&mut self, actions: &mut Vec<Action<E, O>>) {
        if self.up {
            self.up = false;
            actions.push(Action::Probe);
        }
    }

    fn came_up(&mut self, actions: &mut Vec<Action<E, O>>) {
        self.up = true;
        for (index, lane) in self.lanes.iter_mut().enumerate() {
            if let Some(action) = lane.resume(index) {
                actions.push(action);
            }
        }
        self.dispatch(actions);
    }
}

fn too_many_parked(parked: usize, max: usize) -> Halt {
    let text = format!(
        "{parked} ordering keys are parked in this worker, and its share of limits.parked_keys is {max}: all of them are kept. \
         See `tidegate parked list JOB` for the reasons; retry or drop them, or raise the limit (about 100 bytes of memory \
         a key), and start again"
    );
    Halt::new(HaltKind::Reject, text).because("parked keys", None)
}

fn not_mine(groups: impl Iterator<Item = KeyGroup>) -> Halt {
    let list: Vec<String> = groups.map(|g| g.to_string()).collect();
    Halt::new(
        HaltKind::Fenced,
        format!(
            "the ledger did not take the positions of key groups {}: a newer instance of this job has claimed them; \
             this instance stops and has stored nothing of them since",
            list.join(", ")
        ),
    )
}

#[allow(clippy::panic, reason = "a lane number that was never handed out: going on would lose a transaction")]
fn unreachable_lane(lane: usize, lanes: usize) -> ! {
    panic!("lane {lane} of {lanes} does not exist")
}

#[cfg(test)]
mod tests;
