//! What `:name` stands for: a field, a column of an earlier look-up, something of the record.
//!
//! In:        the names of fields and steps, and a reference without its colon
//! Out:       a [`ValueRef`]; the columns that anything refers to are collected per look-up
//! Fails:     an unknown name, with "did you mean"; a look-up that comes later, or that is no look-up
//! Not here:  no place in the file: the callers know it

use super::suggest::nearest;
use super::{Meta, ValueRef};

/// Meta fields without `_header.NAME`.
const META_NAMES: [&str; 6] = ["_topic", "_partition", "_offset", "_timestamp", "_key", "_now"];

/// The names that references may use.
pub(super) struct Names {
    /// In the order of the job file, those with mistakes included.
    pub(super) fields: Vec<String>,
    /// In the order of the job file.
    pub(super) steps: Vec<StepNames>,
}

/// A step as far as references know it.
#[derive(Default)]
pub(super) struct StepNames {
    /// `name`
    pub(super) name: Option<String>,
    /// Whether it gives columns.
    pub(super) is_lookup: bool,
    /// The columns that anything refers to, each once.
    pub(super) columns: Vec<String>,
}

/// What is wrong with a reference, and what to do.
pub(super) type Unresolved = (String, Option<String>);

impl Names {
    /// Resolves a reference made in step `at`; `None`: behind all steps.
    pub(super) fn resolve(&mut self, name: &str, at: Option<usize>) -> Result<ValueRef, Unresolved> {
        if name.starts_with('_') {
            return meta(name).map(ValueRef::Meta);
        }
        match name.split_once('.') {
            Some((step, column)) => self.column(step, column, at),
            None => self.field(name),
        }
    }

    /// Whether a text without its colon names something: then the colon was probably forgotten.
    pub(super) fn is_name(&self, text: &str) -> bool {
        let column_of =
            |step: &str| self.steps.iter().any(|s| s.is_lookup && s.name.as_deref() == Some(step));
        let is_column = text
            .split_once('.')
            .is_some_and(|(step, column)| column_of(step) && super::names::is_identifier(column));
        is_column || self.fields.iter().any(|field| field == text) || meta(text).is_ok()
    }

    fn field(&self, name: &str) -> Result<ValueRef, Unresolved> {
        if let Some(index) = self.fields.iter().position(|field| field == name) {
            return Ok(ValueRef::Field(index));
        }
        let is_step = self.steps.iter().any(|step| step.name.as_deref() == Some(name));
        let hint = if is_step {
            Some(format!("`{name}` is a step: write `:{name}.COLUMN`"))
        } else {
            let near = nearest(name, self.fields.iter().map(String::as_str).chain(META_NAMES));
            near.map(|near| format!("did you mean `:{near}`?")).or_else(|| Some(self.fields_hint()))
        };
        Err((format!("no field gives `:{name}`"), hint))
    }

    fn fields_hint(&self) -> String {
        if self.fields.is_empty() {
            return "the job has no fields: declare it in [event.fields]".to_owned();
        }
        let fields: Vec<String> = self.fields.iter().map(|field| format!(":{field}")).collect();
        format!("fields of this job: {}", fields.join(", "))
    }

    fn column(&mut self, step: &str, column: &str, at: Option<usize>) -> Result<ValueRef, Unresolved> {
        let found = self.steps.iter().position(|s| s.name.as_deref() == Some(step));
        let Some(index) = found else { return Err(self.no_step(step, column)) };
        let Some(names) = self.steps.get_mut(index) else { return Err(self.no_step(step, column)) };
        if !names.is_lookup {
            let message = format!("`:{step}.{column}`: step `{step}` stores, it gives no columns");
            return Err((message, Some("refer to the column of a lookup, or to a field".to_owned())));
        }
        if at == Some(index) {
            let message = format!("`:{step}.{column}` is used in the very step that looks it up");
            return Err((
                message,
                Some("a parameter comes from the event or from an earlier step".to_owned()),
            ));
        }
        if at.is_some_and(|at| at < index) {
            let message = format!("`:{step}.{column}` is used before step `{step}` has looked it up");
            return Err((message, Some(format!("move step `{step}` in front of this one"))));
        }
        let position = names.columns.iter().position(|c| c == column).unwrap_or_else(|| {
            names.columns.push(column.to_owned());
            names.columns.len() - 1
        });
        Ok(ValueRef::Lookup { step: index, column: position })
    }

    fn no_step(&self, step: &str, column: &str) -> Unresolved {
        let lookups: Vec<&str> =
            self.steps.iter().filter(|s| s.is_lookup).filter_map(|s| s.name.as_deref()).collect();
        let near = nearest(step, lookups.iter().copied());
        let hint = match near {
            Some(near) => format!("did you mean `:{near}.{column}`?"),
            None if self.fields.iter().any(|field| field == step) => {
                format!("`{step}` is a field: write `:{step}`")
            }
            None if lookups.is_empty() => {
                "no lookup of this job has a name: give it one with `name = \"...\"`".to_owned()
            }
            None => format!("lookups of this job: {}", lookups.join(", ")),
        };
        (format!("no lookup named `{step}` gives `:{step}.{column}`"), Some(hint))
    }
}

pub(super) fn meta(name: &str) -> Result<Meta, Unresolved> {
    match name {
        "_topic" => Ok(Meta::Topic),
        "_partition" => Ok(Meta::Partition),
        "_offset" => Ok(Meta::Offset),
        "_timestamp" => Ok(Meta::Timestamp),
        "_key" => Ok(Meta::Key),
        "_now" => Ok(Meta::Now),
        _ => match name.strip_prefix("_header.") {
            Some(header) if !header.is_empty() => Ok(Meta::Header(header.to_owned())),
            _ => {
                let hint = match nearest(name, META_NAMES) {
                    Some(near) => format!("did you mean `:{near}`?"),
                    None => format!("meta fields: :{}, :_header.NAME", META_NAMES.join(", :")),
                };
                Err((format!("no meta field is named `:{name}`"), Some(hint)))
            }
        },
    }
}
