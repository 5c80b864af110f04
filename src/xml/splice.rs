//! Events back to documents: the document as it came, byte for byte, with the edits at their marks.
//!
//! In:        the document, one mark and one [`Edited`] per edit     Out: a new document
//! Order:     by place; at one place the content that is set, then additions in the order of the job file
//! Fails:     text that XML or names that the encoding cannot express; marks that are not of this document; no place
//! Not here:  where edits go and how names are written (found while the document was read: [`Mark`]), encodings (`document`)
//!
//! All places are those of the document as it came. So what is inside an element that goes, goes with it, whatever else was
//! to be done there; of two texts for one element, or two values for one attribute, the last in the job file stands; an
//! addition to an element whose text is set comes behind that text; an attribute that is set and removed is removed. An
//! element that goes leaves the white space around it as it was, an attribute takes the blanks in front of it along.

mod changes;

mod escape;

mod lone;
pub(super) use lone::declared_in_tag;

use super::document::{self, ApplyError, apply};
use crate::model::{ElementSpan, Mark};
use changes::Changes;

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
    #[error("{at} would hold the character U+{code_point:04X}, which XML cannot express")]
    Character {
        /// The element or attribute, as it would be written.
        at: String,
        /// Unicode code point.
        code_point: u32,
    },
    /// Names cannot be written as references.
    #[error(
        "a name holds the character U+{code_point:04X}, which the document's encoding, {encoding}, does not have"
    )]
    Name {
        /// Unicode code point.
        code_point: u32,
        /// The document's encoding.
        encoding: &'static str,
    },
    /// The document has no place for an edit.
    #[error("{detail}")]
    Place {
        /// What is wrong with it.
        detail: String,
    },
    /// An element that is sent alone cannot stand without the rest of its document.
    #[error("the event's element cannot be sent alone: {detail}")]
    Alone {
        /// What it would need.
        detail: String,
    },
    /// Marks and edits are not of one job, or not of this document.
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
/// Of `element` alone stand the byte-order mark, the XML declaration with the white space behind it, and the element, which
/// declares all namespaces that are in scope around it.
///
/// # Errors
/// See [`SpliceError`].
pub fn write(
    document: &[u8],
    element: Option<&ElementSpan>,
    marks: &[Mark],
    edits: &[Edited],
) -> Result<Vec<u8>, SpliceError> {
    if marks.len() != edits.len() {
        return Err(SpliceError::Mismatch { detail: "another number of marks than of edits" });
    }
    let mut changes = Changes::default();
    for (mark, edit) in marks.iter().zip(edits) {
        changes.take(mark, edit)?;
    }
    check_empty_tags(document, &changes)?;
    let written = match (element, document::plain_from(document)) {
        (None, _) => apply(document, &changes.into_edits()?),
        (Some(element), None) => {
            lone::cut_out(document, element, &mut changes)?;
            apply(document, &changes.into_edits()?)
        }
        (Some(element), Some(mark_bytes)) => {
            let (short, edits) = lone::short(document, mark_bytes, element, changes)?;
            apply(&short, &edits)
        }
    };
    written.map_err(|error| match error {
        ApplyError::Name { code_point, encoding } => SpliceError::Name { code_point, encoding },
        ApplyError::Mismatch { detail } => SpliceError::Mismatch { detail },
    })
}

/// A mark that is wrong here would write what is not well-formed.
fn check_empty_tags(document: &[u8], changes: &Changes) -> Result<(), SpliceError> {
    let mut places = changes.empty_tags().peekable();
    if places.peek().is_none() {
        return Ok(());
    }
    let wrong = SpliceError::Mismatch { detail: "a mark of an empty tag is not at its `/`" };
    if let Some(mark_bytes) = document::plain_from(document) {
        let at = |at: usize| document.get(mark_bytes.saturating_add(at));
        return if places.all(|place| at(place) == Some(&b'/')) { Ok(()) } else { Err(wrong) };
    }
    let opened = document::open(document, usize::MAX).map_err(|_| wrong.clone())?;
    let text = opened.text().text.as_bytes();
    if places.all(|at| text.get(at) == Some(&b'/')) { Ok(()) } else { Err(wrong) }
}

/// Writes the document with its additions.
///
/// # Errors
/// See [`SpliceError`].
pub fn splice(document: &[u8], marks: &[Mark], additions: &[Added]) -> Result<Vec<u8>, SpliceError> {
    let edits: Vec<Edited> = additions.iter().cloned().map(Edited::Add).collect();
    write(document, None, marks, &edits)
}
