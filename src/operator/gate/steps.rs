//! Steps: the job's steps for some events of a transaction, each step for all of them at once.
//!
//! In:        events that may run together by the job's plan     Out: their look-ups' rows
//! Order:     step by step; within a step event by event, within an event row by row in document order
//! Fails:     with the event that is to blame, where the engine names the row of parameters: it is set aside whole, whichever
//!            of its rows it was
//! Not here:  who is run together (attempt, plan), what a refusal means (aside)

use super::aside::{Kind, Wrong, because};
use super::lane::{Failure, Work, refused};
use super::looked::Looked;
use super::values::{RowAt, Scope};
use crate::database::{DatabaseError, ErrorClass, Row, Session};
use crate::job::{Condition, JobSpec, LookupStep, Missing, On, Statement, Step, StoreStep};
use crate::model::{Body, Reason, ReasonCode};
use crate::protocol::halt::{Halt, HaltKind};

/// Why steps did not go through.
pub(super) enum Stuck {
    Failure(Failure),
    /// These events.
    Wrong(Vec<(usize, Wrong)>),
    /// The database refuses one of them and does not say which.
    Somebody(DatabaseError),
}

/// Rows of parameters of one step, and whose they are.
#[derive(Default)]
pub(super) struct Bound {
    pub(super) rows: Vec<Row>,
    /// Per row its event's index in the transaction.
    owners: Vec<usize>,
}

/// Runs all steps for the events with these indexes.
pub(super) async fn run_steps(
    work: &Work,
    session: &mut Box<dyn Session>,
    events: &mut [Looked<'_>],
    list: &[usize],
) -> Result<(), Stuck> {
    for (number, step) in work.spec.database.steps.iter().enumerate() {
        let Bound { rows, owners } = bound(&work.spec, events, list, step);
        if rows.is_empty() {
            continue;
        }
        match step {
            Step::Store(_) => {
                let stored = session.store(number, &rows).await;
                stored.map_err(|error| blame(work, error, events, &owners))?;
            }
            Step::Lookup(lookup) => {
                let found = work.cache.look_up(&mut **session, (number, lookup), &rows).await;
                let found = found.map_err(|error| blame(work, error, events, &owners))?;
                keep(work, events, &owners, (number, lookup), found)?;
            }
        }
    }
    Ok(())
}

/// What a step is run with for these events: nothing, where none of them meets its conditions.
pub(super) fn bound(spec: &JobSpec, events: &[Looked<'_>], list: &[usize], step: &Step) -> Bound {
    match step {
        Step::Lookup(lookup) => of_events(spec, events, list, lookup.into()),
        Step::Store(store) => match store.for_each {
            None => of_events(spec, events, list, store.into()),
            Some(rows_of) => of_rows(spec, events, list, (store, rows_of)),
        },
    }
}

/// What decides for which events a step is run, and with which values.
struct Run<'a> {
    statement: &'a Statement,
    on: On,
    when: Option<&'a Condition>,
}

impl<'a> From<&'a LookupStep> for Run<'a> {
    fn from(step: &'a LookupStep) -> Run<'a> {
        Run { statement: &step.statement, on: step.on, when: step.when.as_ref() }
    }
}

impl<'a> From<&'a StoreStep> for Run<'a> {
    fn from(step: &'a StoreStep) -> Run<'a> {
        Run { statement: &step.statement, on: step.on, when: step.when.as_ref() }
    }
}

/// One row of parameters per event that meets the step's conditions.
fn of_events(spec: &JobSpec, events: &[Looked<'_>], list: &[usize], run: Run<'_>) -> Bound {
    let mut bound = Bound::default();
    for index in list {
        let Some(looked) = events.get(*index) else { continue };
        let scope = Scope::of(spec, looked);
        if run.on.takes(looked.event.body.is_tombstone()) && scope.meets(run.when) {
            bound.push(*index, &scope, run.statement);
        }
    }
    bound
}

/// One row of parameters per row of the list that meets the step's conditions.
fn of_rows(
    spec: &JobSpec,
    events: &[Looked<'_>],
    list: &[usize],
    (store, rows_of): (&StoreStep, usize),
) -> Bound {
    let mut bound = Bound::default();
    for index in list {
        let Some(looked) = events.get(*index) else { continue };
        if !store.on.takes(looked.event.body.is_tombstone()) {
            continue;
        }
        for row in 0..rows_in(looked, rows_of) {
            let scope = Scope { row: Some(RowAt { list: rows_of, row }), ..Scope::of(spec, looked) };
            if scope.meets(store.when.as_ref()) {
                bound.push(*index, &scope, &store.statement);
            }
        }
    }
    bound
}

fn rows_in(looked: &Looked<'_>, list: usize) -> usize {
    match &looked.event.body {
        Body::Readable(reading) => reading.lists.get(list).map_or(0, Vec::len),
        Body::Tombstone { .. } | Body::Unreadable(_) => 0,
    }
}

impl Bound {
    fn push(&mut self, owner: usize, scope: &Scope<'_>, statement: &Statement) {
        self.rows.push(statement.parameters.iter().map(|of| scope.value(of)).collect());
        self.owners.push(owner);
    }
}

/// Keeps what a look-up found.
fn keep(
    work: &Work,
    events: &mut [Looked<'_>],
    owners: &[usize],
    (number, lookup): (usize, &LookupStep),
    found: Vec<Option<Row>>,
) -> Result<(), Stuck> {
    let mut absent = Vec::new();
    for (index, row) in owners.iter().zip(found) {
        let Some(looked) = events.get_mut(*index) else { continue };
        if row.is_none() && lookup.missing == Missing::Reject {
            absent.push((*index, missing(work, looked, lookup.name.as_deref(), number)));
        } else if let Some(slot) = looked.rows.get_mut(number) {
            *slot = row;
        }
    }
    if absent.is_empty() { Ok(()) } else { Err(Stuck::Wrong(absent)) }
}

/// Which event an error is about: the one whose row it is, where the engine names the row.
fn blame(work: &Work, mut error: DatabaseError, events: &[Looked<'_>], owners: &[usize]) -> Stuck {
    let first = owners.first().copied();
    let alone = first.filter(|first| owners.iter().all(|owner| owner == first));
    let index = alone.or_else(|| error.row.and_then(|row| owners.get(row)).copied());
    match index.and_then(|index| Some((index, events.get(index)?))) {
        Some((index, looked)) if error.class == ErrorClass::Reject => {
            Stuck::Wrong(vec![(index, refusal(work, looked, error))])
        }
        Some((_, looked)) => {
            let at = looked.event.at;
            error.message = format!("record {}: {}", work.outputs.source_of(at), error.message);
            Stuck::Failure(Failure::Database(error, Some(at)))
        }
        None if error.class == ErrorClass::Reject && owners.len() > 1 => Stuck::Somebody(error),
        None => Stuck::Failure(Failure::Database(error, None)),
    }
}

/// The database can never store this event.
pub(super) fn refusal(work: &Work, looked: &Looked<'_>, mut error: DatabaseError) -> Wrong {
    let at = looked.event.at;
    let reason = because(ReasonCode::Refused, error.message.clone());
    error.message = format!("record {}: {}", work.outputs.source_of(at), error.message);
    let lost_transaction = error.broken || error.rolled_back;
    let halt = refused(ErrorClass::Reject, &error).about(Some(at));
    Wrong { kind: Kind::Refused, reason, halt, lost_transaction }
}

/// As messages call a step: people count from 1.
fn shown(name: Option<&str>, number: usize) -> String {
    name.map_or_else(|| format!("step {}", number.saturating_add(1)), |name| format!("step \"{name}\""))
}

/// Of an event whose look-up finds no row.
pub(super) fn missing_reason(name: Option<&str>, number: usize) -> Reason {
    because(ReasonCode::MissingLookup, format!("look-up {} found no row", shown(name, number)))
}

fn missing(work: &Work, looked: &Looked<'_>, name: Option<&str>, number: usize) -> Wrong {
    let step = shown(name, number);
    let halt = Halt::new(
        HaltKind::Reject,
        format!(
            "record {}: look-up {step} found no row, its `missing` is \"reject\", and rejects.missing_lookup is \"halt\": add the \
             row, or set missing = \"null\", and start again; the job goes on with this very record",
            work.outputs.source_of(looked.event.at)
        ),
    );
    let halt = halt.about(Some(looked.event.at)).because("missing look-up", None);
    let reason = missing_reason(name, number);
    Wrong { kind: Kind::MissingLookup, reason, halt, lost_transaction: false }
}
