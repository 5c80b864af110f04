//! An event's element alone: cut out of its document.
//!
//! In:        the document and where the element is     Out: further [`Changes`]
//! Fails:     what only the document type gives (noted while the document was read), edits outside the element, the element itself removed
//! Not here:  what is in scope around it (found while the document was read)

use super::SpliceError;
use super::changes::Changes;
use crate::model::ElementSpan;
use crate::xml::chars::is_space;
use crate::xml::document;
use crate::xml::found::wide;
use crate::xml::tag::{self, Attribute, slice};
use std::ops::Range;

const OUTSIDE: SpliceError = SpliceError::Mismatch { detail: "the element is not of this document" };

/// Takes away everything around the element but the XML declaration, and declares what was declared around it.
pub(super) fn cut_out(
    document: &[u8],
    element: &ElementSpan,
    changes: &mut Changes,
) -> Result<(), SpliceError> {
    let alone = |detail: &str| Err(SpliceError::Alone { detail: detail.to_owned() });
    if element.depends {
        return alone("the document type gives it an entity or an attribute by default");
    }
    let opened = document::open(document, usize::MAX).map_err(|_| OUTSIDE)?;
    let text = opened.text().text;
    let span = wide(element.start)..wide(element.end);
    let source = text.get(span.clone()).filter(|source| source.starts_with('<')).ok_or(OUTSIDE)?;
    if changes.removes(&span) {
        return alone("it is removed itself");
    }
    if changes.writes_outside(&span) {
        return alone("an edit's place is outside it");
    }
    let prolog = prolog_end(text);
    changes.remove(prolog..span.start);
    changes.remove(span.end..text.len());
    let ends = |b: u8| is_space(b) || matches!(b, b'/' | b'>');
    let name = source.bytes().position(ends).ok_or(OUTSIDE)?;
    changes.declare(span.start.saturating_add(name), &element.declare)
}

/// The prefixes that a start tag declares itself; the empty one is the default namespace.
pub(in crate::xml) fn declared_in_tag(text: &str, start: usize, inner_start: usize) -> Vec<&str> {
    let mut attributes: Vec<Attribute> = Vec::new();
    let inside = slice(text, &(start..inner_start));
    let inside = inside.trim_end_matches('>').len();
    let inside = start.saturating_add(1)..start.saturating_add(inside);
    if tag::read(text, inside, &mut attributes).is_err() {
        return Vec::new();
    }
    let declared = |attribute: &Attribute| match slice(text, &attribute.name.prefix) {
        "xmlns" => Some(attribute.name.local.clone()),
        "" if slice(text, &attribute.name.local) == "xmlns" => Some(0..0),
        _ => None,
    };
    attributes.iter().filter_map(declared).map(|prefix: Range<usize>| slice(text, &prefix)).collect()
}

/// Behind the XML declaration and the white space that follows it; without one, the start.
fn prolog_end(text: &str) -> usize {
    let is_declaration = text.starts_with("<?xml") && text.as_bytes().get(5).is_some_and(|b| is_space(*b));
    let end = if is_declaration { text.find("?>").map(|at| at.saturating_add(2)) } else { None };
    let Some(end) = end else { return 0 };
    let blanks = slice(text, &(end..text.len())).bytes().take_while(|b| is_space(*b)).count();
    end.saturating_add(blanks)
}
