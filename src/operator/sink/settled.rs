//! Settled: what the audit is told of batches that are through.
//!
//! In:        batches that Kafka has confirmed, or that had nothing to send     Out: their events, by what was really sent
//! Order:     as in the batch
//! Fails:     never: what cannot be attributed is left for the audit to find
//! Not here:  no belief in the machine's books: a batch counts when Kafka has confirmed it, as often as Kafka has
//!
//! A record that was sent counts for the event that its own header names, not for the one that stands beside it in the batch:
//! an output that was left out, made twice, or made of another event's document does not cancel.

use super::StoredBatch;
use crate::job::JobSpec;
use crate::model::{Coordinates, Epoch, Outgoing};
use crate::operator::account::Tally;
use crate::operator::gate::{Audited, Outputs};
use crate::protocol::halt::{Halt, HaltKind};
use std::fmt::Write;

/// Adds the events that a batch has settled. `oldest`: the epoch that the batch holds open.
pub(super) fn settle(batch: &Outputs, oldest: Epoch, topics: &[String], settled: &mut Tally) {
    let mut sending = batch.audited.iter().filter(|event| event.sends);
    for record in &batch.records {
        // What names no event of this job settles none.
        let Some(at) = source_of(record, topics) else { continue };
        let epoch = match sending.next() {
            Some(event) if event.at == at => event.epoch,
            _ => epoch_of(at, &batch.audited).unwrap_or(oldest),
        };
        settled.add(at, epoch);
    }
    for event in batch.audited.iter().filter(|event| !event.sends) {
        settled.add(event.at, event.epoch);
    }
}

/// Kafka has confirmed a batch whose epoch is no longer held: it was through before.
pub(super) fn again(batch: &StoredBatch, spec: &JobSpec) -> Halt {
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

fn epoch_of(at: Coordinates, events: &[Audited]) -> Option<Epoch> {
    events.iter().find(|event| event.at == at).map(|event| event.epoch)
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
            to: Destination::Output,
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
            audited: vec![event(1, true), event(2, false), event(3, true)],
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
        assert_eq!(settled(&["in/1/1", "in/1/3"]), tally(&[(1, 11), (3, 13), (2, 12)]));
    }

    #[test]
    fn what_was_left_out_does_not_count_and_what_was_made_twice_counts_twice() {
        assert_eq!(settled(&["in/1/3"]), tally(&[(3, 13), (2, 12)]));
        assert_eq!(settled(&["in/1/1", "in/1/1", "in/1/3"]), tally(&[(1, 11), (1, 11), (3, 13), (2, 12)]));
    }

    #[test]
    fn what_is_of_no_event_of_the_batch_counts_in_the_batchs_epoch_or_not_at_all() {
        assert_eq!(settled(&["in/1/9", "other/1/1"]), tally(&[(9, 7), (2, 12)]));
    }
}
