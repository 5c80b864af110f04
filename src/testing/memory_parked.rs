//! Parked events for a session on a database in memory.
//!
//! In:        calls of [`Parked`]     Out: what they find, the transaction's own writes included
//! Holds:     locks of keys, as the real ones lock their rows: who handles or marks a key waits for whoever does
//! Order:     keys are locked by rising id
//! Fails:     contention: a lock is not given, or the transaction is gone; reject: an event is parked in the same place

use super::memory_database::{Lock, failed};
use super::memory_session::{MemorySession, Result};
use super::parked_tables::{ParkedTables, ParkedWrite, overview};
use crate::database::{
    DatabaseError, ErrorClass, Parked, ParkedAt, ParkedDone, ParkedKey, ParkedLeft, ParkedMark, ParkedRow,
    ParkedWish, Pending,
};
use crate::model::{KeyGroup, KeyId};
use std::collections::BTreeSet;

fn no_transaction() -> DatabaseError {
    DatabaseError {
        rolled_back: true,
        ..failed(ErrorClass::Contention, "the transaction is not open any more")
    }
}

impl MemorySession {
    /// What is committed and what this transaction has written.
    fn seen_parked(&self) -> Result<ParkedTables> {
        let mut tables = self.state()?.tables.parked.clone();
        self.writes.parked.iter().for_each(|write| tables.apply(write));
        Ok(tables)
    }

    async fn lock_keys(&self, keys: &BTreeSet<KeyId>) -> Result<()> {
        self.lock_all(keys.iter().copied().map(Lock::Key).collect()).await
    }

    async fn park_rows(&mut self, rows: &[ParkedRow]) -> Result<()> {
        self.lock_keys(&rows.iter().map(|row| row.key_id).collect()).await?;
        let seen = self.seen_parked()?;
        let mut there: BTreeSet<ParkedAt> = seen.events.into_keys().collect();
        if let Some(row) = rows.iter().position(|row| !there.insert(row.at)) {
            let error = failed(ErrorClass::Reject, "duplicate key in tidegate_parked");
            return Err(DatabaseError { row: Some(row), ..error });
        }
        self.writes.parked.push(ParkedWrite::Park(rows.to_vec()));
        Ok(())
    }

    async fn work(&self, group: KeyGroup, rows_max: usize, bytes_max: usize) -> Result<Vec<ParkedRow>> {
        let seen = self.seen_parked()?;
        let marked = seen.keys.iter().filter(|(_, key)| key.group == group && key.mark.is_some());
        let marked: BTreeSet<KeyId> = marked.map(|(id, _)| *id).collect();
        self.lock_keys(&marked).await?;
        // Only now nobody changes them any more. A key that was marked meanwhile is not ours yet.
        let mut seen = self.seen_parked()?;
        seen.keys.retain(|id, _| marked.contains(id));
        Ok(seen.work(group, rows_max, bytes_max))
    }

    async fn settle_rows(&mut self, group: KeyGroup, done: &[ParkedDone]) -> Result<ParkedLeft> {
        self.lock_keys(&done.iter().map(|done| done.key_id).collect()).await?;
        let left = self.seen_parked()?.settle(group, done);
        self.writes.parked.push(ParkedWrite::Settle(group, done.to_vec()));
        Ok(left)
    }

    async fn mark_rows(&mut self, write: ParkedWrite, keys: &BTreeSet<KeyId>) -> Result<usize> {
        self.lock_keys(keys).await?;
        let mut state = self.state()?;
        let parked = &mut state.tables.parked;
        parked.apply(&write);
        Ok(keys.iter().filter(|id| parked.keys.contains_key(id)).count())
    }
}

impl Parked for MemorySession {
    fn savepoint(&mut self) -> Pending<'_, ()> {
        Box::pin(async move {
            drop(self.state()?);
            if !self.open {
                return Err(no_transaction());
            }
            self.point = Some(self.writes.clone());
            Ok(())
        })
    }

    fn release(&mut self) -> Pending<'_, ()> {
        Box::pin(async move {
            drop(self.state()?);
            self.point.take().map(drop).ok_or_else(no_transaction)
        })
    }

    fn undo(&mut self) -> Pending<'_, ()> {
        Box::pin(async move {
            drop(self.state()?);
            self.writes = self.point.take().ok_or_else(no_transaction)?;
            Ok(())
        })
    }

    fn park<'a>(&'a mut self, rows: &'a [ParkedRow]) -> Pending<'a, ()> {
        Box::pin(self.park_rows(rows))
    }

    fn parked_work(
        &mut self,
        group: KeyGroup,
        rows_max: usize,
        bytes_max: usize,
    ) -> Pending<'_, Vec<ParkedRow>> {
        Box::pin(async move { self.work(group, rows_max, bytes_max).await })
    }

    fn settle_parked<'a>(&'a mut self, group: KeyGroup, done: &'a [ParkedDone]) -> Pending<'a, ParkedLeft> {
        Box::pin(self.settle_rows(group, done))
    }

    fn parked_keys<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<(KeyGroup, KeyId)>> {
        Box::pin(async move {
            let keys = self.seen_parked()?.keys;
            let found = keys.into_iter().map(|(id, key)| (key.group, id));
            let found: BTreeSet<_> = found.filter(|(group, _)| groups.contains(group)).collect();
            Ok(found.into_iter().collect())
        })
    }

    fn marked_groups<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<KeyGroup>> {
        Box::pin(async move {
            let seen = self.seen_parked()?;
            let found: BTreeSet<KeyGroup> = seen.marked().filter(|group| groups.contains(group)).collect();
            Ok(found.into_iter().collect())
        })
    }

    fn parked<'a>(
        &'a mut self,
        wish: &'a ParkedWish,
        after: Option<ParkedAt>,
        rows_max: usize,
        whole: bool,
    ) -> Pending<'a, Vec<ParkedRow>> {
        Box::pin(async move {
            let seen = self.seen_parked()?;
            let behind = seen.meant(wish).filter(|row| after.is_none_or(|after| row.at > after));
            let shown = |row: &ParkedRow| if whole { row.clone() } else { overview(row) };
            Ok(behind.take(rows_max).map(shown).collect())
        })
    }

    fn parked_by_key<'a>(
        &'a mut self,
        wish: &'a ParkedWish,
        after: Option<KeyId>,
        rows_max: usize,
    ) -> Pending<'a, Vec<ParkedKey>> {
        Box::pin(async move {
            let found = self.seen_parked()?.by_key(wish).into_iter();
            let behind = found.filter(|(id, _)| after.is_none_or(|after| *id > after));
            Ok(behind.take(rows_max).map(|(_, key)| key).collect())
        })
    }

    fn mark_parked<'a>(
        &'a mut self,
        keys: &'a [(KeyGroup, KeyId)],
        mark: ParkedMark,
        drop: &'a [ParkedAt],
    ) -> Pending<'a, usize> {
        let keys: BTreeSet<KeyId> = keys.iter().map(|(_, id)| *id).collect();
        Box::pin(async move {
            let write = ParkedWrite::Mark(keys.clone(), mark, drop.to_vec());
            let marked = self.mark_rows(write, &keys).await;
            self.end();
            marked
        })
    }
}
