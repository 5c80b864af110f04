//! All names that a job's paths go through, as one tree from above the root.
//!
//! In:        steps from one node to the next     Out: a tree that the pass descends as elements open
//! Holds:     per node what is taken of its elements: text, attributes, scope
//! Fails:     never
//! Not here:  predicates and what paths make of what was found (see `program`)
//!
//! A node is a list of names, so it has one depth, and its elements in a document never contain each other.

use crate::job::Name;
use crate::xml::scope::{NamespaceId, Namespaces};

/// Index into [`Names::nodes`].
pub(in crate::xml) type NodeIndex = usize;
/// Which attribute of which node.
pub(in crate::xml) type AttributeIndex = usize;

/// The tree.
#[derive(Debug)]
pub(in crate::xml) struct Names {
    pub(in crate::xml) namespaces: Namespaces,
    nodes: Vec<Node>,
    /// How many different attributes are read.
    pub(in crate::xml) attributes: usize,
    /// Where the root may have any name: the names that absolute paths ask it to have.
    pub(in crate::xml) root_names: Vec<(NamespaceId, String)>,
}

/// One list of names from the root down.
#[derive(Debug, Default)]
pub(in crate::xml) struct Node {
    pub(in crate::xml) parent: NodeIndex,
    pub(in crate::xml) depth: usize,
    /// Sorted by name.
    children: Vec<(NamespaceId, String, NodeIndex)>,
    /// Of the document where the job names no root: whatever it is.
    any: Option<NodeIndex>,
    /// The own text is read.
    pub(in crate::xml) text: bool,
    /// Whether it is nil is asked, too, where the text is not read.
    pub(in crate::xml) nil: bool,
    pub(in crate::xml) attributes: Vec<(NamespaceId, String, AttributeIndex)>,
    /// What is to be written in or at its elements, whose names depend on what is in scope there.
    pub(in crate::xml) written: Vec<Written>,
    /// What is in scope around it is needed.
    pub(in crate::xml) scope: bool,
}

/// An element or attribute that an edit makes.
#[derive(Debug)]
pub(in crate::xml) struct Written {
    /// Which edit, among all of the job.
    pub(in crate::xml) edit: usize,
    pub(in crate::xml) namespace: NamespaceId,
    pub(in crate::xml) uri: String,
    pub(in crate::xml) attribute: bool,
    /// The prefix where the document binds none.
    pub(in crate::xml) prefix: String,
}

impl Node {
    pub(in crate::xml) fn child(&self, namespace: NamespaceId, local: &str) -> Option<NodeIndex> {
        if self.any.is_some() {
            return self.any;
        }
        // Few are told apart sooner by their lengths than by their order.
        const FEW: usize = 12;
        let found = if self.children.len() <= FEW {
            self.children.iter().find(|(n, l, _)| *n == namespace && l == local)
        } else {
            let place = self.children.binary_search_by(|(n, l, _)| (*n, l.as_str()).cmp(&(namespace, local)));
            place.ok().and_then(|index| self.children.get(index))
        };
        found.map(|(_, _, node)| *node)
    }

    pub(in crate::xml) fn attribute(&self, namespace: NamespaceId, local: &str) -> Option<AttributeIndex> {
        self.attributes.iter().find(|(n, l, _)| *n == namespace && l == local).map(|(_, _, index)| *index)
    }
}

impl Names {
    /// The node above the root.
    pub(in crate::xml) const DOCUMENT: NodeIndex = 0;

    pub(super) fn new() -> Names {
        Names {
            namespaces: Namespaces::new(),
            nodes: vec![Node::default()],
            attributes: 0,
            root_names: Vec::new(),
        }
    }

    pub(in crate::xml) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(in crate::xml) fn node(&self, index: NodeIndex) -> Option<&Node> {
        self.nodes.get(index)
    }

    pub(super) fn node_mut(&mut self, index: NodeIndex) -> Option<&mut Node> {
        self.nodes.get_mut(index)
    }

    /// The node so many steps up; none above the document.
    pub(in crate::xml) fn above(&self, from: NodeIndex, up: usize) -> Option<NodeIndex> {
        let mut at = from;
        for _ in 0..up {
            at = self.node(at).filter(|node| node.depth > 0)?.parent;
        }
        Some(at)
    }

    /// The root's node, whatever its name: no other root is known from now on.
    pub(super) fn any_root(&mut self) -> NodeIndex {
        let new = self.push(Names::DOCUMENT);
        match self.nodes.get_mut(Names::DOCUMENT) {
            Some(document) => *document.any.get_or_insert(new),
            None => new,
        }
    }

    /// The child of this name, made where it is missing.
    pub(super) fn down(&mut self, from: NodeIndex, name: &Name) -> NodeIndex {
        let namespace = self.namespaces.intern(name.namespace.as_deref());
        let Some(node) = self.nodes.get(from) else { return from };
        if let Some(any) = node.any {
            return any;
        }
        let place = node
            .children
            .binary_search_by(|(n, l, _)| (*n, l.as_str()).cmp(&(namespace, name.local.as_str())));
        match place {
            Ok(found) => node.children.get(found).map_or(from, |(_, _, child)| *child),
            Err(place) => {
                let new = self.push(from);
                if let Some(node) = self.nodes.get_mut(from) {
                    node.children.insert(place, (namespace, name.local.clone(), new));
                }
                new
            }
        }
    }

    /// What the root must be named where it may have any name; none: names from the document down say it already.
    pub(super) fn root_name(&mut self, name: &Name) -> Option<usize> {
        self.nodes.first().and_then(|document| document.any)?;
        let namespace = self.namespaces.intern(name.namespace.as_deref());
        let known = self.root_names.iter().position(|(n, l)| *n == namespace && *l == name.local);
        Some(known.unwrap_or_else(|| {
            self.root_names.push((namespace, name.local.clone()));
            self.root_names.len().saturating_sub(1)
        }))
    }

    /// The attribute of a node, read from now on.
    pub(super) fn attribute(&mut self, node: NodeIndex, name: &Name) -> AttributeIndex {
        let namespace = self.namespaces.intern(name.namespace.as_deref());
        let next = self.attributes;
        let Some(node) = self.nodes.get_mut(node) else { return next };
        if let Some(known) = node.attribute(namespace, &name.local) {
            return known;
        }
        node.attributes.push((namespace, name.local.clone(), next));
        self.attributes = next.saturating_add(1);
        next
    }

    fn push(&mut self, parent: NodeIndex) -> NodeIndex {
        let depth = self.nodes.get(parent).map_or(0, |node| node.depth).saturating_add(1);
        self.nodes.push(Node { parent, depth, ..Node::default() });
        self.nodes.len().saturating_sub(1)
    }
}
