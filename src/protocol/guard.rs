//! Guard: what a start makes of the note that the process before it left behind, and who is convicted by it.
//!
//! In:        the note as it was found; what happened to a record since     Out: whether to go carefully, and what to remember
//! Holds:     strikes against records that were in hand when a process ended, and the records that are convicted
//! Order:     a record is convicted by a panic while it was in hand; by any other end at the second one in a row
//! Fails:     a note that cannot be read counts as an unclean end without a suspect
//! Not here:  no file and no lock (operator/guard), no handling of a convicted record (decode, gate)
//!
//! "In a row" counts the attempts at one record and not the starts: a strike goes when the record has come through the
//! same stage once. Whoever is killed from outside has some innocent record in hand, and the next attempt clears it.

mod note;

pub use note::{BadNote, HAND_AT, HAND_BYTES, LET_GO, Note, bytes_of_end, bytes_of_hand};

use crate::model::{Reason, ReasonCode};
use std::fmt;

/// Strikes and convictions that are remembered at the most: the latest ones. One end leaves one at the most.
const REMEMBERED_MAX: usize = 32;

/// What was being done with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// It was read: bytes to an event.
    Read,
    /// Its output was made: an event to bytes.
    Output,
    /// It was parked, came out of the ledger, and was read again, or its output was made.
    Retry,
}

impl Stage {
    /// As it stands in a note.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Read => "read",
            Stage::Output => "output",
            Stage::Retry => "retry",
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Stage::Read => "this record was being read",
            Stage::Output => "the output of this record was being made",
            Stage::Retry => "this record, which was parked, was being tried again",
        }
    }
}

/// A record that was in hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspect {
    /// What was done with it.
    pub stage: Stage,
    /// Its topic, by name: a job file may list others the next time.
    pub topic: String,
    /// Its partition.
    pub partition: i32,
    /// Its offset.
    pub offset: i64,
    /// A hash of its key and value: another record at the same place, of a topic that was made anew, is not blamed.
    pub print: u64,
}

impl fmt::Display for Suspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.topic, self.partition, self.offset)
    }
}

/// How a process ended, or that it has not, as its note says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It runs, or nobody could write how it ended.
    Unknown,
    /// With an exit code that it chose.
    Clean,
    /// By a panic of the thread that had the record in hand.
    PanicInHand,
    /// By a panic of another thread.
    PanicElsewhere,
}

/// What is held against a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charge {
    /// The record.
    pub suspect: Suspect,
    /// How often the process ended with it in hand, in a row.
    pub ends: u32,
    /// The last of these ends was a panic of the thread that had it in hand.
    pub panicked: bool,
    /// It was handled as unreadable once.
    pub set_aside: bool,
}

impl Charge {
    /// The other ends that convict, where none was a panic.
    const ENDS: u32 = 2;

    fn convicts(&self) -> bool {
        self.panicked || self.ends >= Charge::ENDS
    }

    /// Why the record is handled as unreadable.
    pub fn reason(&self) -> Reason {
        let what = self.suspect.stage.in_words();
        let detail = match (self.panicked, self.ends) {
            (true, 0 | 1) => format!("the process panicked while {what}"),
            (true, ends) => {
                format!("the process ended {ends} times in a row while {what}, the last time by a panic")
            }
            (false, ends) => format!("the process ended {ends} times in a row while {what}"),
        };
        Reason { code: ReasonCode::KillsTheProcess, detail }
    }
}

/// What goes from one process to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Ends without an exit code, or by a panic, since the last clean one or the last time that care was over.
    pub unclean: u32,
    /// Against records that are not convicted.
    pub strikes: Vec<Charge>,
    /// Against records that are.
    pub convicted: Vec<Charge>,
}

impl Memory {
    /// Whether there is no record in it.
    pub fn is_clear(&self) -> bool {
        self.strikes.is_empty() && self.convicted.is_empty()
    }

    /// Whether a strike stands against this record in this stage.
    pub fn is_struck(&self, suspect: &Suspect) -> bool {
        self.strikes.iter().any(|charge| charge.suspect == *suspect)
    }

    /// It came through: the strike goes.
    pub fn survived(&mut self, suspect: &Suspect) {
        self.strikes.retain(|charge| charge.suspect != *suspect);
    }

    /// What a record is convicted of, whatever the stage in which it killed.
    pub fn conviction(
        &mut self,
        topic: &str,
        partition: i32,
        offset: i64,
        print: u64,
    ) -> Option<&mut Charge> {
        self.convicted.iter_mut().find(|Charge { suspect, .. }| {
            (suspect.offset, suspect.partition, suspect.print) == (offset, partition, print)
                && suspect.topic == topic
        })
    }

    /// What a key group has taken of the partition lies before here: records before it have come through reading, in one
    /// process or another, and may be stored. One that was set aside has moved such a place itself. `true`: something was
    /// forgotten.
    pub fn acquit_before(&mut self, topic: &str, partition: i32, next: i64) -> bool {
        self.retain(|Charge { suspect, set_aside, .. }| {
            let was_read = suspect.stage == Stage::Read && suspect.offset < next;
            *set_aside || !was_read || suspect.partition != partition || suspect.topic != topic
        })
    }

    /// The highest offset of a partition that anything is held against.
    pub fn last_of(&self, topic: &str, partition: i32) -> Option<i64> {
        let all = self.convicted.iter().chain(&self.strikes).map(|charge| &charge.suspect);
        all.filter(|suspect| suspect.partition == partition && suspect.topic == topic)
            .map(|suspect| suspect.offset)
            .max()
    }

    /// The partition is read from here on: nothing before it comes again, but for what is parked. `true`: something was
    /// forgotten.
    pub fn forget_before(&mut self, topic: &str, partition: i32, next: i64) -> bool {
        self.retain(|Charge { suspect, .. }| {
            let comes_again = suspect.offset >= next || suspect.stage == Stage::Retry;
            comes_again || suspect.partition != partition || suspect.topic != topic
        })
    }

    fn retain(&mut self, stays: impl Fn(&Charge) -> bool) -> bool {
        let before = self.strikes.len() + self.convicted.len();
        self.strikes.retain(&stays);
        self.convicted.retain(&stays);
        before != self.strikes.len() + self.convicted.len()
    }

    /// One more end with this record in hand; gives the conviction, where it is one.
    fn strike(&mut self, suspect: Suspect, panicked: bool) -> Option<Charge> {
        let before = self.strikes.iter().position(|charge| charge.suspect == suspect);
        let ends = before.map_or(0, |at| self.strikes.remove(at).ends).saturating_add(1);
        let charge = Charge { suspect, ends, panicked, set_aside: false };
        let convicts = charge.convicts();
        let list = if convicts { &mut self.convicted } else { &mut self.strikes };
        if list.len() >= REMEMBERED_MAX {
            list.remove(0);
        }
        list.push(charge.clone());
        convicts.then_some(charge)
    }
}

/// What a start finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// No note.
    Nothing,
    /// The note of a process that still runs: an instance that this one takes over from.
    Running(Result<Note, BadNote>),
    /// The note of a process that has ended.
    Ended(Result<Note, BadNote>),
}

/// What a start makes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The last end was unclean: records are taken in hand one by one.
    pub careful: bool,
    /// What to remember from now on.
    pub memory: Memory,
    /// What this end added, for a person.
    pub verdict: Verdict,
}

/// What the last end says of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was clean, or there was none.
    Clean,
    /// Nothing was in hand.
    NoSuspect,
    /// A record was in hand, and another thread panicked.
    PanicElsewhere,
    /// One more end with this record in hand.
    Struck(Suspect),
    /// And it was one too many.
    Convicted(Charge),
    /// The note cannot be read.
    Unread(BadNote),
}

/// What a start makes of what it finds.
pub fn judge(found: Found) -> Judgement {
    let note = match found {
        Found::Nothing | Found::Running(Err(_)) => {
            return Judgement { careful: false, memory: Memory::default(), verdict: Verdict::Clean };
        }
        // It has not ended, so nothing is its fault yet; what it knows, it knows.
        Found::Running(Ok(note)) => {
            return Judgement { careful: false, memory: note.memory, verdict: Verdict::Clean };
        }
        Found::Ended(Err(bad)) => {
            let memory = Memory { unclean: 1, ..Memory::default() };
            return Judgement { careful: true, memory, verdict: Verdict::Unread(bad) };
        }
        Found::Ended(Ok(note)) => note,
    };
    let Note { end, hand, mut memory } = note;
    if end == End::Clean {
        memory.unclean = 0;
        return Judgement { careful: false, memory, verdict: Verdict::Clean };
    }
    memory.unclean = memory.unclean.saturating_add(1);
    let verdict = match (hand, end) {
        (None, _) => Verdict::NoSuspect,
        (Some(_), End::PanicElsewhere) => Verdict::PanicElsewhere,
        (Some(suspect), end) => match memory.strike(suspect.clone(), end == End::PanicInHand) {
            Some(charge) => Verdict::Convicted(charge),
            None => Verdict::Struck(suspect),
        },
    };
    Judgement { careful: true, memory, verdict }
}

#[cfg(test)]
mod tests;
