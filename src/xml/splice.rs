//! Events back to documents: the document as it came, byte for byte, with the additions put in at their marks.
//!
//! In:        the document, one mark and one [`Added`] per addition     Out: a new document
//! Order:     by place; additions at one place in the order of the job file
//! Fails:     text that XML cannot express; marks that are not of this document
//! Not here:  where additions go and how their names are written (found while the document was read: [`Mark`])

use super::chars::is_xml_char;
use super::document::is_declared_ascii;
use crate::model::{ElementSpan, Mark};
use std::fmt::Write;

/// What one addition says, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// The element's text; `None`: an empty tag.
    pub text: Option<String>,
    /// Name and value, in order; the names as the job file has them.
    pub attributes: Vec<(String, String)>,
}

/// Why a document could not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpliceError {
    /// XML has no way to write this character, not even as a reference.
    #[error(
        "the added element `{element}` would hold the character U+{code_point:04X}, which XML cannot express"
    )]
    Character {
        /// The added element, as it would be written.
        element: String,
        /// Unicode code point.
        code_point: u32,
    },
    /// The document declares US-ASCII, and names cannot be written as references.
    #[error("the name `{name}` is not ASCII, and the document declares US-ASCII")]
    Name {
        /// An element's or attribute's name.
        name: String,
    },
    /// Marks and additions are not of one job, or not of this document.
    #[error("the marks are not of this document and job: {detail}")]
    Mismatch {
        /// What does not fit.
        detail: &'static str,
    },
}

/// What one edit does, its values in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edited {
    /// `[[output.add]]`
    Add(Added),
    /// `[[output.set]]`; `None` empties an element and takes an attribute away.
    Set(Option<String>),
    /// `output.remove`
    Remove,
}

/// Writes one event's document: the whole one as it came, or `element` alone, with the edits that were found at `marks`.
///
/// # Errors
/// See [`SpliceError`].
pub fn write(
    document: &[u8],
    element: Option<&ElementSpan>,
    marks: &[Mark],
    edits: &[Edited],
) -> Result<Vec<u8>, SpliceError> {
    if element.is_some() {
        return Err(SpliceError::Mismatch { detail: "elements are not written yet" });
    }
    let added: Option<Vec<Added>> = edits
        .iter()
        .map(|edit| match edit {
            Edited::Add(added) => Some(added.clone()),
            Edited::Set(_) | Edited::Remove => None,
        })
        .collect();
    splice(document, marks, &added.ok_or(SpliceError::Mismatch { detail: "an edit is not written yet" })?)
}

/// Writes the document with its additions.
///
/// # Errors
/// See [`SpliceError`].
pub fn splice(document: &[u8], marks: &[Mark], additions: &[Added]) -> Result<Vec<u8>, SpliceError> {
    if marks.len() != additions.len() {
        return Err(SpliceError::Mismatch { detail: "another number of marks than of additions" });
    }
    let ascii_only = is_declared_ascii(document);
    let mut places: Vec<(&Mark, &Added)> = marks.iter().zip(additions).collect();
    // Stable: additions at one place keep their order.
    places.sort_by_key(|(mark, _)| mark.offset);

    let mut out = Vec::with_capacity(document.len().saturating_add(expected_bytes(&places)));
    let mut fragment = String::new();
    let mut copied = 0;
    for group in places.chunk_by(|(a, _), (b, _)| a.offset == b.offset) {
        let Some((first, _)) = group.first() else { continue };
        let offset = usize::try_from(first.offset).unwrap_or(usize::MAX);
        let outside = SpliceError::Mismatch { detail: "a mark lies outside the document" };
        let before = document.get(copied..offset).ok_or(outside)?;
        out.extend_from_slice(before);
        copied = offset;

        fragment.clear();
        for (mark, added) in group {
            push_element(&mut fragment, mark, added, ascii_only)?;
        }
        match &first.empty_tag {
            None => out.extend_from_slice(fragment.as_bytes()),
            // `<a/>` becomes `<a>...</a>`: its own `/` goes into the end tag, so that every byte keeps its place.
            Some(name) => {
                if document.get(offset) != Some(&b'/') {
                    return Err(SpliceError::Mismatch { detail: "a mark of an empty tag is not at its `/`" });
                }
                out.push(b'>');
                out.extend_from_slice(fragment.as_bytes());
                out.extend_from_slice(b"</");
                out.extend_from_slice(name.as_bytes());
                copied = offset.saturating_add(1);
            }
        }
    }
    out.extend_from_slice(document.get(copied..).unwrap_or_default());
    Ok(out)
}

fn expected_bytes(places: &[(&Mark, &Added)]) -> usize {
    const MARKUP_BYTES: usize = 16;
    let one = |(mark, added): &(&Mark, &Added)| {
        let attributes: usize =
            added.attributes.iter().map(|(name, value)| name.len() + value.len() + 4).sum();
        let declared = mark.declare.as_ref().map_or(0, |(prefix, uri)| prefix.len() + uri.len() + 10);
        2 * mark.name.len()
            + added.text.as_ref().map_or(0, String::len)
            + attributes
            + declared
            + MARKUP_BYTES
    };
    places.iter().map(one).sum()
}

/// Appends one added element.
fn push_element(out: &mut String, mark: &Mark, added: &Added, ascii_only: bool) -> Result<(), SpliceError> {
    let writer = Writer { element: &mark.name, ascii_only };
    out.push('<');
    writer.name(out, &mark.name)?;
    if let Some((prefix, uri)) = &mark.declare {
        out.push_str(if prefix.is_empty() { " xmlns" } else { " xmlns:" });
        writer.name(out, prefix)?;
        out.push_str("=\"");
        writer.characters(out, uri, Inside::Attribute)?;
        out.push('"');
    }
    for (name, value) in &added.attributes {
        out.push(' ');
        writer.name(out, name)?;
        out.push_str("=\"");
        writer.characters(out, value, Inside::Attribute)?;
        out.push('"');
    }
    let Some(text) = &added.text else {
        out.push_str("/>");
        return Ok(());
    };
    out.push('>');
    writer.characters(out, text, Inside::Text)?;
    out.push_str("</");
    out.push_str(&mark.name);
    out.push('>');
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Inside {
    Text,
    Attribute,
}

/// Escapes on behalf of one added element.
struct Writer<'a> {
    element: &'a str,
    ascii_only: bool,
}

impl Writer<'_> {
    fn name(&self, out: &mut String, name: &str) -> Result<(), SpliceError> {
        if self.ascii_only && !name.is_ascii() {
            return Err(SpliceError::Name { name: name.to_owned() });
        }
        out.push_str(name);
        Ok(())
    }

    /// Appends characters so that a parser reads the very same: `>` is escaped against `]]>`, CR against being read
    /// as LF, and in attributes tab and LF against being read as blanks.
    fn characters(&self, out: &mut String, text: &str, inside: Inside) -> Result<(), SpliceError> {
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
                    return Err(SpliceError::Character {
                        element: self.element.to_owned(),
                        code_point: u32::from(c),
                    });
                }
                c if self.ascii_only && !c.is_ascii() => push_reference(out, c),
                c => out.push(c),
            }
        }
        Ok(())
    }
}

fn push_reference(out: &mut String, c: char) {
    // Writing to a String cannot fail.
    _ = write!(out, "&#{};", u32::from(c));
}
