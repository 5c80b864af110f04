//! Records of several events, and events of several outputs: what must be there, what may be, and what must not be twice.

use super::{AMPLE, TINY, at, faults, reset, source};
use crate::cli::verify::compare::{Compare, Content, InputRecord, Reset};
use crate::cli::verify::entry::SentAt;
use crate::cli::verify::found::{Fault, Found};
use crate::cli::verify::gather::Gather;
use crate::cli::verify::horizon::Horizon;
use crate::cli::verify::order;
use crate::cli::verify::rules::{OutputRule, Rules};
use crate::cli::verify::sorter::Sorter;
use crate::job::On;
use crate::model::{Coordinates, Destination, Headers, KeyGroup, NextOffset, Offset};
use bytes::Bytes;

const RECORDS: i64 = 30;
const EVENTS: u32 = 4;

/// A record that was sent: topic, source, output.
type Sent = (Destination, Coordinates, &'static str);

struct World {
    rules: Rules,
    sent: Vec<Sent>,
    resets: Vec<Reset>,
}

fn event(offset: i64, index: u32) -> Coordinates {
    Coordinates { index, ..source(0, offset) }
}

fn is_unreadable(index: u32) -> bool {
    index == 3
}

/// Every fifth record is a tombstone, and every seventh has no events.
fn events_of(offset: i64) -> Vec<Content> {
    let readable = |tombstone| Content::Readable { group: KeyGroup(1), key: Bytes::from("k"), tombstone };
    match offset {
        offset if offset % 7 == 3 => Vec::new(),
        offset if offset % 5 == 2 => vec![readable(true)],
        _ => {
            let one = |index| match is_unreadable(index) {
                true => Content::Unreadable { code: "field_missing" },
                false => readable(false),
            };
            (0..EVENTS).map(one).collect()
        }
    }
}

impl World {
    /// Output `a` of every document, `b` by a condition (of the first event), to another topic; `t` of tombstones.
    fn new() -> World {
        let rule = |name: &str, on, always| OutputRule { name: name.to_owned(), on, always };
        let outputs = vec![
            rule("a", On::Document, true),
            rule("b", On::Document, false),
            rule("t", On::Tombstone, true),
        ];
        let mut sent = Vec::new();
        for offset in 0..RECORDS {
            for (index, content) in (0..).zip(events_of(offset)) {
                let at = event(offset, index);
                match content {
                    Content::Unreadable { .. } => sent.push((Destination::DeadLetter, at, "")),
                    Content::Readable { tombstone: true, .. } => sent.push((Destination::Output(0), at, "t")),
                    Content::Readable { .. } => {
                        sent.push((Destination::Output(0), at, "a"));
                        if index == 0 {
                            sent.push((Destination::Output(1), at, "b"));
                        }
                    }
                }
            }
        }
        let rules = Rules { outputs, discards: false, discards_events: false };
        World { rules, sent, resets: Vec::new() }
    }

    fn without(mut self, gone: Sent) -> World {
        let before = self.sent.len();
        self.sent.retain(|sent| *sent != gone);
        assert_eq!(self.sent.len() + 1, before);
        self
    }

    fn with(mut self, more: Sent) -> World {
        self.sent.push(more);
        self
    }

    fn verify(&self, memory_bytes: usize) -> Found {
        let folder = tempfile::tempdir().unwrap();
        let sorter = Sorter::new(memory_bytes, folder.path());
        let horizon = Horizon::new(false, 10);
        let mut gather = Gather::new("job", &["in".to_owned()], self.rules.clone(), sorter, horizon);
        for (place, (to, at, output)) in (0..).zip(&self.sent) {
            let header = |name: &str, value: String| (name.to_owned(), Some(Bytes::from(value)));
            let source = format!("in/0/{}/{}", at.offset, at.index);
            let headers: Headers = vec![
                header("tidegate-source", source),
                header("tidegate-job", "job".to_owned()),
                header("tidegate-output", (*output).to_owned()),
            ];
            gather.take(SentAt { to: *to, partition: 0, offset: Offset(place) }, &headers).unwrap();
        }
        let by_key = Sorter::new(memory_bytes, folder.path());
        let mut compare =
            Compare::new(self.rules.clone(), gather.finish(), by_key, self.resets.clone()).unwrap();
        compare.begin(at(0), Offset(0), NextOffset(RECORDS)).unwrap();
        for offset in 0..RECORDS {
            let record = InputRecord { at: at(0), offset: Offset(offset), events: events_of(offset) };
            compare.record(&record).unwrap();
        }
        let (mut found, placed) = compare.finish().unwrap();
        found.out_of_order = order::check(placed, || ()).unwrap();
        found
    }

    fn verdict(&self) -> Found {
        let (small, large) = (self.verify(TINY), self.verify(AMPLE));
        assert_eq!(format!("{small:?}"), format!("{large:?}"));
        large
    }
}

#[test]
fn a_job_that_did_everything_right_is_clean() {
    let world = World::new();
    let found = world.verdict();
    assert!(found.is_clean(), "{found:?}");
    let events = (0..RECORDS).map(|offset| events_of(offset).len()).sum::<usize>();
    let counts = found.counts;
    assert_eq!((counts.records, counts.events), (30, u64::try_from(events).unwrap()));
    assert_eq!(counts.without_events, 4);
    assert_eq!(counts.with_output + counts.with_dead_letter, counts.events);
    assert_eq!(counts.without_record + counts.beyond + counts.not_judged, 0);
}

#[test]
fn an_event_in_the_middle_of_a_record_that_has_nothing_is_lost() {
    let found = World::new().without((Destination::Output(0), event(5, 1), "a")).verdict();
    assert_eq!(faults(&found), [1, 0, 0]);
    let lost = &found.lost.shown[0];
    assert_eq!((lost.source, &lost.fault), (event(5, 1), &Fault::Lost { unreadable: None }));
    let found = World::new().without((Destination::DeadLetter, event(5, 3), "")).verdict();
    assert_eq!(found.lost.shown[0].fault, Fault::Lost { unreadable: Some("field_missing") });
    let found = World::new().without((Destination::Output(0), event(12, 0), "t")).verdict();
    assert_eq!((faults(&found), found.lost.shown[0].source), ([1, 0, 0], event(12, 0)));
}

#[test]
fn an_output_without_a_condition_must_be_there_and_one_with_a_condition_may() {
    let found = World::new().without((Destination::Output(0), event(5, 0), "a")).verdict();
    assert_eq!(faults(&found), [1, 0, 0]);
    assert_eq!(found.lost.shown[0].fault, Fault::OutputLost { output: "a".to_owned() });
    let found = World::new().without((Destination::Output(1), event(5, 0), "b")).verdict();
    assert!(found.is_clean(), "{found:?}");
    let mut world = World::new();
    world.rules.outputs[0].always = false;
    world.sent.retain(|(to, at, output)| {
        *to == Destination::DeadLetter || *output == "t" || (*output == "b" && at.index == 0)
    });
    let found = world.verdict();
    assert!(found.is_clean() && found.counts.conditional > 0, "{found:?}");
}

#[test]
fn each_output_may_be_there_once() {
    let found = World::new().with((Destination::Output(1), event(5, 0), "b")).verdict();
    assert_eq!((faults(&found), found.doubled.shown[0].source), ([0, 1, 0], event(5, 0)));
    // Also where a dead letter, or a name that the job file does not know, is beside it.
    let found = World::new().with((Destination::DeadLetter, event(5, 2), "")).verdict();
    assert_eq!(faults(&found), [0, 1, 0]);
    let found = World::new().with((Destination::Output(1), event(29, 2), "of before")).verdict();
    assert!(found.is_clean(), "{found:?}");
    let twice = World::new().with((Destination::Output(1), event(29, 2), "of before"));
    let found = twice.with((Destination::Output(1), event(29, 2), "of before")).verdict();
    assert_eq!(faults(&found), [0, 1, 0]);
}

#[test]
fn what_a_reset_had_handled_again_is_none() {
    let mut world = World::new();
    let again: Vec<Sent> = world.sent.iter().filter(|(_, at, _)| at.offset == Offset(5)).copied().collect();
    world.sent.extend(again);
    assert_eq!(faults(&world.verdict())[1], 4);
    world.resets = vec![Reset { at: at(0), ..reset(6, 6, 5) }];
    let found = world.verdict();
    assert!(found.is_clean() && found.counts.again == 4, "{found:?}");
}

#[test]
fn events_of_one_record_and_key_that_are_swapped_are_out_of_order() {
    let mut world = World::new();
    let place = |world: &World, index| {
        world.sent.iter().position(|sent| *sent == (Destination::Output(0), event(5, index), "a")).unwrap()
    };
    let (a, b) = (place(&world, 0), place(&world, 1));
    world.sent.swap(a, b);
    let found = world.verdict();
    assert_eq!((faults(&found), found.out_of_order.shown[0].source), ([0, 0, 1], event(5, 0)));
}

#[test]
fn what_was_sent_for_an_event_that_the_record_does_not_have_is_counted() {
    let found = World::new().with((Destination::Output(0), event(5, 9), "a")).verdict();
    assert!(found.is_clean() && found.counts.without_record == 1, "{found:?}");
}
