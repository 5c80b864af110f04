//! Partition: records and markers, one offset each.
//!
//! In:        records, plain or of a transaction; markers     Out: what a read-committed reader sees
//! Holds:     everything from the first offset on; which transactions are open in it
//! Not here:  who may write (broker)

use crate::model::Record;
use std::collections::{BTreeMap, VecDeque};

/// A transaction, by its number in the broker.
pub(super) type TransactionId = usize;

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Open,
    Committed,
    Aborted,
}

#[derive(Debug)]
enum Entry {
    Record { record: Record, of: Option<TransactionId> },
    Marker,
}

/// One partition.
#[derive(Debug, Default)]
pub(super) struct Partition {
    first: i64,
    entries: VecDeque<Entry>,
    /// First offset of each transaction that is open here.
    open: BTreeMap<TransactionId, i64>,
}

impl Partition {
    /// The first offset that is there.
    pub(super) fn first(&self) -> i64 {
        self.first
    }

    /// The offset behind the last entry.
    pub(super) fn end(&self) -> i64 {
        self.first.saturating_add(i64::try_from(self.entries.len()).unwrap_or(i64::MAX))
    }

    /// The end for read-committed readers.
    pub(super) fn stable_end(&self) -> i64 {
        self.open.values().copied().min().unwrap_or(i64::MAX).min(self.end())
    }

    pub(super) fn append(&mut self, record: Record, of: Option<TransactionId>) -> i64 {
        let offset = self.end();
        if let Some(id) = of {
            self.open.entry(id).or_insert(offset);
        }
        self.entries.push_back(Entry::Record { record, of });
        offset
    }

    /// Decides a transaction, if it has written here.
    pub(super) fn mark(&mut self, id: TransactionId) {
        if self.open.remove(&id).is_some() {
            self.entries.push_back(Entry::Marker);
        }
    }

    /// Deletes what stands before this offset.
    pub(super) fn trim(&mut self, before: i64) {
        while self.first < before && self.entries.pop_front().is_some() {
            self.first = self.first.saturating_add(1);
        }
    }

    /// Loses what stands at this offset and behind it.
    pub(super) fn cut_off(&mut self, from: i64) {
        let kept = usize::try_from(from.saturating_sub(self.first)).unwrap_or(0);
        self.entries.truncate(kept);
    }

    /// What a read-committed reader sees from this offset on.
    pub(super) fn committed_from<'a>(
        &'a self,
        from: i64,
        fates: &'a [Fate],
    ) -> impl Iterator<Item = (i64, &'a Record)> + 'a {
        let end = self.stable_end();
        let skipped = usize::try_from(from.saturating_sub(self.first)).unwrap_or(0);
        let offsets = self.first.max(from)..end;
        offsets.zip(self.entries.iter().skip(skipped)).filter_map(move |(offset, entry)| match entry {
            Entry::Record { record, of } => {
                let committed = of.is_none_or(|id| fates.get(id) == Some(&Fate::Committed));
                committed.then_some((offset, record))
            }
            Entry::Marker => None,
        })
    }
}
