//! One connection to MySQL or MariaDB.
//!
//! In:        calls of [`Session`]     Out: statements, always prepared: values are bound, never pasted
//! Holds:     one connection with a bounded cache of prepared statements, and how each look-up is best asked
//! Fails:     classified; after an error that is `broken` the session is dropped by whoever has it
//! Not here:  look-ups (`lookup.rs`), stores (`store.rs`), the ledger's statements (`ledger`)

use super::closing::Closing;
use super::error::classify;
use super::lookup::{self, Plan};
use super::value::{Kind, bind, read};
use super::{Server, store};
use crate::database::error::transaction_lost;
use crate::database::facts;
use crate::database::ledger::{self, Dialect, Engine, Point};
use crate::database::ranges::columns;
use crate::database::schema::{self, Table};
use crate::database::steps::{Steps, column_faults};
use crate::database::{
    Advance, Column, DatabaseError, ErrorClass, Finding, FrontierRow, JobRow, LedgerState, OutboxRow,
    Pending, PositionRow, Reset, ResetRow, Row, Session, TopicRow,
};
use crate::job::{SchemaFacts, Step, TableName};
use crate::model::KeyGroup;
use mysql_async::consts::StatusFlags;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params};
use std::borrow::Cow;
use std::sync::Arc;

/// The server's code for "no such savepoint": what was to be undone is gone with its transaction.
const NO_SAVEPOINT: i64 = 1305;

/// One connection.
pub(super) struct MySqlSession {
    conn: Closing<Conn>,
    pub(super) server: Server,
    pub(super) steps: Arc<Steps>,
    /// How each look-up is asked; decided at its first use.
    pub(super) plans: Vec<Option<Plan>>,
    job: Arc<str>,
}

impl MySqlSession {
    pub(super) fn new(conn: Conn, server: Server, job: Arc<str>, steps: Arc<Steps>) -> MySqlSession {
        let plans = std::iter::repeat_with(|| None).take(steps.len()).collect();
        MySqlSession { conn: Closing::new(conn), server, steps, plans, job }
    }

    /// The connection.
    pub(super) fn conn(&mut self) -> Result<&mut Conn, DatabaseError> {
        let lost = || DatabaseError::new(ErrorClass::Outage, "the connection is closed").session_lost();
        self.conn.get().ok_or_else(lost)
    }

    async fn run(&mut self, text: &'static str) -> Result<(), DatabaseError> {
        self.conn()?.query_drop(text).await.map_err(|error| classify(text, error))
    }

    /// Outside of a transaction the server takes a savepoint and forgets it: its answer says whether it is in one.
    async fn run_point(&mut self, point: Point) -> Result<(), DatabaseError> {
        for text in point.texts() {
            match self.run(text).await {
                Err(error) if error.code == Some(NO_SAVEPOINT) => return Err(transaction_lost()),
                done => done?,
            }
        }
        let answer = self.conn()?.last_ok_packet();
        let open = answer.is_some_and(|ok| ok.status_flags().contains(StatusFlags::SERVER_STATUS_IN_TRANS));
        if open { Ok(()) } else { Err(transaction_lost()) }
    }

    async fn check_step(&mut self, step: usize, what: &Step) -> Result<Vec<Finding>, DatabaseError> {
        let label = self.steps.label(step);
        let statement = match what {
            Step::Lookup(lookup) => &lookup.statement,
            Step::Store(store) => &store.statement,
        };
        let finding = |message| Finding { step: Some(step), class: ErrorClass::Misconfigured, message };
        let prepared = match self.conn()?.prep(statement.sql.as_str()).await {
            Ok(prepared) => prepared,
            Err(error) => {
                let error = classify(&label, error);
                return match error.class {
                    ErrorClass::Outage | ErrorClass::Contention => Err(error),
                    _ if error.broken => Err(error),
                    class => Ok(vec![Finding { class, ..finding(error.message) }]),
                };
            }
        };
        let mut findings = Vec::new();
        if usize::from(prepared.num_params()) != statement.parameters.len() {
            let (server, job) = (prepared.num_params(), statement.parameters.len());
            findings.push(finding(format!("{label}: the server sees {server} parameters and the job {job}")));
        }
        if let Step::Lookup(lookup) = what {
            let given: Vec<String> = prepared.columns().iter().map(|c| c.name_str().into_owned()).collect();
            let faults = column_faults(&lookup.columns, &given);
            findings.extend(faults.into_iter().map(|fault| finding(format!("{label}: {fault}"))));
        }
        Ok(findings)
    }
}

impl Session for MySqlSession {
    fn begin(&mut self) -> Pending<'_, ()> {
        Box::pin(self.run("START TRANSACTION"))
    }

    fn begin_reading(&mut self) -> Pending<'_, ()> {
        Box::pin(self.run("START TRANSACTION READ ONLY"))
    }

    fn lookup<'a>(&'a mut self, step: usize, rows: &'a [Row]) -> Pending<'a, Vec<Option<Row>>> {
        Box::pin(lookup::run(self, step, rows))
    }

    fn store<'a>(&'a mut self, step: usize, rows: &'a [Row]) -> Pending<'a, ()> {
        Box::pin(async move {
            let label = self.steps.label(step);
            let sql = self.steps.store(step)?.statement.sql.clone();
            let rows = rows.iter().map(|row| row.iter().map(bind).collect()).collect();
            store::run(self, &label, &sql, rows).await
        })
    }

    fn advance<'a>(&'a mut self, writes: &'a [Advance]) -> Pending<'a, bool> {
        Box::pin(ledger::advance(self, writes))
    }

    fn commit(&mut self) -> Pending<'_, ()> {
        Box::pin(self.run("COMMIT"))
    }

    fn rollback(&mut self) -> Pending<'_, ()> {
        Box::pin(self.run("ROLLBACK"))
    }

    fn settle<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<PositionRow>> {
        Box::pin(ledger::settle(self, groups))
    }

    fn probe(&mut self) -> Pending<'_, ()> {
        Box::pin(ledger::probe(self))
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
        Box::pin(async move {
            let mut findings = Vec::new();
            let steps = Arc::clone(&self.steps);
            for (step, what) in steps.iter() {
                findings.extend(self.check_step(step, what).await?);
            }
            Ok(findings)
        })
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

impl Engine for MySqlSession {
    fn dialect(&self) -> Dialect {
        Dialect::MySql
    }

    fn job(&self) -> &str {
        &self.job
    }

    fn query<'a>(&'a mut self, text: Cow<'static, str>, parameters: Row) -> Pending<'a, Vec<Row>> {
        Box::pin(async move {
            let fail = |error| classify("the ledger", error);
            let parameters = Params::Positional(parameters.iter().map(bind).collect());
            let rows: Vec<mysql_async::Row> = self.conn()?.exec(text, parameters).await.map_err(fail)?;
            let values = |row: mysql_async::Row| {
                let kinds: Vec<Kind> = row.columns_ref().iter().map(Kind::of).collect();
                kinds.into_iter().zip(row.unwrap()).map(|(kind, value)| read(kind, value)).collect()
            };
            Ok(rows.into_iter().map(values).collect())
        })
    }

    fn execute<'a>(&'a mut self, text: Cow<'static, str>, parameters: Row) -> Pending<'a, u64> {
        Box::pin(async move {
            let parameters = Params::Positional(parameters.iter().map(bind).collect());
            let fail = |error| classify("the ledger", error);
            self.conn()?.exec_drop(text, parameters).await.map_err(fail)?;
            Ok(self.conn()?.affected_rows())
        })
    }

    fn execute_each<'a>(&'a mut self, text: Cow<'static, str>, rows: Vec<Row>) -> Pending<'a, ()> {
        Box::pin(async move {
            let rows = rows.iter().map(|row| row.iter().map(bind).collect()).collect();
            store::run(self, "the ledger", &text, rows).await
        })
    }

    fn point(&mut self, point: Point) -> Pending<'_, ()> {
        Box::pin(self.run_point(point))
    }
}
