//! Every transition of the gate.
use super::*;
use crate::model::{Coordinates, KeyId, Offset, Place, Places, TopicPartition};
use std::collections::BTreeSet;

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
    /// The last digit of its offset; 0: it has none.
    fn key(&self) -> Option<KeyId> {
        let digit = u128::try_from(self.1 % 10).unwrap();
        (digit > 0).then_some(KeyId(digit))
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
        parked: BTreeSet::new(),
    }
}

fn limits(events_max: usize, bytes_max: usize) -> Limits {
    Limits { events_max, bytes_max, beside_min: 1, parked_max: 3 }
}

fn gate(lanes: usize) -> G {
    Gate::new(vec![claimed(0), claimed(1)], lanes, limits(3, 1000))
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

fn sent(outputs: &[u8]) -> Vec<Outcome<u8>> {
    outputs.iter().map(|outputs| Outcome { outputs: *outputs, changes: Changes::default() }).collect()
}

/// One batch that has parked and freed these keys.
fn changed(parked: &[u128], freed: &[u128], more: bool) -> Vec<Outcome<u8>> {
    let keys = |list: &[u128]| list.iter().copied().map(KeyId).collect();
    vec![Outcome { outputs: 0, changes: Changes { parked: keys(parked), freed: keys(freed), more } }]
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
    let actions = act(&mut g, Input::Stored { lane: 0, outcomes: sent(&[7, 8]) });
    assert!(matches!(&actions[0], Action::Stored { outputs, .. } if *outputs == [7, 8]));
    assert_eq!(work(&actions), vec![(0, vec![(1, 6, vec![4, 5, 6])])]);
}

#[test]
fn bytes_bound_a_transaction_but_never_to_nothing() {
    let mut g: G = Gate::new(vec![claimed(0)], 1, limits(100, 15));
    let actions = arrive(&mut g, &[E(0, 1), E(0, 2), E(0, 3)]);
    assert_eq!(work(&actions), vec![(0, vec![(0, 5, vec![1, 2])])]);
    let mut tiny: G = Gate::new(vec![claimed(0)], 1, limits(100, 1));
    assert_eq!(work(&arrive(&mut tiny, &[E(0, 1), E(0, 2)])), vec![(0, vec![(0, 5, vec![1])])]);
}

#[test]
fn an_event_that_an_earlier_run_stored_is_skipped() {
    let mut places = Places::default();
    places.advance(TopicPartition { topic: 0, partition: 0 }, Place { offset: Offset(3), events: 0 });
    let mut g: G = Gate::new(vec![Claimed { places, ..claimed(0) }], 1, limits(3, 1000));
    let actions = arrive(&mut g, &[E(0, 2), E(0, 3)]);
    assert_eq!(actions[0], Action::Skip(E(0, 2)));
    assert_eq!(work(&actions), vec![(0, vec![(0, 5, vec![3])])]);
}

#[test]
fn contention_runs_again_whole_and_then_in_smaller_transactions() {
    let mut g = Gate::new(vec![claimed(0), claimed(1)], 1, limits(4, 1000));
    let first = work(&arrive(&mut g, &[E(0, 1), E(0, 2), E(1, 3), E(1, 4)]));
    let actions = act(&mut g, Input::Undone { lane: 0, again: Again::Now });
    assert!(matches!(actions[0], Action::Store { contended: 1, .. }));
    assert_eq!(work(&actions), first);
    let halved = act(&mut g, Input::Undone { lane: 0, again: Again::Now });
    assert_eq!(work(&halved), vec![(0, vec![(0, 5, vec![1, 2])])]);
    g.check().unwrap();
    act(&mut g, Input::Undone { lane: 0, again: Again::Now });
    assert_eq!(
        work(&act(&mut g, Input::Undone { lane: 0, again: Again::Now })),
        vec![(0, vec![(0, 5, vec![1])])]
    );
    // One event cannot be taken apart: it goes on trying, with pauses.
    act(&mut g, Input::Undone { lane: 0, again: Again::Now });
    let alone = act(&mut g, Input::Undone { lane: 0, again: Again::Now });
    assert!(matches!(alone[0], Action::Store { contended: 2, .. }), "{alone:?}");
    // What gets through makes them larger again, in the order in which they came.
    let mut left = Vec::new();
    for _ in 0..3 {
        left.extend(work(&act(&mut g, Input::Stored { lane: 0, outcomes: sent(&[0]) })));
    }
    assert_eq!(left, vec![(0, vec![(1, 5, vec![3, 4])]), (0, vec![(0, 6, vec![2])])]);
    g.check().unwrap();
}

#[test]
fn what_is_too_much_for_one_transaction_is_taken_apart_at_once() {
    let mut g = Gate::new(vec![claimed(0)], 1, limits(4, 1000));
    arrive(&mut g, &[E(0, 1), E(0, 2), E(0, 3), E(0, 4)]);
    let halved = act(&mut g, Input::Undone { lane: 0, again: Again::Smaller });
    assert_eq!(work(&halved), vec![(0, vec![(0, 5, vec![1, 2])])]);
    let alone = act(&mut g, Input::Undone { lane: 0, again: Again::Smaller });
    assert_eq!(work(&alone), vec![(0, vec![(0, 5, vec![1])])]);
    g.check().unwrap();
    let never = act(&mut g, Input::Undone { lane: 0, again: Again::Smaller });
    assert!(matches!(&never[..], [Action::Halt(h)] if h.kind == HaltKind::Internal), "{never:?}");
}

/// Which of a batch's events are told to wait behind a parked one.
fn waiting(actions: &A) -> Vec<usize> {
    match &actions[..] {
        [.., Action::Store { transaction, .. }] => transaction.batches[0].waiting.clone(),
        _ => panic!("{actions:?}"),
    }
}

fn retries(actions: &A) -> Vec<(u32, u64)> {
    let stores = actions.iter().filter_map(|action| match action {
        Action::Store { transaction, .. } => Some(&transaction.batches),
        _ => None,
    });
    stores.flatten().filter(|batch| batch.is_retry).map(|batch| (batch.group.0, batch.number.0)).collect()
}

#[test]
fn events_behind_a_parked_one_of_their_key_wait_and_others_go_on() {
    let mut g = gate(1);
    arrive(&mut g, &[E(0, 11), E(0, 12)]);
    let next = arrive(&mut g, &[E(0, 20), E(0, 22), E(0, 31)]);
    assert!(next.is_empty(), "a batch is out");
    let actions = act(&mut g, Input::Stored { lane: 0, outcomes: changed(&[1], &[], false) });
    assert_eq!(waiting(&actions), [2], "the one of key 1");
    assert_eq!(g.parked(), 1);
    let mut later = gate(1);
    later.step(Input::Arrived(E(1, 11)), &mut Vec::new());
    assert!(waiting(&act(&mut later, Input::Dispatch)).is_empty(), "another group's key of that name");
    let parked = BTreeSet::from([KeyId(1)]);
    let mut g: G = Gate::new(vec![Claimed { parked, ..claimed(0) }], 1, limits(3, 1000));
    assert_eq!(waiting(&arrive(&mut g, &[E(0, 51)])), [0], "a start knows what was parked before");
}

#[test]
fn parked_events_are_tried_before_what_is_queued() {
    let parked = BTreeSet::from([KeyId(1), KeyId(2)]);
    let mut g: G = Gate::new(vec![Claimed { parked, ..claimed(0) }, claimed(1)], 1, limits(3, 1000));
    arrive(&mut g, &[E(1, 7)]);
    arrive(&mut g, &[E(0, 31)]);
    assert!(act(&mut g, Input::Retry(KeyGroup(0))).is_empty());
    act(&mut g, Input::Retry(KeyGroup(0)));
    let retry = act(&mut g, Input::Stored { lane: 0, outcomes: sent(&[0]) });
    assert_eq!(retries(&retry), [(0, 5)]);
    g.check().unwrap();
    // There is more: the queue waits on.
    let more = act(&mut g, Input::Stored { lane: 0, outcomes: changed(&[], &[2], true) });
    assert_eq!(retries(&more), [(0, 6)]);
    assert!(!more.iter().any(|action| matches!(action, Action::Passed { .. })));
    let over = act(&mut g, Input::Stored { lane: 0, outcomes: changed(&[], &[1], false) });
    assert!(over.contains(&Action::Passed { group: KeyGroup(0), more: false }));
    assert_eq!(work(&over), vec![(0, vec![(0, 7, vec![31])])]);
    assert!(waiting(&over).is_empty(), "its key is free");
    assert_eq!(
        act(&mut g, Input::Retry(KeyGroup(7))),
        vec![Action::Passed { group: KeyGroup(7), more: false }],
        "nobody's here"
    );
}

#[test]
fn a_pass_without_end_lets_the_queue_have_its_turn() {
    let parked = BTreeSet::from([KeyId(1)]);
    let mut g: G = Gate::new(vec![Claimed { parked, ..claimed(0) }], 1, limits(3, 1000));
    act(&mut g, Input::Retry(KeyGroup(0)));
    let mut actions = arrive(&mut g, &[E(0, 1)]);
    let mut tried = 0;
    while !retries(&actions).is_empty() {
        tried += 1;
        actions = act(&mut g, Input::Stored { lane: 0, outcomes: changed(&[], &[], true) });
    }
    assert_eq!(tried, 20);
    assert!(actions.contains(&Action::Passed { group: KeyGroup(0), more: true }));
    assert_eq!(work(&actions), vec![(0, vec![(0, 25, vec![1])])]);
}

#[test]
fn a_retry_in_doubt_is_looked_up_like_any_batch() {
    for (batch, stored) in [(5, true), (4, false)] {
        let parked = BTreeSet::from([KeyId(1)]);
        let mut g: G = Gate::new(vec![Claimed { parked, ..claimed(0) }], 1, limits(3, 1000));
        act(&mut g, Input::Retry(KeyGroup(0)));
        act(&mut g, Input::Dispatch);
        act(&mut g, Input::InDoubt { lane: 0, outcomes: changed(&[], &[1], false) });
        act(&mut g, Input::Up);
        let actions = act(&mut g, Input::Settled { lane: 0, rows: vec![row(0, 1, batch)] });
        assert_eq!(retries(&actions).is_empty(), stored);
        assert_eq!(g.parked(), usize::from(!stored), "known only once it is certain");
        g.check().unwrap();
    }
}

#[test]
fn more_parked_keys_than_allowed_halt() {
    let mut g = gate(1);
    arrive(&mut g, &[E(0, 11)]);
    let actions = act(&mut g, Input::Stored { lane: 0, outcomes: changed(&[1, 2, 3, 4], &[], false) });
    assert!(matches!(&actions[..], [Action::Stored { .. }, Action::Halt(h)] if h.kind == HaltKind::Reject));
    // A start behind it may free them.
    let parked = (1..=4).map(KeyId).collect();
    let mut g: G = Gate::new(vec![Claimed { parked, ..claimed(0) }], 1, limits(3, 1000));
    act(&mut g, Input::Retry(KeyGroup(0)));
    act(&mut g, Input::Dispatch);
    let actions = act(&mut g, Input::Stored { lane: 0, outcomes: changed(&[], &[], true) });
    assert!(!actions.iter().any(|action| matches!(action, Action::Halt(_))), "{actions:?}");
}

#[test]
#[should_panic(expected = "was not parked")]
fn a_key_that_is_not_parked_cannot_be_freed() {
    let mut g = gate(1);
    arrive(&mut g, &[E(0, 11)]);
    act(&mut g, Input::Stored { lane: 0, outcomes: changed(&[], &[1], false) });
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
        assert_eq!(act(&mut g, Input::InDoubt { lane: 0, outcomes: sent(&[1, 2]) }), vec![Action::Probe]);
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
        act(&mut g, Input::InDoubt { lane: 0, outcomes: sent(&[1, 2]) });
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
    act(&mut g, Input::Stored { lane: 0, outcomes: sent(&[0]) });
    assert_eq!(confirmed(&arrive(&mut g, &[E(0, 2)])), None);
    act(&mut g, Input::Stored { lane: 0, outcomes: sent(&[0]) });
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
    act(&mut gate(1), Input::Stored { lane: 0, outcomes: sent(&[]) });
}

#[test]
fn few_events_wait_for_a_transaction_that_is_soon_through() {
    let three = Limits { beside_min: 3, ..limits(10, 1000) };
    let new = || -> G { Gate::new((0..4).map(claimed).collect(), 3, three) };
    let mut g = new();
    assert_eq!(work(&arrive(&mut g, &[E(0, 1)])), vec![(0, vec![(0, 5, vec![1])])], "nobody is in the way");
    assert!(arrive(&mut g, &[E(1, 2), E(2, 3)]).is_empty(), "two are not worth a transaction");
    // A key group whose batch is out cannot go, and does not count.
    assert!(arrive(&mut g, &[E(0, 4)]).is_empty());
    let actions = arrive(&mut g, &[E(3, 5)]);
    assert_eq!(work(&actions), vec![(1, vec![(1, 5, vec![2]), (2, 5, vec![3]), (3, 5, vec![5])])]);
    assert!(arrive(&mut g, &[E(1, 6), E(2, 7)]).is_empty());
    // Whatever became of the one in the way, the others go on.
    let actions = act(&mut g, Input::Stored { lane: 0, outcomes: sent(&[0]) });
    assert!(work(&actions).is_empty(), "another one is soon through");
    let actions = act(&mut g, Input::Stored { lane: 1, outcomes: sent(&[0, 0, 0]) });
    assert_eq!(work(&actions), vec![(0, vec![(0, 6, vec![4]), (1, 6, vec![6]), (2, 6, vec![7])])]);

    let mut g = new();
    arrive(&mut g, &[E(0, 1)]);
    assert!(arrive(&mut g, &[E(1, 2)]).is_empty());
    let actions = act(&mut g, Input::Slow { lane: 0 });
    assert_eq!(work(&actions), vec![(1, vec![(1, 5, vec![2])])], "nothing waits for what takes long");
    assert!(arrive(&mut g, &[E(2, 3)]).is_empty(), "and the second one is soon through");
    let actions = act(&mut g, Input::Undone { lane: 1, again: Again::Now });
    assert_eq!(work(&actions), vec![(1, vec![(1, 5, vec![2])])]);
    assert!(arrive(&mut g, &[E(3, 4)]).is_empty());
    let actions = act(&mut g, Input::InDoubt { lane: 1, outcomes: sent(&[0]) });
    assert!(work(&actions).is_empty(), "nothing is dispatched while the database is out");
    let actions = act(&mut g, Input::Up);
    assert!(actions.iter().any(|a| matches!(a, Action::Settle { lane: 1, .. })));
    assert_eq!(
        work(&actions),
        vec![(2, vec![(2, 5, vec![3]), (3, 5, vec![4])])],
        "what is looked up is in nobody's way"
    );
    g.check().unwrap();
}

#[test]
fn smaller_transactions_are_worth_a_lane_sooner() {
    let mut g: G = Gate::new((0..4).map(claimed).collect(), 2, Limits { beside_min: 3, ..limits(2, 1000) });
    arrive(&mut g, &[E(0, 1)]);
    assert!(arrive(&mut g, &[E(1, 2)]).is_empty());
    assert_eq!(work(&arrive(&mut g, &[E(2, 3)])), vec![(1, vec![(1, 5, vec![2]), (2, 5, vec![3])])]);
    // A pass over parked events never waits for more.
    let mut g: G = Gate::new((0..4).map(claimed).collect(), 2, Limits { beside_min: 3, ..limits(9, 1000) });
    arrive(&mut g, &[E(0, 1)]);
    act(&mut g, Input::Retry(KeyGroup(1)));
    assert_eq!(work(&act(&mut g, Input::Dispatch)), vec![(1, vec![(1, 5, vec![])])]);
}
