//! Parked events in memory: what is committed of them, and what becomes of it.
//!
//! In:        what a transaction writes of them, one [`ParkedWrite`] after the other
//! Out:       rows and keys
//! Holds:     a key as long as one of its events waits; its mark as long as there is something to do of it
//! Order:     events by their place, keys by their id
//! Not here:  who may write (memory_parked)

use crate::database::{
    Move, ParkedAt, ParkedDone, ParkedKey, ParkedLeft, ParkedMark, ParkedOutcome, ParkedRow, ParkedState,
    ParkedWish,
};
use crate::model::{KeyGroup, KeyId, Record};
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// The row of a parked key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRow {
    /// Its key group.
    pub group: KeyGroup,
    /// The ordering key.
    pub key: Bytes,
    /// What a person wants of it.
    pub mark: Option<ParkedMark>,
}

/// All parked events and keys.
#[derive(Clone, Debug, Default)]
pub struct ParkedTables {
    /// Events, dropped ones too.
    pub events: BTreeMap<ParkedAt, ParkedRow>,
    /// Parked keys.
    pub keys: BTreeMap<KeyId, KeyRow>,
}

/// What a transaction does to them.
#[derive(Clone, Debug)]
pub(super) enum ParkedWrite {
    Park(Vec<ParkedRow>),
    Settle(KeyGroup, Vec<ParkedDone>),
    Mark(BTreeSet<KeyId>, ParkedMark, Vec<ParkedAt>),
}

fn empty() -> Record {
    Record { timestamp_ms: None, key: None, headers: Vec::new(), value: None }
}

/// An event without its record.
pub(super) fn overview(row: &ParkedRow) -> ParkedRow {
    ParkedRow { record: empty(), ..row.clone() }
}

impl ParkedTables {
    pub(super) fn apply(&mut self, write: &ParkedWrite) {
        match write {
            ParkedWrite::Park(rows) => self.park(rows),
            ParkedWrite::Settle(group, done) => drop(self.settle(*group, done)),
            ParkedWrite::Mark(keys, mark, drop) => self.mark(keys, *mark, drop),
        }
    }

    fn park(&mut self, rows: &[ParkedRow]) {
        for row in rows {
            let key = KeyRow { group: row.at.group, key: row.key.clone(), mark: None };
            self.keys.entry(row.key_id).or_insert(key);
            self.events.insert(row.at, ParkedRow { state: ParkedState::Waiting, ..row.clone() });
        }
    }

    /// The first events that something is to be done about, within the limits.
    pub(super) fn work(&self, group: KeyGroup, rows_max: usize, bytes_max: usize) -> Vec<ParkedRow> {
        let wanted = |row: &&ParkedRow| {
            let mark = self.keys.get(&row.key_id).and_then(|key| key.mark);
            match row.state {
                ParkedState::Waiting => mark == Some(ParkedMark::Retry),
                ParkedState::ToDrop => mark.is_some(),
                ParkedState::Dropped => false,
            }
        };
        let mut bytes: usize = 0;
        let mut chosen = Vec::new();
        for row in self.events.values().filter(|row| row.at.group == group).filter(wanted) {
            bytes = bytes.saturating_add(row.record.footprint_bytes());
            if !chosen.is_empty() && (chosen.len() >= rows_max || bytes > bytes_max) {
                break;
            }
            chosen.push(row.clone());
        }
        chosen
    }

    pub(super) fn settle(&mut self, group: KeyGroup, done: &[ParkedDone]) -> ParkedLeft {
        let mut stopped = BTreeSet::new();
        for one in done {
            let Some(row) = self.events.get_mut(&one.at) else { continue };
            match &one.outcome {
                ParkedOutcome::Handled => {
                    self.events.remove(&one.at);
                }
                ParkedOutcome::Dropped { at } => {
                    (row.state, row.record) = (ParkedState::Dropped, empty());
                    row.tried_at.clone_from(at);
                }
                ParkedOutcome::Refused { reason, detail, at } => {
                    row.reason.clone_from(reason);
                    row.detail.clone_from(detail);
                    row.tried_at.clone_from(at);
                    row.tries = row.tries.saturating_add(1);
                    stopped.insert(one.key_id);
                }
            }
        }
        let keys: BTreeSet<KeyId> = done.iter().map(|done| done.key_id).collect();
        let freed = self.settle_keys(&keys, &stopped);
        ParkedLeft { freed, more: self.marked().any(|marked| marked == group) }
    }

    fn settle_keys(&mut self, keys: &BTreeSet<KeyId>, stopped: &BTreeSet<KeyId>) -> Vec<KeyId> {
        let mut freed = Vec::new();
        for id in keys {
            let (waits, drops) = (self.has(*id, ParkedState::Waiting), self.has(*id, ParkedState::ToDrop));
            let Some(key) = self.keys.get_mut(id) else { continue };
            if !waits && !drops {
                self.keys.remove(id);
                freed.push(*id);
            } else if key.mark != Some(ParkedMark::Retry) || stopped.contains(id) {
                key.mark = drops.then_some(ParkedMark::Sweep);
            }
        }
        freed
    }

    fn has(&self, key: KeyId, state: ParkedState) -> bool {
        self.events.values().any(|row| row.key_id == key && row.state == state)
    }

    fn mark(&mut self, keys: &BTreeSet<KeyId>, mark: ParkedMark, drop: &[ParkedAt]) {
        if mark == ParkedMark::Sweep {
            for at in drop {
                let row = self.events.get_mut(at).filter(|row| keys.contains(&row.key_id));
                if let Some(row) = row.filter(|row| row.state == ParkedState::Waiting) {
                    row.state = ParkedState::ToDrop;
                }
            }
        }
        for id in keys {
            let drops = self.has(*id, ParkedState::ToDrop);
            let Some(key) = self.keys.get_mut(id) else { continue };
            match mark {
                ParkedMark::Retry => key.mark = Some(ParkedMark::Retry),
                ParkedMark::Sweep if drops && key.mark.is_none() => key.mark = Some(ParkedMark::Sweep),
                ParkedMark::Sweep => {}
            }
        }
    }

    /// Takes back what comes again from the topics.
    pub(super) fn take_back(&mut self, moves: &[Move]) {
        let again = |row: &ParkedRow| {
            let of = |moved: &&Move| moved.topic == row.topic && moved.partition == row.partition;
            moves.iter().find(of).is_some_and(|moved| row.offset.0 >= moved.to.0)
        };
        let gone = self.events.values().filter(|row| again(row));
        let keys: BTreeSet<KeyId> = gone.map(|row| row.key_id).collect();
        self.events.retain(|_, row| !again(row));
        self.settle_keys(&keys, &BTreeSet::new());
    }

    /// Key groups of marked keys.
    pub(super) fn marked(&self) -> impl Iterator<Item = KeyGroup> {
        self.keys.values().filter(|key| key.mark.is_some()).map(|key| key.group)
    }

    /// Events that are meant, in order.
    pub(super) fn meant<'a>(&'a self, wish: &'a ParkedWish) -> impl Iterator<Item = &'a ParkedRow> {
        self.events.values().filter(move |row| {
            let source = |(topic, partition, offset): &(String, i32, _)| {
                (&row.topic, row.partition, row.offset) == (topic, *partition, *offset)
            };
            wish.key.is_none_or(|id| row.key_id == id)
                && wish.reason.as_ref().is_none_or(|reason| row.reason == *reason)
                && wish.since.as_ref().is_none_or(|since| row.parked_at >= *since)
                && wish.until.as_ref().is_none_or(|until| row.parked_at < *until)
                && wish.source.as_ref().is_none_or(source)
        })
    }

    /// Keys of which events wait that are meant.
    pub(super) fn by_key(&self, wish: &ParkedWish) -> BTreeMap<KeyId, ParkedKey> {
        let mut found: BTreeMap<KeyId, ParkedKey> = BTreeMap::new();
        for row in self.meant(wish).filter(|row| row.state != ParkedState::Dropped) {
            let mark = self.keys.get(&row.key_id).and_then(|key| key.mark);
            let of = || ParkedKey { mark, events: 0, first: overview(row) };
            let key = found.entry(row.key_id).or_insert_with(of);
            key.events = key.events.saturating_add(1);
        }
        found
    }
}
