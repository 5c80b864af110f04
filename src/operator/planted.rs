//! Planted: for tests alone, one event that is lost or doubled on its way, or that ends or stops the thread which meets it; or a
//! wrong plan of what runs together. An audit that cannot fail proves nothing, nor does a comparison.
//!
//! In:        a stream, or what the sink tells its emitter     Out: the same but for the planted fault
//! Holds:     the fault until it has happened, once; a batch that is to be sent again until the next one is
//! Not here:  no way to it from a job file, an argument or the environment: only `cluster::run_planted` takes one

use super::bundle::Bundle;
use super::gate::{Outputs, StoredBatch};
use crate::job::SetPlan;
use crate::kafka::ReadRecord;
use crate::model::{Coordinates, Epoch, Offset, TopicPartition};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::Operator;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Between source and decode the record is lost.
    RecordLost,
    /// Between source and decode the record is doubled.
    RecordDoubled,
    /// In decode, with the record in hand, something is called that ends the process.
    InDecode,
    /// Between decode and gate the thread panics.
    Panic,
    /// Between decode and gate the thread hangs, until it is released.
    Hang,
    /// Between decode and gate the event is lost.
    EventLost,
    /// Between gate and sink the event's output, or its dead letter, is lost.
    OutputLost,
    /// Between gate and sink the event's output, or its dead letter, is doubled.
    OutputDoubled,
    /// Between gate and sink the event's batch is lost.
    BatchLost,
    /// The event's batch is not sent with the Kafka transaction that it was put in.
    BatchNotSent,
    /// It is sent twice with it.
    BatchSentTwice,
    /// It is sent with it, and with the next one, too.
    BatchSentAgain,
    /// Which steps run for many events at once is decided wrongly.
    Plan,
}

/// A fault, and the event that it meets.
#[derive(Debug)]
pub struct Planted {
    fault: Fault,
    event: Coordinates,
    call: fn(),
    plan: fn(SetPlan) -> SetPlan,
    /// As the header `tidegate-source` names it.
    source: String,
    happened: AtomicBool,
    kept: Mutex<Option<StoredBatch>>,
    /// Whether a thread that hangs may go on.
    released: (Mutex<bool>, Condvar),
}

impl Planted {
    /// One fault. `event` is one that sends something; `source` is how the header `tidegate-source` names it.
    pub fn new(fault: Fault, event: Coordinates, source: &str) -> Arc<Planted> {
        Planted::with(fault, event, source, || {})
    }

    /// [`Fault::Plan`]: this is made of the job's plan.
    pub fn planning(plan: fn(SetPlan) -> SetPlan) -> Arc<Planted> {
        let topic = TopicPartition { topic: 0, partition: 0 };
        let event = Coordinates { at: topic, offset: Offset(0), index: 0 };
        Arc::new(Planted { plan, ..Planted::of(Fault::Plan, event, "", || {}) })
    }

    /// [`Fault::InDecode`]: this is called while the record is read.
    pub fn in_hand(event: Coordinates, call: fn()) -> Arc<Planted> {
        Planted::with(Fault::InDecode, event, "", call)
    }

    fn with(fault: Fault, event: Coordinates, source: &str, call: fn()) -> Arc<Planted> {
        Arc::new(Planted::of(fault, event, source, call))
    }

    fn of(fault: Fault, event: Coordinates, source: &str, call: fn()) -> Planted {
        let (happened, kept) = (AtomicBool::new(false), Mutex::new(None));
        let released = (Mutex::new(false), Condvar::new());
        Planted { fault, event, call, plan: |plan| plan, source: source.to_owned(), happened, kept, released }
    }

    /// Lets the thread that hangs go on.
    pub fn release(&self) {
        *self.released.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.released.1.notify_all();
    }

    #[allow(clippy::panic, reason = "the panic is the fault that is planted")]
    fn meet(&self) {
        match self.fault {
            Fault::Panic if self.now() => panic!("planted"),
            Fault::Hang if self.now() => {
                let mut released = self.released.0.lock().unwrap_or_else(PoisonError::into_inner);
                while !*released {
                    released = self.released.1.wait(released).unwrap_or_else(PoisonError::into_inner);
                }
            }
            _ => {}
        }
    }

    /// The plan that the gate goes by in the place of this.
    pub(crate) fn in_plan(&self, plan: &Arc<SetPlan>) -> Arc<SetPlan> {
        match self.fault {
            Fault::Plan => Arc::new((self.plan)((**plan).clone())),
            _ => Arc::clone(plan),
        }
    }

    /// While decode reads this record.
    pub(super) fn in_decode(&self, record: &ReadRecord) {
        let is_it = (record.at, record.offset) == (self.event.at, self.event.offset);
        if is_it && self.fault == Fault::InDecode && self.now() {
            (self.call)();
        }
    }

    /// Whether it has gone wrong.
    pub fn has_happened(&self) -> bool {
        self.happened.load(Ordering::Relaxed)
    }

    /// What the emitter is told in the place of this.
    pub(super) fn in_emission(&self, batches: Arc<Vec<StoredBatch>>) -> Arc<Vec<StoredBatch>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let mut list = (*batches).clone();
        if let Some(again) = kept.take() {
            list.insert(0, again);
        }
        if let Some(at) = list.iter().position(|batch| self.is_in(&batch.outputs)) {
            match self.fault {
                Fault::BatchNotSent if self.now() => drop(list.remove(at)),
                Fault::BatchSentTwice if self.now() => list.extend(list.get(at).cloned()),
                Fault::BatchSentAgain if self.now() => *kept = list.get(at).cloned(),
                _ => {}
            }
        }
        Arc::new(list)
    }

    fn is_in(&self, outputs: &Outputs) -> bool {
        self.record_in(outputs).is_some()
    }

    fn record_in(&self, outputs: &Outputs) -> Option<usize> {
        outputs.records.iter().position(|record| {
            let source = record.headers.iter().rev().find(|(name, _)| name == "tidegate-source");
            source.is_some_and(|(_, value)| value.as_deref() == Some(self.source.as_bytes()))
        })
    }

    /// Once.
    fn now(&self) -> bool {
        !self.happened.swap(true, Ordering::Relaxed)
    }
}

/// Between source and decode.
pub fn in_records<'scope>(
    records: StreamVec<'scope, Epoch, ReadRecord>,
    planted: Option<&Arc<Planted>>,
) -> StreamVec<'scope, Epoch, ReadRecord> {
    edit(records, planted, |planted, list| {
        let event = planted.event;
        let Some(at) = list.iter().position(|r| (r.at, r.offset) == (event.at, event.offset)) else { return };
        match planted.fault {
            Fault::RecordLost if planted.now() => drop(list.remove(at)),
            Fault::RecordDoubled if planted.now() => list.extend(list.get(at).cloned()),
            _ => {}
        }
    })
}

/// Between decode and gate.
pub fn in_events<'scope>(
    events: StreamVec<'scope, Epoch, Bundle>,
    planted: Option<&Arc<Planted>>,
) -> StreamVec<'scope, Epoch, Bundle> {
    edit(events, planted, |planted, list| {
        let event = planted.event;
        let is_it = |bundle: &Bundle| (bundle.at, bundle.offset) == (event.at, event.offset);
        let has_it = |bundle: &Bundle| bundle.parts.iter().any(|part| part.index == event.index);
        if !list.iter().any(|bundle| is_it(bundle) && has_it(bundle)) {
            return;
        }
        planted.meet();
        if planted.fault == Fault::EventLost && planted.now() {
            for bundle in list.iter_mut().filter(|bundle| is_it(bundle)) {
                bundle.parts.retain(|part| part.index != event.index);
            }
            list.retain(|bundle| !bundle.parts.is_empty());
        }
    })
}

/// Between gate and sink.
pub fn in_batches<'scope>(
    batches: StreamVec<'scope, Epoch, StoredBatch>,
    planted: Option<&Arc<Planted>>,
) -> StreamVec<'scope, Epoch, StoredBatch> {
    edit(batches, planted, |planted, list| {
        let Some(at) = list.iter().position(|batch| planted.is_in(&batch.outputs)) else { return };
        match planted.fault {
            Fault::BatchLost if planted.now() => drop(list.remove(at)),
            Fault::OutputLost | Fault::OutputDoubled if planted.now() => {
                if let Some(batch) = list.get_mut(at) {
                    planted.break_outputs(batch);
                }
            }
            _ => {}
        }
    })
}

impl Planted {
    fn break_outputs(&self, batch: &mut StoredBatch) {
        let mut outputs = (*batch.outputs).clone();
        let Some(at) = self.record_in(&outputs) else { return };
        match self.fault {
            Fault::OutputLost => drop(outputs.records.remove(at)),
            _ => outputs.records.extend(outputs.records.get(at).cloned()),
        }
        batch.records = outputs.records.len();
        batch.outputs = Arc::new(outputs);
    }
}

fn edit<'scope, D: Clone + 'static>(
    stream: StreamVec<'scope, Epoch, D>,
    planted: Option<&Arc<Planted>>,
    edit: impl Fn(&Planted, &mut Vec<D>) + 'static,
) -> StreamVec<'scope, Epoch, D> {
    let Some(planted) = planted.cloned() else { return stream };
    stream.unary(Pipeline, "planted", move |_, _| {
        move |input, output| {
            input.for_each(|capability, list| {
                edit(&planted, list);
                output.session(&capability).give_container(list);
            });
        }
    })
}
