//! The rows of an event's lists.
//!
//! In:        a list and the element that its rows are in     Out: [`Row`]s, in document order, and as JSON
//! Order:     a row, then what is in it
//! Fails:     a row's field: the event is unreadable
//! Not here:  fields themselves (see `judge`)
//!
//! Recursion is as deep as the job file nests lists, whatever the document.

use super::found::small;
use super::json;
use super::judge::{Judge, Verdict};
use super::plan::{From, ListPlan, Plan};
use super::run::Elements;
use super::search::{At, elements};
use crate::model::Row;
use std::ops::Range;

/// What a row takes beside its values, about.
const ROW_BYTES: usize = 32;

/// Appends the rows of a list that are in one element, and the rows of the lists in it.
pub(super) fn read(
    judge: &mut Judge<'_>,
    list: usize,
    within: At,
    parent: u32,
    lists: &mut [Vec<Row>],
) -> Result<(), Verdict> {
    let Some(plan) = judge.world.plan.lists.get(list) else { return Ok(()) };
    // The rows' own programs must not take the set from under this loop.
    let (run, list_of) = match elements(judge.world, judge.runs, &plan.each, within) {
        Elements::Run(start, end) => (start..end, Vec::new()),
        Elements::List(list) => (0..0, list.to_vec()),
    };
    for (index, element) in run.chain(list_of).enumerate() {
        let at = At { node: plan.each.node, element };
        let row = row(judge, plan, at, parent, small(index.saturating_add(1)))?;
        let number = lists.get(list).map_or(0, Vec::len);
        if let Some(rows) = lists.get_mut(list) {
            rows.push(row);
        }
        for inner in &plan.inner {
            read(judge, *inner, at, small(number), lists)?;
        }
        of_inner_lists(judge, plan, list, number, lists)?;
    }
    Ok(())
}

fn row(judge: &mut Judge<'_>, plan: &ListPlan, at: At, parent: u32, index: u32) -> Result<Row, Verdict> {
    judge.spend(ROW_BYTES)?;
    let mut values = Vec::with_capacity(plan.fields.len());
    for field in &plan.fields {
        values.push(judge.value(field, at, Some(at))?);
    }
    Ok(Row { parent, index, values })
}

/// Makes the fields of a row that are made of the lists in it.
fn of_inner_lists(
    judge: &mut Judge<'_>,
    plan: &ListPlan,
    list: usize,
    number: usize,
    lists: &mut [Vec<Row>],
) -> Result<(), Verdict> {
    for (index, field) in plan.fields.iter().enumerate() {
        let From::List(inner) = field.from else { continue };
        let all = lists.get(inner).map_or(&[][..], Vec::as_slice);
        let first = all.partition_point(|row| row.parent < small(number));
        let rows = to_json(judge.world.plan, inner, lists, first..all.len());
        let value = judge.made_of_list(field, &rows)?;
        let row = lists.get_mut(list).and_then(|rows| rows.get_mut(number));
        if let Some(place) = row.and_then(|row| row.values.get_mut(index)) {
            *place = value;
        }
    }
    Ok(())
}

/// Rows as an array of objects.
pub(super) fn to_json(plan: &Plan, list: usize, lists: &[Vec<Row>], rows: Range<usize>) -> String {
    let Some(plan) = plan.lists.get(list) else { return "[]".to_owned() };
    let all = lists.get(list).map_or(&[][..], Vec::as_slice);
    let rows = all.get(rows.start..rows.end.min(all.len())).unwrap_or_default();
    let mut out = String::from("[");
    for row in rows {
        out.push_str(if out.len() > 1 { ",{" } else { "{" });
        let members = plan.members.iter().zip(&plan.fields).zip(&row.values);
        for (index, ((name, field), value)) in members.enumerate() {
            if index > 0 {
                out.push(',');
            }
            json::push_string(&mut out, name);
            out.push(':');
            json::push_value(&mut out, value, matches!(field.from, From::All(_) | From::List(_)));
        }
        out.push('}');
    }
    out.push(']');
    out
}
