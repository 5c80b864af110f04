//! Note: the text that a process leaves about itself while it runs.
//!
//! In:        bytes of a file     Out: how the process ended, what it had in hand, what it remembers; and back
//! Order:     a first line; two lines of a fixed length, which are overwritten where they stand; then the memory and its sum
//! Fails:     anything that is not whole is told with its line
//! Not here:  no file
//!
//! The lines that change while records go through lie within the first 4096 bytes: a write within one page of the file is
//! done whole or not at all when its process is killed. A person can read it:
//!
//! ```text
//! tidegate guard 1
//! end unknown
//! + read orders/0/7731 00c0ffee00c0ffee
//! unclean 2
//! strike 1 ended read orders/0/7731 00c0ffee00c0ffee
//! convicted 1 panicked read orders/3/44 0123456789abcdef
//! sum 5b1c40a0d8f3e2a7
//! ```

use super::{Charge, End, Memory, Stage, Suspect};
use siphasher::sip::SipHasher13;
use std::fmt::Write as _;
use std::hash::Hasher;
use std::io::Write as _;

const FIRST: &[u8] = b"tidegate guard 1\n";
const END_AT: usize = FIRST.len();
const END_BYTES: usize = 24;

/// Where the line of the record in hand begins, in bytes.
pub const HAND_AT: usize = END_AT + END_BYTES;
/// Its length: a topic's name has 249 bytes at the most.
pub const HAND_BYTES: usize = 336;
/// What takes the first byte of that line when the record is let go.
pub const LET_GO: &[u8] = b"-";

const REST_AT: usize = HAND_AT + HAND_BYTES;

/// What a process leaves about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How it ended.
    pub end: End,
    /// The record in hand; none: nothing was in hand.
    pub hand: Option<Suspect>,
    /// What it knew from those before it.
    pub memory: Memory,
}

/// A note that is not whole, or is something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct BadNote {
    /// From 1.
    pub line: usize,
    /// What is wrong with it.
    pub what: &'static str,
}

/// How a process ended, as its line in the note, and where the line begins.
pub fn bytes_of_end(end: End) -> (usize, [u8; END_BYTES]) {
    let word = match end {
        End::Unknown => "unknown",
        End::Clean => "clean",
        End::PanicInHand => "panic-in-hand",
        End::PanicElsewhere => "panic",
    };
    let mut line = blank::<END_BYTES>();
    // Every word fits.
    let _fits = write!(line.as_mut_slice(), "end {word}");
    (END_AT, line)
}

/// The line of a record in hand.
pub fn bytes_of_hand(stage: Stage, topic: &str, partition: i32, offset: i64, print: u64) -> [u8; HAND_BYTES] {
    let mut line = blank::<HAND_BYTES>();
    // A legal topic fits. What would not is cut, and matches no record then.
    let mut room: &mut [u8] = line.get_mut(..HAND_BYTES - 1).unwrap_or_default();
    let _fits = write!(room, "+ {} {topic}/{partition}/{offset} {print:016x}", stage.as_str());
    line
}

/// Spaces, and the end of the line.
fn blank<const BYTES: usize>() -> [u8; BYTES] {
    let mut line = [b' '; BYTES];
    if let Some(last) = line.last_mut() {
        *last = b'\n';
    }
    line
}

impl Note {
    /// The whole file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = FIRST.to_vec();
        bytes.extend(bytes_of_end(self.end).1);
        match &self.hand {
            Some(Suspect { stage, topic, partition, offset, print }) => {
                bytes.extend(bytes_of_hand(*stage, topic, *partition, *offset, *print));
            }
            None => {
                bytes.extend(LET_GO);
                bytes.extend(blank::<{ HAND_BYTES - 1 }>());
            }
        }
        bytes.extend(Note::bytes_of_memory(&self.memory).1);
        bytes
    }

    /// The memory's lines, and where they begin. Whatever stands behind them belongs to a longer memory before it.
    pub fn bytes_of_memory(memory: &Memory) -> (usize, Vec<u8>) {
        let mut text = format!("unclean {}\n", memory.unclean);
        let charges = memory.strikes.iter().map(|charge| ("strike", charge));
        let charges = charges.chain(memory.convicted.iter().map(|charge| ("convicted", charge)));
        for (word, Charge { suspect, ends, panicked, set_aside }) in charges {
            let word = if *set_aside { "aside" } else { word };
            let how = if *panicked { "panicked" } else { "ended" };
            let (stage, print) = (suspect.stage.as_str(), suspect.print);
            // Writing to a String cannot fail.
            let _infallible = writeln!(text, "{word} {ends} {how} {stage} {suspect} {print:016x}");
        }
        let sum = sum_of(&text);
        let _infallible = writeln!(text, "sum {sum:016x}");
        (REST_AT, text.into_bytes())
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// Where it is torn, or no note.
    pub fn from_bytes(bytes: &[u8]) -> Result<Note, BadNote> {
        let bad = |line, what| BadNote { line, what };
        if !bytes.starts_with(FIRST) {
            return Err(bad(1, "does not say that this is a note of this version"));
        }
        let fixed = |from: usize, to: usize| {
            let line = bytes.get(from..to).filter(|line| line.ends_with(b"\n"))?;
            std::str::from_utf8(line).ok().map(str::trim_end)
        };
        let end = match fixed(END_AT, HAND_AT) {
            Some("end unknown") => End::Unknown,
            Some("end clean") => End::Clean,
            Some("end panic-in-hand") => End::PanicInHand,
            Some("end panic") => End::PanicElsewhere,
            _ => return Err(bad(2, "does not say how the process ended")),
        };
        let hand = fixed(HAND_AT, REST_AT).ok_or_else(|| bad(3, "is not whole"))?;
        let hand = match hand.strip_prefix("+ ") {
            Some(text) => {
                Some(suspect(&mut text.split(' ')).ok_or_else(|| bad(3, "does not name a record"))?)
            }
            None if hand.starts_with('-') => None,
            None => return Err(bad(3, "neither names a record nor says that there is none")),
        };
        let memory = memory(bytes.get(REST_AT..).unwrap_or_default())?;
        Ok(Note { end, hand, memory })
    }
}

fn memory(bytes: &[u8]) -> Result<Memory, BadNote> {
    let mut memory = Memory::default();
    let mut seen = String::new();
    for (number, line) in (4..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        let bad = |what| BadNote { line: number, what };
        let line = std::str::from_utf8(line).map_err(|_| bad("is not text"))?;
        let whole = line.strip_suffix('\n').ok_or_else(|| bad("is not whole"))?;
        let mut words = whole.split(' ');
        match words.next() {
            Some("unclean") => {
                memory.unclean = number_in(words.next()).ok_or_else(|| bad("has no number"))?;
            }
            Some(word @ ("strike" | "convicted" | "aside")) => {
                let mut charge = charge(&mut words).ok_or_else(|| bad("does not name a record"))?;
                charge.set_aside = word == "aside";
                let list = if word == "strike" { &mut memory.strikes } else { &mut memory.convicted };
                list.push(charge);
            }
            Some("sum") => {
                let sum = words.next().and_then(|word| u64::from_str_radix(word, 16).ok());
                return (sum == Some(sum_of(&seen))).then_some(memory).ok_or_else(|| bad("is not the sum"));
            }
            _ => return Err(bad("begins with no word of a note")),
        }
        seen += line;
    }
    Err(BadNote { line: 4, what: "and what follows have no sum at their end" })
}

fn charge<'t>(words: &mut impl Iterator<Item = &'t str>) -> Option<Charge> {
    let ends = number_in(words.next())?;
    let panicked = match words.next()? {
        "panicked" => true,
        "ended" => false,
        _ => return None,
    };
    Some(Charge { suspect: suspect(words)?, ends, panicked, set_aside: false })
}

fn suspect<'t>(words: &mut impl Iterator<Item = &'t str>) -> Option<Suspect> {
    let stage = match words.next()? {
        "read" => Stage::Read,
        "output" => Stage::Output,
        "retry" => Stage::Retry,
        _ => return None,
    };
    let mut place = words.next()?.split('/');
    let (topic, partition, offset) = (place.next()?, place.next()?, place.next()?);
    let print = words.next().filter(|word| word.len() == 16)?;
    let ends = place.next().is_none() && words.next().is_none();
    Some(Suspect {
        stage,
        topic: topic.to_owned(),
        partition: number_in(Some(partition))?,
        offset: number_in(Some(offset))?,
        print: u64::from_str_radix(print, 16).ok()?,
    })
    .filter(|_| ends && !topic.is_empty())
}

fn number_in<T: std::str::FromStr>(word: Option<&str>) -> Option<T> {
    word?.parse().ok()
}

fn sum_of(text: &str) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    hasher.finish()
}
