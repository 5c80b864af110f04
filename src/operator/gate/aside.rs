//! Aside: what becomes of an event that cannot be handled, by the job's rules.
//!
//! In:        an event, what is wrong with it, and how     Out: its fate, or the halt that the rule asks for
//! Holds:     how many were set aside lately (the budget of rejects), for all lanes of a worker
//! Order:     an event behind a parked one of its key is parked, too, whatever else is wrong with it
//! Fails:     halt where the rule is halt, and where more events are set aside than the budget allows: before it is done
//! Not here:  what is wrong (attempt, retry), and writing it down (finish)

use super::lane::Failure;
use super::looked::Looked;
use crate::job::{JobSpec, RejectRule, RejectsSpec};
use crate::model::{Body, Coordinates, Event, Reason, ReasonCode};
use crate::operator::flood::{Flood, TooMany};
use crate::protocol::halt::{Halt, HaltKind, Said};
use crate::status::Board;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// What becomes of an event that is not handled as the job would have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// To the dead-letter topic. It has no effect in the database, and its key goes on.
    DeadLetter(Reason),
    /// Counted and logged.
    Discard(Reason),
    /// Into the ledger, and all later ones of its key behind it; `None`: it is one of those.
    Park(Option<Reason>),
}

/// Which rule is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The database can never store it.
    Refused,
    /// A look-up found no row.
    MissingLookup,
    /// Its output is over Kafka's limit.
    TooLarge,
    /// It has ended the process.
    Unreadable,
}

/// What is wrong with an event.
pub(super) struct Wrong {
    pub(super) kind: Kind,
    pub(super) reason: Reason,
    /// The halt, where that is the rule.
    pub(super) halt: Halt,
    /// The refusal took the transaction with it.
    pub(super) lost_transaction: bool,
}

/// The job's rule.
pub(super) fn rule_of(rejects: &RejectsSpec, kind: Kind) -> RejectRule {
    match kind {
        Kind::Refused => rejects.refused,
        Kind::MissingLookup => rejects.missing_lookup,
        Kind::TooLarge => rejects.too_large,
        Kind::Unreadable => rejects.unreadable,
    }
}

/// Events that have a fate, by their index in the transaction.
#[derive(Clone, Debug, Default)]
pub(super) struct Fates(BTreeMap<usize, Fate>);

impl Fates {
    /// The fate of an event that is not to be handled.
    pub(super) fn of(&self, index: usize) -> Option<&Fate> {
        self.0.get(&index)
    }

    pub(super) fn set(&mut self, index: usize, fate: Fate) {
        self.0.insert(index, fate);
    }

    /// Whether any event was found to be wrong: those that wait behind another one were not.
    fn has_rejects(&self) -> bool {
        self.0.values().any(|fate| *fate != Fate::Park(None))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Fate)> {
        self.0.iter().map(|(index, fate)| (*index, fate))
    }

    /// Parks what stands behind a parked event of its key.
    pub(super) fn spread(&mut self, events: &[Looked<'_>]) {
        let mut parked: BTreeSet<&[u8]> = BTreeSet::new();
        for (index, looked) in events.iter().enumerate() {
            let Some(key) = key_of(looked.event) else { continue };
            if parked.contains(key) {
                if !matches!(self.0.get(&index), Some(Fate::Park(None))) {
                    self.0.insert(index, Fate::Park(None));
                }
            } else if matches!(self.0.get(&index), Some(Fate::Park(_))) {
                parked.insert(key);
            }
        }
    }
}

/// The ordering key of an event that has one.
pub(super) fn key_of(event: &Event) -> Option<&[u8]> {
    matches!(event.body, Body::Readable(_) | Body::Tombstone { .. }).then_some(&event.key[..])
}

/// Decides, and counts. All lanes of a worker share it.
#[derive(Clone)]
pub(super) struct Asides {
    spec: Arc<JobSpec>,
    board: Arc<Board>,
    flood: Option<Arc<Mutex<Flood>>>,
    begun: Instant,
}

impl Asides {
    pub(super) fn new(spec: &Arc<JobSpec>, board: &Arc<Board>) -> Asides {
        Asides {
            spec: Arc::clone(spec),
            board: Arc::clone(board),
            flood: spec.rejects.budget.map(|budget| Arc::new(Mutex::new(Flood::new(budget)))),
            begun: Instant::now(),
        }
    }

    /// The fate of an event with which something is wrong.
    pub(super) fn judge(&self, wrong: Wrong) -> Result<Fate, Failure> {
        match rule_of(&self.spec.rejects, wrong.kind) {
            RejectRule::DeadLetter => Ok(Fate::DeadLetter(wrong.reason)),
            RejectRule::Discard => Ok(Fate::Discard(wrong.reason)),
            RejectRule::Park => Ok(Fate::Park(Some(wrong.reason))),
            RejectRule::Halt => Err(Failure::Refused(wrong.halt)),
        }
    }

    /// Whether the budget allows what a transaction is about to set aside. Nothing is counted yet: it may not be committed.
    pub(super) fn allow(&self, events: &[Looked<'_>], fates: &Fates) -> Result<(), Halt> {
        let Some(flood) = self.flood.as_ref().filter(|_| fates.has_rejects()) else { return Ok(()) };
        let mut ahead = lock(flood).clone();
        match self.count(&mut ahead, events, fates) {
            None => Ok(()),
            Some((index, too_many)) => Err(self.over_budget(events.get(index), fates.of(index), too_many)),
        }
    }

    /// What the budget allows a retry, event by event. Nothing is counted yet.
    pub(super) fn ahead(&self) -> Ahead {
        Ahead(self.flood.as_ref().map(|flood| (lock(flood).clone(), self.begun)))
    }

    /// So many parked events were handled, and so many set aside for good.
    pub(super) fn were_retried(&self, handled: usize, rejects: usize) {
        let Some(flood) = &self.flood else { return };
        let mut flood = lock(flood);
        (0..handled).for_each(|_| flood.readable());
        for _ in 0..rejects {
            // What was too many has stayed parked.
            let _counted = flood.reject(self.begun.elapsed());
        }
    }

    /// They are set aside: counted, shown and logged.
    pub(super) fn were(&self, events: &[Looked<'_>], fates: &Fates) {
        if let Some(flood) = &self.flood {
            // What was one too many has halted the job before.
            let _counted = self.count(&mut lock(flood), events, fates);
        }
        for (index, fate) in fates.iter() {
            let Some(looked) = events.get(index) else { continue };
            self.tell(looked.event, fate);
        }
    }

    /// Shows and logs what became of one event.
    pub(super) fn tell(&self, event: &Event, fate: &Fate) {
        // What could not even be read was told by whoever tried.
        if key_of(event).is_none() {
            return;
        }
        let (topic, partition, offset, index) =
            (self.spec.topic_of(event.at.at), event.at.at.partition, event.at.offset.0, event.at.index);
        let (what, reason) = match fate {
            Fate::Park(None) => {
                self.board.parked.add(1);
                return tracing::debug!(
                    topic,
                    partition,
                    offset,
                    index,
                    "event parked behind another one of its key"
                );
            }
            Fate::Park(Some(reason)) => {
                self.board.parked.add(1);
                ("event parked, and its key with it", reason)
            }
            Fate::DeadLetter(reason) => ("event goes to the dead-letter topic", reason),
            Fate::Discard(reason) => {
                self.board.discarded.add(1);
                ("event discarded", reason)
            }
        };
        self.board.refused.add(1);
        tracing::warn!(topic, partition, offset, index, %reason, "{what}");
    }

    /// The first event that is one too many. Those behind a parked one are no rejects; what cannot be read counts elsewhere.
    fn count(&self, flood: &mut Flood, events: &[Looked<'_>], fates: &Fates) -> Option<(usize, TooMany)> {
        for (index, looked) in events.iter().enumerate() {
            if key_of(looked.event).is_none() {
                continue;
            }
            match fates.of(index) {
                None | Some(Fate::Park(None)) => flood.readable(),
                Some(_) => {
                    if let Some(too_many) = flood.reject(self.begun.elapsed()) {
                        return Some((index, too_many));
                    }
                }
            }
        }
        None
    }

    fn over_budget(&self, looked: Option<&Looked<'_>>, fate: Option<&Fate>, too_many: TooMany) -> Halt {
        let TooMany { rejects, records } = too_many;
        let at = looked.map(|looked| looked.event.at);
        let (reason, code) = match fate {
            Some(Fate::DeadLetter(reason) | Fate::Discard(reason) | Fate::Park(Some(reason))) => {
                (reason.to_string(), Some(reason.code.as_str().to_owned()))
            }
            _ => (String::new(), None),
        };
        let text = format!(
            "{rejects} of the last {records} events of this worker cannot be handled: more than rejects.budget allows. The last \
             one is {} ({reason}). So many point to a changed schema, producer or job file: mend it, or raise the budget, and \
             start again; the job goes on with this very event, and each start counts anew",
            at.map_or_else(|| "unknown".to_owned(), |at| self.source_of(at))
        );
        let halt = Halt::new(HaltKind::Reject, text).about(at);
        Halt { error: Some(Box::new(Said { class: "reject budget".to_owned(), code })), ..halt }
    }

    fn source_of(&self, at: Coordinates) -> String {
        let index = if at.index > 0 { format!("/{}", at.index) } else { String::new() };
        format!("{}/{}/{}{index}", self.spec.topic_of(at.at), at.at.partition, at.offset)
    }
}

/// The budget of rejects behind what is not committed yet.
#[derive(Default)]
pub(super) struct Ahead(Option<(Flood, Instant)>);

impl Ahead {
    /// An event was handled.
    pub(super) fn handled(&mut self) {
        if let Some((flood, _)) = &mut self.0 {
            flood.readable();
        }
    }

    /// Whether one more may be set aside.
    pub(super) fn allows(&mut self) -> bool {
        self.0.as_mut().is_none_or(|(flood, begun)| flood.reject(begun.elapsed()).is_none())
    }
}

fn lock(flood: &Mutex<Flood>) -> MutexGuard<'_, Flood> {
    flood.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reason for a person and for headers: a stable code and what was said. Never a value.
pub(super) fn because(code: ReasonCode, detail: impl Into<String>) -> Reason {
    Reason { code, detail: detail.into() }
}
