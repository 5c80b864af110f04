//! Sets: which steps of a job may be run for many events at once, so that the outcome is that of one event after the other.
//!
//! In:        a job, and what the schema says of its tables     Out: a [`SetPlan`], with the reason for each step
//! Holds:     the rule: wherever what is run in another order than one by one could meet in a row, it must not
//! Fails:     never: what is not understood runs one by one
//! Not here:  no SQL is run and no schema is read (database), nothing is run by the plan (operator::gate)
//!
//! Step i of a later event comes before step j of an earlier one. All at once: for i < j, whatever the events. In waves: for
//! all i and j, or, in waves that keep the order, for i < j; but only for events whose values differ in the columns by which
//! every access to a table that is written is fixed. So rows of one are never rows of the other, and each can come first.

mod expressions;
mod facts;
mod fold;
mod functions;
mod links;
mod meeting;
mod statement;

pub use facts::{ColumnFacts, ColumnKind, ForeignKey, SchemaFacts, TableFacts, TableName, UniqueKey};
pub use fold::Fold;

use super::sql::Dialect;
use super::{DatabaseKind, JobSpec, Step, ValueRef};
use meeting::{Effects, Meetings};
use std::fmt;

/// How the events of a transaction are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetMode {
    /// Each step once, for all of them.
    Together,
    /// In waves in which no two meet; the n-th event of its kind in the n-th wave.
    Waves,
    /// In waves in which no two meet, each behind all earlier events.
    WavesInOrder,
    /// Each event's steps in turn.
    OneByOne,
}

/// Which verdicts of a run of many events stand, whatever becomes of the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdicts {
    /// All: what an event could meet has come to its end before it begins.
    All,
    /// Missing look-ups, and of the one store, behind all look-ups, the first row that it refuses.
    First,
    /// Missing look-ups.
    Missing,
    /// None.
    None,
}

/// Values by which two events may meet in a table: where they are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// What is compared, and how.
    pub parts: Vec<(ValueRef, Fold)>,
}

/// How one step is run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// As people call the step.
    pub step: String,
    /// How.
    pub mode: SetMode,
    /// The end of a sentence that begins with how.
    pub why: String,
}

/// How a job's events are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetPlan {
    /// All of its steps.
    pub mode: SetMode,
    /// Of waves: where any of these is the same for two events, they are not in one wave.
    pub meetings: Vec<Meeting>,
    /// Step by step.
    pub runs: Vec<Run>,
    /// What is believed.
    pub verdicts: Verdicts,
}

impl SetPlan {
    /// The plan of a job. Without facts: as far as the SQL says.
    pub fn of(spec: &JobSpec, facts: Option<&SchemaFacts>) -> SetPlan {
        let steps = &spec.database.steps;
        if !spec.database.together {
            return one_by_one(steps, |_| "the job file says together = false".to_owned());
        }
        let effects = effects(spec, facts);
        let unknown = effects.iter().position(Result::is_err);
        if let Some(unknown) = unknown {
            let label = label(steps, unknown);
            return one_by_one(steps, |number| match effects.get(number) {
                Some(Err(why)) => why.clone(),
                _ => format!("since {label} is"),
            });
        }
        let effects: Effects = effects.into_iter().map(Result::unwrap_or_default).collect();
        let meetings = Meetings::of(spec, &effects, facts);
        if let Some((on, why)) = &meetings.refused {
            return one_by_one(steps, |number| match on.contains(&number) {
                true => why.clone(),
                false => "since other steps are".to_owned(),
            });
        }
        SetPlan::in_sets(spec, &effects, meetings)
    }

    /// Without look at anything: a transaction's events one by one.
    pub fn one_by_one(spec: &JobSpec) -> SetPlan {
        one_by_one(&spec.database.steps, |_| "nothing is known of its tables".to_owned())
    }

    /// The tables that the plan must know: those of the statements and, once their links are known, those behind them.
    pub fn tables(spec: &JobSpec, facts: &SchemaFacts) -> Vec<TableName> {
        let dialect = dialect(spec);
        let texts = spec.database.steps.iter().map(|step| step.statement());
        let read = texts.filter_map(|text| statement::read(text, dialect).ok());
        let linked = read.filter_map(|list| links::with_links(list, facts).ok()).flatten();
        let mut tables: Vec<TableName> = linked.map(|access| access.table).collect();
        tables.sort();
        tables.dedup();
        tables
    }

    fn in_sets(spec: &JobSpec, effects: &Effects, found: Meetings) -> SetPlan {
        let steps = &spec.database.steps;
        let mode = found.mode;
        let runs = steps.iter().enumerate().map(|(number, _)| Run {
            step: label(steps, number),
            mode,
            why: match mode {
                SetMode::Together => found.together_why(steps, effects, number),
                _ => found.waves_why(spec, steps, effects, number),
            },
        });
        let runs = runs.collect();
        SetPlan { mode, runs, verdicts: verdicts(mode, steps), meetings: found.meetings }
    }
}

/// What is known of a refusal when many events ran, and one that it may hang on can still be taken back.
fn verdicts(mode: SetMode, steps: &[Step]) -> Verdicts {
    let is_store = |step: &Step| matches!(step, Step::Store(_));
    let stores = steps.iter().filter(|step| is_store(step)).count();
    let asks_first = steps.iter().skip_while(|step| !is_store(step)).all(is_store);
    match mode {
        SetMode::Waves | SetMode::OneByOne => Verdicts::All,
        SetMode::Together if asks_first && stores <= 1 => Verdicts::First,
        SetMode::Together | SetMode::WavesInOrder if asks_first => Verdicts::Missing,
        SetMode::Together | SetMode::WavesInOrder => Verdicts::None,
    }
}

fn one_by_one(steps: &[Step], why: impl Fn(usize) -> String) -> SetPlan {
    let run = |number| Run { step: label(steps, number), mode: SetMode::OneByOne, why: why(number) };
    SetPlan {
        mode: SetMode::OneByOne,
        meetings: Vec::new(),
        runs: (0..steps.len()).map(run).collect(),
        verdicts: Verdicts::All,
    }
}

/// What each step does; or why nobody can say.
fn effects(spec: &JobSpec, facts: Option<&SchemaFacts>) -> Vec<Result<Vec<statement::Access>, String>> {
    let dialect = dialect(spec);
    let effect = |step: &Step| {
        let list = statement::read(step.statement(), dialect)?;
        let Some(facts) = facts else { return Ok(list) };
        let list = links::with_links(list, facts)?;
        for access in &list {
            let table = &access.table;
            let mut found = facts.tables_of(&table.name).peekable();
            if found.peek().is_none() {
                return Err(format!("`{table}` is no table that the job's account can see"));
            }
            for facts in found {
                if !facts.is_plain {
                    return Err(format!("`{table}` is a view, or not a table with transactions"));
                }
                if let (Some(trigger), true) = (facts.triggers.first(), access.writes()) {
                    return Err(format!("`{table}` has the trigger `{trigger}`"));
                }
            }
        }
        Ok(list)
    };
    spec.database.steps.iter().map(effect).collect()
}

fn dialect(spec: &JobSpec) -> Dialect {
    match spec.database.kind {
        DatabaseKind::MySql { .. } => Dialect::MySql,
        DatabaseKind::Sqlite { .. } => Dialect::Sqlite,
    }
}

/// Look-ups that are to be cached and cannot be, and why: the job writes what they read, or nobody knows what they read.
pub(super) fn uncacheable(steps: &[Step], dialect: Dialect) -> Vec<(usize, String)> {
    let cached = |step: &Step| matches!(step, Step::Lookup(lookup) if lookup.cache_s > 0);
    let read: Vec<_> = steps.iter().map(|step| statement::read(step.statement(), dialect)).collect();
    let why = |number: usize| match read.get(number)? {
        Err(why) => Some(why.clone()),
        Ok(list) => read.iter().enumerate().find_map(|(other, accesses)| match accesses {
            Ok(accesses) => {
                let is_same = |access: &&statement::Access| {
                    access.writes() && list.iter().any(|mine| mine.table.name == access.table.name)
                };
                let met = accesses.iter().find(is_same)?;
                Some(format!("{} writes to `{}`", label(steps, other), met.table))
            }
            Err(_) if matches!(steps.get(other), Some(Step::Store(_))) => {
                Some(format!("{} may write to anything", label(steps, other)))
            }
            Err(_) => None,
        }),
    };
    let wanted = steps.iter().enumerate().filter(|(_, step)| cached(step));
    wanted.filter_map(|(number, _)| Some((number, why(number)?))).collect()
}

/// As messages call a step: people count from 1.
fn label(steps: &[Step], number: usize) -> String {
    let name = steps.get(number).and_then(|step| match step {
        Step::Lookup(lookup) => lookup.name.as_deref(),
        Step::Store(store) => store.name.as_deref(),
    });
    name.map_or_else(|| format!("step {}", number.saturating_add(1)), |name| format!("step \"{name}\""))
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.mode {
            SetMode::Together => "together",
            SetMode::Waves => "in waves",
            SetMode::WavesInOrder => "in waves, in order",
            SetMode::OneByOne => "one by one",
        };
        write!(f, "{}: {how}: {}", self.step, self.why)
    }
}

#[cfg(test)]
mod tests;
