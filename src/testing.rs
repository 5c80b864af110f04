//! Testing: both outside worlds in memory, and the faults that real ones have.
//!
//! In:        topics and records; tables' rows; which faults, how often, and a seed
//! Out:       [`crate::kafka::AsyncLog`] and [`crate::database::Database`] for a job that runs in this process
//! Holds:     a [`Broker`] and a [`MemoryDatabase`] outlive the runs of a job, as servers outlive processes. A [`Link`] is
//!            one process's wire to both: it can be frozen, thawed and cut
//! Order:     as in the real ones: offsets with control records, read committed, transactions fenced by epoch; row locks,
//!            compare-and-set, READ COMMITTED
//! Fails:     as told, by the classes that the real ones give
//! Not here:  no clock of their own (waits are tokio's, so a test may move it), no SQL: a store appends a
//!            row, a look-up looks into a list. What is slow, large or particular to a server is proved on the real one
//!
//! Each instance of a job gets a link of its own, and through it a [`MemoryLog`] and a [`FaultyDatabase`]. Cutting the
//! link is what `kill -9` is to the servers: no further call arrives, the connection's open transaction is rolled back,
//! and the producer's stays open until its id is initialised again. Freezing it is SIGSTOP: calls stop where they
//! are, and go on from there when the link is thawed, however much the world has changed.

mod broker;
mod faults;
mod faulty_database;
mod faulty_session;
mod history;
mod lie;
mod link;
mod log;
mod memory_database;
mod memory_parked;
mod memory_session;
mod parked_tables;
mod partition;
mod random;
mod reader;
mod tables;
mod waiting;
mod writer;

pub use broker::{Broker, Committed, Outage};
pub use faults::{DatabaseFaults, LogFaults};
pub use faulty_database::FaultyDatabase;
pub use history::History;
pub use lie::Lie;
pub use link::Link;
pub use log::MemoryLog;
pub use memory_database::{MemoryDatabase, MemoryStep};
pub use parked_tables::{KeyRow, ParkedTables};
pub use random::Random;
pub use tables::{StoredRow, Tables};
pub use waiting::waiting;

#[cfg(test)]
mod tests;
