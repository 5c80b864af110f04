//! Audit: whether every record that was read has had exactly one outcome, before its epoch counts as closed for ever.
//!
//! In:        +1 per record read, -1 per outcome @ the event's own epoch, exchanged by partition     Out: nothing; its end
//! Holds:     what open epochs have not settled yet; its own output for good once it has found something, so that no
//!            worker takes the end for a clean one
//! Order:     none
//! Fails:     something left of a closed epoch -> a lost or a doubled record -> halt (70) that names it
//! Not here:  no recovery: the audit tells. It holds back no other operator: its output goes to the end alone
//!
//! The updates are a differential collection; one arrangement brings both sides of a partition to one worker and adds them
//! up per epoch. Its trace is dropped, so a closed epoch is forgotten. Its frontier is the least of those of all four
//! operators that account; past an epoch means that nobody can account for anything in it any more.
//!
//! ```text
//! 1-source   +1  each record that it gives                   2-decode  +1  each event of a record behind the first
//! 2-decode   -1  discarded                                   3-gate    -1  stored by an earlier run
//! 4-sink     -1  each record of a batch that Kafka has confirmed, by what its header names; each event that sends
//!                nothing, when its batch is through
//! ```
//!
//! A stored batch travels at the oldest epoch of its transaction's events, and its outcome is accounted at the epoch of each
//! event: never an older one, so the message's capability covers it, and that epoch is still open, since the sink holds
//! the older one until it has said so. Where the data dataflow stops early (halt, crash) nothing closes and nothing is
//! judged; after a drain every epoch closes.
//!
//! Memory: per event in flight one update of 40 bytes here at the most (every other event of a row settled), and 40 bytes in
//! its batch from the gate to the sink. The budget counts more than 1024 bytes for each and bounds how many there are.

mod left;

use super::account::{Accounts, Edge, Update};
use super::stop::StopRequest;
use crate::job::JobSpec;
use crate::model::Epoch;
use crate::protocol::halt::{Halt, HaltKind};
use differential_dataflow::operators::arrange::arrangement::arrange_core;
use differential_dataflow::trace::implementations::{KeyBatcher, KeySpine};
use differential_dataflow::trace::{Cursor, Navigable};
use left::Left;
use std::sync::Arc;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::Concatenate;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::{Scope, StreamVec};

/// What the audit needs.
pub struct AuditSetup {
    /// The job, for the names of its topics.
    pub spec: Arc<JobSpec>,
    /// For a halt.
    pub stop: StopRequest,
}

/// Adds the operator; none where no operator accounts. Its output carries nothing but its end.
pub fn audit<'scope, const N: usize>(
    scope: Scope<'scope, Epoch>,
    accounts: [Accounts<'scope>; N],
    setup: AuditSetup,
) -> Option<StreamVec<'scope, Epoch, ()>> {
    let accounts: Vec<StreamVec<'scope, Epoch, Update>> = accounts.into_iter().flatten().collect();
    if accounts.is_empty() {
        return None;
    }
    let arranged = arrange_core::<_, _, KeyBatcher<Edge, Epoch, isize>, KeySpine<Edge, Epoch, isize>>(
        scope.concatenate(accounts),
        Exchange::new(route),
        "6-audit: sums",
        KeyBatcher::new,
    );
    let AuditSetup { spec, stop } = setup;
    let mut builder = OperatorBuilder::new("6-audit".to_owned(), scope);
    let mut input = builder.new_input(arranged.stream, Pipeline);
    let (_output, done) = builder.new_output::<Vec<()>>();
    builder.build(move |capabilities| {
        drop(capabilities);
        let mut found = Vec::new();
        move |_frontiers| {
            // One container at a time, as everywhere. A span has all of the epochs that its frontier has passed.
            input.for_each(|capability, spans| {
                let mut left = Left::default();
                for sums in spans.drain(..).filter_map(|span| span.inner) {
                    let mut cursor = sums.cursor();
                    while let Some(edge) = cursor.get_key(&sums) {
                        cursor.map_times(&sums, |epoch, difference| left.add(*epoch, *edge, *difference));
                        cursor.step_key(&sums);
                    }
                }
                if let Some(text) = left.verdict(&spec) {
                    found.extend(capability.retain_least(0));
                    stop.halt(Halt::new(HaltKind::Internal, text));
                }
            });
        }
    });
    Some(done)
}

/// By partition: the edges of a run must meet, and of them the worker that reads the partition has the most.
fn route(((edge, ()), _, _): &Update) -> u64 {
    u64::from(edge.at.partition.unsigned_abs())
}
