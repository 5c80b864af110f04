//! The gate's state machine alone: what an event costs between arriving and being handed to the sink, without a database.
//!
//! In:        `cargo bench --bench gate [-- EVENTS [TURNS]]`; 2000000 and 5 where nothing is given
//! Out:       ns per event of the machine with four lanes that are through at once, of the same with a key parked in every key
//!            group, and of bare queues by key group; and the ratio to these
//! Order:     turn by turn: whatever else the machine does meets all of them
//! Not here:  no documents, no database, no dataflow

#![allow(clippy::unwrap_used, reason = "a bench fails by panicking")]
#![allow(clippy::print_stdout, reason = "its report")]

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hint::black_box;
use std::time::Instant;
use tidegate::model::{
    BatchNumber, Coordinates, Incarnation, KeyGroup, KeyId, Offset, Place, Places, TopicPartition,
};
use tidegate::protocol::gate::{Action, Claimed, Gate, Input, Item, Limits, Outcome};

const GROUPS: u32 = 64;
/// Events that arrive in one activation of the operator.
const ARRIVING: u32 = 500;

#[derive(Clone, Debug)]
struct Event {
    offset: i64,
    group: u32,
}

impl Item for Event {
    fn at(&self) -> Coordinates {
        Coordinates { at: TopicPartition { topic: 0, partition: 0 }, offset: Offset(self.offset), index: 0 }
    }
    fn place_behind(&self) -> Place {
        Place::behind(self.at(), true)
    }
    fn group(&self) -> KeyGroup {
        KeyGroup(self.group)
    }
    fn key(&self) -> Option<KeyId> {
        Some(KeyId(u128::try_from(self.offset).unwrap() + 1))
    }
    fn weight_bytes(&self) -> usize {
        2048
    }
}

fn main() {
    // Cargo adds `--bench`.
    let given: Vec<u32> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let number = |place: usize, default: u32| given.get(place).copied().unwrap_or(default);
    let (events, turns) = (number(0, 2_000_000), number(1, 5));
    for turn in 1..=turns {
        let [gate, parked, bare] = [machine(events, false), machine(events, true), queues(events)];
        println!(
            "turn {turn}: gate {gate:5.0} ns, with parked keys {parked:5.0} ns, bare queues {bare:5.0} ns: {:.1} times as much",
            gate / bare
        );
    }
}

/// Spread over key groups as a hash would.
fn event(number: u32) -> Event {
    Event { offset: i64::from(number), group: number.wrapping_mul(2_654_435_761) >> 26 }
}

fn machine(events: u32, is_parked: bool) -> f64 {
    let claimed = |group| Claimed {
        group: KeyGroup(group),
        incarnation: Incarnation(1),
        batch: BatchNumber(0),
        places: Places::default(),
        emitted: BatchNumber(0),
        parked: if is_parked { BTreeSet::from([KeyId(0)]) } else { BTreeSet::new() },
    };
    let limits = Limits { events_max: 500, bytes_max: 4 << 20, beside_min: 64, parked_max: 1_000 };
    let mut gate: Gate<Event, ()> = Gate::new((0..GROUPS).map(claimed).collect(), 4, limits);
    let (mut actions, mut stored) = (Vec::new(), 0);
    let begun = Instant::now();
    for first in (0..events).step_by(usize::try_from(ARRIVING).unwrap()) {
        for number in first..(first + ARRIVING).min(events) {
            gate.step(Input::Arrived(event(number)), &mut actions);
        }
        gate.step(Input::Dispatch, &mut actions);
        while !actions.is_empty() {
            for action in std::mem::take(&mut actions) {
                match action {
                    Action::Store { lane, transaction, .. } => {
                        let outcomes = transaction.batches.iter().map(|_| Outcome::default()).collect();
                        gate.step(Input::Stored { lane, outcomes }, &mut actions);
                    }
                    Action::Stored { transaction, .. } => {
                        stored += transaction.batches.iter().map(|batch| batch.events.len()).sum::<usize>();
                    }
                    other => drop(black_box(other)),
                }
            }
        }
    }
    let ns = begun.elapsed().as_secs_f64() * 1e9 / f64::from(events);
    assert_eq!(stored, usize::try_from(events).unwrap(), "every event is stored");
    ns
}

/// Queues by key group, emptied by as many at a time.
fn queues(events: u32) -> f64 {
    #[allow(clippy::disallowed_types, reason = "what anybody would write")]
    let mut queues: HashMap<u32, VecDeque<Event>> = HashMap::new();
    let begun = Instant::now();
    for first in (0..events).step_by(usize::try_from(ARRIVING).unwrap()) {
        for number in first..(first + ARRIVING).min(events) {
            let event = event(number);
            queues.entry(event.group).or_default().push_back(event);
        }
        for queue in queues.values_mut() {
            black_box(queue.drain(..).collect::<Vec<Event>>());
        }
    }
    begun.elapsed().as_secs_f64() * 1e9 / f64::from(events)
}
