//! The draft of a job: what is one event, its fields, its lists, its key.
//!
//! In:        the shape of all samples     Out: [`Draft`]: names and paths as the job file will have them
//! Order:     that of the documents
//! Fails:     never
//! Not here:  how it is written (`write`), tables (`tables`)
//!
//! Every attribute and every text of the samples is a field of the event, or of a row of the list that it is in. Beyond what a
//! table can have, the deepest are left out, and named in a comment.

mod batch;

use super::guess::{Guess, guess, is_currency};
use super::key::{self, Key};
use super::names::{Chain, snake, unique};
use super::prefixes::Prefixes;
use super::shape::{AttributeShape, Shape};
use super::told::told_apart;
use crate::job::Name;
use batch::batch;
use std::collections::HashSet;

/// Fields that one table gets.
const FIELDS_MAX: usize = 64;
/// Lists that a job gets.
const LISTS_MAX: usize = 24;
/// Lists inside of each other.
const NESTED_MAX: usize = 8;
/// The namespace of `xsi:nil`.
const XSI_URI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// A job file's content, not yet written.
#[derive(Debug)]
pub(super) struct Draft {
    /// `event.each`
    pub(super) each: String,
    /// Records in a document: `each` is below the root.
    pub(super) is_batch: bool,
    /// Names the table and the topics.
    pub(super) table: String,
    /// Of the event.
    pub(super) fields: Vec<FieldDraft>,
    /// What did not fit: paths.
    pub(super) left_out: Vec<String>,
    /// Each behind the one it is in.
    pub(super) lists: Vec<ListDraft>,
    /// Lists that did not fit: paths.
    pub(super) lists_left_out: Vec<String>,
    /// Secrets by their names, which no job stores by itself: paths.
    pub(super) secrets: Vec<String>,
    /// Indexes into `fields`.
    pub(super) key: Key,
}

/// A list of the draft.
#[derive(Debug)]
pub(super) struct ListDraft {
    pub(super) name: String,
    /// Index of the list it is in.
    pub(super) parent: Option<usize>,
    pub(super) each: String,
    /// Side by side at the most.
    pub(super) most: usize,
    pub(super) fields: Vec<FieldDraft>,
    pub(super) left_out: Vec<String>,
}

/// A field of the draft.
#[derive(Clone, Debug)]
pub(super) struct FieldDraft {
    pub(super) name: String,
    /// The local name that it ends at.
    pub(super) local: String,
    pub(super) path: String,
    pub(super) guess: Guess,
    /// As `type` has it: the guess, or what a column says.
    pub(super) type_text: String,
    pub(super) optional: bool,
    /// Somewhere it is empty, which only text can be.
    pub(super) empty: bool,
    /// Characters of its longest text.
    pub(super) longest_chars: usize,
    /// Texts, for what a column takes.
    pub(super) texts: Vec<String>,
    pub(super) note: Option<String>,
}

/// A field before it has its name.
#[derive(Debug)]
pub(super) struct Raw<'a> {
    pub(super) path: String,
    /// Local names from the table's element down.
    pub(super) chain: Vec<String>,
    /// Parts of the chain that its name has in any case.
    pub(super) least: usize,
    pub(super) guess: Guess,
    pub(super) optional: bool,
    pub(super) empty: bool,
    /// Of the document around the event.
    pub(super) outside: bool,
    /// Those that are not blank.
    pub(super) texts: Vec<&'a str>,
    pub(super) note: Option<String>,
}

#[cfg(test)]
impl Raw<'_> {
    /// A required text.
    pub(super) fn of_path(path: &str) -> Self {
        Raw {
            path: path.to_owned(),
            chain: Vec::new(),
            least: 1,
            guess: Guess::Text,
            optional: false,
            empty: false,
            outside: false,
            texts: Vec::new(),
            note: None,
        }
    }
}

/// The event's fields, or those of a list's rows.
#[derive(Default)]
struct Table<'a> {
    fields: Vec<Raw<'a>>,
    /// Of a list.
    list: Option<RawList>,
}

struct RawList {
    /// Index of the table it is in.
    within: usize,
    each: String,
    chain: Vec<String>,
    most: usize,
}

/// Where the survey stands.
#[derive(Clone)]
struct At {
    /// Index of the table.
    table: usize,
    /// From the table's element, empty: it is that element itself.
    path: String,
    chain: Vec<String>,
    /// It, or something on the way to it, is not always there.
    optional: bool,
    /// Of the document around the event.
    outside: bool,
    /// Lists that it is in.
    nested: usize,
    note: Option<String>,
}

impl At {
    fn join(&self, step: &str) -> String {
        if self.path.is_empty() { step.to_owned() } else { format!("{}/{step}", self.path) }
    }

    /// One element further down.
    fn below(&self, step: &str, local: &str, optional: bool) -> At {
        let chain = self.chain.iter().cloned().chain([local.to_owned()]).collect();
        At { path: self.join(step), chain, optional: self.optional || optional, note: None, ..self.clone() }
    }
}

struct Drafter<'p, 'a> {
    prefixes: &'p Prefixes,
    /// The first is the event's.
    tables: Vec<Table<'a>>,
    lists_left_out: Vec<String>,
    secrets: Vec<String>,
    /// Records that are events, and so no part of what is around them.
    records: Option<&'a Name>,
}

impl Draft {
    /// Drafts a job for documents of this shape.
    pub(super) fn of<'a>(root: &Shape<'a>, prefixes: &Prefixes) -> Draft {
        if let Some((way, event)) = batch(root) {
            let draft = Draft::at(root, &way, event, prefixes);
            // Without a key of their own they are rows of what they are in, and no events.
            if !draft.key.fields.is_empty() {
                return draft;
            }
        }
        Draft::at(root, &[root.name], root, prefixes)
    }

    /// With the elements at the end of this way as events.
    fn at<'a>(root: &Shape<'a>, way: &[&'a Name], event: &Shape<'a>, prefixes: &Prefixes) -> Draft {
        let is_batch = way.len() > 1;
        let mut drafter = Drafter {
            prefixes,
            tables: vec![Table::default()],
            lists_left_out: Vec::new(),
            secrets: Vec::new(),
            records: is_batch.then_some(event.name),
        };
        let local = |name: &Name| name.local.clone();
        let at = |path: &str, name: &Name, outside| At {
            table: 0,
            path: path.to_owned(),
            chain: vec![local(name)],
            optional: false,
            outside,
            nested: 0,
            note: None,
        };
        if is_batch {
            drafter.element(root, &at(&format!("/{}", prefixes.name(root.name)), root.name, true));
        }
        drafter.records = None;
        drafter.element(event, &at("", event.name, false));
        let each = way.iter().map(|name| format!("/{}", prefixes.name(name))).collect();
        drafter.finish(each, is_batch, event)
    }
}

impl<'a> Drafter<'_, 'a> {
    fn element(&mut self, shape: &Shape<'a>, at: &At) {
        if shape.mixed {
            return self.mixed(shape, at);
        }
        for attribute in &shape.attributes {
            self.attribute(attribute, shape, at);
        }
        let bare = shape.attributes.iter().all(|attribute| is_of_schema(attribute.name));
        if shape.children.is_empty() && (bare || !shape.texts.filled.is_empty()) {
            self.text(shape, at);
        }
        for child in &shape.children {
            self.child(child, at);
        }
    }

    fn field(&mut self, table: usize, field: Raw<'a>) {
        if field.chain.last().is_some_and(|local| is_secret(local)) {
            return self.secrets.push(field.path);
        }
        if let Some(table) = self.tables.get_mut(table) {
            table.fields.push(field);
        }
    }

    fn attribute(&mut self, attribute: &AttributeShape<'a>, shape: &Shape<'a>, at: &At) {
        if is_of_schema(attribute.name) {
            return;
        }
        let local = attribute.name.local.clone();
        let texts = attribute.texts.filled.clone();
        let is_inside = at.chain.len() > 1;
        self.field(
            at.table,
            Raw {
                path: at.join(&format!("@{}", self.prefixes.name(attribute.name))),
                chain: at.chain.iter().cloned().chain([local.clone()]).collect(),
                least: if is_inside { 2 } else { 1 },
                guess: guess(&texts, &local, false),
                optional: at.optional || attribute.texts.count() < shape.count() || attribute.texts.blank > 0,
                empty: attribute.texts.blank > 0,
                outside: at.outside,
                texts,
                note: at.note.clone(),
            },
        );
    }

    fn text(&mut self, shape: &Shape<'a>, at: &At) {
        let money = shape.attributes.iter().any(|attribute| is_currency(&attribute.name.local));
        let texts = shape.texts.filled.clone();
        self.field(
            at.table,
            Raw {
                path: if at.path.is_empty() { ".".to_owned() } else { at.path.clone() },
                chain: at.chain.clone(),
                least: 1,
                guess: guess(&texts, &shape.name.local, money),
                optional: at.optional || shape.nil > 0 || shape.texts.blank > 0,
                empty: shape.texts.blank > 0,
                outside: at.outside,
                texts,
                note: at.note.clone(),
            },
        );
    }

    /// Text and elements side by side: only the markup says what it means.
    fn mixed(&mut self, shape: &Shape<'a>, at: &At) {
        let texts = shape.texts.filled.clone();
        self.field(
            at.table,
            Raw {
                path: if at.path.is_empty() { ".".to_owned() } else { at.path.clone() },
                chain: at.chain.clone(),
                least: 1,
                guess: Guess::Xml,
                optional: at.optional || shape.nil > 0,
                empty: false,
                outside: at.outside,
                texts,
                note: None,
            },
        );
    }

    fn child(&mut self, child: &Shape<'a>, at: &At) {
        let step = self.prefixes.name(child.name);
        let local = &child.name.local;
        if child.most() <= 1 {
            if at.outside && self.records == Some(child.name) {
                return;
            }
            return self.element(child, &at.below(&step, local, child.is_missing_somewhere()));
        }
        if at.outside {
            if self.records != Some(child.name) {
                self.lists_left_out.push(at.join(&step));
            }
            return;
        }
        let Some(told) = told_apart(child, self.prefixes) else { return self.list(child, &step, at) };
        for (number, (value, kind)) in told.kinds.iter().enumerate() {
            let step = format!("{step}[{}='{value}']", told.by);
            let mut below =
                at.below(&step, &format!("{local}_{}", suffix(value, number)), kind.is_missing_somewhere());
            let several = child.most();
            below.note = (number == 0).then(|| {
                format!(
                    "<{local}> is there up to {several} times, told apart by {}: or make it a list",
                    told.by
                )
            });
            self.told(kind, &below, &told.by);
        }
    }

    /// What is in one kind of element, but the code itself. Its name is part of the names of all that is in it.
    fn told(&mut self, kind: &Shape<'a>, at: &At, by: &str) {
        let fields_of = |drafter: &Self| drafter.tables.get(at.table).map_or(0, |table| table.fields.len());
        let first = fields_of(self);
        self.element(kind, at);
        let Some(table) = self.tables.get_mut(at.table) else { return };
        let code = at.join(by);
        let added = table.fields.split_off(first).into_iter().filter(|field| field.path != code);
        // The code's own part of the chain and all behind it; the note is said once.
        let added = added.enumerate().map(|(index, field)| Raw {
            least: field.chain.len().saturating_sub(at.chain.len()).saturating_add(1),
            note: if index == 0 { at.note.clone() } else { None },
            ..field
        });
        let added: Vec<Raw<'a>> = added.collect();
        table.fields.extend(added);
    }

    fn list(&mut self, child: &Shape<'a>, step: &str, at: &At) {
        if self.tables.len() > LISTS_MAX || at.nested >= NESTED_MAX {
            return self.lists_left_out.push(at.join(step));
        }
        let chain: Vec<String> = at.chain.iter().cloned().chain([child.name.local.clone()]).collect();
        let table = self.tables.len();
        let list = RawList { within: at.table, each: at.join(step), chain, most: child.most() };
        self.tables.push(Table { fields: Vec::new(), list: Some(list) });
        let row = At {
            table,
            path: String::new(),
            chain: vec![child.name.local.clone()],
            optional: false,
            outside: false,
            nested: at.nested + 1,
            note: None,
        };
        self.element(child, &row);
    }

    fn finish(self, each: String, is_batch: bool, event: &Shape<'a>) -> Draft {
        let Drafter { tables, lists_left_out, secrets, .. } = self;
        let mut tables = tables.into_iter();
        let mut own = tables.next().unwrap_or_default();
        let key = key::choose(&own.fields, event.count());
        let left_out = cut(&mut own.fields, &key.fields);
        // Indexes of the key into what is left.
        let key = Key { fields: place_of(&key.fields, &left_out), ..key };
        let left_out = left_out.into_iter().map(|(_, path)| path).collect();
        // A column of the Kafka key, and fields of SQL's own making.
        let taken = HashSet::from(["record_key".to_owned()]);
        let fields = named(own.fields, &taken);
        let taken: HashSet<String> = fields.iter().map(|field| field.name.clone()).collect();
        let lists: Vec<(RawList, Vec<Raw<'a>>)> =
            tables.filter_map(|table| Some((table.list?, table.fields))).collect();
        let chains: Vec<Chain> =
            lists.iter().map(|(list, _)| Chain { parts: list.chain.clone(), least: 1 }).collect();
        let names = unique(&chains, &taken);
        let lists = lists.into_iter().zip(names).map(|((list, mut fields), name)| {
            let left_out = cut(&mut fields, &[]).into_iter().map(|(_, path)| path).collect();
            ListDraft {
                name,
                parent: list.within.checked_sub(1),
                each: list.each,
                most: list.most,
                fields: named(fields, &HashSet::new()),
                left_out,
            }
        });
        Draft {
            each,
            is_batch,
            table: snake(&event.name.local),
            fields,
            left_out,
            lists: lists.collect(),
            lists_left_out,
            secrets,
            key,
        }
    }
}

/// `CLBD` is part of a name; `2.16.840.1` is not: its number is.
fn suffix(value: &str, number: usize) -> String {
    const CHARS_MAX: usize = 16;
    let is_name = value.starts_with(|c: char| c.is_ascii_alphabetic()) && value.len() <= CHARS_MAX;
    if is_name { value.to_owned() } else { (number + 1).to_string() }
}

/// Whether a name says that nobody is to see what stands there.
fn is_secret(local: &str) -> bool {
    const WORDS: [&str; 8] =
        ["secret", "password", "passwd", "passphrase", "apikey", "accesskey", "accesstoken", "privatekey"];
    let plain: String =
        local.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    WORDS.iter().any(|word| plain.contains(word))
}

/// What XML Schema says to its own readers.
fn is_of_schema(name: &Name) -> bool {
    name.namespace.as_deref() == Some(XSI_URI) && name.local != "type"
}

/// Takes the deepest away until as many are left as a table can have: where they stood, and their paths.
fn cut(fields: &mut Vec<Raw<'_>>, kept: &[usize]) -> Vec<(usize, String)> {
    let mut order: Vec<usize> = (0..fields.len()).collect();
    let depth = |index: &usize| fields.get(*index).map_or(0, |field| field.path.matches('/').count());
    order.sort_by_key(|index| (!kept.contains(index), depth(index), *index));
    let mut gone: Vec<usize> = order.split_off(FIELDS_MAX.min(order.len()));
    gone.sort_unstable();
    let mut cut = Vec::new();
    let mut index = 0;
    fields.retain(|field| {
        let goes = gone.binary_search(&index).is_ok();
        if goes {
            cut.push((index, field.path.clone()));
        }
        index += 1;
        !goes
    });
    cut
}

/// Where these stand once others are gone.
fn place_of(indexes: &[usize], gone: &[(usize, String)]) -> Vec<usize> {
    indexes.iter().map(|index| index - gone.iter().filter(|(at, _)| at < index).count()).collect()
}

fn named(fields: Vec<Raw<'_>>, taken: &HashSet<String>) -> Vec<FieldDraft> {
    let chains: Vec<Chain> =
        fields.iter().map(|field| Chain { parts: field.chain.clone(), least: field.least }).collect();
    let names = unique(&chains, taken);
    let drafts = fields.into_iter().zip(names).map(|(field, name)| FieldDraft {
        name,
        local: field.chain.last().cloned().unwrap_or_default(),
        path: field.path,
        type_text: field.guess.as_type(),
        longest_chars: field.texts.iter().map(|text| text.chars().count()).max().unwrap_or(0),
        note: field.note.or_else(|| field.guess.note().map(str::to_owned)),
        guess: field.guess,
        optional: field.optional,
        empty: field.empty,
        texts: field.texts.iter().map(|text| (*text).to_owned()).collect(),
    });
    drafts.collect()
}
