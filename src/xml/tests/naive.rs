//! An independent parser's tree, and paths carried out over it step by step: what the matcher is held to.

use super::*;
use crate::job::Predicate;
use roxmltree::Node;

/// What a path finds: elements, or attributes of elements.
pub(super) enum Found<'a, 'i> {
    Elements(Vec<Node<'a, 'i>>),
    Attributes(Vec<(Node<'a, 'i>, roxmltree::Attribute<'a, 'i>)>),
    Count(usize),
}

impl Found<'_, '_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Found::Elements(all) => all.len(),
            Found::Attributes(all) => all.len(),
            Found::Count(count) => *count,
        }
    }

    pub(super) fn texts(&self) -> Vec<String> {
        match self {
            Found::Elements(all) => all.iter().map(own_text).collect(),
            Found::Attributes(all) => all.iter().map(|(_, attribute)| attribute.value().to_owned()).collect(),
            Found::Count(count) => vec![count.to_string()],
        }
    }
}

/// The text of an element that is not its children's.
pub(super) fn own_text(node: &Node<'_, '_>) -> String {
    node.children().filter(Node::is_text).filter_map(|text| text.text()).collect()
}

fn is_named(node: &Node<'_, '_>, name: &Name) -> bool {
    let named = node.tag_name();
    node.is_element()
        && named.name() == name.local
        && named.namespace().filter(|uri| !uri.is_empty()) == name.namespace.as_deref()
}

fn attribute<'a, 'i>(node: &Node<'a, 'i>, name: &Name) -> Option<roxmltree::Attribute<'a, 'i>> {
    node.attributes().find(|a| a.name() == name.local && a.namespace() == name.namespace.as_deref())
}

/// The elements behind steps from one node.
pub(super) fn walk<'a, 'i>(from: Node<'a, 'i>, steps: &[PathStep]) -> Vec<Node<'a, 'i>> {
    let mut here = vec![from];
    for step in steps {
        let mut next = Vec::new();
        for node in here {
            let mut children: Vec<_> = node.children().filter(|child| is_named(child, &step.name)).collect();
            for predicate in &step.predicates {
                children = match predicate {
                    Predicate::Nth(n) => children.get(n - 1).copied().into_iter().collect(),
                    Predicate::Last => children.last().copied().into_iter().collect(),
                    Predicate::Equals { steps, attribute, value } => children
                        .into_iter()
                        .filter(|child| is_equal(*child, steps, attribute.as_ref(), value))
                        .collect(),
                };
            }
            next.extend(children);
        }
        here = next;
    }
    here
}

fn is_equal(node: Node<'_, '_>, steps: &[Name], name: Option<&Name>, value: &str) -> bool {
    let steps: Vec<PathStep> =
        steps.iter().map(|name| PathStep { name: name.clone(), predicates: Vec::new() }).collect();
    walk(node, &steps).iter().any(|found| match name {
        Some(name) => attribute(found, name).is_some_and(|attribute| attribute.value() == value),
        None => own_text(found) == value,
    })
}

fn branch<'a, 'i>(from: Node<'a, 'i>, branch: &Branch) -> Found<'a, 'i> {
    let mut start = from;
    match branch.from {
        Base::Root => start = from.document().root(),
        Base::Here { up } => {
            for _ in 0..up {
                start = start.parent().unwrap();
            }
        }
    }
    let elements = walk(start, &branch.steps);
    let attributes = |name: &Name| {
        elements.iter().filter_map(|node| Some((*node, attribute(node, name)?))).collect::<Vec<_>>()
    };
    match &branch.end {
        End::Element => Found::Elements(elements),
        End::Attribute(name) => Found::Attributes(attributes(name)),
        End::Count(None) => Found::Count(elements.len()),
        End::Count(Some(name)) => Found::Count(attributes(name).len()),
    }
}

/// What the first alternative finds that finds something; else the last one.
pub(super) fn find<'a, 'i>(from: Node<'a, 'i>, path: &Path) -> Found<'a, 'i> {
    let mut last = None;
    for alternative in &path.branches {
        let found = branch(from, alternative);
        if found.len() > 0 {
            return found;
        }
        last = Some(found);
    }
    last.unwrap()
}

/// Everything that any alternative finds.
pub(super) fn find_all<'a, 'i>(from: Node<'a, 'i>, path: &Path) -> Vec<Found<'a, 'i>> {
    path.branches.iter().map(|alternative| branch(from, alternative)).collect()
}
