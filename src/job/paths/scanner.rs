//! A path's text, taken piece by piece.
//!
//! Not here:  no rule of what may follow what

use super::{NAME_EACH, PathProblem, RawName, SUPPORTED, name_of, problem};

/// Where the reading stands.
pub(super) struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { text, at: 0 }
    }

    /// Byte offset of what comes next.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    fn take(&mut self, bytes: usize) -> &'a str {
        let taken = self.rest().get(..bytes).unwrap_or("");
        self.at += taken.len();
        taken
    }

    /// Takes these characters, if they come next.
    pub(super) fn eat(&mut self, what: &str) -> bool {
        let is_next = self.rest().starts_with(what);
        if is_next {
            self.at += what.len();
        }
        is_next
    }

    /// Takes a `.` that is not the first of `..`.
    pub(super) fn eat_dot(&mut self) -> bool {
        !self.rest().starts_with("..") && self.eat(".")
    }

    /// Takes `name(`, blanks before and behind the bracket included.
    pub(super) fn eat_call(&mut self, name: &str) -> bool {
        let behind = self.rest().strip_prefix(name).map(str::trim_start);
        let Some(inside) = behind.and_then(|behind| behind.strip_prefix('(')) else { return false };
        self.at = self.text.len() - inside.len();
        self.blanks();
        true
    }

    /// Takes white space.
    pub(super) fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Takes digits.
    pub(super) fn digits(&mut self) -> &'a str {
        let rest = self.rest();
        self.take(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()))
    }

    /// Takes the text before a quotation mark, and the mark; none: there is no such mark.
    pub(super) fn until(&mut self, quote: &str) -> Option<&'a str> {
        let end = self.rest().find(quote)?;
        let inside = self.take(end);
        self.at += quote.len();
        Some(inside)
    }

    /// What comes next up to something that no name has; nothing is taken.
    pub(super) fn word(&self) -> &'a str {
        let rest = self.rest();
        let ends = |c: char| c.is_whitespace() || "/[]|()='\"@!<>+*,$&{};".contains(c);
        rest.get(..rest.find(ends).unwrap_or(rest.len())).unwrap_or("")
    }

    /// Takes the name of an element or attribute.
    pub(super) fn name(&mut self) -> Result<RawName, PathProblem> {
        let offset = self.at;
        let word = self.word();
        if let Some(axis) = word.find("::") {
            return problem(offset + axis, "axes `::` are not known in paths", NAME_EACH);
        }
        if word.is_empty() {
            return match self.rest().chars().next() {
                None | Some('/' | '|' | ')' | '[' | ']') => {
                    problem(offset, "an empty step", "one `/` stands between two names, and none at the end")
                }
                Some('*') => problem(offset, "`*` is not known in paths", NAME_EACH),
                Some(_) => super::unexpected(self),
            };
        }
        if self.rest().get(word.len()..).is_some_and(|behind| behind.trim_start().starts_with('(')) {
            return problem(offset, format!("`{word}(...)` is not known here in paths"), SUPPORTED);
        }
        let name = name_of(word, offset)?;
        self.at += word.len();
        Ok(name)
    }

    /// What comes next, for a message.
    pub(super) fn shown_here(&self) -> String {
        let word = self.word();
        let shown = if word.is_empty() {
            self.rest().get(..self.rest().chars().next().map_or(0, char::len_utf8)).unwrap_or("")
        } else {
            word
        };
        format!("`{shown}`")
    }
}
