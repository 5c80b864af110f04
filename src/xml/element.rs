//! Opening one element: its tag, its declarations, its names, and what the job looks for in it.
//!
//! In:        the span of a start tag or an empty tag     Out: a frame; captures and marks noted
//! Order:     grammar, depth, declarations, names, duplicates, then the plan
//! Fails:     bad tags, undeclared prefixes, two attributes of one expanded name, a root of another name, limits
//! Not here:  text and end tags (see `walk`)

use super::fault::Fault;
use super::found::{Nil, note};
use super::plan::{CaptureIndex, NodeIndex, Plan};
use super::reference::{is_plain_attribute, push_attribute};
use super::scope::{self, BINDINGS_MAX, NamespaceId, Resolved, Scope};
use super::tag::{self, Attribute, QName, slice};
use super::walk::{Frame, Walk};
use crate::job::Addition;
use crate::model::{Mark, ReasonCode};
use std::ops::Range;

/// Attributes up to which two of one name are looked for pair by pair; above, they are sorted.
const PAIRWISE_MAX: usize = 8;

impl Walk<'_> {
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

        let node = self.descend(namespace, &name, span.start)?;
        let capture = match node {
            Some(node) => {
                self.mark(node, &name, span.start, empty);
                self.capture(node, span.start)?
            }
            None => None,
        };
        self.buffers.frames.push(Frame { node, capture, bindings, start: span.start });
        if empty {
            self.close(slash);
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
            let declared = self.buffers.scope.declare(prefix, uri, &self.plan.namespaces);
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

    /// The plan's node of this element.
    fn descend(&self, namespace: Resolved, name: &QName, at: usize) -> Result<Option<NodeIndex>, Fault> {
        let local = slice(self.document.text, &name.local);
        if let Some(parent) = self.buffers.frames.last() {
            let parent = parent.node.and_then(|node| self.plan.node(node));
            return Ok(parent.and_then(|parent| parent.child(namespace.id, local)));
        }
        match &self.plan.root {
            Some((id, root)) if *id != namespace.id || root.local != local => {
                let uri = root
                    .namespace
                    .as_deref()
                    .map_or("no namespace".to_owned(), |uri| format!("namespace {uri}"));
                let detail = format!("the root element is not `{}` in {uri}", root.local);
                Err(Fault::new(ReasonCode::NotTheEvent, at, detail))
            }
            _ => Ok(Some(Plan::EVENT)),
        }
    }

    /// Notes the attributes that the job reads; the capture for the element's own text, if this is its first match.
    fn capture(&mut self, node: NodeIndex, at: usize) -> Result<Option<CaptureIndex>, Fault> {
        let text = self.document.text;
        let Some(node) = self.plan.node(node) else { return Ok(None) };
        let mut nil = Nil::No;
        for (attribute, resolved) in self.buffers.attributes.iter().zip(&self.buffers.resolved) {
            let local = slice(text, &attribute.name.local);
            if resolved.id == NamespaceId::XSI && local == "nil" {
                nil = match scope::nil(value(text, attribute, &mut self.buffers.value)?) {
                    Some(true) => Nil::Yes,
                    Some(false) => Nil::No,
                    None => Nil::Unclear,
                };
            }
            let capture =
                node.attribute(resolved.id, local).and_then(|index| self.found.captures.get_mut(index));
            if let Some(capture) = capture
                && note(&mut capture.first, &mut capture.second, attribute.name.prefix.start)
            {
                capture.text.push_str(value(text, attribute, &mut self.buffers.value)?);
            }
        }
        let capture = node.text.and_then(|index| self.found.captures.get_mut(index));
        if let Some(capture) = capture
            && note(&mut capture.first, &mut capture.second, at)
        {
            capture.nil = nil;
            return Ok(node.text);
        }
        Ok(None)
    }

    /// Notes the additions that go into this element; `Walk::close` adds their offset.
    fn mark(&mut self, node: NodeIndex, name: &QName, at: usize, empty: bool) {
        let text = self.document.text;
        let Some(node) = self.plan.node(node) else { return };
        for index in &node.additions {
            let (Some(addition), Some(place)) =
                (self.plan.additions.get(*index), self.found.places.get_mut(*index))
            else {
                continue;
            };
            if !note(&mut place.first, &mut place.second, at) {
                continue;
            }
            let (name_here, declare) = written(addition, slice(text, &name.prefix), &self.buffers.scope);
            let start = if name.prefix.is_empty() { name.local.start } else { name.prefix.start };
            place.mark = Some(Mark {
                offset: 0,
                empty_tag: empty.then(|| slice(text, &(start..name.local.end)).to_owned()),
                name: name_here,
                declare,
            });
        }
    }
}

/// An attribute's value; `buffer` is used where it does not stand for itself.
fn value<'a>(text: &'a str, attribute: &Attribute, buffer: &'a mut String) -> Result<&'a str, Fault> {
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

/// How an added element's name is written inside an element with the prefix `target`: like that element where both are
/// in one namespace, else with the innermost prefix that the document binds, else with the job's prefix, declared on
/// the added element itself (which hides an outer meaning of that prefix for the added element alone).
fn written(addition: &Addition, target: &str, scope: &Scope) -> (String, Option<(String, String)>) {
    let local = &addition.element.local;
    let join = |prefix: &str| if prefix.is_empty() { local.clone() } else { format!("{prefix}:{local}") };
    let meaning = |prefix: &str| scope.resolve(prefix).map(|resolved| scope.uri(resolved));
    let Some(uri) = addition.element.namespace.as_deref().filter(|uri| !uri.is_empty()) else {
        let hidden = meaning("").is_some_and(|uri| !uri.is_empty());
        return (join(""), hidden.then(|| (String::new(), String::new())));
    };
    let bound = if meaning(target) == Some(uri) { Some(target) } else { scope.prefix_of(uri) };
    match bound {
        Some(prefix) => (join(prefix), None),
        None => (join(&addition.prefix), Some((addition.prefix.clone(), uri.to_owned()))),
    }
}
