//! Running statements on an SQLite connection: blocking, on the thread that has the connection.
//!
//! In:        a connection, a text, rows of parameters
//! Out:       rows
//! Fails:     classified, with the row of parameters where there were several
//! Not here:  threads and turns (`session.rs`)

use super::error::classify;
use super::value::{bind, read};
use crate::database::error::more_than_one_row;
use crate::database::steps::{Steps, column_faults, column_places};
use crate::database::{DatabaseError, ErrorClass, Finding, Row};
use crate::job::{LookupStep, Step};
use rusqlite::{CachedStatement, Connection, params_from_iter};

/// All rows of the answer.
pub(super) fn query(
    connection: &Connection,
    text: &str,
    parameters: &Row,
) -> Result<Vec<Row>, DatabaseError> {
    let fail = |error| classify("the ledger", error);
    let mut statement = connection.prepare_cached(text).map_err(fail)?;
    let columns = statement.column_count();
    let mut rows = statement.query(params_from_iter(bound("the ledger", parameters)?)).map_err(fail)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(fail)? {
        let values = (0..columns).map(|index| row.get_ref(index).map(read));
        found.push(values.collect::<Result<Row, _>>().map_err(fail)?);
    }
    Ok(found)
}

/// How many rows the statement changed.
pub(super) fn execute(connection: &Connection, text: &str, parameters: &Row) -> Result<u64, DatabaseError> {
    let mut statement = connection.prepare_cached(text).map_err(|error| classify("the ledger", error))?;
    run("the ledger", &mut statement, parameters)?;
    Ok(connection.changes())
}

/// Runs the statement once per row, in order.
pub(super) fn each(
    connection: &Connection,
    label: &str,
    text: &str,
    rows: &[Row],
) -> Result<(), DatabaseError> {
    let mut statement = connection.prepare_cached(text).map_err(|error| classify(label, error))?;
    for (index, row) in rows.iter().enumerate() {
        run(label, &mut statement, row).map_err(|error| error.at_row(index))?;
    }
    Ok(())
}

fn run(label: &str, statement: &mut CachedStatement<'_>, row: &Row) -> Result<(), DatabaseError> {
    let mut rows =
        statement.query(params_from_iter(bound(label, row)?)).map_err(|error| classify(label, error))?;
    // A statement with RETURNING gives rows; they must be read for its effect.
    while rows.next().map_err(|error| classify(label, error))?.is_some() {}
    Ok(())
}

/// Runs a look-up once per row of parameters.
pub(super) fn lookup(
    connection: &Connection,
    label: &str,
    lookup: &LookupStep,
    rows: &[Row],
) -> Result<Vec<Option<Row>>, DatabaseError> {
    let fail = |error| classify(label, error);
    let mut statement = connection.prepare_cached(&lookup.statement.sql).map_err(fail)?;
    let places = column_places(label, &lookup.columns, &column_names(&statement))?;
    let mut answers = Vec::with_capacity(rows.len());
    for (index, parameters) in rows.iter().enumerate() {
        let bound = bound(label, parameters).map_err(|error| error.at_row(index))?;
        let mut found = statement.query(params_from_iter(bound)).map_err(fail)?;
        let answer = match found.next().map_err(fail)? {
            Some(row) => {
                let values = places.iter().map(|place| row.get_ref(*place).map(read));
                Some(values.collect::<Result<Row, _>>().map_err(fail)?)
            }
            None => None,
        };
        if answer.is_some() && found.next().map_err(fail)?.is_some() {
            return Err(more_than_one_row(label, index));
        }
        answers.push(answer);
    }
    Ok(answers)
}

/// Prepares every step.
pub(super) fn check(connection: &Connection, steps: &Steps) -> Result<Vec<Finding>, DatabaseError> {
    let mut findings = Vec::new();
    for (step, what) in steps.iter() {
        let label = steps.label(step);
        let statement = match what {
            Step::Lookup(lookup) => &lookup.statement,
            Step::Store(store) => &store.statement,
        };
        let class = ErrorClass::Misconfigured;
        let mut finding = |message: String| findings.push(Finding { step: Some(step), class, message });
        let prepared = match connection.prepare(&statement.sql).map_err(|error| classify(&label, error)) {
            Ok(prepared) => prepared,
            Err(error) if error.class == ErrorClass::Outage => return Err(error),
            Err(error) => {
                finding(error.message);
                continue;
            }
        };
        if prepared.parameter_count() != statement.parameters.len() {
            let (engine, job) = (prepared.parameter_count(), statement.parameters.len());
            finding(format!("{label}: SQLite sees {engine} parameters and the job {job}"));
        }
        if let Step::Lookup(lookup) = what {
            let given: Vec<String> = prepared.column_names().map(str::to_owned).collect();
            for fault in column_faults(&lookup.columns, &given) {
                finding(format!("{label}: {fault}"));
            }
        }
    }
    Ok(findings)
}

fn column_names(statement: &CachedStatement<'_>) -> Vec<String> {
    statement.column_names().map(str::to_owned).collect()
}

fn bound(label: &str, row: &Row) -> Result<Vec<rusqlite::types::Value>, DatabaseError> {
    row.iter().map(|value| bind(label, value)).collect()
}
