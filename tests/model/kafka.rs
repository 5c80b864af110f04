//! Kafka as the protocol knows it: transactional ids, their holders, open and decided transactions, what is committed.
//!
//! Producer epochs are kept as "who holds the id": a request counts if and only if its sender does. A request that its
//! sender has stopped waiting for stays on its way (a ghost) and may arrive any time until the id is taken over.

use crate::plan::{Event, GROUPS};
use std::borrow::Cow;
use tidegate::model::BatchNumber;

/// Who holds a transactional id: slot and worker.
pub type Holder = (u8, u8);

/// What a transaction sends of one key group's batch.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sent {
    pub group: u8,
    pub batch: BatchNumber,
    pub outputs: Vec<Event>,
}

/// A transaction's content, in order.
pub type Content = Vec<Sent>;

/// Of one transactional id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Txn {
    None,
    Open(Content),
    /// The commit is decided and cannot be undone; its markers are not written, and no reader sees it.
    Decided(Content),
}

/// A request that nobody waits for any more.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ghost {
    Produce(Content),
    EndTxn,
}

/// One transactional id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Id {
    pub holder: Option<Holder>,
    pub txn: Txn,
    pub ghost: Option<Ghost>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kafka {
    pub ids: Vec<Id>,
    /// The output topic as a read-committed reader sees it, per key group.
    pub outputs: Vec<Vec<Event>>,
    /// The progress topic as a read-committed reader sees it: the last batch per key group.
    pub progress: Vec<BatchNumber>,
    /// The progress topic as it is seen by who reads it wrongly: uncommitted, or to the last stable offset. Kept for
    /// those variants alone.
    pub misread: Vec<BatchNumber>,
}

/// How a request ended that was handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled {
    Done,
    Fenced,
}

impl Kafka {
    pub fn new() -> Kafka {
        let id = Id { holder: None, txn: Txn::None, ghost: None };
        Kafka {
            ids: vec![id; GROUPS],
            outputs: vec![Vec::new(); GROUPS],
            progress: vec![BatchNumber(0); GROUPS],
            misread: vec![BatchNumber(0); GROUPS],
        }
    }

    /// Whether `init_transactions` can return: markers are written first.
    pub fn can_initialise(&self, id: usize) -> bool {
        !matches!(self.ids[id].txn, Txn::Decided(_))
    }

    /// `init_transactions`: what is open is aborted, and nobody else's requests count any more.
    pub fn initialise(&mut self, id: usize, holder: Option<Holder>) {
        self.ids[id] = Id { holder, txn: Txn::None, ghost: None };
    }

    /// Whether a produce request is answered now: after a commit it waits for the markers.
    pub fn can_produce(&self, id: usize) -> bool {
        !matches!(self.ids[id].txn, Txn::Decided(_))
    }

    pub fn produce(&mut self, id: usize, by: Holder, content: Content, uncommitted: bool) -> Handled {
        if self.ids[id].holder != Some(by) {
            return Handled::Fenced;
        }
        self.append(id, content, uncommitted);
        Handled::Done
    }

    fn append(&mut self, id: usize, content: Content, uncommitted: bool) {
        if uncommitted {
            for sent in &content {
                self.misread[usize::from(sent.group)] = sent.batch;
            }
        }
        self.ids[id].txn = Txn::Open(content);
    }

    pub fn commit(&mut self, id: usize, by: Holder) -> Handled {
        if self.ids[id].holder != Some(by) {
            return Handled::Fenced;
        }
        self.decide(id);
        Handled::Done
    }

    fn decide(&mut self, id: usize) {
        if let Txn::Open(content) = std::mem::replace(&mut self.ids[id].txn, Txn::None) {
            self.ids[id].txn = Txn::Decided(content);
        }
    }

    /// The markers of a decided transaction are written.
    pub fn write_markers(&mut self, id: usize) {
        if let Txn::Decided(content) = std::mem::replace(&mut self.ids[id].txn, Txn::None) {
            for sent in content {
                self.progress[usize::from(sent.group)] = sent.batch;
                self.outputs[usize::from(sent.group)].extend(sent.outputs);
            }
        }
    }

    /// The sender stops waiting; its request, if it still counts, stays on its way.
    pub fn give_up(&mut self, id: usize, by: Holder, request: Option<Ghost>) {
        let id = &mut self.ids[id];
        if id.holder == Some(by) {
            id.holder = None;
            id.ghost = request;
        }
    }

    pub fn can_ghost_arrive(&self, id: usize) -> bool {
        let id = &self.ids[id];
        id.ghost.is_some() && !matches!(id.txn, Txn::Decided(_))
    }

    pub fn ghost_arrives(&mut self, id: usize, uncommitted: bool) {
        match self.ids[id].ghost.take() {
            Some(Ghost::Produce(content)) => self.append(id, content, uncommitted),
            Some(Ghost::EndTxn) => self.decide(id),
            None => {}
        }
    }

    /// Whether anything is undecided, or decided and not to be seen yet.
    pub fn is_undecided(&self) -> bool {
        self.ids.iter().any(|id| id.txn != Txn::None)
    }

    /// An undecided transaction hides whatever was committed behind its first record.
    pub fn move_last_stable(&mut self) {
        if !self.is_undecided() {
            self.misread.clone_from(&self.progress);
        }
    }

    /// What Kafka will not take back: the topics as they are when all markers are written.
    pub fn truth(&self) -> Cow<'_, Kafka> {
        let mut truth = Cow::Borrowed(self);
        for id in 0..self.ids.len() {
            if matches!(self.ids[id].txn, Txn::Decided(_)) {
                truth.to_mut().write_markers(id);
            }
        }
        truth
    }
}
