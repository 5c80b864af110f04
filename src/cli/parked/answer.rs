//! What is said where nothing fits.
//!
//! In:        filters that nothing fits     Out: a sentence: which, and what is parked instead
//! Not here:  the filters' meaning (wish)

use super::ledger::Ledger;
use super::list::{each_event, each_key};
use super::words::counted;
use super::{Failure, wish};
use crate::cli::args::ParkedFilter;
use crate::database::{ParkedState, ParkedWish};
use std::collections::BTreeMap;

/// Most reasons that are named.
const REASONS: usize = 8;

pub(super) fn nothing(ledger: &mut Ledger, filter: &ParkedFilter) -> Result<String, Failure> {
    let job = ledger.spec.name.clone();
    let all = ParkedWish::default();
    let (mut keys, mut events): (u64, u64) = (0, 0);
    each_key(ledger, &all, &mut |_, page| {
        keys += page.iter().map(|_| 1).sum::<u64>();
        events += page.iter().map(|key| key.events).sum::<u64>();
        Ok(())
    })?;
    if events == 0 {
        return Ok(format!("nothing is parked of job \"{job}\""));
    }
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    each_event(ledger, &all, &mut |_, page| {
        for row in page.iter().filter(|row| row.state != ParkedState::Dropped) {
            *reasons.entry(row.reason.clone()).or_default() += 1;
        }
        Ok(())
    })?;
    let mut reasons: Vec<(u64, String)> =
        reasons.into_iter().map(|(reason, count)| (count, reason)).collect();
    reasons.sort_by(|a, b| b.cmp(a));
    let named: Vec<String> =
        reasons.iter().take(REASONS).map(|(count, reason)| format!("{reason} ({count})")).collect();
    let more = if reasons.len() > REASONS { ", ..." } else { "" };
    Ok(format!(
        "nothing is parked that fits {}; of job \"{job}\" are parked {} of {}, by reason: {}{more}",
        wish::typed(filter),
        counted(events, "event"),
        counted(keys, "key"),
        named.join(", "),
    ))
}
