//! What is odd and what is not, case by case.

use super::*;

fn partition(ledger: Option<i64>, group: Option<(i64, bool)>) -> FoundPartition {
    FoundPartition {
        topic: "orders".into(),
        partition: 1,
        ledger: ledger.map(NextOffset),
        first: Offset(10),
        end: NextOffset(100),
        group: group.map(|(next, ours)| (NextOffset(next), ours)),
    }
}

fn seen(found: FoundPartition, marked: bool) -> Vec<Odd> {
    odds(&World { partitions: vec![found], marked, ..World::default() })
}

fn topic(role: Role, was: Option<&str>, is: Option<&str>) -> FoundTopic {
    FoundTopic { name: "orders".into(), role, was: was.map(str::to_owned), is: is.map(str::to_owned) }
}

#[test]
fn a_group_that_lags_is_no_news() {
    for group in [None, Some((50, true)), Some((20, true)), Some((50, false))] {
        assert_eq!(seen(partition(Some(50), group), true), [], "{group:?}");
    }
}

#[test]
fn a_group_that_somebody_moved_is_odd_in_either_direction() {
    for group in [20, 49, 51, 90] {
        let found = seen(partition(Some(50), Some((group, false))), true);
        assert!(matches!(found.as_slice(), [Odd::GroupMoved { .. }]), "{group}: {found:?}");
    }
}

#[test]
fn what_stood_in_the_group_before_the_job_ever_committed_is_no_news() {
    assert_eq!(seen(partition(Some(50), Some((90, false))), false), []);
    assert_eq!(seen(partition(None, Some((90, false))), true), []);
}

#[test]
fn a_marked_position_beyond_the_ledger_tells_that_the_ledger_went_back() {
    for marked in [false, true] {
        let found = seen(partition(Some(50), Some((51, true))), marked);
        assert!(matches!(found.as_slice(), [Odd::LedgerBehindGroup { .. }]), "{found:?}");
    }
}

#[test]
fn positions_outside_of_the_partition_are_odd_whatever_the_group_says() {
    let below = seen(partition(Some(9), Some((90, false))), true);
    assert!(matches!(below.as_slice(), [Odd::BelowStart { .. }]), "{below:?}");
    let beyond = seen(partition(Some(101), None), true);
    assert!(matches!(beyond.as_slice(), [Odd::BeyondEnd { .. }]), "{beyond:?}");
    for edge in [10, 100] {
        assert_eq!(seen(partition(Some(edge), None), true), []);
    }
}

#[test]
fn another_id_is_odd_where_numbers_count_in_the_topic() {
    let found = |topic: FoundTopic, has_outputs| {
        let partitions = vec![partition(Some(101), None)];
        odds(&World { topics: vec![topic], partitions, has_outputs, ..World::default() })
    };
    let input = found(topic(Role::Input, Some("a"), Some("b")), false);
    assert!(matches!(input.as_slice(), [Odd::TopicAnew { .. }]), "its offsets are not looked at: {input:?}");
    let progress = found(topic(Role::Progress, Some("a"), Some("b")), true);
    assert!(matches!(progress.first(), Some(Odd::ProgressAnew { .. })), "{progress:?}");
    for (topic, has_outputs) in [
        (topic(Role::Progress, Some("a"), Some("b")), false),
        (topic(Role::Sent, Some("a"), Some("b")), true),
        (topic(Role::Input, Some("a"), Some("a")), true),
        (topic(Role::Input, None, Some("b")), true),
        (topic(Role::Input, Some("a"), None), true),
    ] {
        let odds = found(topic, has_outputs);
        assert!(matches!(odds.as_slice(), [Odd::BeyondEnd { .. }]), "{odds:?}");
    }
}

#[test]
fn a_description_names_each_thing_and_each_command_once() {
    let partitions =
        (0..12).map(|number| FoundPartition { partition: number, ..partition(Some(50), Some((20, false))) });
    let found = odds(&World { partitions: partitions.collect(), marked: true, ..World::default() });
    let text = describe("j", &found, None);
    assert!(text.contains("orders/7: somebody else") && !text.contains("orders/8"), "{text}");
    assert!(text.contains("and 4 more") && text.contains("with --execute"), "{text}");
    assert_eq!(text.matches("--to ledger").count(), 1, "{text}");
    let below = |number| FoundPartition { partition: number, ..partition(Some(9), None) };
    let found = odds(&World { partitions: vec![below(1), below(2)], ..World::default() });
    let text = describe("j", &found, None);
    assert!(text.contains("--to earliest --only orders/1,orders/2`"), "{text}");
}
