//! Links: what a statement does to other tables because a foreign key asks for it.
//!
//! In:        what a statement does by its SQL, and the schema's foreign keys     Out: the same with what they add
//! Order:     a child's new row reads its parent; a parent's row that goes, or changes its key, reads its children, or changes
//!            them, and so on down
//! Fails:     where the ways of cascades are too many, by leaving nothing fixed
//! Not here:  whether it matters (sets)

use super::facts::{ForeignKey, SchemaFacts, TableName};
use super::statement::{Access, Bound, How, Write};
use std::collections::BTreeSet;

/// So many accesses of one statement are followed.
const ACCESSES_MAX: usize = 64;

/// Adds what the links of the schema make of these accesses.
pub(super) fn with_links(mut list: Vec<Access>, facts: &SchemaFacts) -> Result<Vec<Access>, String> {
    let mut next = 0;
    while let Some(access) = list.get(next).cloned() {
        next += 1;
        let How::Write(write) = &access.how else { continue };
        for link in &facts.links {
            let mut found = Vec::new();
            if link.child == access.table.name && points(write, link) {
                found.push(of_parent(&access, link));
            }
            if link.parent == access.table.name && lets_go(write, link) {
                found.push(of_child(&access, link));
            }
            for one in found {
                if !list.contains(&one) {
                    list.push(one);
                }
            }
        }
        if list.len() > ACCESSES_MAX {
            return Err("its foreign keys lead to too many tables".to_owned());
        }
    }
    Ok(list)
}

/// A child's row is given a parent.
fn points(write: &Write, link: &ForeignKey) -> bool {
    write.inserts
        || link.columns.is_empty()
        || link.columns.iter().any(|(child, _)| write.assigned.contains(child))
}

/// A parent's row may leave its children.
fn lets_go(write: &Write, link: &ForeignKey) -> bool {
    let changes =
        link.columns.is_empty() || link.columns.iter().any(|(_, parent)| write.assigned.contains(parent));
    write.deletes || (changes && !write.assigned.is_empty())
}

fn of_parent(access: &Access, link: &ForeignKey) -> Access {
    let pairs = link.columns.iter();
    let bound = pairs.filter_map(|(child, parent)| Some((parent.clone(), access.bound.get(child)?.clone())));
    Access {
        table: TableName { schema: None, name: link.parent.clone() },
        how: How::Read,
        bound: bound.collect(),
        by_link: Some(link.name.clone()),
    }
}

fn of_child(access: &Access, link: &ForeignKey) -> Access {
    let pairs = link.columns.iter();
    let bound: Bound = pairs
        .clone()
        .filter_map(|(child, parent)| Some((child.clone(), access.bound.get(parent)?.clone())))
        .collect();
    let assigned: BTreeSet<String> = pairs.map(|(child, _)| child.clone()).collect();
    // Whether its rows go or point elsewhere: both are held for possible, and a column that changes is not fixed. Nor is it
    // where a new row takes the place of one that it meets by another key.
    let bound = if access.inserts() { Bound::new() } else { bound };
    let (how, bound) = if link.cascades {
        (How::Write(Write { inserts: false, deletes: true, assigned }), Bound::new())
    } else {
        (How::Read, bound)
    };
    Access {
        table: TableName { schema: None, name: link.child.clone() },
        how,
        bound,
        by_link: Some(link.name.clone()),
    }
}
