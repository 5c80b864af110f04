//! Every transition of a start's judgement, and notes that are torn, foreign or hostile.

use super::*;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

fn suspect(offset: i64) -> Suspect {
    Suspect { stage: Stage::Read, topic: "orders".to_owned(), partition: 3, offset, print: 0x0c0f_fee0 }
}

fn charge(offset: i64, ends: u32, panicked: bool) -> Charge {
    Charge { suspect: suspect(offset), ends, panicked, set_aside: false }
}

/// What a start makes of a process that ended like this, knowing what this one knew.
fn next(memory: Memory, end: End, hand: Option<Suspect>) -> Judgement {
    judge(Found::Ended(Ok(Note { end, hand, memory })))
}

#[test]
fn no_note_and_a_clean_end_ask_for_no_care() {
    let nothing = judge(Found::Nothing);
    assert_eq!((nothing.careful, nothing.verdict), (false, Verdict::Clean));
    let memory =
        Memory { unclean: 3, strikes: vec![charge(1, 1, false)], convicted: vec![charge(2, 2, false)] };
    // In hand at a clean end: a halt stops no worker in the middle of a record, an end at once does.
    let clean = next(memory.clone(), End::Clean, Some(suspect(5)));
    assert_eq!((clean.careful, clean.verdict), (false, Verdict::Clean));
    assert_eq!(
        clean.memory,
        Memory { unclean: 0, ..memory },
        "records are remembered, the row of ends is not"
    );
}

#[test]
fn an_end_with_nothing_in_hand_asks_for_care_and_blames_nobody() {
    for (times, end) in [End::Unknown, End::PanicElsewhere, End::PanicInHand].into_iter().enumerate() {
        let before = Memory { unclean: u32::try_from(times).unwrap(), ..Memory::default() };
        let after = next(before.clone(), end, None);
        assert!(after.careful);
        assert_eq!(after.verdict, Verdict::NoSuspect);
        assert_eq!(after.memory, Memory { unclean: before.unclean + 1, ..Memory::default() });
    }
}

#[test]
fn a_panic_with_the_record_in_hand_convicts_at_once() {
    let after = next(Memory::default(), End::PanicInHand, Some(suspect(7)));
    assert_eq!(after.verdict, Verdict::Convicted(charge(7, 1, true)));
    assert!(after.careful);
    let mut memory = after.memory;
    let reason = memory.conviction("orders", 3, 7, suspect(7).print).expect("a conviction").reason();
    assert_eq!(reason.code.as_str(), "kills_the_process");
    assert_eq!(reason.detail, "the process panicked while this record was being read");
    assert!(memory.strikes.is_empty());
}

#[test]
fn a_panic_of_another_thread_does_not_blame_the_record_in_hand() {
    let after = next(Memory::default(), End::PanicElsewhere, Some(suspect(7)));
    assert_eq!((after.careful, after.verdict), (true, Verdict::PanicElsewhere));
    assert!(after.memory.is_clear());
}

#[test]
fn any_other_end_convicts_at_the_second_one_in_a_row() {
    let mut first = next(Memory::default(), End::Unknown, Some(suspect(7)));
    assert_eq!(first.verdict, Verdict::Struck(suspect(7)));
    assert!(
        first.memory.is_struck(&suspect(7)) && first.memory.conviction("orders", 3, 7, 0x0c0f_fee0).is_none()
    );
    let second = next(first.memory, End::Unknown, Some(suspect(7)));
    assert_eq!(second.verdict, Verdict::Convicted(charge(7, 2, false)));
    assert_eq!(
        second.memory.convicted[0].reason().detail,
        "the process ended 2 times in a row while this record was being read"
    );
    assert!(second.memory.strikes.is_empty());
    assert_eq!(second.memory.unclean, 2);
}

#[test]
fn a_strike_stays_until_the_record_has_come_through_the_same_stage() {
    let mut memory = next(Memory::default(), End::Unknown, Some(suspect(7))).memory;
    // An end before the record came again: it has not proved anything.
    memory = next(memory, End::Unknown, None).memory;
    assert!(memory.is_struck(&suspect(7)));
    memory.survived(&Suspect { stage: Stage::Output, ..suspect(7) });
    assert!(memory.is_struck(&suspect(7)), "it has come through another stage");
    memory.survived(&suspect(7));
    assert!(memory.is_clear());
    let after = next(memory, End::Unknown, Some(suspect(7)));
    assert_eq!(after.verdict, Verdict::Struck(suspect(7)), "the row is broken");
}

#[test]
fn two_records_or_two_stages_are_no_row() {
    let memory = next(Memory::default(), End::Unknown, Some(suspect(7))).memory;
    for other in [
        suspect(8),
        Suspect { print: 1, ..suspect(7) },
        Suspect { partition: 4, ..suspect(7) },
        Suspect { topic: "other".to_owned(), ..suspect(7) },
        Suspect { stage: Stage::Output, ..suspect(7) },
    ] {
        assert_eq!(next(memory.clone(), End::Unknown, Some(other.clone())).verdict, Verdict::Struck(other));
    }
}

#[test]
fn a_conviction_is_for_the_very_record_and_goes_with_the_position() {
    let mut memory = next(Memory::default(), End::PanicInHand, Some(suspect(7))).memory;
    let print = suspect(7).print;
    assert!(memory.conviction("orders", 3, 7, print).is_some());
    assert!(memory.conviction("orders", 3, 7, print + 1).is_none(), "another record at the same place");
    assert!(
        memory.conviction("orders", 2, 7, print).is_none()
            && memory.conviction("order", 3, 7, print).is_none()
    );
    assert_eq!((memory.last_of("orders", 3), memory.last_of("orders", 2)), (Some(7), None));
    assert!(!memory.forget_before("orders", 3, 7), "it is the next record");
    assert!(!memory.forget_before("orders", 2, 100) && !memory.forget_before("other", 3, 100));
    assert!(memory.forget_before("orders", 3, 8) && memory.is_clear());
}

#[test]
fn a_record_that_others_have_read_past_is_acquitted_of_its_reading_until_it_was_set_aside() {
    let killed = |stage| Suspect { stage, ..suspect(7) };
    for (stage, acquitted) in [(Stage::Read, true), (Stage::Output, false)] {
        let mut memory = next(Memory::default(), End::PanicInHand, Some(killed(stage))).memory;
        memory = next(memory, End::Unknown, Some(Suspect { offset: 9, ..killed(stage) })).memory;
        assert!(!memory.acquit_before("orders", 3, 7), "read up to it and no further");
        assert!(!memory.acquit_before("orders", 2, 100) && !memory.acquit_before("other", 3, 100));
        assert_eq!(memory.acquit_before("orders", 3, 8), acquitted);
        assert_eq!((memory.convicted.is_empty(), memory.strikes.len()), (acquitted, 1));
        assert_eq!(memory.acquit_before("orders", 3, 10), acquitted, "a strike goes, too");
    }
    let mut memory = next(Memory::default(), End::PanicInHand, Some(suspect(7))).memory;
    memory.conviction("orders", 3, 7, suspect(7).print).unwrap().set_aside = true;
    assert!(!memory.acquit_before("orders", 3, 100), "its own dead letter has moved the place");
    assert!(memory.forget_before("orders", 3, 8));
}

#[test]
fn an_instance_that_still_runs_has_not_ended() {
    let memory =
        Memory { unclean: 1, strikes: vec![charge(1, 1, false)], convicted: vec![charge(2, 1, true)] };
    let note = Note { end: End::Unknown, hand: Some(suspect(9)), memory: memory.clone() };
    let after = judge(Found::Running(Ok(note)));
    assert_eq!((after.careful, after.verdict, after.memory), (false, Verdict::Clean, memory));
    let bad = BadNote { line: 1, what: "" };
    assert_eq!(judge(Found::Running(Err(bad))).memory, Memory::default());
}

#[test]
fn a_note_that_cannot_be_read_is_an_unclean_end_without_a_suspect() {
    let bad = BadNote { line: 3, what: "is not whole" };
    let after = judge(Found::Ended(Err(bad.clone())));
    assert_eq!((after.careful, after.verdict), (true, Verdict::Unread(bad)));
    assert_eq!(after.memory, Memory { unclean: 1, ..Memory::default() });
}

#[test]
fn what_is_remembered_has_a_bound() {
    let mut memory = Memory::default();
    for offset in 0..200 {
        memory = next(memory, End::PanicInHand, Some(suspect(offset))).memory;
        memory = next(memory, End::Unknown, Some(suspect(1_000 + offset))).memory;
    }
    assert_eq!((memory.convicted.len(), memory.strikes.len()), (REMEMBERED_MAX, REMEMBERED_MAX));
    assert!(memory.conviction("orders", 3, 199, suspect(0).print).is_some(), "the latest ones stay");
}

#[test]
fn lines_that_are_overwritten_lie_within_a_page() {
    let topic = "t".repeat(249);
    let line = bytes_of_hand(Stage::Output, &topic, i32::MIN, i64::MIN, u64::MAX);
    assert!(HAND_AT + line.len() <= 4096);
    let mut bytes = Note { end: End::Unknown, hand: None, memory: Memory::default() }.to_bytes();
    bytes[HAND_AT..HAND_AT + HAND_BYTES].copy_from_slice(&line);
    let whole =
        Suspect { stage: Stage::Output, topic, partition: i32::MIN, offset: i64::MIN, print: u64::MAX };
    assert_eq!(Note::from_bytes(&bytes).unwrap().hand, Some(whole), "the longest name fits");
    bytes[HAND_AT..HAND_AT + LET_GO.len()].copy_from_slice(LET_GO);
    assert_eq!(Note::from_bytes(&bytes).unwrap().hand, None);
    for end in [End::Clean, End::PanicElsewhere, End::PanicInHand, End::Unknown] {
        let (at, line) = bytes_of_end(end);
        bytes[at..at + line.len()].copy_from_slice(&line);
        assert_eq!(Note::from_bytes(&bytes).unwrap().end, end);
    }
}

#[test]
fn a_shorter_memory_over_a_longer_one_is_whole() {
    let long =
        Memory { unclean: 4, strikes: vec![charge(1, 1, false)], convicted: vec![charge(2, 2, false)] };
    let mut bytes = Note { end: End::Unknown, hand: None, memory: long }.to_bytes();
    let short = Memory { unclean: 1, ..Memory::default() };
    let (at, text) = Note::bytes_of_memory(&short);
    bytes[at..at + text.len()].copy_from_slice(&text);
    assert_eq!(Note::from_bytes(&bytes).unwrap().memory, short);
}

#[test]
fn foreign_content_is_told_by_its_line() {
    let good = Note { end: End::Unknown, hand: None, memory: Memory::default() }.to_bytes();
    let told = |bytes: &[u8]| Note::from_bytes(bytes).unwrap_err().to_string();
    assert!(told(b"").starts_with("line 1: "));
    assert!(told(b"{\"job\": \"orders\"}\n").starts_with("line 1: "));
    assert!(told(&good[..20]).starts_with("line 2: "));
    assert!(told(&good[..HAND_AT + 5]).starts_with("line 3: "));
    assert!(told(&good[..HAND_AT + HAND_BYTES]).starts_with("line 4: "));
    let text = String::from_utf8(good).unwrap();
    for (from, to, line) in [
        ("end unknown", "end of days", 2),
        ("\n-   ", "\n+ read", 3),
        ("\n-   ", "\nhand", 3),
        ("unclean 0", "unclean x", 4),
        ("unclean 0", "unclean 1", 5),
        ("sum ", "sun ", 5),
    ] {
        let bad = text.replacen(from, to, 1);
        assert_ne!(bad, text);
        let told = told(bad.as_bytes());
        assert!(told.starts_with(&format!("line {line}: ")), "{to}: {told}");
    }
}

fn notes() -> impl Strategy<Value = Note> {
    let stage = prop_oneof![Just(Stage::Read), Just(Stage::Output)];
    let suspect = (stage, "[a-zA-Z0-9._-]{1,249}", any::<i32>(), any::<i64>(), any::<u64>()).prop_map(
        |(stage, topic, partition, offset, print)| Suspect { stage, topic, partition, offset, print },
    );
    let charge = (suspect.clone(), any::<u32>(), any::<bool>())
        .prop_map(|(suspect, ends, panicked)| Charge { suspect, ends, panicked, set_aside: false });
    let aside =
        (charge.clone(), any::<bool>()).prop_map(|(charge, set_aside)| Charge { set_aside, ..charge });
    let (list, convicted) = (proptest::collection::vec(charge, 0..5), proptest::collection::vec(aside, 0..5));
    let end =
        prop_oneof![Just(End::Unknown), Just(End::Clean), Just(End::PanicInHand), Just(End::PanicElsewhere)];
    (end, proptest::option::of(suspect), any::<u32>(), list, convicted).prop_map(
        |(end, hand, unclean, strikes, convicted)| Note {
            end,
            hand,
            memory: Memory { unclean, strikes, convicted },
        },
    )
}

proptest! {
    #[test]
    fn a_note_is_read_as_it_was_written(note in notes()) {
        assert_eq!(Note::from_bytes(&note.to_bytes()), Ok(note));
    }

    #[test]
    fn a_note_that_is_cut_off_is_told(note in notes(), share in 0.0_f64..1.0) {
        let bytes = note.to_bytes();
        #[allow(clippy::as_conversions, reason = "a share of a small number")]
        let length = (bytes.len() as f64 * share) as usize;
        assert!(Note::from_bytes(&bytes[..length.min(bytes.len() - 1)]).is_err());
    }

    #[test]
    fn no_bytes_are_too_strange(bytes in proptest::collection::vec(any::<u8>(), 0..600), note in notes(), at in any::<usize>()) {
        let _told = Note::from_bytes(&bytes);
        let mut torn = note.to_bytes();
        let at = at % torn.len();
        let end = (at + bytes.len()).min(torn.len());
        torn[at..end].copy_from_slice(&bytes[..end - at]);
        let _told = Note::from_bytes(&torn);
    }
}
