//! The words of the gate: what it is told, what it keeps, what it asks for.
//!
//! Not here:  what it makes of them (`gate.rs`)

use crate::model::{BatchNumber, Coordinates, Incarnation, KeyGroup, KeyId, Place, Places};
use crate::protocol::halt::Halt;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What the gate needs to know of an event.
pub trait Item {
    /// Where it comes from.
    fn at(&self) -> Coordinates;
    /// The place behind it.
    fn place_behind(&self) -> Place;
    /// Its key group.
    fn group(&self) -> KeyGroup;
    /// Its ordering key; none where it has none, and can neither be parked nor wait.
    fn key(&self) -> Option<KeyId>;
    /// What it costs in memory and in a transaction, in bytes.
    fn weight_bytes(&self) -> usize;
}

/// Bounds of one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Events of all its batches together.
    pub events_max: usize,
    /// Bytes of all its events together; one event alone may be over it.
    pub bytes_max: usize,
    /// Beside a transaction that is soon through, fewer events than this do not get one of their own; 1: they do.
    pub beside_min: usize,
    /// Keys that may be parked in all key groups of this gate.
    pub parked_max: usize,
}

/// What the ledger said of a key group when it was claimed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Claimed {
    /// The key group.
    pub group: KeyGroup,
    /// The incarnation of this start.
    pub incarnation: Incarnation,
    /// The last batch stored.
    pub batch: BatchNumber,
    /// How far that batch and those before it went.
    pub places: Places,
    /// The last batch that Kafka has.
    pub emitted: BatchNumber,
    /// The keys that are parked.
    pub parked: BTreeSet<KeyId>,
}

/// The events of one key group that go through the database together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Batch<E> {
    /// The key group.
    pub group: KeyGroup,
    /// One more than the batch before.
    pub number: BatchNumber,
    /// Under which claim.
    pub incarnation: Incarnation,
    /// In queue order; empty in a retry and never else.
    pub events: Vec<E>,
    /// Indexes of those events whose key was parked before this batch, rising: they are parked, too.
    pub waiting: Vec<usize>,
    /// Its events are those that the ledger holds parked and that somebody wants tried, in the ledger's order.
    pub is_retry: bool,
    /// The places behind the batch.
    pub places: Places,
    /// Kafka has confirmed the batches up to this one and the outbox still holds them.
    pub confirmed: Option<BatchNumber>,
    /// The outbox rows up to this one were deleted by a batch before; 0: of the time before this run it is not known.
    pub cleared: BatchNumber,
}

/// The batches of one database transaction, each of another key group.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Transaction<E> {
    /// Never empty.
    pub batches: Vec<Batch<E>>,
}

/// What a batch has done to the parked keys of its group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Changes {
    /// Keys of which an event is parked now and was not before.
    pub parked: Vec<KeyId>,
    /// Keys of which nothing waits any more.
    pub freed: Vec<KeyId>,
    /// Of a retry: there is more to be tried.
    pub more: bool,
}

/// What a batch came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Outcome<O> {
    /// What it sends.
    pub outputs: O,
    /// Which keys it has parked or freed.
    pub changes: Changes,
}

/// Something that happened.
#[derive(Debug)]
pub enum Input<E, O> {
    /// An event came through the exchange.
    Arrived(E),
    /// Somebody wants parked events of this key group tried.
    Retry(KeyGroup),
    /// Everything that is there now has arrived: form transactions.
    Dispatch,
    /// A lane's transaction is committed.
    Stored {
        /// The lane.
        lane: usize,
        /// One per batch.
        outcomes: Vec<Outcome<O>>,
    },
    /// A lane's transaction is not through yet, and takes long.
    Slow {
        /// The lane.
        lane: usize,
    },
    /// A lane's transaction is rolled back, or will be: nothing of it is stored.
    Undone {
        /// The lane.
        lane: usize,
        /// What to do about it.
        again: Again,
    },
    /// A lane's COMMIT went unanswered.
    InDoubt {
        /// The lane.
        lane: usize,
        /// One per batch, for the case that it was stored.
        outcomes: Vec<Outcome<O>>,
    },
    /// The position rows that [`Action::Settle`] asked for.
    Settled {
        /// The lane.
        lane: usize,
        /// Key group, incarnation and last batch, as the ledger has them now.
        rows: Vec<(KeyGroup, Incarnation, BatchNumber)>,
    },
    /// The look-up itself met an outage.
    Unsettled {
        /// The lane.
        lane: usize,
    },
    /// The database answers again.
    Up,
    /// Kafka has the batches of this key group up to this one.
    Confirmed {
        /// The key group.
        group: KeyGroup,
        /// The batch.
        batch: BatchNumber,
    },
    /// The ledger did not take a position: see [`Action::Halt`].
    Fenced {
        /// The lane.
        lane: usize,
    },
}

/// When a transaction that was undone runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Again {
    /// At once: somebody was in the way.
    Now,
    /// At once, in smaller transactions: it was too much for one.
    Smaller,
    /// When the database answers again.
    WhenUp,
}

/// Something to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Action<E, O> {
    /// Run this transaction on this lane.
    Store {
        /// The lane.
        lane: usize,
        /// The work; kept here, too, until it is known to be stored.
        transaction: Arc<Transaction<E>>,
        /// How many times it was undone by others in a row: the wait before it runs grows with it.
        contended: u32,
    },
    /// Look up the position rows of these key groups by a locking read on a new connection.
    Settle {
        /// The lane.
        lane: usize,
        /// Whose rows.
        groups: Vec<KeyGroup>,
    },
    /// Find out when the database answers again, and say [`Input::Up`].
    Probe,
    /// These batches are stored: hand them to the sink, `outputs` in the same order.
    Stored {
        /// What was stored.
        transaction: Arc<Transaction<E>>,
        /// One per batch.
        outputs: Vec<O>,
    },
    /// This event was stored by an earlier run; it only has to be let go.
    Skip(E),
    /// A pass over this key group's parked events is over.
    Passed {
        /// The key group.
        group: KeyGroup,
        /// Its turn is over, and not its work: somebody is to look for marks again at once.
        more: bool,
    },
    /// Stop everything.
    Halt(Halt),
}
