//! What is wrong with a document, and where: kept as a byte offset, told as line and column.
//!
//! In:        an offset into the document's text     Out: a [`Reason`]
//! Fails:     never
//! Not here:  a word of the document itself: a fault names rules and places, never text or values

use crate::model::{Reason, ReasonCode};
use std::borrow::Cow;

/// One thing that is wrong, at one place.
#[derive(Debug)]
pub(super) struct Fault {
    code: ReasonCode,
    detail: Cow<'static, str>,
    /// Bytes from the start of the text; a byte-order mark does not count.
    at: usize,
}

impl Fault {
    pub(super) fn new(code: ReasonCode, at: usize, detail: impl Into<Cow<'static, str>>) -> Fault {
        Fault { code, detail: detail.into(), at }
    }

    pub(super) fn not_well_formed(at: usize, detail: impl Into<Cow<'static, str>>) -> Fault {
        Fault::new(ReasonCode::NotWellFormed, at, detail)
    }

    /// The same fault, told of another place: that of a reference, where it is in what the reference stands for.
    pub(super) fn moved_to(self, at: usize) -> Fault {
        Fault { at, ..self }
    }

    /// The same fault in a text that has so many bytes more in front.
    pub(super) fn moved_by(self, bytes: usize) -> Fault {
        Fault { at: self.at.saturating_add(bytes), ..self }
    }

    /// The reason for people and headers; `text` is what the offset counts in.
    pub(super) fn into_reason(self, text: &str) -> Reason {
        let place = Place::of(text, self.at);
        Reason { code: self.code, detail: format!("{place}: {}", self.detail) }
    }
}

/// Line and column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    line: usize,
    column: usize,
}

impl Place {
    /// The place of a byte offset. A line ends with LF, CR or CR LF.
    pub(super) fn of(text: &str, at: usize) -> Place {
        let mut counter = Counter::default();
        text.char_indices().take_while(|(offset, _)| *offset < at).for_each(|(_, c)| counter.pass(c));
        counter.place
    }
}

/// Goes through a text and knows the place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    pub(super) place: Place,
    after_cr: bool,
}

impl Default for Counter {
    fn default() -> Counter {
        Counter { place: Place { line: 1, column: 1 }, after_cr: false }
    }
}

impl Counter {
    /// Goes behind one character.
    pub(super) fn pass(&mut self, c: char) {
        match c {
            '\n' if self.after_cr => {}
            '\n' | '\r' => self.place = Place { line: self.place.line.saturating_add(1), column: 1 },
            _ => self.place.column = self.place.column.saturating_add(1),
        }
        self.after_cr = c == '\r';
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_lf_cr_or_both_and_columns_count_characters() {
        let text = "a\nb\r\nc\räx";
        let at = |offset| Place::of(text, offset).to_string();
        assert_eq!(at(0), "line 1, column 1");
        assert_eq!(at(2), "line 2, column 1");
        assert_eq!(at(5), "line 3, column 1");
        assert_eq!(at(7), "line 4, column 1");
        assert_eq!(at(9), "line 4, column 2");
        assert_eq!(at(999), "line 4, column 3");
    }
}
