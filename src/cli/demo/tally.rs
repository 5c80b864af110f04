//! Tally: what was found in one place, number by number, in the order in which it stands there.
//!
//! In:        numbers from 1, and which order each belongs to     Out: counts of what is missing, there twice, or late
//! Holds:     a bit for each number and the newest number of each order: no documents

/// The largest number that is believed: what is beyond was never sent.
const NUMBER_MAX: u64 = 1 << 32;

/// Counts of one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    seen: Vec<u64>,
    newest: Vec<u64>,
    /// Everything that was found.
    pub(super) found: u64,
    /// Found once more.
    pub(super) doubled: u64,
    /// Found behind a newer one of the same order.
    pub(super) late: u64,
    /// Not what it must be.
    pub(super) altered: u64,
}

impl Tally {
    /// One was found. `order`: whose sequence it belongs to; none: it has no place in any. `intact`: it is what it must be.
    pub(super) fn take(&mut self, number: u64, order: Option<usize>, intact: bool) {
        self.found += 1;
        if !intact || number == 0 || number > NUMBER_MAX {
            self.altered += 1;
        }
        if number == 0 || number > NUMBER_MAX {
            return;
        }
        if !self.mark(number) {
            self.doubled += 1;
            return;
        }
        let Some(order) = order else { return };
        if self.newest.len() <= order {
            self.newest.resize(order + 1, 0);
        }
        if let Some(newest) = self.newest.get_mut(order) {
            self.late += u64::from(number < *newest);
            *newest = number.max(*newest);
        }
    }

    /// Something that carries no number.
    pub(super) fn take_unknown(&mut self) {
        self.found += 1;
        self.altered += 1;
    }

    /// How many of the numbers up to this one were not found.
    pub(super) fn lost(&self, up_to: u64) -> u64 {
        let (words, rest) = (up_to / 64, up_to % 64);
        let full = self.seen.iter().take(usize::try_from(words).unwrap_or(usize::MAX));
        let mut found: u64 = full.map(|word| u64::from(word.count_ones())).sum();
        if let Some(word) = usize::try_from(words).ok().and_then(|index| self.seen.get(index)) {
            found += u64::from((word & ((1 << rest) - 1)).count_ones());
        }
        up_to.saturating_sub(found)
    }

    /// The newest number of an order; 0: none was found.
    pub(super) fn newest(&self, order: usize) -> u64 {
        self.newest.get(order).copied().unwrap_or(0)
    }

    /// How many orders were found.
    pub(super) fn orders(&self) -> u64 {
        self.newest.iter().map(|newest| u64::from(*newest > 0)).sum()
    }

    /// Whether it is the first of this number.
    fn mark(&mut self, number: u64) -> bool {
        let bit = number - 1;
        let Ok(index) = usize::try_from(bit / 64) else { return false };
        if self.seen.len() <= index {
            self.seen.resize(index + 1, 0);
        }
        let Some(word) = self.seen.get_mut(index) else { return false };
        let mask = 1 << (bit % 64);
        let first = *word & mask == 0;
        *word |= mask;
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(found: &[(u64, usize)]) -> Tally {
        let mut tally = Tally::default();
        for (number, order) in found {
            tally.take(*number, Some(*order), true);
        }
        tally
    }

    #[test]
    fn everything_once_and_in_order_is_clean() {
        let clean = tally(&[(2, 1), (1, 0), (3, 0), (4, 1)]);
        assert_eq!((clean.found, clean.doubled, clean.late, clean.altered, clean.lost(4)), (4, 0, 0, 0, 0));
        assert_eq!((clean.newest(0), clean.newest(1), clean.newest(9), clean.orders()), (3, 4, 0, 2));
    }

    #[test]
    fn each_fault_is_counted_as_what_it_is() {
        assert_eq!(tally(&[(1, 0), (3, 0)]).lost(3), 1);
        assert_eq!(tally(&[(1, 0), (3, 0)]).lost(200), 198);
        assert_eq!(tally(&[]).lost(64), 64);
        let doubled = tally(&[(1, 0), (2, 0), (1, 0)]);
        assert_eq!((doubled.found, doubled.doubled, doubled.late, doubled.lost(2)), (3, 1, 0, 0));
        assert_eq!(tally(&[(2, 0), (1, 0), (3, 0)]).late, 1);
        assert_eq!(tally(&[(2, 0), (1, 1)]).late, 0, "different orders have no order among them");
    }

    #[test]
    fn what_was_never_sent_is_altered_and_takes_no_place() {
        let mut tally = Tally::default();
        tally.take(u64::MAX, Some(0), true);
        tally.take(0, Some(0), true);
        tally.take(1, Some(0), false);
        tally.take_unknown();
        assert_eq!((tally.found, tally.altered, tally.lost(1)), (4, 4, 0));
    }

    #[test]
    fn bits_at_the_edges_of_words_are_counted() {
        let all: Vec<(u64, usize)> = (1..=130).map(|number| (number, 0)).collect();
        for up_to in [1, 63, 64, 65, 127, 128, 129, 130] {
            assert_eq!(tally(&all).lost(up_to), 0, "up to {up_to}");
        }
        assert_eq!(tally(&all).lost(131), 1);
    }
}
