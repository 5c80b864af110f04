//! Budget: how many bytes a process has read and not yet committed.
//!
//! In:        readers take what they read; commits give it back
//! Holds:     one number
//! Order:     none; a reader that waits is woken by any release
//! Fails:     never; it may be overdrawn by what the readers take at a time (512 KiB each, or one larger record)
//! Not here:  what is counted (`Record::footprint_bytes`)
//!
//! This is the whole back pressure: while the database or Kafka is out nothing is committed, the budget runs dry, the
//! readers stop asking for records, and memory stays where it is.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Bytes in flight, and their bound.
#[derive(Debug)]
pub struct Budget {
    bytes_max: usize,
    used: Mutex<usize>,
    freed: Condvar,
}

impl Budget {
    /// A budget of so many bytes.
    pub fn new(bytes_max: usize) -> Budget {
        Budget { bytes_max, used: Mutex::new(0), freed: Condvar::new() }
    }

    /// Waits up to `wait` until something may be taken; `false`: still nothing.
    pub fn wait_for_room(&self, wait: Duration) -> bool {
        let used = self.lock();
        let full = |used: &mut usize| *used >= self.bytes_max;
        match self.freed.wait_timeout_while(used, wait, full) {
            Ok((used, _)) => *used < self.bytes_max,
            Err(poisoned) => *poisoned.into_inner().0 < self.bytes_max,
        }
    }

    /// Takes bytes that were read.
    pub fn take(&self, bytes: usize) {
        let mut used = self.lock();
        *used = used.saturating_add(bytes);
    }

    /// Gives back bytes that are committed.
    pub fn release(&self, bytes: usize) {
        let mut used = self.lock();
        assert!(*used >= bytes, "more bytes are given back than were taken");
        *used -= bytes;
        drop(used);
        self.freed.notify_all();
    }

    /// Bytes in flight now.
    pub fn used_bytes(&self) -> usize {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, usize> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn a_full_budget_waits_for_a_release() {
        let budget = Arc::new(Budget::new(10));
        assert!(budget.wait_for_room(Duration::ZERO));
        budget.take(12);
        assert!(!budget.wait_for_room(Duration::from_millis(1)));
        let waiter = Arc::clone(&budget);
        let thread = std::thread::spawn(move || waiter.wait_for_room(Duration::from_secs(60)));
        budget.release(5);
        assert!(thread.join().unwrap());
        assert_eq!(budget.used_bytes(), 7);
    }

    #[test]
    #[should_panic(expected = "more bytes are given back")]
    fn nothing_is_given_back_twice() {
        Budget::new(10).release(1);
    }
}
