//! Notes on a real disk: who finds what behind which end, and what is taken in hand.

use super::*;
use crate::model::Offset;
use crate::protocol::guard::Found;
use std::fs;

const WINDOW: usize = 1 << 20;

fn spec() -> JobSpec {
    let text = r#"[job]
name = "orders.eu"
[source]
bootstrap_servers = "127.0.0.1:1"
topics = ["orders", "more"]
[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }
[database]
url = "sqlite:/nowhere/x.sqlite"
[[database.steps]]
store = "INSERT INTO journal (k) VALUES (:k)"
[limits]
in_flight_bytes = "1MiB"
"#;
    let spec =
        crate::job::check("job.toml", text, &|_| None).unwrap_or_else(|errors| panic!("{errors:?}")).spec;
    assert_eq!(spec.limits.in_flight_bytes, WINDOW);
    spec
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn open(&self) -> Guard {
        Guard::open(self.0.path(), &spec(), 0, 1)
    }

    fn note(&self) -> PathBuf {
        self.0.path().join("guard-orders.eu-0")
    }

    /// What the next start would find.
    fn found(&self) -> Found {
        file::find(&self.note()).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    /// A start behind one that ended as by SIGKILL.
    fn killed(&self, guard: Guard) -> Guard {
        drop(guard);
        self.open()
    }
}

fn at(partition: i32, offset: i64) -> Coordinates {
    Coordinates { at: TopicPartition { topic: 0, partition }, offset: Offset(offset), index: 0 }
}

fn record(value: &'static str) -> Record {
    Record { timestamp_ms: None, key: None, headers: Vec::new(), value: Some(value.into()) }
}

fn reads(care: &Care, partitions: &[i32], from: i64) {
    let from = partitions.iter().map(|p| (at(*p, 0).at, NextOffset(from))).collect::<Vec<_>>();
    care.reads(&from, &[]);
}

/// As a process that is killed in the middle of it.
fn dies_with(care: &Care, stage: Stage, at: Coordinates, value: &'static str) {
    match care.take(stage, at, &record(value)) {
        Taken::InHand(in_hand) => std::mem::forget(in_hand),
        taken => panic!("{taken:?}"),
    }
    IN_HAND.set(false);
}

fn passes(care: &Care, stage: Stage, at: Coordinates, value: &'static str) {
    assert!(matches!(care.take(stage, at, &record(value)), Taken::InHand(_)), "it is taken carefully");
}

fn convicted(care: &Care, stage: Stage, at: Coordinates, value: &'static str) -> Option<String> {
    match care.take(stage, at, &record(value)) {
        Taken::Convicted(_, reason) => Some(reason.detail),
        _ => None,
    }
}

#[test]
fn a_clean_end_leaves_nothing_and_a_start_behind_it_watches_nothing() {
    let folder = Folder::new();
    for _ in 0..2 {
        let guard = folder.open();
        assert!(guard.care().is_none(), "nothing is watched");
        assert!(matches!(folder.found(), Found::Running(Ok(_))));
        guard.ended();
        assert_eq!(folder.names(), [""; 0]);
    }
}

#[test]
fn a_killed_process_leaves_its_note_and_the_next_takes_care() {
    let folder = Folder::new();
    let guard = folder.killed(folder.open());
    let care = guard.care().expect("care");
    reads(&care, &[0], 5);
    passes(&care, Stage::Read, at(0, 5), "<a/>");
    let Found::Running(Ok(note)) = folder.found() else { panic!("a note") };
    assert_eq!((note.hand, note.memory.unclean), (None, 1), "let go");
    assert_eq!(folder.names(), ["guard-orders.eu-0"], "no draft is left");
    guard.ended();
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn the_second_end_with_the_same_record_in_hand_convicts_until_the_position_has_passed() {
    let folder = Folder::new();
    let mut guard = folder.killed(folder.open());
    for _ in 0..2 {
        let care = guard.care().unwrap();
        reads(&care, &[0], 5);
        passes(&care, Stage::Read, at(0, 5), "<a/>");
        dies_with(&care, Stage::Read, at(0, 6), "<b/>");
        drop(care);
        guard = folder.killed(guard);
    }
    let care = guard.care().unwrap();
    reads(&care, &[0], 5);
    passes(&care, Stage::Read, at(0, 5), "<a/>");
    let detail = "the process ended 2 times in a row while this record was being read";
    assert_eq!(convicted(&care, Stage::Read, at(0, 6), "<b/>").as_deref(), Some(detail));
    assert_eq!(convicted(&care, Stage::Output, at(0, 6), "<b/>").as_deref(), Some(detail), "in any stage");
    assert_eq!(convicted(&care, Stage::Read, at(0, 6), "<other/>"), None, "made anew: another record");
    drop(care);
    // A drain before the position has passed: the record comes again.
    guard.ended();
    drop(guard);
    let guard = folder.open();
    let care = guard.care().expect("it looks for the record");
    reads(&care, &[0], 6);
    assert!(
        matches!(care.take(Stage::Read, at(1, 0), &record("<x/>")), Taken::Freely),
        "and for nothing else"
    );
    assert!(convicted(&care, Stage::Read, at(0, 6), "<b/>").is_some());
    assert!(!care.is_over());
    assert!(matches!(care.take(Stage::Read, at(0, 7), &record("<c/>")), Taken::Freely));
    assert!(care.is_over());
    drop(care);
    guard.ended();
    drop(guard);
    let guard = folder.open();
    reads(&guard.care().unwrap(), &[0], 7);
    assert!(guard.care().unwrap().is_over());
    guard.ended();
    assert_eq!(folder.names(), [""; 0], "the position has passed");
}

#[test]
fn a_conviction_of_a_record_that_was_read_past_is_dropped_unless_it_was_set_aside() {
    let folder = Folder::new();
    let mut guard = folder.killed(folder.open());
    for offset in [6, 6, 8, 8] {
        let care = guard.care().unwrap();
        reads(&care, &[0], 5);
        dies_with(&care, Stage::Read, at(0, offset), "<b/>");
        drop(care);
        guard = folder.killed(guard);
    }
    let care = guard.care().unwrap();
    reads(&care, &[0], 5);
    assert!(convicted(&care, Stage::Read, at(0, 6), "<b/>").is_some(), "it is set aside");
    drop(care);
    let guard = folder.killed(guard);
    let care = guard.care().unwrap();
    // Whoever stored the dead letter, or a later record, has a place behind both.
    care.reads(&[(at(0, 0).at, NextOffset(5))], &[(at(0, 0).at, NextOffset(9))]);
    assert!(convicted(&care, Stage::Read, at(0, 6), "<b/>").is_some(), "it goes on being set aside");
    assert_eq!(convicted(&care, Stage::Read, at(0, 8), "<b/>"), None, "it may be stored");
}

#[test]
fn whoever_comes_through_has_no_strike_any_more() {
    let folder = Folder::new();
    let mut guard = folder.killed(folder.open());
    for _ in 0..5 {
        let care = guard.care().unwrap();
        reads(&care, &[0], 0);
        dies_with(&care, Stage::Read, at(0, 6), "<b/>");
        drop(care);
        guard = folder.killed(guard);
        let care = guard.care().unwrap();
        reads(&care, &[0], 0);
        passes(&care, Stage::Read, at(0, 6), "<b/>");
        drop(care);
        guard = folder.killed(guard);
    }
    assert_eq!(convicted(&guard.care().unwrap(), Stage::Read, at(0, 6), "<b/>"), None);
}

#[test]
fn a_panic_convicts_at_once_and_only_the_record_of_its_own_thread() {
    let folder = Folder::new();
    let guard = folder.killed(folder.open());
    let care = guard.care().unwrap();
    reads(&care, &[0], 0);
    let Taken::InHand(in_hand) = care.take(Stage::Output, at(0, 6), &record("<b/>")) else {
        panic!("in hand")
    };
    std::thread::scope(|scope| scope.spawn(|| guard.panicked()).join().unwrap());
    let Found::Running(Ok(note)) = folder.found() else { panic!("a note") };
    assert_eq!((note.end, note.hand.is_some()), (End::PanicElsewhere, true));
    guard.panicked();
    std::mem::forget(in_hand);
    IN_HAND.set(false);
    drop(care);
    let guard = folder.killed(guard);
    let detail = "the process panicked while the output of this record was being made";
    assert_eq!(convicted(&guard.care().unwrap(), Stage::Read, at(0, 6), "<b/>").as_deref(), Some(detail));
}

#[test]
fn care_goes_as_far_in_each_partition_as_the_budget_allowed() {
    let folder = Folder::new();
    let guard = folder.killed(folder.killed(folder.open()));
    let care = guard.care().unwrap();
    reads(&care, &[0, 1], 0);
    let one = record("<a/>");
    let careful = WINDOW.div_ceil(one.footprint_bytes());
    for partition in [0, 1] {
        for offset in 0..i64::try_from(careful).unwrap() {
            assert!(!care.is_over());
            passes(&care, Stage::Read, at(partition, offset), "<a/>");
        }
        assert!(matches!(care.take(Stage::Read, at(partition, 1 << 40), &one), Taken::Freely));
    }
    assert!(care.is_over());
    passes(&care, Stage::Output, at(0, 0), "<a/>");
    let Found::Running(Ok(note)) = folder.found() else { panic!("a note") };
    assert_eq!(note.memory.unclean, 0, "the row of unclean ends is broken");
}

#[test]
fn workers_that_have_not_said_what_they_read_keep_it_open() {
    let folder = Folder::new();
    drop(folder.open());
    let guard = Guard::open(folder.0.path(), &spec(), 0, 2);
    let care = guard.care().unwrap();
    reads(&care, &[], 0);
    assert!(!care.is_over());
    reads(&care, &[], 0);
    assert!(care.is_over());
}

#[test]
fn an_instance_that_was_taken_over_from_is_no_unclean_end_and_touches_nothing() {
    let folder = Folder::new();
    let old = folder.killed(folder.open());
    let new = folder.open();
    let old_care = old.care().unwrap();
    reads(&old_care, &[0], 0);
    passes(&old_care, Stage::Read, at(0, 0), "<a/>");
    assert!(new.care().is_none(), "the old one has not ended");
    old.ended();
    let Found::Running(Ok(note)) = folder.found() else { panic!("the note of the new one") };
    assert_eq!((note.end, note.hand), (End::Unknown, None));
    drop((old, old_care));
    assert!(folder.killed(new).care().is_some(), "and its unclean end is seen");
}

#[test]
fn a_note_that_is_something_else_is_an_unclean_end_and_is_replaced() {
    let folder = Folder::new();
    fs::write(folder.note(), "my notes\n").unwrap();
    let guard = folder.open();
    assert!(guard.care().is_some());
    assert!(matches!(folder.found(), Found::Running(Ok(_))));
}

#[test]
fn without_a_folder_that_takes_a_file_there_is_no_guard() {
    let folder = Folder::new();
    let guard = Guard::open(&folder.0.path().join("not there"), &spec(), 0, 1);
    assert!(guard.care().is_none());
    guard.panicked();
    guard.ended();
    // A folder in the note's place.
    fs::create_dir(folder.note()).unwrap();
    assert!(folder.open().care().is_none());
}

/// A parked record lies before the frontier, and comes again from the ledger at each start as long as it is marked.
#[test]
fn a_parked_record_whose_output_kills_is_convicted() {
    let folder = Folder::new();
    let mut guard = folder.killed(folder.open());
    for _ in 0..2 {
        let care = guard.care().unwrap();
        reads(&care, &[0], 100);
        dies_with(&care, Stage::Retry, at(0, 6), "<b/>");
        drop(care);
        guard = folder.killed(guard);
    }
    for _ in 0..2 {
        let care = guard.care().unwrap();
        reads(&care, &[0], 100);
        let reason = convicted(&care, Stage::Retry, at(0, 6), "<b/>").unwrap();
        assert_eq!(
            reason,
            "the process ended 2 times in a row while this record, which was parked, was being tried again"
        );
        drop(care);
        guard = folder.killed(guard);
    }
}
