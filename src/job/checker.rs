//! What every part of the check shares: the text, the environment, the errors and the settings found so far.
//!
//! In:        values of the TOML tree, with their places
//! Out:       typed values; each call that gives `None` has recorded why
//! Not here:  no key's meaning: that is in the file of its section

use super::errors::{JobError, JobErrors};
use super::lines::Lines;
use super::section::Entry;
use super::settings::{Origin, Setting, VariableUse};
use super::variables::expand;
use std::ops::{Range, RangeInclusive};
use toml::de::DeValue;

/// The state of one check.
pub(super) struct Checker<'a> {
    label: &'a str,
    lines: Lines<'a>,
    environment: &'a dyn Fn(&str) -> Option<String>,
    /// In the order in which they were met.
    pub(super) errors: Vec<JobError>,
    /// In the order in which the keys were read.
    pub(super) settings: Vec<Setting>,
}

/// A string value, its variables filled in, that remembers how it was written. Not `Debug`: it may hold a secret.
pub(super) struct Text {
    /// Full key.
    pub(super) key: String,
    /// The effective text.
    pub(super) value: String,
    /// Byte ranges of `value` that variables gave.
    pub(super) from_variables: Vec<Range<usize>>,
    /// The variables.
    uses: Vec<VariableUse>,
    /// As written, variables unfilled.
    raw: String,
    /// Offset of the value in the file.
    pub(super) at: usize,
    /// Offset of the text's first byte in the file, where the text stands there byte for byte.
    inner_at: Option<usize>,
}

impl Text {
    /// The text for an error message: never what a variable gave.
    pub(super) fn quoted(&self) -> String {
        self.quoted_part(&self.value)
    }

    /// A part of the text for an error message. A text with variables is shown as it was written, since the part may be
    /// a variable's value, and that a secret.
    pub(super) fn quoted_part(&self, part: &str) -> String {
        if self.uses.is_empty() {
            quote(part)
        } else {
            format!("{} with its variables filled in", quote(&self.raw))
        }
    }

    /// Whether variables gave a part of it.
    pub(super) fn has_variables(&self) -> bool {
        !self.uses.is_empty()
    }
}

/// In quotation marks, on one line, cut where it is long.
pub(super) fn quote(text: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 60;
    let mut shown: String = text.chars().take(SHOWN_CHARS_MAX).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    format!("{shown:?}")
}

impl<'a> Checker<'a> {
    pub(super) fn new(
        label: &'a str,
        text: &'a str,
        environment: &'a dyn Fn(&str) -> Option<String>,
    ) -> Checker<'a> {
        Checker { label, lines: Lines::new(text), environment, errors: Vec::new(), settings: Vec::new() }
    }

    /// The errors, in the order of the file. Never empty, whatever the check has missed to say.
    pub(super) fn into_errors(mut self) -> JobErrors {
        if self.errors.is_empty() {
            self.error(0, "", "the job cannot be built from this file", None);
        }
        JobErrors::sorted(self.errors)
    }

    /// Records a mistake at a byte of the file.
    pub(super) fn error(&mut self, at: usize, key: &str, message: impl Into<String>, hint: Option<String>) {
        let (line, column) = self.lines.position(at);
        self.errors.push(JobError {
            label: self.label.to_owned(),
            line,
            column,
            key: key.to_owned(),
            message: message.into(),
            hint,
        });
    }

    /// Records a mistake at a byte of a text, as exactly as the place is known.
    pub(super) fn error_in(
        &mut self,
        text: &Text,
        offset: usize,
        message: impl Into<String>,
        hint: Option<String>,
    ) {
        let at = text.inner_at.map_or(text.at, |inner| inner + offset);
        self.error(at, &text.key, message, hint);
    }

    /// Records a mistake about a text as a whole.
    pub(super) fn error_of(&mut self, text: &Text, message: impl Into<String>, hint: Option<String>) {
        self.error(text.at, &text.key, message, hint);
    }

    /// Records that a key holds this value because the file says so.
    pub(super) fn given(&mut self, key: &str, at: usize, value: impl Into<String>) {
        let (line, column) = self.lines.position(at);
        self.setting(key, value.into(), Origin::File { line, column }, None);
    }

    /// Records the value of a text's key, as it is to be shown.
    pub(super) fn given_text(&mut self, text: &Text, shown: impl Into<String>) {
        let origin = self.origin(&[text], text.at);
        self.setting(&text.key, shown.into(), origin, None);
    }

    /// Records the value of a list's or table's key whose texts are these.
    pub(super) fn given_texts(&mut self, key: &str, at: usize, texts: &[Text], shown: impl Into<String>) {
        let texts: Vec<&Text> = texts.iter().collect();
        let origin = self.origin(&texts, at);
        self.setting(key, shown.into(), origin, None);
    }

    /// Records that a key is not given and holds this value.
    pub(super) fn default(&mut self, key: &str, value: impl Into<String>, note: Option<&str>) {
        self.setting(key, value.into(), Origin::Default, note.map(str::to_owned));
    }

    fn setting(&mut self, key: &str, value: String, origin: Origin, note: Option<String>) {
        self.settings.push(Setting { key: key.to_owned(), value, origin, note });
    }

    fn origin(&self, texts: &[&Text], at: usize) -> Origin {
        let (line, column) = self.lines.position(at);
        let uses: Vec<VariableUse> = texts.iter().flat_map(|t| t.uses.iter().cloned()).collect();
        if uses.is_empty() { Origin::File { line, column } } else { Origin::Variable { uses, line, column } }
    }

    /// The value as a text, its variables filled in.
    pub(super) fn text(&mut self, entry: &Entry<'_>) -> Option<Text> {
        let DeValue::String(raw) = entry.value.get_ref() else {
            self.wrong_kind(entry, "a string", None);
            return None;
        };
        let span = entry.value.span();
        // An escape makes the text differ from what stands in the file: then only the value's own place is known.
        let inner_at = self.lines.slice(span.clone()).find(raw.as_ref()).map(|inner| span.start + inner);
        match expand(raw, self.environment) {
            Ok(expanded) => Some(Text {
                key: entry.key.clone(),
                value: expanded.value,
                from_variables: expanded.from_variables,
                inner_at: inner_at.filter(|_| expanded.uses.is_empty()),
                uses: expanded.uses,
                raw: raw.to_string(),
                at: span.start,
            }),
            Err(problems) => {
                for problem in problems {
                    let at = inner_at.map_or(span.start, |inner| inner + problem.offset);
                    self.error(at, &entry.key, problem.message, Some(problem.hint));
                }
                None
            }
        }
    }

    /// The value as a number in a range, or 0 where that is allowed, too.
    pub(super) fn integer(
        &mut self,
        entry: &Entry<'_>,
        range: &RangeInclusive<u64>,
        or_zero: bool,
    ) -> Option<u64> {
        let DeValue::Integer(integer) = entry.value.get_ref() else {
            self.wrong_kind(entry, "an integer", None);
            return None;
        };
        let value = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
        let in_range = value.filter(|value| range.contains(value) || (or_zero && *value == 0));
        if in_range.is_none() {
            let zero = if or_zero { "0 or " } else { "" };
            let message = format!("must be {zero}{}, got {integer}", range_words(range));
            self.error(entry.at(), &entry.key, message, None);
        }
        in_range
    }

    /// The value as a truth value.
    pub(super) fn boolean(&mut self, entry: &Entry<'_>) -> Option<bool> {
        let boolean = entry.value.get_ref().as_bool();
        if boolean.is_none() {
            self.wrong_kind(entry, "true or false", None);
        }
        boolean
    }

    /// The elements of a list, keys counted from 1.
    pub(super) fn list<'t>(
        &mut self,
        entry: &Entry<'t>,
        what: &str,
        hint: Option<String>,
    ) -> Option<Vec<Entry<'t>>> {
        let DeValue::Array(array) = entry.value.get_ref() else {
            self.wrong_kind(entry, what, hint);
            return None;
        };
        let entries = array.iter().enumerate().map(|(index, value)| {
            let key = format!("{}[{}]", entry.key, index + 1);
            Entry { name: entry.name.clone(), key_at: value.span().start, key, value, inside: entry.inside }
        });
        Some(entries.collect())
    }

    /// Records that a value is of another kind. Its text is not shown: it may be a secret in a wrong place.
    pub(super) fn wrong_kind(&mut self, entry: &Entry<'_>, wanted: &str, hint: Option<String>) {
        let message = format!("must be {wanted}, found {}", kind(entry.value.get_ref()));
        self.error(entry.at(), &entry.key, message, hint);
    }
}

/// A range as a person reads it.
fn range_words(range: &RangeInclusive<u64>) -> String {
    if *range.end() == u64::MAX {
        format!("{} or more", range.start())
    } else {
        format!("{}..={}", range.start(), range.end())
    }
}

/// What a value is, with its article.
fn kind(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
