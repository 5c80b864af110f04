//! Guard: the note of what is in hand, so that a record that ends the process is known to the next one.
//!
//! In:        each record, before something is done with it that could end the process     Out: go on, in hand or freely; or
//!            the reason why it is handled as unreadable
//! Holds:     the note's file; behind an unclean end how far each partition was taken carefully, and a lock: one record is in
//!            hand in the whole process
//! Order:     written down, done, let go
//! Fails:     a folder that takes no file, or a write that fails: said once, and the job runs without
//! Not here:  who is convicted (protocol/guard), what becomes of them (decode, gate)
//!
//! Behind a clean end there is a file and nothing else: operators get no [`Care`], and look at nothing.
//!
//! How far: no earlier process can have had more beyond the frontier than its budget of bytes, so of each partition that
//! many are taken carefully. Of all together would not do: this process may read the partitions in another order.

mod file;

use crate::job::JobSpec;
use crate::model::{Coordinates, NextOffset, Reason, Record, TopicPartition};
use crate::protocol::guard::{End, Judgement, Memory, Note, Stage, Suspect, Verdict, judge};
use file::NoteFile;
use siphasher::sip::SipHasher13;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

thread_local! {
    /// Whether this thread has a record in hand.
    static IN_HAND: Cell<bool> = const { Cell::new(false) };
}

/// A process's note. A clone is the same; the default is none: nothing is written down.
#[derive(Clone, Debug, Default)]
pub struct Guard(Option<Arc<Kept>>);

#[derive(Debug)]
struct Kept {
    file: Arc<NoteFile>,
    care: Option<Arc<Care>>,
}

impl Guard {
    /// Looks at what the process before left in the folder, says what it makes of it, and puts the note of this one there.
    /// `process`: its number in the cluster; `workers`: of this process.
    pub fn open(folder: &Path, spec: &JobSpec, process: usize, workers: usize) -> Guard {
        let path = folder.join(format!("guard-{}-{process}", spec.name));
        let opened = file::find(&path).and_then(|found| {
            let judgement = judge(found);
            let note = Note { end: End::Unknown, hand: None, memory: judgement.memory.clone() };
            Ok((NoteFile::put(&path, &note.to_bytes())?, judgement))
        });
        let (file, judgement) = match opened {
            Ok(opened) => opened,
            Err(error) => {
                tracing::warn!(
                    file = %path.display(),
                    %error,
                    "no note can be kept of the record in hand: a record that ends the process will not be known"
                );
                return Guard::default();
            }
        };
        say(&judgement, &path, spec.limits.in_flight_bytes);
        let file = Arc::new(file);
        let watches = judgement.careful || !judgement.memory.is_clear();
        let care = watches.then(|| Arc::new(Care::new(Arc::clone(&file), spec, judgement, workers)));
        Guard(Some(Arc::new(Kept { file, care })))
    }

    /// For what could end the process; none: nothing has to be watched.
    pub fn care(&self) -> Option<Arc<Care>> {
        self.0.as_ref()?.care.clone()
    }

    /// This thread panics. Takes no lock.
    pub fn panicked(&self) {
        let Some(kept) = &self.0 else { return };
        let in_hand = IN_HAND.try_with(Cell::get).unwrap_or(false);
        kept.file.ends(if in_hand { End::PanicInHand } else { End::PanicElsewhere });
    }

    /// The process ends with an exit code of its own choice. A note with nothing to remember goes.
    pub fn ended(&self) {
        let Some(kept) = &self.0 else { return };
        kept.file.ends(End::Clean);
        let is_clear = match &kept.care {
            None => true,
            // Whoever ends the process may be a thread that has a record in hand.
            Some(care) => care.hand.try_lock().is_ok_and(|hand| hand.memory.is_clear()),
        };
        if is_clear {
            kept.file.remove();
        }
    }
}

/// Whether a record may be handled, and how.
#[derive(Debug)]
pub enum Taken<'a> {
    /// As always.
    Freely,
    /// It is written down until this is dropped.
    InHand(InHand<'a>),
    /// It has ended the process in this stage, and is not to come to it again: handled as unreadable, for this reason.
    Convicted(Stage, Reason),
}

/// Care behind an unclean end, or for records that are convicted.
#[derive(Debug)]
pub struct Care {
    file: Arc<NoteFile>,
    topics: Vec<String>,
    /// So many bytes of each partition are taken carefully; 0: only those that are convicted are looked for.
    window_bytes: usize,
    hand: Mutex<Hand>,
    over: AtomicBool,
}

#[derive(Debug)]
struct Hand {
    memory: Memory,
    /// Bytes taken carefully; none: the partition is through.
    taken: BTreeMap<(Stage, TopicPartition), Option<usize>>,
    /// What this process reads and has not taken carefully yet.
    to_come: BTreeSet<TopicPartition>,
    /// Workers that have not said what they read.
    silent: usize,
}

impl Care {
    fn new(file: Arc<NoteFile>, spec: &JobSpec, judgement: Judgement, workers: usize) -> Care {
        let hand = Hand {
            memory: judgement.memory,
            taken: BTreeMap::new(),
            to_come: BTreeSet::new(),
            silent: workers,
        };
        Care {
            file,
            topics: spec.source.topics.clone(),
            window_bytes: if judgement.careful { spec.limits.in_flight_bytes } else { 0 },
            hand: Mutex::new(hand),
            over: AtomicBool::new(false),
        }
    }

    /// A worker reads from here on: what lies before it will not come again. `read_past`: what lies before it was read
    /// before, by any process. Each worker says it once, before it takes anything.
    pub fn reads(&self, from: &[(TopicPartition, NextOffset)], read_past: &[(TopicPartition, NextOffset)]) {
        let mut hand = self.lock();
        let mut forgot = false;
        for (at, next) in read_past {
            forgot |= hand.memory.acquit_before(self.topic(*at), at.partition, next.0);
        }
        for (at, next) in from {
            let topic = self.topic(*at);
            forgot |= hand.memory.forget_before(topic, at.partition, next.0);
            if self.window_bytes > 0 || hand.memory.last_of(topic, at.partition).is_some() {
                hand.to_come.insert(*at);
            }
        }
        if forgot {
            self.file.remembers(&hand.memory);
        }
        hand.silent = hand.silent.saturating_sub(1);
        self.look(&mut hand);
    }

    /// Takes a record in hand, for this. Waits while another one is in hand: for as long as one record takes.
    pub fn take(&self, stage: Stage, at: Coordinates, record: &Record) -> Taken<'_> {
        let mut hand = self.lock();
        if self.is_through(&mut hand, stage, at, record) {
            return Taken::Freely;
        }
        let (topic, partition, offset) = (self.topic(at.at), at.at.partition, at.offset.0);
        let print = print_of(record);
        if let Some(charge) = hand.memory.conviction(topic, partition, offset, print) {
            let convicted = Taken::Convicted(charge.suspect.stage, charge.reason());
            if !std::mem::replace(&mut charge.set_aside, true) {
                self.file.remembers(&hand.memory);
            }
            return convicted;
        }
        if self.window_bytes == 0 {
            return Taken::Freely;
        }
        self.file.in_hand(stage, topic, partition, offset, print);
        IN_HAND.set(true);
        let struck = (!hand.memory.strikes.is_empty())
            .then(|| Suspect { stage, topic: topic.to_owned(), partition, offset, print })
            .filter(|suspect| hand.memory.is_struck(suspect));
        Taken::InHand(InHand { care: self, hand, struck })
    }

    /// Whether nothing has to be watched any more in what this process reads.
    pub fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Where the note is.
    pub fn note(&self) -> &Path {
        self.file.path()
    }

    /// Whether this record lies behind what is taken carefully of its partition, and behind all that anything is held
    /// against. Counts it otherwise.
    fn is_through(&self, hand: &mut Hand, stage: Stage, at: Coordinates, record: &Record) -> bool {
        let Some(taken) = hand.taken.entry((stage, at.at)).or_insert(Some(0)) else { return true };
        if *taken < self.window_bytes {
            // Once for all of its events.
            let counts = if at.index == 0 { record.footprint_bytes() } else { 0 };
            *taken = taken.saturating_add(counts);
            return false;
        }
        let last = hand.memory.last_of(self.topic(at.at), at.at.partition);
        if last.is_some_and(|last| last >= at.offset.0) {
            return false;
        }
        hand.taken.insert((stage, at.at), None);
        if stage == Stage::Read {
            hand.to_come.remove(&at.at);
            self.look(hand);
        }
        true
    }

    /// Says when it is over.
    fn look(&self, hand: &mut Hand) {
        if hand.silent > 0 || !hand.to_come.is_empty() || self.over.swap(true, Ordering::Relaxed) {
            return;
        }
        hand.memory.unclean = 0;
        self.file.remembers(&hand.memory);
        if self.window_bytes > 0 {
            tracing::info!(
                "went carefully over all that the process before can have had in hand; going on as always"
            );
        }
    }

    fn topic(&self, at: TopicPartition) -> &str {
        self.topics.get(usize::from(at.topic)).map_or("?", String::as_str)
    }

    fn lock(&self) -> MutexGuard<'_, Hand> {
        self.hand.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A record in hand, until this is dropped. It stays on its thread.
#[derive(Debug)]
pub struct InHand<'a> {
    care: &'a Care,
    hand: MutexGuard<'a, Hand>,
    /// It has a strike, which goes when it comes through.
    struck: Option<Suspect>,
}

impl Drop for InHand<'_> {
    fn drop(&mut self) {
        // A panic that unwinds keeps it in hand: the note must name it.
        if std::thread::panicking() {
            return;
        }
        IN_HAND.set(false);
        self.care.file.lets_go();
        if let Some(suspect) = self.struck.take() {
            self.hand.memory.survived(&suspect);
            self.care.file.remembers(&self.hand.memory);
        }
    }
}

fn print_of(record: &Record) -> u64 {
    let mut hasher = SipHasher13::new();
    for part in [&record.key, &record.value] {
        let bytes = part.as_deref().unwrap_or_default();
        // The length before the bytes: what moves from one part to the other is another record.
        hasher.write(&u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.write(bytes);
    }
    hasher.finish()
}

/// What a person reads at such a start.
fn say(judgement: &Judgement, path: &Path, window_bytes: usize) {
    let Judgement { careful, memory, verdict } = judgement;
    let (note, unclean): (PathBuf, u32) = (path.to_owned(), memory.unclean);
    match verdict {
        Verdict::Clean | Verdict::NoSuspect => {}
        Verdict::Unread(bad) => {
            tracing::warn!(note = %note.display(), %bad, "the note of the process before cannot be read")
        }
        Verdict::PanicElsewhere => {
            tracing::warn!("the process before panicked, and not in the hands of a record")
        }
        Verdict::Struck(suspect) => tracing::warn!(
            record = %suspect,
            "the process before ended with this record in hand; where the next one does, too, it is handled as unreadable"
        ),
        Verdict::Convicted(charge) => tracing::warn!(
            record = %charge.suspect,
            reason = charge.reason().detail,
            "this record ends the process: it is handled as unreadable from now on, by rejects.unreadable"
        ),
    }
    if *careful {
        tracing::warn!(
            note = %note.display(),
            unclean,
            window_bytes,
            "the process before did not end by itself (killed, aborted, or a panic): taking the first records of each \
             partition one by one"
        );
    }
    if unclean > 1 && matches!(verdict, Verdict::NoSuspect | Verdict::PanicElsewhere) {
        tracing::warn!(
            unclean,
            "so many unclean ends in a row, and no record is to blame for the last one: look for a memory limit, a \
             supervisor that kills, the machine, or the panic in the log before"
        );
    }
}

#[cfg(test)]
mod tests;
