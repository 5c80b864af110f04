//! Parked events: what of them a job writes, finds and takes back, and what a person asks for.
//!
//! In:        events that the job may not handle now, each with its record whole     Out: the same, in the order of their parking
//! Holds:     per parked ordering key a row with what a person wants done; per event a row with everything to handle it later
//! Order:     per key group by the batch that parked an event, then by its place in that batch
//! Fails:     as a session does
//! Not here:  who is parked and when it is tried again (protocol::gate), the tables (ledger)
//!
//! A key's row is the word that counts: as long as it is there, every event of the key is parked behind the others. A
//! person marks; only the job that owns the key group handles, deletes and frees, inside of its own numbered batches.

use super::Pending;
use crate::model::{BatchNumber, KeyGroup, KeyId, Offset, Record};
use bytes::Bytes;

/// Where a parked event stands in its key group's order: the batch that parked it, and its place in that batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParkedAt {
    /// The key group.
    pub group: KeyGroup,
    /// The batch that parked it.
    pub batch: BatchNumber,
    /// Counts the parked events of the batch, from 0.
    pub place: u32,
}

/// What becomes of a parked event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParkedState {
    /// It waits.
    Waiting,
    /// A person wants it dropped, and the job has not done so yet.
    ToDrop,
    /// It was dropped: its coordinates and its reason are kept, its record is not.
    Dropped,
}

/// A parked event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParkedRow {
    /// Its place in the order.
    pub at: ParkedAt,
    /// Of its ordering key.
    pub key_id: KeyId,
    /// Its ordering key.
    pub key: Bytes,
    /// Name of the topic that it came from.
    pub topic: String,
    /// Partition number.
    pub partition: i32,
    /// The record's offset.
    pub offset: Offset,
    /// Its place among the record's events.
    pub index: u32,
    /// The record, whole; empty where the event was dropped or where only an overview was asked for.
    pub record: Record,
    /// A stable code: why it is parked, or `behind` for one that only waits for those in front of it.
    pub reason: String,
    /// For a person. Never a value.
    pub detail: String,
    /// When it was parked: UTC, `2026-01-31T12:00:00Z`.
    pub parked_at: String,
    /// When it was last tried, or dropped: the same form.
    pub tried_at: String,
    /// How often it was tried and refused; 0: never tried.
    pub tries: u32,
    /// What becomes of it.
    pub state: ParkedState,
}

/// What the job has done with a parked event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParkedDone {
    /// Which.
    pub at: ParkedAt,
    /// Of its ordering key.
    pub key_id: KeyId,
    /// What.
    pub outcome: ParkedOutcome,
}

/// How it went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParkedOutcome {
    /// It is handled: its row goes.
    Handled,
    /// It is dropped: its row keeps where it came from, and loses its record.
    Dropped {
        /// When: UTC.
        at: String,
    },
    /// It was refused once more. Its key's mark goes: the key waits for a person again.
    Refused {
        /// A stable code.
        reason: String,
        /// For a person.
        detail: String,
        /// When: UTC.
        at: String,
    },
}

/// What is left behind [`Parked::settle_parked`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParkedLeft {
    /// Keys that are free now: nothing of them waits any more.
    pub freed: Vec<KeyId>,
    /// Whether the key group has marked keys left.
    pub more: bool,
}

/// Which parked events a person means. What is `None` does not narrow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParkedWish {
    /// Of this ordering key.
    pub key: Option<KeyId>,
    /// With this reason.
    pub reason: Option<String>,
    /// Parked at or behind this moment: UTC, as in [`ParkedRow::parked_at`].
    pub since: Option<String>,
    /// Parked before this moment.
    pub until: Option<String>,
    /// From this topic, partition and offset.
    pub source: Option<(String, i32, Offset)>,
}

/// A parked key, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParkedKey {
    /// What a person wants of it.
    pub mark: Option<ParkedMark>,
    /// How many of its events wait (dropped ones do not) and are meant.
    pub events: u64,
    /// The first of them, without its record.
    pub first: ParkedRow,
}

/// What a person wants of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ParkedMark {
    /// Its events are tried in their order, until one is refused.
    Retry,
    /// Its events that are to be dropped are dropped; the others wait on.
    Sweep,
}

/// The part of a session that is about parked events.
pub trait Parked: Send {
    // ---- inside a transaction of the job

    /// Sets a point that [`Parked::undo`] goes back to. One at a time.
    fn savepoint(&mut self) -> Pending<'_, ()>;

    /// Gives the point up and keeps what was done since.
    fn release(&mut self) -> Pending<'_, ()>;

    /// Takes back what was done since the point, and gives it up.
    fn undo(&mut self) -> Pending<'_, ()>;

    /// Parks events, and their keys where they are not parked yet. A key that is marked stays marked.
    fn park<'a>(&'a mut self, rows: &'a [ParkedRow]) -> Pending<'a, ()>;

    /// The first events of a key group that the job is to do something about, in order, with their records: those to be
    /// dropped of every marked key, and all that wait of keys marked for a retry. At least one where there is one, then as many
    /// as fit within both limits; bytes as in [`Record::footprint_bytes`]. Where more keys are marked than are looked at in one
    /// go, others come first than those of the lowest batches; of each key the first do. From here to the transaction's end
    /// nobody else marks these keys.
    fn parked_work(
        &mut self,
        group: KeyGroup,
        rows_max: usize,
        bytes_max: usize,
    ) -> Pending<'_, Vec<ParkedRow>>;

    /// Writes down what was done with what [`Parked::parked_work`] gave, none of it twice; frees keys of which nothing waits
    /// any more, and takes the mark off those that have nothing marked left.
    fn settle_parked<'a>(&'a mut self, group: KeyGroup, done: &'a [ParkedDone]) -> Pending<'a, ParkedLeft>;

    // ---- beside the stream

    /// The parked keys of these key groups.
    fn parked_keys<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<(KeyGroup, KeyId)>>;

    /// Those of these key groups that have a marked key.
    fn marked_groups<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<KeyGroup>>;

    // ---- for a person

    /// The job's parked events that are meant, in order, behind `after`, up to `rows_max`; with their records only where
    /// `whole` says so.
    fn parked<'a>(
        &'a mut self,
        wish: &'a ParkedWish,
        after: Option<ParkedAt>,
        rows_max: usize,
        whole: bool,
    ) -> Pending<'a, Vec<ParkedRow>>;

    /// The parked keys of which events are meant, by rising [`KeyId`], behind `after`, up to `rows_max`.
    fn parked_by_key<'a>(
        &'a mut self,
        wish: &'a ParkedWish,
        after: Option<KeyId>,
        rows_max: usize,
    ) -> Pending<'a, Vec<ParkedKey>>;

    /// Marks keys, in one transaction; with [`ParkedMark::Sweep`] also the events `drop` of them as to be dropped, and only keys
    /// that have such events. Returns how many of the keys are (still) parked. A key that is marked for a retry stays so. May fail
    /// as contention: the job handles these keys at this moment.
    fn mark_parked<'a>(
        &'a mut self,
        keys: &'a [(KeyGroup, KeyId)],
        mark: ParkedMark,
        drop: &'a [ParkedAt],
    ) -> Pending<'a, usize>;
}
