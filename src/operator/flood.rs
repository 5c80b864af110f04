//! Flood: when rejects are so many that the cause is no bad data but a bad deploy.
//!
//! In:        each record's fate, in order, with the time     Out: "too many", with numbers
//! Holds:     the numbers and times of the last `at_least` rejects of this worker
//! Order:     counts records, so that how fast they are read changes nothing
//! Not here:  what happens then (decode, gate)
//!
//! A budget of share s and `at_least` n lets n rejects through within any n / s records in a row. The one behind them is too
//! many, unless the first of them is more than `window_s` ago: a trickle is no flood. So of a flood a worker lets n rejects
//! through, and no more, whatever share of the records before it could be read.

use crate::job::RejectBudget;
use std::collections::VecDeque;
use std::time::Duration;

/// One worker's count.
#[derive(Clone, Debug)]
pub struct Flood {
    budget: RejectBudget,
    /// Records seen, rejects included.
    records: u64,
    /// Rejects that were let through: the number of the record, and when. At most `at_least`.
    let_through: VecDeque<(u64, Duration)>,
}

/// Too many rejects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany {
    /// Rejects, the last one included.
    pub rejects: u64,
    /// Among so many records in a row.
    pub records: u64,
}

impl Flood {
    /// A count that begins now.
    pub fn new(budget: RejectBudget) -> Flood {
        Flood { budget, records: 0, let_through: VecDeque::new() }
    }

    /// A record that can be read.
    pub fn readable(&mut self) {
        self.records = self.records.saturating_add(1);
    }

    /// A reject, at this time since some moment that stays the same. Some: it must not be let through.
    pub fn reject(&mut self, now: Duration) -> Option<TooMany> {
        self.records = self.records.saturating_add(1);
        if self.let_through.len() < self.budget.at_least {
            self.let_through.push_back((self.records, now));
            return None;
        }
        let (first, since) = *self.let_through.front()?;
        let records = self.records.saturating_sub(first).saturating_add(1);
        let lately = now.saturating_sub(since) <= Duration::from_secs(self.budget.window_s);
        if records <= self.budget.records() && lately {
            let rejects = u64::try_from(self.let_through.len()).unwrap_or(u64::MAX).saturating_add(1);
            return Some(TooMany { rejects, records });
        }
        self.let_through.pop_front();
        self.let_through.push_back((self.records, now));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: RejectBudget = RejectBudget { share_ppm: 50_000, window_s: 60, at_least: 100 };

    /// What becomes of so many records, a second for each thousand, of which these are rejects: how many are let through,
    /// and the first that is too many.
    fn run(flood: &mut Flood, records: u64, is_reject: impl Fn(u64) -> bool) -> (u64, Option<u64>) {
        let mut let_through = 0;
        for n in 0..records {
            if !is_reject(n) {
                flood.readable();
            } else if flood.reject(Duration::from_millis(n)).is_some() {
                return (let_through, Some(n));
            } else {
                let_through += 1;
            }
        }
        (let_through, None)
    }

    #[test]
    fn of_a_flood_no_more_than_the_least_is_let_through_whatever_came_before() {
        for before in [0, 1, 1_000, 1_000_000] {
            let found = run(&mut Flood::new(BUDGET), before + 1_000_000, |n| n >= before);
            assert_eq!(found, (100, Some(before + 100)), "{before} readable records before it");
        }
    }

    #[test]
    fn a_steady_share_below_the_budget_goes_on_for_ever() {
        assert_eq!(run(&mut Flood::new(BUDGET), 1_000_000, |n| n % 100 == 0), (10_000, None));
        assert_eq!(
            run(&mut Flood::new(BUDGET), 1_000_000, |n| n % 20 == 0),
            (50_000, None),
            "just the share"
        );
    }

    #[test]
    fn a_share_above_the_budget_is_too_many_once_there_are_enough() {
        let (let_through, found) = run(&mut Flood::new(BUDGET), 1_000_000, |n| n % 19 == 0);
        assert_eq!((let_through, found), (100, Some(1_900)));
        assert_eq!(run(&mut Flood::new(BUDGET), 100, |_| true), (100, None), "few rejects are no flood");
    }

    #[test]
    fn a_steady_share_beside_a_flood_shortens_what_the_flood_may_do() {
        let (let_through, _) = run(&mut Flood::new(BUDGET), 1_000_000, |n| n % 100 == 0 || n > 10_000);
        assert!(let_through <= 101 + 100 && let_through > 101, "{let_through}");
    }

    #[test]
    fn a_trickle_is_no_flood() {
        let mut flood = Flood::new(BUDGET);
        // Nothing but rejects, one a second.
        assert!((0..10_000).all(|second| flood.reject(Duration::from_secs(second)).is_none()));
        let mut flood = Flood::new(BUDGET);
        let found = (0..10_000_u32).find(|n| flood.reject(Duration::from_millis(500) * *n).is_some());
        assert_eq!(found, Some(100), "two a second are 120 in a window");
    }
}
