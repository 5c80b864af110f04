//! The job's steps as the sessions of both engines use them.
//!
//! In:        [`DatabaseSpec::steps`]
//! Out:       labels for messages, a step of the asked kind, the places of referenced columns
//! Fails:     misconfigured: a column that a look-up does not give, or gives twice
//! Not here:  no connection

use super::{DatabaseError, ErrorClass};
use crate::job::{DatabaseSpec, LookupStep, Step, StoreStep};

/// The job's steps, shared by all sessions.
#[derive(Debug)]
pub(super) struct Steps {
    steps: Vec<Step>,
}

impl Steps {
    pub(super) fn new(spec: &DatabaseSpec) -> Steps {
        Steps { steps: spec.steps.clone() }
    }

    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Step)> {
        self.steps.iter().enumerate()
    }

    /// As messages call the step. People count from 1.
    pub(super) fn label(&self, step: usize) -> String {
        let number = step.saturating_add(1);
        let (kind, name) = match self.steps.get(step) {
            Some(Step::Lookup(s)) => ("look-up", &s.name),
            Some(Step::Store(s)) => ("store", &s.name),
            None => ("no", &None),
        };
        match name {
            Some(name) => format!("step {number} ({kind} `{name}`)"),
            None => format!("step {number} ({kind})"),
        }
    }

    pub(super) fn lookup(&self, step: usize) -> Result<&LookupStep, DatabaseError> {
        match self.steps.get(step) {
            Some(Step::Lookup(found)) => Ok(found),
            _ => Err(self.no_such(step, "a look-up")),
        }
    }

    pub(super) fn store(&self, step: usize) -> Result<&StoreStep, DatabaseError> {
        match self.steps.get(step) {
            Some(Step::Store(found)) => Ok(found),
            _ => Err(self.no_such(step, "a store")),
        }
    }

    fn no_such(&self, step: usize, asked: &str) -> DatabaseError {
        let message = format!("{} is not {asked} of this job", self.label(step));
        DatabaseError::new(ErrorClass::Misconfigured, message)
    }
}

/// One fault per referenced column that the result does not have exactly once; names compare without case.
pub(super) fn column_faults(wanted: &[String], given: &[String]) -> Vec<String> {
    let mut faults = Vec::new();
    for column in wanted {
        match given.iter().filter(|name| name.eq_ignore_ascii_case(column)).count() {
            1 => {}
            0 => faults.push(format!(
                "the statement gives no column `{column}`; it gives {}",
                given.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
            )),
            n => faults.push(format!("the statement gives {n} columns `{column}`; give them names by AS")),
        }
    }
    faults
}

/// Where each referenced column stands in the result.
pub(super) fn column_places(
    label: &str,
    wanted: &[String],
    given: &[String],
) -> Result<Vec<usize>, DatabaseError> {
    if let Some(fault) = column_faults(wanted, given).into_iter().next() {
        return Err(DatabaseError::new(ErrorClass::Misconfigured, format!("{label}: {fault}")));
    }
    let place = |column: &String| given.iter().position(|name| name.eq_ignore_ascii_case(column));
    Ok(wanted.iter().filter_map(place).collect())
}
