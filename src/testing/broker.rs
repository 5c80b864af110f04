//! Broker: topics, producers and transactions, shared by every instance of a job.
//!
//! In:        records, transactions     Out: what is committed, what is there, what changed
//! Holds:     everything in memory, for as long as a test wants it
//! Order:     one call at a time
//! Fails:     a producer whose id was initialised again, or whose transaction timed out, is refused
//! Not here:  faults on the way (log, link)

use super::Lie;
use super::partition::{Fate, Partition, TransactionId};
use crate::model::{NextOffset, Offset, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// How calls fail while the broker is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outage {
    /// At once: connection refused.
    AtOnce,
    /// When their deadline has passed: nobody answers.
    AtDeadline,
}

/// A record that a read-committed reader sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its partition.
    pub partition: i32,
    /// Its offset.
    pub offset: Offset,
    /// The record.
    pub record: Record,
}

/// One broker.
#[derive(Debug)]
pub struct Broker {
    state: Mutex<State>,
    changed: Notify,
    lie: Option<Lie>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    topics: BTreeMap<String, Vec<Partition>>,
    /// What each topic is told apart by from others that had its name.
    ids: BTreeMap<String, u64>,
    made: u64,
    producers: BTreeMap<String, Producer>,
    fates: Vec<Fate>,
    group: Group,
    /// The largest record that each topic takes.
    limits: BTreeMap<String, usize>,
    outage: Option<Outage>,
    ended: u64,
}

/// Per group, topic and partition: the position and its mark.
type Group = BTreeMap<(String, String, i32), (NextOffset, String)>;

#[derive(Debug, Default)]
struct Producer {
    epoch: u32,
    open: BTreeMap<u32, (TransactionId, BTreeSet<(String, i32)>)>,
}

/// The producer's epoch is not the newest one any more.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused;

impl Broker {
    /// An empty broker.
    pub fn new() -> Arc<Broker> {
        Broker::lying(None)
    }

    /// A broker that does not keep a promise.
    pub fn lying(lie: Option<Lie>) -> Arc<Broker> {
        Arc::new(Broker { state: Mutex::default(), changed: Notify::new(), lie })
    }

    /// Makes a topic; one that is there stays as it is, with more partitions where that is asked for.
    pub fn create_topic(&self, topic: &str, partitions: i32) {
        let partitions = usize::try_from(partitions).unwrap_or(0);
        self.change(|state| {
            if !state.topics.contains_key(topic) {
                state.made = state.made.saturating_add(1);
                state.ids.insert(topic.to_owned(), state.made);
            }
            let topic = state.topics.entry(topic.to_owned()).or_default();
            let count = topic.len().max(partitions);
            topic.resize_with(count, Partition::default);
        });
    }

    /// Deletes a topic with all it holds, and with what groups have committed for it.
    pub fn delete_topic(&self, topic: &str) {
        self.change(|state| {
            state.topics.remove(topic);
            state.ids.remove(topic);
            state.group.retain(|(_, of, _), _| of != topic);
        });
    }

    /// The largest record that the topic takes from now on, as [`crate::model::Outgoing::batch_bytes`] counts; `None`: any.
    pub fn set_record_limit(&self, topic: &str, bytes: Option<usize>) {
        self.change(|state| match bytes {
            Some(bytes) => state.limits.insert(topic.to_owned(), bytes),
            None => state.limits.remove(topic),
        });
    }

    /// The largest record that the topic takes.
    pub fn record_limit(&self, topic: &str) -> Option<usize> {
        self.lock().limits.get(topic).copied()
    }

    /// The id that the topic was made with.
    pub fn topic_id(&self, topic: &str) -> Option<String> {
        self.lock().ids.get(topic).map(|id| format!("id-{id}"))
    }

    /// Appends a record outside of any transaction; none where there is no such partition.
    pub fn produce(&self, topic: &str, partition: i32, record: Record) -> Option<Offset> {
        self.change(|state| state.partition(topic, partition).map(|p| Offset(p.append(record, None))))
    }

    /// Appends records of a transaction, and then ends it.
    pub fn produce_together(&self, topic: &str, partition: i32, records: Vec<Record>, commit: bool) {
        self.change(|state| {
            let id = state.begin();
            if let Some(partition) = state.partition(topic, partition) {
                for record in records {
                    partition.append(record, Some(id));
                }
            }
            let fate = if commit { Fate::Committed } else { Fate::Aborted };
            state.decide(id, &BTreeSet::from([(topic.to_owned(), partition)]), fate);
        });
    }

    /// Everything that a read-committed reader sees of a topic.
    pub fn committed(&self, topic: &str) -> Vec<Committed> {
        let state = self.lock();
        let partitions = state.topics.get(topic).into_iter().flatten();
        let records = (0_i32..).zip(partitions).flat_map(|(partition, entries)| {
            entries.committed_from(entries.first(), &state.fates).map(move |(offset, record)| Committed {
                partition,
                offset: Offset(offset),
                record: record.clone(),
            })
        });
        records.collect()
    }

    /// First offset and end for read-committed readers of a partition.
    pub fn ends(&self, topic: &str, partition: i32) -> Option<(Offset, NextOffset)> {
        let mut state = self.lock();
        state.partition(topic, partition).map(|p| (Offset(p.first()), NextOffset(p.stable_end())))
    }

    /// Deletes the records before this offset.
    pub fn trim(&self, topic: &str, partition: i32, before: Offset) {
        self.change(|state| {
            if let Some(partition) = state.partition(topic, partition) {
                partition.trim(before.0);
            }
        });
    }

    /// Loses the records at this offset and behind it, as a broker does that comes back without its last writes.
    pub fn cut_off(&self, topic: &str, partition: i32, from: Offset) {
        self.change(|state| {
            if let Some(partition) = state.partition(topic, partition) {
                partition.cut_off(from.0);
            }
        });
    }

    /// What the group has committed.
    pub fn group_position(&self, group: &str, topic: &str, partition: i32) -> Option<NextOffset> {
        self.group_commit(group, topic, partition).map(|(next, _)| next)
    }

    /// What the group has committed, with its mark.
    pub(super) fn group_commit(
        &self,
        group: &str,
        topic: &str,
        partition: i32,
    ) -> Option<(NextOffset, String)> {
        self.lock().group.get(&(group.to_owned(), topic.to_owned(), partition)).cloned()
    }

    /// Forgets what the group has committed, as a broker does after a week without a commit.
    pub fn expire_group(&self, group: &str) {
        self.change(|state| state.group.retain(|(of, _, _), _| of != group));
    }

    /// Commits for the group, as an operator's hand does.
    pub fn set_group_position(&self, group: &str, topic: &str, partition: i32, next: NextOffset) {
        self.change(|state| {
            state.group.insert((group.to_owned(), topic.to_owned(), partition), (next, String::new()));
        });
    }

    /// Transactions that nobody has ended.
    pub fn open_transactions(&self) -> usize {
        self.lock().producers.values().map(|producer| producer.open.len()).sum()
    }

    /// From now on every call fails; `None`: it works again.
    pub fn set_outage(&self, outage: Option<Outage>) {
        self.change(|state| state.outage = outage);
    }

    // ---- for the clients

    /// `false`: it is out. Waits for its end where calls fail late.
    pub(super) async fn is_up(&self, until: Instant) -> bool {
        let answered =
            |state: &mut State| (state.outage != Some(Outage::AtDeadline)).then_some(state.outage.is_none());
        self.wait_for(until, answered).await.unwrap_or(false)
    }

    /// Fences whoever has the id: its open transaction is aborted, its epoch is over. Gives the new epoch.
    pub(super) fn initialise(&self, id: &str) -> u32 {
        self.change(|state| {
            let producer = state.producers.entry(id.to_owned()).or_default();
            producer.epoch = producer.epoch.saturating_add(1);
            let epoch = producer.epoch;
            if self.lie != Some(Lie::NoFence) {
                state.abort_open(id);
            }
            epoch
        })
    }

    /// Appends to a producer's transaction, which the first record begins.
    pub(super) fn send(
        &self,
        id: &str,
        epoch: u32,
        to: (&str, i32),
        record: Record,
    ) -> Result<bool, Refused> {
        self.change(|state| {
            self.admit(state, id, epoch)?;
            let transaction = state.open(id, epoch, to);
            Ok(match state.partition(to.0, to.1) {
                Some(partition) => {
                    partition.append(record, transaction);
                    true
                }
                None => false,
            })
        })
    }

    /// Ends a producer's transaction.
    pub(super) fn end(&self, id: &str, epoch: u32, commit: bool) -> Result<(), Refused> {
        self.change(|state| {
            self.admit(state, id, epoch)?;
            let mut fate = if commit { Fate::Committed } else { Fate::Aborted };
            state.ended = state.ended.saturating_add(1);
            if commit && self.lie == Some(Lie::CommitAborts) && Lie::CommitAborts.now(state.ended) {
                fate = Fate::Aborted;
            }
            let open = state.producers.get_mut(id).and_then(|producer| producer.open.remove(&epoch));
            if let Some((transaction, touched)) = open {
                state.decide(transaction, &touched, fate);
            }
            Ok(())
        })
    }

    /// Whether the end of this transaction is told wrongly.
    pub(super) fn tells_abort(&self) -> bool {
        let ended = self.lock().ended;
        self.lie == Some(Lie::AbortCommits) && Lie::AbortCommits.now(ended)
    }

    /// A transaction has been open for too long: aborted, and its producer fenced.
    pub(super) fn time_out(&self, id: &str, epoch: u32) {
        self.change(|state| {
            let newest = state.producers.get_mut(id).filter(|producer| producer.epoch == epoch);
            if let Some(producer) = newest {
                producer.epoch = producer.epoch.saturating_add(1);
                state.abort_open(id);
            }
        });
    }

    fn admit(&self, state: &State, id: &str, epoch: u32) -> Result<(), Refused> {
        let newest = state.producers.get(id).is_some_and(|producer| producer.epoch == epoch);
        if newest || self.lie == Some(Lie::NoFence) { Ok(()) } else { Err(Refused) }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at each change until something is found; none: not until then.
    pub(super) async fn wait_for<T>(
        &self,
        until: Instant,
        mut find: impl FnMut(&mut State) -> Option<T>,
    ) -> Option<T> {
        loop {
            let mut changed = pin!(self.changed.notified());
            // Before the look: a change between the two must not be missed.
            changed.as_mut().enable();
            if let Some(found) = find(&mut self.lock()) {
                return Some(found);
            }
            if Instant::now() >= until || timeout_at(until, changed).await.is_err() {
                return find(&mut self.lock());
            }
        }
    }

    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let done = change(&mut self.lock());
        self.changed.notify_waiters();
        done
    }
}

impl State {
    pub(super) fn partition(&mut self, topic: &str, partition: i32) -> Option<&mut Partition> {
        let partition = usize::try_from(partition).ok()?;
        self.topics.get_mut(topic)?.get_mut(partition)
    }

    pub(super) fn partition_ref(&self, topic: &str, partition: i32) -> Option<(&Partition, &[Fate])> {
        let partition = usize::try_from(partition).ok()?;
        Some((self.topics.get(topic)?.get(partition)?, &self.fates))
    }

    pub(super) fn partition_count(&self, topic: &str) -> Option<i32> {
        i32::try_from(self.topics.get(topic)?.len()).ok()
    }

    pub(super) fn outage(&self) -> Option<Outage> {
        self.outage
    }

    pub(super) fn group(&mut self) -> &mut Group {
        &mut self.group
    }

    fn begin(&mut self) -> TransactionId {
        self.fates.push(Fate::Open);
        self.fates.len().saturating_sub(1)
    }

    /// The producer's transaction, with this partition in it.
    fn open(&mut self, id: &str, epoch: u32, to: (&str, i32)) -> Option<TransactionId> {
        let is_open = self.producers.get(id)?.open.contains_key(&epoch);
        let new = if is_open { None } else { Some(self.begin()) };
        let producer = self.producers.get_mut(id)?;
        if let Some(new) = new {
            producer.open.insert(epoch, (new, BTreeSet::new()));
        }
        let (transaction, touched) = producer.open.get_mut(&epoch)?;
        touched.insert((to.0.to_owned(), to.1));
        Some(*transaction)
    }

    fn abort_open(&mut self, id: &str) {
        let open = self.producers.get_mut(id).map(|producer| std::mem::take(&mut producer.open));
        for (transaction, touched) in open.into_iter().flat_map(BTreeMap::into_values) {
            self.decide(transaction, &touched, Fate::Aborted);
        }
    }

    fn decide(&mut self, id: TransactionId, touched: &BTreeSet<(String, i32)>, fate: Fate) {
        if let Some(of) = self.fates.get_mut(id) {
            *of = fate;
        }
        for (topic, partition) in touched {
            if let Some(partition) = self.partition(topic, *partition) {
                partition.mark(id);
            }
        }
    }
}
