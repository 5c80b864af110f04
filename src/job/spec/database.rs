//! `[database]`: the engine, and the steps of the transaction.

use super::Secret;
use super::condition::Condition;
use std::fmt;

/// `[database]`
#[derive(Clone, PartialEq)]
pub struct DatabaseSpec {
    /// Which engine.
    pub kind: DatabaseKind,
    /// In order, all in one transaction.
    pub steps: Vec<Step>,
    /// `database.connections`: how many transactions a process has open at the most.
    pub connections: u32,
    /// `database.batch_events`: events that one transaction takes at the most.
    pub batch_events: u32,
    /// `database.deadline_s`: how long one transaction may take, in seconds, before its connection is given up.
    pub deadline_s: u32,
    /// `database.together`: events run together where their steps allow it; else one by one.
    pub together: bool,
}

/// Which engine, and where.
#[derive(Clone, PartialEq)]
pub enum DatabaseKind {
    /// `mysql://` or `mariadb://`
    MySql {
        /// Host name or address.
        host: String,
        /// TCP port.
        port: u16,
        /// Account name.
        user: String,
        /// From the URL, a variable in it, or the text of `password_file` (read by whoever loads the job).
        password: Option<Secret>,
        /// `database.password_file` as the user wrote it; relative to the job file.
        password_file: Option<String>,
        /// The schema.
        database: String,
    },
    /// `sqlite:path`
    Sqlite {
        /// Path of the file, relative to the working directory.
        path: String,
    },
}

/// One step of the transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Reads at most one row per event.
    Lookup(LookupStep),
    /// Writes.
    Store(StoreStep),
}

impl Step {
    /// Its SQL.
    pub fn statement(&self) -> &Statement {
        match self {
            Step::Lookup(lookup) => &lookup.statement,
            Step::Store(store) => &store.statement,
        }
    }
}

/// A step that reads.
#[derive(Clone, Debug, PartialEq)]
pub struct LookupStep {
    /// As parameters name it; steps without a name cannot be referred to.
    pub name: Option<String>,
    /// The SELECT.
    pub statement: Statement,
    /// What no row means.
    pub missing: Missing,
    /// For so long, in seconds, a row that it found is taken for what it would find; 0: it is asked each time.
    pub cache_s: u64,
    /// Of which records it is run.
    pub on: On,
    /// It is run only where this holds; else its columns are NULL and nothing is missing.
    pub when: Option<Condition>,
    /// The columns that anything refers to, each once; [`ValueRef::Lookup`] counts in this order.
    pub columns: Vec<String>,
}

/// A step that writes.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreStep {
    /// For messages.
    pub name: Option<String>,
    /// INSERT, REPLACE, UPDATE or DELETE.
    pub statement: Statement,
    /// Index into [`super::EventSpec::lists`]: it is run once per row, in document order.
    pub for_each: Option<usize>,
    /// Of which records it is run.
    pub on: On,
    /// It is run only where this holds. With `for_each` it is asked per row.
    pub when: Option<Condition>,
}

/// `on`: records with a value are documents, those without are tombstones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// The default.
    Document,
    /// Records without a value: only key and headers are fields.
    Tombstone,
    /// Both.
    Any,
}

impl On {
    /// Whether it is for such a record.
    pub fn takes(self, tombstone: bool) -> bool {
        match self {
            On::Document => !tombstone,
            On::Tombstone => tombstone,
            On::Any => true,
        }
    }
}

/// What a look-up without a row means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The event is a reject.
    Reject,
    /// All its columns are NULL.
    Null,
}

/// One SQL statement, its named parameters replaced by `?`.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The text for the server, with one `?` per parameter.
    pub sql: String,
    /// What is bound to each `?`, in order.
    pub parameters: Vec<ValueRef>,
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ValueRef {
    /// Index into [`super::EventSpec::fields`].
    Field(usize),
    /// A column of an earlier look-up.
    Lookup {
        /// Index into [`DatabaseSpec::steps`].
        step: usize,
        /// Index into [`LookupStep::columns`].
        column: usize,
    },
    /// A field of a list's row: in a step for each row of the list or of one inside it.
    Row {
        /// Index into [`super::EventSpec::lists`].
        list: usize,
        /// Index into [`super::List::fields`].
        field: usize,
    },
    /// `:list._index`: which row of its parent it is, from 1.
    RowIndex {
        /// Index into [`super::EventSpec::lists`].
        list: usize,
    },
    /// Something of the record, not of the document.
    Meta(Meta),
}

/// What `:_name` gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Meta {
    /// `:_topic`, text
    Topic,
    /// `:_partition`, int
    Partition,
    /// `:_offset`, int
    Offset,
    /// `:_timestamp`, an instant; NULL where the record has none
    Timestamp,
    /// `:_key`, bytes; NULL where the record has none
    Key,
    /// `:_header.NAME`, bytes of the last header of that name; NULL where there is none
    Header(String),
    /// `:_now`, the wall clock in UTC when the transaction runs
    Now,
}

impl fmt::Debug for DatabaseSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseSpec")
            .field("kind", &self.kind)
            .field("steps", &self.steps)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for DatabaseKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatabaseKind::MySql { host, port, user, database, .. } => {
                write!(f, "mysql://{user}@{host}:{port}/{database}")
            }
            DatabaseKind::Sqlite { path } => write!(f, "sqlite:{path}"),
        }
    }
}
