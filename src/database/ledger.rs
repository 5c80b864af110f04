//! The ledger: Tidegate's own tables in the user's database. One set of tables serves all jobs of a schema.
//!
//! In:        what the protocol wants written or read, as the words of [`super`]
//! Out:       tables, statements (the same text for both engines wherever their dialects allow it) and rows
//! Holds:     the version of the tables; an older ledger is brought to it, a newer one is refused
//! Fails:     misconfigured: tables missing or of another version; rights: tables missing and not allowed to create
//! Not here:  no driver: [`Engine`] is what a session offers
//!
//! | table | one row per | holds |
//! | --- | --- | --- |
//! | `tidegate_ledger` | schema | the version of these tables |
//! | `tidegate_job` | job | what must stay the same for the job's life |
//! | `tidegate_frontier` | job, topic, partition | everything before `next_offset` is handled |
//! | `tidegate_position` | job, key group | incarnation, last batch, positions behind it |
//! | `tidegate_outbox` | job, key group, batch | encoded outputs that Kafka has not confirmed |
//! | `tidegate_topic` | job, topic | the id of the topic that the job knows under this name |
//! | `tidegate_reset` | job, reset, topic, partition | positions that `offsets reset` has moved, and from where to where |
//! | `tidegate_parked_key` | job, parked ordering key | what a person wants done with it |
//! | `tidegate_parked` | job, key group, batch, place | a parked event with its record, or what is left of a dropped one |

use super::{Pending, Row};
use std::borrow::Cow;

mod tables;
pub(super) use tables::{TABLES, VERSION, ddl, upgrade};

mod statements;

mod rows;

mod create;
pub(super) use create::{create, state};

mod parked;
mod parked_reads;
mod parked_rows;
mod parked_statements;

mod world;
pub(super) use world::{mark_group, remember_topics, reset, resets, topics};

mod run;
pub(super) use run::{
    advance, advance_frontier, claim, create_job, frontier, job_row, outbox, positions, probe,
    set_fingerprint, settle,
};

/// Where the engines' SQL differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// MySQL and MariaDB.
    MySql,
    /// SQLite.
    Sqlite,
}

/// What is done with the savepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Point {
    Set,
    Release,
    Undo,
}

impl Point {
    /// The statements that do it, in both dialects.
    pub(super) fn texts(self) -> &'static [&'static str] {
        match self {
            Point::Set => &["SAVEPOINT tidegate_point"],
            Point::Release => &["RELEASE SAVEPOINT tidegate_point"],
            Point::Undo => &["ROLLBACK TO SAVEPOINT tidegate_point", "RELEASE SAVEPOINT tidegate_point"],
        }
    }
}

/// What the ledger needs of a session: three ways to run a statement, and a savepoint. Transactions are the session's own.
pub(super) trait Engine: super::Session {
    /// Whose SQL it speaks.
    fn dialect(&self) -> Dialect;

    /// The name that the ledger's rows of this job carry.
    fn job(&self) -> &str;

    /// All rows of the answer.
    fn query<'a>(&'a mut self, text: Cow<'static, str>, parameters: Row) -> Pending<'a, Vec<Row>>;

    /// How many rows the statement matched.
    fn execute<'a>(&'a mut self, text: Cow<'static, str>, parameters: Row) -> Pending<'a, u64>;

    /// Runs the statement once per row of parameters, in as few round trips as the engine allows.
    fn execute_each<'a>(&'a mut self, text: Cow<'static, str>, rows: Vec<Row>) -> Pending<'a, ()>;

    /// Sets the savepoint, gives it up or goes back to it. Contention, and rolled back, where the transaction is gone.
    fn point(&mut self, point: Point) -> Pending<'_, ()>;
}
