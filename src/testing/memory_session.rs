//! One session on a database in memory.
//!
//! In:        calls of [`Session`]     Out: what they find; writes, applied whole at the commit
//! Holds:     the locks of its transaction, until its end or until it is dropped
//! Order:     position rows are locked by key group, so that nobody deadlocks
//! Fails:     outage where its database was out since; contention where a lock is not given; reject where a key is there

use super::memory_database::{LOCK_WAIT, Lock, MemoryDatabase, MemoryStep, State, failed};
use super::tables::Writes;
use super::{Lie, StoredRow};
use crate::database::{
    Advance, Column, DatabaseError, ErrorClass, Finding, FrontierRow, JobRow, LedgerState, OutboxRow,
    Pending, PositionRow, Reset, ResetRow, Row, Session, Table, TopicRow,
};
use crate::job::{SchemaFacts, TableFacts, TableName};
use crate::model::{KeyGroup, NextOffset};
use std::sync::{Arc, MutexGuard};
use tokio::time::timeout;

pub(super) struct MemorySession {
    database: Arc<MemoryDatabase>,
    number: u64,
    generation: u64,
    pub(super) writes: Writes,
    /// What was written when the savepoint was set.
    pub(super) point: Option<Writes>,
    /// A transaction has begun.
    pub(super) open: bool,
}

pub(super) type Result<T> = std::result::Result<T, DatabaseError>;

impl MemorySession {
    pub(super) fn new(database: Arc<MemoryDatabase>, number: u64, generation: u64) -> MemorySession {
        MemorySession { database, number, generation, writes: Writes::default(), point: None, open: false }
    }

    pub(super) fn state(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.database.lock();
        if state.out || state.generation != self.generation {
            return Err(failed(ErrorClass::Outage, "server has gone away"));
        }
        Ok(state)
    }

    async fn lock_rows(&self, groups: impl IntoIterator<Item = KeyGroup>) -> Result<()> {
        self.lock_all(groups.into_iter().map(Lock::Position).collect()).await
    }

    /// Takes the lock of each row, in order, and waits for those that hold one.
    pub(super) async fn lock_all(&self, mut rows: Vec<Lock>) -> Result<()> {
        rows.sort_unstable();
        let all = async {
            for row in rows {
                self.lock_row(row).await?;
            }
            Ok(())
        };
        match timeout(LOCK_WAIT, all).await {
            Ok(done) => done,
            Err(_elapsed) => Err(failed(ErrorClass::Contention, "lock wait timeout exceeded")),
        }
    }

    async fn lock_row(&self, row: Lock) -> Result<()> {
        loop {
            let mut unlocked = std::pin::pin!(self.database.unlocked.notified());
            unlocked.as_mut().enable();
            {
                let mut state = self.state()?;
                let holder = *state.locks.entry(row).or_insert(self.number);
                if holder == self.number {
                    return Ok(());
                }
            }
            unlocked.await;
        }
    }

    /// Ends the transaction; nothing of it stays.
    pub(super) fn end(&mut self) {
        self.writes = Writes::default();
        self.point = None;
        self.open = false;
        let mut state = self.database.lock();
        if state.generation == self.generation {
            state.locks.retain(|_, holder| *holder != self.number);
        }
        drop(state);
        self.database.unlocked.notify_waiters();
    }

    async fn advance_rows(&mut self, writes: &[Advance]) -> Result<bool> {
        self.lock_rows(writes.iter().map(|write| write.group)).await?;
        let lie = self.database.lie;
        let state = self.state()?;
        if lie != Some(Lie::NoCompare) {
            // The outbox's rows go in before the positions are compared.
            if writes.iter().any(|write| state.tables.has_outbox(write)) {
                return Err(failed(ErrorClass::Reject, "duplicate key in tidegate_outbox"));
            }
            if !writes.iter().all(|write| state.tables.takes(write)) {
                return Ok(false);
            }
        }
        drop(state);
        self.writes.advances.extend_from_slice(writes);
        Ok(true)
    }

    fn commit_now(&mut self) -> Result<()> {
        let mut state = match self.state() {
            Ok(state) => state,
            Err(error) => return Err(DatabaseError { rolled_back: true, ..error }),
        };
        state.commits = state.commits.saturating_add(1);
        let lies = |lie: Lie, count| self.database.lie == Some(lie) && lie.now(count);
        let mut writes = self.writes.clone();
        if lies(Lie::CommitLosesRows, state.commits) {
            writes.rows.clear();
        }
        if !lies(Lie::CommitForgets, state.commits) {
            state.tables.apply(writes);
        }
        drop(state);
        self.database.was_committed();
        self.end();
        Ok(())
    }

    fn insert(&mut self, step: usize, rows: &[Row]) -> Result<()> {
        let Some(MemoryStep::Store { unique, refuses }) = self.database.steps.get(step).cloned() else {
            return Err(failed(ErrorClass::Misconfigured, "the step is not a store"));
        };
        let refuses = refuses.filter(|_| !self.database.lock().mended);
        let key = |row: &Row| unique.iter().map(|index| row.get(*index).cloned()).collect::<Vec<_>>();
        for (index, row) in rows.iter().enumerate() {
            let mut state = self.state()?;
            if refuses.as_ref().is_some_and(|(index, value)| row.get(*index) == Some(value)) {
                let error = failed(ErrorClass::Reject, "the schema does not take this value");
                return Err(DatabaseError { row: Some(index), ..error });
            }
            let mut there = state.tables.rows.iter().chain(&self.writes.rows).filter(|r| r.step == step);
            if !unique.is_empty() && there.any(|there| key(&there.row) == key(row)) {
                let error = failed(ErrorClass::Reject, "duplicate key in the job's table");
                return Err(DatabaseError { row: Some(index), ..error });
            }
            drop(there);
            state.next_row = state.next_row.saturating_add(1);
            let id = state.next_row;
            drop(state);
            self.writes.rows.push(StoredRow { id, step, row: row.clone() });
        }
        Ok(())
    }

    fn find(&self, step: usize, rows: &[Row]) -> Result<Vec<Option<Row>>> {
        drop(self.state()?);
        let Some(MemoryStep::Lookup(list)) = self.database.steps.get(step) else {
            return Err(failed(ErrorClass::Misconfigured, "the step is not a look-up"));
        };
        let found = |row: &Row| list.iter().find(|(key, _)| key == row).map(|(_, columns)| columns.clone());
        Ok(rows.iter().map(found).collect())
    }

    fn position_rows(&self, groups: Option<&[KeyGroup]>) -> Result<Vec<PositionRow>> {
        let state = self.state()?;
        let wanted = |row: &&PositionRow| groups.is_none_or(|groups| groups.contains(&row.group));
        Ok(state.tables.positions.values().filter(wanted).cloned().collect())
    }

    /// Locks rows, works on them, and lets go of them, in a transaction of its own.
    async fn with_rows(
        &mut self,
        groups: &[KeyGroup],
        work: impl FnOnce(&mut State) + Send,
    ) -> Result<Vec<PositionRow>> {
        let locked = self.lock_rows(groups.iter().copied()).await;
        let found = match locked {
            Ok(()) => {
                self.state().map(|mut state| work(&mut state)).and_then(|()| self.position_rows(Some(groups)))
            }
            Err(error) => Err(error),
        };
        self.end();
        found
    }
}

impl Drop for MemorySession {
    fn drop(&mut self) {
        self.end();
    }
}

impl Session for MemorySession {
    fn begin(&mut self) -> Pending<'_, ()> {
        Box::pin(async move {
            drop(self.state()?);
            // As MariaDB and MySQL do: a transaction that was left open is committed by the next one's beginning.
            if !self.writes.is_empty() {
                self.commit_now()?;
            }
            self.open = true;
            Ok(())
        })
    }

    fn begin_reading(&mut self) -> Pending<'_, ()> {
        self.begin()
    }

    fn lookup<'a>(&'a mut self, step: usize, rows: &'a [Row]) -> Pending<'a, Vec<Option<Row>>> {
        Box::pin(async move { self.find(step, rows) })
    }

    fn store<'a>(&'a mut self, step: usize, rows: &'a [Row]) -> Pending<'a, ()> {
        Box::pin(async move { self.insert(step, rows) })
    }

    fn advance<'a>(&'a mut self, writes: &'a [Advance]) -> Pending<'a, bool> {
        Box::pin(self.advance_rows(writes))
    }

    fn commit(&mut self) -> Pending<'_, ()> {
        Box::pin(async move { self.commit_now() })
    }

    fn rollback(&mut self) -> Pending<'_, ()> {
        Box::pin(async move {
            drop(self.state()?);
            self.end();
            Ok(())
        })
    }

    fn settle<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<PositionRow>> {
        Box::pin(self.with_rows(groups, |_| {}))
    }

    fn probe(&mut self) -> Pending<'_, ()> {
        Box::pin(async move { self.state().map(drop) })
    }

    fn create_ledger(&mut self) -> Pending<'_, ()> {
        Box::pin(async move { self.state().map(drop) })
    }

    fn job_row(&mut self) -> Pending<'_, Option<JobRow>> {
        Box::pin(async move { Ok(self.state()?.tables.job.clone()) })
    }

    fn create_job<'a>(&'a mut self, row: &'a JobRow) -> Pending<'a, ()> {
        Box::pin(async move {
            let mut state = self.state()?;
            if state.tables.job.is_some() {
                return Err(failed(ErrorClass::Reject, "duplicate key in tidegate_job"));
            }
            state.tables.job = Some(row.clone());
            Ok(())
        })
    }

    fn set_fingerprint<'a>(&'a mut self, fingerprint: &'a str) -> Pending<'a, ()> {
        Box::pin(async move {
            if let Some(job) = &mut self.state()?.tables.job {
                fingerprint.clone_into(&mut job.fingerprint);
            }
            Ok(())
        })
    }

    fn claim<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<PositionRow>> {
        Box::pin(self.with_rows(groups, |state| {
            groups.iter().for_each(|group| state.tables.claim(*group));
        }))
    }

    fn positions(&mut self) -> Pending<'_, Vec<PositionRow>> {
        Box::pin(async move { self.position_rows(None) })
    }

    fn outbox<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<OutboxRow>> {
        Box::pin(async move {
            let state = self.state()?;
            let wanted = state.tables.outbox.iter().filter(|((group, _), _)| groups.contains(group));
            let row = |((group, batch), outputs): (&(KeyGroup, _), &Vec<u8>)| OutboxRow {
                group: *group,
                batch: *batch,
                outputs: outputs.clone(),
            };
            Ok(wanted.map(row).collect())
        })
    }

    fn frontier(&mut self) -> Pending<'_, Vec<FrontierRow>> {
        Box::pin(async move {
            let state = self.state()?;
            let row = |((topic, partition), next): (&(String, i32), &NextOffset)| FrontierRow {
                topic: topic.clone(),
                partition: *partition,
                next: *next,
            };
            Ok(state.tables.frontier.iter().map(row).collect())
        })
    }

    fn advance_frontier<'a>(&'a mut self, rows: &'a [FrontierRow], resets: u64) -> Pending<'a, bool> {
        Box::pin(async move {
            let mut state = self.state()?;
            let stands = state.tables.job.as_ref().map_or(0, |job| job.resets) == resets;
            if stands || rows.is_empty() {
                state.tables.move_frontier(rows);
            }
            Ok(stands || rows.is_empty())
        })
    }

    fn ledger_state(&mut self) -> Pending<'_, LedgerState> {
        Box::pin(async move { self.state().map(|_| LedgerState::Ready) })
    }

    fn topics(&mut self) -> Pending<'_, Vec<TopicRow>> {
        Box::pin(async move {
            let state = self.state()?;
            let row = |(topic, id): (&String, &String)| TopicRow { topic: topic.clone(), id: id.clone() };
            Ok(state.tables.topics.iter().map(row).collect())
        })
    }

    fn remember_topics<'a>(&'a mut self, topics: &'a [TopicRow]) -> Pending<'a, ()> {
        Box::pin(async move {
            self.state()?.tables.remember_topics(topics);
            Ok(())
        })
    }

    fn mark_group<'a>(&'a mut self, name: &'a str) -> Pending<'a, ()> {
        Box::pin(async move {
            if let Some(job) = &mut self.state()?.tables.job {
                name.clone_into(&mut job.marked_group);
            }
            Ok(())
        })
    }

    fn reset<'a>(&'a mut self, reset: &'a Reset) -> Pending<'a, bool> {
        let groups: Vec<KeyGroup> = reset.positions.iter().map(|row| row.group).collect();
        Box::pin(async move {
            let mut stood = false;
            self.with_rows(&groups, |state| stood = state.tables.reset(reset)).await?;
            Ok(stood)
        })
    }

    fn resets(&mut self) -> Pending<'_, Vec<ResetRow>> {
        Box::pin(async move { Ok(self.state()?.tables.resets.clone()) })
    }

    fn check_statements(&mut self) -> Pending<'_, Vec<Finding>> {
        Box::pin(async move { self.state().map(|_| Vec::new()) })
    }

    fn columns<'a>(&'a mut self, _: Option<&'a str>, _: &'a str) -> Pending<'a, Vec<Column>> {
        Box::pin(async move { self.state().map(|_| Vec::new()) })
    }

    fn tables(&mut self) -> Pending<'_, Vec<Table>> {
        Box::pin(async move { self.state().map(|_| Vec::new()) })
    }

    /// Rows are appended, and nothing is known of columns.
    fn facts<'a>(&'a mut self, tables: &'a [TableName]) -> Pending<'a, SchemaFacts> {
        let table = |asked: &TableName| TableFacts {
            name: asked.name.clone(),
            is_plain: true,
            columns: Vec::new(),
            unique: Vec::new(),
            triggers: Vec::new(),
        };
        let facts = SchemaFacts { tables: tables.iter().map(table).collect(), links: Vec::new() };
        Box::pin(async move { self.state().map(|_| facts) })
    }
}
