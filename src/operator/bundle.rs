//! Bundle: a record's events on their way to one worker, so that the record is sent there once.
//!
//! In:        a record and what decode made of it     Out: one bundle per worker that handles any of its events
//! Holds:     nothing
//! Order:     a record's events in document order; the order of bundles is that of their records
//! Fails:     never
//! Not here:  which key group an event belongs to (exchange), who reads the record (decode)
//!
//! Events of one record may belong to key groups of many workers. A copy of the record for each event would cost as many
//! times its bytes on the network; a copy for each worker costs no more than there are workers, and within a process a
//! copy is a count. Behind the exchange a bundle is taken apart into events that share one record.

use crate::kafka::ReadRecord;
use crate::model::{Body, Coordinates, Event, KeyGroup, Offset, Record, TopicPartition};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// One event without its record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Its place among the record's events, from 0.
    pub index: u32,
    /// Whether it is its record's last event.
    pub last_of_record: bool,
    /// Where it is handled.
    pub key_group: KeyGroup,
    /// The ordering key.
    pub key: Bytes,
    /// What was read.
    pub body: Body,
}

/// A record with those of its events that one worker handles; at least one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bundle {
    /// The record's partition.
    pub at: TopicPartition,
    /// Its offset.
    pub offset: Offset,
    /// The record.
    pub record: Record,
    /// In document order; all of key groups of one worker.
    pub parts: Vec<Part>,
}

impl Part {
    /// What it costs in memory beside the record, in bytes, an estimate.
    pub fn footprint_bytes(&self) -> usize {
        const BOOKKEEPING_BYTES: usize = 384;
        BOOKKEEPING_BYTES + self.key.len() + self.body.footprint_bytes()
    }
}

/// What the events of a record cost beyond what the record itself is counted for, in bytes: the share in its footprint
/// covers an ordinary event.
pub fn further_bytes(parts: &[Part]) -> usize {
    const COVERED_BYTES: usize = 1024;
    parts.iter().map(Part::footprint_bytes).sum::<usize>().saturating_sub(COVERED_BYTES)
}

/// The bundles of a record, one per worker that handles any of these events.
pub fn bundles(record: ReadRecord, parts: Vec<Part>, workers: usize) -> impl Iterator<Item = Bundle> {
    let ReadRecord { at, offset, record } = record;
    let worker = |part: &Part| u64::from(part.key_group.0) % u64::try_from(workers).unwrap_or(1).max(1);
    let first = parts.first().map(&worker);
    let (mut whole, mut by_worker) = (None, BTreeMap::new());
    if parts.iter().all(|part| Some(worker(part)) == first) {
        whole = first.map(|_| parts);
    } else {
        for part in parts {
            by_worker.entry(worker(&part)).or_insert_with(Vec::new).push(part);
        }
    }
    // A copy of the record for each but the last.
    let mut record = Some(record);
    let mut lists = whole.into_iter().chain(by_worker.into_values()).peekable();
    std::iter::from_fn(move || {
        let parts = lists.next()?;
        let record = if lists.peek().is_some() { record.clone()? } else { record.take()? };
        Some(Bundle { at, offset, record, parts })
    })
}

/// Routes a bundle: timely sends it to the worker whose index is this number modulo the workers.
pub fn route(bundle: &Bundle) -> u64 {
    bundle.parts.first().map_or(0, |part| u64::from(part.key_group.0))
}

impl Bundle {
    /// Its events, in document order, which share the record.
    pub fn into_events(self) -> impl Iterator<Item = Event> {
        let Bundle { at, offset, record, parts } = self;
        let record = Arc::new(record);
        parts.into_iter().map(move |part| {
            let Part { index, last_of_record, key_group, key, body } = part;
            let at = Coordinates { at, offset, index };
            Event { at, last_of_record, key_group, key, record: Arc::clone(&record), body }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Reading;
    use proptest::prelude::*;

    const AT: TopicPartition = TopicPartition { topic: 0, partition: 1 };

    fn part(index: usize, key_group: u32, events: usize) -> Part {
        Part {
            index: u32::try_from(index).unwrap(),
            last_of_record: index + 1 == events,
            key_group: KeyGroup(key_group),
            key: Bytes::from(key_group.to_string()),
            body: Body::Readable(Reading::default()),
        }
    }

    fn read() -> ReadRecord {
        let record =
            Record { timestamp_ms: None, key: None, headers: Vec::new(), value: Some("<r/>".into()) };
        ReadRecord { at: AT, offset: Offset(7), record }
    }

    proptest! {
        #[test]
        fn each_event_comes_to_its_worker_once_and_a_group_keeps_its_order(
            groups in proptest::collection::vec(0_u32..9, 0..40), workers in 1_usize..5
        ) {
            let parts: Vec<Part> =
                groups.iter().enumerate().map(|(index, group)| part(index, *group, groups.len())).collect();
            let all: Vec<Bundle> = bundles(read(), parts, workers).collect();
            prop_assert!(all.len() <= workers, "a record goes to a worker once");
            let target = |group: u32| u64::from(group) % u64::try_from(workers).unwrap();
            let mut events = Vec::new();
            for bundle in all {
                let worker = route(&bundle) % u64::try_from(workers).unwrap();
                for event in bundle.into_events() {
                    prop_assert_eq!(target(event.key_group.0), worker);
                    events.push(event);
                }
            }
            let mut indexes: Vec<u32> = events.iter().map(|event| event.at.index).collect();
            for group in 0..9 {
                let of_group = events.iter().filter(|event| event.key_group == KeyGroup(group));
                prop_assert!(of_group.map(|event| event.at.index).is_sorted());
            }
            prop_assert_eq!(events.iter().filter(|event| event.last_of_record).count(), groups.len().min(1));
            indexes.sort_unstable();
            prop_assert_eq!(indexes, (0..u32::try_from(groups.len()).unwrap()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_ordinary_event_costs_no_more_than_its_records_share() {
        assert_eq!(further_bytes(&[part(0, 1, 1)]), 0);
        let many: Vec<Part> = (0..1000).map(|index| part(index, 1, 1000)).collect();
        assert!(further_bytes(&many) > 1000 * 384 - 1024);
    }
}
