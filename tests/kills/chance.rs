//! Chance that a seed repeats.

use super::plan::mix;
use std::time::Duration;

pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(mix(seed))
    }

    /// From 0 up to this, not included.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(1);
        (mix(self.0) % end as u64) as usize
    }

    /// Both ends included.
    pub fn between(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last - first + 1)
    }

    pub fn millis(&mut self, first: usize, last: usize) -> Duration {
        Duration::from_millis(self.between(first, last) as u64)
    }

    /// A list of a drawn length.
    pub fn list<T>(&mut self, least: usize, most: usize, mut draw: impl FnMut(&mut Chance) -> T) -> Vec<T> {
        let length = self.between(least, most);
        (0..length).map(|_| draw(self)).collect()
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for at in (1..list.len()).rev() {
            list.swap(at, self.below(at + 1));
        }
    }
}
