//! Shown: an event's values by their names, for templates.
//!
//! In:        an event with what its look-ups gave, and the names that a template takes     Out: those names and their values
//! Order:     fields, look-ups, lists, what is of the record
//! Fails:     never: what is not there is NULL, and a list without rows is empty
//! Not here:  how values are written (xml)

use super::values::Scope;
use crate::job::{Field, FieldType, List, Meta, Step, ValueRef};
use crate::model::{Body, Reading, Row, Value};
use crate::xml::{Shown, Template, text_or_bytes};
use std::collections::BTreeSet;

/// The names that a template takes.
#[derive(Debug)]
pub(super) struct Names {
    /// Their beginnings: `customer` of `customer.name`.
    first: BTreeSet<String>,
    /// The headers that it names; NULL where the record has none of the name.
    headers: Vec<String>,
}

impl Names {
    /// Of a template.
    pub(super) fn of(template: &Template) -> Names {
        let names = template.names();
        let first = names.iter().map(|name| name.split('.').next().unwrap_or_default().to_owned()).collect();
        let headers = names.iter().filter_map(|name| name.strip_prefix("_header.")).map(str::to_owned);
        Names { first, headers: headers.collect() }
    }
}

/// The values that the template takes.
pub(super) fn shown(scope: &Scope<'_>, wanted: &Names) -> Vec<(String, Shown)> {
    let (spec, mut all) = (scope.spec, Vec::new());
    let is_wanted = |name: &str| wanted.first.contains(name);
    for (index, field) in spec.event.fields.iter().enumerate().filter(|(_, field)| is_wanted(&field.name)) {
        all.push((field.name.clone(), of_field(field, scope.value(&ValueRef::Field(index)))));
    }
    for (step, lookup) in spec.database.steps.iter().enumerate() {
        let Step::Lookup(lookup) = lookup else { continue };
        let Some(name) = lookup.name.as_ref().filter(|name| is_wanted(name)) else { continue };
        let value = |column| Shown::Value(scope.value(&ValueRef::Lookup { step, column }));
        let columns = lookup.columns.iter().enumerate().map(|(column, name)| (name.clone(), value(column)));
        all.push((name.clone(), Shown::Table(columns.collect())));
    }
    let outer = |(_, list): &(usize, &List)| list.parent.is_none() && is_wanted(&list.name);
    for (index, list) in spec.event.lists.iter().enumerate().filter(outer) {
        all.push((list.name.clone(), rows(scope, index, None)));
    }
    all.extend(of_record(scope, wanted));
    all
}

fn of_field(field: &Field, value: Value) -> Shown {
    match (&field.of_type, value) {
        (FieldType::Xml, Value::Text(source)) => Shown::Markup(source),
        (_, value) => Shown::Value(value),
    }
}

/// The rows of a list: of the event, or of one row of the list that it is in.
fn rows(scope: &Scope<'_>, list: usize, parent: Option<usize>) -> Shown {
    let of_event: &[Row] = match &scope.looked.event.body {
        Body::Readable(Reading { lists, .. }) => lists.get(list).map_or(&[], Vec::as_slice),
        Body::Tombstone { .. } | Body::Unreadable(_) => &[],
    };
    let is_in = |row: &Row| parent.is_none_or(|parent| usize::try_from(row.parent) == Ok(parent));
    let mine = of_event.iter().enumerate().filter(|(_, row)| is_in(row));
    Shown::Rows(mine.map(|(place, row)| row_of(scope, list, place, row)).collect())
}

fn row_of(scope: &Scope<'_>, list: usize, place: usize, row: &Row) -> Shown {
    let lists = &scope.spec.event.lists;
    let fields = lists.get(list).map_or(&[][..], |list| list.fields.as_slice());
    let mut table: Vec<(String, Shown)> = fields
        .iter()
        .zip(&row.values)
        .map(|(field, value)| (field.name.clone(), of_field(field, value.clone())))
        .collect();
    table.push(("_index".to_owned(), Shown::Value(Value::Int(i64::from(row.index)))));
    for (inner, of) in lists.iter().enumerate().filter(|(_, inner)| inner.parent == Some(list)) {
        table.push((of.name.clone(), rows(scope, inner, Some(place))));
    }
    Shown::Table(table)
}

/// `_topic` and its like. Of headers of one name the last counts.
fn of_record(scope: &Scope<'_>, wanted: &Names) -> Vec<(String, Shown)> {
    let metas = [
        ("_topic", Meta::Topic),
        ("_partition", Meta::Partition),
        ("_offset", Meta::Offset),
        ("_timestamp", Meta::Timestamp),
        ("_key", Meta::Key),
        ("_now", Meta::Now),
    ];
    let mut all: Vec<(String, Shown)> = metas
        .into_iter()
        .filter(|(name, _)| wanted.first.contains(*name))
        .map(|(name, meta)| (name.to_owned(), Shown::Value(scope.value(&ValueRef::Meta(meta)))))
        .collect();
    if wanted.first.contains("_header") {
        let null = |name: &String| (name.clone(), Shown::Value(Value::Null));
        let mut table: Vec<(String, Shown)> = wanted.headers.iter().map(null).collect();
        for (name, value) in &scope.looked.event.record.headers {
            table.retain(|(known, _)| known != name);
            let value = value.as_ref().map_or(Value::Null, text_or_bytes);
            table.push((name.clone(), Shown::Value(value)));
        }
        all.push(("_header".to_owned(), Shown::Table(table)));
    }
    all
}
