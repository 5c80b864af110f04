//! The page: the graph of a job, in the order in which an event meets it.
//!
//! ```text
//! 1-source --> 2-decode --> (exchange by key group) --> 3-gate --> 4-sink --> 5-commit
//!    |   ^                                                 ^          |          ^
//!    |   +-- epochs of the other sources                |  +----------+          |
//!    +-- tickets: parked events are to be tried --------+   Kafka has: outbox    |
//!    |                                                      rows go              |
//!    +--------------- what each epoch covers ------------------------------------+
//! ```
//!
//! Beside it, where the job is audited: 1, 2, 3 and 4 tell 6-audit of every record that was read and of every outcome. It
//! holds back nothing but the end.
//!
//! Back pressure has no arrow: readers take bytes from a budget before they read, 5-commit gives them back when an
//! epoch is closed. Offsets have one arrow: they follow the frontier of 4-sink, which moves only when everything before
//! it is stored and emitted.

use crate::model::Epoch;
use crate::operator::audit::{AuditSetup, audit};
use crate::operator::commit::{CommitSetup, commit};
use crate::operator::decode::{DecodeSetup, decode};
use crate::operator::gate::{GateSetup, gate};
use crate::operator::planted::{Planted, in_batches, in_events, in_records};
use crate::operator::sink::{SinkSetup, sink};
use crate::operator::source::{ReaderSetup, source};
use crate::operator::stop::StopRequest;
use std::sync::Arc;
use timely::dataflow::Scope;
use timely::dataflow::operators::probe::Handle;
use timely::dataflow::operators::{Concat, Probe};

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
    /// 6
    pub audit: AuditSetup,
    /// For a halt.
    pub stop: StopRequest,
    /// In tests of the audit: what it has to find.
    pub planted: Option<Arc<Planted>>,
}

/// Builds the graph. The probe is done when every worker has committed its last position, and the audit found nothing.
pub fn build(scope: Scope<'_, Epoch>, setup: Setup) -> Handle<Epoch> {
    let fault = setup.planted.as_ref();
    let read = source(scope, setup.reader, setup.audit.spec.audit, setup.stop);
    let decoded = decode(in_records(read.records, fault), setup.decode);
    let stored = gate(in_events(decoded.events, fault), read.tickets, setup.gate);
    let sunk = sink(in_batches(stored.batches, fault), setup.sink);
    let committed = commit(read.covered.concat(decoded.covered), sunk.done, setup.commit);
    let accounts = [read.accounts, decoded.accounts, stored.accounts, sunk.accounts];
    match audit(scope, accounts, setup.audit) {
        Some(audited) => committed.concat(audited).probe().0,
        None => committed.probe().0,
    }
}
