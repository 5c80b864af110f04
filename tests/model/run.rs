//! Run: one run of the job, its workers, and the shells around the machines.
//!
//! The shells do what `operator/gate.rs`, `operator/sink.rs` and `operator/commit.rs` do: hand inputs to the machines,
//! carry actions out, keep an event's epoch open until its batch is done. Epochs are as fine as can be, a record each,
//! and partitions close by themselves: the frontier of the real dataflow is never ahead of this one.

use crate::broken::Broken;
use crate::plan::{Event, Plan};
use crate::start::Start;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tidegate::model::{BatchNumber, Incarnation, KeyGroup};
use tidegate::protocol::gate::{self, Claimed, Gate, Transaction};
use tidegate::protocol::halt::Halt;
use tidegate::protocol::sink::{self, Emission, Sink};

/// A batch on its way to Kafka.
pub type Stored = Emission<Vec<Event>>;

/// What the gate hears.
pub type GateInput = gate::Input<Event, Vec<Event>>;

/// What a database connection is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Lane {
    Idle,
    Store(Arc<Transaction<Event>>),
    Settle(Vec<KeyGroup>),
    /// Its COMMIT went unanswered, and the database does not answer yet.
    InDoubt,
}

/// What the thread that sends to Kafka is about, or what the sink waits for otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Emitter {
    Idle,
    Produce(Arc<Vec<Stored>>),
    Commit(Arc<Vec<Stored>>),
    Initialise,
    ReadProgress,
    Probe,
    Ask,
}

/// A worker whose start is through.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Running {
    pub gate: Gate<Event, Vec<Event>>,
    pub sink: Sink<Vec<Event>>,
    pub lanes: Vec<Lane>,
    pub probes_database: bool,
    pub emitter: Emitter,
    pub claims: Vec<(KeyGroup, Incarnation)>,
    /// The events of batches that the sink holds: their epochs are open.
    pub held: BTreeMap<(KeyGroup, BatchNumber), Vec<Event>>,
    /// Events have arrived in this activation, and the gate has not been told to dispatch.
    pub in_activation: bool,
    /// Key groups of which marks were seen: their tickets are on their way to the gate.
    pub on_way: BTreeSet<KeyGroup>,
    /// Key groups with a ticket whose pass is not over: its epoch is open.
    pub tickets: BTreeSet<KeyGroup>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Worker {
    Starting(Start),
    Running(Box<Running>),
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Run {
    /// 0: the first one.
    pub number: u8,
    pub workers: Vec<Arc<Worker>>,
    /// What the run has claimed, once the first worker has told; the newest of all runs or not.
    pub claims: Vec<(KeyGroup, Incarnation)>,
    /// Per partition: what the commit operator has written last.
    pub written: Vec<u8>,
    /// Per stream: events that have reached the gate.
    pub arrived: Vec<u8>,
    /// Events whose epoch is closed, a bit each.
    pub done: u32,
}

/// What a step of a worker leaves to the world.
#[derive(Debug, Default)]
pub struct After {
    /// Events whose epoch is closed now.
    pub done: Vec<Event>,
    pub halt: Option<Halt>,
}

impl Run {
    pub fn new(number: u8, plan: &Plan) -> Run {
        let workers = plan.workers_of(number);
        Run {
            number,
            workers: (0..workers)
                .map(|worker| Arc::new(Worker::Starting(Start::new(plan, worker, workers))))
                .collect(),
            claims: Vec::new(),
            written: vec![0; usize::from(plan.partitions())],
            arrived: vec![0; usize::from(plan.streams())],
            done: 0,
        }
    }

    pub fn owner(&self, of: u8) -> usize {
        usize::from(of) % self.workers.len()
    }

    /// The run's claims of this worker's key groups.
    pub fn claims_of(&self, worker: u8) -> Vec<(KeyGroup, Incarnation)> {
        let mine = |(group, _): &&(KeyGroup, Incarnation)| self.owner(group.0 as u8) == usize::from(worker);
        self.claims.iter().filter(mine).copied().collect()
    }

    /// How far a partition is handled, as the commit operator sees it.
    pub fn closed(&self, plan: &Plan, partition: u8) -> u8 {
        let open = |e: &&Event| e.partition == partition && self.done & (1 << e.id) == 0;
        plan.events.iter().find(open).map_or(plan.end(partition), |e| e.offset)
    }

    /// The next event of a stream that has not reached the gate.
    pub fn next_of(&self, plan: &Plan, stream: u8) -> Option<Event> {
        plan.stream(stream).nth(usize::from(self.arrived[usize::from(stream)]))
    }
}

/// Own id of a worker.
pub fn own_id(worker: u8) -> usize {
    usize::from(worker)
}

impl Running {
    pub fn new(plan: &Plan, claimed: Vec<Claimed>, emitted: BTreeMap<KeyGroup, BatchNumber>) -> Running {
        let claims = claimed.iter().map(|c| (c.group, c.incarnation)).collect();
        let limits = gate::Limits {
            events_max: plan.events_max,
            bytes_max: usize::MAX,
            beside_min: plan.beside_min,
            parked_max: 100,
        };
        Running {
            gate: Gate::new(claimed, plan.lanes, limits),
            sink: Sink::new(emitted, sink::Limits { records_max: 100, bytes_max: usize::MAX }),
            lanes: vec![Lane::Idle; plan.lanes],
            probes_database: false,
            emitter: Emitter::Idle,
            claims,
            held: BTreeMap::new(),
            in_activation: false,
            on_way: BTreeSet::new(),
            tickets: BTreeSet::new(),
        }
    }

    /// All inputs, and then what the gate has to say of them.
    pub fn gate(&mut self, plan: &Plan, inputs: Vec<GateInput>, after: &mut After) {
        let mut actions = Vec::new();
        for input in inputs {
            match &input {
                gate::Input::Arrived(event) if plan.is(Broken::CommitOnArrival) => after.done.push(*event),
                gate::Input::Retry(group) => _ = self.tickets.insert(*group),
                _ => {}
            }
            self.gate.step(input, &mut actions);
        }
        for action in actions {
            match action {
                gate::Action::Store { lane, transaction, .. } => self.lanes[lane] = Lane::Store(transaction),
                gate::Action::Settle { lane, groups } => self.lanes[lane] = Lane::Settle(groups),
                gate::Action::Probe => self.probes_database = true,
                gate::Action::Stored { transaction, outputs } => {
                    self.hand_over(plan, &transaction, outputs, after);
                }
                gate::Action::Skip(event) => after.done.push(event),
                gate::Action::Passed { group, .. } => _ = self.tickets.remove(&group),
                gate::Action::Halt(halt) => after.halt = after.halt.take().or(Some(halt)),
            }
        }
    }

    fn hand_over(
        &mut self,
        plan: &Plan,
        transaction: &Transaction<Event>,
        outputs: Vec<Vec<Event>>,
        after: &mut After,
    ) {
        for (batch, outputs) in transaction.batches.iter().zip(outputs) {
            if batch.is_retry && !self.tickets.contains(&batch.group) {
                // It has no epoch, and can be given to nobody.
                assert!(plan.is(Broken::CloseNewTickets), "a retry was stored for which no ticket is open");
                continue;
            }
            if plan.is(Broken::CommitOnStore) {
                after.done.extend(&batch.events);
            }
            self.held.insert((batch.group, batch.number), batch.events.clone());
            let emission = Emission {
                group: batch.group,
                number: batch.number,
                records: outputs.len(),
                bytes: outputs.len(),
                outputs,
            };
            self.sink(sink::Input::Stored(emission), after);
            if plan.is(Broken::ConfirmEarly) {
                let input = gate::Input::Confirmed { group: batch.group, batch: batch.number };
                self.gate.step(input, &mut Vec::new());
            }
        }
    }

    /// One input, and then, as each activation of the operator does, a dispatch.
    pub fn sink(&mut self, input: sink::Input<Vec<Event>>, after: &mut After) {
        let mut actions = Vec::new();
        self.sink.step(input, &mut actions);
        self.sink.step(sink::Input::Dispatch, &mut actions);
        for action in actions {
            match action {
                sink::Action::Emit { batches, .. } => self.emitter = Emitter::Produce(batches),
                sink::Action::Probe => self.emitter = Emitter::Probe,
                sink::Action::Rebuild => self.emitter = Emitter::Initialise,
                sink::Action::AskLedger => self.emitter = Emitter::Ask,
                sink::Action::Done { batches, sent } => self.finish(&batches, sent, after),
                sink::Action::Halt(halt) => after.halt = after.halt.take().or(Some(halt)),
            }
        }
    }

    fn finish(&mut self, batches: &[(KeyGroup, BatchNumber)], sent: bool, after: &mut After) {
        for (group, batch) in batches {
            after.done.extend(self.held.remove(&(*group, *batch)).unwrap_or_default());
            if sent {
                let input = gate::Input::Confirmed { group: *group, batch: *batch };
                self.gate.step(input, &mut Vec::new());
            }
        }
    }
}
