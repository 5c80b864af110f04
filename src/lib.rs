//! Tidegate: a 24/7 job runner for one pipeline shape.
//!
//! Kafka topics, XML to event, exchange by key, database look-up and store, event to XML, Kafka topic,
//! offsets behind the frontier. ARCHITECTURE.md tells the whole; the modules below stand in the order in
//! which they are met: what a job is, the words, the dataflow and its operators, the decisions they ask,
//! and the three outside worlds (XML, database, Kafka).

/// From the job file's text to a checked [`job::JobSpec`]: every error at once, no I/O.
pub mod job;

/// The words every other module speaks: offsets, epochs, key groups, events, values.
pub mod model;

/// Decisions of gate, sink and recovery as pure state machines: no I/O, no time, no randomness.
pub mod protocol;

/// XML documents to events, and events back to documents. The only module that names `quick_xml`.
pub mod xml;

/// The user's database and the ledger in it. The only module that names SQL drivers.
pub mod database;

/// The log: Kafka. The only module that names `rdkafka`.
pub mod kafka;
