//! The attributes of one tag: their values as the document means them, and those that are there by default.
//!
//! In:        the attributes as they are written     Out: their values, references resolved, white space normalised
//! Holds:     nothing; the buffers are the caller's, to be used again
//! Fails:     what `reference` and `doctype` refuse
//! Not here:  attributes' grammar (see `tag`), namespaces (see `element`)
//!
//! Places of faults count in the tag's text.

use super::doctype::{Budget, Definition, collapse, is_collapsed};
use super::fault::Fault;
use super::reference::{is_plain_attribute, push_attribute};
use super::tag::{Attribute, slice};
use std::collections::HashSet;

/// Reads the values of the attributes in `tag` into `values`.
pub(super) fn read(tag: &str, attributes: &mut [Attribute], values: &mut String) -> Result<(), Fault> {
    values.clear();
    for attribute in attributes {
        let raw = slice(tag, &attribute.value);
        if is_plain_attribute(raw) {
            continue;
        }
        let start = values.len();
        push_attribute(raw, values).map_err(|(offset, detail)| {
            Fault::not_well_formed(attribute.value.start.saturating_add(offset), detail)
        })?;
        attribute.read = Some(start..values.len());
    }
    Ok(())
}

/// One tag of a document with a document type definition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tag<'a> {
    /// What its attributes' places count in.
    pub(super) text: &'a str,
    /// Where it begins.
    pub(super) at: usize,
    /// The element's name as it is written.
    pub(super) element: &'a str,
}

/// The same as [`read`], with what the definition declares. Returns whether a value has a reference to an entity of the
/// document's own.
pub(super) fn read_declared(
    tag: &Tag<'_>,
    definition: &Definition,
    attributes: &mut Vec<Attribute>,
    values: &mut String,
    budget: &mut Budget,
) -> Result<bool, Fault> {
    values.clear();
    let declared = definition.attributes.of(tag.element);
    let references = budget.references();
    for attribute in attributes.iter_mut() {
        let raw = slice(tag.text, &attribute.value);
        let name = slice(tag.text, &attribute.name.whole());
        let is_tokens = declared.is_some_and(|declared| declared.is_tokens(name));
        if is_plain_attribute(raw) && (!is_tokens || is_collapsed(raw)) {
            continue;
        }
        let start = values.len();
        let pushed = definition.entities.push_attribute(raw, values, budget);
        pushed.map_err(|fault| fault.moved_by(attribute.value.start))?;
        if is_tokens {
            collapse(values, start);
        }
        attribute.read = Some(start..values.len());
    }
    let has_entities = budget.references() != references;
    let Some(declared) = declared.filter(|declared| !declared.defaults.is_empty()) else {
        return Ok(has_entities);
    };
    budget.take_defaults(declared.default_bytes, tag.at)?;
    let written: HashSet<&str> =
        attributes.iter().map(|attribute| slice(tag.text, &attribute.name.whole())).collect();
    for default in &declared.defaults {
        if !written.contains(slice(&definition.attributes.text, &default.name.whole())) {
            attributes.push(default.clone());
        }
    }
    Ok(has_entities)
}
