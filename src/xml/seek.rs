//! What a job looks for, while the pass goes by.
//!
//! In:        the pass's elements and texts, a [`Plan`]     Out: [`Found`]
//! Holds:     one frame per open element
//! Order:     document order
//! Fails:     a root of another name
//! Not here:  well-formedness (see `walk`), judging what was found (see `decode`)

use super::fault::Fault;
use super::finder::{Element, Finder};
use super::found::{Found, Nil, note};
use super::plan::{CaptureIndex, Node, NodeIndex, Plan};
use super::reference;
use super::scope::{self, NamespaceId, Scope};
use crate::job::Addition;
use crate::model::{Mark, ReasonCode};
use std::ops::Range;

/// An element that is open.
#[derive(Debug)]
struct Frame {
    /// Where the plan stands; `None`: no path comes through here.
    node: Option<NodeIndex>,
    /// The capture that takes this element's own text.
    capture: Option<CaptureIndex>,
}

/// Memory that one document after the other uses.
#[derive(Debug, Default)]
pub(super) struct SeekBuffers {
    frames: Vec<Frame>,
    value: String,
}

impl SeekBuffers {
    fn clear(&mut self) {
        const KEPT: usize = 1024;
        self.frames.clear();
        self.frames.shrink_to(KEPT);
        self.value.clear();
        self.value.shrink_to(KEPT);
    }
}

/// A search on its way.
pub(super) struct Seek<'a> {
    plan: &'a Plan,
    /// Bytes of the document in front of its text.
    base_bytes: usize,
    buffers: &'a mut SeekBuffers,
    found: &'a mut Found,
}

impl<'a> Seek<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        base_bytes: usize,
        buffers: &'a mut SeekBuffers,
        found: &'a mut Found,
    ) -> Seek<'a> {
        buffers.clear();
        found.clear();
        Seek { plan, base_bytes, buffers, found }
    }

    /// The plan's node of this element.
    fn descend(&self, element: &Element<'_>) -> Result<Option<NodeIndex>, Fault> {
        let (namespace, local) = (element.namespace.id, element.local());
        if let Some(parent) = self.buffers.frames.last() {
            let parent = parent.node.and_then(|node| self.plan.node(node));
            return Ok(parent.and_then(|parent| parent.child(namespace, local)));
        }
        match &self.plan.root {
            Some((id, root)) if *id != namespace || root.local != local => {
                let uri = root
                    .namespace
                    .as_deref()
                    .map_or("no namespace".to_owned(), |uri| format!("namespace {uri}"));
                let detail = format!("the root element is not `{}` in {uri}", root.local);
                Err(Fault::new(ReasonCode::NotTheEvent, element.start, detail))
            }
            _ => Ok(Some(Plan::EVENT)),
        }
    }

    /// Notes the attributes that the job reads; the capture for the element's own text, if this is its first match.
    fn capture(&mut self, node: &Node, element: &Element<'_>) -> Result<Option<CaptureIndex>, Fault> {
        let mut nil = Nil::No;
        let value = &mut self.buffers.value;
        for (index, (namespace, local)) in element.attributes().enumerate() {
            if namespace == NamespaceId::XSI && local == "nil" {
                nil = match scope::nil(element.value(index, value)?) {
                    Some(true) => Nil::Yes,
                    Some(false) => Nil::No,
                    None => Nil::Unclear,
                };
            }
            let capture =
                node.attribute(namespace, local).and_then(|index| self.found.captures.get_mut(index));
            let at = element.attribute_place(index).map_or(element.start, |place| place.start);
            if let Some(capture) = capture
                && note(&mut capture.first, &mut capture.second, at)
            {
                capture.text.push_str(element.value(index, value)?);
            }
        }
        let capture = node.text.and_then(|index| self.found.captures.get_mut(index));
        if let Some(capture) = capture
            && note(&mut capture.first, &mut capture.second, element.start)
        {
            capture.nil = nil;
            return Ok(node.text);
        }
        Ok(None)
    }

    /// Notes the additions that go into this element; its end adds their offset.
    fn mark(&mut self, node: &Node, element: &Element<'_>) {
        for index in &node.additions {
            let (Some(addition), Some(place)) =
                (self.plan.additions.get(*index), self.found.places.get_mut(*index))
            else {
                continue;
            };
            if !note(&mut place.first, &mut place.second, element.start) {
                continue;
            }
            let (name, declare) = written(addition, element.prefix(), element.scope);
            let empty_tag = element.empty.then(|| element.written().to_owned());
            place.mark = Some(Mark { offset: 0, empty_tag, name, declare });
        }
    }

    /// Where the innermost element's own text goes, if anywhere.
    fn target(&mut self) -> Option<&mut String> {
        let capture = self.buffers.frames.last()?.capture?;
        self.found.captures.get_mut(capture).map(|capture| &mut capture.text)
    }
}

impl Finder for Seek<'_> {
    fn open(&mut self, element: &Element<'_>) -> Result<(), Fault> {
        let node = self.descend(element)?;
        let plan = self.plan;
        let capture = match node.and_then(|node| plan.node(node)) {
            Some(node) => {
                self.mark(node, element);
                self.capture(node, element)?
            }
            None => None,
        };
        self.buffers.frames.push(Frame { node, capture });
        Ok(())
    }

    fn text(&mut self, raw: &str, _at: usize) {
        if let Some(target) = self.target() {
            reference::push_text(raw, target);
        }
    }

    fn expanded(&mut self, text: &str) {
        if let Some(target) = self.target() {
            target.push_str(text);
        }
    }

    fn close(&mut self, tag: Range<usize>) {
        let node = self.buffers.frames.pop().and_then(|frame| frame.node);
        let Some(node) = node.and_then(|node| self.plan.node(node)) else { return };
        for addition in &node.additions {
            let mark = self.found.places.get_mut(*addition).and_then(|place| place.mark.as_mut());
            if let Some(mark) = mark {
                // `Decoder::new` allows no document that a u32 cannot count. A second match moves the mark; such a
                // document is refused in the end.
                let offset = self.base_bytes.saturating_add(tag.start);
                mark.offset = u32::try_from(offset).unwrap_or(u32::MAX);
            }
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
