//! Decode: records to events, or to the reason why not.
//!
//! In:        record @ epoch     Out: bundles of events @ the same epoch, one per worker that handles any of a record's; what
//!            they cost beyond the record, for the budget; for the audit further events of a record, and what is discarded
//! Holds:     nothing
//! Order:     as it came, a record's events in document order
//! Fails:     unreadable -> the job's rule: dead letter (travels on as an event), discard (counted and logged), or halt;
//!            more of them than `rejects.budget` -> halt
//! Not here:  no XML (the decoder is handed in), no routing (exchange)
//!
//! A record has no events, one or many. One that has none is settled here. Of one that has many each event has an outcome of
//! its own; a record that halts the job gives none of its events.

use super::account::{Accounts, Tally, Tap, Way};
use super::budget::Budget;
use super::bundle::{Bundle, Part, bundles, further_bytes};
use super::exchange::{key_group_of, key_group_of_unreadable};
use super::flood::{Flood, TooMany};
use super::guard::{Care, Taken};
use super::letter;
use super::planted::Planted;
use super::source::Covered;
use super::stop::StopRequest;
use crate::job::{JobSpec, RejectRule, TombstoneRule};
use crate::kafka::ReadRecord;
use crate::model::{Body, Coordinates, Epoch, Event, Reason, ReasonCode, Record};
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
    /// Where what events cost beyond their records is taken from.
    pub budget: Arc<Budget>,
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
    pub events: StreamVec<'scope, Epoch, Bundle>,
    /// What was taken from the budget, for whoever gives it back.
    pub covered: StreamVec<'scope, Epoch, Covered>,
    /// For the audit: events that it does not know of yet, and those that go no further.
    pub accounts: Accounts<'scope>,
}

/// Adds the operator.
pub fn decode<'scope>(
    records: StreamVec<'scope, Epoch, ReadRecord>,
    setup: DecodeSetup,
) -> DecodedEvents<'scope> {
    let scope = records.scope();
    let workers = scope.peers();
    let mut builder = OperatorBuilder::new("2-decode".to_owned(), scope);
    let mut input = builder.new_input(records, Pipeline);
    let (output, events) = builder.new_output::<Vec<Bundle>>();
    let mut output = OutputBuilder::<_, CapacityContainerBuilder<Vec<Bundle>>>::from(output);
    let (covered_out, covered) = builder.new_output::<Vec<Covered>>();
    let mut covered_out = OutputBuilder::<_, CapacityContainerBuilder<Vec<Covered>>>::from(covered_out);
    let (mut tap, accounts) = Tap::new(&mut builder, setup.spec.audit);
    builder.build(move |capabilities| {
        drop(capabilities);
        // A record that halts the job, and all behind it, go no further and keep their epochs open. Were later records
        // handled, their key groups' positions would cover this one, and the next start would skip it.
        let mut unsettled = Vec::new();
        let mut shell = Shell::new(setup, tap.is_on());
        move |_frontiers| {
            let (mut output, mut covered_out) = (output.activate(), covered_out.activate());
            // One container at a time: grouping by stamp sorts unstably, and would mix up the containers of an epoch.
            input.for_each(|capability, data| {
                if !unsettled.is_empty() {
                    return unsettled.extend(capability.retain_least(0));
                }
                let epoch = capability.least().copied().unwrap_or_default();
                let mut session = output.session(&capability);
                let mut further_bytes = 0;
                for record in data.drain(..) {
                    match shell.take(record, epoch) {
                        Ok(Taking { record, parts, bytes }) => {
                            further_bytes += bytes;
                            bundles(record, parts, workers).for_each(|bundle| session.give(bundle));
                        }
                        Err(halt) => {
                            unsettled.extend(capability.retain_least(0));
                            shell.setup.stop.halt(*halt);
                            break;
                        }
                    }
                }
                drop(session);
                if further_bytes > 0 {
                    shell.setup.budget.take(further_bytes);
                    let covered = Covered { positions: Vec::new(), records: 0, bytes: further_bytes };
                    covered_out.session(&capability).give(covered);
                }
                tap.give(&capability, &mut shell.further, Way::Expected);
                tap.give(&capability, &mut shell.discarded, Way::Settled);
            });
        }
    });
    DecodedEvents { events, covered, accounts }
}

/// The operator's state.
struct Shell {
    setup: DecodeSetup,
    audited: bool,
    further: Tally,
    discarded: Tally,
    flood: Option<Flood>,
    begun: Instant,
}

/// A record and those of its events that go on.
struct Taking {
    record: ReadRecord,
    parts: Vec<Part>,
    /// What they cost beyond the record.
    bytes: usize,
}

impl Shell {
    fn new(setup: DecodeSetup, audited: bool) -> Shell {
        let flood = setup.spec.rejects.budget.map(Flood::new);
        let (further, discarded) = (Tally::default(), Tally::default());
        Shell { setup, audited, further, discarded, flood, begun: Instant::now() }
    }

    /// Reads a record and judges its events; `Err`: one of them halts the job.
    fn take(&mut self, record: ReadRecord, epoch: Epoch) -> Result<Taking, Box<Halt>> {
        let (record, mut parts) = self.read(record);
        let of = |part: &Part| Coordinates { at: record.at, offset: record.offset, index: part.index };
        for part in &parts {
            if let Some(halt) = self.flood_of(of(part), &part.body) {
                return Err(Box::new(halt));
            }
            if let (Body::Unreadable(reason), RejectRule::Halt | RejectRule::Park) =
                (&part.body, self.setup.spec.rejects.unreadable)
            {
                return Err(Box::new(refusal(of(part), reason, &self.setup)));
            }
        }
        if self.audited {
            let behind_the_first = parts.iter().filter(|part| part.index > 0);
            behind_the_first.for_each(|part| self.further.add(of(part), epoch));
        }
        if parts.is_empty() {
            self.has_none(Coordinates { at: record.at, offset: record.offset, index: 0 }, epoch);
        }
        if self.setup.spec.rejects.unreadable == RejectRule::Discard {
            parts.retain(|part| {
                let Body::Unreadable(reason) = &part.body else { return true };
                discard(of(part), reason, &self.setup);
                if self.audited {
                    self.discarded.add(of(part), epoch);
                }
                false
            });
        }
        let bytes = further_bytes(&parts);
        Ok(Taking { record, parts, bytes })
    }

    /// The job wants no events of such a record: that is its outcome.
    fn has_none(&mut self, at: Coordinates, epoch: Epoch) {
        self.setup.board.discarded.add(1);
        let topic = self.setup.spec.topic_of(at.at);
        let (partition, offset) = (at.at.partition, at.offset.0);
        tracing::debug!(topic, partition, offset, "a record without events is let go");
        if self.audited {
            self.discarded.add(at, epoch);
        }
    }

    fn read(&mut self, record: ReadRecord) -> (ReadRecord, Vec<Part>) {
        let DecodeSetup { spec, decoder, care, planted, .. } = &mut self.setup;
        care.take_if(|care| care.is_over());
        let mut read = |record: &ReadRecord| {
            planted.iter().for_each(|planted| planted.in_decode(record));
            read(record, spec, decoder)
        };
        let parts = match care {
            None => read(&record),
            Some(care) => read_carefully(&record, care, spec, &mut read),
        };
        (record, parts)
    }

    /// A halt where this event is an unreadable one too many.
    fn flood_of(&mut self, at: Coordinates, body: &Body) -> Option<Halt> {
        let flood = self.flood.as_mut()?;
        let Body::Unreadable(reason) = body else {
            flood.readable();
            return None;
        };
        let spec = &self.setup.spec;
        // A single one halts by its rule, which says more.
        if spec.rejects.unreadable == RejectRule::Halt {
            return None;
        }
        let TooMany { rejects, records } = flood.reject(self.begun.elapsed())?;
        let text = format!(
            "{rejects} of the last {records} events that this worker has read cannot be read: more than rejects.budget allows. \
             The last one is {} ({reason}). So many point to a changed producer or job file: mend it, or \
             raise the budget, and start again; the job goes on with this very record, and each start counts anew",
            source_of(at, spec)
        );
        let halt = Halt::new(HaltKind::Reject, text).about(Some(at));
        Some(halt.because("reject budget", Some(reason.code.as_str().to_owned())))
    }
}

/// One record to its events, in document order; none: the job wants none of it.
pub fn read(record: &ReadRecord, spec: &JobSpec, decoder: &mut Decoder) -> Vec<Part> {
    let decoded = match only_event(&record.record, &spec.name) {
        None => all_events(record, spec, decoder),
        Some(index) => one_event(record, index, spec, decoder),
    };
    let most = spec.limits.events_per_record;
    match decoded {
        Ok(events) if events.len() > most => {
            let detail =
                format!("it has {} events, more than limits.events_per_record, {most}", events.len());
            vec![unreadable(record, Reason { code: ReasonCode::Limit, detail }, spec)]
        }
        Ok(events) => parts(record, events, spec),
        Err(reason) => vec![unreadable(record, reason, spec)],
    }
}

/// One event of a record, as it is tried again; none: the record has none of this index any more.
pub fn read_one(record: ReadRecord, index: u32, spec: &JobSpec, decoder: &mut Decoder) -> Option<Event> {
    let mut parts = read(&record, spec, decoder);
    parts.retain(|part| part.index == index);
    bundles(record, parts, 1).next().and_then(|bundle| bundle.into_events().next())
}

/// An event: its ordering key and what was read, or why it cannot be read.
type Found = Result<(Bytes, Body), Reason>;

fn all_events(record: &ReadRecord, spec: &JobSpec, decoder: &mut Decoder) -> Result<Vec<Found>, Reason> {
    let readable = |Decoded { key, reading }| (key, Body::Readable(reading));
    if record.record.value.is_none() {
        match spec.event.tombstone {
            TombstoneRule::Unreadable => {}
            TombstoneRule::Discard => return Ok(Vec::new()),
            TombstoneRule::Event => {
                let Decoded { key, reading } = decoder.tombstone(&record.record)?;
                return Ok(vec![Ok((key, Body::Tombstone { values: reading.values }))]);
            }
        }
    }
    let events = decoder.decode(&record.record)?;
    Ok(events.into_iter().map(|event| event.map(readable)).collect())
}

/// A dead letter of one of several events was sent back: the record has this event alone.
fn one_event(
    record: &ReadRecord,
    index: usize,
    spec: &JobSpec,
    decoder: &mut Decoder,
) -> Result<Vec<Found>, Reason> {
    let gone = || Reason {
        code: ReasonCode::NotTheEvent,
        detail: format!("the record has no event {index}, which its header {} names", letter::EVENT),
    };
    let event = all_events(record, spec, decoder)?.into_iter().nth(index).ok_or_else(gone)?;
    Ok(vec![event])
}

/// Which of its record's events a replayed dead letter of this job is about.
pub(super) fn only_event(record: &Record, job: &str) -> Option<usize> {
    let (_, value) = record.headers.iter().rev().find(|(name, _)| name == letter::EVENT)?;
    let (of, index) = std::str::from_utf8(value.as_deref()?).ok()?.rsplit_once('/')?;
    index.parse().ok().filter(|_| of == job)
}

fn parts(record: &ReadRecord, events: Vec<Found>, spec: &JobSpec) -> Vec<Part> {
    let count = events.len();
    let part = |(index, found): (u32, Found)| {
        let (key, body) = match found {
            Ok(readable) => readable,
            Err(reason) => (Bytes::new(), Body::Unreadable(reason)),
        };
        let key_group = match &body {
            Body::Readable(_) | Body::Tombstone { .. } => key_group_of(&key, spec.key_groups),
            // All of a record in one group: where one of them is, is no other's matter.
            Body::Unreadable(_) => key_group_of_unreadable(record.at, record.offset, spec.key_groups),
        };
        let last_of_record = usize::try_from(index).is_ok_and(|index| index + 1 == count);
        Part { index, last_of_record, key_group, key, body }
    };
    (0..).zip(events).map(part).collect()
}

fn unreadable(record: &ReadRecord, reason: Reason, spec: &JobSpec) -> Part {
    let key_group = key_group_of_unreadable(record.at, record.offset, spec.key_groups);
    Part { index: 0, last_of_record: true, key_group, key: Bytes::new(), body: Body::Unreadable(reason) }
}

/// The same behind an unclean end: the record is written down while it is read, or was convicted.
fn read_carefully(
    record: &ReadRecord,
    care: &Care,
    spec: &JobSpec,
    read: &mut impl FnMut(&ReadRecord) -> Vec<Part>,
) -> Vec<Part> {
    let at = Coordinates { at: record.at, offset: record.offset, index: 0 };
    match care.take(Stage::Read, at, &record.record) {
        Taken::Freely => read(record),
        Taken::InHand(in_hand) => {
            let parts = read(record);
            drop(in_hand);
            parts
        }
        Taken::Convicted(stage, reason) => {
            let (topic, partition, offset) = (spec.topic_of(at.at), at.at.partition, at.offset.0);
            tracing::warn!(topic, partition, offset, %reason, "handled as unreadable");
            match stage {
                Stage::Read => vec![unreadable(record, reason, spec)],
                // It has come through this stage, and may even be stored: its events' own key groups know. Which of its
                // events it was is not written down: what is not stored of it goes the same way.
                Stage::Output | Stage::Retry => {
                    let body = || Body::Unreadable(reason.clone());
                    read(record).into_iter().map(|part| Part { body: body(), ..part }).collect()
                }
            }
        }
    }
}

fn discard(at: Coordinates, reason: &Reason, setup: &DecodeSetup) {
    setup.board.discarded.add(1);
    let topic = setup.spec.topic_of(at.at);
    let (partition, offset, index) = (at.at.partition, at.offset.0, at.index);
    tracing::warn!(topic, partition, offset, index, %reason, "unreadable event discarded");
}

fn refusal(at: Coordinates, reason: &Reason, setup: &DecodeSetup) -> Halt {
    let care = setup.care.as_ref().filter(|_| reason.code == ReasonCode::KillsTheProcess);
    let innocent = match care {
        Some(care) => format!(
            ". If something else has ended the process (a memory limit, a kill from outside), delete {} and start again",
            care.note().display()
        ),
        None => String::new(),
    };
    Halt::new(
        HaltKind::Reject,
        format!(
            "record {} cannot be read ({reason}) and rejects.unreadable is \"halt\": nothing \
             behind it is lost; give [rejects] a dead_letter_topic, or take the record away, and start again{innocent}",
            source_of(at, &setup.spec)
        ),
    )
    .about(Some(at))
    .because("unreadable", Some(reason.code.as_str().to_owned()))
}

/// `topic/partition/offset[/event index]`
fn source_of(at: Coordinates, spec: &JobSpec) -> String {
    let index = if at.index > 0 { format!("/{}", at.index) } else { String::new() };
    format!("{}/{}/{}{index}", spec.topic_of(at.at), at.at.partition, at.offset)
}
