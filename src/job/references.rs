//! What `:name` stands for: a field, a field of a row, a column of an earlier look-up, something of the record.
//!
//! In:        the names of fields, lists and steps, and a reference without its colon
//! Out:       a [`ValueRef`]; the columns that anything refers to are collected per look-up
//! Fails:     an unknown name, with "did you mean"; what this place has not, with where it is to be had
//! Not here:  no place in the file: the callers know it

use super::suggest::nearest;
use super::{FieldType, Meta, On, ValueRef};

/// Meta fields without `_header.NAME`.
const META_NAMES: [&str; 6] = ["_topic", "_partition", "_offset", "_timestamp", "_key", "_now"];
/// Which row of its parent a row is.
const ROW_INDEX: &str = "_index";

/// The names that references may use.
#[derive(Default)]
pub(super) struct Names {
    /// In the order of the job file, those with mistakes included.
    pub(super) fields: Vec<FieldNames>,
    /// In the order of the job file, an inner list behind the one it is in.
    pub(super) lists: Vec<ListNames>,
    /// In the order of the job file.
    pub(super) steps: Vec<StepNames>,
    /// Whether tombstones are events; none: not known.
    pub(super) tombstones: Option<bool>,
}

/// A field as far as references know it.
#[derive(Clone)]
pub(super) struct FieldNames {
    /// Its name.
    pub(super) name: String,
    /// None: it is wrong, which has been said already.
    pub(super) of_type: Option<FieldType>,
    /// Whether it comes from the Kafka record, so that a tombstone has it, too.
    pub(super) of_record: bool,
}

/// A list as far as references know it.
#[derive(Clone)]
pub(super) struct ListNames {
    /// Its name.
    pub(super) name: String,
    /// Index of the list it is in.
    pub(super) parent: Option<usize>,
    /// Fields of its rows.
    pub(super) fields: Vec<FieldNames>,
}

/// A step as far as references know it.
pub(super) struct StepNames {
    /// `name`
    pub(super) name: Option<String>,
    /// Whether it gives columns.
    pub(super) is_lookup: bool,
    /// Of which records it is run.
    pub(super) on: On,
    /// The columns that anything refers to, each once.
    pub(super) columns: Vec<String>,
}

/// Where a reference stands.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// Index of the step; none: behind all steps.
    pub(super) step: Option<usize>,
    /// Index of the list whose rows it is for.
    pub(super) rows_of: Option<usize>,
    /// For which records it is.
    pub(super) on: On,
}

/// What is wrong with a reference, and what to do.
pub(super) type Unresolved = (String, Option<String>);

impl Names {
    /// Resolves a reference.
    pub(super) fn resolve(&mut self, name: &str, place: Place) -> Result<ValueRef, Unresolved> {
        if name.starts_with('_') {
            return meta(name).map(ValueRef::Meta);
        }
        match name.split_once('.') {
            Some((of, part)) => match self.lists.iter().position(|list| list.name == of) {
                Some(list) => self.row(list, part, place),
                None => self.column(of, part, place),
            },
            None => self.field(name, place),
        }
    }

    /// Whether a text without its colon names something: then the colon was probably forgotten.
    pub(super) fn is_name(&self, text: &str) -> bool {
        let column_of =
            |step: &str| self.steps.iter().any(|s| s.is_lookup && s.name.as_deref() == Some(step));
        let row_of = |list: &str, part: &str| {
            let list = self.lists.iter().find(|l| l.name == list);
            list.is_some_and(|list| part == ROW_INDEX || list.fields.iter().any(|field| field.name == part))
        };
        let is_part = text.split_once('.').is_some_and(|(of, part)| {
            row_of(of, part) || (column_of(of) && super::names::is_identifier(part))
        });
        is_part || self.fields.iter().any(|field| field.name == text) || meta(text).is_ok()
    }

    /// The type of what a reference gives; none: not known here.
    pub(super) fn type_of(&self, value: &ValueRef) -> Option<FieldType> {
        match value {
            ValueRef::Field(index) => self.fields.get(*index)?.of_type.clone(),
            ValueRef::Row { list, field } => self.lists.get(*list)?.fields.get(*field)?.of_type.clone(),
            ValueRef::RowIndex { .. } | ValueRef::Meta(Meta::Partition | Meta::Offset) => {
                Some(FieldType::Int64)
            }
            ValueRef::Meta(Meta::Topic) => Some(FieldType::Text),
            ValueRef::Meta(Meta::Timestamp | Meta::Now) => Some(FieldType::Timestamp { zone: None }),
            ValueRef::Lookup { .. } | ValueRef::Meta(Meta::Key | Meta::Header(_)) => None,
        }
    }

    fn field(&self, name: &str, place: Place) -> Result<ValueRef, Unresolved> {
        if let Some((index, field)) = self.fields.iter().enumerate().find(|(_, field)| field.name == name) {
            if place.on == On::Tombstone && !field.of_record {
                let message = format!("`:{name}` is of the document, and a tombstone has none");
                return Err((
                    message,
                    Some(
                        "of a tombstone, fields with `record_key` or `header` and meta fields have values"
                            .to_owned(),
                    ),
                ));
            }
            return Ok(ValueRef::Field(index));
        }
        let is_step = self.steps.iter().any(|step| step.name.as_deref() == Some(name));
        let is_list = self.lists.iter().any(|list| list.name == name);
        let hint = if is_step {
            Some(format!("`{name}` is a step: write `:{name}.COLUMN`"))
        } else if is_list {
            Some(format!("`{name}` is a list: write `:{name}.FIELD` in a step with for_each = \"{name}\""))
        } else {
            let fields = self.fields.iter().map(|field| field.name.as_str());
            let near = nearest(name, fields.chain(META_NAMES));
            near.map(|near| format!("did you mean `:{near}`?"))
                .or_else(|| self.row_field_hint(name))
                .or_else(|| Some(self.fields_hint()))
        };
        Err((format!("no field gives `:{name}`"), hint))
    }

    /// Where the name is a field of a list's rows.
    fn row_field_hint(&self, name: &str) -> Option<String> {
        let list = self.lists.iter().find(|list| list.fields.iter().any(|field| field.name == name))?;
        Some(format!("it is a field of the list `{0}`: write `:{0}.{name}`", list.name))
    }

    fn fields_hint(&self) -> String {
        if self.fields.is_empty() {
            return "the job has no fields: declare it in [event.fields]".to_owned();
        }
        let fields: Vec<String> = self.fields.iter().map(|field| format!(":{}", field.name)).collect();
        format!("fields of this job: {}", fields.join(", "))
    }

    fn row(&self, index: usize, part: &str, place: Place) -> Result<ValueRef, Unresolved> {
        let Some(list) = self.lists.get(index) else { return Err((format!("no list gives `{part}`"), None)) };
        let name = &list.name;
        let value = if part == ROW_INDEX {
            ValueRef::RowIndex { list: index }
        } else {
            let Some(field) = list.fields.iter().position(|field| field.name == part) else {
                let known = list.fields.iter().map(|field| field.name.as_str());
                let hint = match nearest(part, known.clone().chain([ROW_INDEX])) {
                    Some(near) => format!("did you mean `:{name}.{near}`?"),
                    None => {
                        let known: Vec<String> =
                            known.chain([ROW_INDEX]).map(|field| format!(":{name}.{field}")).collect();
                        format!("fields of its rows: {}", known.join(", "))
                    }
                };
                return Err((format!("the list `{name}` has no field `{part}`"), Some(hint)));
            };
            ValueRef::Row { list: index, field }
        };
        if self.has_rows_of(index, place.rows_of) {
            return Ok(value);
        }
        let hint = match (place.step, place.rows_of.and_then(|rows| self.lists.get(rows))) {
            (None, _) => {
                format!(
                    "an output is one per event: a field {{ list = \"{name}\", type = \"json\" }} has all rows"
                )
            }
            (Some(_), Some(of)) if self.has_rows_of(place.rows_of.unwrap_or(index), Some(index)) => {
                format!("`{name}` is inside of `{}`: write for_each = \"{name}\"", of.name)
            }
            (Some(_), Some(of)) => format!("this step is for each row of `{}`: write another step", of.name),
            (Some(_), None) => format!("write for_each = \"{name}\" in this step"),
        };
        Err((
            format!("`:{name}.{part}` is of a row of the list `{name}`, and there is none here"),
            Some(hint),
        ))
    }

    /// Whether whoever has a row of `rows` has one of `list`, too: it is the same, or around it.
    fn has_rows_of(&self, list: usize, rows: Option<usize>) -> bool {
        let mut rows = rows;
        while let Some(index) = rows {
            if index == list {
                return true;
            }
            // A parent stands in front of what is in it, so this ends.
            rows = self.lists.get(index).and_then(|of| of.parent).filter(|parent| *parent < index);
        }
        false
    }

    fn column(&mut self, step: &str, column: &str, place: Place) -> Result<ValueRef, Unresolved> {
        let found = self.steps.iter().position(|s| s.name.as_deref() == Some(step));
        let Some(index) = found else { return Err(self.no_step(step, column)) };
        let Some(names) = self.steps.get_mut(index) else { return Err(self.no_step(step, column)) };
        if !names.is_lookup {
            let message = format!("`:{step}.{column}`: step `{step}` stores, it gives no columns");
            return Err((message, Some("refer to the column of a lookup, or to a field".to_owned())));
        }
        if place.step == Some(index) {
            let message = format!("`:{step}.{column}` is used in the very step that looks it up");
            return Err((
                message,
                Some("a parameter comes from the event or from an earlier step".to_owned()),
            ));
        }
        if place.step.is_some_and(|at| at < index) {
            let message = format!("`:{step}.{column}` is used before step `{step}` has looked it up");
            return Err((message, Some(format!("move step `{step}` in front of this one"))));
        }
        let never =
            matches!((names.on, place.on), (On::Document, On::Tombstone) | (On::Tombstone, On::Document));
        if never {
            let message =
                format!("`:{step}.{column}` is always NULL here: step `{step}` is not run for these records");
            return Err((message, Some(format!("write on = \"any\" in step `{step}`"))));
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
        let lists = self.lists.iter().map(|list| list.name.as_str());
        let near = nearest(step, lookups.iter().copied().chain(lists));
        let hint = match near {
            Some(near) => format!("did you mean `:{near}.{column}`?"),
            None if self.fields.iter().any(|field| field.name == step) => {
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

/// `_topic`, `_header.NAME` and so on.
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
