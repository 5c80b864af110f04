//! Sorter: more records than memory may hold, in the order of their bytes.
//!
//! In:        records of one length, in any order     Out: the same records, rising
//! Holds:     at most the memory it was given: what is over it lies sorted in one file, in runs that are merged at the end
//! Order:     byte by byte, so numbers are written big-endian (entry)
//! Fails:     as the file system does, with the folder named
//! Not here:  what the bytes mean
//!
//! The file has no name from the moment it is open: whatever ends the process, nothing stays behind.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::ops::Range;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A run is read in pieces of this size, in bytes, where the memory is enough for all runs.
const PIECE_BYTES_MAX: usize = 1 << 20;
/// Smaller pieces would make the disk seek for each few records.
const PIECE_BYTES_MIN: usize = 4 << 10;

/// The disk could not keep what memory had no room for.
#[derive(Debug, thiserror::Error)]
#[error("a file to sort in, in {}: {source}; TMPDIR may name another folder, --memory more memory", folder.display())]
pub(in crate::cli) struct SortError {
    folder: PathBuf,
    source: std::io::Error,
}

/// Takes records.
pub(in crate::cli) struct Sorter<const N: usize> {
    folder: PathBuf,
    memory_bytes: usize,
    buffer: Vec<[u8; N]>,
    buffer_records_max: usize,
    spilled: Option<Spilled>,
}

struct Spilled {
    file: File,
    /// Where each run lies, in bytes.
    runs: Vec<Range<u64>>,
}

impl<const N: usize> Sorter<N> {
    /// Sorts in so much memory, and beyond it in a file in this folder.
    pub(in crate::cli) fn new(memory_bytes: usize, folder: &Path) -> Sorter<N> {
        let buffer_records_max = memory_bytes.checked_div(N).unwrap_or(0).max(1);
        Sorter {
            folder: folder.to_owned(),
            memory_bytes,
            buffer: Vec::new(),
            buffer_records_max,
            spilled: None,
        }
    }

    /// Takes a record.
    pub(in crate::cli) fn push(&mut self, record: [u8; N]) -> Result<(), SortError> {
        if self.buffer.len() >= self.buffer_records_max {
            self.spill()?;
        }
        if self.buffer.capacity() == 0 {
            // At once: a list that grows by doubling would hold twice its bound. What is not used costs no memory.
            self.buffer.reserve_exact(self.buffer_records_max);
        }
        self.buffer.push(record);
        Ok(())
    }

    /// All records, rising.
    pub(in crate::cli) fn finish(mut self) -> Result<Sorted<N>, SortError> {
        if self.spilled.is_some() {
            self.spill()?;
        }
        let Some(Spilled { file, runs }) = self.spilled else {
            self.buffer.sort_unstable();
            return Ok(Sorted::Memory(self.buffer.into_iter()));
        };
        self.buffer = Vec::new();
        let share = self.memory_bytes.checked_div(runs.len()).unwrap_or(0);
        let piece = share.clamp(PIECE_BYTES_MIN, PIECE_BYTES_MAX).checked_div(N).unwrap_or(0).max(1) * N;
        let runs = runs.into_iter().map(|at| Run { at, piece_bytes: piece, piece: Vec::new(), taken: 0 });
        let mut merge = Merge { file, folder: self.folder, runs: runs.collect(), heads: BinaryHeap::new() };
        for run in 0..merge.runs.len() {
            merge.refill(run)?;
        }
        Ok(Sorted::Merge(merge))
    }

    fn spill(&mut self) -> Result<(), SortError> {
        self.buffer.sort_unstable();
        let folder = &self.folder;
        let failed = |source| SortError { folder: folder.clone(), source };
        let mut spilled = match self.spilled.take() {
            Some(spilled) => spilled,
            None => Spilled { file: nameless(folder).map_err(failed)?, runs: Vec::new() },
        };
        let mut writer = BufWriter::with_capacity(64 << 10, &spilled.file);
        let start = spilled.runs.last().map_or(0, |run| run.end);
        let mut end = start;
        for record in &self.buffer {
            writer.write_all(record).map_err(failed)?;
            end += u64::try_from(N).unwrap_or(0);
        }
        writer.flush().map_err(failed)?;
        drop(writer);
        spilled.runs.push(start..end);
        self.spilled = Some(spilled);
        self.buffer.clear();
        Ok(())
    }
}

/// A file that nobody else sees.
fn nameless(folder: &Path) -> std::io::Result<File> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("tidegate-verify-{}-{number}", std::process::id()));
        match OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => {
                std::fs::remove_file(&path)?;
                return Ok(file);
            }
            // A process of the same id was killed between the two lines above.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Gives records, rising.
pub(in crate::cli) enum Sorted<const N: usize> {
    /// All of them fitted.
    Memory(std::vec::IntoIter<[u8; N]>),
    /// From the file.
    Merge(Merge<N>),
}

/// The runs of the file, and the first record of each that is not given yet.
pub(in crate::cli) struct Merge<const N: usize> {
    file: File,
    folder: PathBuf,
    runs: Vec<Run>,
    heads: BinaryHeap<Reverse<([u8; N], usize)>>,
}

struct Run {
    /// What is not read yet.
    at: Range<u64>,
    piece_bytes: usize,
    piece: Vec<u8>,
    taken: usize,
}

impl<const N: usize> Sorted<N> {
    /// The next record.
    pub(in crate::cli) fn next(&mut self) -> Result<Option<[u8; N]>, SortError> {
        match self {
            Sorted::Memory(records) => Ok(records.next()),
            Sorted::Merge(merge) => merge.next(),
        }
    }
}

impl<const N: usize> Merge<N> {
    fn next(&mut self) -> Result<Option<[u8; N]>, SortError> {
        let Some(Reverse((record, run))) = self.heads.pop() else { return Ok(None) };
        self.refill(run)?;
        Ok(Some(record))
    }

    fn refill(&mut self, run: usize) -> Result<(), SortError> {
        let Some(found) = self.runs.get_mut(run) else { return Ok(()) };
        let record = found.next::<N>(&self.file);
        let record = record.map_err(|source| SortError { folder: self.folder.clone(), source })?;
        self.heads.extend(record.map(|record| Reverse((record, run))));
        Ok(())
    }
}

impl Run {
    fn next<const N: usize>(&mut self, file: &File) -> std::io::Result<Option<[u8; N]>> {
        if self.taken >= self.piece.len() {
            let left = usize::try_from(self.at.end - self.at.start).unwrap_or(usize::MAX);
            self.piece.resize(left.min(self.piece_bytes), 0);
            file.read_exact_at(&mut self.piece, self.at.start)?;
            self.at.start += u64::try_from(self.piece.len()).unwrap_or(0);
            self.taken = 0;
        }
        let rest = self.piece.get(self.taken..).unwrap_or_default();
        let record = rest.first_chunk::<N>().copied();
        self.taken += N;
        Ok(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted(records: &[[u8; 3]], memory_bytes: usize) -> (Vec<[u8; 3]>, usize) {
        let folder = tempfile::tempdir().unwrap();
        let mut sorter = Sorter::new(memory_bytes, folder.path());
        for record in records {
            sorter.push(*record).unwrap();
        }
        let runs = sorter.spilled.as_ref().map_or(0, |spilled| spilled.runs.len());
        let mut sorted = sorter.finish().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "the file has no name");
        let mut out = Vec::new();
        while let Some(record) = sorted.next().unwrap() {
            out.push(record);
        }
        (out, runs)
    }

    proptest! {
        #[test]
        fn every_record_comes_out_once_and_rising(
            mut records in proptest::collection::vec(any::<[u8; 3]>(), 0..200),
            memory_bytes in 0_usize..300,
        ) {
            let (found, _) = sorted(&records, memory_bytes);
            records.sort_unstable();
            prop_assert_eq!(found, records);
        }
    }

    #[test]
    fn pieces_smaller_than_their_runs_are_read_on() {
        let records: Vec<[u8; 3]> =
            (0_u32..20_000).rev().map(|n| n.to_be_bytes()[1..].try_into().unwrap()).collect();
        // Two runs of 30,000 bytes, read in pieces of 4 KiB at the least.
        let (found, runs) = sorted(&records, 30_000);
        assert_eq!(runs, 1);
        assert!(found.is_sorted() && found.len() == records.len());
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let mut sorter = Sorter::<1>::new(1, Path::new("nowhere-at-all"));
        sorter.push([1]).unwrap();
        let error = sorter.push([2]).unwrap_err();
        assert!(error.to_string().contains("nowhere-at-all"), "{error}");
    }
}
