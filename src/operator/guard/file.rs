//! The note's file: whose it is, and writing in its place.
//!
//! In:        a path; what changes     Out: what was found there
//! Holds:     the file, open and locked for as long as the process lives
//! Order:     a new process puts a whole new file in the place of the old one
//! Fails:     a write that fails is said once, and none follows
//! Not here:  what is in it (protocol/guard)
//!
//! The lock tells a note of the dead from a note of the living: the system lets go of it when the process ends, however it
//! does, and unlike a process's number it means the same in every container. A process that was taken over from goes on
//! writing into its own file, which has no name any more.

use crate::protocol::guard::{End, Found, HAND_AT, LET_GO, Memory, Note, Stage, bytes_of_end, bytes_of_hand};
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// A note is smaller. What is not, is none.
const BYTES_MAX: u64 = 256 * 1024;

/// The file of this process.
#[derive(Debug)]
pub(super) struct NoteFile {
    file: File,
    path: PathBuf,
    failed: AtomicBool,
}

/// What is there.
pub(super) fn find(path: &Path) -> io::Result<Found> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
        Err(error) => return Err(error),
    };
    let runs = match file.try_lock() {
        Ok(()) => false,
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(error)) => return Err(error),
    };
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(BYTES_MAX).read_to_end(&mut bytes)?;
    let note = Note::from_bytes(&bytes);
    Ok(if runs { Found::Running(note) } else { Found::Ended(note) })
}

impl NoteFile {
    /// Puts a new file there, whole and locked.
    pub(super) fn put(path: &Path, bytes: &[u8]) -> io::Result<NoteFile> {
        let mut draft = path.as_os_str().to_owned();
        draft.push(format!(".draft-{}", std::process::id()));
        let draft = PathBuf::from(draft);
        let written = File::create(&draft).and_then(|mut file| {
            file.lock()?;
            file.write_all(bytes)?;
            file.sync_all()?;
            std::fs::rename(&draft, path)?;
            Ok(file)
        });
        if written.is_err() {
            // It may not even be there.
            let _gone = std::fs::remove_file(&draft);
        }
        Ok(NoteFile { file: written?, path: path.to_owned(), failed: AtomicBool::new(false) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// This record is in hand. Not synced: it must outlive the process, not the machine.
    pub(super) fn in_hand(&self, stage: Stage, topic: &str, partition: i32, offset: i64, print: u64) {
        self.write(HAND_AT, &bytes_of_hand(stage, topic, partition, offset, print));
    }

    /// Nothing is in hand.
    pub(super) fn lets_go(&self) {
        self.write(HAND_AT, LET_GO);
    }

    /// How the process ends.
    pub(super) fn ends(&self, end: End) {
        let (at, line) = bytes_of_end(end);
        self.write(at, &line);
    }

    /// What the next process must know.
    pub(super) fn remembers(&self, memory: &Memory) {
        let (at, bytes) = Note::bytes_of_memory(memory);
        self.write(at, &bytes);
    }

    /// Removes it, unless another process has put its own there. Between the look and the removal one might: it runs
    /// without a note then.
    pub(super) fn remove(&self) {
        let same = self.file.metadata().and_then(|own| {
            let there = std::fs::metadata(&self.path)?;
            Ok((own.dev(), own.ino()) == (there.dev(), there.ino()))
        });
        if matches!(same, Ok(true)) && std::fs::remove_file(&self.path).is_err() {
            // It says that the end was clean, and the next start replaces it.
            tracing::debug!(file = %self.path.display(), "the note cannot be removed");
        }
    }

    fn write(&self, at: usize, bytes: &[u8]) {
        if self.failed.load(Ordering::Relaxed) {
            return;
        }
        let written =
            u64::try_from(at).map_err(io::Error::other).and_then(|at| self.file.write_all_at(bytes, at));
        if let Err(error) = written
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            tracing::warn!(
                file = %self.path.display(),
                %error,
                "the note of the record in hand cannot be written: a record that ends the process will not be known"
            );
        }
    }
}
