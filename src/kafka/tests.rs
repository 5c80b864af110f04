//! The log against librdkafka's mock cluster, where that is enough, and against a real broker, where it is not.
//!
//! The real broker is the one at `TIDEGATE_KAFKA`; without that variable `scripts/services` starts one for this run.

mod broker;
pub(super) mod support;

mod classes;
mod codes;
mod limits;
mod mock;
mod outage;
mod questions;
mod reading;
mod transactions;
