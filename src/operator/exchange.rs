//! Exchange: which key group an ordering key belongs to, and which worker handles it.
//!
//! In:        an ordering key, or the coordinates of a record that has none     Out: a key group
//! Order:     one key is always in one group, one group on one worker: a key's events meet in one queue
//! Fails:     never
//! Not here:  no rebalancing: key group g belongs to worker g mod workers for the life of a run
//!
//! The hash is part of the ledger's meaning: positions are kept per key group, so it may never change. SipHash 1-3 with
//! the keys zero.

use crate::model::{KeyGroup, KeyId, Offset, TopicPartition};
use siphasher::sip::SipHasher13;
use siphasher::sip128::{Hasher128, SipHasher13 as SipHasher128};
use std::hash::Hasher;

/// The key group of an ordering key.
pub fn key_group_of(key: &[u8], key_groups: u32) -> KeyGroup {
    let mut hasher = SipHasher13::new();
    hasher.write(key);
    reduce(hasher.finish(), key_groups)
}

/// What is kept of an ordering key that is parked. Part of the ledger's meaning, too: it may never change.
pub fn key_id_of(key: &[u8]) -> KeyId {
    let mut hasher = SipHasher128::new();
    hasher.write(key);
    KeyId(hasher.finish128().as_u128())
}

/// The key group of a record whose key cannot be read: spread by coordinates, the same at every reading.
pub fn key_group_of_unreadable(at: TopicPartition, offset: Offset, key_groups: u32) -> KeyGroup {
    let mut hasher = SipHasher13::new();
    hasher.write(&at.topic.to_le_bytes());
    hasher.write(&at.partition.to_le_bytes());
    hasher.write(&offset.0.to_le_bytes());
    reduce(hasher.finish(), key_groups)
}

fn reduce(hash: u64, key_groups: u32) -> KeyGroup {
    let group = hash.checked_rem(u64::from(key_groups)).unwrap_or(0);
    KeyGroup(u32::try_from(group).unwrap_or(0))
}

/// Whether a worker owns something with this number: a key group or a partition.
pub fn owns(number: u64, worker: usize, workers: usize) -> bool {
    let workers = u64::try_from(workers).unwrap_or(1).max(1);
    u64::try_from(worker).is_ok_and(|worker| number % workers == worker)
}

/// The key groups that a worker owns.
pub fn owned_groups(key_groups: u32, worker: usize, workers: usize) -> Vec<KeyGroup> {
    (0..key_groups).filter(|g| owns(u64::from(*g), worker, workers)).map(KeyGroup).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_hash_is_the_ledgers_for_ever() {
        assert_eq!(key_group_of(b"", 1 << 16), KeyGroup(21292));
        assert_eq!(key_group_of(b"order-1", 1 << 16), KeyGroup(61875));
        assert_eq!(key_id_of(b"order-1"), KeyId(252_793_750_284_417_009_599_334_193_658_275_803_999));
    }

    proptest! {
        #[test]
        fn every_key_group_has_one_owner(key_groups in 1_u32..300, workers in 1_usize..20) {
            let mut owners = vec![0; usize::try_from(key_groups).unwrap()];
            for worker in 0..workers {
                for group in owned_groups(key_groups, worker, workers) {
                    owners[usize::try_from(group.0).unwrap()] += 1;
                }
            }
            prop_assert!(owners.iter().all(|n| *n == 1));
        }
    }
}
