//! One key group: its queue, its numbers, its parked keys, and whether a batch of it is out.

use super::{Batch, Changes, Claimed, Item, Limits};
use crate::model::{BatchNumber, Incarnation, KeyGroup, KeyId, Places};
use std::collections::{BTreeSet, VecDeque};

/// Batches of a pass over parked events, before the queue has a turn: as long as it takes to look for marks again. Under full
/// load the queue parks a few batches of a key's events in that time, and the next pass handles this many: it comes to its end.
const PASS_BATCHES: u32 = 20;

/// The gate's state of one key group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Group<E> {
    group: KeyGroup,
    incarnation: Incarnation,
    /// The last batch that is known to be stored.
    batch: BatchNumber,
    /// How far the stored batches went.
    places: Places,
    queue: VecDeque<E>,
    /// A batch is in a transaction.
    out: bool,
    /// Listed among the ready ones.
    ready: bool,
    /// Kafka has the batches up to this one.
    confirmed: BatchNumber,
    /// The outbox rows up to this one are deleted.
    cleared: BatchNumber,
    /// Keys of which an event is parked.
    parked: BTreeSet<KeyId>,
    /// Somebody wants parked events tried: so many batches were, so far.
    pass: Option<u32>,
}

impl<E: Item> Group<E> {
    pub(super) fn new(claimed: Claimed) -> Group<E> {
        Group {
            group: claimed.group,
            incarnation: claimed.incarnation,
            batch: claimed.batch,
            places: claimed.places,
            queue: VecDeque::new(),
            out: false,
            ready: false,
            confirmed: claimed.emitted,
            // Rows that Kafka confirmed just before the last run ended may still be there.
            cleared: BatchNumber(0),
            parked: claimed.parked,
            pass: None,
        }
    }

    pub(super) fn queued(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn parked(&self) -> usize {
        self.parked.len()
    }

    pub(super) fn is_in_pass(&self) -> bool {
        self.pass.is_some()
    }

    /// Parked events are to be tried. A pass that is on finds these, too, or the next one does.
    pub(super) fn begin_pass(&mut self) {
        self.pass.get_or_insert(0);
    }

    /// Whether there is anything to form a batch of.
    pub(super) fn has_work(&self) -> bool {
        self.is_in_pass() || !self.queue.is_empty()
    }

    pub(super) fn is_out(&self) -> bool {
        self.out
    }

    /// Whether this batch follows the last one stored, under this claim.
    pub(super) fn is_next(&self, batch: &Batch<E>) -> bool {
        batch.number == self.batch.next() && batch.incarnation == self.incarnation
    }

    /// What does not hold of this key group by itself.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        if self.confirmed > self.batch {
            return Err("Kafka has a batch that is not stored");
        }
        if self.cleared > self.confirmed {
            return Err("outbox rows are deleted that Kafka does not have");
        }
        if self.queue.iter().any(|event| self.places.covers(event.at())) {
            return Err("an event is queued that is stored");
        }
        Ok(())
    }

    /// Queues an event, or gives it back when an earlier run has stored it.
    pub(super) fn enqueue(&mut self, event: E) -> Option<E> {
        if self.places.covers(event.at()) {
            return Some(event);
        }
        self.queue.push_back(event);
        None
    }

    /// Whether it now has work and was not listed as ready; lists it.
    pub(super) fn became_ready(&mut self) -> bool {
        let now = !self.out && !self.ready && self.has_work();
        self.ready |= now;
        now
    }

    /// Takes the next batch off the queue: at least one event, and as many as there is room for.
    pub(super) fn form(&mut self, room: Limits) -> Batch<E> {
        assert!(
            !self.out && !self.queue.is_empty(),
            "key group {}: a batch is out, or nothing is queued",
            self.group
        );
        self.out = true;
        self.ready = false;
        let mut places = self.places.clone();
        let mut events = Vec::new();
        let mut bytes = 0;
        while events.len() < room.events_max && (bytes < room.bytes_max || events.is_empty()) {
            let Some(event) = self.queue.pop_front() else { break };
            bytes += event.weight_bytes();
            places.advance(event.at().at, event.place_behind());
            events.push(event);
        }
        let is_parked = |event: &E| event.key().is_some_and(|key| self.parked.contains(&key));
        // A key costs a hash, and mostly nothing is parked.
        let waiting = if self.parked.is_empty() {
            Vec::new()
        } else {
            (0..).zip(&events).filter(|(_, event)| is_parked(event)).map(|(index, _)| index).collect()
        };
        Batch { events, places, waiting, ..self.empty_batch() }
    }

    /// The next batch of a pass: its events are in the ledger.
    pub(super) fn form_retry(&mut self) -> Batch<E> {
        assert!(!self.out && self.pass.is_some(), "key group {}: no pass, or a batch is out", self.group);
        self.out = true;
        self.ready = false;
        Batch { is_retry: true, ..self.empty_batch() }
    }

    fn empty_batch(&self) -> Batch<E> {
        Batch {
            group: self.group,
            number: self.batch.next(),
            incarnation: self.incarnation,
            events: Vec::new(),
            waiting: Vec::new(),
            is_retry: false,
            places: self.places.clone(),
            confirmed: (self.confirmed > self.cleared).then_some(self.confirmed),
            cleared: self.cleared,
        }
    }

    /// The batch that was out is undone, and its events are in front of the queue again.
    pub(super) fn take_back(&mut self, batch: &Batch<E>)
    where
        E: Clone,
    {
        assert!(self.out, "key group {}: a batch is taken back that was not out", self.group);
        self.out = false;
        batch.events.iter().rev().for_each(|event| self.queue.push_front(event.clone()));
    }

    /// The batch that was out is stored. Whether a pass is over by that.
    pub(super) fn stored(&mut self, batch: &Batch<E>, changes: &Changes) -> bool {
        assert!(self.out, "key group {}: a batch was stored that was not out", self.group);
        assert_eq!(batch.number, self.batch.next(), "key group {}: batch numbers rise by one", self.group);
        self.out = false;
        self.batch = batch.number;
        self.places = batch.places.clone();
        self.cleared = self.cleared.max(batch.confirmed.unwrap_or_default());
        for key in &changes.freed {
            assert!(self.parked.remove(key), "key group {}: a key was freed that was not parked", self.group);
        }
        self.parked.extend(&changes.parked);
        batch.is_retry && self.go_on_with_pass(changes.more)
    }

    /// One batch more of a pass is done: whether that was the last.
    fn go_on_with_pass(&mut self, more: bool) -> bool {
        let batches = self.pass.map_or(PASS_BATCHES, |done| done.saturating_add(1));
        self.pass = (more && batches < PASS_BATCHES).then_some(batches);
        self.pass.is_none()
    }

    /// Kafka has this batch.
    pub(super) fn confirm(&mut self, batch: BatchNumber) {
        assert!(
            batch <= self.batch,
            "key group {}: Kafka cannot have batch {batch} before it is stored",
            self.group
        );
        self.confirmed = self.confirmed.max(batch);
    }
}
