//! What the pass has found of a job's paths: the elements on them, their texts and attributes.
//!
//! In:        what `seek` notes, in document order     Out: looked up by node and number
//! Holds:     per node its elements, per attribute of a node its values, one text arena; used again for the next document
//! Fails:     never
//! Not here:  which of it a path means (see `run`)
//!
//! Elements of one node never contain each other, so their order is that of their parents, too: the children of one
//! element, or of a row of elements, are one run. Memory: 36 bytes per element on a path, 24 per attribute that is read,
//! and a text again only where it does not stand for itself in the document (references, CR, several pieces). The
//! smallest element has 4 bytes, so at the most 9 times the document, twice that where a list has just grown, and twice
//! its text.

use super::plan::{AttributeIndex, NodeIndex, Plan};
use std::collections::HashMap;
use std::ops::Range;

/// An element, by its number among those of its node.
pub(super) type ElementIndex = u32;

/// An element on a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Instance {
    /// Number of the element that it is in, among those of the node above.
    pub(super) parent: ElementIndex,
    /// From `<` of its start tag to behind `>` of its end tag, as all offsets in bytes of the document's text.
    pub(super) start: u32,
    pub(super) end: u32,
    /// Behind the start tag, and in front of the end tag. Of an empty tag both are its `/`.
    pub(super) inner_start: u32,
    pub(super) inner_end: u32,
    /// Its own text, where its node takes it.
    pub(super) text: TextRange,
    pub(super) flags: Flags,
}

/// What else there is to know of an element.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub(super) nil: Nil,
    /// It stands as `<name/>`.
    pub(super) empty_tag: bool,
    /// It has child elements.
    pub(super) children: bool,
    /// It stands in the text of an entity, not in the document.
    pub(super) expanded: bool,
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

/// An attribute that a path reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct AttributeHere {
    /// Number of its element among those of its node.
    pub(super) owner: ElementIndex,
    /// From its name to behind its closing quote; nothing where it does not stand in its tag.
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) value: TextRange,
}

/// A text: of the document where it stands for itself, else of the arena.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextRange {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) arena: bool,
}

/// How a name that an edit writes begins at one place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Naming {
    pub(super) prefix: String,
    /// Whether the prefix must be declared for it.
    pub(super) declare: bool,
}

/// A namespace declaration around an event's element.
#[derive(Debug)]
pub(super) struct Declared {
    pub(super) prefix: String,
    pub(super) uri: String,
    /// The one declared before it.
    pub(super) outer: Option<u32>,
}

/// Everything of one document.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Per node.
    pub(super) elements: Vec<Vec<Instance>>,
    /// Per attribute.
    pub(super) attributes: Vec<Vec<AttributeHere>>,
    pub(super) arena: String,
    /// Where the root element begins.
    pub(super) root_start: usize,
    /// Which of the plan's root names it has.
    pub(super) root_name: Option<usize>,
    /// Per node as many numbers of `namings` per element as the node has names to be written.
    pub(super) written: Vec<Vec<u32>>,
    pub(super) namings: Vec<Naming>,
    pub(super) naming_numbers: HashMap<Naming, u32>,
    /// Per element of the events' node its innermost declaration.
    pub(super) scopes: Vec<Option<u32>>,
    pub(super) declared: Vec<Declared>,
    /// Where the document type gives something: entities and defaults. In order; noted where an element is sent alone.
    pub(super) foreign: Vec<u32>,
}

impl Found {
    pub(super) fn new(plan: &Plan) -> Found {
        let mut found = Found::default();
        found.elements.resize_with(plan.names.nodes().len(), Vec::new);
        found.written.resize_with(plan.names.nodes().len(), Vec::new);
        found.attributes.resize_with(plan.names.attributes, Vec::new);
        found
    }

    /// Whether an element has something that only the document type gives.
    pub(super) fn is_foreign(&self, instance: &Instance) -> bool {
        let first = self.foreign.partition_point(|at| *at < instance.start);
        self.foreign.get(first).is_some_and(|at| *at < instance.end)
    }

    /// Empties everything and keeps the memory, but for what a rare large document took.
    pub(super) fn clear(&mut self) {
        const KEPT: usize = 1024;
        const KEPT_BYTES: usize = 1 << 16;
        fn empty<T>(all: &mut Vec<T>) {
            all.clear();
            all.shrink_to(KEPT);
        }
        self.elements.iter_mut().for_each(empty);
        self.attributes.iter_mut().for_each(empty);
        self.written.iter_mut().for_each(empty);
        self.arena.clear();
        self.arena.shrink_to(KEPT_BYTES);
        self.root_start = 0;
        self.root_name = None;
        empty(&mut self.namings);
        self.naming_numbers.clear();
        self.naming_numbers.shrink_to(KEPT);
        empty(&mut self.scopes);
        empty(&mut self.declared);
        empty(&mut self.foreign);
    }

    pub(super) fn element(&self, node: NodeIndex, index: ElementIndex) -> Option<&Instance> {
        self.elements.get(node)?.get(wide(index))
    }

    pub(super) fn attribute(&self, attribute: AttributeIndex, index: u32) -> Option<&AttributeHere> {
        self.attributes.get(attribute)?.get(wide(index))
    }

    /// The text behind a range; `document` is the document's.
    pub(super) fn text<'a>(&'a self, document: &'a str, range: TextRange) -> &'a str {
        let source = if range.arena { &self.arena } else { document };
        source.get(wide(range.start)..wide(range.end)).unwrap_or_default()
    }

    /// The children, in a node below, of a run of elements.
    pub(super) fn children(&self, node: NodeIndex, parents: &Range<u32>) -> Range<u32> {
        let all = self.elements.get(node).map_or(&[][..], Vec::as_slice);
        run_of(all, parents, |instance| instance.parent)
    }

    /// The attributes of a run of elements.
    pub(super) fn attributes_of(&self, attribute: AttributeIndex, owners: &Range<u32>) -> Range<u32> {
        let all = self.attributes.get(attribute).map_or(&[][..], Vec::as_slice);
        run_of(all, owners, |here| here.owner)
    }

    /// The element so many nodes up, and its number.
    pub(super) fn above(
        &self,
        plan: &Plan,
        mut node: NodeIndex,
        mut index: ElementIndex,
        up: usize,
    ) -> (NodeIndex, ElementIndex) {
        for _ in 0..up {
            index = self.element(node, index).map_or(0, |instance| instance.parent);
            node = plan.names.node(node).map_or(node, |node| node.parent);
        }
        (node, index)
    }

    /// The number of a naming.
    pub(super) fn naming(&mut self, naming: Naming) -> u32 {
        if let Some(known) = self.naming_numbers.get(&naming) {
            return *known;
        }
        let number = small(self.namings.len());
        self.namings.push(naming.clone());
        self.naming_numbers.insert(naming, number);
        number
    }
}

/// The run of things whose owner is in a run; the owners are in order.
fn run_of<T>(all: &[T], owners: &Range<u32>, owner: impl Fn(&T) -> u32) -> Range<u32> {
    // Most nodes have one element, or none.
    if all.len() <= 1 {
        let has = all.first().is_some_and(|only| owners.contains(&owner(only)));
        return 0..u32::from(has);
    }
    let first = all.partition_point(|one| owner(one) < owners.start);
    let rest = all.get(first..).unwrap_or_default();
    // Most runs are short: only of a long one is the end searched for.
    const SHORT: usize = 4;
    let short = rest.iter().take(SHORT).take_while(|one| owner(one) < owners.end).count();
    let length = match short {
        SHORT => rest.partition_point(|one| owner(one) < owners.end),
        _ => short,
    };
    small(first)..small(first.saturating_add(length))
}

/// An offset or number, which `Decoder` sees to that 32 bits hold.
pub(super) fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Back.
pub(super) fn wide(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_the_header_says() {
        assert_eq!((size_of::<Instance>(), size_of::<AttributeHere>()), (36, 24));
    }
}
