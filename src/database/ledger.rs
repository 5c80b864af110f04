//! The ledger: Tidegate's own tables in the user's database. One set of tables serves all jobs of a schema.
//!
//! In:        what the protocol wants written or read, as the words of [`super`]
//! Out:       tables, statements (the same text for both engines wherever their dialects allow it) and rows
//! Holds:     the version of the tables; a ledger of version 1 is brought to it, one of another version is refused
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

use super::{Pending, Row};
use std::borrow::Cow;

mod tables;
pub(super) use tables::{TABLES, VERSION, ddl, upgrade};

mod statements;

mod rows;

mod create;
pub(super) use create::{create, state};

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

/// What the ledger needs of a session: three ways to run a statement. Transactions are the session's own.
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
}
