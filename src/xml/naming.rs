//! How names that edits write must be written at one place, and what is in scope there.
//!
//! In:        an element as it opens     Out: noted in [`Found`], by number: equal ones once
//! Fails:     never
//! Not here:  writing (see `splice`)

use super::finder::Element;
use super::found::{Declared, Found, Naming, small};
use super::plan::{Node, NodeIndex, Written};
use super::scope::{NamespaceId, Scope};

/// Notes the names that edits may write in or at this element.
pub(super) fn note(at: NodeIndex, node: &Node, element: &Element<'_>, found: &mut Found) {
    for written in &node.written {
        let naming = if written.attribute {
            of_attribute(written, element.scope)
        } else {
            of_element(written, element)
        };
        let number = found.naming(naming);
        if let Some(numbers) = found.written.get_mut(at) {
            numbers.push(number);
        }
    }
}

/// An added element's name: like that of the element that it goes into where both are in one namespace, else with the
/// innermost prefix that the document binds, else with the job's prefix, declared on the added element itself (which hides
/// an outer meaning of that prefix for the added element alone).
fn of_element(written: &Written, element: &Element<'_>) -> Naming {
    let naming = |prefix: &str, declare| Naming { prefix: prefix.to_owned(), declare };
    if written.namespace == NamespaceId::NONE {
        let hidden = element.scope.resolve("").is_some_and(|default| default.id != NamespaceId::NONE);
        return naming("", hidden);
    }
    if written.namespace == element.namespace.id {
        return naming(element.prefix(), false);
    }
    match element.scope.prefix_of(&written.uri) {
        Some(prefix) => naming(prefix, false),
        None => naming(&written.prefix, true),
    }
}

/// A new attribute's name: with the innermost prefix that the document binds, else with one that means nothing here.
fn of_attribute(written: &Written, scope: &Scope) -> Naming {
    if written.namespace == NamespaceId::NONE {
        return Naming { prefix: String::new(), declare: false };
    }
    if let Some(prefix) = scope.attribute_prefix_of(&written.uri) {
        return Naming { prefix: prefix.to_owned(), declare: false };
    }
    let mut prefix = written.prefix.clone();
    let mut tried = 0_u32;
    // Ends: only so many prefixes can be in scope.
    while scope.resolve(&prefix).is_some() {
        tried = tried.saturating_add(1);
        prefix = format!("{}_{tried}", written.prefix);
    }
    Naming { prefix, declare: true }
}

/// Notes what is in scope at an event's element: each declaration of the document once.
pub(super) fn note_scope(element: &Element<'_>, known: &mut Vec<(u64, u32)>, found: &mut Found) {
    let mut depth = 0_usize;
    let mut innermost = None;
    for (stamp, prefix, uri) in element.scope.declarations() {
        let number = match known.get(depth) {
            Some((same, number)) if *same == stamp => *number,
            _ => {
                known.truncate(depth);
                let number = small(found.declared.len());
                let (prefix, uri) = (prefix.to_owned(), uri.to_owned());
                found.declared.push(Declared { prefix, uri, outer: innermost });
                known.push((stamp, number));
                number
            }
        };
        innermost = Some(number);
        depth = depth.saturating_add(1);
    }
    found.scopes.push(innermost);
}
