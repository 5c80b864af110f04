//! Replayed: which letters have a marker.
//!
//! In:        places of letters, in any order     Out: whether a letter is among them
//! Holds:     two numbers for each row of letters that lie side by side

use crate::model::Offset;
use std::collections::BTreeMap;

/// A set of places.
#[derive(Debug, Default)]
pub(super) struct Replayed {
    /// Per partition: where a row begins, and the offset behind it. No two rows touch.
    rows: BTreeMap<i32, BTreeMap<i64, i64>>,
}

impl Replayed {
    /// The letter there was replayed.
    pub(super) fn add(&mut self, partition: i32, Offset(offset): Offset) {
        if self.contains(partition, Offset(offset)) {
            return;
        }
        let rows = self.rows.entry(partition).or_default();
        let behind = offset.saturating_add(1);
        let end = rows.remove(&behind).unwrap_or(behind);
        match rows.range_mut(..offset).next_back() {
            Some((_, before)) if *before == offset => *before = end,
            _ => {
                rows.insert(offset, end);
            }
        }
    }

    /// Whether it was.
    pub(super) fn contains(&self, partition: i32, Offset(offset): Offset) -> bool {
        let row = self.rows.get(&partition).and_then(|rows| rows.range(..=offset).next_back());
        row.is_some_and(|(_, end)| offset < *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_holds_what_was_added_in_rows_that_do_not_touch(added in proptest::collection::vec((0..3, 0..40_i64), 0..120)) {
            let mut replayed = Replayed::default();
            let mut plain = BTreeSet::new();
            for (partition, offset) in added {
                replayed.add(partition, Offset(offset));
                plain.insert((partition, offset));
            }
            for partition in 0..3 {
                for offset in -1..42 {
                    let holds = replayed.contains(partition, Offset(offset));
                    prop_assert_eq!(holds, plain.contains(&(partition, offset)));
                }
            }
            for rows in replayed.rows.values() {
                let rows: Vec<_> = rows.iter().collect();
                prop_assert!(rows.windows(2).all(|pair| pair[0].1 < pair[1].0), "{:?}", rows);
            }
        }
    }
}
