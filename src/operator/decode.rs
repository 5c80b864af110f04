//! Decode: records to events, or to the reason why not.
//!
//! In:        record @ epoch     Out: event @ the same epoch; for the audit further events of a record, and what is discarded
//! Holds:     nothing
//! Order:     as it came
//! Fails:     unreadable -> the job's rule: dead letter (travels on as an event), discard (counted and logged), or halt;
//!            more of them than `rejects.budget` -> halt
//! Not here:  no XML (the decoder is handed in), no routing (exchange)

use super::account::{Accounts, Tally, Tap, Way};
use super::exchange::{key_group_of, key_group_of_unreadable};
use super::flood::{Flood, TooMany};
use super::guard::{Care, Taken};
use super::planted::Planted;
use super::stop::StopRequest;
use crate::job::{JobSpec, RejectRule};
use crate::kafka::ReadRecord;
use crate::model::{Body, Coordinates, Epoch, Event, KeyGroup, Reason, ReasonCode, Record};
use crate::protocol::guard::Stage;
use crate::protocol::halt::{Halt, HaltKind};
use crate::status::Board;
use crate::xml::{Decoded, Decoder};
use bytes::Bytes;
use std::sync::Arc;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use tokio::time::Instant;

/// What decode needs.
pub struct DecodeSetup {
    /// The job.
    pub spec: Arc<JobSpec>,
    /// Reads documents.
    pub decoder: Decoder,
    /// Where counts go.
    pub board: Arc<Board>,
    /// For a halt.
    pub stop: StopRequest,
    /// Behind an unclean end.
    pub care: Option<Arc<Care>>,
    /// In tests: what is done while this record is in hand.
    pub planted: Option<Arc<Planted>>,
}

/// What decode gives.
pub struct DecodedEvents<'scope> {
    /// Events in their records' epochs.
    pub events: StreamVec<'scope, Epoch, Event>,
    /// For the audit: events that it does not know of yet, and those that go no further.
    pub accounts: Accounts<'scope>,
}

/// Adds the operator.
pub fn decode<'scope>(
    records: StreamVec<'scope, Epoch, ReadRecord>,
    setup: DecodeSetup,
) -> DecodedEvents<'scope> {
    let DecodeSetup { spec, mut decoder, board, stop, mut care, planted } = setup;
    let mut builder = OperatorBuilder::new("2-decode".to_owned(), records.scope());
    let mut input = builder.new_input(records, Pipeline);
    let (output, events) = builder.new_output::<Vec<Event>>();
    let mut output = OutputBuilder::<_, CapacityContainerBuilder<Vec<Event>>>::from(output);
    let (mut tap, accounts) = Tap::new(&mut builder, spec.audit);
    builder.build(move |capabilities| {
        drop(capabilities);
        let (mut further, mut discarded) = (Tally::default(), Tally::default());
        // A record that halts the job, and all behind it, go no further and keep their epochs open. Were later records
        // handled, their key groups' positions would cover this one, and the next start would skip it.
        let mut unsettled = Vec::new();
        let mut flood = spec.rejects.budget.map(Flood::new);
        let begun = Instant::now();
        move |_frontiers| {
            let mut output = output.activate();
            // One container at a time: grouping by stamp sorts unstably, and would mix up the containers of an epoch.
            input.for_each(|capability, data| {
                if !unsettled.is_empty() {
                    return unsettled.extend(capability.retain_least(0));
                }
                let epoch = capability.least().copied().unwrap_or_default();
                let mut session = output.session(&capability);
                care.take_if(|care| care.is_over());
                for record in data.drain(..) {
                    let mut read = |record| {
                        planted.iter().for_each(|planted| planted.in_decode(&record));
                        read(record, &spec, &mut decoder)
                    };
                    let event = match &care {
                        None => read(record),
                        Some(care) => read_carefully(record, care, &spec, &mut read),
                    };
                    if event.at.index > 0 && tap.is_on() {
                        further.add(event.at, epoch);
                    }
                    if let Some(halt) = flood_of(flood.as_mut(), &event, begun, &spec) {
                        unsettled.extend(capability.retain_least(0));
                        return stop.halt(halt);
                    }
                    match (&event.body, spec.rejects.unreadable) {
                        (Body::Readable { .. } | Body::Tombstone { .. }, _) | (_, RejectRule::DeadLetter) => {
                            session.give(event)
                        }
                        (Body::Unreadable(reason), RejectRule::Discard) => {
                            discard(&event, reason, &spec, &board);
                            if tap.is_on() {
                                discarded.add(event.at, epoch);
                            }
                        }
                        (Body::Unreadable(reason), RejectRule::Halt | RejectRule::Park) => {
                            unsettled.extend(capability.retain_least(0));
                            return stop.halt(refusal(&event, reason, &spec, care.as_deref()));
                        }
                    }
                }
                drop(session);
                tap.give(&capability, &mut further, Way::Expected);
                tap.give(&capability, &mut discarded, Way::Settled);
            });
        }
    });
    DecodedEvents { events, accounts }
}

/// One record to one event.
pub fn read(record: ReadRecord, spec: &JobSpec, decoder: &mut Decoder) -> Event {
    match decoded(&record.record, decoder) {
        Ok(Decoded { key, reading }) => {
            let body = Body::Readable(reading);
            let ReadRecord { at, offset, record } = record;
            let key_group = key_group_of(&key, spec.key_groups);
            let at = Coordinates { at, offset, index: 0 };
            Event { at, last_of_record: true, key_group, key, record, body }
        }
        Err(reason) => unreadable(record, reason, spec),
    }
}

fn unreadable(record: ReadRecord, reason: Reason, spec: &JobSpec) -> Event {
    let ReadRecord { at, offset, record } = record;
    let key_group: KeyGroup = key_group_of_unreadable(at, offset, spec.key_groups);
    let (at, body) = (Coordinates { at, offset, index: 0 }, Body::Unreadable(reason));
    Event { at, last_of_record: true, key_group, key: Bytes::new(), record, body }
}

/// The same behind an unclean end: the record is written down while it is read, or was convicted.
fn read_carefully(
    record: ReadRecord,
    care: &Care,
    spec: &JobSpec,
    read: &mut impl FnMut(ReadRecord) -> Event,
) -> Event {
    let at = Coordinates { at: record.at, offset: record.offset, index: 0 };
    match care.take(Stage::Read, at, &record.record) {
        Taken::Freely => read(record),
        Taken::InHand(in_hand) => {
            let event = read(record);
            drop(in_hand);
            event
        }
        Taken::Convicted(stage, reason) => {
            let (topic, partition, offset) = (spec.topic_of(at.at), at.at.partition, at.offset.0);
            tracing::warn!(topic, partition, offset, %reason, "handled as unreadable");
            match stage {
                Stage::Read => unreadable(record, reason, spec),
                // It has come through this stage, and may even be stored: its own key group knows.
                Stage::Output | Stage::Retry => Event { body: Body::Unreadable(reason), ..read(record) },
            }
        }
    }
}

fn decoded(record: &Record, decoder: &mut Decoder) -> Result<Decoded, Reason> {
    let none = || Reason { code: ReasonCode::NotTheEvent, detail: "the document has no event".to_owned() };
    decoder.decode(record)?.into_iter().next().ok_or_else(none)?
}

/// A halt where this record is an unreadable one too many.
fn flood_of(flood: Option<&mut Flood>, event: &Event, begun: Instant, spec: &JobSpec) -> Option<Halt> {
    let flood = flood?;
    let Body::Unreadable(reason) = &event.body else {
        flood.readable();
        return None;
    };
    // A single one halts by its rule, which says more.
    if spec.rejects.unreadable == RejectRule::Halt {
        return None;
    }
    let TooMany { rejects, records } = flood.reject(begun.elapsed())?;
    let (topic, partition, offset) = (spec.topic_of(event.at.at), event.at.at.partition, event.at.offset);
    let text = format!(
        "{rejects} of the last {records} records that this worker has read cannot be read: more than rejects.budget allows. \
         The last one is {topic}/{partition}/{offset} ({reason}). So many point to a changed producer or job file: mend it, or \
         raise the budget, and start again; the job goes on with this very record, and each start counts anew"
    );
    let halt = Halt::new(HaltKind::Reject, text).about(Some(event.at));
    Some(halt.because("reject budget", Some(reason.code.as_str().to_owned())))
}

fn discard(event: &Event, reason: &Reason, spec: &JobSpec, board: &Board) {
    board.discarded.add(1);
    let (topic, partition, offset) = (spec.topic_of(event.at.at), event.at.at.partition, event.at.offset.0);
    tracing::warn!(topic, partition, offset, %reason, "unreadable record discarded");
}

fn refusal(event: &Event, reason: &Reason, spec: &JobSpec, care: Option<&Care>) -> Halt {
    let (topic, partition, offset) = (spec.topic_of(event.at.at), event.at.at.partition, event.at.offset);
    let innocent = match care.filter(|_| reason.code == ReasonCode::KillsTheProcess) {
        Some(care) => format!(
            ". If something else has ended the process (a memory limit, a kill from outside), delete {} and start again",
            care.note().display()
        ),
        None => String::new(),
    };
    Halt::new(
        HaltKind::Reject,
        format!(
            "record {topic}/{partition}/{offset} cannot be read ({reason}) and rejects.unreadable is \"halt\": nothing \
             behind it is lost; give [rejects] a dead_letter_topic, or take the record away, and start again{innocent}"
        ),
    )
    .about(Some(event.at))
    .because("unreadable", Some(reason.code.as_str().to_owned()))
}
