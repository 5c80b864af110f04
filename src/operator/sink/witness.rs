//! Witness: what the sink tells the audit of batches that are through.
//!
//! In:        batches that the gate stored, what the emitter was told, what Kafka confirmed     Out: their events, settled
//! Holds:     a capability of the output to the audit per open batch; what the emitter was told last, until it is confirmed
//! Order:     none
//! Fails:     a batch that Kafka confirms and that was through before -> halt (70): its epoch may be closed
//! Not here:  no belief in the machine's books: a batch counts when Kafka has confirmed it, as often as Kafka has
//!
//! A record that was sent counts for the event that its own header names, not for the one that stands beside it in the batch:
//! an output that was left out, made twice, or made of another event's document does not cancel.

use super::StoredBatch;
use crate::job::JobSpec;
use crate::model::{BatchNumber, Coordinates, Epoch, KeyGroup, Outgoing};
use crate::operator::account::{Tally, Tap, Way};
use crate::operator::gate::{Audited, Outputs};
use crate::operator::stop::StopRequest;
use crate::protocol::halt::{Halt, HaltKind};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use timely::dataflow::operators::Capability;

/// The sink's side of the audit. In a job without one it does nothing.
pub(super) struct Witness {
    spec: Arc<JobSpec>,
    tap: Tap,
    stop: StopRequest,
    open: BTreeMap<(KeyGroup, BatchNumber), Capability<Epoch>>,
    /// What the emitter was told last and has not confirmed.
    told: Option<Arc<Vec<StoredBatch>>>,
    /// Through, and not accounted for yet.
    settled: Tally,
    /// The capability to say so: of the oldest batch among them.
    oldest: Option<Capability<Epoch>>,
}

impl Witness {
    pub(super) fn new(spec: Arc<JobSpec>, tap: Tap, stop: StopRequest) -> Witness {
        let (open, settled) = (BTreeMap::new(), Tally::default());
        Witness { spec, tap, stop, open, told: None, settled, oldest: None }
    }

    pub(super) fn is_on(&self) -> bool {
        self.tap.is_on()
    }

    /// The gate has stored a batch. One with nothing to send is through by that.
    pub(super) fn opened(&mut self, batch: &StoredBatch, capability: Option<&Capability<Epoch>>) {
        let Some(capability) = capability else { return };
        self.open.insert((batch.group, batch.number), capability.clone());
        if batch.records == 0 {
            self.through(batch);
        }
    }

    /// The machine is done with a batch.
    pub(super) fn closed(&mut self, batch: (KeyGroup, BatchNumber)) {
        self.open.remove(&batch);
    }

    /// The emitter is told to send this.
    pub(super) fn told(&mut self, batches: &Arc<Vec<StoredBatch>>) {
        if self.is_on() {
            self.told = Some(Arc::clone(batches));
        }
    }

    /// Kafka has confirmed the transaction with these batches.
    pub(super) fn confirmed(&mut self, batches: &[StoredBatch]) {
        self.told = None;
        if self.is_on() {
            batches.iter().for_each(|batch| self.through(batch));
        }
    }

    /// On what was told and not confirmed the progress topic has the last word.
    pub(super) fn looked_up(&mut self, progress: &BTreeMap<KeyGroup, BatchNumber>) {
        for batch in self.told.take().iter().flat_map(|told| told.iter()) {
            if progress.get(&batch.group).is_some_and(|last| batch.number <= *last) {
                self.through(batch);
            }
        }
    }

    fn through(&mut self, batch: &StoredBatch) {
        let Some(capability) = self.open.get(&(batch.group, batch.number)) else {
            return self.stop.halt(again(batch, &self.spec));
        };
        settle(&batch.outputs, *capability.time(), &self.spec.source.topics, &mut self.settled);
        if self.oldest.as_ref().is_none_or(|oldest| capability.time() < oldest.time()) {
            self.oldest = Some(capability.clone());
        }
    }

    /// Tells the audit.
    pub(super) fn account(&mut self) {
        if let Some(capability) = self.oldest.take() {
            self.tap.give(&capability, &mut self.settled, Way::Settled);
        }
    }
}

/// Adds the events that a batch has settled: none in a retry, whose events had their outcome when they were parked. `oldest`:
/// the epoch that the batch holds open.
///
/// An event that sends several records is settled when Kafka has as many that name it: with fewer it is not, and each one
/// more settles it once more.
fn settle(batch: &Outputs, oldest: Epoch, topics: &[String], settled: &mut Tally) {
    if batch.is_retry {
        return;
    }
    let mut found: BTreeMap<Coordinates, u32> = BTreeMap::new();
    // What names no event of this job settles none.
    for at in batch.records.iter().filter_map(|record| source_of(record, topics)) {
        *found.entry(at).or_default() += 1;
    }
    for Audited { at, epoch, sends } in &batch.audited {
        let times = match (*sends, found.remove(at)) {
            (0, None) => 1,
            (0, Some(found)) => 1 + found,
            (sends, found) => (found.unwrap_or(0) + 1).saturating_sub(sends),
        };
        (0..times).for_each(|_| settled.add(*at, *epoch));
    }
    for (at, times) in found {
        (0..times).for_each(|_| settled.add(at, oldest));
    }
}

/// Kafka has confirmed a batch whose epoch is no longer held: it was through before.
fn again(batch: &StoredBatch, spec: &JobSpec) -> Halt {
    const NAMED_MAX: usize = 20;
    let events = &batch.outputs.audited;
    let mut names = String::new();
    for (n, Audited { at, .. }) in events.iter().take(NAMED_MAX).enumerate() {
        let separator = if n > 0 { ", " } else { "" };
        // Writing to a String cannot fail.
        let _infallible =
            write!(names, "{separator}{}/{}/{}", spec.topic_of(at.at), at.at.partition, at.offset);
    }
    if events.len() > NAMED_MAX {
        let _infallible = write!(names, " and {} more", events.len() - NAMED_MAX);
    }
    let text = format!(
        "the audit found {} doubled: {names}. Kafka has confirmed their batch {} of key group {} twice. That is a fault of \
         this program or of a library: keep this message and the log, and see \"When the audit speaks\" in \
         docs/operating.md before the next start",
        events.len(),
        batch.number,
        batch.group
    );
    Halt::new(HaltKind::Internal, text)
}

/// The last header of the name: those in front of it came with the input.
fn source_of(record: &Outgoing, topics: &[String]) -> Option<Coordinates> {
    let (_, value) = record.headers.iter().rev().find(|(name, _)| name == "tidegate-source")?;
    Coordinates::parse(std::str::from_utf8(value.as_deref()?).ok()?, topics)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Destination, Offset, TopicPartition};

    fn at(offset: i64) -> Coordinates {
        Coordinates { at: TopicPartition { topic: 0, partition: 1 }, offset: Offset(offset), index: 0 }
    }

    fn record(source: &str) -> Outgoing {
        let header = |value: &str| ("tidegate-source".to_owned(), Some(value.to_owned().into()));
        Outgoing {
            to: Destination::Output(0),
            key: None,
            value: None,
            headers: vec![header("another/0/0"), header(source)],
            timestamp_ms: None,
        }
    }

    fn settled(records: &[&str]) -> Tally {
        let event =
            |offset, sends| Audited { at: at(offset), epoch: 10 + u64::try_from(offset).unwrap(), sends };
        let batch = Outputs {
            records: records.iter().map(|source| record(source)).collect(),
            bytes: 0,
            audited: vec![event(1, 1), event(2, 0), event(3, 1), event(4, 2)],
            ..Outputs::default()
        };
        let mut tally = Tally::default();
        settle(&batch, 7, &["in".to_owned()], &mut tally);
        tally
    }

    fn tally(events: &[(i64, Epoch)]) -> Tally {
        let mut tally = Tally::default();
        events.iter().for_each(|(offset, epoch)| tally.add(at(*offset), *epoch));
        tally
    }

    #[test]
    fn each_record_counts_for_the_event_that_it_names() {
        assert_eq!(settled(&["in/1/1", "in/1/3"]), tally(&[(1, 11), (2, 12), (3, 13)]));
    }

    #[test]
    fn an_event_of_several_records_is_settled_by_all_of_them() {
        assert_eq!(settled(&["in/1/4"]), tally(&[(2, 12)]));
        assert_eq!(settled(&["in/1/4", "in/1/4"]), tally(&[(2, 12), (4, 14)]));
        assert_eq!(settled(&["in/1/4", "in/1/4", "in/1/4"]), tally(&[(2, 12), (4, 14), (4, 14)]));
    }

    #[test]
    fn what_was_left_out_does_not_count_and_what_was_made_twice_counts_twice() {
        assert_eq!(settled(&["in/1/3"]), tally(&[(2, 12), (3, 13)]));
        assert_eq!(settled(&["in/1/1", "in/1/1", "in/1/3"]), tally(&[(1, 11), (1, 11), (2, 12), (3, 13)]));
    }

    #[test]
    fn what_is_of_no_event_of_the_batch_counts_in_the_batchs_epoch_or_not_at_all() {
        assert_eq!(settled(&["in/1/9", "other/1/1"]), tally(&[(2, 12), (9, 7)]));
    }
}
