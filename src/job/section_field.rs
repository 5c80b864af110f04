//! One field of an event or of a list's row: where its text stands, its type, its rules.
//!
//! In:        the field's table, and how a path of it is resolved
//! Out:       a [`Field`] whose type and rules go together, defaults and enumerations read
//! Fails:     as all of the check: each mistake with its place, and `None`
//! Not here:  which fields there are (`section_event`), paths (`namespaces`)

mod rules;

use super::checker::{Checker, Text, quote};
use super::names::identifier_problem;
use super::section::{Entry, Section, shown_key};
use super::suggest::did_you_mean;
use super::types::{self, Written};
use super::{End, Field, FieldSource, FieldType, Path};
use toml::de::DeValue;

/// Where a field stands.
pub(super) struct Within<'a> {
    /// Makes a path of its text, as it is meant there; records what is wrong with it.
    pub(super) path: &'a dyn Fn(&mut Checker<'_>, &Text) -> Option<Path>,
    /// The event's lists, in their order: what `list` may name.
    pub(super) lists: &'a [String],
    /// In a list's row rather than in the event: `path` alone gives it.
    pub(super) in_list: bool,
}

/// What a field that is no table is told.
pub(super) const FIELD_HINT: &str = "write NAME = { path = \"...\", type = \"text\" }";

/// Where the text comes from: the keys, of which a field has one.
const SOURCES: [&str; 4] = ["path", "header", "record_key", "list"];

/// Reads one field; `None`: what is wrong is recorded.
pub(super) fn read(checker: &mut Checker<'_>, entry: &Entry<'_>, within: &Within<'_>) -> Option<Field> {
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
    let source = source(checker, &mut section, within);
    let written = field_type(checker, &mut section);
    let fits = match (&source, &written) {
        (Some(source), Some(written)) => source_fits(checker, &mut section, source, &written.of_type),
        _ => false,
    };
    let context = rules::Context {
        source: source.as_ref(),
        of_type: written.as_ref().map(|written| &written.of_type),
        chars_max: written.as_ref().and_then(|written| written.chars_max),
    };
    let ruled = rules::read(checker, &mut section, &context);
    section.finish(checker);
    let (of_type, rules) = ruled?;
    (name_problem.is_none() && fits).then_some(Field {
        name: entry.name.clone(),
        source: source?,
        of_type,
        rules,
    })
}

/// Exactly one of [`SOURCES`].
fn source(checker: &mut Checker<'_>, section: &mut Section<'_>, within: &Within<'_>) -> Option<FieldSource> {
    let given: Vec<Entry<'_>> = SOURCES.into_iter().filter_map(|name| section.get(name)).collect();
    let Some((entry, others)) = given.split_first() else {
        let hint = if within.in_list {
            "write where its text stands, from the row's element: path = \"s:qty\" or path = \"@id\""
        } else {
            "write where its text stands: path = \"s:total\" or path = \"@id\"; or header = \"...\", record_key = true, list = \"...\""
        };
        checker.error(section.at, &section.key_of("path"), "is missing", Some(hint.to_owned()));
        return None;
    };
    for other in others {
        let message = format!("a field has one source, and this one has `{}` already", entry.name);
        checker.error(other.key_at, &other.key, message, Some(format!("keep one of {}", SOURCES.join(", "))));
    }
    if within.in_list && entry.name != "path" {
        let message = format!("a row has no `{}`: its fields are read from its element", entry.name);
        checker.error(entry.key_at, &entry.key, message, Some("make it a field of the event".to_owned()));
        return None;
    }
    let source = match entry.name.as_str() {
        "path" => {
            let text = checker.text(entry)?;
            checker.given_text(&text, format!("{:?}", text.value));
            (within.path)(checker, &text).map(FieldSource::Path)
        }
        "header" => header(checker, entry),
        "record_key" => record_key(checker, entry),
        _ => list(checker, entry, within.lists),
    };
    source.filter(|_| others.is_empty())
}

fn header(checker: &mut Checker<'_>, entry: &Entry<'_>) -> Option<FieldSource> {
    let text = checker.text(entry)?;
    if text.value.is_empty() {
        checker.error_of(&text, "must be the name of a Kafka header, got \"\"", None);
        return None;
    }
    checker.given_text(&text, format!("{:?}", text.value));
    Some(FieldSource::Header(text.value))
}

fn record_key(checker: &mut Checker<'_>, entry: &Entry<'_>) -> Option<FieldSource> {
    if !checker.boolean(entry)? {
        let hint = Some("leave it out, and write path = \"...\"".to_owned());
        checker.error(entry.at(), &entry.key, "must be true, got false", hint);
        return None;
    }
    checker.given(&entry.key, entry.at(), "true");
    Some(FieldSource::RecordKey)
}

fn list(checker: &mut Checker<'_>, entry: &Entry<'_>, lists: &[String]) -> Option<FieldSource> {
    let text = checker.text(entry)?;
    let Some(index) = lists.iter().position(|list| *list == text.value) else {
        let near = did_you_mean(&text.value, lists.iter().map(String::as_str));
        let hint = near.or_else(|| match lists {
            [] => Some("the job has no lists: declare it in [event.lists.NAME]".to_owned()),
            lists => Some(format!("lists of this job: {}", lists.join(", "))),
        });
        checker.error_of(&text, format!("there is no list {}", text.quoted()), hint);
        return None;
    };
    checker.given_text(&text, format!("{:?}", text.value));
    Some(FieldSource::List(index))
}

fn field_type(checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<Written> {
    let entry = section.required(checker, "type", "write how its text is read: type = \"text\"")?;
    let text = checker.text(&entry)?;
    match types::parse(&text.value, &text.quoted()) {
        Ok(written) => {
            checker.given_text(&text, format!("{:?}", text.value));
            Some(written)
        }
        Err((message, hint)) => {
            checker.error_of(&text, message, hint);
            None
        }
    }
}

/// Whether the source can give such a type.
fn source_fits(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    source: &FieldSource,
    of_type: &FieldType,
) -> bool {
    let at_element = |path: &Path| path.branches.iter().all(|branch| branch.end == End::Element);
    let counts = |path: &Path| path.branches.iter().any(|branch| matches!(branch.end, End::Count(_)));
    let whole = matches!(of_type, FieldType::Int64 | FieldType::UInt64);
    let problem = match (source, of_type) {
        (FieldSource::List(_), FieldType::Json) => None,
        (FieldSource::List(_), _) => Some(("a list is an array", "write type = \"json\"")),
        (FieldSource::RecordKey | FieldSource::Header(_), FieldType::Json | FieldType::Xml) => {
            Some(("a Kafka key or header has one text", "write type = \"text\""))
        }
        (FieldSource::Path(path), FieldType::Xml) if !at_element(path) => {
            Some(("only an element has markup", "end the path at an element, or write type = \"text\""))
        }
        (FieldSource::Path(path), _) if counts(path) && !whole => {
            Some(("a count is a whole number", "write type = \"int64\""))
        }
        _ => None,
    };
    let Some((message, hint)) = problem else { return true };
    let at = section.get("type").map_or(section.at, |entry| entry.at());
    checker.error(at, &section.key_of("type"), message, Some(hint.to_owned()));
    false
}
