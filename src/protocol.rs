//! The decisions, and nothing else: what to do when an event arrived, a commit was acknowledged, an answer was lost.
//!
//! In:        things that happened     Out: things to do
//! Holds:     what is queued, what is out, and the numbers that make a batch happen once
//! Fails:     never by itself; what must not go on becomes a halt, what must not be becomes a panic
//! Not here:  no timely, no I/O, no clock, no randomness: a test drives this very code through any schedule
//!
//! The three machines meet in one rule: a batch is first stored with its outputs beside it (gate), then emitted with
//! its number beside it (sink), and only then may its events' epoch close. Whatever is in doubt between the two is
//! looked up, never repeated on a guess (gate: the position row; sink: the progress topic; start: both).

/// Key group by key group, events to numbered batches, batches through one database transaction each.
pub mod gate;

/// Stored batches to Kafka transactions.
pub mod sink;

/// What a start makes of ledger, outbox and progress topic.
pub mod recovery;

/// What a start makes of topics, positions and the consumer group.
pub mod world;

/// Where positions go when a person moves them.
pub mod reset;

/// Which process of the cluster has been silent for too long.
pub mod watch;

/// What a start makes of the note of the process before it.
pub mod guard;

/// Why the whole job stops.
pub mod halt;
