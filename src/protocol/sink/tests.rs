//! Every transition of the sink.
use super::*;

type S = Sink<&'static str>;
type A = Vec<Action<&'static str>>;

fn sink() -> S {
    Sink::new(BTreeMap::from([(KeyGroup(0), BatchNumber(4))]), Limits { records_max: 10, bytes_max: 100 })
}

fn batch(group: u32, number: u64, records: usize) -> Emission<&'static str> {
    Emission { group: KeyGroup(group), number: BatchNumber(number), records, bytes: records, outputs: "o" }
}

fn act(sink: &mut S, input: Input<&'static str>) -> A {
    let mut actions = Vec::new();
    sink.step(input, &mut actions);
    actions
}

fn give(sink: &mut S, batches: &[Emission<&'static str>]) -> A {
    let mut actions = Vec::new();
    for b in batches {
        sink.step(Input::Stored(b.clone()), &mut actions);
    }
    sink.step(Input::Dispatch, &mut actions);
    actions
}

fn emitted(actions: &A) -> Vec<(u32, u64)> {
    actions
        .iter()
        .flat_map(|a| match a {
            Action::Emit { batches, .. } => batches.iter().map(|b| (b.group.0, b.number.0)).collect(),
            _ => Vec::new(),
        })
        .collect()
}

fn done(list: &[(u32, u64)], sent: bool) -> Action<&'static str> {
    Action::Done { batches: list.iter().map(|(g, n)| (KeyGroup(*g), BatchNumber(*n))).collect(), sent }
}

fn progress(list: &[(u32, u64)]) -> Input<&'static str> {
    Input::Rebuilt(list.iter().map(|(g, n)| (KeyGroup(*g), BatchNumber(*n))).collect())
}

/// A new producer is there, and the ledger says that the key groups are still this instance's.
fn rebuilt(sink: &mut S, list: &[(u32, u64)]) -> A {
    assert_eq!(act(sink, progress(list)), vec![Action::AskLedger]);
    assert!(sink.holding() && give(sink, &[]).is_empty(), "nothing is sent before the ledger has answered");
    act(sink, Input::Owner { mine: true })
}

#[test]
fn what_came_while_a_transaction_was_out_goes_with_the_next() {
    let mut s = sink();
    assert_eq!(emitted(&give(&mut s, &[batch(0, 5, 3), batch(1, 1, 3)])), vec![(0, 5), (1, 1)]);
    assert!(give(&mut s, &[batch(0, 6, 3), batch(0, 7, 3), batch(1, 2, 5)]).is_empty());
    let actions = act(&mut s, Input::Committed);
    assert_eq!(actions[0], done(&[(0, 5), (1, 1)], true));
    assert_eq!(emitted(&actions), vec![(0, 6), (0, 7)], "the third is over the limit of records");
    assert_eq!(s.pending(), 3);
}

#[test]
fn a_batch_over_the_limits_goes_alone() {
    let mut s = sink();
    assert_eq!(emitted(&give(&mut s, &[batch(0, 5, 50), batch(1, 1, 1)])), vec![(0, 5)]);
}

#[test]
fn a_batch_without_outputs_is_done_at_once_and_confirms_nothing() {
    let mut s = sink();
    assert_eq!(give(&mut s, &[batch(0, 5, 0)]), vec![done(&[(0, 5)], false)]);
    assert_eq!(emitted(&give(&mut s, &[batch(0, 6, 1)])), vec![(0, 6)]);
    assert_eq!(give(&mut s, &[batch(0, 7, 0)]), vec![done(&[(0, 7)], false)]);
}

#[test]
fn an_aborted_transaction_goes_again_as_it_was() {
    let mut s = sink();
    give(&mut s, &[batch(0, 5, 1)]);
    give(&mut s, &[batch(0, 6, 1)]);
    let actions = act(&mut s, Input::Aborted);
    assert_eq!(emitted(&actions), vec![(0, 5)]);
    assert!(matches!(actions[0], Action::Emit { aborted: 1, .. }));
    assert!(matches!(act(&mut s, Input::Aborted)[0], Action::Emit { aborted: 2, .. }));
}

#[test]
fn a_lost_transaction_is_judged_by_the_progress_topic() {
    for (known, again) in [(5, vec![(0, 6)]), (4, vec![(0, 5), (0, 6)])] {
        let mut s = sink();
        give(&mut s, &[batch(0, 5, 1)]);
        give(&mut s, &[batch(0, 6, 1)]);
        assert_eq!(act(&mut s, Input::Lost), vec![Action::Probe]);
        assert!(s.holding());
        assert!(give(&mut s, &[]).is_empty(), "nothing is sent while the broker is out");
        assert_eq!(act(&mut s, Input::Up), vec![Action::Rebuild]);
        assert_eq!(act(&mut s, Input::NotRebuilt), vec![Action::Probe]);
        assert_eq!(act(&mut s, Input::Up), vec![Action::Rebuild]);
        let actions = rebuilt(&mut s, &[(0, known)]);
        assert_eq!(emitted(&actions), again);
        assert_eq!(actions.contains(&done(&[(0, 5)], true)), known == 5);
        assert!(!s.holding());
    }
}

#[test]
fn fenced_asks_the_ledger_first() {
    let mut s = sink();
    give(&mut s, &[batch(0, 5, 1)]);
    assert_eq!(act(&mut s, Input::Fenced), vec![Action::AskLedger]);
    assert_eq!(act(&mut s, Input::Owner { mine: true }), vec![Action::Rebuild]);
    assert_eq!(emitted(&rebuilt(&mut s, &[(0, 4)])), vec![(0, 5)]);

    let mut zombie = sink();
    give(&mut zombie, &[batch(0, 5, 1)]);
    act(&mut zombie, Input::Fenced);
    let actions = act(&mut zombie, Input::Owner { mine: false });
    assert!(matches!(&actions[..], [Action::Halt(h)] if h.kind == HaltKind::Fenced));
}

#[test]
fn a_new_producer_sends_nothing_once_a_newer_instance_has_claimed() {
    let mut s = sink();
    give(&mut s, &[batch(0, 5, 1)]);
    act(&mut s, Input::Lost);
    assert_eq!(act(&mut s, Input::Up), vec![Action::Rebuild]);
    assert_eq!(act(&mut s, progress(&[(0, 4)])), vec![Action::AskLedger]);
    let actions = act(&mut s, Input::Owner { mine: false });
    assert!(matches!(&actions[..], [Action::Halt(h)] if h.kind == HaltKind::Fenced));
    assert!(give(&mut s, &[batch(0, 6, 1)]).is_empty());
}

#[test]
fn half_a_transaction_or_foreign_progress_halts() {
    let mut s = sink();
    give(&mut s, &[batch(0, 5, 1), batch(1, 1, 1)]);
    act(&mut s, Input::Lost);
    act(&mut s, Input::Up);
    assert!(matches!(&rebuilt(&mut s, &[(0, 5), (1, 0)])[..], [Action::Halt(_)]));

    for foreign in [3, 9] {
        let mut s = sink();
        act(&mut s, Input::Lost);
        act(&mut s, Input::Up);
        assert!(matches!(&rebuilt(&mut s, &[(0, foreign)])[..], [Action::Halt(_)]), "{foreign}");
    }
}

#[test]
#[should_panic(expected = "was not asked for")]
fn a_commit_without_a_transaction_is_a_fault() {
    act(&mut sink(), Input::Committed);
}

#[test]
#[should_panic(expected = "after 4")]
fn batches_of_a_key_group_rise() {
    give(&mut sink(), &[batch(0, 4, 1)]);
}
