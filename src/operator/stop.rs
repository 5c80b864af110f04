//! Stop: how an operator asks for a halt. It says why and goes on holding; the worker's loop does the rest.

use crate::protocol::halt::Halt;
use std::cell::RefCell;
use std::rc::Rc;

/// Where a worker's operators leave the first cause of a halt. The worker's loop broadcasts it.
#[derive(Clone, Debug, Default)]
pub struct StopRequest(Rc<RefCell<Option<Halt>>>);

impl StopRequest {
    /// Asks for a halt. The first cause stays.
    pub fn halt(&self, halt: Halt) {
        self.0.borrow_mut().get_or_insert(halt);
    }

    /// Takes the cause, once.
    pub fn take(&self) -> Option<Halt> {
        self.0.borrow_mut().take()
    }
}
