//! One key group: its queue, its numbers, and whether a batch of it is out.

use super::{Batch, Claimed, Item, Limits};
use crate::model::{BatchNumber, Incarnation, KeyGroup, Places};
use std::collections::VecDeque;

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
        }
    }

    pub(super) fn queued(&self) -> usize {
        self.queue.len()
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
        let now = !self.out && !self.ready && !self.queue.is_empty();
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
        let confirmed = (self.confirmed > self.cleared).then_some(self.confirmed);
        let number = self.batch.next();
        Batch { group: self.group, number, incarnation: self.incarnation, events, places, confirmed }
    }

    /// The batch that was out is stored.
    pub(super) fn stored(&mut self, batch: &Batch<E>) {
        assert!(self.out, "key group {}: a batch was stored that was not out", self.group);
        assert_eq!(batch.number, self.batch.next(), "key group {}: batch numbers rise by one", self.group);
        self.out = false;
        self.batch = batch.number;
        self.places = batch.places.clone();
        self.cleared = self.cleared.max(batch.confirmed.unwrap_or_default());
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
