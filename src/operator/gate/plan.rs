//! Plan: a transaction's events in waves, so that working set by set has the outcome of one by one.
//!
//! In:        ordering keys in queue order     Out: indexes in waves; within one wave no key occurs twice
//! Order:     a key's n-th event is in a wave before its (n + 1)-th
//! Not here:  what is done per wave (lane)
//!
//! Between events of different keys no order is promised, and the database would let other lanes run between any two
//! statements. So all first events of their keys may do their look-up, then their store, step by step together; the
//! second ones come after them and see what they did.

use std::collections::HashMap;

/// The waves of these keys. `single_step`: the job has one step, which the database runs row by row in order: one wave.
pub(super) fn waves<'a>(keys: impl Iterator<Item = &'a [u8]>, single_step: bool) -> Vec<Vec<usize>> {
    let mut waves: Vec<Vec<usize>> = Vec::new();
    #[allow(clippy::disallowed_types, reason = "only looked up, never iterated")]
    let mut seen: HashMap<&[u8], usize> = HashMap::new();
    for (index, key) in keys.enumerate() {
        let wave = if single_step {
            0
        } else {
            let count = seen.entry(key).or_insert(0);
            *count += 1;
            *count - 1
        };
        match waves.get_mut(wave) {
            Some(list) => list.push(index),
            None => waves.push(vec![index]),
        }
    }
    waves
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_key_occurs_once_per_wave() {
        let keys = ["a", "b", "a", "a", "c", "b"];
        let list = waves(keys.iter().map(|k| k.as_bytes()), false);
        assert_eq!(list, vec![vec![0, 1, 4], vec![2, 5], vec![3]]);
        assert_eq!(waves(keys.iter().map(|k| k.as_bytes()), true), vec![vec![0, 1, 2, 3, 4, 5]]);
    }

    proptest! {
        #[test]
        fn per_key_order_survives(keys in proptest::collection::vec(0_u8..5, 0..60)) {
            let bytes: Vec<[u8; 1]> = keys.iter().map(|k| [*k]).collect();
            let order: Vec<usize> = waves(bytes.iter().map(|k| k.as_slice()), false).concat();
            prop_assert_eq!(order.len(), keys.len());
            for key in 0..5 {
                let mine: Vec<usize> = order.iter().copied().filter(|i| keys[*i] == key).collect();
                prop_assert!(mine.windows(2).all(|w| w[0] < w[1]));
            }
        }
    }
}
