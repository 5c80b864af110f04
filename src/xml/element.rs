//! Opening one element: its tag, its declarations, its names.
//!
//! In:        the span of a start tag or an empty tag     Out: a frame; the finder hears of the element
//! Order:     grammar, depth, declarations, names, duplicates, then the finder
//! Fails:     bad tags, undeclared prefixes, two attributes of one expanded name, limits, what the finder refuses
//! Not here:  text and end tags (see `walk`), what the job looks for (see `seek`)

use super::fault::Fault;
use super::finder::{Element, Finder};
use super::scope::{BINDINGS_MAX, Resolved};
use super::tag::{self, QName, slice};
use super::value::value;
use super::walk::{Frame, Walk};
use crate::model::ReasonCode;
use std::ops::Range;

/// Attributes up to which two of one name are looked for pair by pair; above, they are sorted.
const PAIRWISE_MAX: usize = 8;

impl<F: Finder> Walk<'_, F> {
    /// Takes `<name ...>`, or `<name .../>` with `empty`.
    pub(super) fn open(&mut self, span: Range<usize>, empty: bool) -> Result<(), Fault> {
        let text = self.document.text;
        let closing_bytes = if empty { 2 } else { 1 };
        let slash = span.end.saturating_sub(closing_bytes);
        let name = tag::read(text, span.start.saturating_add(1)..slash, &mut self.buffers.attributes)?;
        self.check_place(span.start)?;

        let bindings = self.buffers.scope.len();
        self.declare()?;
        let namespace = self.resolve_all(&name)?;
        self.check_duplicates()?;

        let buffers = &*self.buffers;
        self.finder.open(&Element {
            text,
            start: span.start,
            end: span.end,
            empty,
            expanded: false,
            name: &name,
            namespace,
            attributes: &buffers.attributes,
            resolved: &buffers.resolved,
            scope: &buffers.scope,
        })?;
        self.buffers.frames.push(Frame { bindings, start: span.start });
        if empty {
            self.close(slash..span.end);
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
    fn declare(&mut self) -> Result<(), Fault> {
        let text = self.document.text;
        for attribute in &self.buffers.attributes {
            let prefix = match (slice(text, &attribute.name.prefix), slice(text, &attribute.name.local)) {
                ("xmlns", prefix) => prefix,
                ("", "xmlns") => "",
                _ => continue,
            };
            let uri = value(text, attribute, &mut self.buffers.value)?;
            let at = attribute.value.start;
            let declared = self.buffers.scope.declare(prefix, uri, self.namespaces);
            declared.map_err(|detail| Fault::not_well_formed(at, detail))?;
            if self.buffers.scope.len() > BINDINGS_MAX {
                let detail =
                    format!("more than {BINDINGS_MAX} namespace declarations in scope, a fixed limit");
                return Err(Fault::new(ReasonCode::Limit, at, detail));
            }
        }
        Ok(())
    }

    /// Resolves the prefixes of the tag and its attributes, and checks the attributes' values.
    fn resolve_all(&mut self, name: &QName) -> Result<Resolved, Fault> {
        let text = self.document.text;
        let undeclared =
            |name: &QName| Fault::not_well_formed(name.prefix.start, "a prefix that is not declared");
        let buffers = &mut *self.buffers;
        buffers.resolved.clear();
        for attribute in &buffers.attributes {
            let resolved = match (slice(text, &attribute.name.prefix), slice(text, &attribute.name.local)) {
                ("xmlns", _) | ("", "xmlns") => Resolved::XMLNS,
                // The default namespace is for elements alone.
                ("", _) => Resolved::NONE,
                (prefix, _) => buffers.scope.resolve(prefix).ok_or_else(|| undeclared(&attribute.name))?,
            };
            buffers.resolved.push(resolved);
            value(text, attribute, &mut buffers.value)?;
        }
        buffers.scope.resolve(slice(text, &name.prefix)).ok_or_else(|| undeclared(name))
    }

    /// No two attributes of one expanded name: not even with two prefixes of one namespace.
    fn check_duplicates(&mut self) -> Result<(), Fault> {
        let text = self.document.text;
        let buffers = &mut *self.buffers;
        let count = buffers.attributes.len();
        if count < 2 {
            return Ok(());
        }
        let expanded = |index: usize| {
            let local = buffers.attributes.get(index).map(|attribute| slice(text, &attribute.name.local));
            let uri = buffers.resolved.get(index).map(|resolved| buffers.scope.uri(*resolved));
            (local, uri)
        };
        let twice = if count <= PAIRWISE_MAX {
            (1..count).find(|later| (0..*later).any(|earlier| expanded(earlier) == expanded(*later)))
        } else {
            buffers.order.clear();
            buffers.order.extend(0..count);
            buffers.order.sort_by(|a, b| expanded(*a).cmp(&expanded(*b)).then(a.cmp(b)));
            let same = |pair: &&[usize]| matches!(pair, [a, b] if expanded(*a) == expanded(*b));
            buffers.order.windows(2).find(same).and_then(|pair| pair.last().copied())
        };
        match twice.and_then(|index| buffers.attributes.get(index)) {
            Some(attribute) => {
                let at = attribute.name.prefix.start;
                Err(Fault::not_well_formed(at, "an attribute that the tag has already"))
            }
            None => Ok(()),
        }
    }
}
