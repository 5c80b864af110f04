//! What one document gave: the texts that paths end at and the places of additions.
//!
//! In:        the walk's findings, in document order     Out: looked up by index when the document is read
//! Holds:     one slot per capture and per addition; used again for the next document
//! Fails:     never: what is missing or there twice is judged in `decode`
//! Not here:  types, rules

use crate::model::Mark;

/// What one path has met.
#[derive(Debug, Default)]
pub(super) struct Capture {
    /// The text of the first match.
    pub(super) text: String,
    /// The first match's value of `xsi:nil`.
    pub(super) nil: Nil,
    /// Byte offset in the text of the first match and of the second.
    pub(super) first: Option<usize>,
    pub(super) second: Option<usize>,
}

/// What an element says about being nil.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Nil {
    #[default]
    No,
    Yes,
    /// `xsi:nil` with a value that is no truth value.
    Unclear,
}

/// What the place of one addition has met.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// Its offset is known when the element is closed.
    pub(super) mark: Option<Mark>,
    pub(super) first: Option<usize>,
    pub(super) second: Option<usize>,
}

/// Memory that a slot keeps from one document to the next, in bytes.
const KEPT_BYTES: usize = 4096;

/// All slots.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) captures: Vec<Capture>,
    pub(super) places: Vec<Place>,
}

impl Found {
    pub(super) fn new(captures: usize, places: usize) -> Found {
        let mut found = Found::default();
        found.captures.resize_with(captures, Capture::default);
        found.places.resize_with(places, Place::default);
        found
    }

    /// Empties all slots and keeps their memory, but for what a rare long text took.
    pub(super) fn clear(&mut self) {
        for capture in &mut self.captures {
            let mut text = std::mem::take(&mut capture.text);
            text.clear();
            text.shrink_to(KEPT_BYTES);
            *capture = Capture { text, ..Capture::default() };
        }
        for place in &mut self.places {
            *place = Place::default();
        }
    }
}

/// Notes a match: true for the first.
pub(super) fn note(first: &mut Option<usize>, second: &mut Option<usize>, at: usize) -> bool {
    match (&first, &second) {
        (None, _) => {
            *first = Some(at);
            true
        }
        (Some(_), None) => {
            *second = Some(at);
            false
        }
        (Some(_), Some(_)) => false,
    }
}
