//! Texts as XML writes them, so that a parser reads the very same.
//!
//! In:        characters     Out: escaped text or attribute values
//! Fails:     characters that XML cannot hold
//! Not here:  characters that the document's encoding cannot hold (see `document`)

use super::SpliceError;
use crate::xml::chars::is_xml_char;

/// Where the characters stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inside {
    Text,
    Attribute,
}

/// Appends characters: `>` is escaped against `]]>`, CR against being read as LF, and in attributes tab and LF against
/// being read as blanks. `at` names the place for an error.
pub(super) fn push(
    out: &mut String,
    text: &str,
    inside: Inside,
    at: impl Fn() -> String,
) -> Result<(), SpliceError> {
    let attribute = inside == Inside::Attribute;
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#13;"),
            '"' if attribute => out.push_str("&quot;"),
            '\'' if attribute => out.push_str("&apos;"),
            '\n' if attribute => out.push_str("&#10;"),
            '\t' if attribute => out.push_str("&#9;"),
            c if !is_xml_char(c) => {
                return Err(SpliceError::Character { at: at(), code_point: u32::from(c) });
            }
            c => out.push(c),
        }
    }
    Ok(())
}
