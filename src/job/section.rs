//! One table of the job file, read key by key; what the catalogue does not have is an unknown key.
//!
//! In:        a TOML table, or none where the file leaves the section out, and what the catalogue says of it
//! Out:       its entries; at the end an error for each key that is not known, with "did you mean"
//! Order:     free-form tables (fields, namespaces, client options) come in the order of the file
//! Holds:     which keys were asked for: whoever reads a table must ask for all of its keys and for no others
//! Not here:  no key's meaning

use super::catalogue::{self, Key, Kind, Table};
use super::checker::{Checker, Text, quote};
use super::suggest::did_you_mean;
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
    /// What the catalogue says of the value, if it is a table.
    pub(super) inside: Inside,
}

/// What a table's keys are.
#[derive(Clone, Copy)]
pub(super) enum Inside {
    /// Free names.
    Free,
    /// Those of the catalogue.
    Table(&'static Table),
    /// Free names, each of such a table.
    Named(&'static Table),
}

impl Inside {
    fn of(kind: &Kind) -> Inside {
        match kind {
            Kind::Table(table) | Kind::Tables(table) | Kind::OneOrMore(table) => Inside::Table(table),
            Kind::Named(table) => Inside::Named(table),
            _ => Inside::Free,
        }
    }
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
    inside: Inside,
    asked: Vec<&'static str>,
}

impl<'t> Section<'t> {
    /// The file itself.
    pub(super) fn root(table: &'t DeTable<'t>) -> Section<'t> {
        let inside = Inside::Table(&catalogue::ROOT);
        Section { key: String::new(), at: 0, table: Some(table), inside, asked: Vec::new() }
    }

    /// A section that the file leaves out, so that its defaults take the same way.
    fn absent(key: String, inside: Inside) -> Section<'t> {
        Section { key, at: 0, table: None, inside, asked: Vec::new() }
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
        let (key, inside) = (entry.key.clone(), entry.inside);
        Some(Section { key, at: entry.key_at, table: Some(table), inside, asked: Vec::new() })
    }

    /// Whether the file has the key; not asking for it.
    pub(super) fn has(&self, name: &str) -> bool {
        self.table.is_some_and(|table| table.contains_key(name))
    }

    /// One of its tables, if it is one; not asking for it.
    pub(super) fn inside(&self, name: &str) -> Option<Section<'t>> {
        let (key, value) = self.table?.get_key_value(name)?;
        let table = value.get_ref().as_table()?;
        let (at, inside) = (key.span().start, self.inside_of(name));
        Some(Section { key: self.key_of(name), at, table: Some(table), inside, asked: Vec::new() })
    }

    /// The full key of one of its keys.
    pub(super) fn key_of(&self, name: &str) -> String {
        if self.key.is_empty() { name.to_owned() } else { format!("{}.{name}", self.key) }
    }

    /// What the catalogue says of a key.
    pub(super) fn known(&self, name: &str) -> Option<&'static Key> {
        match self.inside {
            Inside::Table(table) => table.key(name),
            Inside::Free | Inside::Named(_) => None,
        }
    }

    fn inside_of(&self, name: &str) -> Inside {
        match self.inside {
            Inside::Table(table) => table.key(name).map_or(Inside::Free, |key| Inside::of(&key.kind)),
            Inside::Named(table) => Inside::Table(table),
            Inside::Free => Inside::Free,
        }
    }

    /// The entry of a key of the catalogue.
    pub(super) fn get(&mut self, name: &'static str) -> Option<Entry<'t>> {
        debug_assert!(self.known(name).is_some(), "the catalogue has no key {}", self.key_of(name));
        if !self.asked.contains(&name) {
            self.asked.push(name);
        }
        let (key, value) = self.table?.get_key_value(name)?;
        let inside = self.inside_of(name);
        Some(Entry { name: name.to_owned(), key: self.key_of(name), key_at: key.span().start, value, inside })
    }

    /// Records that a key is left out, with what the catalogue says that holds then.
    pub(super) fn left_out(&self, checker: &mut Checker<'_>, name: &str, note: Option<&str>) {
        let default = self.known(name).map_or("", |key| key.default.shown());
        checker.default(&self.key_of(name), default, note);
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
            None => Some(Section::absent(self.key_of(name), self.inside_of(name))),
        }
    }

    /// A number in the catalogue's range; left out, the catalogue's default.
    pub(super) fn integer(&mut self, checker: &mut Checker<'_>, name: &'static str) -> Option<u64> {
        let Some(Key { kind: Kind::Integer { least, most, or_zero }, default, .. }) = self.known(name) else {
            debug_assert!(false, "{} is no integer in the catalogue", self.key_of(name));
            return None;
        };
        match self.get(name) {
            Some(entry) => {
                let value = checker.integer(&entry, &(*least..=*most), *or_zero)?;
                checker.given(&entry.key, entry.at(), value.to_string());
                Some(value)
            }
            None => {
                self.left_out(checker, name, None);
                default.shown().parse().ok()
            }
        }
    }

    /// A truth value; left out, the catalogue's default.
    pub(super) fn boolean(&mut self, checker: &mut Checker<'_>, name: &'static str) -> Option<bool> {
        match self.get(name) {
            Some(entry) => {
                let value = checker.boolean(&entry);
                checker.given(&entry.key, entry.at(), value.unwrap_or_default().to_string());
                value
            }
            None => {
                self.left_out(checker, name, None);
                self.known(name).map(|key| key.default.shown() == "true")
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
                inside: self.inside_of(name.get_ref()),
            })
            .collect();
        entries.sort_by_key(|entry| entry.key_at);
        entries
    }

    /// An error for each key that the catalogue does not have, or only reserves.
    pub(super) fn finish(self, checker: &mut Checker<'_>) {
        let Inside::Table(table) = self.inside else { return };
        for entry in self.entries() {
            match table.key(&entry.name).map(|key| &key.kind) {
                Some(Kind::Reserved(instead)) => {
                    let message = "not built yet in this version";
                    checker.error(entry.key_at, &entry.key, message, Some((*instead).to_owned()));
                }
                Some(_) => {}
                None => {
                    let known: Vec<&str> = table.keys.iter().map(|key| key.name).collect();
                    let hint = did_you_mean(&entry.name, known.iter().copied())
                        .or_else(|| Some(format!("known here: {}", known.join(", "))));
                    checker.error(entry.key_at, &entry.key, "unknown key", hint);
                }
            }
        }
        let is_asked = |key: &&Key| matches!(key.kind, Kind::Reserved(_)) || self.asked.contains(&key.name);
        let forgotten = table.keys.iter().find(|key| !is_asked(key)).map(|key| key.name);
        debug_assert!(forgotten.is_none(), "nobody asks for {}.{forgotten:?}", table.path);
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
