//! One field: where its text stands, how it is read, and what else is done with it.

use super::checker::{Checker, Text, quote};
use super::names::identifier_problem;
use super::section::{Entry, Given, Section, shown_key};
use super::types;
use super::{Field, FieldRules, FieldSource, FieldType, Path};
use toml::de::DeValue;

pub(super) const FIELD_HINT: &str = "write NAME = { path = \"...\", type = \"text\" }";

/// Where a field stands.
pub(super) struct Within<'a> {
    /// Makes a path of its text, as it is meant there; records what is wrong with it.
    pub(super) path: &'a dyn Fn(&mut Checker<'_>, &Text) -> Option<Path>,
    /// The event's lists, in their order: what `list` may name.
    pub(super) lists: &'a [String],
    /// In a list's row rather than in the event: `path` alone gives it.
    pub(super) in_list: bool,
}

pub(super) fn read(checker: &mut Checker<'_>, entry: &Entry<'_>, within: &Within<'_>) -> Option<Field> {
    let _ = (within.lists, within.in_list);
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
            (within.path)(checker, &text)
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
