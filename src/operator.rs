//! The operators of the dataflow, in the order in which an event meets them, and the few parts they share.
//!
//! In:        streams     Out: streams
//! Not here:  the graph (dataflow), decisions (protocol). An operator knows of another one only what travels between
//!            the two: the sink the gate's batches and their confirmations, commit what the source's epochs cover

/// 1: partitions to records, in epochs.
pub mod source;

/// 2: records to events.
pub mod decode;

/// Between 2 and 3: which worker handles an event.
pub mod exchange;

/// Between 2 and 3: a record's events on their way to one worker.
pub mod bundle;

/// 3: events through the database.
pub mod gate;

/// 4: stored batches to Kafka.
pub mod sink;

/// 5: offsets behind the frontier.
pub mod commit;

/// 6, beside them: every record one outcome.
pub mod audit;

/// For tests: faults that the audit must find.
pub mod planted;

/// Shared: what became of records, for the audit.
pub mod account;

/// Shared: whether a condition of the job holds.
pub mod condition;

/// Shared: what stands on a dead letter, and how it is made to fit.
pub mod letter;

/// Shared: where tasks and what blocks run.
pub mod host;

/// Shared: how many bytes may be in flight.
pub mod budget;

/// Shared: answers from other threads to an operator.
pub mod mailbox;

/// Shared: finds out when something that is out answers again.
pub mod prober;

/// Shared: when rejects are too many.
pub mod flood;

/// Shared: tells a refusal that stays from one that passes.
pub mod refusals;

/// Shared: the note of what is in hand, so that a record that kills the process is known to the next one.
pub mod guard;

/// Shared: how an operator asks for a stop.
pub mod stop;
