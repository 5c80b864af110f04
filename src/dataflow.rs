//! The page: the graph of a job, in the order in which an event meets it.
//!
//! ```text
//! 1-source --> 2-decode --> (exchange by key group) --> 3-gate --> 4-sink --> 5-commit
//!    |   ^                                                 ^          |          ^
//!    |   +-- epochs of the other sources                   +----------+          |
//!    |                                              Kafka has: outbox rows go    |
//!    +--------------- what each epoch covers ------------------------------------+
//! ```
//!
//! Back pressure has no arrow: readers take bytes from a budget before they read, 5-commit gives them back when an
//! epoch is closed. Offsets have one arrow: they follow the frontier of 4-sink, which moves only when everything before
//! it is stored and emitted.

use crate::model::Epoch;
use crate::operator::commit::{CommitSetup, commit};
use crate::operator::decode::{DecodeSetup, decode};
use crate::operator::gate::{GateSetup, gate};
use crate::operator::sink::{SinkSetup, sink};
use crate::operator::source::{ReaderSetup, source};
use crate::operator::stop::StopRequest;
use timely::dataflow::Scope;
use timely::dataflow::operators::Probe;
use timely::dataflow::operators::probe::Handle;

/// What each operator of one worker needs.
pub struct Setup {
    /// 1
    pub reader: ReaderSetup,
    /// 2
    pub decode: DecodeSetup,
    /// 3
    pub gate: GateSetup,
    /// 4
    pub sink: SinkSetup,
    /// 5
    pub commit: CommitSetup,
    /// For a halt.
    pub stop: StopRequest,
}

/// Builds the graph. The probe is done when every worker has committed its last position.
pub fn build(scope: Scope<'_, Epoch>, setup: Setup) -> Handle<Epoch> {
    let read = source(scope, setup.reader, setup.stop);
    let events = decode(read.records, setup.decode);
    let stored = gate(events, setup.gate);
    let sunk = sink(stored, setup.sink);
    let committed = commit(read.covered, sunk, setup.commit);
    committed.probe().0
}
