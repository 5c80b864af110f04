//! Trouble as people have met it with jobs of this kind, each as a small case: documents, values that a table refuses,
//! locks and outages of seconds, kills at the worst moment, records that are too large or gone.
//!
//! Several cases share one job and its runs: a start costs more than a case.

// A job for a few cases, and what it left behind.
mod bench;

// The cases.
mod changes;
mod disk;
mod documents;
mod kills;
mod many;
mod million;
mod nights;
mod recoveries;
mod refusals;
mod refusing;
mod rejects;
mod replays;
mod sizes;
mod slow;
mod topics;
mod trouble;
mod wires;
mod worlds;
