//! A job on its workers: start, control, halt, end.
//!
//! In:        a checked job, a log, a database, and how many workers on how many processes
//! Out:       how it ended: drained, or halted with the first cause
//! Order:     a start sees that the world fits its ledger, then goes claim, fence, progress topic, outbox, read; on every worker, with a barrier behind claim and fence
//! Fails:     an outage at start is waited for like any other; a halt reaches every worker before any of them ends
//! Not here:  the graph (dataflow), what the process does with the end (main)

mod control;
mod launch;
mod ledger;
mod pulse;
mod reset;
mod sockets;
mod start;
mod stepped;
mod worker;

pub use launch::{Cluster, Ended, Job, Signals, run, run_planted};
pub use reset::{Failed, Preview, Reset};
pub use stepped::Stepped;
