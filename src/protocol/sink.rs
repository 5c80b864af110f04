//! Sink: batches that are stored go to Kafka, many in one transaction, each with its number beside it.
//!
//! In:        a batch was stored | a Kafka transaction was committed, aborted, lost, fenced | the broker answers again
//!            | a new producer is ready and the progress topic is read
//! Out:       emit these batches | probe | build a new producer | ask the ledger who owns the job | these batches are done
//! Holds:     stored batches until Kafka has them
//! Order:     per key group by batch number; one transaction at a time
//! Fails:     halt when the ledger says that another instance owns the job, or when Kafka has what was never sent
//! Not here:  no Kafka, no waiting
//!
//! A transaction whose outcome is unknown is not sent again on a guess. The producer is given up; its successor's
//! initialisation decides the open transaction, and the progress topic, read after that, tells which batches Kafka has.
//!
//! Nor is a new producer used on a guess. A newer instance claims the key groups first and takes over every
//! transactional id behind that; a producer that was initialised later than that is good in Kafka's eyes and must not
//! send, for its batches are the newer instance's matter. So between a producer's initialisation and its first
//! transaction the ledger is asked: still mine means that whoever claims later will fence this producer, too.

use crate::model::{BatchNumber, KeyGroup};
use crate::protocol::halt::{Halt, HaltKind};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Bounds of one Kafka transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Records of all its batches; one batch alone may be over it.
    pub records_max: usize,
    /// Bytes of all its batches; one batch alone may be over it.
    pub bytes_max: usize,
}

/// A stored batch and what it sends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Emission<O> {
    /// The key group.
    pub group: KeyGroup,
    /// The batch.
    pub number: BatchNumber,
    /// Records that it sends; 0: nothing, and Kafka never hears of the batch.
    pub records: usize,
    /// Bytes that it sends.
    pub bytes: usize,
    /// The records themselves.
    pub outputs: O,
}

/// Something that happened.
#[derive(Debug)]
pub enum Input<O> {
    /// The gate stored a batch.
    Stored(Emission<O>),
    /// Everything that is there now is in: form a transaction.
    Dispatch,
    /// The transaction that was out is committed.
    Committed,
    /// The transaction that was out was aborted; nothing of it will be seen, and the producer is good.
    Aborted,
    /// The outcome of the transaction that was out is unknown, or the producer is no good any more.
    Lost,
    /// Kafka says that the producer is fenced. Either a newer instance runs, or a transaction outlived its time-out.
    Fenced,
    /// The ledger's answer to [`Action::AskLedger`].
    Owner {
        /// This instance still owns its key groups.
        mine: bool,
    },
    /// The broker answers again.
    Up,
    /// A new producer is initialised, and the progress topic, read after that, says this of the key groups.
    Rebuilt(BTreeMap<KeyGroup, BatchNumber>),
    /// Building the producer met an outage.
    NotRebuilt,
}

/// Something to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Action<O> {
    /// Send these batches and their numbers in one transaction.
    Emit {
        /// In order.
        batches: Arc<Vec<Emission<O>>>,
        /// How many times in a row it was aborted: the wait before it runs grows with it.
        aborted: u32,
    },
    /// Find out when the broker answers again, and say [`Input::Up`].
    Probe,
    /// Build a new producer, initialise it, then read the progress topic, and say [`Input::Rebuilt`]. Nothing is sent
    /// by it before the ledger was asked once more.
    Rebuild,
    /// Ask the ledger whether this instance still owns its key groups, and say [`Input::Owner`].
    AskLedger,
    /// Kafka has these batches, or they had nothing to send: their events are done.
    Done {
        /// Key group and batch.
        batches: Vec<(KeyGroup, BatchNumber)>,
        /// Kafka has them: the gate may delete their outbox rows.
        sent: bool,
    },
    /// Stop everything.
    Halt(Halt),
}

/// What the sink is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum State<O> {
    /// The producer is good and nothing is out.
    Ready { aborted: u32 },
    /// A transaction is out.
    Emitting { batches: Arc<Vec<Emission<O>>>, aborted: u32 },
    /// The producer is gone; these batches are in doubt; the broker is being probed.
    Down { doubt: Vec<(KeyGroup, BatchNumber)> },
    /// A new producer is being built.
    Rebuilding { doubt: Vec<(KeyGroup, BatchNumber)> },
    /// The ledger is being asked who owns the job, before a new producer is built.
    Asking { doubt: Vec<(KeyGroup, BatchNumber)> },
    /// A new producer is built, the progress topic was read, and the ledger is being asked who owns the job.
    Verifying { doubt: Vec<(KeyGroup, BatchNumber)>, progress: BTreeMap<KeyGroup, BatchNumber> },
    /// Over.
    Halted,
}

/// The machine. `O` is what a batch sends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sink<O> {
    /// The last batch that Kafka is known to have.
    emitted: BTreeMap<KeyGroup, BatchNumber>,
    /// Stored and not known to be in Kafka, per key group in order; those in doubt stay in front.
    queue: VecDeque<Emission<O>>,
    state: State<O>,
    limits: Limits,
}

impl<O: Clone> Sink<O> {
    /// A sink with a producer that is ready. `emitted`: the last batch that Kafka has, per key group.
    pub fn new(emitted: BTreeMap<KeyGroup, BatchNumber>, limits: Limits) -> Sink<O> {
        assert!(limits.records_max > 0 && limits.bytes_max > 0, "a transaction needs room for a record");
        Sink { emitted, queue: VecDeque::new(), state: State::Ready { aborted: 0 }, limits }
    }

    /// Batches that are not done.
    pub fn pending(&self) -> usize {
        let out = match &self.state {
            State::Emitting { batches, .. } => batches.len(),
            _ => 0,
        };
        self.queue.len() + out
    }

    /// Whether the sink waits for the broker.
    pub fn holding(&self) -> bool {
        matches!(
            self.state,
            State::Down { .. } | State::Rebuilding { .. } | State::Asking { .. } | State::Verifying { .. }
        )
    }

    /// Takes in what happened; `actions` gets what is to be done, in order.
    pub fn step(&mut self, input: Input<O>, actions: &mut Vec<Action<O>>) {
        match input {
            Input::Stored(emission) => self.stored(emission, actions),
            Input::Dispatch => self.dispatch(actions),
            Input::Committed => self.committed(actions),
            Input::Aborted => self.aborted(actions),
            Input::Lost => {
                let doubt = self.give_up();
                self.state = State::Down { doubt };
                actions.push(Action::Probe);
            }
            Input::Fenced => {
                let doubt = self.give_up();
                self.state = State::Asking { doubt };
                actions.push(Action::AskLedger);
            }
            Input::Owner { mine } => self.owner(mine, actions),
            Input::Up => self.came_up(actions),
            Input::Rebuilt(progress) => {
                let doubt = self.give_up();
                self.state = State::Verifying { doubt, progress };
                actions.push(Action::AskLedger);
            }
            Input::NotRebuilt => {
                let doubt = self.give_up();
                self.state = State::Down { doubt };
                actions.push(Action::Probe);
            }
        }
    }

    fn stored(&mut self, emission: Emission<O>, actions: &mut Vec<Action<O>>) {
        if emission.records == 0 {
            actions.push(Action::Done { batches: vec![(emission.group, emission.number)], sent: false });
            return;
        }
        let last = self.queue.iter().rev().find(|e| e.group == emission.group).map(|e| e.number);
        let last = last.or_else(|| self.emitted.get(&emission.group).copied()).unwrap_or_default();
        assert!(
            last < emission.number,
            "key group {}: batch {} after {last}",
            emission.group,
            emission.number
        );
        self.queue.push_back(emission);
    }

    fn dispatch(&mut self, actions: &mut Vec<Action<O>>) {
        let State::Ready { aborted } = self.state else { return };
        let mut taken = Vec::new();
        let (mut records, mut bytes) = (0, 0);
        while let Some(next) = self.queue.front() {
            let fits = records + next.records <= self.limits.records_max
                && bytes + next.bytes <= self.limits.bytes_max;
            if !taken.is_empty() && !fits {
                break;
            }
            records += next.records;
            bytes += next.bytes;
            taken.extend(self.queue.pop_front());
        }
        if !taken.is_empty() {
            let batches = Arc::new(taken);
            self.state = State::Emitting { batches: Arc::clone(&batches), aborted };
            actions.push(Action::Emit { batches, aborted });
        }
    }

    fn committed(&mut self, actions: &mut Vec<Action<O>>) {
        let State::Emitting { batches, .. } = std::mem::replace(&mut self.state, State::Ready { aborted: 0 })
        else {
            return unasked("a commit");
        };
        let done: Vec<_> = batches.iter().map(|e| (e.group, e.number)).collect();
        self.mark_emitted(&done);
        actions.push(Action::Done { batches: done, sent: true });
        self.dispatch(actions);
    }

    fn aborted(&mut self, actions: &mut Vec<Action<O>>) {
        match std::mem::replace(&mut self.state, State::Halted) {
            State::Emitting { batches, aborted } => {
                let aborted = aborted.saturating_add(1);
                self.state = State::Emitting { batches: Arc::clone(&batches), aborted };
                actions.push(Action::Emit { batches, aborted });
            }
            _ => unasked("an abort"),
        }
    }

    /// Takes what is out back to the front of the queue, in order, and names it as in doubt.
    fn give_up(&mut self) -> Vec<(KeyGroup, BatchNumber)> {
        match std::mem::replace(&mut self.state, State::Halted) {
            State::Emitting { batches, .. } => {
                let doubt = batches.iter().map(|e| (e.group, e.number)).collect();
                for emission in batches.iter().rev() {
                    self.queue.push_front(emission.clone());
                }
                doubt
            }
            State::Down { doubt }
            | State::Rebuilding { doubt }
            | State::Asking { doubt }
            | State::Verifying { doubt, .. } => doubt,
            State::Ready { .. } | State::Halted => Vec::new(),
        }
    }

    fn owner(&mut self, mine: bool, actions: &mut Vec<Action<O>>) {
        match std::mem::replace(&mut self.state, State::Halted) {
            State::Asking { .. } | State::Verifying { .. } if !mine => self.halt(
                actions,
                "this instance has lost its Kafka producer, and the ledger says that a newer instance of this job has \
                 claimed its key groups: this instance stops; what it has stored is sent by the newer one",
            ),
            State::Asking { doubt } => {
                self.state = State::Rebuilding { doubt };
                actions.push(Action::Rebuild);
            }
            State::Verifying { doubt, progress } => self.verified(&doubt, &progress, actions),
            _ => unasked("an owner"),
        }
    }

    fn came_up(&mut self, actions: &mut Vec<Action<O>>) {
        if matches!(self.state, State::Down { .. }) {
            let doubt = self.give_up();
            self.state = State::Rebuilding { doubt };
            actions.push(Action::Rebuild);
        }
    }

    /// The progress topic has the last word on what was in doubt.
    fn verified(
        &mut self,
        doubt: &[(KeyGroup, BatchNumber)],
        progress: &BTreeMap<KeyGroup, BatchNumber>,
        actions: &mut Vec<Action<O>>,
    ) {
        let known = |group: &KeyGroup| progress.get(group).copied().unwrap_or_default();
        let (done, missing): (Vec<_>, Vec<_>) =
            doubt.iter().partition(|(group, number)| *number <= known(group));
        if !done.is_empty() && !missing.is_empty() {
            return self
                .halt(actions, "the progress topic has one part of a Kafka transaction and not the other");
        }
        self.mark_emitted(&done);
        for (group, emitted) in &self.emitted {
            if known(group) != *emitted {
                let found = known(group);
                let text = format!(
                    "the progress topic says batch {found} for key group {group}, and this instance knows that Kafka \
                     has {emitted}: somebody else writes to it, or it was emptied"
                );
                return self.halt(actions, &text);
            }
        }
        self.queue.retain(|e| !done.contains(&(e.group, e.number)));
        self.state = State::Ready { aborted: 0 };
        if !done.is_empty() {
            actions.push(Action::Done { batches: done, sent: true });
        }
        self.dispatch(actions);
    }

    fn mark_emitted(&mut self, batches: &[(KeyGroup, BatchNumber)]) {
        for (group, number) in batches {
            let last = self.emitted.entry(*group).or_default();
            assert!(*last < *number, "key group {group}: batch {number} was emitted after {last}");
            *last = *number;
        }
    }

    fn halt(&mut self, actions: &mut Vec<Action<O>>, text: &str) {
        self.state = State::Halted;
        actions.push(Action::Halt(Halt::new(HaltKind::Fenced, text)));
    }
}

#[allow(clippy::panic, reason = "an answer to a question that was not asked: going on would send twice")]
fn unasked(what: &str) {
    panic!("{what} was reported that was not asked for")
}

mod invariants;

#[cfg(test)]
mod tests;
