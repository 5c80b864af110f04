//! What a job looks for, noted while the pass goes by.
//!
//! In:        the pass's elements and texts, a [`Plan`]     Out: [`Found`]
//! Holds:     one frame per open element that is on a path; of the others only how many are open
//! Order:     document order
//! Fails:     never
//! Not here:  well-formedness (see `walk`), which elements a path means (see `run`), names that edits write (see `naming`)

use super::fault::Fault;
use super::finder::{Element, Finder};
use super::found::{AttributeHere, ElementIndex, Flags, Found, Instance, Nil, TextRange, small, wide};
use super::naming;
use super::plan::{Names, Node, NodeIndex, Plan};
use super::reference;
use super::scope::{self, NamespaceId};
use std::ops::Range;

/// An element that is open and on a path.
#[derive(Debug)]
struct Frame {
    node: NodeIndex,
    index: ElementIndex,
    /// Pieces of text in front of its first.
    pieces: usize,
    text: bool,
    children: bool,
}

/// Memory that one document after the other uses.
#[derive(Debug, Default)]
pub(super) struct SeekBuffers {
    frames: Vec<Frame>,
    /// The texts of open elements, so far.
    pieces: Vec<TextRange>,
    /// The declarations in scope that [`Found::declared`] has, the outermost first.
    declared: Vec<(u64, u32)>,
}

impl SeekBuffers {
    fn clear(&mut self) {
        const KEPT: usize = 1024;
        self.frames.clear();
        self.frames.shrink_to(KEPT);
        self.pieces.clear();
        self.pieces.shrink_to(KEPT);
        self.declared.clear();
    }
}

/// A search on its way.
pub(super) struct Seek<'a> {
    plan: &'a Plan,
    /// The document's text.
    document: &'a str,
    buffers: &'a mut SeekBuffers,
    found: &'a mut Found,
    /// Open elements inside the innermost that is on a path.
    beside: usize,
}

impl<'a> Seek<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        document: &'a str,
        buffers: &'a mut SeekBuffers,
        found: &'a mut Found,
    ) -> Seek<'a> {
        buffers.clear();
        found.clear();
        // What is above the root counts as an element, so that absolute paths are paths like others.
        if let Some(documents) = found.elements.get_mut(Names::DOCUMENT) {
            documents.push(Instance::default());
        }
        Seek { plan, document, buffers, found, beside: 0 }
    }

    /// The node of an element and the number of the element that it is in.
    fn descend(&mut self, element: &Element<'_>) -> Option<(NodeIndex, ElementIndex)> {
        let (above, parent) = match self.buffers.frames.last_mut() {
            Some(frame) => {
                frame.children = true;
                (frame.node, frame.index)
            }
            None => {
                self.note_root(element);
                (Names::DOCUMENT, 0)
            }
        };
        let node = self.plan.names.node(above)?.child(element.namespace.id, element.local())?;
        Some((node, parent))
    }

    fn note_root(&mut self, element: &Element<'_>) {
        let (namespace, local) = (element.namespace.id, element.local());
        let is_it = |(n, l): &(NamespaceId, String)| *n == namespace && l == local;
        self.found.root_start = element.start;
        self.found.root_name = self.plan.names.root_names.iter().position(is_it);
    }

    /// Notes the attributes that paths read, and whether the element is nil.
    fn attributes(&mut self, node: &Node, index: ElementIndex, element: &Element<'_>) -> Nil {
        let mut nil = Nil::No;
        if !node.text && !node.nil && node.attributes.is_empty() {
            return nil;
        }
        for (at, (namespace, local)) in element.attributes().enumerate() {
            if namespace == NamespaceId::XSI && local == "nil" {
                nil = match scope::nil(element.value(at)) {
                    Some(true) => Nil::Yes,
                    Some(false) => Nil::No,
                    None => Nil::Unclear,
                };
            }
            let Some(attribute) = node.attribute(namespace, local) else { continue };
            let value = match element.plain(at) {
                Some(place) => in_document(&place),
                None => {
                    let start = small(self.found.arena.len());
                    self.found.arena.push_str(element.value(at));
                    TextRange { start, end: small(self.found.arena.len()), arena: true }
                }
            };
            let place = element.attribute_place(at).unwrap_or(element.start..element.start);
            let here =
                AttributeHere { owner: index, start: small(place.start), end: small(place.end), value };
            if let Some(all) = self.found.attributes.get_mut(attribute) {
                all.push(here);
            }
        }
        nil
    }

    /// Puts the pieces of the innermost element's text together.
    fn take_text(&mut self, frame: &Frame) -> TextRange {
        let pieces = self.buffers.pieces.get(frame.pieces..).unwrap_or_default();
        let text = match pieces {
            [] => TextRange::default(),
            [only] => *only,
            _ => {
                let start = self.found.arena.len();
                for piece in pieces {
                    let range = wide(piece.start)..wide(piece.end);
                    if piece.arena {
                        self.found.arena.extend_from_within(range);
                    } else {
                        self.found.arena.push_str(self.document.get(range).unwrap_or_default());
                    }
                }
                TextRange { start: small(start), end: small(self.found.arena.len()), arena: true }
            }
        };
        self.buffers.pieces.truncate(frame.pieces);
        text
    }
}

impl Seek<'_> {
    /// Whether the innermost open element's own text is read.
    fn takes_text(&self) -> bool {
        self.beside == 0 && self.buffers.frames.last().is_some_and(|frame| frame.text)
    }

    /// Adds a piece to the innermost element's text; one that goes on where the last one ended makes it longer.
    fn piece(&mut self, piece: TextRange) {
        let Some(frame) = self.buffers.frames.last() else { return };
        let own = self.buffers.pieces.len() > frame.pieces;
        match self.buffers.pieces.last_mut() {
            Some(last) if own && last.arena == piece.arena && last.end == piece.start => last.end = piece.end,
            _ => self.buffers.pieces.push(piece),
        }
    }

    /// Appends to the arena what `push` appends, as a piece.
    fn arena_piece(&mut self, push: impl FnOnce(&mut String)) {
        let start = small(self.found.arena.len());
        push(&mut self.found.arena);
        self.piece(TextRange { start, end: small(self.found.arena.len()), arena: true });
    }
}

impl Finder for Seek<'_> {
    fn open(&mut self, element: &Element<'_>) -> Result<(), Fault> {
        if self.plan.takes_source && element.has_defaults() {
            self.found.foreign.push(small(element.start));
        }
        if self.beside > 0 {
            self.beside = self.beside.saturating_add(1);
            return Ok(());
        }
        let plan = self.plan;
        let Some((at, parent)) = self.descend(element) else {
            self.beside = 1;
            return Ok(());
        };
        let Some(node) = plan.names.node(at) else { return Ok(()) };
        let index = self.found.elements.get(at).map_or(0, |elements| small(elements.len()));
        let nil = self.attributes(node, index, element);
        if !node.written.is_empty() {
            naming::note(at, node, element, self.found);
        }
        if node.scope {
            naming::note_scope(element, &mut self.buffers.declared, self.found);
        }
        let (start, inner_start) = (small(element.start), small(element.inner_start()));
        let flags = Flags { nil, empty_tag: element.empty, children: false, expanded: !element.in_document };
        let instance = Instance { parent, start, inner_start, flags, ..Instance::default() };
        if let Some(elements) = self.found.elements.get_mut(at) {
            elements.push(instance);
        }
        let pieces = self.buffers.pieces.len();
        self.buffers.frames.push(Frame { node: at, index, pieces, text: node.text, children: false });
        Ok(())
    }

    fn text(&mut self, raw: &str, at: usize) {
        if !self.takes_text() || raw.is_empty() {
            return;
        }
        // Only a carriage return does not stand for itself.
        if raw.as_bytes().contains(&b'\r') {
            self.arena_piece(|arena| reference::push_text(raw, arena));
        } else {
            self.piece(in_document(&(at..at.saturating_add(raw.len()))));
        }
    }

    fn expanded(&mut self, text: &str) {
        if self.takes_text() && !text.is_empty() {
            self.arena_piece(|arena| arena.push_str(text));
        }
    }

    fn entity(&mut self, at: usize) {
        if self.plan.takes_source {
            self.found.foreign.push(small(at));
        }
    }

    fn close(&mut self, tag: Range<usize>) {
        if self.beside > 0 {
            self.beside = self.beside.saturating_sub(1);
            return;
        }
        let Some(frame) = self.buffers.frames.pop() else { return };
        let text = if frame.text { self.take_text(&frame) } else { TextRange::default() };
        let elements = self.found.elements.get_mut(frame.node);
        if let Some(instance) = elements.and_then(|elements| elements.get_mut(wide(frame.index))) {
            instance.inner_end = small(tag.start);
            instance.end = small(tag.end);
            instance.text = text;
            instance.flags.children = frame.children;
        }
    }
}

fn in_document(range: &Range<usize>) -> TextRange {
    TextRange { start: small(range.start), end: small(range.end), arena: false }
}
