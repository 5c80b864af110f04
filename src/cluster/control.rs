//! Control: a second, tiny dataflow over which the workers tell each other what concerns all of them.
//!
//! In:        a message of this worker     Out: the messages of all workers, its own included, in each worker's order
//! Holds:     its input open until this worker has ended: "control is done" means "every worker has acknowledged"
//! Not here:  no data. A halt drops the data dataflow whole: to drop capabilities one by one would let frontiers advance
//!            past work that was never done, and that news could overtake the halt

use crate::model::{Incarnation, KeyGroup};
use crate::protocol::halt::Halt;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use timely::dataflow::InputHandleVec;
use timely::dataflow::operators::vec::{Broadcast, Input};
use timely::dataflow::operators::{Inspect, Probe, probe};
use timely::worker::Worker;

/// What concerns all workers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Message {
    /// The first worker has claimed every key group of the job, in one transaction: the incarnations.
    Claimed { claims: Vec<(KeyGroup, Incarnation)> },
    /// This worker has fenced its share of the transactional ids.
    Fenced { worker: usize },
    /// Read no more, finish, commit.
    Drain,
    /// Stop everything, for this reason.
    Halt(Halt),
    /// A worker was told to end before it had started.
    Abandon,
}

/// One worker's end of the control dataflow.
pub(super) struct Control {
    input: Option<InputHandleVec<u64, Message>>,
    heard: Rc<RefCell<VecDeque<Message>>>,
    done: probe::Handle<u64>,
}

impl Control {
    /// Builds the dataflow. Every worker must do so before any other.
    pub(super) fn build(worker: &mut Worker) -> Control {
        let mut input = InputHandleVec::new();
        let heard = Rc::new(RefCell::new(VecDeque::new()));
        let listener = Rc::clone(&heard);
        let done = worker.dataflow_named::<u64, _, _>("control", |scope| {
            let messages = scope.input_from(&mut input).broadcast();
            messages
                .inspect(move |message: &Message| listener.borrow_mut().push_back(message.clone()))
                .probe()
                .0
        });
        Control { input: Some(input), heard, done }
    }

    /// Tells every worker.
    pub(super) fn tell(&mut self, message: Message) {
        if let Some(input) = &mut self.input {
            input.send(message);
            input.flush();
        }
    }

    /// The next message that was heard.
    pub(super) fn next(&self) -> Option<Message> {
        self.heard.borrow_mut().pop_front()
    }

    /// Says no more.
    pub(super) fn close(&mut self) {
        self.input = None;
    }

    /// Whether every worker says no more.
    pub(super) fn is_done(&self) -> bool {
        self.done.done()
    }
}
