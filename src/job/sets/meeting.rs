//! Meeting: whether the steps of two events can meet in a row, and by which values that can be told before they run.
//!
//! In:        what each step does to which tables, and what the schema says of these     Out: [`Meetings`]
//! Order:     a table that one step alone touches is touched in queue order, whenever the steps of all events run step by step
//! Fails:     steps that may meet in rows that nothing tells apart: refused, with the reason
//! Not here:  what a statement does (statement), what is done about it (operator::gate)

use super::facts::{ColumnKind, SchemaFacts};
use super::fold::Fold;
use super::statement::{Access, How};
use super::{Meeting, SetMode, label};
use crate::job::{FieldType, JobSpec, Meta, Step, ValueRef};
use std::collections::{BTreeMap, BTreeSet};

/// What each step does.
pub(super) type Effects = Vec<Vec<Access>>;

/// Where events meet.
pub(super) struct Meetings {
    pub(super) mode: SetMode,
    pub(super) meetings: Vec<Meeting>,
    /// Steps that must run one by one, and why.
    pub(super) refused: Option<(BTreeSet<usize>, String)>,
    /// Tables that are written, and that more than one step touches: in which each wave has each value once.
    shared: BTreeMap<String, Vec<ValueRef>>,
}

/// The accesses to one table, with their steps.
type OfTable<'a> = Vec<(usize, &'a Access)>;

impl Meetings {
    pub(super) fn of(spec: &JobSpec, effects: &Effects, facts: Option<&SchemaFacts>) -> Meetings {
        let mut found = Meetings {
            mode: SetMode::Together,
            meetings: Vec::new(),
            refused: None,
            shared: BTreeMap::new(),
        };
        let (shared, lone) = written(effects);
        if shared.is_empty() {
            return found;
        }
        let mut keeps_order = false;
        for (table, accesses) in &shared {
            match fixed(spec, table, accesses, facts) {
                Ok(fixed) => {
                    if numbers(accesses, &fixed.columns, facts) {
                        let inserting: BTreeSet<usize> = accesses
                            .iter()
                            .filter(|(_, access)| access.inserts())
                            .map(|(step, _)| *step)
                            .collect();
                        if inserting.len() > 1 {
                            return found
                                .refuse(accesses, format!("several steps have rows of `{table}` numbered"));
                        }
                        keeps_order = true;
                    }
                    let refs = fixed.meeting.parts.iter().map(|(of, _)| of.clone()).collect();
                    found.shared.insert(table.clone(), refs);
                    found.add(fixed.meeting);
                }
                Err(why) => return found.refuse(accesses, why),
            }
        }
        let mut others = Vec::new();
        for (table, accesses) in &lone {
            match fixed(spec, table, accesses, facts) {
                Ok(fixed) if !numbers(accesses, &fixed.columns, facts) => others.push(fixed.meeting),
                _ => keeps_order = true,
            }
        }
        found.mode = if keeps_order { SetMode::WavesInOrder } else { SetMode::Waves };
        if !keeps_order {
            others.into_iter().for_each(|meeting| found.add(meeting));
        }
        found
    }

    fn add(&mut self, meeting: Meeting) {
        if !self.meetings.contains(&meeting) {
            self.meetings.push(meeting);
        }
    }

    fn refuse(mut self, accesses: &OfTable<'_>, why: String) -> Meetings {
        self.mode = SetMode::OneByOne;
        self.refused = Some((accesses.iter().map(|(step, _)| *step).collect(), why));
        self
    }

    pub(super) fn together_why(&self, steps: &[Step], effects: &Effects, number: usize) -> String {
        let writes = effects.get(number).is_some_and(|list| list.iter().any(Access::writes));
        match (steps.len(), writes) {
            (1, _) => "for all events of a transaction at once, in their order: it is the only step".to_owned(),
            (_, true) => {
                "for all events of a transaction at once, in their order: no other step reads or writes what it writes".to_owned()
            }
            (_, false) => "for all events of a transaction at once: no step writes what it reads".to_owned(),
        }
    }

    pub(super) fn waves_why(
        &self,
        spec: &JobSpec,
        steps: &[Step],
        effects: &Effects,
        number: usize,
    ) -> String {
        let of = |number: usize| effects.get(number).map(Vec::as_slice).unwrap_or_default();
        let met = of(number).iter().find(|access| self.shared.contains_key(&access.table.name));
        let Some(met) = met else { return "as other steps are: it meets none of them".to_owned() };
        let name = &met.table.name;
        let values = self.shared.get(name).map(Vec::as_slice).unwrap_or_default();
        let values: Vec<String> = values.iter().map(|of| shown(spec, of)).collect();
        let other = (0..steps.len())
            .find(|other| *other != number && of(*other).iter().any(|access| access.table.name == *name));
        let other = other.map_or(String::new(), |other| {
            format!(": {} is about rows of `{name}`, too", label(steps, other))
        });
        let link =
            met.by_link.as_ref().map_or(String::new(), |link| format!(" (by the foreign key `{link}`)"));
        format!("in which no {} occurs twice{other}{link}", values.join(" with the same "))
    }
}

/// Tables that are written, by name: those that several steps touch, and those of one step.
fn written(effects: &Effects) -> (BTreeMap<String, OfTable<'_>>, BTreeMap<String, OfTable<'_>>) {
    let mut tables: BTreeMap<String, OfTable<'_>> = BTreeMap::new();
    for (step, list) in effects.iter().enumerate() {
        for access in list {
            tables.entry(access.table.name.clone()).or_default().push((step, access));
        }
    }
    tables.retain(|_, list| list.iter().any(|(_, access)| access.writes()));
    tables.into_iter().partition(|(_, list)| {
        list.iter().any(|(step, _)| list.first().is_some_and(|first| first.0 != *step))
    })
}

/// By what rows of a table are told apart.
struct Fixed {
    columns: Vec<String>,
    meeting: Meeting,
}

/// The values that every access fixes, in columns that every unique key has that a write could meet another row by.
fn fixed(
    spec: &JobSpec,
    table: &str,
    accesses: &OfTable<'_>,
    facts: Option<&SchemaFacts>,
) -> Result<Fixed, String> {
    let first = accesses.first().map(|(_, access)| access.bound.clone()).unwrap_or_default();
    let by_all = first
        .into_iter()
        .filter(|(column, of)| accesses.iter().all(|(_, access)| access.bound.get(column) == Some(of)));
    let usable = by_all.filter_map(|(column, of)| {
        let fold = fold_of(spec, table, &column, &of, facts)?;
        Some((column, (of, fold)))
    });
    let mut parts: BTreeMap<String, (ValueRef, Fold)> = usable.collect();
    if parts.is_empty() {
        return Err(format!(
            "steps write and use rows of `{table}`, and not all of them fix the same column to the same value of the event, by a \
             type that compares exactly"
        ));
    }
    for key in facts.into_iter().flat_map(|facts| facts.unique(table)) {
        let met = |access: &Access| match &access.how {
            How::Write(write) => write.inserts || key.columns.iter().any(|c| write.assigned.contains(c)),
            How::Read => false,
        };
        if accesses.iter().any(|(_, access)| met(access)) {
            parts.retain(|column, _| key.columns.contains(column));
        }
        if parts.is_empty() {
            return Err(format!(
                "rows of `{table}` of different events may meet in its unique key `{}`, which is not fixed to a value of the event",
                key.name
            ));
        }
    }
    let columns = parts.keys().cloned().collect();
    let mut parts: Vec<(ValueRef, Fold)> = parts.into_values().collect();
    parts.dedup();
    Ok(Fixed { columns, meeting: Meeting { parts } })
}

/// Whether rows get numbers in the order in which they come.
fn numbers(accesses: &OfTable<'_>, fixed: &[String], facts: Option<&SchemaFacts>) -> bool {
    let inserted = accesses.iter().filter(|(_, access)| access.inserts());
    facts.is_some_and(|facts| {
        inserted.into_iter().any(|(_, access)| facts.numbers_beside(&access.table.name, fixed))
    })
}

/// How a value and a column compare; none: in a way that is not looked into, or the value is not the event's own.
fn fold_of(
    spec: &JobSpec,
    table: &str,
    column: &str,
    of: &ValueRef,
    facts: Option<&SchemaFacts>,
) -> Option<Fold> {
    let is_text = match of {
        ValueRef::Field(index) => match spec.event.fields.get(*index)?.of_type {
            FieldType::Text => true,
            FieldType::Int64 | FieldType::UInt64 => false,
            _ => return None,
        },
        ValueRef::Meta(Meta::Topic | Meta::Key | Meta::Header(_)) => true,
        ValueRef::Meta(Meta::Partition | Meta::Offset) => false,
        ValueRef::Meta(Meta::Timestamp | Meta::Now)
        | ValueRef::Lookup { .. }
        | ValueRef::Row { .. }
        | ValueRef::RowIndex { .. } => return None,
    };
    let Some(facts) = facts else { return Some(if is_text { Fold::Folded } else { Fold::Number }) };
    match (facts.kind(table, column)?, is_text) {
        ((ColumnKind::Exact, false), true) => Some(Fold::Exact),
        ((ColumnKind::Folded, false), true) => Some(Fold::Folded),
        ((ColumnKind::Integer, false), false) => Some(Fold::Number),
        ((ColumnKind::Integer, true), false) => Some(Fold::Numbered),
        _ => None,
    }
}

/// As the job file names a value.
fn shown(spec: &JobSpec, of: &ValueRef) -> String {
    match of {
        ValueRef::Field(index) => {
            spec.event.fields.get(*index).map_or_else(String::new, |field| format!("`:{}`", field.name))
        }
        ValueRef::Meta(Meta::Topic) => "`:_topic`".to_owned(),
        ValueRef::Meta(Meta::Partition) => "`:_partition`".to_owned(),
        ValueRef::Meta(Meta::Offset) => "`:_offset`".to_owned(),
        ValueRef::Meta(Meta::Key) => "`:_key`".to_owned(),
        ValueRef::Meta(Meta::Header(name)) => format!("`:_header.{name}`"),
        _ => "value".to_owned(),
    }
}
