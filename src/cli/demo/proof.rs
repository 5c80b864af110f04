//! Proof: what the tables and the topics hold, against what was sent. None of the job's counters is asked.
//!
//! In:        how many changes were sent; the database's file; what the collector found     Out: [`Proof`], and in words
//! Fails:     where the database cannot be read; a proof that does not hold is an answer
//! Not here:  when it is time for one (demo)

use super::collector::Collected;
use super::shop::Shop;
use super::tally::Tally;
use crate::database::Onlooker;
use crate::model::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// What one place holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Place {
    name: &'static str,
    sent: u64,
    found: u64,
    lost: u64,
    doubled: u64,
    /// Out of order.
    late: u64,
    altered: u64,
}

/// All that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Proof {
    /// Records that the shop has sent.
    sent: u64,
    /// Records that the ledger says are handled: it is where the next start would go on.
    read: u64,
    stored: Place,
    emitted: Place,
    rejected: Place,
    reasons: BTreeMap<String, u64>,
}

/// Reads the tables, and holds them and what was collected against what was sent.
pub(super) fn prove(shop: Shop, changes: u64, database: &Path, found: &Collected) -> Result<Proof, String> {
    let unread = |error| format!("the demo cannot read back what the job stored: {error}");
    let onlooker = Onlooker::open(database).map_err(unread)?;
    let mut read = 0;
    onlooker
        .each("SELECT SUM(next_offset) FROM tidegate_frontier WHERE job = 'demo'", |row| {
            read = number(row.first());
        })
        .map_err(unread)?;
    let mut history = Tally::default();
    onlooker
        .each("SELECT change, id, customer_name, total FROM order_history ORDER BY nr", |row| {
            let change = shop.change(number(row.first()));
            let wanted = [change.id(), change.customer_name().to_owned(), change.total()].map(Value::Text);
            history.take(change.number, Some(change.order), row.get(1..) == Some(wanted.as_slice()));
        })
        .map_err(unread)?;
    let (mut orders, mut stale) = (0, 0);
    onlooker
        .each("SELECT change, id FROM orders", |row| {
            let change = shop.change(number(row.first()));
            let is_newest = history.newest(change.order) == change.number;
            let is_its_own = row.get(1) == Some(&Value::Text(change.id()));
            orders += 1;
            stale += u64::from(!is_newest || !is_its_own);
        })
        .map_err(unread)?;
    let planted = shop.planted_within(changes);
    let mut stored = place("table order_history", changes, &history);
    // An order whose last state is not its newest was stored out of order, whatever its history says.
    stored.late += stale;
    stored.lost += history.orders().saturating_sub(orders);
    Ok(Proof {
        sent: changes + planted,
        read,
        stored,
        emitted: place("topic orders.enriched", changes, &found.outputs),
        rejected: place("topic orders.rejected", planted, &found.letters),
        reasons: found.reasons.clone(),
    })
}

fn place(name: &'static str, sent: u64, tally: &Tally) -> Place {
    let Tally { found, doubled, late, altered, .. } = *tally;
    Place { name, sent, found, lost: tally.lost(sent), doubled, late, altered }
}

fn number(value: Option<&Value>) -> u64 {
    match value {
        Some(Value::Int(number)) => u64::try_from(*number).unwrap_or(0),
        _ => 0,
    }
}

impl Proof {
    /// Whether the ledger says that everything sent is handled.
    pub(super) fn is_settled(&self) -> bool {
        self.read == self.sent
    }

    /// Whether everything is where it must be, once, in order, and as it must be.
    pub(super) fn holds(&self) -> bool {
        self.is_settled() && self.places().iter().all(|place| place.is_clean())
    }

    /// The whole in one line.
    pub(super) fn line(&self) -> String {
        let sum = |of: fn(&Place) -> u64| self.places().into_iter().map(of).sum::<u64>();
        format!(
            "read {}, stored {}, emitted {}, rejected {}, {} lost, {} doubled, {} out of order",
            self.read,
            self.stored.found,
            self.emitted.found,
            self.rejected.found,
            sum(|place| place.lost),
            sum(|place| place.doubled),
            sum(|place| place.late),
        )
    }

    /// Place by place, without the words of [`Proof::line`].
    pub(super) fn table(&self) -> String {
        let head = format!(
            "  {:22} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}\n",
            "", "sent", "found", "missing", "twice", "late", "altered"
        );
        let row = |place: &Place| {
            let Place { name, sent, found, lost, doubled, late, altered } = place;
            format!("  {name:22} {sent:>9} {found:>9} {lost:>9} {doubled:>9} {late:>9} {altered:>9}\n")
        };
        let rows: String = self.places().into_iter().map(row).collect();
        let reasons: Vec<String> =
            self.reasons.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        let reasons = if reasons.is_empty() { "none".to_owned() } else { reasons.join(", ") };
        format!("{head}{rows}\n  rejected for: {reasons}")
    }

    fn places(&self) -> [&Place; 3] {
        [&self.stored, &self.emitted, &self.rejected]
    }
}

impl Place {
    fn is_clean(&self) -> bool {
        self.found == self.sent && [self.lost, self.doubled, self.late, self.altered] == [0; 4]
    }
}

#[cfg(test)]
mod tests;
