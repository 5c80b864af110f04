//! One connection to an SQLite file.
//!
//! In:        calls of [`Session`]     Out: the same work on a thread that may block
//! Holds:     the connection, which travels to that thread and back; from `begin` on the turn to write
//! Order:     the turn is given back behind the commit or the rollback, also when the session is dropped
//! Fails:     classified; a call whose future was dropped leaves a session without a connection
//! Not here:  statements (`statements.rs`), the ledger's (`ledger`)

use super::error::classify;
use super::statements;
use crate::database::error::transaction_lost;
use crate::database::facts;
use crate::database::ledger::{self, Dialect, Engine, Point};
use crate::database::ranges::columns;
use crate::database::schema::{self, Table};
use crate::database::steps::Steps;
use crate::database::{
    Advance, Column, DatabaseError, ErrorClass, Finding, FrontierRow, JobRow, LedgerState, OutboxRow,
    Pending, PositionRow, Reset, ResetRow, Row, Session, TopicRow,
};
use crate::job::{SchemaFacts, TableName};
use crate::model::KeyGroup;
use rusqlite::Connection;
use std::borrow::Cow;
use std::sync::Arc;
use tokio::sync::{Mutex, OwnedMutexGuard};

/// One connection.
pub(super) struct SqliteSession {
    /// Away while a call runs.
    inner: Option<Inner>,
    job: Arc<str>,
    steps: Arc<Steps>,
    turn: Arc<Mutex<()>>,
}

/// What travels to the blocking thread. The connection goes first when both are dropped: it rolls back, and only
/// then may another session write.
struct Inner {
    connection: Connection,
    turn: Option<OwnedMutexGuard<()>>,
}

/// The connection went down with a call that nobody waited for.
pub(super) fn lost() -> DatabaseError {
    DatabaseError::new(ErrorClass::Outage, "the session was given up in the middle of a call").session_lost()
}

impl SqliteSession {
    pub(super) fn new(
        connection: Connection,
        job: Arc<str>,
        steps: Arc<Steps>,
        turn: Arc<Mutex<()>>,
    ) -> SqliteSession {
        SqliteSession { inner: Some(Inner { connection, turn: None }), job, steps, turn }
    }

    /// Runs `work` on a thread that may block.
    async fn blocking<T, F>(&mut self, work: F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Inner) -> Result<T, DatabaseError> + Send + 'static,
    {
        let mut inner = self.inner.take().ok_or_else(lost)?;
        let done = tokio::task::spawn_blocking(move || {
            let result = work(&mut inner);
            (inner, result)
        });
        let (inner, result) = done.await.map_err(|_| lost())?;
        self.inner = Some(inner);
        result
    }

    async fn begin_immediate(&mut self) -> Result<(), DatabaseError> {
        let turn = Arc::clone(&self.turn).lock_owned().await;
        self.blocking(move |inner| {
            inner.turn = Some(turn);
            let begun = run(inner, "BEGIN IMMEDIATE");
            if begun.is_err() {
                inner.turn = None;
            }
            begun
        })
        .await
    }
}

fn run(inner: &Inner, text: &'static str) -> Result<(), DatabaseError> {
    inner.connection.execute_batch(text).map_err(|error| classify(text, error))
}

/// Says whether the error took the transaction with it, as a full disk does.
fn noting_rollback<T>(inner: &Inner, done: Result<T, DatabaseError>) -> Result<T, DatabaseError> {
    done.map_err(|mut error| {
        error.rolled_back = inner.turn.is_some() && inner.connection.is_autocommit();
        error
    })
}

fn commit(inner: &mut Inner) -> Result<(), DatabaseError> {
    let mut done = run(inner, "COMMIT");
    if let Err(error) = &mut done
        && !inner.connection.is_autocommit()
    {
        // SQLite kept the transaction open: undone here, it is certain that nothing of it stays.
        match run(inner, "ROLLBACK") {
            Ok(()) => error.rolled_back = true,
            Err(_) => error.broken = true,
        }
    }
    inner.turn = None;
    done
}

/// Without a transaction SQLite would begin one at a savepoint, and commit it at its release.
fn run_point(inner: &Inner, point: Point) -> Result<(), DatabaseError> {
    if inner.connection.is_autocommit() {
        return Err(transaction_lost());
    }
    let done = point.texts().iter().try_for_each(|text| run(inner, text));
    noting_rollback(inner, done)
}

fn rollback(inner: &mut Inner) -> Result<(), DatabaseError> {
    let done = if inner.connection.is_autocommit() { Ok(()) } else { run(inner, "ROLLBACK") };
    // What `begin_reading` has turned on.
    let done = done.and(run(inner, "PRAGMA query_only = OFF"));
    inner.turn = None;
    done
}

impl Session for SqliteSession {
    fn begin(&mut self) -> Pending<'_, ()> {
        Box::pin(self.begin_immediate())
    }

    fn begin_reading(&mut self) -> Pending<'_, ()> {
        // A transaction that has not written holds up nobody; the pragma sees to it that it does not.
        Box::pin(self.blocking(|inner| run(inner, "PRAGMA query_only = ON; BEGIN")))
    }

    fn lookup<'a>(&'a mut self, step: usize, rows: &'a [Row]) -> Pending<'a, Vec<Option<Row>>> {
        let (steps, rows) = (Arc::clone(&self.steps), rows.to_vec());
        Box::pin(self.blocking(move |inner| {
            let lookup = steps.lookup(step)?;
            let done = statements::lookup(&inner.connection, &steps.label(step), lookup, &rows);
            noting_rollback(inner, done)
        }))
    }

    fn store<'a>(&'a mut self, step: usize, rows: &'a [Row]) -> Pending<'a, ()> {
        let (steps, rows) = (Arc::clone(&self.steps), rows.to_vec());
        Box::pin(self.blocking(move |inner| {
            let sql = &steps.store(step)?.statement.sql;
            let done = statements::each(&inner.connection, &steps.label(step), sql, &rows);
            noting_rollback(inner, done)
        }))
    }

    fn advance<'a>(&'a mut self, writes: &'a [Advance]) -> Pending<'a, bool> {
        Box::pin(ledger::advance(self, writes))
    }

    fn commit(&mut self) -> Pending<'_, ()> {
        Box::pin(self.blocking(commit))
    }

    fn rollback(&mut self) -> Pending<'_, ()> {
        Box::pin(self.blocking(rollback))
    }

    fn settle<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<PositionRow>> {
        Box::pin(ledger::settle(self, groups))
    }

    fn probe(&mut self) -> Pending<'_, ()> {
        Box::pin(async move {
            self.begin_immediate().await?;
            let done = ledger::probe(self).await;
            done.and(self.blocking(rollback).await)
        })
    }

    fn create_ledger(&mut self) -> Pending<'_, ()> {
        Box::pin(ledger::create(self))
    }

    fn job_row(&mut self) -> Pending<'_, Option<JobRow>> {
        Box::pin(ledger::job_row(self))
    }

    fn create_job<'a>(&'a mut self, row: &'a JobRow) -> Pending<'a, ()> {
        Box::pin(ledger::create_job(self, row))
    }

    fn set_fingerprint<'a>(&'a mut self, fingerprint: &'a str) -> Pending<'a, ()> {
        Box::pin(ledger::set_fingerprint(self, fingerprint))
    }

    fn claim<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<PositionRow>> {
        Box::pin(ledger::claim(self, groups))
    }

    fn positions(&mut self) -> Pending<'_, Vec<PositionRow>> {
        Box::pin(ledger::positions(self))
    }

    fn outbox<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<OutboxRow>> {
        Box::pin(ledger::outbox(self, groups))
    }

    fn frontier(&mut self) -> Pending<'_, Vec<FrontierRow>> {
        Box::pin(ledger::frontier(self))
    }

    fn advance_frontier<'a>(&'a mut self, rows: &'a [FrontierRow], resets: u64) -> Pending<'a, bool> {
        Box::pin(ledger::advance_frontier(self, rows, resets))
    }

    fn ledger_state(&mut self) -> Pending<'_, LedgerState> {
        Box::pin(ledger::state(self))
    }

    fn topics(&mut self) -> Pending<'_, Vec<TopicRow>> {
        Box::pin(ledger::topics(self))
    }

    fn remember_topics<'a>(&'a mut self, topics: &'a [TopicRow]) -> Pending<'a, ()> {
        Box::pin(ledger::remember_topics(self, topics))
    }

    fn mark_group<'a>(&'a mut self, name: &'a str) -> Pending<'a, ()> {
        Box::pin(ledger::mark_group(self, name))
    }

    fn reset<'a>(&'a mut self, reset: &'a Reset) -> Pending<'a, bool> {
        Box::pin(ledger::reset(self, reset))
    }

    fn resets(&mut self) -> Pending<'_, Vec<ResetRow>> {
        Box::pin(ledger::resets(self))
    }

    fn check_statements(&mut self) -> Pending<'_, Vec<Finding>> {
        let steps = Arc::clone(&self.steps);
        Box::pin(self.blocking(move |inner| statements::check(&inner.connection, &steps)))
    }

    fn columns<'a>(&'a mut self, schema: Option<&'a str>, table: &'a str) -> Pending<'a, Vec<Column>> {
        Box::pin(columns(self, schema, table))
    }

    fn tables(&mut self) -> Pending<'_, Vec<Table>> {
        Box::pin(schema::tables(self))
    }

    fn facts<'a>(&'a mut self, tables: &'a [TableName]) -> Pending<'a, SchemaFacts> {
        Box::pin(facts::facts(self, tables))
    }
}

impl Engine for SqliteSession {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn job(&self) -> &str {
        &self.job
    }

    fn query<'a>(&'a mut self, text: Cow<'static, str>, parameters: Row) -> Pending<'a, Vec<Row>> {
        Box::pin(self.blocking(move |inner| {
            let done = statements::query(&inner.connection, &text, &parameters);
            noting_rollback(inner, done)
        }))
    }

    fn execute<'a>(&'a mut self, text: Cow<'static, str>, parameters: Row) -> Pending<'a, u64> {
        Box::pin(self.blocking(move |inner| {
            let done = statements::execute(&inner.connection, &text, &parameters);
            noting_rollback(inner, done)
        }))
    }

    fn execute_each<'a>(&'a mut self, text: Cow<'static, str>, rows: Vec<Row>) -> Pending<'a, ()> {
        Box::pin(self.blocking(move |inner| {
            let done = statements::each(&inner.connection, "the ledger", &text, &rows);
            noting_rollback(inner, done)
        }))
    }

    fn point(&mut self, point: Point) -> Pending<'_, ()> {
        Box::pin(self.blocking(move |inner| run_point(inner, point)))
    }
}
