//! The checked job: what every other module is built from. Whoever holds one need not check it again.

mod condition;
mod database;
mod event;
mod output;
mod path;

pub use condition::{Comparison, Condition, Operand};
pub use database::{
    DatabaseKind, DatabaseSpec, LookupStep, Meta, Missing, On, Statement, Step, StoreStep, ValueRef,
};
pub use event::{
    Doctype, DurationUnit, EventSpec, Field, FieldRules, FieldSource, FieldType, Gap, KeyPart, List, NoMatch,
    Round, TombstoneRule, WhiteSpace,
};
pub use output::{Addition, Content, Document, Edit, OutputSpec, SetTo, Template, TopicChoice};
pub use path::{Base, Branch, End, Name, Path, PathStep, Predicate};

use std::collections::BTreeMap;
use std::fmt;

/// A whole job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSpec {
    /// `job.name`: names the ledger's rows, the progress topic and the transactional ids.
    pub name: String,
    /// `job.key_groups`: fixed for the job's life.
    pub key_groups: u32,
    /// `job.audit`: whether every record that is read is followed to its outcome.
    pub audit: bool,
    /// `[source]`
    pub source: SourceSpec,
    /// `[event]`
    pub event: EventSpec,
    /// `[database]`
    pub database: DatabaseSpec,
    /// `[output]` or each `[[output]]`; none: a job that only stores.
    pub outputs: Vec<OutputSpec>,
    /// Every topic that an output may go to, each once.
    pub output_topics: Vec<String>,
    /// `[rejects]`
    pub rejects: RejectsSpec,
    /// `[outage]`
    pub outage: OutageSpec,
    /// `[limits]`
    pub limits: LimitsSpec,
}

impl JobSpec {
    /// The name of a partition's topic.
    pub fn topic_of(&self, at: crate::model::TopicPartition) -> &str {
        self.source.topics.get(usize::from(at.topic)).map_or("?", String::as_str)
    }

    /// The place of a topic in the job's list; none: the job does not read it.
    pub fn topic_index(&self, name: &str) -> Option<u16> {
        let index = self.source.topics.iter().position(|topic| topic == name)?;
        u16::try_from(index).ok()
    }

    /// Whether anything is ever sent: outputs or dead letters.
    pub fn sends(&self) -> bool {
        !self.outputs.is_empty() || self.rejects.dead_letter_topic.is_some()
    }
}

/// `[source]`: what is read.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceSpec {
    /// `host:port`, several by commas.
    pub bootstrap_servers: String,
    /// At least one, no two alike. [`crate::model::TopicPartition::topic`] counts in this order.
    pub topics: Vec<String>,
    /// Where a job without a ledger begins.
    pub start: Start,
    /// Offsets are shown here for lag tools.
    pub group_id: String,
    /// Passed to librdkafka as they are; none is an option that Tidegate owns. Values may be secrets.
    pub client: BTreeMap<String, Secret>,
}

/// Where a job without a ledger begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At the oldest record.
    Earliest,
    /// Behind the newest record.
    Latest,
    /// At the consumer group's committed offsets.
    Group,
}

/// What happens to a reject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RejectRule {
    /// To the dead-letter topic, raw.
    DeadLetter,
    /// Everything stops.
    Halt,
    /// Counted and logged with its coordinates.
    Discard,
    /// Into the ledger, and every later event of its key behind it, until a person has it tried again or dropped. Never the
    /// rule for what cannot be read: that may have no key.
    Park,
}

/// `[rejects]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectsSpec {
    /// For records that cannot be read.
    pub unreadable: RejectRule,
    /// For events that the database can never store.
    pub refused: RejectRule,
    /// For events whose look-up finds no row.
    pub missing_lookup: RejectRule,
    /// For outputs over the broker's limit.
    pub too_large: RejectRule,
    /// `Some` wherever a rule is `dead_letter`.
    pub dead_letter_topic: Option<String>,
    /// More rejects than this halt, whatever their rule; none: there is no bound.
    pub budget: Option<RejectBudget>,
}

/// `rejects.budget`: how many rejects a worker lets through, of what cannot be read and of what cannot be handled each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RejectBudget {
    /// `share`, in millionths of the records.
    pub share_ppm: u64,
    /// Rejects that are further apart than so many seconds are no flood.
    pub window_s: u64,
    /// So many are always let through.
    pub at_least: usize,
}

impl RejectBudget {
    /// The records in a row of which `at_least` are just the share.
    pub fn records(&self) -> u64 {
        let at_least = u64::try_from(self.at_least).unwrap_or(u64::MAX);
        at_least.saturating_mul(1_000_000).div_ceil(self.share_ppm.max(1))
    }
}

/// `[outage]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutageSpec {
    /// Seconds after which an outage halts; 0: it holds for ever.
    pub limit_s: u64,
}

/// `[limits]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitsSpec {
    /// Per process: read and not yet committed.
    pub in_flight_bytes: usize,
    /// Of one document.
    pub document_bytes: usize,
    /// Elements inside elements.
    pub document_depth: usize,
    /// Events of one record.
    pub events_per_record: usize,
    /// Seconds for which a process of the cluster may be silent before the others take it for lost; 0: for ever.
    pub peer_silence_s: u64,
    /// Ordering keys that may be parked, per process.
    pub parked_keys: usize,
}

/// A text that must never be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}
