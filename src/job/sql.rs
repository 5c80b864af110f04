//! One SQL statement: its named parameters, its verb, and whether it is one statement only.
//!
//! In:        the text of a lookup or a store, and the engine's dialect
//! Out:       the text for the server with one `?` per parameter, and the parameters' names
//! Fails:     `?` or `@` parameters, a second statement, comments that servers execute, what is left open
//! Not here:  no grammar of SQL: the server judges the statement. What stands in strings, quoted names and comments is
//!            never a parameter

use super::names::{is_identifier_char, is_identifier_start};

/// Which engine's rules for strings and comments hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// MariaDB and MySQL.
    MySql,
    /// SQLite.
    Sqlite,
}

/// A statement.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Scanned {
    /// With `?` in place of the parameters, without the semicolon at the end.
    pub(super) sql: String,
    /// In order, with repetitions.
    pub(super) parameters: Vec<Parameter>,
    /// Words outside of brackets, in capitals: enough to tell what kind of statement it is.
    pub(super) words: Vec<String>,
}

/// A named parameter.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Parameter {
    /// Without the colon.
    pub(super) name: String,
    /// Byte offset of the colon in the text.
    pub(super) offset: usize,
}

/// What is wrong with a statement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SqlProblem {
    /// Byte offset in the text.
    pub(super) offset: usize,
    /// What was found.
    pub(super) message: &'static str,
    /// What to do.
    pub(super) hint: &'static str,
}

/// Reads one statement.
pub(super) fn scan(text: &str, dialect: Dialect) -> Result<Scanned, Vec<SqlProblem>> {
    let mut scanner = Scanner {
        text,
        at: 0,
        dialect,
        depth: 0,
        out: Scanned::default(),
        problems: Vec::new(),
        ended: None,
    };
    while scanner.step() {}
    if scanner.problems.is_empty() && scanner.out.words.is_empty() {
        scanner.problem(0, "is not a statement", "write one SQL statement");
    }
    if !scanner.problems.is_empty() {
        return Err(scanner.problems);
    }
    let mut out = scanner.out;
    out.sql = out.sql.trim().to_owned();
    Ok(out)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    dialect: Dialect,
    /// Open brackets.
    depth: usize,
    out: Scanned,
    problems: Vec<SqlProblem>,
    /// Offset of the semicolon, once there was one.
    ended: Option<usize>,
}

impl<'a> Scanner<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    fn problem(&mut self, offset: usize, message: &'static str, hint: &'static str) {
        self.problems.push(SqlProblem { offset, message, hint });
    }

    /// Moves over the next `bytes` bytes; they go to the statement unless it has ended.
    fn take(&mut self, bytes: usize) {
        let taken = self.rest().get(..bytes).unwrap_or(self.rest());
        if self.ended.is_none() {
            self.out.sql.push_str(taken);
        }
        self.at += taken.len();
    }

    /// Takes one token; `false` at the end.
    fn step(&mut self) -> bool {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return false };
        if first.is_whitespace() {
            self.take(first.len_utf8());
        } else if let Some(bytes) = self.comment() {
            self.take(bytes);
        } else if self.ended.is_some() {
            self.problem(
                self.at,
                "more than one statement",
                "each statement is a step of its own in [[database.steps]]; all steps are one transaction",
            );
            return false;
        } else {
            self.token(first);
        }
        true
    }

    /// Takes what is neither blank nor comment.
    fn token(&mut self, first: char) {
        match first {
            '\'' | '"' | '`' => self.quoted(first, first),
            '[' if self.dialect == Dialect::Sqlite => self.quoted('[', ']'),
            ';' => {
                self.ended = Some(self.at);
                self.at += 1;
            }
            '(' => {
                self.depth += 1;
                self.take(1);
            }
            ')' => {
                self.depth = self.depth.saturating_sub(1);
                self.take(1);
            }
            '?' => self.refused("`?` stands in the text"),
            '@' | '$' if self.dialect == Dialect::Sqlite => self.refused("a parameter that is not `:name`"),
            ':' => self.colon(),
            c if is_word_start(c) => self.word(),
            // A number: what goes on behind its digits is no word.
            c if c.is_ascii_digit() => self.take(word_bytes(self.rest())),
            c => self.take(c.len_utf8()),
        }
    }

    fn refused(&mut self, message: &'static str) {
        self.problem(
            self.at,
            message,
            "write parameters as `:name`: Tidegate binds them in the order of the text",
        );
        self.take(1);
    }

    /// The bytes of a comment, where one begins here.
    fn comment(&mut self) -> Option<usize> {
        let rest = self.rest();
        let line = rest.find('\n').map_or(rest.len(), |end| end + 1);
        if rest.starts_with('#') && self.dialect == Dialect::MySql {
            return Some(line);
        }
        if let Some(behind) = rest.strip_prefix("--") {
            // In MySQL `1--1` is two: a comment needs a blank behind the dashes.
            let blank = behind.chars().next().is_none_or(|c| c.is_whitespace() || c.is_control());
            return (self.dialect == Dialect::Sqlite || blank).then_some(line);
        }
        let inside = rest.strip_prefix("/*")?;
        if self.dialect == Dialect::MySql && (inside.starts_with('!') || inside.starts_with("M!")) {
            self.problem(
                self.at,
                "a comment that the server executes",
                "write it without `/*! */`, or leave it out",
            );
        }
        match inside.find("*/") {
            Some(end) => Some(end + 4),
            None => {
                self.problem(self.at, "a comment is left open", "close it with `*/`");
                Some(rest.len())
            }
        }
    }

    /// Takes a string or a quoted name. A doubled quotation mark needs no care: it reads as two strings side by side.
    fn quoted(&mut self, open: char, close: char) {
        let start = self.at;
        let escapes = self.dialect == Dialect::MySql && open != '`';
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            if c == '\\' && escapes {
                chars.next();
            } else if c == close {
                self.take(at + close.len_utf8());
                return;
            }
        }
        self.problem(start, "a string or a quoted name is left open", "close it");
        self.take(self.rest().len());
    }

    /// Takes `:name`, or a colon that is none (`:=`, `::`).
    fn colon(&mut self) {
        let rest = self.rest();
        let behind = rest.get(1..).unwrap_or("");
        if behind.starts_with(':') || behind.starts_with('=') {
            self.take(2);
            return;
        }
        let name = parameter_name(behind);
        if name.is_empty() {
            self.problem(
                self.at,
                "a `:` without a name behind it",
                "a parameter is `:field` or `:step.column`",
            );
            self.take(1);
            return;
        }
        self.out.parameters.push(Parameter { name: name.to_owned(), offset: self.at });
        self.out.sql.push('?');
        self.at += 1 + name.len();
    }

    fn word(&mut self) {
        let bytes = word_bytes(self.rest());
        let word = self.rest().get(..bytes).unwrap_or("");
        if self.depth == 0 {
            self.out.words.push(word.to_ascii_uppercase());
        }
        self.take(bytes);
    }
}

fn is_word_start(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn word_bytes(text: &str) -> usize {
    text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(text.len())
}

/// The name at the start of a text: `field`, `step.column`, `_topic`, `_header.some-name`; empty where there is none.
pub(super) fn parameter_name(text: &str) -> &str {
    if let Some(header) = text.strip_prefix("_header.") {
        // Names of headers may have dashes and dots, but a parameter does not end with one.
        let legal = |c: char| is_identifier_char(c) || c == '-' || c == '.';
        let bytes = header.find(|c| !legal(c)).unwrap_or(header.len());
        let name = header.get(..bytes).unwrap_or("").trim_end_matches(['-', '.']);
        return text.get(.."_header.".len() + name.len()).unwrap_or("");
    }
    let word = identifier(text);
    let Some(column) = text.strip_prefix(word).and_then(|behind| behind.strip_prefix('.')).map(identifier)
    else {
        return word;
    };
    if word.is_empty() || column.is_empty() {
        return word;
    }
    text.get(..word.len() + 1 + column.len()).unwrap_or("")
}

fn identifier(text: &str) -> &str {
    if !text.starts_with(is_identifier_start) {
        return "";
    }
    let bytes = text.find(|c| !is_identifier_char(c)).unwrap_or(text.len());
    text.get(..bytes).unwrap_or("")
}

#[cfg(test)]
mod tests;
