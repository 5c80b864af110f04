//! Where positions go, and what is refused.

use super::*;

fn found(partition: i32, ledger: i64) -> Partition {
    Partition {
        topic: "orders".into(),
        partition,
        ledger: Some(NextOffset(ledger)),
        handled: NextOffset(ledger + 5),
        first: Offset(10),
        end: NextOffset(100),
        group: Some(NextOffset(30)),
        moment: None,
        anew: false,
    }
}

fn group(pending: &[u64]) -> Group {
    Group {
        group: KeyGroup(1),
        batch: BatchNumber(9),
        output_batch: BatchNumber(8),
        emitted: BatchNumber(6),
        pending: pending.iter().map(|n| BatchNumber(*n)).collect(),
        places: "orders:0=55;orders:1=52+1;returns:0=4".into(),
    }
}

fn facts() -> Facts {
    Facts {
        partitions: vec![found(0, 50), found(1, 50)],
        groups: Vec::new(),
        disagreement: None,
        sends: true,
    }
}

fn wish(to: Target) -> Wish {
    Wish { to, only: Vec::new(), in_doubt: None }
}

fn targets(plan: &Plan) -> Vec<i64> {
    plan.steps.iter().map(|step| step.to.0).collect()
}

#[test]
fn every_target_is_found() {
    let mut facts = facts();
    facts.partitions[0].moment = Some(NextOffset(42));
    for (to, expected) in [
        (Target::Ledger, [50, 50]),
        (Target::Group, [30, 30]),
        (Target::Earliest, [10, 10]),
        (Target::Latest, [100, 100]),
        (Target::Time(1), [42, 100]),
        (Target::Offsets(BTreeMap::from([(("orders".into(), 1), NextOffset(11))])), [50, 11]),
    ] {
        assert_eq!(targets(&plan(&facts, &wish(to.clone())).unwrap()), expected, "{to:?}");
    }
}

#[test]
fn back_counts_what_is_handled_again_and_forward_what_is_skipped() {
    let plan_to = |to| plan(&facts(), &wish(to)).unwrap().steps.remove(0);
    let back = plan_to(Target::Group);
    assert_eq!((back.again(), back.skipped(), back.moves()), (25, 0, true));
    let forward = plan_to(Target::Latest);
    assert_eq!((forward.again(), forward.skipped(), forward.moves()), (0, 50, true));
    let stays = plan_to(Target::Ledger);
    assert_eq!((stays.again(), stays.skipped(), stays.moves()), (0, 0, false));
}

#[test]
fn only_what_was_chosen_moves() {
    let only = Wish { only: vec![("orders".into(), Some(1))], ..wish(Target::Earliest) };
    let plan = plan(&facts(), &only).unwrap();
    assert_eq!(targets(&plan), [50, 10]);
    assert_eq!(plan.steps.iter().map(|step| step.chosen).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn what_does_not_exist_is_refused() {
    let refused = |facts: &Facts, wish: &Wish| plan(facts, wish).unwrap_err();
    let offset = |n| wish(Target::Offsets(BTreeMap::from([(("orders".into(), 1), NextOffset(n))])));
    assert!(matches!(refused(&facts(), &offset(9)), Refusal::Usage(_)));
    assert!(matches!(refused(&facts(), &offset(101)), Refusal::Usage(_)));
    assert!(plan(&facts(), &offset(100)).is_ok());
    let stranger = Wish { only: vec![("returns".into(), None)], ..wish(Target::Latest) };
    assert!(matches!(refused(&facts(), &stranger), Refusal::Usage(_)));
    let mut expired = facts();
    expired.partitions[1].group = None;
    assert!(matches!(refused(&expired, &wish(Target::Group)), Refusal::World(_)));
    let mut gone = facts();
    gone.partitions[0].ledger = Some(NextOffset(4));
    assert!(matches!(refused(&gone, &wish(Target::Ledger)), Refusal::World(_)));
}

#[test]
fn a_topic_that_was_made_anew_begins_anew_as_a_whole() {
    let mut facts = facts();
    facts.partitions.iter_mut().for_each(|partition| partition.anew = true);
    let all = plan(&facts, &wish(Target::Ledger)).unwrap();
    assert!(all.steps.iter().all(Step::moves));
    assert_eq!((all.steps[0].again(), all.steps[0].skipped()), (0, 40));
    let half = Wish { only: vec![("orders".into(), Some(0))], ..wish(Target::Earliest) };
    assert!(matches!(plan(&facts, &half).unwrap_err(), Refusal::Usage(_)));
}

#[test]
fn batches_that_are_surely_not_sent_are_sent_and_those_in_doubt_need_a_word() {
    let with = |disagreement: Option<&str>, in_doubt, sends| {
        let disagreement = disagreement.map(str::to_owned);
        let facts = Facts { groups: vec![group(&[7, 8])], disagreement, sends, ..facts() };
        plan(&facts, &Wish { in_doubt, ..wish(Target::Ledger) })
            .map(|plan| (plan.send.len(), plan.drop.len()))
    };
    assert_eq!(with(None, None, true), Ok((2, 0)));
    assert_eq!(with(None, Some(InDoubt::Drop), true), Ok((0, 2)));
    assert_eq!(with(Some("lost"), Some(InDoubt::Send), true), Ok((2, 0)));
    assert_eq!(with(Some("lost"), Some(InDoubt::Drop), true), Ok((0, 2)));
    assert!(matches!(with(Some("lost"), None, true), Err(Refusal::World(_))));
    assert!(matches!(with(None, Some(InDoubt::Send), false), Err(Refusal::World(_))));
    assert_eq!(with(None, Some(InDoubt::Drop), false), Ok((0, 2)));
}

#[test]
fn numbers_never_go_back_and_only_partitions_that_do_lose_their_places() {
    let back = Wish { only: vec![("orders".into(), Some(1))], ..wish(Target::Earliest) };
    let steps = plan(&facts(), &back).unwrap().steps;
    let row = new_row(&group(&[]), BatchNumber(6), &steps);
    assert_eq!((row.batch, row.output_batch), (BatchNumber(9), BatchNumber(6)));
    assert_eq!(row.places, "orders:0=55;returns:0=4");
    let forward = plan(&facts(), &wish(Target::Latest)).unwrap().steps;
    let row = new_row(&group(&[]), BatchNumber(12), &forward);
    assert_eq!((row.batch, row.output_batch), (BatchNumber(12), BatchNumber(12)));
    assert_eq!(row.places, "orders:0=55;orders:1=52+1;returns:0=4");
}
