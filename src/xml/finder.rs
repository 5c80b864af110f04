//! What the pass tells whoever looks for something in a document.
//!
//! In:        elements as they open and close, and their text, each already found to be well-formed     Out: nothing
//! Holds:     nothing
//! Order:     document order; [`Finder::open`] and [`Finder::close`] come in pairs, text between them is the innermost element's
//! Fails:     only [`Finder::open`] can refuse, which ends the pass
//! Not here:  what is well-formed (see `walk`), what is looked for (see `seek`)
//!
//! Places are byte offsets in the document's text: without its byte-order mark, decoded to UTF-8.

use super::fault::Fault;
use super::reference::is_plain_attribute;
use super::scope::{NamespaceId, Resolved, Scope};
use super::tag::{Attribute, QName, slice};
use super::value::value;
use std::ops::Range;

/// Hears of everything that a document has.
pub(super) trait Finder {
    /// An element begins. An empty tag is opened and closed.
    fn open(&mut self, element: &Element<'_>) -> Result<(), Fault>;

    /// Text or CDATA as it stands in the document at `at`, its line ends not yet made LF.
    fn text(&mut self, raw: &str, at: usize);

    /// Text that stands nowhere in the document as it is: what a reference means. Its line ends stay.
    fn expanded(&mut self, text: &str);

    /// The innermost element ends: `tag` is its end tag, or the `/>` of its empty tag.
    fn close(&mut self, tag: Range<usize>);
}

/// A start tag or an empty tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    pub(super) text: &'a str,
    /// The whole tag, from `<` to behind `>`.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it is `<name/>`.
    pub(super) empty: bool,
    /// Whether it stands in an entity's text: then its places are those of the reference.
    pub(super) expanded: bool,
    pub(super) name: &'a QName,
    pub(super) namespace: Resolved,
    pub(super) attributes: &'a [Attribute],
    /// What the attributes' prefixes mean, in the order of `attributes`.
    pub(super) resolved: &'a [Resolved],
    /// With the tag's own declarations.
    pub(super) scope: &'a Scope,
}

impl<'a> Element<'a> {
    /// The tag's prefix, empty without one.
    pub(super) fn prefix(&self) -> &'a str {
        slice(self.text, &self.name.prefix)
    }

    /// The name behind the prefix.
    pub(super) fn local(&self) -> &'a str {
        slice(self.text, &self.name.local)
    }

    /// Where its content begins: behind the tag; of an empty tag its `/`.
    pub(super) fn inner_start(&self) -> usize {
        if self.empty { self.end.saturating_sub("/>".len()) } else { self.end }
    }

    /// Namespace and local name of every attribute, declarations among them, in the order of the tag.
    pub(super) fn attributes(&self) -> impl Iterator<Item = (NamespaceId, &'a str)> {
        let (text, resolved) = (self.text, self.resolved);
        self.attributes
            .iter()
            .zip(resolved)
            .map(move |(attribute, resolved)| (resolved.id, slice(text, &attribute.name.local)))
    }

    /// URI, prefix and local name of an attribute; no namespace and no prefix are empty.
    pub(super) fn attribute_name(&self, index: usize) -> Option<(&'a str, &'a str, &'a str)> {
        let (attribute, resolved) = (self.attributes.get(index)?, self.resolved.get(index)?);
        let (prefix, local) =
            (slice(self.text, &attribute.name.prefix), slice(self.text, &attribute.name.local));
        Some((self.scope.uri(*resolved), prefix, local))
    }

    /// Where the attribute stands: from its name to behind its closing quote. `None`: not in the tag.
    pub(super) fn attribute_place(&self, index: usize) -> Option<Range<usize>> {
        let attribute = self.attributes.get(index)?;
        Some(attribute.name.prefix.start..attribute.value.end.saturating_add(1))
    }

    /// Where an attribute's value stands, if it stands for itself there.
    pub(super) fn plain(&self, index: usize) -> Option<Range<usize>> {
        let value = &self.attributes.get(index)?.value;
        is_plain_attribute(slice(self.text, value)).then(|| value.clone())
    }

    /// An attribute's value, references resolved and normalised; `buffer` is used where it does not stand for itself.
    pub(super) fn value<'b>(&self, index: usize, buffer: &'b mut String) -> Result<&'b str, Fault>
    where
        'a: 'b,
    {
        match self.attributes.get(index) {
            Some(attribute) => value(self.text, attribute, buffer),
            None => Ok(""),
        }
    }
}
