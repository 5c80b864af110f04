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

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;

/// Bytes in flight, and their bound.
#[derive(Debug)]
pub struct Budget {
    bytes_max: usize,
    used: Mutex<usize>,
    freed: Notify,
}

impl Budget {
    /// A budget of so many bytes.
    pub fn new(bytes_max: usize) -> Budget {
        Budget { bytes_max, used: Mutex::new(0), freed: Notify::new() }
    }

    /// Waits up to `wait` until something may be taken; `false`: still nothing.
    pub async fn wait_for_room(&self, wait: Duration) -> bool {
        self.has_room() || timeout(wait, self.room()).await.is_ok()
    }

    async fn room(&self) {
        loop {
            let mut freed = pin!(self.freed.notified());
            // Before the look: a release between the two must not be missed.
            freed.as_mut().enable();
            if self.has_room() {
                return;
            }
            freed.await;
        }
    }

    fn has_room(&self) -> bool {
        *self.lock() < self.bytes_max
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
        self.freed.notify_waiters();
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
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let budget = Arc::new(Budget::new(10));
            assert!(budget.wait_for_room(Duration::ZERO).await);
            budget.take(12);
            assert!(!budget.wait_for_room(Duration::from_millis(1)).await);
            let waiter = Arc::clone(&budget);
            let task = tokio::spawn(async move { waiter.wait_for_room(Duration::from_secs(60)).await });
            budget.release(5);
            assert!(task.await.unwrap());
            assert_eq!(budget.used_bytes(), 7);
        });
    }

    #[test]
    #[should_panic(expected = "more bytes are given back")]
    fn nothing_is_given_back_twice() {
        Budget::new(10).release(1);
    }
}
