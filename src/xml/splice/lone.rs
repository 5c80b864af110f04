//! An event's element alone: cut out of its document.
//!
//! In:        the document and where the element is     Out: further [`Changes`]
//! Fails:     what only the document type gives (noted while the document was read), edits outside the element, the element itself removed
//! Not here:  what is in scope around it (found while the document was read)

use super::SpliceError;
use super::changes::Changes;
use crate::model::ElementSpan;
use crate::xml::chars::is_space;
use crate::xml::document::{self, TextEdit};
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
    let opened = document::open(document, usize::MAX).map_err(|_| OUTSIDE)?;
    let text = opened.text().text.as_bytes();
    let span = declare_around(text, element, changes)?;
    changes.remove(prolog_end(text)..span.start);
    changes.remove(span.end..text.len());
    Ok(())
}

/// The same where places in the text are places among the bytes: what stays of the document, and the edits of that. A document of
/// many events is not gone through for each of them.
pub(super) fn short(
    document: &[u8],
    mark_bytes: usize,
    element: &ElementSpan,
    mut changes: Changes,
) -> Result<(Vec<u8>, Vec<TextEdit>), SpliceError> {
    let body = document.get(mark_bytes..).ok_or(OUTSIDE)?;
    let span = declare_around(body, element, &mut changes)?;
    let prolog = prolog_end(body);
    let head = document.get(..mark_bytes.saturating_add(prolog)).ok_or(OUTSIDE)?;
    let source = body.get(span.clone()).ok_or(OUTSIDE)?;
    let mut edits = changes.into_edits()?;
    // Of what is outside only removals are left, and it goes anyway.
    edits.retain(|edit| span.start <= edit.range.start && edit.range.end <= span.end);
    let moved = |at: usize| at.saturating_sub(span.start).saturating_add(prolog);
    for edit in &mut edits {
        edit.range = moved(edit.range.start)..moved(edit.range.end);
    }
    Ok(([head, source].concat(), edits))
}

/// Declares what was declared around the element: where it stands, if it can stand alone.
fn declare_around(
    text: &[u8],
    element: &ElementSpan,
    changes: &mut Changes,
) -> Result<Range<usize>, SpliceError> {
    let alone = |detail: &str| Err(SpliceError::Alone { detail: detail.to_owned() });
    if element.depends {
        return alone("the document type gives it an entity or an attribute by default");
    }
    let span = wide(element.start)..wide(element.end);
    let source = text.get(span.clone()).filter(|source| source.starts_with(b"<")).ok_or(OUTSIDE)?;
    if changes.removes(&span) {
        return alone("it is removed itself");
    }
    if changes.writes_outside(&span) {
        return alone("an edit's place is outside it");
    }
    let ends = |b: &u8| is_space(*b) || matches!(b, b'/' | b'>');
    let name = source.iter().position(ends).ok_or(OUTSIDE)?;
    changes.declare(span.start.saturating_add(name), &element.declare)?;
    Ok(span)
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
fn prolog_end(text: &[u8]) -> usize {
    let is_declaration = text.starts_with(b"<?xml") && text.get(5).is_some_and(|b| is_space(*b));
    let found = if is_declaration { text.windows(2).position(|pair| pair == b"?>") } else { None };
    let Some(end) = found.map(|at| at.saturating_add(2)) else { return 0 };
    let rest = text.get(end..).unwrap_or_default();
    end.saturating_add(rest.iter().take_while(|b| is_space(**b)).count())
}
