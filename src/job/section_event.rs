//! `[event]`: how a document becomes an event.

use super::checker::{Checker, Text, quote};
use super::choices::either;
use super::names::identifier_problem;
use super::namespaces::{Namespaces, Root};
use super::section::{Entry, Given, Section, shown_key};
use super::types;
use super::{
    Doctype, EventSpec, Field, FieldRules, FieldSource, FieldType, KeyPart, NoMatch, Path, PathStep,
    TombstoneRule,
};
use toml::de::DeValue;

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
    for entry in table.entries() {
        names.push(entry.name.clone());
        fields.push(field(checker, &entry, namespaces));
    }
    (fields.into_iter().collect(), names)
}

const FIELD_HINT: &str = "write NAME = { path = \"...\", type = \"text\" }";

fn field(checker: &mut Checker<'_>, entry: &Entry<'_>, namespaces: &Namespaces) -> Option<Field> {
    let name_problem = identifier_problem(&entry.name);
    if let Some(problem) = &name_problem {
        let hint = Some("statements refer to it as `:name`".to_owned());
        checker.error(entry.key_at, &entry.key, format!("{problem}, got {}", quote(&entry.name)), hint);
    }
    let hint = match entry.value.get_ref() {
        DeValue::String(path) => {
            format!("write {} = {{ path = {}, type = \"text\" }}", shown_key(&entry.name), quote(path))
        }
        _ => FIELD_HINT.to_owned(),
    };
    let mut section = Section::of(checker, entry, Some(hint))?;
    let path = section
        .required(checker, "path", "write where its text stands: path = \"s:total\" or path = \"@id\"")
        .and_then(|entry| checker.text(&entry))
        .and_then(|text| {
            checker.given_text(&text, format!("{:?}", text.value));
            namespaces.path(checker, &text)
        });
    let of_type = field_type(checker, &mut section);
    let zone = zone(checker, &mut section, of_type.as_ref());
    let optional = match section.get("optional") {
        Some(entry) => {
            let optional = checker.boolean(&entry);
            checker.given(&entry.key, entry.at(), optional.unwrap_or(false).to_string());
            optional
        }
        None => {
            checker.default(&section.key_of("optional"), "false", None);
            Some(false)
        }
    };
    section.not_built(checker, "default", "write optional = true, and COALESCE(:name, ...) in the statement");
    section.not_built(checker, "format", "dates and timestamps are ISO 8601; read others as text");
    section.finish(checker);
    let of_type = match (of_type?, zone?) {
        (FieldType::Timestamp { .. }, zone) => FieldType::Timestamp { zone },
        (other, _) => other,
    };
    name_problem.is_none().then_some(Field {
        name: entry.name.clone(),
        source: FieldSource::Path(path?),
        of_type,
        rules: if optional? { FieldRules::optional() } else { FieldRules::required() },
    })
}

fn field_type(checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<FieldType> {
    let entry = section.required(checker, "type", "write how its text is read: type = \"text\"")?;
    let text = checker.text(&entry)?;
    match types::parse(&text.value, &text.quoted()) {
        Ok(of_type) => {
            checker.given_text(&text, format!("{:?}", text.value));
            Some(of_type)
        }
        Err((message, hint)) => {
            checker.error_of(&text, message, hint);
            None
        }
    }
}

/// The zone of a timestamp; `None`: the error is recorded. `of_type` is `None` where the type is wrong.
fn zone(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    of_type: Option<&FieldType>,
) -> Option<Option<String>> {
    let text = match section.text(checker, "zone") {
        Given::No => {
            if let Some(FieldType::Timestamp { .. }) = of_type {
                let note = Some("a value without a zone stays a clock reading");
                checker.default(&section.key_of("zone"), "none", note);
            }
            return Some(None);
        }
        Given::Wrong => return None,
        Given::Right(text) => text,
    };
    if of_type.is_some_and(|t| !matches!(t, FieldType::Timestamp { .. })) {
        checker.error_of(
            &text,
            "only a timestamp has a zone",
            Some("leave it out, or write type = \"timestamp\"".to_owned()),
        );
        return None;
    }
    let zones = jiff::tz::TimeZoneDatabase::bundled();
    if zones.get(&text.value).is_err() {
        let names: Vec<String> = zones.available().map(|name| name.to_string()).collect();
        let hint = super::suggest::did_you_mean(&text.value, names.iter().map(String::as_str))
            .unwrap_or_else(|| "such as \"Europe/Zurich\" or \"UTC\"".to_owned());
        let message = format!("must be the IANA name of a time zone, got {}", text.quoted());
        checker.error_of(&text, message, Some(hint));
        return None;
    }
    checker.given_text(&text, format!("{:?}", text.value));
    Some(Some(text.value))
}
