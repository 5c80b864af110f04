//! Stall: partitions that the client has stopped fetching without a word.
//!
//! In:        how each read ended; where partitions end, asked now and then
//! Out:       whether it is time to ask, and whether a partition is stalled: records that were there at the question before
//!            have still not come, although the reader has waited for records all the while
//! Holds:     the ends of the question before
//! Not here:  the question, and what is done about it (reader)
//!
//! Seen with librdkafka 2.12.1 where a broker was started on a busy machine: some consumers fetched no more, with no error and a
//! known end that stood still, until they were built anew. See `GIVEN_UP_AFTER` in `client.rs` for a cause.

use crate::model::TopicPartition;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Between two questions. Longer than a slow broker takes for an answer.
pub(super) const EVERY: Duration = Duration::from_secs(10);
/// A reader that asks for nothing for so long, as one without budget, has not been waiting.
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// What is remembered between two reads.
pub(super) struct Watch {
    every: Duration,
    /// Since when each read has taken all there was, or since the last question.
    since: Option<Instant>,
    last_read: Instant,
    ends: BTreeMap<TopicPartition, i64>,
}

impl Watch {
    pub(super) fn new(every: Duration) -> Watch {
        Watch { every, since: None, last_read: Instant::now(), ends: BTreeMap::new() }
    }

    /// The time between two questions.
    pub(super) fn every(&self) -> Duration {
        self.every
    }

    /// A read has ended; `took_all`: nothing more was there to take. Whether it is time to ask for the ends.
    pub(super) fn is_due(&mut self, took_all: bool) -> bool {
        let now = Instant::now();
        let paused = now.duration_since(self.last_read) > PAUSE_MAX;
        self.last_read = now;
        if paused || !took_all {
            self.since = None;
            self.ends.clear();
            return false;
        }
        let since = *self.since.get_or_insert(now);
        let due = now.duration_since(since) >= self.every;
        if due {
            self.since = Some(now);
        }
        due
    }

    /// Notes where a partition ends (`None`: nobody said), and tells whether it is stalled at this position.
    pub(super) fn is_stalled(&mut self, at: TopicPartition, end: Option<i64>, position: i64) -> bool {
        let Some(end) = end else {
            // A broker that does not answer is no stall.
            self.ends.remove(&at);
            return false;
        };
        self.ends.insert(at, end).is_some_and(|before| position < before)
    }

    /// The end that was heard last.
    pub(super) fn end(&self, at: TopicPartition) -> Option<i64> {
        self.ends.get(&at).copied()
    }
}
