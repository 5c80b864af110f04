//! Chance: drawing from lists and weights.
//!
//! In:        a sequence of random numbers     Out: one of several things
//! Not here:  what is drawn (schema, steps, stream)

use tidegate::testing::Random;

/// What generators ask of a sequence.
pub trait Chance {
    /// One of them.
    fn one<'t, T: ?Sized>(&mut self, of: &[&'t T]) -> &'t T;

    /// True so many times out of a hundred.
    fn percent(&mut self, percent: u32) -> bool;

    /// A number from the first up to the last, both included.
    fn between(&mut self, first: usize, last: usize) -> usize;

    /// An index by weights.
    fn weighed(&mut self, weights: &[u64]) -> usize;
}

impl Chance for Random {
    fn one<'t, T: ?Sized>(&mut self, of: &[&'t T]) -> &'t T {
        self.pick(of).copied().expect("there is something to draw from")
    }

    fn percent(&mut self, percent: u32) -> bool {
        self.chance(percent * 10)
    }

    fn between(&mut self, first: usize, last: usize) -> usize {
        let span = u64::try_from(last - first).expect("it is small") + 1;
        first + usize::try_from(self.below(span)).expect("it is small")
    }

    fn weighed(&mut self, weights: &[u64]) -> usize {
        let mut left = self.below(weights.iter().sum());
        for (index, weight) in weights.iter().enumerate() {
            if left < *weight {
                return index;
            }
            left -= weight;
        }
        weights.len() - 1
    }
}
