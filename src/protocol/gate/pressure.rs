//! Pressure: transactions become smaller where others are in the way, and grow again.
//!
//! In:        a transaction met contention twice in a row | a transaction was stored     Out: the limits of the next one
//! Holds:     how much smaller
//! Fails:     never: a transaction of one event is as small as it gets
//!
//! Halved each time and doubled back by each one that is stored, it settles where transactions get through: what is in the
//! way of five hundred rows is seldom in the way of thirty.

use super::Limits;

/// How often the size is halved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Pressure(u32);

impl Pressure {
    /// A transaction of so many events did not get through: the next ones are at most half of it.
    pub(super) fn rises(&mut self, events: usize, limits: Limits) {
        while self.applied_to(limits).events_max > (events / 2).max(1) {
            self.0 = self.0.saturating_add(1);
        }
    }

    /// One got through.
    pub(super) fn eases(&mut self) {
        self.0 = self.0.saturating_sub(1);
    }

    /// The limits, made smaller.
    pub(super) fn applied_to(self, limits: Limits) -> Limits {
        let smaller = |size: usize| size.checked_shr(self.0).unwrap_or(0).max(1);
        Limits { events_max: smaller(limits.events_max), bytes_max: smaller(limits.bytes_max), ..limits }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { events_max: 500, bytes_max: 1 << 20, beside_min: 1, parked_max: 7 };

    #[test]
    fn halves_and_doubles_back() {
        let mut pressure = Pressure::default();
        assert_eq!(pressure.applied_to(LIMITS), LIMITS);
        pressure.rises(500, LIMITS);
        assert_eq!(pressure.applied_to(LIMITS).events_max, 250);
        pressure.rises(40, LIMITS);
        assert_eq!(pressure.applied_to(LIMITS).events_max, 15, "half of what did not get through, or less");
        for _ in 0..40 {
            pressure.rises(1, LIMITS);
        }
        assert_eq!(pressure.applied_to(LIMITS).events_max, 1, "an event goes through at the least");
        (0..12).for_each(|_| pressure.eases());
        assert_eq!(pressure.applied_to(LIMITS), LIMITS);
    }
}
