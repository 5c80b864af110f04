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
use super::scope::{NamespaceId, Resolved, Scope};
use super::tag::{Attribute, Origin, QName, Texts, slice};
use std::ops::Range;

/// Hears of everything that a document has.
pub(super) trait Finder {
    /// An element begins. An empty tag is opened and closed.
    fn open(&mut self, element: &Element<'_>) -> Result<(), Fault>;

    /// Text or CDATA as it stands in the document at `at`, its line ends not yet made LF.
    fn text(&mut self, raw: &str, at: usize);

    /// Text that stands nowhere in the document as it is: what a reference means. Its line ends stay.
    fn expanded(&mut self, text: &str);

    /// What follows is the replacement of an entity that the document declares, or an attribute's value with such a
    /// reference in it: what is copied out of the document from around this place would not mean the same elsewhere.
    fn entity(&mut self, _at: usize) {}

    /// The innermost element ends: `tag` is its end tag, or the `/>` of its empty tag.
    fn close(&mut self, tag: Range<usize>);
}

/// A start tag or an empty tag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    pub(super) texts: Texts<'a>,
    /// The whole tag, from `<` to behind `>`; inside an entity's replacement the reference's `&`, twice.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether it stands in the document, not in what an entity stands for: nothing can be written at it then.
    pub(super) in_document: bool,
    /// Whether it is `<name/>`.
    pub(super) empty: bool,
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
        slice(self.texts.tag, &self.name.prefix)
    }

    /// The name behind the prefix.
    pub(super) fn local(&self) -> &'a str {
        slice(self.texts.tag, &self.name.local)
    }

    /// The name as it is written.
    #[cfg(test)]
    pub(super) fn written(&self) -> &'a str {
        slice(self.texts.tag, &self.name.whole())
    }

    /// Where its content begins: behind the tag; of an empty tag its `/`.
    pub(super) fn inner_start(&self) -> usize {
        if self.empty { self.end.saturating_sub("/>".len()) } else { self.end }
    }

    /// Namespace and local name of every attribute, declarations among them: first those of the tag in its order, then those
    /// that are there by default.
    pub(super) fn attributes(&self) -> impl Iterator<Item = (NamespaceId, &'a str)> {
        let texts = self.texts;
        self.attributes
            .iter()
            .zip(self.resolved)
            .map(move |(attribute, resolved)| (resolved.id, texts.local(attribute)))
    }

    /// URI, prefix and local name of an attribute; no namespace and no prefix are empty.
    pub(super) fn attribute_name(&self, index: usize) -> Option<(&'a str, &'a str, &'a str)> {
        let (attribute, resolved) = (self.attributes.get(index)?, self.resolved.get(index)?);
        Some((self.scope.uri(*resolved), self.texts.prefix(attribute), self.texts.local(attribute)))
    }

    /// An attribute's name as it is written.
    #[cfg(test)]
    pub(super) fn attribute(&self, index: usize) -> &'a str {
        self.attributes.get(index).map_or("", |attribute| self.texts.written(attribute))
    }

    /// Whether it has attributes that its tag lacks, by default.
    pub(super) fn has_defaults(&self) -> bool {
        // They stand behind the tag's own.
        self.attributes.last().is_some_and(|last| last.origin == Origin::Default)
    }

    /// Where the attribute stands: from its name to behind its closing quote. `None`: not in the document.
    pub(super) fn attribute_place(&self, index: usize) -> Option<Range<usize>> {
        let is_written = |attribute: &&Attribute| self.in_document && attribute.origin == Origin::Tag;
        let attribute = self.attributes.get(index).filter(is_written)?;
        Some(attribute.name.prefix.start..attribute.value.end.saturating_add(1))
    }

    /// Where an attribute's value stands in the document, if it stands for itself there.
    pub(super) fn plain(&self, index: usize) -> Option<Range<usize>> {
        let attribute = self.attributes.get(index)?;
        let is_plain = self.in_document && attribute.origin == Origin::Tag && attribute.read.is_none();
        is_plain.then(|| attribute.value.clone())
    }

    /// An attribute's value, references resolved and normalised.
    pub(super) fn value(&self, index: usize) -> &'a str {
        self.attributes.get(index).map_or("", |attribute| self.texts.value(attribute))
    }
}
