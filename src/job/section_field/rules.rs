//! What a field's table says beside source and type: zone, format, rounding, and what stands for what is missing.
//!
//! In:        the field's table, its source and type as far as they are right
//! Out:       the type with its zone, and [`FieldRules`] that go with it
//! Order:     a key that means nothing for the type is told first; then defaults and enumerations are read by the type
//! Fails:     `None`: what is wrong is recorded
//!
//! The sentence of each key is its documentation in docs/job-file.md.

use super::super::checker::{Checker, Text};
use super::super::choices::choice;
use super::super::lexical::TypeReader;
use super::super::lexical::format::{Format, HINT, Says};
use super::super::section::{Given, Section, shown_key};
use super::super::suggest::did_you_mean;
use super::super::{DurationUnit, FieldRules, FieldSource, FieldType, Gap, Round, WhiteSpace};
use std::collections::BTreeMap;

/// What is known of the field already; `None`: it is wrong, and said to be.
pub(super) struct Context<'a> {
    pub(super) source: Option<&'a FieldSource>,
    pub(super) of_type: Option<&'a FieldType>,
    pub(super) chars_max: Option<usize>,
}

const GAPS: [(&str, Gap); 3] = [("reject", Gap::Reject), ("null", Gap::Null), ("default", Gap::Default)];
const EMPTIES: [(&str, Gap); 4] =
    [("value", Gap::Value), ("reject", Gap::Reject), ("null", Gap::Null), ("default", Gap::Default)];
const SPACES: [(&str, WhiteSpace); 4] = [
    ("preserve", WhiteSpace::Preserve),
    ("replace", WhiteSpace::Replace),
    ("collapse", WhiteSpace::Collapse),
    ("trim", WhiteSpace::Trim),
];
const ROUNDS: [(&str, Round); 3] =
    [("half_even", Round::HalfEven), ("half_up", Round::HalfUp), ("down", Round::Down)];

/// Reads the rules.
pub(super) fn read(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    context: &Context<'_>,
) -> Option<(FieldType, FieldRules)> {
    let zone = zone(checker, section, context.of_type);
    let optional = optional(checker, section);
    let sensible = refuse_what_means_nothing(checker, section, context);
    let white_space = choice(checker, section, "white_space", &SPACES);
    let round = choice(checker, section, "round", &ROUNDS);
    let format = format(checker, section, context.of_type);
    let absent = choice(checker, section, "absent", &GAPS);
    let nil = choice(checker, section, "nil", &GAPS);
    let empty = choice(checker, section, "empty", &EMPTIES);
    let default = section.text(checker, "default");
    let values = values(checker, section);

    let of_type = match context.of_type?.clone() {
        FieldType::Timestamp { .. } => FieldType::Timestamp { zone: zone? },
        other => other,
    };
    let plain = if optional? { FieldRules::optional() } else { FieldRules::required() };
    let has_default = matches!(default, Given::Right(_) | Given::Wrong);
    let unless_said = if has_default { Gap::Default } else { plain.absent };
    let spaces =
        if values.as_ref().is_some_and(Vec::is_empty) { plain.white_space } else { WhiteSpace::Collapse };
    let rules = FieldRules {
        absent: or(absent, unless_said)?,
        nil: or(nil, plain.nil)?,
        empty: or(empty, plain.empty)?,
        default: None,
        values: BTreeMap::new(),
        white_space: or(white_space, spaces)?,
        round: or(round, plain.round)?,
        format: format?,
        chars_max: context.chars_max,
    };
    let default = match default {
        Given::Wrong => return None,
        Given::No => None,
        Given::Right(text) => Some(text),
    };
    let values = values?;
    let used = default_is_used(checker, section, &rules, default.as_ref());
    if !sensible || !used {
        return None;
    }
    let default = match default {
        Some(text) => Some(checked_default(checker, text, &of_type, &rules)?),
        None => None,
    };
    let values = checked_values(checker, values, &of_type, &rules)?;
    Some((of_type, FieldRules { default, values, ..rules }))
}

/// What the key says; `None`: it is wrong.
fn or<T>(given: Given<T>, default: T) -> Option<T> {
    match given {
        Given::No => Some(default),
        Given::Wrong => None,
        Given::Right(value) => Some(value),
    }
}

/// `optional`: absent and nil are NULL.
fn optional(checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<bool> {
    let Some(entry) = section.get("optional") else {
        section.left_out(checker, "optional", None);
        return Some(false);
    };
    let optional = checker.boolean(&entry);
    checker.given(&entry.key, entry.at(), optional.unwrap_or(false).to_string());
    optional
}

/// A key, whether it means something for this field, and what is said where it does not.
fn refuse_what_means_nothing(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    context: &Context<'_>,
) -> bool {
    use FieldType as T;
    let of_list = matches!(context.source, Some(FieldSource::List(_)));
    let of_kafka = matches!(context.source, Some(FieldSource::Header(_) | FieldSource::RecordKey));
    let type_is = |fits: &dyn Fn(&T) -> bool| context.of_type.is_none_or(fits);
    let made = type_is(&|t| !matches!(t, T::Json | T::Xml));
    let rounds = type_is(&|t| match t {
        T::Decimal { .. } | T::Time | T::Timestamp { .. } => true,
        T::Duration(unit) => matches!(unit, DurationUnit::Seconds | DurationUnit::Milliseconds),
        _ => false,
    });
    let there = "a list's array is always there: without rows it is []";
    let leave = "leave it out";
    let rules: [(&'static str, bool, &str, &str); 11] = [
        ("optional", !of_list, there, leave),
        ("absent", !of_list, there, leave),
        ("nil", !of_list, there, leave),
        ("default", !of_list, there, leave),
        ("nil", !of_kafka, "a Kafka key or header is never nil", "write absent = \"null\""),
        ("empty", made, "an array or an element is never empty text", leave),
        ("values", made, "only a text can be one of several", "leave it out, or write type = \"text\""),
        (
            "default",
            type_is(&|t| *t != T::Xml),
            "an element has no default",
            "write optional = true, and COALESCE(:name, ...) in the statement",
        ),
        (
            "white_space",
            type_is(&|t| *t == T::Text),
            "only text keeps white space",
            "leave it out: every other type cuts it at both ends",
        ),
        (
            "round",
            rounds,
            "only decimal, time, timestamp, duration(s) and duration(ms) are rounded",
            "leave it out",
        ),
        (
            "format",
            type_is(&|t| matches!(t, T::Date | T::Time | T::Timestamp { .. })),
            "only date, time and timestamp have a format",
            "leave it out, or write type = \"timestamp\"",
        ),
    ];
    let mut sensible = true;
    for (name, means_something, message, hint) in rules {
        if let Some(entry) = section.get(name).filter(|_| !means_something) {
            checker.error(entry.key_at, &entry.key, message, Some(hint.to_owned()));
            sensible = false;
        }
    }
    sensible
}

/// `zone`: the IANA name of the time zone of timestamps that carry none. `None`: the error is recorded.
fn zone(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    of_type: Option<&FieldType>,
) -> Option<Option<String>> {
    let text = match section.text(checker, "zone") {
        Given::No => {
            if let Some(FieldType::Timestamp { .. }) = of_type {
                let note = Some("a value without a zone stays a clock reading");
                section.left_out(checker, "zone", note);
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
        let hint = did_you_mean(&text.value, names.iter().map(String::as_str))
            .unwrap_or_else(|| "such as \"Europe/Zurich\" or \"UTC\"".to_owned());
        let message = format!("must be the IANA name of a time zone, got {}", text.quoted());
        checker.error_of(&text, message, Some(hint));
        return None;
    }
    checker.given_text(&text, format!("{:?}", text.value));
    Some(Some(text.value))
}

/// `format`: how a date, time or timestamp is written that is not ISO 8601, in strptime's letters.
fn format(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    of_type: Option<&FieldType>,
) -> Option<Option<String>> {
    let text = match section.text(checker, "format") {
        Given::No => return Some(None),
        Given::Wrong => return None,
        Given::Right(text) => text,
    };
    let says = match of_type {
        Some(FieldType::Date) => Says::Date,
        Some(FieldType::Time) => Says::Time,
        Some(FieldType::Timestamp { .. }) => Says::Timestamp,
        // Told already.
        _ => return None,
    };
    if let Err(problem) = Format::new(&text.value, says) {
        checker.error_of(&text, format!("{} {problem}", text.quoted()), Some(HINT.to_owned()));
        return None;
    }
    checker.given_text(&text, format!("{:?}", text.value));
    Some(Some(text.value))
}

/// `values`: enumerated texts and what each stands for, read by the type; another text is not of the type.
fn values(checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<Vec<(String, Text)>> {
    const HINT: &str = "write values = { \"01\" = \"open\", \"02\" = \"closed\" }";
    let Some(entry) = section.get("values") else { return Some(Vec::new()) };
    let table = Section::of(checker, &entry, Some(HINT.to_owned()))?;
    let entries = table.entries();
    if entries.is_empty() {
        checker.error(entry.at(), &entry.key, "must name at least one text, got none", Some(HINT.to_owned()));
        return None;
    }
    let read: Vec<_> = entries.iter().map(|one| Some((one.name.clone(), checker.text(one)?))).collect();
    let read: Vec<(String, Text)> = read.into_iter().collect::<Option<_>>()?;
    let shown: Vec<String> =
        read.iter().map(|(name, text)| format!("{} = {:?}", shown_key(name), text.value)).collect();
    let (names, texts): (Vec<String>, Vec<Text>) = read.into_iter().unzip();
    checker.given_texts(&entry.key, entry.at(), &texts, format!("{{ {} }}", shown.join(", ")));
    Some(names.into_iter().zip(texts).collect())
}

/// Whether there is a default just where a rule asks for one.
fn default_is_used(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    rules: &FieldRules,
    default: Option<&Text>,
) -> bool {
    let asks = [("absent", rules.absent), ("nil", rules.nil), ("empty", rules.empty)];
    let asking = asks.into_iter().find(|(_, gap)| *gap == Gap::Default).map(|(name, _)| name);
    match (default, asking) {
        (None, Some(name)) => {
            let entry = section.get(name);
            let at = entry.map_or(section.at, |entry| entry.at());
            let hint = Some("write default = \"...\", in the form that the type reads".to_owned());
            checker.error(at, &section.key_of(name), "needs a default", hint);
            false
        }
        (Some(text), None) => {
            let hint = "leave it out, or write absent, nil or empty = \"default\"".to_owned();
            checker.error_of(text, "nothing uses this default", Some(hint));
            false
        }
        _ => true,
    }
}

/// `default`: what stands for what is missing, in the form that the type reads.
fn checked_default(
    checker: &mut Checker<'_>,
    text: Text,
    of_type: &FieldType,
    rules: &FieldRules,
) -> Option<String> {
    let is_array = || serde_json::from_str::<Vec<serde_json::Value>>(&text.value).is_ok();
    if *of_type == FieldType::Json && !is_array() {
        let message = format!("must be a JSON array, got {}", text.quoted());
        checker.error_of(&text, message, Some("such as default = \"[]\"".to_owned()));
        return None;
    }
    if let Err(refusal) = TypeReader::new(of_type, rules).ok()?.read(&text.value) {
        checker.error_of(&text, format!("{} {refusal}", text.quoted()), None);
        return None;
    }
    checker.given_text(&text, format!("{:?}", text.value));
    Some(text.value)
}

fn checked_values(
    checker: &mut Checker<'_>,
    values: Vec<(String, Text)>,
    of_type: &FieldType,
    rules: &FieldRules,
) -> Option<BTreeMap<String, String>> {
    if values.is_empty() {
        return Some(BTreeMap::new());
    }
    let reader = TypeReader::new(of_type, rules).ok()?;
    let mut read = BTreeMap::new();
    let mut right = true;
    for (name, text) in values {
        if !reader.may_stand(&name, rules.white_space) {
            let hint = "write it as it is when its white space has been dealt with".to_owned();
            checker.error_of(&text, format!("no text is {name:?} behind `white_space`"), Some(hint));
            right = false;
        }
        if let Err(refusal) = reader.read(&text.value) {
            checker.error_of(&text, format!("{} {refusal}", text.quoted()), None);
            right = false;
        }
        read.insert(name, text.value);
    }
    right.then_some(read)
}
