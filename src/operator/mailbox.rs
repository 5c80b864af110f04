//! Mailbox: answers from other threads to an operator, which is woken by each.
//!
//! In:        anything, from any thread     Out: the same, in order, on the worker's thread
//! Holds:     what was not taken yet. It needs no bound of its own: whoever writes answers a question that the operator
//!            asked, one answer per question, and the questions are bounded (lanes, one emitter, the budget)
//! Fails:     never; a letter to a worker that has ended is dropped with the mailbox

use super::host::Wake;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The operator's end.
pub struct Mailbox<T> {
    letters: Arc<Mutex<VecDeque<T>>>,
    /// Gone with the mailbox.
    _alive: Arc<()>,
}

/// The other threads' end.
pub struct Sender<T> {
    letters: Arc<Mutex<VecDeque<T>>>,
    reader: Weak<()>,
    wake: Wake,
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        Sender {
            letters: Arc::clone(&self.letters),
            reader: Weak::clone(&self.reader),
            wake: self.wake.clone(),
        }
    }
}

/// A mailbox that wakes an operator.
pub fn mailbox<T>(wake: Wake) -> (Sender<T>, Mailbox<T>) {
    let letters = Arc::new(Mutex::new(VecDeque::new()));
    let alive = Arc::new(());
    let reader = Arc::downgrade(&alive);
    (Sender { letters: Arc::clone(&letters), reader, wake }, Mailbox { letters, _alive: alive })
}

impl<T> Mailbox<T> {
    /// Takes everything that is there.
    pub fn take(&self) -> VecDeque<T> {
        std::mem::take(&mut *self.letters.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the oldest one.
    pub fn take_one(&self) -> Option<T> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

impl<T> Sender<T> {
    /// Whether the operator is still there.
    pub fn is_heard(&self) -> bool {
        self.reader.strong_count() > 0
    }

    /// Leaves a letter and wakes the operator.
    pub fn send(&self, letter: T) {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner).push_back(letter);
        self.wake.wake();
    }
}
