//! One table of the job file, read key by key; what nobody asks for is an unknown key.
//!
//! In:        a TOML table, or none where the file leaves the section out
//! Out:       its entries; at the end an error for each key that was not asked for, with "did you mean"
//! Order:     free-form tables (fields, namespaces, client options) come in the order of the file
//! Not here:  no key's meaning

use super::checker::{Checker, Text, quote};
use super::suggest::did_you_mean;
use std::ops::RangeInclusive;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key and its value.
pub(super) struct Entry<'t> {
    /// The last part of the key.
    pub(super) name: String,
    /// The full key, such as `event.fields.total`.
    pub(super) key: String,
    /// Offset of the key in the file.
    pub(super) key_at: usize,
    /// The value.
    pub(super) value: &'t Spanned<DeValue<'t>>,
}

impl Entry<'_> {
    /// Offset of the value in the file.
    pub(super) fn at(&self) -> usize {
        // A table's own span is its header's or the whole file's: its key is the better place.
        if self.value.get_ref().is_table() { self.key_at } else { self.value.span().start }
    }
}

/// A table that is being read.
pub(super) struct Section<'t> {
    /// The full key; empty: the file itself.
    pub(super) key: String,
    /// Offset of its name in the file; 0 where it is left out.
    pub(super) at: usize,
    table: Option<&'t DeTable<'t>>,
    asked: Vec<&'static str>,
}

impl<'t> Section<'t> {
    /// The file itself.
    pub(super) fn root(table: &'t DeTable<'t>) -> Section<'t> {
        Section { key: String::new(), at: 0, table: Some(table), asked: Vec::new() }
    }

    /// A section that the file leaves out, so that its defaults take the same way.
    fn absent(key: String) -> Section<'t> {
        Section { key, at: 0, table: None, asked: Vec::new() }
    }

    /// An entry as a section. A value that is no table is an error, and read as an empty section.
    pub(super) fn of(
        checker: &mut Checker<'_>,
        entry: &Entry<'t>,
        hint: Option<String>,
    ) -> Option<Section<'t>> {
        let DeValue::Table(table) = entry.value.get_ref() else {
            checker.wrong_kind(entry, "a table", hint);
            return None;
        };
        Some(Section { key: entry.key.clone(), at: entry.key_at, table: Some(table), asked: Vec::new() })
    }

    /// Whether the file has the key; not asking for it.
    pub(super) fn has(&self, name: &str) -> bool {
        self.table.is_some_and(|table| table.contains_key(name))
    }

    /// One of its tables, if it is one; not asking for it.
    pub(super) fn inside(&self, name: &str) -> Option<Section<'t>> {
        let (key, value) = self.table?.get_key_value(name)?;
        let table = value.get_ref().as_table()?;
        Some(Section { key: self.key_of(name), at: key.span().start, table: Some(table), asked: Vec::new() })
    }

    /// The full key of one of its keys.
    pub(super) fn key_of(&self, name: &str) -> String {
        if self.key.is_empty() { name.to_owned() } else { format!("{}.{name}", self.key) }
    }

    /// The entry of a key that this version knows.
    pub(super) fn get(&mut self, name: &'static str) -> Option<Entry<'t>> {
        if !self.asked.contains(&name) {
            self.asked.push(name);
        }
        let (key, value) = self.table?.get_key_value(name)?;
        Some(Entry { name: name.to_owned(), key: self.key_of(name), key_at: key.span().start, value })
    }

    /// The entry of a key that must be there.
    pub(super) fn required(
        &mut self,
        checker: &mut Checker<'_>,
        name: &'static str,
        hint: &str,
    ) -> Option<Entry<'t>> {
        let entry = self.get(name);
        if entry.is_none() {
            checker.error(self.at, &self.key_of(name), "is missing", Some(hint.to_owned()));
        }
        entry
    }

    /// A sub-section; where the file leaves it out, an empty one.
    pub(super) fn section(&mut self, checker: &mut Checker<'_>, name: &'static str) -> Option<Section<'t>> {
        match self.get(name) {
            Some(entry) => Section::of(checker, &entry, None),
            None => Some(Section::absent(self.key_of(name))),
        }
    }

    /// A number with a default.
    pub(super) fn integer_or(
        &mut self,
        checker: &mut Checker<'_>,
        name: &'static str,
        range: &RangeInclusive<u64>,
        default: u64,
    ) -> Option<u64> {
        match self.get(name) {
            Some(entry) => {
                let value = checker.integer(&entry, range)?;
                checker.given(&entry.key, entry.at(), value.to_string());
                Some(value)
            }
            None => {
                checker.default(&self.key_of(name), default.to_string(), None);
                Some(default)
            }
        }
    }

    /// A text, if it is there.
    pub(super) fn text(&mut self, checker: &mut Checker<'_>, name: &'static str) -> Given<Text> {
        match self.get(name) {
            Some(entry) => checker.text(&entry).map_or(Given::Wrong, Given::Right),
            None => Given::No,
        }
    }

    /// Refuses a key of the contract whose work this version does not do.
    pub(super) fn not_built(&mut self, checker: &mut Checker<'_>, name: &'static str, instead: &str) {
        if let Some(entry) = self.get(name) {
            checker.error(
                entry.key_at,
                &entry.key,
                "not built yet in this version",
                Some(instead.to_owned()),
            );
        }
    }

    /// All entries of a free-form table, in the order of the file.
    pub(super) fn entries(&self) -> Vec<Entry<'t>> {
        let mut entries: Vec<Entry<'t>> = self
            .table
            .into_iter()
            .flat_map(|t| t.iter())
            .map(|(name, value)| Entry {
                name: name.get_ref().to_string(),
                key: self.key_of(&shown_key(name.get_ref())),
                key_at: name.span().start,
                value,
            })
            .collect();
        entries.sort_by_key(|entry| entry.key_at);
        entries
    }

    /// An error for each key that nobody asked for.
    pub(super) fn finish(self, checker: &mut Checker<'_>) {
        for entry in self.entries() {
            if self.asked.iter().any(|asked| *asked == entry.name) {
                continue;
            }
            let hint = did_you_mean(&entry.name, self.asked.iter().copied())
                .or_else(|| Some(format!("known here: {}", self.asked.join(", "))));
            checker.error(entry.key_at, &entry.key, "unknown key", hint);
        }
    }
}

/// A value that may be left out: the three cases that a check tells apart.
#[derive(Default)]
pub(super) enum Given<T> {
    /// Left out.
    #[default]
    No,
    /// There, and its mistake is recorded.
    Wrong,
    /// There and right.
    Right(T),
}

/// A key as TOML writes it.
pub(super) fn shown_key(name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.is_empty() && name.chars().all(bare) { name.to_owned() } else { quote(name) }
}
