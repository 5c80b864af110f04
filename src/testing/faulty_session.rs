//! Faulty session: what can happen to one connection.
//!
//! In:        calls of [`Session`]     Out: the inner session's answers, or an error although it has answered
//! Holds:     the inner session, until its connection is lost
//! Order:     a call passes the link before it reaches the server, and again before its answer is heard: a process that is
//!            frozen between the two does not know what it has done
//! Fails:     by the faults

use super::log::SLOW;
use super::memory_database::failed;
use super::{DatabaseFaults, Link};
use crate::database::{
    Advance, Column, DatabaseError, ErrorClass, Finding, FrontierRow, JobRow, LedgerState, OutboxRow, Parked,
    ParkedAt, ParkedDone, ParkedKey, ParkedLeft, ParkedMark, ParkedRow, ParkedWish, Pending, PositionRow,
    Reset, ResetRow, Row, Session, Table, TopicRow,
};
use crate::job::{SchemaFacts, TableName};
use crate::model::{KeyGroup, KeyId};
use std::sync::Arc;
use std::time::Duration;

pub(super) struct FaultySession {
    /// None: the connection is lost.
    inner: Option<Box<dyn Session>>,
    link: Arc<Link>,
    faults: DatabaseFaults,
}

/// How long a server keeps the open transaction of a client that says nothing.
const IDLE: Duration = Duration::from_millis(100);
/// How long a COMMIT may stay on its way.
const LATE: Duration = Duration::from_millis(20);

type Result<T> = std::result::Result<T, DatabaseError>;

fn gone(said: &str) -> DatabaseError {
    failed(ErrorClass::Outage, said)
}

impl FaultySession {
    pub(super) fn new(inner: Box<dyn Session>, link: Arc<Link>, faults: DatabaseFaults) -> FaultySession {
        FaultySession { inner: Some(inner), link, faults }
    }

    /// Waits while the link is frozen.
    async fn pass(&mut self) -> Result<()> {
        let open = match self.link.pass_within(IDLE).await {
            Some(open) => open,
            None => {
                if self.link.chance(self.faults.given_up) {
                    self.inner = None;
                }
                self.link.pass().await
            }
        };
        if !open {
            self.inner = None;
            return Err(failed(ErrorClass::Rights, "this process was killed"));
        }
        Ok(())
    }

    /// Before a call reaches the server.
    async fn enter(&mut self, doing: &str) -> Result<&mut Box<dyn Session>> {
        self.link.about_to(doing);
        self.pass().await?;
        if self.link.chance(self.faults.slow) {
            tokio::time::sleep(self.link.some_of(SLOW)).await;
            self.pass().await?;
        }
        if self.link.chance(self.faults.lost) {
            self.link.say(&format!("database: connection lost before {doing}"));
            self.inner = None;
        }
        self.inner.as_mut().ok_or_else(|| gone("server has gone away"))
    }

    /// Before its answer is heard. `own`: the call was a transaction of its own.
    async fn leave<T>(&mut self, doing: &str, own: bool, answer: Result<T>) -> Result<T> {
        self.pass().await?;
        if own && self.link.chance(self.faults.answer_lost) {
            self.link.say(&format!("database: the answer to {doing} is lost"));
            self.inner = None;
            return Err(gone("lost connection during query"));
        }
        answer
    }

    /// The server picks this transaction to break a deadlock.
    async fn deadlock(&mut self, doing: &str) -> Result<()> {
        if !self.link.chance(self.faults.contention) {
            return Ok(());
        }
        self.link.say(&format!("database: deadlock at {doing}"));
        if let Some(inner) = &mut self.inner {
            inner.rollback().await?;
        }
        Err(DatabaseError { rolled_back: true, ..failed(ErrorClass::Contention, "deadlock") })
    }

    async fn commit_somehow(&mut self) -> Result<()> {
        self.enter("COMMIT").await?;
        if self.link.chance(self.faults.commit_lost) {
            self.link.say("database: COMMIT and its answer are lost");
            self.inner = None;
            return Err(gone("lost connection during COMMIT"));
        }
        if self.link.chance(self.faults.commit_late) {
            return Err(self.commit_later());
        }
        let Some(inner) = &mut self.inner else { return Err(gone("server has gone away")) };
        let answer = inner.commit().await;
        self.pass().await?;
        if self.link.chance(self.faults.commit_answer_lost) {
            self.link.say("database: the answer to COMMIT is lost");
            self.inner = None;
            return Err(gone("lost connection during COMMIT"));
        }
        answer
    }

    /// The server has COMMIT in its socket and will get to it.
    fn commit_later(&mut self) -> DatabaseError {
        self.link.say("database: the connection is lost and COMMIT is done later");
        let (inner, late) = (self.inner.take(), self.link.some_of(LATE));
        if let Some(mut inner) = inner {
            tokio::spawn(async move {
                tokio::time::sleep(late).await;
                // Nobody is there to hear how it went.
                let _unheard = inner.commit().await;
            });
        }
        gone("lost connection during COMMIT")
    }
}

/// A call that passes through: its name, and whether it is a transaction of its own.
macro_rules! through {
    ($self:ident, $doing:literal, $own:literal, $inner:ident => $call:expr) => {
        Box::pin(async move {
            let $inner = $self.enter($doing).await?;
            let answer = $call.await;
            $self.leave($doing, $own, answer).await
        })
    };
}

impl Session for FaultySession {
    fn begin(&mut self) -> Pending<'_, ()> {
        through!(self, "BEGIN", false, inner => inner.begin())
    }

    fn begin_reading(&mut self) -> Pending<'_, ()> {
        through!(self, "BEGIN", false, inner => inner.begin_reading())
    }

    fn lookup<'a>(&'a mut self, step: usize, rows: &'a [Row]) -> Pending<'a, Vec<Option<Row>>> {
        through!(self, "a look-up", false, inner => inner.lookup(step, rows))
    }

    fn store<'a>(&'a mut self, step: usize, rows: &'a [Row]) -> Pending<'a, ()> {
        Box::pin(async move {
            self.enter("a store").await?;
            self.deadlock("a store").await?;
            through!(self, "a store", false, inner => inner.store(step, rows)).await
        })
    }

    fn advance<'a>(&'a mut self, writes: &'a [Advance]) -> Pending<'a, bool> {
        Box::pin(async move {
            self.enter("the ledger's writes").await?;
            self.deadlock("the ledger's writes").await?;
            through!(self, "the ledger's writes", false, inner => inner.advance(writes)).await
        })
    }

    fn commit(&mut self) -> Pending<'_, ()> {
        Box::pin(self.commit_somehow())
    }

    fn rollback(&mut self) -> Pending<'_, ()> {
        through!(self, "ROLLBACK", false, inner => inner.rollback())
    }

    fn settle<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<PositionRow>> {
        through!(self, "a look-up of positions", true, inner => inner.settle(groups))
    }

    fn probe(&mut self) -> Pending<'_, ()> {
        through!(self, "a probe", true, inner => inner.probe())
    }

    fn create_ledger(&mut self) -> Pending<'_, ()> {
        through!(self, "creating the ledger", true, inner => inner.create_ledger())
    }

    fn job_row(&mut self) -> Pending<'_, Option<JobRow>> {
        through!(self, "reading the job's row", true, inner => inner.job_row())
    }

    fn create_job<'a>(&'a mut self, row: &'a JobRow) -> Pending<'a, ()> {
        through!(self, "writing the job's row", true, inner => inner.create_job(row))
    }

    fn set_fingerprint<'a>(&'a mut self, fingerprint: &'a str) -> Pending<'a, ()> {
        through!(self, "writing the fingerprint", true, inner => inner.set_fingerprint(fingerprint))
    }

    fn claim<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<PositionRow>> {
        through!(self, "a claim", true, inner => inner.claim(groups))
    }

    fn positions(&mut self) -> Pending<'_, Vec<PositionRow>> {
        through!(self, "reading positions", true, inner => inner.positions())
    }

    fn outbox<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<OutboxRow>> {
        through!(self, "reading the outbox", true, inner => inner.outbox(groups))
    }

    fn frontier(&mut self) -> Pending<'_, Vec<FrontierRow>> {
        through!(self, "reading the frontier", true, inner => inner.frontier())
    }

    fn advance_frontier<'a>(&'a mut self, rows: &'a [FrontierRow], resets: u64) -> Pending<'a, bool> {
        through!(self, "moving the frontier", true, inner => inner.advance_frontier(rows, resets))
    }

    fn ledger_state(&mut self) -> Pending<'_, LedgerState> {
        through!(self, "looking for the ledger", true, inner => inner.ledger_state())
    }

    fn topics(&mut self) -> Pending<'_, Vec<TopicRow>> {
        through!(self, "reading topics", true, inner => inner.topics())
    }

    fn remember_topics<'a>(&'a mut self, topics: &'a [TopicRow]) -> Pending<'a, ()> {
        through!(self, "remembering topics", true, inner => inner.remember_topics(topics))
    }

    fn mark_group<'a>(&'a mut self, name: &'a str) -> Pending<'a, ()> {
        through!(self, "marking the group", true, inner => inner.mark_group(name))
    }

    fn reset<'a>(&'a mut self, reset: &'a Reset) -> Pending<'a, bool> {
        through!(self, "resetting positions", true, inner => inner.reset(reset))
    }

    fn resets(&mut self) -> Pending<'_, Vec<ResetRow>> {
        through!(self, "reading resets", true, inner => inner.resets())
    }

    fn check_statements(&mut self) -> Pending<'_, Vec<Finding>> {
        through!(self, "checking statements", true, inner => inner.check_statements())
    }

    fn columns<'a>(&'a mut self, schema: Option<&'a str>, table: &'a str) -> Pending<'a, Vec<Column>> {
        through!(self, "reading columns", true, inner => inner.columns(schema, table))
    }

    fn tables(&mut self) -> Pending<'_, Vec<Table>> {
        through!(self, "reading the tables", true, inner => inner.tables())
    }

    fn facts<'a>(&'a mut self, tables: &'a [TableName]) -> Pending<'a, SchemaFacts> {
        through!(self, "reading the schema's facts", true, inner => inner.facts(tables))
    }
}

impl Parked for FaultySession {
    fn savepoint(&mut self) -> Pending<'_, ()> {
        through!(self, "SAVEPOINT", false, inner => inner.savepoint())
    }

    fn release(&mut self) -> Pending<'_, ()> {
        through!(self, "RELEASE", false, inner => inner.release())
    }

    fn undo(&mut self) -> Pending<'_, ()> {
        through!(self, "ROLLBACK TO", false, inner => inner.undo())
    }

    fn park<'a>(&'a mut self, rows: &'a [ParkedRow]) -> Pending<'a, ()> {
        Box::pin(async move {
            self.enter("parking").await?;
            self.deadlock("parking").await?;
            through!(self, "parking", false, inner => inner.park(rows)).await
        })
    }

    fn parked_work(
        &mut self,
        group: KeyGroup,
        rows_max: usize,
        bytes_max: usize,
    ) -> Pending<'_, Vec<ParkedRow>> {
        Box::pin(async move {
            self.enter("taking up parked events").await?;
            self.deadlock("taking up parked events").await?;
            through!(self, "taking up parked events", false, inner => inner.parked_work(group, rows_max, bytes_max))
                .await
        })
    }

    fn settle_parked<'a>(&'a mut self, group: KeyGroup, done: &'a [ParkedDone]) -> Pending<'a, ParkedLeft> {
        Box::pin(async move {
            self.enter("settling parked events").await?;
            self.deadlock("settling parked events").await?;
            through!(self, "settling parked events", false, inner => inner.settle_parked(group, done)).await
        })
    }

    fn parked_keys<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<(KeyGroup, KeyId)>> {
        through!(self, "reading parked keys", true, inner => inner.parked_keys(groups))
    }

    fn marked_groups<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<KeyGroup>> {
        through!(self, "looking for marked keys", true, inner => inner.marked_groups(groups))
    }

    fn parked<'a>(
        &'a mut self,
        wish: &'a ParkedWish,
        after: Option<ParkedAt>,
        rows_max: usize,
        whole: bool,
    ) -> Pending<'a, Vec<ParkedRow>> {
        through!(self, "reading parked events", true, inner => inner.parked(wish, after, rows_max, whole))
    }

    fn parked_by_key<'a>(
        &'a mut self,
        wish: &'a ParkedWish,
        after: Option<KeyId>,
        rows_max: usize,
    ) -> Pending<'a, Vec<ParkedKey>> {
        through!(self, "reading parked events by key", true, inner => inner.parked_by_key(wish, after, rows_max))
    }

    fn mark_parked<'a>(
        &'a mut self,
        keys: &'a [(KeyGroup, KeyId)],
        mark: ParkedMark,
        drop: &'a [ParkedAt],
    ) -> Pending<'a, usize> {
        through!(self, "marking parked keys", true, inner => inner.mark_parked(keys, mark, drop))
    }
}
