//! `[event]`: how a document becomes an event.

use super::checker::{Checker, Text};
use super::choices::{choice_or, either, words_of};
use super::namespaces::{Each, Namespaces};
use super::references::{Names, meta};
use super::section::{Given, Section};
use super::section_lists;
use super::{Doctype, EventSpec, KeyPart, Meta, NoMatch, TombstoneRule};

const NO_MATCHES: [(&str, NoMatch); 2] = [("unreadable", NoMatch::Unreadable), ("discard", NoMatch::Discard)];
const DOCTYPES: [(&str, Doctype); 2] = [("read", Doctype::Read), ("refuse", Doctype::Refuse)];
const TOMBSTONES: [(&str, TombstoneRule); 3] = [
    ("unreadable", TombstoneRule::Unreadable),
    ("discard", TombstoneRule::Discard),
    ("event", TombstoneRule::Event),
];

/// What `[event]` says, and what other sections need even where it is wrong.
pub(super) struct Event {
    pub(super) spec: Option<EventSpec>,
    pub(super) namespaces: Namespaces,
    /// Of all fields and lists, those with mistakes included, so that they cause no further errors.
    pub(super) names: Names,
}

pub(super) fn read(checker: &mut Checker<'_>, root: &mut Section<'_>) -> Event {
    let Some(mut section) = root.section(checker, "event") else {
        return Event { spec: None, namespaces: Namespaces::default(), names: Names::default() };
    };
    let format = format(checker, &mut section);
    let mut namespaces = Namespaces::read(checker, &mut section);
    each(checker, &mut section, &mut namespaces);
    let no_match = choice_or(checker, &mut section, "no_match", &NO_MATCHES);
    let key = key(checker, &mut section, &namespaces);
    let doctype = choice_or(checker, &mut section, "doctype", &DOCTYPES);
    let tombstone = choice_or(checker, &mut section, "tombstone", &TOMBSTONES);
    let list_names = section_lists::names(&section);
    let (fields, field_names) = section_lists::fields(checker, &mut section, &namespaces, &list_names, false);
    let (lists, list_names) = section_lists::read(checker, &mut section, &namespaces, &field_names);
    section.finish(checker);
    let each = match &namespaces.each {
        Each::Root => Some(Vec::new()),
        Each::Steps(steps) => Some(steps.clone()),
        Each::Wrong => None,
    };
    let names = Names {
        fields: field_names,
        lists: list_names,
        steps: Vec::new(),
        tombstones: tombstone.map(|rule| rule == TombstoneRule::Event),
    };
    let spec = format.and_then(|()| {
        Some(EventSpec {
            each: each?,
            no_match: no_match?,
            key: key?,
            fields: fields?,
            lists: lists?,
            doctype: doctype?,
            tombstone: tombstone?,
        })
    });
    Event { spec, namespaces, names }
}

fn format(checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<()> {
    match section.text(checker, "format") {
        Given::Wrong => None,
        Given::No => {
            section.left_out(checker, "format", None);
            Some(())
        }
        Given::Right(text) if text.value == "xml" => {
            checker.given_text(&text, "\"xml\"");
            Some(())
        }
        Given::Right(text) => {
            let message = format!("must be {}, got {}", either(words_of(section, "format")), text.quoted());
            checker.error_of(&text, message, Some("documents are XML".to_owned()));
            None
        }
    }
}

fn each(checker: &mut Checker<'_>, section: &mut Section<'_>, namespaces: &mut Namespaces) {
    namespaces.each = match section.text(checker, "each") {
        Given::Wrong => Each::Wrong,
        Given::No => {
            section.left_out(checker, "each", Some("whatever its name is"));
            Each::Root
        }
        Given::Right(text) => {
            namespaces.each_by_variable = text.has_variables();
            match namespaces.read_each(checker, &text) {
                Some(steps) => {
                    checker.given_text(&text, format!("{:?}", text.value));
                    Each::Steps(steps)
                }
                None => Each::Wrong,
            }
        }
    };
}

fn key(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    namespaces: &Namespaces,
) -> Option<Vec<KeyPart>> {
    let Some(entry) = section.get("key") else {
        section.left_out(checker, "key", None);
        return Some(Vec::new());
    };
    let hint = Some("write key = [\"@id\"]; leave it out for the Kafka record key".to_owned());
    let entries = checker.list(&entry, "a list of paths", hint.clone())?;
    if entries.is_empty() {
        checker.error(entry.at(), &entry.key, "must have at least one path, got none", hint);
        return None;
    }
    let texts: Vec<Option<Text>> = entries.iter().map(|entry| checker.text(entry)).collect();
    let parts: Vec<Option<KeyPart>> =
        texts.iter().map(|text| text.as_ref().and_then(|text| key_part(checker, text, namespaces))).collect();
    let texts: Vec<Text> = texts.into_iter().flatten().collect();
    let parts: Vec<KeyPart> = parts.into_iter().collect::<Option<_>>()?;
    let shown: Vec<&str> = texts.iter().map(|text| text.value.as_str()).collect();
    checker.given_texts(&entry.key, entry.at(), &texts, format!("{shown:?}"));
    for (index, part) in parts.iter().enumerate() {
        let earlier = parts.iter().take(index).any(|earlier| is_same(earlier, part));
        if let Some(text) = texts.get(index).filter(|_| earlier) {
            checker.error_of(
                text,
                format!("{} is there twice", text.quoted()),
                Some("name each part once".to_owned()),
            );
        }
    }
    Some(parts)
}

/// A path, or `":_key"`, or `":_header.NAME"`.
fn key_part(checker: &mut Checker<'_>, text: &Text, namespaces: &Namespaces) -> Option<KeyPart> {
    let Some(name) = text.value.strip_prefix(':') else {
        let path = namespaces.path(checker, text)?;
        return Some(KeyPart::Path(path));
    };
    match meta(name) {
        Ok(Meta::Key) => Some(KeyPart::RecordKey),
        Ok(Meta::Header(header)) => Some(KeyPart::Header(header)),
        Ok(_) | Err(_) => {
            let message = format!("must be a path, \":_key\" or \":_header.NAME\", got {}", text.quoted());
            checker.error_of(text, message, Some("the key is made before any field is read".to_owned()));
            None
        }
    }
}

fn is_same(one: &KeyPart, other: &KeyPart) -> bool {
    match (one, other) {
        (KeyPart::Path(one), KeyPart::Path(other)) => one.branches == other.branches,
        (one, other) => one == other,
    }
}
