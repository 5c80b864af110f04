//! Steps as text: which are run, with which values, and what look-ups find.
//!
//! Not here:  what a step does (operator)

use super::Show;
use super::words::{cell, table, value};
use crate::job::{LookupStep, Meta, Missing, Statement, Step, ValueRef};
use crate::model::Value;
use crate::operator::gate::{Trial, Tried};
use std::fmt::Write;

impl Show<'_> {
    /// Each step, in order.
    pub(super) fn steps(&self, trial: &Trial) -> String {
        let mut text = String::new();
        for (number, (step, tried)) in self.spec.database.steps.iter().zip(&trial.steps).enumerate() {
            text.push_str(&self.step(number, step, tried));
        }
        text
    }

    fn step(&self, number: usize, step: &Step, tried: &Tried) -> String {
        let (name, verb, statement, for_each) = match step {
            Step::Lookup(lookup) => (&lookup.name, "look-up", &lookup.statement, None),
            Step::Store(store) => (&store.name, "store", &store.statement, store.for_each),
        };
        let name = name.as_ref().map_or(String::new(), |name| format!(" {name}"));
        let list = for_each.and_then(|list| self.spec.event.lists.get(list));
        let rows_of = list.map_or(String::new(), |list| format!(" for each of {}", list.name));
        let when =
            self.setting(&format!("database.steps[{}].when", number + 1)).filter(|when| *when != "none");
        let mut text = format!("  step {}: {verb}{name}{rows_of}", number + 1);
        let condition = |holds: &str| when.map_or(String::new(), |when| format!(", when {when} {holds}"));
        let idle = match tried {
            Tried::NotFor => Some(": not run: it is for other records".to_owned()),
            Tried::NotMet => Some(format!("{}: not run", condition("does not hold"))),
            Tried::NoRows => Some(": not run: the list has no rows".to_owned()),
            Tried::Stores(_) | Tried::WouldAsk(_) | Tried::Asked(..) => None,
        };
        if let Some(idle) = idle {
            text.push_str(&idle);
            text.push('\n');
            return text;
        }
        let holds = if for_each.is_some() { "for these" } else { "holds" };
        text.push_str(&condition(holds));
        text.push('\n');
        for line in statement.sql.lines().filter(|line| !line.trim().is_empty()) {
            // Writing to a text does not fail.
            let _written = writeln!(text, "    {}", line.trim_end());
        }
        match (tried, step) {
            (Tried::Stores(rows), _) if for_each.is_some() => text.push_str(&self.rows(statement, rows)),
            (Tried::Stores(rows), _) => {
                rows.iter().for_each(|row| text.push_str(&self.parameters(statement, row)));
            }
            (Tried::WouldAsk(row), _) => {
                text.push_str(&self.parameters(statement, row));
                text.push_str("    asks the database: its columns are NULL here\n");
            }
            (Tried::Asked(row, found), Step::Lookup(lookup)) => {
                text.push_str(&self.parameters(statement, row));
                text.push_str(&found_text(lookup, found.as_deref()));
            }
            _ => {}
        }
        text
    }

    fn parameters(&self, statement: &Statement, row: &[Value]) -> String {
        let mut seen: Vec<String> = Vec::new();
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (of, found) in statement.parameters.iter().zip(row) {
            let name = self.reference(of);
            if !seen.contains(&name) {
                rows.push(vec![name.clone(), format!("= {}", value(found))]);
                seen.push(name);
            }
        }
        match rows.split_first() {
            Some((head, rest)) => table(6, head, rest),
            None => String::new(),
        }
    }

    fn rows(&self, statement: &Statement, rows: &[Vec<Value>]) -> String {
        let mut columns: Vec<(String, usize)> = Vec::new();
        for (index, of) in statement.parameters.iter().enumerate() {
            let name = self.reference(of);
            if !columns.iter().any(|(known, _)| *known == name) {
                columns.push((name, index));
            }
        }
        let head: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
        let cells = rows.iter().map(|row| {
            columns.iter().map(|(_, index)| row.get(*index).map_or(String::new(), cell)).collect()
        });
        table(6, &head, &cells.collect::<Vec<_>>())
    }

    /// A reference as the job file has it.
    fn reference(&self, of: &ValueRef) -> String {
        let event = &self.spec.event;
        let list = |list: &usize| event.lists.get(*list).map_or("?", |list| list.name.as_str());
        match of {
            ValueRef::Field(field) => {
                format!(":{}", event.fields.get(*field).map_or("?", |field| field.name.as_str()))
            }
            ValueRef::Lookup { step, column } => match self.spec.database.steps.get(*step) {
                Some(Step::Lookup(lookup)) => {
                    let column = lookup.columns.get(*column).map_or("?", String::as_str);
                    format!(":{}.{column}", lookup.name.as_deref().unwrap_or("?"))
                }
                _ => ":?".to_owned(),
            },
            ValueRef::Row { list: of, field } => {
                let field = event.lists.get(*of).and_then(|list| list.fields.get(*field));
                format!(":{}.{}", list(of), field.map_or("?", |field| field.name.as_str()))
            }
            ValueRef::RowIndex { list: of } => format!(":{}._index", list(of)),
            ValueRef::Meta(meta) => match meta {
                Meta::Topic => ":_topic".to_owned(),
                Meta::Partition => ":_partition".to_owned(),
                Meta::Offset => ":_offset".to_owned(),
                Meta::Timestamp => ":_timestamp".to_owned(),
                Meta::Key => ":_key".to_owned(),
                Meta::Header(name) => format!(":_header.{name}"),
                Meta::Now => ":_now".to_owned(),
            },
        }
    }
}

fn found_text(lookup: &LookupStep, found: Option<&[Value]>) -> String {
    match found {
        Some(row) => {
            let cells: Vec<String> = lookup
                .columns
                .iter()
                .zip(row)
                .map(|(name, found)| format!("{name} = {}", value(found)))
                .collect();
            let what = if cells.is_empty() { "a row".to_owned() } else { cells.join(", ") };
            format!("    finds {what}\n")
        }
        None if lookup.missing == Missing::Null => "    finds no row: its columns are NULL\n".to_owned(),
        None => "    finds no row\n".to_owned(),
    }
}
