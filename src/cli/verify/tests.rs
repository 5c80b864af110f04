//! The three steps on lists in memory: clean ones, and one fault of each kind planted; in memory and through the disk.
#![allow(clippy::as_conversions, reason = "the numbers of a test are small")]

mod several;

use super::compare::{Compare, Content, InputRecord, Reset};
use super::entry::{Lies, SentAt};
use super::found::{Fault, Found, SHOWN_MAX};
use super::gather::Gather;
use super::horizon::{Horizon, LossesFrom};
use super::order;
use super::rules::{OutputRule, Rules};
use super::sorter::Sorter;
use crate::job::On;
use crate::model::{Coordinates, Destination, Headers, KeyGroup, NextOffset, Offset, TopicPartition};
use bytes::Bytes;

const PARTITIONS: i32 = 3;
const RECORDS: i64 = 400;
const KEYS: i64 = 17;
const OUTPUTS: i32 = 2;
/// One record in so many cannot be read.
const UNREADABLE: i64 = 25;
/// So small that everything goes through the disk, in runs of ten records and less.
const TINY: usize = 900;
const AMPLE: usize = 1 << 20;

/// A topic's partition: in its order, what each record came from.
type Lane = Vec<(i32, i64)>;

/// Topics of a job that has done everything right, for tests to spoil.
struct World {
    first: i64,
    frontier: i64,
    rules: Rules,
    begins_late: bool,
    in_flight_records: u64,
    outputs: Vec<Lane>,
    /// Where the output partitions begin.
    outputs_first: i64,
    letters: Lane,
    resets: Vec<Reset>,
    /// What the ledger holds.
    asides: Vec<((i32, i64), Lies)>,
}

fn at(partition: i32) -> TopicPartition {
    TopicPartition { topic: 0, partition }
}

fn is_unreadable(offset: i64) -> bool {
    offset % UNREADABLE == 7
}

fn key(partition: i32, offset: i64) -> String {
    format!("K{}", (offset * 7 + i64::from(partition)) % KEYS)
}

fn lane_of(partition: i32, offset: i64) -> usize {
    usize::from(key(partition, offset).len().is_multiple_of(2))
}

impl World {
    fn new() -> World {
        let outputs = vec![OutputRule { name: "1".to_owned(), on: On::Document, always: true }];
        let rules = Rules { outputs, discards: false, discards_events: false };
        let mut world = World {
            first: 0,
            frontier: RECORDS,
            rules,
            begins_late: false,
            in_flight_records: 10,
            outputs: vec![Lane::new(); OUTPUTS as usize],
            outputs_first: 0,
            letters: Lane::new(),
            resets: Vec::new(),
            asides: Vec::new(),
        };
        // Partitions do not wait for each other, and the job is some records beyond its frontier.
        for offset in 0..RECORDS + 5 {
            for partition in (0..PARTITIONS).rev() {
                if is_unreadable(offset) {
                    world.letters.push((partition, offset));
                } else {
                    world.outputs[lane_of(partition, offset)].push((partition, offset));
                }
            }
        }
        world
    }

    fn verify(&self, memory_bytes: usize) -> Found {
        let folder = tempfile::tempdir().unwrap();
        let horizon = Horizon::new(self.begins_late, self.in_flight_records);
        let sorter = Sorter::new(memory_bytes, folder.path());
        let mut gather = Gather::new("job", &["in".to_owned()], self.rules.clone(), sorter, horizon);
        for (partition, lane) in (0..).zip(&self.outputs) {
            if self.outputs_first > 0 {
                gather.shortened(Destination::Output(0), partition);
            }
            for (offset, source) in (self.outputs_first..).zip(lane) {
                let place = SentAt { to: Destination::Output(0), partition, offset: Offset(offset) };
                gather.take(place, &headers(*source, None)).unwrap();
            }
        }
        for (offset, source) in (0..).zip(&self.letters) {
            let place = SentAt { to: Destination::DeadLetter, partition: 0, offset: Offset(offset) };
            gather.take(place, &headers(*source, Some("job"))).unwrap();
        }
        for ((partition, offset), lies) in &self.asides {
            let source = Coordinates { at: at(*partition), offset: Offset(*offset), index: 0 };
            gather.aside(source, *lies).unwrap();
        }
        let by_key = Sorter::new(memory_bytes, folder.path());
        let mut compare =
            Compare::new(self.rules.clone(), gather.finish(), by_key, self.resets.clone()).unwrap();
        for partition in 0..PARTITIONS {
            compare.begin(at(partition), Offset(self.first), NextOffset(self.frontier)).unwrap();
            for offset in self.first..self.frontier {
                compare.record(&record(partition, offset)).unwrap();
            }
        }
        let (mut found, placed) = compare.finish().unwrap();
        found.out_of_order = order::check(placed, || ()).unwrap();
        found
    }

    /// The same verdict in memory and through the disk.
    fn verdict(&self) -> Found {
        let (small, large) = (self.verify(TINY), self.verify(AMPLE));
        assert_eq!(format!("{small:?}"), format!("{large:?}"));
        large
    }
}

fn record(partition: i32, offset: i64) -> InputRecord {
    let content = if is_unreadable(offset) {
        Content::Unreadable { code: "no_value" }
    } else {
        Content::Readable { group: KeyGroup(1), key: Bytes::from(key(partition, offset)), tombstone: false }
    };
    InputRecord { at: at(partition), offset: Offset(offset), events: vec![content] }
}

fn headers((partition, offset): (i32, i64), job: Option<&str>) -> Headers {
    let header = |name: &str, value: String| (name.to_owned(), Some(Bytes::from(value)));
    let mut headers = vec![
        header("tidegate-source", "another/0/0".to_owned()),
        header("tidegate-source", format!("in/{partition}/{offset}")),
    ];
    headers.extend(job.map(|job| header("tidegate-job", job.to_owned())));
    headers
}

fn source(partition: i32, offset: i64) -> Coordinates {
    Coordinates { at: at(partition), offset: Offset(offset), index: 0 }
}

fn faults(found: &Found) -> [u64; 3] {
    [found.lost.count, found.doubled.count, found.out_of_order.count]
}

#[test]
fn a_job_that_did_everything_right_is_clean() {
    let found = World::new().verdict();
    assert!(found.is_clean(), "{found:?}");
    let counts = found.counts;
    let letters = RECORDS as u64 / UNREADABLE as u64 * PARTITIONS as u64;
    assert_eq!(counts.records, (RECORDS * i64::from(PARTITIONS)) as u64);
    assert_eq!((counts.with_output, counts.with_dead_letter), (counts.records - letters, letters));
    assert_eq!(counts.beyond, 5 * PARTITIONS as u64);
    assert_eq!(counts.older + counts.without_record + counts.foreign + counts.not_judged, 0);
    assert_eq!(found.ranges.len(), PARTITIONS as usize);
}

#[test]
fn a_missing_output_is_lost_and_named() {
    let mut world = World::new();
    world.outputs.iter_mut().for_each(|lane| lane.retain(|source| *source != (1, 100)));
    let found = world.verdict();
    assert_eq!(faults(&found), [1, 0, 0]);
    let lost = &found.lost.shown[0];
    assert_eq!((lost.source, &lost.fault), (source(1, 100), &Fault::Lost { unreadable: None }));
    assert_eq!(lost.key.as_ref().map(|key| &key.key[..]), Some(key(1, 100).as_bytes()));
}

#[test]
fn a_parked_event_is_no_lost_one_and_one_that_is_sent_as_well_is_asked_for_again() {
    let mut world = World::new();
    let [gone, twice] = [(1, 60), (1, 61)];
    world.outputs[lane_of(1, 60)].retain(|source| *source != gone);
    world.asides = vec![(gone, Lies::Parked), (twice, Lies::Parked)];
    let found = world.verdict();
    assert!(found.is_clean(), "{found:?}");
    assert_eq!((found.counts.parked, found.counts.dropped), (1, 0));
    let first: Vec<i64> = found.sent_and_parked.first.iter().map(|at| at.offset.0).collect();
    assert_eq!((found.sent_and_parked.count, first), (1, vec![61]));
    world.asides = vec![(gone, Lies::Dropped), (twice, Lies::Dropped)];
    let found = world.verdict();
    assert_eq!((found.counts.parked, found.counts.dropped, found.sent_and_parked.count), (0, 1, 0));
    assert!(found.is_clean());
    world.asides.clear();
    assert_eq!(world.verdict().lost.count, 1);
    world.rules.discards_events = true;
    let found = world.verdict();
    assert_eq!((found.lost.count, found.counts.discarded), (0, 1));
}

#[test]
fn a_missing_dead_letter_is_lost_unless_the_rule_discards() {
    let mut world = World::new();
    world.letters.retain(|source| *source != (2, 32));
    let found = world.verdict();
    assert_eq!(faults(&found), [1, 0, 0]);
    assert_eq!(found.lost.shown[0].fault, Fault::Lost { unreadable: Some("no_value") });
    world.rules.discards = true;
    let found = world.verdict();
    assert_eq!((faults(&found), found.counts.discarded), ([0, 0, 0], 1));
}

#[test]
fn a_copy_is_doubled_and_named_with_its_places() {
    let mut world = World::new();
    let lane = lane_of(0, 200);
    let original = world.outputs[lane].iter().position(|source| *source == (0, 200)).unwrap();
    world.outputs[lane].push((0, 200));
    let found = world.verdict();
    assert_eq!(faults(&found), [0, 1, 0]);
    let doubled = &found.doubled.shown[0];
    let place = |offset: usize| SentAt {
        to: Destination::Output(0),
        partition: lane as i32,
        offset: Offset(offset as i64),
    };
    let places = vec![place(original), place(world.outputs[lane].len() - 1)];
    assert_eq!((doubled.source, &doubled.fault), (source(0, 200), &Fault::Doubled { copies: 2, places }));
    assert!(doubled.key.is_some());
}

#[test]
fn an_output_and_a_dead_letter_are_doubled() {
    let mut world = World::new();
    world.letters.push((0, 200));
    assert_eq!(faults(&world.verdict()), [0, 1, 0]);
}

#[test]
fn a_copy_beyond_the_frontier_is_doubled_too() {
    let mut world = World::new();
    world.letters.push((PARTITIONS - 1, RECORDS + 2));
    let found = world.verdict();
    assert_eq!((faults(&found), &found.doubled.shown[0].key), ([0, 1, 0], &None));
}

#[test]
fn two_of_a_key_that_are_swapped_are_out_of_order() {
    let mut world = World::new();
    let (earlier, later) = ((1, 100), (1, 100 + KEYS));
    assert_eq!(key(earlier.0, earlier.1), key(later.0, later.1));
    let lane = &mut world.outputs[lane_of(1, 100)];
    let position = |wanted| lane.iter().position(|source| *source == wanted).unwrap();
    let (a, b) = (position(earlier), position(later));
    lane.swap(a, b);
    let found = world.verdict();
    assert_eq!(faults(&found), [0, 0, 1]);
    let finding = &found.out_of_order.shown[0];
    assert_eq!(finding.source, source(1, 100));
    assert!(
        matches!(&finding.fault, Fault::OutOfOrder { later, place, before }
            if *later == source(1, 100 + KEYS) && place.offset.0 == b as i64 && before.offset.0 == a as i64),
        "{finding:?}"
    );
}

#[test]
fn order_is_promised_neither_between_keys_nor_between_partitions() {
    let mut world = World::new();
    for lane in &mut world.outputs {
        // All of one input partition, then all of the next; and keys by themselves.
        lane.sort_by_key(|(partition, offset)| (*partition, key(*partition, *offset), *offset));
    }
    assert!(world.verdict().is_clean());
}

#[test]
fn many_faults_are_counted_and_the_first_are_kept() {
    let mut world = World::new();
    world.outputs[0].clear();
    let found = world.verdict();
    assert!(found.lost.count > SHOWN_MAX as u64);
    assert_eq!(found.lost.shown.len(), SHOWN_MAX);
}

#[test]
fn what_is_older_than_the_input_is_counted_and_not_blamed() {
    let mut world = World::new();
    world.first = 50;
    let found = world.verdict();
    assert_eq!((faults(&found), found.counts.older), ([0, 0, 0], 50 * PARTITIONS as u64));
}

#[test]
fn a_job_that_only_stores_is_asked_for_dead_letters_alone() {
    let mut world = World::new();
    world.rules.outputs.clear();
    world.outputs.iter_mut().for_each(Vec::clear);
    let found = world.verdict();
    assert_eq!((faults(&found), found.counts.with_output), ([0, 0, 0], 0));
    assert_eq!(found.counts.only_stored + found.counts.with_dead_letter, found.counts.records);
    world.letters.remove(0);
    assert_eq!(faults(&world.verdict()), [1, 0, 0]);
}

#[test]
fn a_job_that_began_late_is_judged_from_where_it_began() {
    let mut world = World::new();
    world.begins_late = true;
    world.outputs.iter_mut().for_each(|lane| lane.retain(|(_, offset)| *offset >= 60 && *offset != 90));
    world.letters.retain(|(_, offset)| *offset >= 60);
    let found = world.verdict();
    assert_eq!(faults(&found), [PARTITIONS as u64, 0, 0]);
    assert_eq!(found.ranges[0].outputs_from, LossesFrom::Offset(60));
    assert!(found.lost.shown.iter().all(|lost| lost.source.offset == Offset(90)));
}

#[test]
fn an_output_topic_cut_by_retention_is_judged_behind_what_was_in_flight() {
    let mut world = World::new();
    world.outputs_first = 1;
    for lane in &mut world.outputs {
        lane.retain(|(_, offset)| *offset >= 200 && ![205, 300].contains(offset));
    }
    let found = world.verdict();
    // 205 may have been sent in front of the cut; 300 may not.
    assert_eq!(faults(&found), [PARTITIONS as u64, 0, 0]);
    assert!(found.lost.shown.iter().all(|lost| lost.source.offset == Offset(300)));
    assert!(found.counts.not_judged > 0);
}

#[test]
fn what_others_sent_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let sorter = Sorter::new(AMPLE, folder.path());
    let mut gather =
        Gather::new("job", &["in".to_owned()], World::new().rules, sorter, Horizon::new(false, 0));
    let place = |to| SentAt { to, partition: 0, offset: Offset(0) };
    gather.take(place(Destination::DeadLetter), &headers((0, 1), Some("another"))).unwrap();
    gather.take(place(Destination::DeadLetter), &headers((0, 1), None)).unwrap();
    gather.take(place(Destination::Output(0)), &Headers::new()).unwrap();
    let gathered = gather.finish();
    assert_eq!((gathered.foreign, gathered.outputs, gathered.dead_letters), (3, 1, 2));
    assert_eq!(gathered.outcomes.finish().unwrap().next().unwrap(), None);
}

fn reset(from: i64, handled: i64, to: i64) -> Reset {
    let [from, handled, to] = [from, handled, to].map(NextOffset);
    Reset { at: at(1), from, handled, to }
}

#[test]
fn what_a_reset_had_handled_again_is_told_apart_from_doubles() {
    let mut world = World::new();
    for offset in (90..110).filter(|offset| !is_unreadable(*offset)) {
        world.outputs[lane_of(1, offset)].push((1, offset));
    }
    let blamed = |world: &World| {
        let found = world.verify(AMPLE);
        (found.doubled.count, found.counts.again, found.out_of_order.count, found.lost.count)
    };
    assert_eq!(blamed(&world), (19, 0, 0, 0));
    world.resets = vec![reset(100, 105, 95)];
    assert_eq!(blamed(&world), (9, 10, 0, 0), "5 in front of it and 4 readable ones behind it are doubles");
    world.resets = vec![reset(100, 120, 80)];
    assert_eq!(blamed(&world), (0, 19, 0, 0));
    // Once again, and no more.
    for offset in (90..110).filter(|offset| !is_unreadable(*offset)) {
        world.outputs[lane_of(1, offset)].push((1, offset));
    }
    assert_eq!(blamed(&world).0, 19);
    world.resets.push(reset(200, 200, 85));
    assert_eq!(blamed(&world), (0, 38, 0, 0));
}

#[test]
fn what_a_reset_has_skipped_is_told_apart_from_losses() {
    let mut world = World::new();
    for lane in &mut world.outputs {
        lane.retain(|(partition, offset)| *partition != 1 || !(60..70).contains(offset));
    }
    assert_eq!(world.verify(AMPLE).lost.count, 10);
    world.resets = vec![reset(60, 60, 65)];
    let found = world.verify(AMPLE);
    assert_eq!((found.lost.count, found.counts.skipped), (5, 5));
}
