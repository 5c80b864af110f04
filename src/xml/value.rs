//! An attribute's value, as the document means it.
//!
//! In:        the document's text and an attribute of it     Out: the value, references resolved, white space normalised
//! Holds:     nothing; the buffer is the caller's, to be used again
//! Fails:     what `reference` refuses
//! Not here:  attributes' grammar (see `tag`)

use super::fault::Fault;
use super::reference::{is_plain_attribute, push_attribute};
use super::tag::{Attribute, slice};

/// An attribute's value; `buffer` is used where it does not stand for itself.
pub(super) fn value<'a>(
    text: &'a str,
    attribute: &Attribute,
    buffer: &'a mut String,
) -> Result<&'a str, Fault> {
    let raw = slice(text, &attribute.value);
    if is_plain_attribute(raw) {
        return Ok(raw);
    }
    buffer.clear();
    match push_attribute(raw, buffer) {
        Ok(()) => Ok(buffer),
        Err((offset, detail)) => {
            Err(Fault::not_well_formed(attribute.value.start.saturating_add(offset), detail))
        }
    }
}
