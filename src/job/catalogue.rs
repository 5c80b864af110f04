//! Every key of the job file: its kind, what is allowed, its default and its words.
//!
//! In:        nothing: this is the one table of definitions
//! Out:       what the check asks for, takes and refuses; the reference (docs/job-file.md) and the JSON Schema for editors
//! Order:     of the reference, which is the order in which the keys are read
//! Not here:  what several keys together must be: that is in the file of their section

mod database;
mod event;
mod field;
mod head;
mod output;
mod reference;
mod rejects;
mod schema;

pub use reference::reference;
pub use schema::json_schema;

/// One table of the job file.
pub(super) struct Table {
    /// Its keys' beginning, such as `event.lists.NAME`; empty: the file itself.
    pub(super) path: &'static str,
    /// In the order of the reference.
    pub(super) keys: &'static [Key],
    /// Keys of which a table has exactly one.
    pub(super) one_of: &'static [&'static str],
}

/// One key of a table.
pub(super) struct Key {
    /// Its last part.
    pub(super) name: &'static str,
    /// What may stand there.
    pub(super) kind: Kind,
    /// What holds where it is left out.
    pub(super) default: Default,
    /// What it means: Markdown, one line.
    pub(super) text: &'static str,
    /// A value, as it stands in a job file; empty: a section shows it.
    pub(super) example: &'static str,
}

/// What may stand behind a key.
pub(super) enum Kind {
    /// A string; with the name of what it says.
    Text(&'static str),
    /// A string of a form: the words to choose from, and a regular expression for what has numbers in it.
    Form { words: &'static [&'static str], pattern: &'static str },
    /// A string, one of these.
    Choice(&'static [Word]),
    /// A whole number in a range; with `or_zero`, 0 beside it.
    Integer { least: u64, most: u64, or_zero: bool },
    /// `true` or `false`
    Boolean,
    /// `true` alone
    True,
    /// Bytes: a number, or a text with a unit.
    Size { least: u64, most: u64 },
    /// A part of 1.
    Share,
    /// A list of strings; with the name of what each says.
    Texts { what: &'static str, most: usize },
    /// Free names, each with a string.
    Map(&'static str),
    /// Free names, each with a string, a whole number or a boolean.
    Options,
    /// A table.
    Table(&'static Table),
    /// A list of tables.
    Tables(&'static Table),
    /// A table, or a list of such tables.
    OneOrMore(&'static Table),
    /// Free names, each with such a table.
    Named(&'static Table),
    /// Reserved for later; with what to do instead.
    Reserved(&'static str),
}

/// One of the words of a choice.
pub(super) struct Word {
    pub(super) word: &'static str,
    /// What it means: Markdown, without a full stop.
    pub(super) means: &'static str,
}

/// What holds where a key is left out.
#[derive(Clone, Copy)]
pub(super) enum Default {
    /// It may not be left out.
    Required,
    /// Nothing.
    None,
    /// This value, as it would stand in the file.
    Is(&'static str),
    /// What these words say.
    Words(&'static str),
}

impl Default {
    /// As `explain` shows it.
    pub(super) fn shown(self) -> &'static str {
        match self {
            Default::Required => "required",
            Default::None => "none",
            Default::Is(value) => value,
            Default::Words(words) => words,
        }
    }
}

impl Table {
    /// One of its keys.
    pub(super) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

const fn word(word: &'static str, means: &'static str) -> Word {
    Word { word, means }
}

const fn key(
    name: &'static str,
    kind: Kind,
    default: Default,
    example: &'static str,
    text: &'static str,
) -> Key {
    Key { name, kind, default, text, example }
}

const fn table(path: &'static str, keys: &'static [Key]) -> Table {
    Table { path, keys, one_of: &[] }
}

/// The file itself.
pub(super) static ROOT: Table = table(
    "",
    &[
        key(
            "job",
            Kind::Table(&head::JOB),
            Default::Required,
            "",
            "The job's name, and what is fixed for its life.",
        ),
        key("source", Kind::Table(&head::SOURCE), Default::Required, "", "What is read."),
        key(
            "event",
            Kind::Table(&event::EVENT),
            Default::Words("the root element"),
            "",
            "How a record becomes events.",
        ),
        key(
            "database",
            Kind::Table(&database::DATABASE),
            Default::Required,
            "",
            "Where it is stored, and how.",
        ),
        key(
            "output",
            Kind::OneOrMore(&output::OUTPUT),
            Default::None,
            "",
            "What goes out of an event: `[output]`, or several `[[output]]`. Left out: the job only stores.",
        ),
        key(
            "rejects",
            Kind::Table(&rejects::REJECTS),
            Default::Words("see there"),
            "",
            "What becomes of what cannot be handled.",
        ),
        key(
            "outage",
            Kind::Table(&rejects::OUTAGE),
            Default::Words("see there"),
            "",
            "How long an outage may be.",
        ),
        key("limits", Kind::Table(&rejects::LIMITS), Default::Words("see there"), "", "How much is taken."),
        key(
            "status",
            Kind::Reserved("leave it out: this version reports on its terminal and in its log"),
            Default::None,
            "",
            "HTTP status and metrics: this version reports on its terminal and in its log.",
        ),
    ],
);

#[cfg(test)]
mod tests;
