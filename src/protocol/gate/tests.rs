//! Every transition of the gate.
use super::*;
use crate::model::{Offset, TopicPartition};

#[derive(Clone, Debug, PartialEq, Eq)]
struct E(u32, i64);

impl Item for E {
    fn at(&self) -> Coordinates {
        Coordinates { at: TopicPartition { topic: 0, partition: 0 }, offset: Offset(self.1), index: 0 }
    }
    fn place_behind(&self) -> Place {
        Place::behind(self.at(), true)
    }
    fn group(&self) -> KeyGroup {
        KeyGroup(self.0)
    }
    fn weight_bytes(&self) -> usize {
        10
    }
}

type G = Gate<E, u8>;
type A = Vec<Action<E, u8>>;

fn claimed(group: u32) -> Claimed {
    Claimed {
        group: KeyGroup(group),
        incarnation: Incarnation(1),
        batch: BatchNumber(4),
        places: Places::default(),
        emitted: BatchNumber(4),
    }
}

fn gate(lanes: usize) -> G {
    Gate::new(vec![claimed(0), claimed(1)], lanes, Limits { events_max: 3, bytes_max: 1000 })
}

fn act(gate: &mut G, input: Input<E, u8>) -> A {
    let mut actions = Vec::new();
    gate.step(input, &mut actions);
    actions
}

fn arrive(gate: &mut G, events: &[E]) -> A {
    let mut actions = Vec::new();
    for e in events {
        gate.step(Input::Arrived(e.clone()), &mut actions);
    }
    gate.step(Input::Dispatch, &mut actions);
    actions
}

/// Lane, and per batch: key group, number, offsets.
type Work = (usize, Vec<(u32, u64, Vec<i64>)>);

fn work(actions: &A) -> Vec<Work> {
    actions
        .iter()
        .filter_map(|a| match a {
            Action::Store { lane, transaction, .. } => {
                let batches = transaction.batches.iter();
                let batches = batches
                    .map(|b| (b.group.0, b.number.0, b.events.iter().map(|e| e.1).collect()))
                    .collect();
                Some((*lane, batches))
            }
            _ => None,
        })
        .collect()
}

fn row(group: u32, incarnation: u64, batch: u64) -> (KeyGroup, Incarnation, BatchNumber) {
    (KeyGroup(group), Incarnation(incarnation), BatchNumber(batch))
}

#[test]
fn key_groups_share_a_transaction_up_to_its_limit() {
    let mut g = gate(2);
    let actions = arrive(&mut g, &[E(0, 1), E(1, 2), E(0, 3), E(1, 4), E(1, 5)]);
    assert_eq!(work(&actions), vec![(0, vec![(0, 5, vec![1, 3]), (1, 5, vec![2])])]);
    // Key group 1 has a batch out: its later events wait although a lane is free.
    assert!(arrive(&mut g, &[E(1, 6)]).is_empty());
    assert_eq!(g.pending(), 6);
    let actions = act(&mut g, Input::Stored { lane: 0, outputs: vec![7, 8] });
    assert!(matches!(&actions[0], Action::Stored { outputs, .. } if *outputs == [7, 8]));
    assert_eq!(work(&actions), vec![(0, vec![(1, 6, vec![4, 5, 6])])]);
}

#[test]
fn bytes_bound_a_transaction_but_never_to_nothing() {
    let mut g: G = Gate::new(vec![claimed(0)], 1, Limits { events_max: 100, bytes_max: 15 });
    let actions = arrive(&mut g, &[E(0, 1), E(0, 2), E(0, 3)]);
    assert_eq!(work(&actions), vec![(0, vec![(0, 5, vec![1, 2])])]);
    let mut tiny: G = Gate::new(vec![claimed(0)], 1, Limits { events_max: 100, bytes_max: 1 });
    assert_eq!(work(&arrive(&mut tiny, &[E(0, 1), E(0, 2)])), vec![(0, vec![(0, 5, vec![1])])]);
}

#[test]
fn an_event_that_an_earlier_run_stored_is_skipped() {
    let mut places = Places::default();
    places.advance(TopicPartition { topic: 0, partition: 0 }, Place { offset: Offset(3), events: 0 });
    let mut g: G =
        Gate::new(vec![Claimed { places, ..claimed(0) }], 1, Limits { events_max: 3, bytes_max: 1000 });
    let actions = arrive(&mut g, &[E(0, 2), E(0, 3)]);
    assert_eq!(actions[0], Action::Skip(E(0, 2)));
    assert_eq!(work(&actions), vec![(0, vec![(0, 5, vec![3])])]);
}

#[test]
fn an_undone_transaction_runs_again_whole() {
    let mut g = gate(1);
    let first = work(&arrive(&mut g, &[E(0, 1), E(1, 2)]));
    let actions = act(&mut g, Input::Undone { lane: 0, again: Again::Now });
    assert!(matches!(actions[0], Action::Store { contended: 1, .. }));
    assert_eq!(work(&actions), first);
    assert!(matches!(
        act(&mut g, Input::Undone { lane: 0, again: Again::Now })[0],
        Action::Store { contended: 2, .. }
    ));
}

#[test]
fn an_outage_holds_every_lane_and_probes_once() {
    let mut g = gate(2);
    let first = work(&arrive(&mut g, &[E(0, 1)]));
    let second = work(&arrive(&mut g, &[E(1, 2)]));
    assert_eq!(act(&mut g, Input::Undone { lane: 0, again: Again::WhenUp }), vec![Action::Probe]);
    assert!(g.holding());
    assert!(arrive(&mut g, &[E(0, 3), E(1, 4)]).is_empty(), "nothing is sent to a database that is out");
    assert!(act(&mut g, Input::Undone { lane: 1, again: Again::WhenUp }).is_empty());
    let again = act(&mut g, Input::Up);
    assert_eq!(work(&again), [first, second].concat());
    assert!(!g.holding());
}

#[test]
fn contention_while_the_database_is_out_waits_for_it() {
    let mut g = gate(2);
    arrive(&mut g, &[E(0, 1)]);
    let second = work(&arrive(&mut g, &[E(1, 2)]));
    act(&mut g, Input::Undone { lane: 0, again: Again::WhenUp });
    assert!(act(&mut g, Input::Undone { lane: 1, again: Again::Now }).is_empty());
    assert!(work(&act(&mut g, Input::Up)).contains(&second[0]));
}

#[test]
fn a_commit_in_doubt_is_looked_up_and_never_repeated_blindly() {
    for (rows, stored) in
        [(vec![row(0, 1, 5), row(1, 1, 5)], true), (vec![row(0, 1, 4), row(1, 1, 4)], false)]
    {
        let mut g = gate(1);
        let first = work(&arrive(&mut g, &[E(0, 1), E(1, 2)]));
        assert_eq!(act(&mut g, Input::InDoubt { lane: 0, outputs: vec![1, 2] }), vec![Action::Probe]);
        let asked = act(&mut g, Input::Up);
        assert_eq!(asked, vec![Action::Settle { lane: 0, groups: vec![KeyGroup(0), KeyGroup(1)] }]);
        // The database goes out again while it is asked: the question stays.
        assert_eq!(act(&mut g, Input::Unsettled { lane: 0 }), vec![Action::Probe]);
        assert_eq!(act(&mut g, Input::Up), asked);
        let actions = act(&mut g, Input::Settled { lane: 0, rows });
        if stored {
            assert!(matches!(&actions[..], [Action::Stored { outputs, .. }] if *outputs == [1, 2]));
        } else {
            assert_eq!(work(&actions), first);
        }
    }
}

#[test]
fn a_newer_instance_or_a_torn_transaction_halts() {
    let cases = [
        (vec![row(0, 2, 4), row(1, 1, 4)], HaltKind::Fenced),
        (vec![row(0, 1, 9), row(1, 1, 4)], HaltKind::Fenced),
        (vec![row(0, 1, 4)], HaltKind::Fenced),
        (vec![row(0, 1, 5), row(1, 1, 4)], HaltKind::Internal),
    ];
    for (rows, kind) in cases {
        let mut g = gate(1);
        arrive(&mut g, &[E(0, 1), E(1, 2)]);
        act(&mut g, Input::InDoubt { lane: 0, outputs: vec![1, 2] });
        act(&mut g, Input::Up);
        let actions = act(&mut g, Input::Settled { lane: 0, rows });
        assert!(matches!(&actions[..], [Action::Halt(halt)] if halt.kind == kind), "{actions:?}");
    }
    let mut g = gate(1);
    arrive(&mut g, &[E(0, 1)]);
    assert!(
        matches!(&act(&mut g, Input::Fenced { lane: 0 })[..], [Action::Halt(h)] if h.kind == HaltKind::Fenced)
    );
}

#[test]
fn confirmed_batches_are_cleared_once() {
    let mut g = gate(1);
    let confirmed = |actions: &A| match &actions[..] {
        [.., Action::Store { transaction, .. }] => transaction.batches[0].confirmed,
        _ => panic!("{actions:?}"),
    };
    assert_eq!(confirmed(&arrive(&mut g, &[E(0, 1)])), Some(BatchNumber(4)), "rows of the run before");
    act(&mut g, Input::Stored { lane: 0, outputs: vec![0] });
    assert_eq!(confirmed(&arrive(&mut g, &[E(0, 2)])), None);
    act(&mut g, Input::Stored { lane: 0, outputs: vec![0] });
    act(&mut g, Input::Confirmed { group: KeyGroup(0), batch: BatchNumber(6) });
    assert_eq!(confirmed(&arrive(&mut g, &[E(0, 3)])), Some(BatchNumber(6)));
}

#[test]
fn an_event_of_a_foreign_key_group_halts() {
    let mut g = gate(1);
    assert!(matches!(&arrive(&mut g, &[E(9, 1)])[..], [Action::Halt(h)] if h.kind == HaltKind::Internal));
}

#[test]
#[should_panic(expected = "before it is stored")]
fn kafka_cannot_confirm_what_was_not_stored() {
    act(&mut gate(1), Input::Confirmed { group: KeyGroup(0), batch: BatchNumber(5) });
}

#[test]
#[should_panic(expected = "not storing")]
fn an_answer_without_a_question_is_a_fault() {
    act(&mut gate(1), Input::Stored { lane: 0, outputs: vec![] });
}
