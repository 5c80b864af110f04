//! Step 5 of a start, beside the positions: the parked keys of this worker's key groups.
//!
//! In:        key groups whose claims stand     Out: their parked keys; which of the groups are marked
//! Order:     behind the claim: nobody else parks or frees a key of them any more
//! Fails:     an outage -> asked again
//! Not here:  parked events: they stay in the ledger until somebody wants them tried

use super::{StartSetup, Stopped};
use crate::database::PositionRow;
use crate::model::{KeyGroup, KeyId};
use std::collections::{BTreeMap, BTreeSet};

/// What is parked.
pub(super) struct Found {
    pub(super) parked: BTreeMap<KeyGroup, BTreeSet<KeyId>>,
    pub(super) marked: Vec<KeyGroup>,
}

pub(super) async fn find(setup: &StartSetup, rows: &[PositionRow]) -> Result<Found, Stopped> {
    let mut parked: BTreeMap<KeyGroup, BTreeSet<KeyId>> = BTreeMap::new();
    // One question per key group: an answer with all keys of a million must not run into a deadline.
    for row in rows {
        let group = [row.group];
        let keys = setup.patience.ledger(&setup.ledger, async |session| session.parked_keys(&group).await);
        let keys = keys.await?;
        if !keys.is_empty() {
            parked.entry(row.group).or_default().extend(keys.into_iter().map(|(_, key)| key));
        }
    }
    let groups: Vec<KeyGroup> = parked.keys().copied().collect();
    let marked = setup.patience.ledger(&setup.ledger, async |session| session.marked_groups(&groups).await);
    let marked = if groups.is_empty() { Vec::new() } else { marked.await? };
    if !parked.is_empty() {
        let keys: usize = parked.values().map(BTreeSet::len).sum();
        tracing::info!(worker = setup.worker, keys, "keys are parked: their events wait in the ledger");
    }
    Ok(Found { parked, marked })
}
