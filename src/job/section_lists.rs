//! `[event.fields]` and `[event.lists]`: what an event has, and what its repeated elements have.
//!
//! In:        the tables of fields and lists, and where their paths begin
//! Out:       fields, and lists in the order of the file, each in front of those inside of it
//! Fails:     a name that is there twice: lists, fields and steps are told apart by their names
//! Not here:  one field (`section_field`)

use super::checker::{Checker, quote};
use super::names::identifier_problem;
use super::namespaces::Namespaces;
use super::references::{FieldNames, ListNames};
use super::section::{Given, Section};
use super::section_field::{self, FIELD_HINT, Within};
use super::{Field, FieldSource, List, PathStep};

/// Lists inside of lists.
const NESTED_MAX: usize = 16;
const LIST_HINT: &str = "write [event.lists.NAME] and each = \"s:lines/s:line\" below it";

/// The names of all lists, in the order in which [`read`] gives them.
pub(super) fn names(section: &Section<'_>) -> Vec<String> {
    let mut names = Vec::new();
    gather(section, 0, &mut names);
    names
}

fn gather(section: &Section<'_>, depth: usize, names: &mut Vec<String>) {
    let Some(lists) = section.inside("lists").filter(|_| depth < NESTED_MAX) else { return };
    for entry in lists.entries() {
        names.push(entry.name.clone());
        if let Some(list) = lists.inside(&entry.name) {
            gather(&list, depth + 1, names);
        }
    }
}

/// Reads the fields of an event or of a row.
pub(super) fn fields(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    namespaces: &Namespaces,
    lists: &[String],
    in_list: bool,
) -> (Option<Vec<Field>>, Vec<FieldNames>) {
    let Some(entry) = section.get("fields") else {
        section.left_out(checker, "fields", None);
        return (Some(Vec::new()), Vec::new());
    };
    let Some(table) = Section::of(checker, &entry, Some(FIELD_HINT.to_owned())) else {
        return (None, Vec::new());
    };
    let within = Within { path: &|checker, text| namespaces.path(checker, text), lists, in_list };
    let (mut names, mut fields) = (Vec::new(), Vec::new());
    for entry in table.entries() {
        let field = section_field::read(checker, &entry, &within);
        let of_record = match &field {
            Some(field) => matches!(field.source, FieldSource::RecordKey | FieldSource::Header(_)),
            None => true,
        };
        let of_type = field.as_ref().map(|field| field.of_type.clone());
        names.push(FieldNames { name: entry.name.clone(), of_type, of_record });
        fields.push(field);
    }
    (fields.into_iter().collect(), names)
}

/// Reads all lists; the outer `None`: errors are recorded.
pub(super) fn read(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    namespaces: &Namespaces,
    fields: &[FieldNames],
) -> (Option<Vec<List>>, Vec<ListNames>) {
    let mut lists = Lists { namespaces, fields, names: Vec::new(), lists: Vec::new(), right: true };
    if section.has("lists") {
        lists.inside(checker, section, None, 0);
    } else {
        let _known = section.get("lists");
        section.left_out(checker, "lists", None);
    }
    let right = lists.right;
    let read: Option<Vec<List>> = lists.lists.into_iter().collect();
    (read.filter(|_| right), lists.names)
}

struct Lists<'a> {
    namespaces: &'a Namespaces,
    /// Of the event.
    fields: &'a [FieldNames],
    names: Vec<ListNames>,
    /// As many as names.
    lists: Vec<Option<List>>,
    right: bool,
}

impl Lists<'_> {
    /// Reads the lists of an event or of a row, which is so many elements below the event's.
    fn inside(
        &mut self,
        checker: &mut Checker<'_>,
        section: &mut Section<'_>,
        parent: Option<(usize, usize)>,
        depth: usize,
    ) {
        let Some(entry) = section.get("lists") else { return };
        if depth >= NESTED_MAX {
            let message = format!("more than {NESTED_MAX} lists inside of each other");
            checker.error(entry.key_at, &entry.key, message, None);
            self.right = false;
            return;
        }
        let Some(table) = Section::of(checker, &entry, Some(LIST_HINT.to_owned())) else {
            self.right = false;
            return;
        };
        for entry in table.entries() {
            let named = self.name(checker, &entry.name, entry.key_at, &entry.key);
            let index = self.names.len();
            let list = ListNames {
                name: entry.name.clone(),
                parent: parent.map(|(index, _)| index),
                fields: Vec::new(),
            };
            self.names.push(list);
            self.lists.push(None);
            let Some(mut list) = Section::of(checker, &entry, Some(LIST_HINT.to_owned())) else { continue };
            let (read, row_depth) = self.list(checker, &mut list, &entry.name, index, parent);
            self.inside(checker, &mut list, Some((index, row_depth)), depth + 1);
            list.finish(checker);
            if let Some(place) = self.lists.get_mut(index).filter(|_| named) {
                *place = read;
            }
        }
    }

    fn name(&mut self, checker: &mut Checker<'_>, name: &str, at: usize, key: &str) -> bool {
        let problem = if let Some(problem) = identifier_problem(name) {
            Some((format!("{problem}, got {}", quote(name)), "parameters refer to its rows as `:name.field`"))
        } else if self.names.iter().any(|list| list.name == name) {
            Some((
                format!("an earlier list is named {}, too", quote(name)),
                "give each list a name of its own",
            ))
        } else if self.fields.iter().any(|field| field.name == name) {
            Some((format!("a field is named {}, too", quote(name)), "give the list a name of its own"))
        } else {
            None
        };
        if let Some((message, hint)) = &problem {
            checker.error(at, key, message.clone(), Some((*hint).to_owned()));
        }
        problem.is_none()
    }

    /// One list without those inside of it, and how deep its rows are.
    fn list(
        &mut self,
        checker: &mut Checker<'_>,
        section: &mut Section<'_>,
        name: &str,
        index: usize,
        parent: Option<(usize, usize)>,
    ) -> (Option<List>, usize) {
        let each = self.each(checker, section);
        let above = parent.map_or(0, |(_, depth)| depth);
        let row_depth = above + each.as_ref().map_or(0, |(_, steps)| steps.len());
        let in_rows = self.namespaces.in_rows(each.as_ref().map(|_| row_depth));
        let (fields, names) = fields(checker, section, &in_rows, &[], true);
        if let Some(list) = self.names.get_mut(index) {
            list.fields = names;
        }
        let list = each.zip(fields).map(|((text, each), fields)| List {
            name: name.to_owned(),
            parent: parent.map(|(index, _)| index),
            each,
            text,
            fields,
        });
        (list, row_depth)
    }

    fn each(&self, checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<(String, Vec<PathStep>)> {
        let hint = "write the repeated element: each = \"s:lines/s:line\"";
        section.required(checker, "each", hint)?;
        let Given::Right(text) = section.text(checker, "each") else { return None };
        checker.given_text(&text, format!("{:?}", text.value));
        let steps = self.namespaces.read_rows(checker, &text)?;
        Some((text.value, steps))
    }
}
