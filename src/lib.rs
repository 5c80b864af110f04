//! Tidegate: a 24/7 job runner for one pipeline shape.
//!
//! Kafka topics, XML to event, exchange by key, database look-up and store, event to XML, Kafka topic,
//! offsets behind the frontier. ARCHITECTURE.md tells the whole; the modules below stand in the order in
//! which they are met: what a job is, the words, the dataflow and its operators, the decisions they ask,
//! the three outside worlds (XML, database, Kafka), and what runs and shows it all.

/// From the job file's text to a checked [`job::JobSpec`]: every error at once, no I/O.
pub mod job;

/// The words every other module speaks: offsets, epochs, key groups, events, values.
pub mod model;

/// The page: the graph of a job, from source to commit.
pub mod dataflow;

/// The operators, in the order of the graph.
pub mod operator;

/// Decisions of gate, sink and recovery as pure state machines: no I/O, no time, no randomness.
pub mod protocol;

/// XML documents to events, and events back to documents. The only module that names `quick_xml`.
pub mod xml;

/// The user's database and the ledger in it. The only module that names SQL drivers.
pub mod database;

/// The log: Kafka. The only module that names `rdkafka`.
pub mod kafka;

/// A job on its workers: start, control, halt, end.
pub mod cluster;

/// What the operators write down and what a person reads.
pub mod status;

/// What a user types, and what they see.
pub mod cli;

/// Both outside worlds in memory, with the faults that real ones have: for tests.
pub mod testing;
