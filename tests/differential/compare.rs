//! Compare: the first difference of what two runs left.
//!
//! In:        both     Out: where they differ, or nothing
//! Order:     of rows by their table's key or number; of outputs, dead letters and parked events as promised: per ordering
//!            key. Across keys the topics may have them in any order
//! Not here:  what a person reads of a reason (it may name a constraint or another one), batch numbers, times

use super::play::{Left, Lines};
use std::collections::{BTreeMap, BTreeSet};

/// `one_order`: both took events of different keys in the same order.
pub fn difference(reference: &Left, other: &Left, one_order: bool) -> Option<String> {
    // What cannot be read has no ordering key, and is no neighbour of what has its Kafka key.
    let sorted = |left: &Left| left.dead.iter().map(|(key, lines)| (key.clone(), sorted(lines))).collect();
    let (dead, others) = if one_order {
        (reference.dead.clone(), other.dead.clone())
    } else {
        (sorted(reference), sorted(other))
    };
    let kinds = [
        ("table", &reference.tables, &other.tables),
        ("outputs of", &reference.outputs, &other.outputs),
        ("dead letters of key", &dead, &others),
        ("parked events of key", &reference.parked, &other.parked),
    ];
    kinds.into_iter().find_map(|(kind, reference, other)| first(kind, reference, other))
}

fn first(kind: &str, reference: &BTreeMap<String, Lines>, other: &BTreeMap<String, Lines>) -> Option<String> {
    let names: BTreeSet<&String> = reference.keys().chain(other.keys()).collect();
    let none = Lines::new();
    for name in names {
        let (one, two) = (reference.get(name).unwrap_or(&none), other.get(name).unwrap_or(&none));
        for index in 0..one.len().max(two.len()) {
            let (one, two) = (one.get(index), two.get(index));
            if one != two {
                let shown = |line: Option<&String>| line.map_or("nothing", |line| line).to_owned();
                return Some(format!(
                    "{kind} {name}, line {index}:\n  one by one: {}\n  together:   {}",
                    shown(one),
                    shown(two)
                ));
            }
        }
    }
    None
}

fn sorted(lines: &Lines) -> Lines {
    let mut lines = lines.clone();
    lines.sort();
    lines
}
