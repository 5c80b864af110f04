//! [`AsyncReader`] in memory: read committed, from explicit positions.
//!
//! In:        partitions and positions     Out: records in offset order per partition
//! Holds:     how far it has read
//! Order:     per partition by offset; among partitions none that anybody may count on
//! Fails:     a position that is gone, for good; outage while the broker is out

use super::broker::State;
use super::log::{MemoryLog, failed};
use crate::kafka::{Asked, AsyncReader, LogError, LogErrorClass, ReadRecord};
use crate::model::{NextOffset, Offset, TopicPartition};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

pub(super) struct MemoryReader {
    log: MemoryLog,
    at: BTreeMap<TopicPartition, Place>,
}

struct Place {
    /// The next offset to look at.
    next: i64,
    /// What a caller may know.
    told: Option<NextOffset>,
}

impl MemoryReader {
    pub(super) fn new(log: MemoryLog, from: &[(TopicPartition, NextOffset)]) -> MemoryReader {
        let at = from.iter().map(|(at, next)| (*at, Place { next: next.0, told: None })).collect();
        MemoryReader { log, at }
    }

    /// Takes what is there at once.
    fn take(
        &mut self,
        state: &State,
        records_max: usize,
        bytes_max: usize,
    ) -> Result<Vec<ReadRecord>, LogError> {
        let mut taken = Vec::new();
        let mut bytes = 0;
        for (at, place) in &mut self.at {
            let topic = self.log.topic(*at)?;
            let Some((partition, fates)) = state.partition_ref(topic, at.partition) else {
                let text = format!("reading: there is no partition {topic}/{}", at.partition);
                return Err(failed(LogErrorClass::Misconfigured, text));
            };
            let (first, end) = (partition.first(), partition.end());
            if place.next < first || place.next > end {
                let text = format!(
                    "reading {topic}/{}: the next position is {}, but the partition holds {first} to {end} (exclusive)",
                    at.partition, place.next
                );
                return Err(LogError { at: Some(*at), ..failed(LogErrorClass::PositionGone, text) });
            }
            let mut whole = true;
            for (offset, record) in partition.committed_from(place.next, fates) {
                let more = record.footprint_bytes();
                if taken.len() >= records_max || (bytes + more > bytes_max && !taken.is_empty()) {
                    whole = false;
                    break;
                }
                bytes += more;
                place.next = offset.saturating_add(1);
                place.told = Some(NextOffset(place.next));
                taken.push(ReadRecord { at: *at, offset: Offset(offset), record: record.clone() });
            }
            if whole {
                place.next = place.next.max(partition.stable_end());
                place.told = Some(NextOffset(place.next));
            }
        }
        Ok(taken)
    }
}

impl MemoryReader {
    /// What a client does that has lost its connection: it asks from an earlier offset than it has given.
    fn go_back_a_little(&mut self) {
        if !self.log.link.chance(self.log.faults.given_again) {
            return;
        }
        let back = i64::try_from(self.log.link.some_of(Duration::from_micros(6)).as_micros()).unwrap_or(0);
        for (at, place) in &mut self.at {
            if let Ok(topic) = self.log.topic(*at)
                && let Some((first, _)) = self.log.broker.ends(topic, at.partition)
            {
                place.next = place.next.saturating_sub(back).max(first.0);
            }
        }
        self.log.link.say(&format!("the reader goes back by {back}"));
    }

    async fn read_some(
        &mut self,
        records_max: usize,
        bytes_max: usize,
        wait: Duration,
    ) -> Result<Vec<ReadRecord>, LogError> {
        let until = Instant::now() + wait;
        self.log.enter("reading", wait).await?;
        let broker = Arc::clone(&self.log.broker);
        let found = broker.wait_for(until, |state| {
            if state.outage().is_some() {
                return Some(Err(failed(LogErrorClass::Outage, "reading: the broker is out")));
            }
            let before: Vec<Option<NextOffset>> = self.at.values().map(|place| place.told).collect();
            let taken = match self.take(state, records_max, bytes_max) {
                Ok(taken) => taken,
                Err(error) => return Some(Err(error)),
            };
            let moved = self.at.values().map(|place| place.told).ne(before);
            (!taken.is_empty() || moved).then_some(Ok(taken))
        });
        let found = found.await;
        self.log.pass("reading").await?;
        self.go_back_a_little();
        found.unwrap_or_else(|| Ok(Vec::new()))
    }
}

impl AsyncReader for MemoryReader {
    fn read(&mut self, records_max: usize, bytes_max: usize, wait: Duration) -> Asked<'_, Vec<ReadRecord>> {
        Box::pin(self.read_some(records_max, bytes_max, wait))
    }

    fn position(&self, at: TopicPartition) -> Option<NextOffset> {
        self.at.get(&at)?.told
    }

    fn known_end(&self, at: TopicPartition) -> Option<NextOffset> {
        let topic = self.log.topic(at).ok()?;
        let state = self.log.broker.lock();
        state.partition_ref(topic, at.partition).map(|(partition, _)| NextOffset(partition.end()))
    }
}
