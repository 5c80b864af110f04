//! Many: a job whose records have no events, one or many, with rows inside rows, conditions, several outputs and topics,
//! and tombstones.
//!
//! In:        a world like any other, with this job, and an input for it     Out: everything that is wrong
//! Order:     of each key's events: by record, and within a record by document
//! Not here:  what happens to instances (life, simulated)

mod check;
mod input;
mod job;

#[cfg(test)]
mod refused;

pub use check::check;
pub use input::ManyInput;
pub use job::{EXTRA, spec, steps};
