//! Opening one element: its tag, its declarations, its names.
//!
//! In:        the span of a start tag or an empty tag     Out: a frame; the finder hears of the element
//! Order:     grammar, depth, declarations, names, duplicates, then the finder
//! Fails:     bad tags, undeclared prefixes, two attributes of one expanded name, limits, what the finder refuses
//! Not here:  text and end tags (see `walk`), what the job looks for (see `seek`)

use super::doctype::Definition;
use super::fault::Fault;
use super::finder::{Element, Finder};
use super::scope::{BINDINGS_MAX, Resolved};
use super::tag::{self, Attribute, Origin, QName, Texts, slice};
use super::value;
use super::walk::{Buffers, Frame, Pass};
use crate::model::ReasonCode;
use std::ops::Range;

/// Attributes up to which two of one name are looked for pair by pair; above, they are sorted.
const PAIRWISE_MAX: usize = 8;

impl<F: Finder> Pass<'_, F> {
    /// Takes `<name ...>`, or `<name .../>` with `empty`.
    pub(super) fn open(&mut self, span: Range<usize>, empty: bool) -> Result<(), Fault> {
        let text = self.source.text;
        let closing_bytes = if empty { 2 } else { 1 };
        let slash = span.end.saturating_sub(closing_bytes);
        let name = tag::read(text, span.start.saturating_add(1)..slash, &mut self.buffers.attributes)?;
        self.check_place(span.start)?;
        self.read_values(slice(text, &name.whole()), span.start)?;

        let bindings = self.buffers.scope.len();
        self.declare(span.start)?;
        let namespace = self.resolve_all(&name, span.start)?;
        self.check_duplicates(span.start)?;

        let place = match self.source.place {
            Some(reference) => reference..reference,
            None => span.clone(),
        };
        let buffers = &*self.buffers;
        self.finder.open(&Element {
            texts: Texts { tag: text, defaults: defaults(self.definition), values: &buffers.values },
            start: place.start,
            end: place.end,
            in_document: self.source.place.is_none(),
            empty,
            name: &name,
            namespace,
            attributes: &buffers.attributes,
            resolved: &buffers.resolved,
            scope: &buffers.scope,
        })?;
        self.buffers.frames.push(Frame { bindings, start: place.start });
        if empty {
            self.close(slash..span.end);
        }
        Ok(())
    }

    /// Reads the attributes' values, and adds those that are there by default.
    fn read_values(&mut self, element: &str, at: usize) -> Result<(), Fault> {
        let Buffers { attributes, values, .. } = &mut *self.buffers;
        let Some(definition) = self.definition else {
            return value::read(self.source.text, attributes, values);
        };
        let tag = value::Tag { text: self.source.text, at, element };
        if value::read_declared(&tag, definition, attributes, values, &mut self.budget)? {
            self.finder.entity(self.source.place.unwrap_or(at));
        }
        Ok(())
    }

    /// One root, and no deeper than allowed.
    fn check_place(&mut self, at: usize) -> Result<(), Fault> {
        let depth = self.buffers.frames.len().saturating_add(1);
        if depth > self.depth_max {
            let detail = format!("elements nested deeper than limits.document_depth, {}", self.depth_max);
            return Err(Fault::new(ReasonCode::Limit, at, detail));
        }
        if depth == 1 && self.root_seen {
            return Err(Fault::not_well_formed(at, "a second root element"));
        }
        self.root_seen = true;
        Ok(())
    }

    /// Takes the tag's namespace declarations into scope.
    fn declare(&mut self, tag: usize) -> Result<(), Fault> {
        let defaults = defaults(self.definition);
        let Buffers { attributes, scope, values, .. } = &mut *self.buffers;
        let texts = Texts { tag: self.source.text, defaults, values };
        for attribute in attributes.iter() {
            let prefix = match (texts.prefix(attribute), texts.local(attribute)) {
                ("xmlns", prefix) => prefix,
                ("", "xmlns") => "",
                _ => continue,
            };
            let at = if attribute.origin == Origin::Tag { attribute.value.start } else { tag };
            let declared = scope.declare(prefix, texts.value(attribute), self.namespaces);
            declared.map_err(|detail| Fault::not_well_formed(at, detail))?;
            if scope.len() > BINDINGS_MAX {
                let detail =
                    format!("more than {BINDINGS_MAX} namespace declarations in scope, a fixed limit");
                return Err(Fault::new(ReasonCode::Limit, at, detail));
            }
        }
        Ok(())
    }

    /// Resolves the prefixes of the tag and its attributes.
    fn resolve_all(&mut self, name: &QName, tag: usize) -> Result<Resolved, Fault> {
        let undeclared = |at: usize| Fault::not_well_formed(at, "a prefix that is not declared");
        let defaults = defaults(self.definition);
        let Buffers { attributes, resolved, scope, values, .. } = &mut *self.buffers;
        let texts = Texts { tag: self.source.text, defaults, values };
        resolved.clear();
        for attribute in attributes.iter() {
            resolved.push(match (texts.prefix(attribute), texts.local(attribute)) {
                ("xmlns", _) | ("", "xmlns") => Resolved::XMLNS,
                // The default namespace is for elements alone.
                ("", _) => Resolved::NONE,
                (prefix, _) => scope.resolve(prefix).ok_or_else(|| undeclared(place(attribute, tag)))?,
            });
        }
        scope.resolve(slice(texts.tag, &name.prefix)).ok_or_else(|| undeclared(name.prefix.start))
    }

    /// No two attributes of one expanded name: not even with two prefixes of one namespace.
    fn check_duplicates(&mut self, tag: usize) -> Result<(), Fault> {
        let defaults = defaults(self.definition);
        let Buffers { attributes, resolved, scope, values, order, .. } = &mut *self.buffers;
        let texts = Texts { tag: self.source.text, defaults, values };
        let count = attributes.len();
        if count < 2 {
            return Ok(());
        }
        let expanded = |index: usize| {
            let local = attributes.get(index).map(|attribute| texts.local(attribute));
            let uri = resolved.get(index).map(|resolved| scope.uri(*resolved));
            (local, uri)
        };
        let twice = if count <= PAIRWISE_MAX {
            (1..count).find(|later| (0..*later).any(|earlier| expanded(earlier) == expanded(*later)))
        } else {
            order.clear();
            order.extend(0..count);
            order.sort_by(|a, b| expanded(*a).cmp(&expanded(*b)).then(a.cmp(b)));
            let same = |pair: &&[usize]| matches!(pair, [a, b] if expanded(*a) == expanded(*b));
            order.windows(2).find(same).and_then(|pair| pair.last().copied())
        };
        match twice.and_then(|index| attributes.get(index)) {
            Some(attribute) => {
                Err(Fault::not_well_formed(place(attribute, tag), "an attribute that the tag has already"))
            }
            None => Ok(()),
        }
    }
}

/// The text of names and values that are there by default.
fn defaults(definition: Option<&Definition>) -> &str {
    definition.map_or("", |definition| &definition.attributes.text)
}

/// Where an attribute's name stands; one that is there by default has the tag's place.
fn place(attribute: &Attribute, tag: usize) -> usize {
    match attribute.origin {
        Origin::Tag => attribute.name.prefix.start,
        Origin::Default => tag,
    }
}
