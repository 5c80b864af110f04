//! Lines and columns of many places of one document.
//!
//! In:        byte offsets into the document's text, in any order     Out: [`Place`]s
//! Holds:     the place of every 4096th byte, from the first question on
//! Fails:     never
//! Not here:  how places are counted (see `fault`)
//!
//! A record may have many unreadable events. Counting each one's line from the document's start would take a hostile
//! document's size squared.

use super::fault::{Counter, Place};

/// Bytes between two places that are kept.
const STRIDE_BYTES: usize = 4096;

/// Places of one document.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Offsets and what was counted in front of them, in order.
    kept: Vec<(usize, Counter)>,
}

impl Lines {
    /// The place of a byte offset of `text`, which must be the same text every time.
    pub(super) fn place(&mut self, text: &str, at: usize) -> Place {
        if self.kept.is_empty() {
            self.keep(text);
        }
        let after = self.kept.partition_point(|(offset, _)| *offset <= at);
        let nearest = after.checked_sub(1).and_then(|index| self.kept.get(index));
        let (start, mut counter) = nearest.copied().unwrap_or_default();
        let rest = text.get(start..).unwrap_or_default();
        let distance = at.saturating_sub(start);
        rest.char_indices().take_while(|(offset, _)| *offset < distance).for_each(|(_, c)| counter.pass(c));
        counter.place
    }

    fn keep(&mut self, text: &str) {
        let mut counter = Counter::default();
        let mut next = 0;
        for (offset, c) in text.char_indices() {
            if offset >= next {
                self.kept.push((offset, counter));
                next = offset.saturating_add(STRIDE_BYTES);
            }
            counter.pass(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_that_are_counted_from_the_start() {
        let text = "äb\r\n\rc\n".repeat(3000);
        let mut lines = Lines::default();
        for at in (0..text.len() + 10).step_by(97).chain([0, 4095, 4096, 4097, text.len()]) {
            assert_eq!(lines.place(&text, at), Place::of(&text, at), "{at}");
        }
        assert_eq!(Lines::default().place("", 5), Place::of("", 5));
    }
}
