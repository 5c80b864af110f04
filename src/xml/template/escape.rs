//! Text for wherever it may stand in a document: in an element or between quotes of either kind.
//!
//! In:        text     Out: text that every parser reads as the very same
//! Fails:     a character that XML has no way to write

use crate::xml::chars::first_illegal;
use minijinja::Output;
use std::fmt;

/// A text and its escaping.
pub(super) struct Escaped<'a>(pub(super) &'a str);

impl Escaped<'_> {
    /// Whether there is a character in it that XML cannot express.
    pub(super) fn is_illegal(&self) -> bool {
        first_illegal(self.0).is_some()
    }

    /// Writes it: CR, LF and tab as references, since a parser makes LF of the first, and blanks of all three in
    /// attributes.
    pub(super) fn write(&self, out: &mut Output<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'', '\r', '\n', '\t']) {
            let (plain, special) = rest.split_at_checked(at).unwrap_or((rest, ""));
            out.write_str(plain)?;
            let mut behind = special.chars();
            out.write_str(match behind.next() {
                Some('&') => "&amp;",
                Some('<') => "&lt;",
                Some('>') => "&gt;",
                Some('"') => "&quot;",
                Some('\'') => "&apos;",
                Some('\r') => "&#13;",
                Some('\n') => "&#10;",
                _ => "&#9;",
            })?;
            rest = behind.as_str();
        }
        out.write_str(rest)
    }
}
