//! The user's database and the ledger in it, behind two small traits.
//!
//! In:        what one transaction needs: look-ups, stores, ledger writes, each for many events at once
//! Out:       rows, or a `DatabaseError` that carries its class
//! Fails:     by class only: whoever calls decides by `ErrorClass` and never by code
//! Not here:  no decision (protocol), no dataflow (operator), no XML

use crate::job::{DatabaseKind, DatabaseSpec, SchemaFacts, TableName};
use crate::model::{BatchNumber, Incarnation, KeyGroup, NextOffset, Value};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

mod error;

mod facts;
pub use facts::set_plan;

mod ledger;

mod parked;
pub use parked::{
    Parked, ParkedAt, ParkedDone, ParkedKey, ParkedLeft, ParkedMark, ParkedOutcome, ParkedRow, ParkedState,
    ParkedWish,
};

mod ranges;
pub use ranges::{Column, ColumnEngine, range_notes};

mod schema;
pub use schema::{Table, TableColumn};

mod steps;

mod mysql;

mod sqlite;
pub use sqlite::Onlooker;

#[cfg(test)]
pub(crate) mod conformance;

/// Makes ready to connect: nothing is asked of a server yet. `job` names the rows in the ledger.
///
/// # Errors
/// Misconfigured: the folder of an SQLite file does not exist.
pub fn open(spec: &DatabaseSpec, job: &str) -> Result<Arc<dyn Database>, DatabaseError> {
    match &spec.kind {
        DatabaseKind::MySql { .. } => Ok(Arc::new(mysql::MySql::new(spec, job)?)),
        DatabaseKind::Sqlite { path } => Ok(Arc::new(sqlite::Sqlite::new(spec, path, job)?)),
    }
}

/// The statements that make the ledger's tables, for `check` to print where a job may not create tables itself.
pub fn ledger_ddl(kind: &DatabaseKind) -> Vec<String> {
    ledger::ddl(match kind {
        DatabaseKind::MySql { .. } => ledger::Dialect::MySql,
        DatabaseKind::Sqlite { .. } => ledger::Dialect::Sqlite,
    })
}

/// The statements that bring a ledger of an older version ([`LedgerState::Older`]) to this program's, for `check` to print.
pub fn ledger_upgrade(kind: &DatabaseKind, from: u64) -> Vec<String> {
    let dialect = match kind {
        DatabaseKind::MySql { .. } => ledger::Dialect::MySql,
        DatabaseKind::Sqlite { .. } => ledger::Dialect::Sqlite,
    };
    ledger::upgrade(dialect, from)
}

/// An error code of an engine, as its table has it.
#[derive(Clone, Copy, Debug)]
pub struct KnownCode {
    /// The engine's number.
    pub number: i64,
    /// The engine's name of it.
    pub name: &'static str,
    /// What it asks for.
    pub class: ErrorClass,
    /// What it means, as a sentence's second half.
    pub sentence: &'static str,
    /// What a person does about it.
    pub advice: &'static str,
    /// A test provokes it on a real engine; else its class is believed.
    pub seen: bool,
}

/// The codes of MySQL and MariaDB, and of the proxies that speak for them.
pub fn mysql_codes() -> Vec<KnownCode> {
    mysql::classes::codes()
}

/// The codes of SQLite.
pub fn sqlite_codes() -> Vec<KnownCode> {
    sqlite::classes::codes()
}

/// A boxed future, so that sessions of different engines are one type.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, DatabaseError>> + Send + 'a>>;

/// One row of parameters or of columns.
pub type Row = Vec<Value>;

/// A database that sessions can be opened on.
pub trait Database: Send + Sync {
    /// Opens a session: connected, in READ COMMITTED, time zone UTC, utf8mb4, strict mode.
    fn connect(&self) -> Pending<'_, Box<dyn Session>>;
}

/// One connection. After any error with [`DatabaseError::broken`] it must be dropped; a dropped session's open
/// transaction is rolled back by the server.
///
/// The futures are not cancel-safe: whoever stops waiting for one drops the session.
pub trait Session: Parked {
    /// Begins a transaction.
    fn begin(&mut self) -> Pending<'_, ()>;

    /// Begins a transaction that can only read, and waits for nobody who writes. Ends by [`Session::rollback`].
    fn begin_reading(&mut self) -> Pending<'_, ()>;

    /// Runs look-up `step` (index into the job's steps) once per row of parameters; one answer per row, in order:
    /// the referenced columns, or `None` where no row was found. More than one row found is a reject-class error.
    fn lookup<'a>(&'a mut self, step: usize, rows: &'a [Row]) -> Pending<'a, Vec<Option<Row>>>;

    /// Runs store `step` once per row of parameters, in order or with the same outcome.
    fn store<'a>(&'a mut self, step: usize, rows: &'a [Row]) -> Pending<'a, ()>;

    /// Writes the ledger's part of the transaction: outbox rows, deletion of confirmed ones, and last the position
    /// rows by compare-and-set. `false`: not every position matched, so another instance owns a key group. No key
    /// group occurs twice.
    fn advance<'a>(&'a mut self, writes: &'a [Advance]) -> Pending<'a, bool>;

    /// Commits. An error here means that the outcome is unknown, unless its class is [`ErrorClass::Contention`]
    /// or the engine says that the transaction was rolled back ([`DatabaseError::rolled_back`]).
    fn commit(&mut self) -> Pending<'_, ()>;

    /// Rolls back.
    fn rollback(&mut self) -> Pending<'_, ()>;

    /// The position rows of these key groups by a locking read, in a transaction of its own: waits until a
    /// transaction that holds one of the rows is decided.
    fn settle<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<PositionRow>>;

    /// The cheapest question that the database can answer: is it there and can it write?
    fn probe(&mut self) -> Pending<'_, ()>;

    // ---- the ledger at start and beside the stream

    /// What there is of the ledger's tables; changes nothing. Fails as misconfigured where their version is not known.
    fn ledger_state(&mut self) -> Pending<'_, LedgerState>;

    /// Creates what is missing of the ledger's tables and of their columns, and checks the version of what is there.
    fn create_ledger(&mut self) -> Pending<'_, ()>;

    /// What the ledger knows of the job, or `None` before its first start. Fails as misconfigured where tables are missing.
    fn job_row(&mut self) -> Pending<'_, Option<JobRow>>;

    /// Writes the job's row at its first start.
    fn create_job<'a>(&'a mut self, row: &'a JobRow) -> Pending<'a, ()>;

    /// Replaces the fingerprint in the job's row.
    fn set_fingerprint<'a>(&'a mut self, fingerprint: &'a str) -> Pending<'a, ()>;

    /// Raises the incarnation of these key groups in one transaction, making the rows where they are missing, and
    /// reads the rows back.
    fn claim<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<PositionRow>>;

    /// The position rows of all key groups of the job, without locking.
    fn positions(&mut self) -> Pending<'_, Vec<PositionRow>>;

    /// The outbox of these key groups in order of key group and batch.
    fn outbox<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<OutboxRow>>;

    /// The job's frontier: the first offset not handled, per partition.
    fn frontier(&mut self) -> Pending<'_, Vec<FrontierRow>>;

    /// Writes rows of the job's frontier in one transaction. Never moves one back. `resets`: as in the job's row that
    /// this instance began with (0 before there is one); `false`: the positions were reset since, and nothing was written.
    fn advance_frontier<'a>(&'a mut self, rows: &'a [FrontierRow], resets: u64) -> Pending<'a, bool>;

    // ---- what the ledger remembers of the world outside

    /// The topics that the job knows, with their ids.
    fn topics(&mut self) -> Pending<'_, Vec<TopicRow>>;

    /// Writes topics with their ids, over what was known of them.
    fn remember_topics<'a>(&'a mut self, topics: &'a [TopicRow]) -> Pending<'a, ()>;

    /// Writes down the consumer group whose positions bear the job's mark now.
    fn mark_group<'a>(&'a mut self, name: &'a str) -> Pending<'a, ()>;

    /// Moves positions, empties the outbox and renumbers batches, in one transaction. `false`: a key group was claimed by
    /// another instance, and nothing was moved.
    fn reset<'a>(&'a mut self, reset: &'a Reset) -> Pending<'a, bool>;

    /// All resets of the job, oldest first.
    fn resets(&mut self) -> Pending<'_, Vec<ResetRow>>;

    // ---- check

    /// Prepares every statement of the job against the live schema. One finding per statement that the server
    /// refuses, and per referenced column that a look-up does not give.
    fn check_statements(&mut self) -> Pending<'_, Vec<Finding>>;

    /// The columns of a table as the database declares them; none: there is no such table.
    fn columns<'a>(&'a mut self, schema: Option<&'a str>, table: &'a str) -> Pending<'a, Vec<Column>>;

    /// The tables of the schema but the ledger's own, with their columns.
    fn tables(&mut self) -> Pending<'_, Vec<Table>>;

    /// What decides which steps may run for many events at once. Tables that are not there are left out.
    fn facts<'a>(&'a mut self, tables: &'a [TableName]) -> Pending<'a, SchemaFacts>;
}

/// What one key group's batch writes to the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advance {
    /// The key group.
    pub group: KeyGroup,
    /// The incarnation that this instance has claimed.
    pub incarnation: Incarnation,
    /// The number of this batch; the row must hold the one before.
    pub batch: BatchNumber,
    /// The positions behind the batch, in the text form of `model`.
    pub positions: String,
    /// The batch's encoded outputs; `None`: it sends nothing.
    pub outbox: Option<Vec<u8>>,
    /// Kafka has confirmed the batches up to this one: their outbox rows can go.
    pub confirmed: Option<BatchNumber>,
}

/// A row of the table of positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionRow {
    /// The key group.
    pub group: KeyGroup,
    /// Raised by each claim.
    pub incarnation: Incarnation,
    /// The last batch stored.
    pub batch: BatchNumber,
    /// The last batch stored that had something to send.
    pub output_batch: BatchNumber,
    /// Text form.
    pub positions: String,
    /// Kafka has confirmed the batches up to this one, for all that the ledger has heard.
    pub confirmed: BatchNumber,
}

/// A row of the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRow {
    /// The key group.
    pub group: KeyGroup,
    /// The batch.
    pub batch: BatchNumber,
    /// Encoded outputs.
    pub outputs: Vec<u8>,
}

/// A row of the job's frontier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontierRow {
    /// Name of the topic.
    pub topic: String,
    /// Partition number.
    pub partition: i32,
    /// Everything before it is handled.
    pub next: NextOffset,
}

/// The job's own row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    /// As at the first start.
    pub key_groups: u32,
    /// Of the parts of the job file that decide which key group an event belongs to.
    pub fingerprint: String,
    /// A random name of this ledger's life, so that a progress topic of another life is recognised.
    pub ledger_id: String,
    /// How often the positions were reset.
    pub resets: u64,
    /// The consumer group whose positions bear the job's mark; empty: none yet.
    pub marked_group: String,
}

/// What there is of the ledger's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LedgerState {
    /// None of them, or not all.
    Missing,
    /// An older version, which the next start brings to this one.
    Older(u64),
    /// As this program wants them.
    Ready,
}

/// A topic that the job knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicRow {
    /// Its name.
    pub topic: String,
    /// Kafka's id of it: another one means that the topic was deleted and made anew.
    pub id: String,
}

/// One partition's move by a reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// Name of the topic.
    pub topic: String,
    /// Partition number.
    pub partition: i32,
    /// The frontier before.
    pub from: NextOffset,
    /// No record at or behind it was handled before.
    pub handled: NextOffset,
    /// The frontier now.
    pub to: NextOffset,
}

/// A reset of positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reset {
    /// When, as text for a person: UTC.
    pub at: String,
    /// All position rows of the job as they are to be, under the incarnations that the reset has claimed.
    pub positions: Vec<PositionRow>,
    /// The partitions that move.
    pub moves: Vec<Move>,
    /// Topics whose ids count from now on.
    pub topics: Vec<TopicRow>,
}

/// A row of the table of resets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResetRow {
    /// Counts the job's resets, from 1.
    pub number: u64,
    /// When, UTC.
    pub at: String,
    /// What it moved.
    pub moved: Move,
}

/// Something that `check` found wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Index into the job's steps; `None`: about the database as a whole.
    pub step: Option<usize>,
    /// What it asks for.
    pub class: ErrorClass,
    /// What was found and what to do.
    pub message: String,
}

/// What an error asks for. The tables are per engine: `mysql/classes.rs`, `sqlite/classes.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// The database is not there, or cannot write now: hold.
    Outage,
    /// Somebody else was in the way: roll back and run again.
    Contention,
    /// This can never be stored as it is.
    Reject,
    /// The job and the schema do not fit.
    Misconfigured,
    /// Rights are missing.
    Rights,
    /// A code that no table knows: handled as an outage, with an alarm.
    Unknown,
}

impl ErrorClass {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorClass::Outage => "outage",
            ErrorClass::Contention => "contention",
            ErrorClass::Reject => "reject",
            ErrorClass::Misconfigured => "misconfigured",
            ErrorClass::Rights => "rights",
            ErrorClass::Unknown => "unknown",
        }
    }
}

/// What the database said, classified.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct DatabaseError {
    /// What it asks for.
    pub class: ErrorClass,
    /// The engine's code, where it gave one.
    pub code: Option<i64>,
    /// What was being done and what the engine said. Values are cut out.
    pub message: String,
    /// The session cannot be used any more.
    pub broken: bool,
    /// The engine says that the transaction is gone: nothing of it was committed.
    pub rolled_back: bool,
    /// Index of the parameter row that was refused, where the engine names it.
    pub row: Option<usize>,
}
