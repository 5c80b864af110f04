//! The checked job: what every other module is built from. Whoever holds one need not check it again.

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
    /// `[output]`; none: a job that only stores.
    pub output: Option<OutputSpec>,
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
        self.output.is_some() || self.rejects.dead_letter_topic.is_some()
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

/// `[event]`: how a document is read.
#[derive(Clone, Debug, PartialEq)]
pub struct EventSpec {
    /// The event's element: the document's root. `Some`: its name must be this one.
    pub root: Option<Name>,
    /// The ordering key's parts, relative to the event's element; empty: the Kafka record key.
    pub key: Vec<Path>,
    /// In the order of the job file.
    pub fields: Vec<Field>,
}

/// One field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// As parameters name it.
    pub name: String,
    /// Where its text stands.
    pub path: Path,
    /// How the text is read.
    pub of_type: FieldType,
    /// Absent or nil gives NULL; else it makes the record unreadable.
    pub optional: bool,
}

/// How a field's text is read.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldType {
    /// The text as it is.
    Text,
    /// -2^63 to 2^63 - 1.
    Int64,
    /// 0 to 2^64 - 1.
    UInt64,
    /// At most `precision` digits, `scale` of them behind the point.
    Decimal {
        /// 1 to 65.
        precision: u8,
        /// 0 to `precision`, at most 38.
        scale: u8,
    },
    /// `true`, `false`, `1`, `0`.
    Bool,
    /// `yyyy-mm-dd`; a zone is allowed and ignored.
    Date,
    /// ISO 8601 date and time.
    Timestamp {
        /// IANA name of the zone of values that carry none.
        zone: Option<String>,
    },
    /// Base64 text.
    Base64,
    /// Hexadecimal text.
    Hex,
}

/// An expanded XML name: matched by namespace URI and local name, never by prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    /// `None`: in no namespace.
    pub namespace: Option<String>,
    /// The local name.
    pub local: String,
}

/// A path of child steps, ending at an element's text or at an attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// As the user wrote it, for messages.
    pub text: String,
    /// From the event's element downwards, the event's element itself not included. An absolute path in the job
    /// file (`/s:order/s:total`) is made relative when it is checked.
    pub steps: Vec<Name>,
    /// `Some`: the attribute of the last element, else its text.
    pub attribute: Option<Name>,
}

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

/// A text that must never be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// One step of the transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Reads at most one row per event.
    Lookup(LookupStep),
    /// Writes.
    Store(StoreStep),
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
    /// Index into [`EventSpec::fields`].
    Field(usize),
    /// A column of an earlier look-up.
    Lookup {
        /// Index into [`DatabaseSpec::steps`].
        step: usize,
        /// Index into [`LookupStep::columns`].
        column: usize,
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

/// `[output]`: the document as it came, byte for byte, with additions.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputSpec {
    /// `output.topic`
    pub topic: String,
    /// The Kafka key's parts; empty: the ordering key.
    pub key: Vec<ValueRef>,
    /// `[[output.add]]`, in order.
    pub additions: Vec<Addition>,
}

/// One `[[output.add]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Addition {
    /// The element that gets it as last child. Its `attribute` is `None`.
    pub at: Path,
    /// Name of the added element.
    pub element: Name,
    /// The job file's prefix of `element`, used where the document binds none; empty: none was written.
    pub prefix: String,
    /// Its text; `None`: an empty element. A NULL makes the element empty, too.
    pub text: Option<Content>,
    /// Its attributes in the order of the job file, names without prefix; a NULL leaves the attribute out.
    pub attributes: Vec<(String, Content)>,
}

/// What an addition says: the same text each time, or a value of the event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// A text of the job file, not yet escaped.
    Literal(String),
    /// `":field"`
    Value(ValueRef),
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
    /// Seconds for which a process of the cluster may be silent before the others take it for lost; 0: for ever.
    pub peer_silence_s: u64,
    /// Ordering keys that may be parked, per process.
    pub parked_keys: usize,
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
