//! What must hold of a sink between two steps, whatever happened before.
//!
//! In:        a sink     Out: nothing, or the first thing that does not hold
//! Fails:     by a halt of kind internal: going on could send twice or never

use super::{Sink, State};
use crate::model::{BatchNumber, KeyGroup};
use crate::protocol::halt::{Halt, HaltKind};
use std::collections::BTreeMap;

impl<O> Sink<O> {
    /// Checks the machine from outside, in time proportional to what it holds: what is out and what is queued rises
    /// per key group above what Kafka has, and what is in doubt stands in front of the queue.
    ///
    /// # Errors
    /// An internal halt that names the key group and what does not hold of it.
    pub fn check(&self) -> Result<(), Halt> {
        let mut last: BTreeMap<KeyGroup, BatchNumber> = self.emitted.clone();
        let out = match &self.state {
            State::Emitting { batches, .. } => batches.as_slice(),
            _ => &[],
        };
        for next in out.iter().chain(&self.queue) {
            if next.records == 0 {
                return Err(broken(next.group, "a batch without records waits"));
            }
            if last.insert(next.group, next.number).is_some_and(|last| last >= next.number) {
                return Err(broken(next.group, "batches do not rise above what Kafka has"));
            }
        }
        let front = self.queue.iter().map(|e| (e.group, e.number));
        match self.doubtful().iter().copied().zip(front).find(|(doubt, front)| doubt != front) {
            Some(((group, _), _)) => Err(broken(group, "what is in doubt does not stand in front")),
            None => Ok(()),
        }
    }

    fn doubtful(&self) -> &[(KeyGroup, BatchNumber)] {
        match &self.state {
            State::Down { doubt }
            | State::Rebuilding { doubt }
            | State::Asking { doubt }
            | State::Verifying { doubt, .. } => doubt,
            State::Ready { .. } | State::Emitting { .. } | State::Halted => &[],
        }
    }
}

fn broken(group: KeyGroup, what: &str) -> Halt {
    Halt::new(HaltKind::Internal, format!("sink, key group {group}: {what}"))
}
