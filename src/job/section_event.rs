//! `[event]`: how a document becomes an event.

use super::checker::{Checker, Text};
use super::choices::either;
use super::namespaces::{Namespaces, Root};
use super::section::{Given, Section};
use super::section_field::{self, FIELD_HINT, Within};
use super::{Doctype, EventSpec, Field, KeyPart, NoMatch, Path, PathStep, TombstoneRule};

/// What `[event]` says, and what other sections need even where it is wrong.
pub(super) struct Event {
    pub(super) spec: Option<EventSpec>,
    pub(super) namespaces: Namespaces,
    /// Of all fields, those with mistakes included, so that they cause no further errors.
    pub(super) field_names: Vec<String>,
}

pub(super) fn read(checker: &mut Checker<'_>, root: &mut Section<'_>) -> Event {
    let nothing = Event { spec: None, namespaces: Namespaces::default(), field_names: Vec::new() };
    let Some(mut section) = root.section(checker, "event") else { return nothing };
    let format = format(checker, &mut section);
    let mut namespaces = Namespaces::read(checker, &mut section);
    namespaces.root = each(checker, &mut section, &namespaces);
    let key = key(checker, &mut section, &namespaces);
    let (fields, field_names) = fields(checker, &mut section, &namespaces);
    let instead = "leave it out: this version reads the fields of the event's element, one row per event";
    section.not_built(checker, "lists", instead);
    section.finish(checker);
    let root = match &namespaces.root {
        Root::Any => Some(None),
        Root::Named(name) => Some(Some(name.clone())),
        Root::Wrong => None,
    };
    let spec = match (format, root, key, fields) {
        (Some(()), Some(root), Some(key), Some(fields)) => Some(EventSpec {
            each: root
                .into_iter()
                .map(|name: super::Name| PathStep { name, predicates: Vec::new() })
                .collect(),
            no_match: NoMatch::Unreadable,
            key: key.into_iter().map(KeyPart::Path).collect(),
            fields,
            lists: Vec::new(),
            doctype: Doctype::Refuse,
            tombstone: TombstoneRule::Unreadable,
        }),
        _ => None,
    };
    Event { spec, namespaces, field_names }
}

fn format(checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<()> {
    match section.text(checker, "format") {
        Given::Wrong => None,
        Given::No => {
            checker.default(&section.key_of("format"), "\"xml\"", None);
            Some(())
        }
        Given::Right(text) if text.value == "xml" => {
            checker.given_text(&text, "\"xml\"");
            Some(())
        }
        Given::Right(text) => {
            let message = format!("must be {}, got {}", either(["xml"]), text.quoted());
            checker.error_of(&text, message, Some("documents are XML".to_owned()));
            None
        }
    }
}

fn each(checker: &mut Checker<'_>, section: &mut Section<'_>, namespaces: &Namespaces) -> Root {
    match section.text(checker, "each") {
        Given::Wrong => Root::Wrong,
        Given::No => {
            checker.default(&section.key_of("each"), "the root element", Some("whatever its name is"));
            Root::Any
        }
        Given::Right(text) => match namespaces.read_root(checker, &text) {
            Some(name) => {
                checker.given_text(&text, format!("{:?}", text.value));
                Root::Named(name)
            }
            None => Root::Wrong,
        },
    }
}

fn key(checker: &mut Checker<'_>, section: &mut Section<'_>, namespaces: &Namespaces) -> Option<Vec<Path>> {
    let Some(entry) = section.get("key") else {
        checker.default(&section.key_of("key"), "the Kafka record key", None);
        return Some(Vec::new());
    };
    let hint = Some("write key = [\"@id\"]; leave it out for the Kafka record key".to_owned());
    let entries = checker.list(&entry, "a list of paths", hint.clone())?;
    if entries.is_empty() {
        checker.error(entry.at(), &entry.key, "must have at least one path, got none", hint);
        return None;
    }
    let texts: Vec<Option<Text>> = entries.iter().map(|entry| checker.text(entry)).collect();
    let paths: Vec<Option<Path>> =
        texts.iter().map(|text| text.as_ref().and_then(|text| namespaces.path(checker, text))).collect();
    let texts: Vec<Text> = texts.into_iter().flatten().collect();
    let paths: Vec<Path> = paths.into_iter().collect::<Option<_>>()?;
    let shown: Vec<&str> = texts.iter().map(|text| text.value.as_str()).collect();
    checker.given_texts(&entry.key, entry.at(), &texts, format!("{shown:?}"));
    for (index, path) in paths.iter().enumerate() {
        let earlier = paths.iter().take(index).any(|e| e.branches == path.branches);
        if let Some(text) = texts.get(index).filter(|_| earlier) {
            checker.error_of(
                text,
                format!("{} is there twice", text.quoted()),
                Some("name each part once".to_owned()),
            );
        }
    }
    Some(paths)
}

fn fields(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    namespaces: &Namespaces,
) -> (Option<Vec<Field>>, Vec<String>) {
    let Some(entry) = section.get("fields") else {
        checker.default(&section.key_of("fields"), "{}", None);
        return (Some(Vec::new()), Vec::new());
    };
    let Some(table) = Section::of(checker, &entry, Some(FIELD_HINT.to_owned())) else {
        return (None, Vec::new());
    };
    let mut names = Vec::new();
    let mut fields = Vec::new();
    let path = |checker: &mut Checker<'_>, text: &Text| namespaces.path(checker, text);
    let within = Within { path: &path, lists: &[], in_list: false };
    for entry in table.entries() {
        names.push(entry.name.clone());
        fields.push(section_field::read(checker, &entry, &within));
    }
    (fields.into_iter().collect(), names)
}
