//! A batch: whether nearly the whole document is records of one kind, each of which is an event.
//!
//! In:        the shape of all samples     Out: the way to the records, and their shape
//! Fails:     never: what is no batch is one event
//! Not here:  what an event has (`draft`)

use super::is_of_schema;
use crate::cli::new::shape::Shape;
use crate::job::Name;

/// A batch has at least this share of its document's elements in its records, in percent, ...
const BATCH_PERCENT: usize = 85;
/// ... so many records somewhere, ...
const BATCH_RECORDS: usize = 2;
/// ... and around them no more fields than these.
const BATCH_HEAD_FIELDS: usize = 14;

/// The way to the records and their shape, where nearly the whole document is records.
pub(super) fn batch<'s, 'a>(root: &'s Shape<'a>) -> Option<(Vec<&'a Name>, &'s Shape<'a>)> {
    let total = root.weight();
    let (mut way, mut at) = (vec![root.name], root);
    loop {
        let heaviest = at.children.iter().max_by_key(|child| child.weight())?;
        way.push(heaviest.name);
        if heaviest.most() < BATCH_RECORDS {
            if heaviest.is_missing_somewhere() {
                return None;
            }
            at = heaviest;
            continue;
        }
        let share = heaviest.weight() * 100 >= total * BATCH_PERCENT;
        let are_records = !heaviest.children.is_empty() && !heaviest.mixed;
        // A statement with its entries has a head that says more.
        let head = leaves(root).saturating_sub(leaves(heaviest));
        let everywhere = !heaviest.is_missing_somewhere();
        // The head is looked for by name: the records' name must be theirs alone.
        return (share && are_records && everywhere && head <= BATCH_HEAD_FIELDS).then_some((way, heaviest));
    }
}

/// Attributes and texts that there are.
fn leaves(shape: &Shape<'_>) -> usize {
    let own = shape.attributes.iter().filter(|attribute| !is_of_schema(attribute.name)).count();
    let text = usize::from(!shape.texts.filled.is_empty());
    own + text + shape.children.iter().map(leaves).sum::<usize>()
}
