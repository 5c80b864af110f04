//! Gather: the first of three steps: every record of the output topics and of the dead letters, by what it came from, and
//! every parked event.
//!
//! In:        records with their headers, in the order of their partitions; rows of the ledger     Out: [`Gathered`]
//! Holds:     a sorter, the horizon, counts
//! Fails:     as the sorter does
//! Not here:  no documents: the headers alone say where a record came from

use super::entry::{Lies, OUTCOME_BYTES, Outcome, SentAt};
use super::horizon::Horizon;
use super::rules::Rules;
use super::sorter::{SortError, Sorter};
use crate::model::{Coordinates, Destination, Headers};
use crate::operator::letter;

/// Takes sent records.
pub(super) struct Gather {
    job: String,
    topics: Vec<String>,
    rules: Rules,
    gathered: Gathered,
}

/// All sent records.
pub(super) struct Gathered {
    /// Those records, and what the ledger holds parked, by source.
    pub(super) outcomes: Sorter<OUTCOME_BYTES>,
    /// What was seen of the beginnings.
    pub(super) horizon: Horizon,
    /// Records of the output topics.
    pub(super) outputs: u64,
    /// Records of the dead-letter topic.
    pub(super) dead_letters: u64,
    /// Records of both that are not this job's.
    pub(super) foreign: u64,
}

impl Gather {
    /// For a job of this name that reads these topics.
    pub(super) fn new(
        job: &str,
        topics: &[String],
        rules: Rules,
        outcomes: Sorter<OUTCOME_BYTES>,
        horizon: Horizon,
    ) -> Gather {
        let gathered = Gathered { outcomes, horizon, outputs: 0, dead_letters: 0, foreign: 0 };
        Gather { job: job.to_owned(), topics: topics.to_vec(), rules, gathered }
    }

    /// An output partition does not begin at 0. To be said before its records come.
    pub(super) fn shortened(&mut self, to: Destination, partition: i32) {
        self.gathered.horizon.shortened(to, partition);
    }

    /// A sent record.
    pub(super) fn take(&mut self, at: SentAt, headers: &Headers) -> Result<(), SortError> {
        // What was replayed is a record of the input, and judged there.
        if at.to == Destination::DeadLetter && letter::is_marker(headers) {
            return Ok(());
        }
        match at.to {
            Destination::Output(_) => self.gathered.outputs += 1,
            Destination::DeadLetter => self.gathered.dead_letters += 1,
        }
        let Some(source) = self.source(at.to, headers) else {
            self.gathered.foreign += 1;
            return Ok(());
        };
        self.gathered.horizon.saw(at.to, at.partition, source.at, source.offset);
        let output = match at.to {
            Destination::Output(_) => self.rules.output_of(headers),
            Destination::DeadLetter => 0,
        };
        self.gathered.outcomes.push(Outcome { source, output, lies: Lies::Sent(at) }.to_bytes())
    }

    /// An event that the ledger holds.
    pub(super) fn aside(&mut self, source: Coordinates, lies: Lies) -> Result<(), SortError> {
        self.gathered.outcomes.push(Outcome { source, output: 0, lies }.to_bytes())
    }

    /// Everything that was taken.
    pub(super) fn finish(self) -> Gathered {
        self.gathered
    }

    /// What the record came from; `None`: it is not this job's.
    fn source(&self, to: Destination, headers: &Headers) -> Option<Coordinates> {
        if to == Destination::DeadLetter && last(headers, "tidegate-job")? != self.job {
            return None;
        }
        source_of(headers, &self.topics)
    }
}

/// What a record came from, as its headers say.
pub(super) fn source_of(headers: &Headers, topics: &[String]) -> Option<Coordinates> {
    Coordinates::parse(last(headers, "tidegate-source")?, topics)
}

/// The last header of this name: those in front of it are the input's own, which may be another job's output.
fn last<'a>(headers: &'a Headers, name: &str) -> Option<&'a str> {
    let (_, value) = headers.iter().rev().find(|(found, _)| found == name)?;
    std::str::from_utf8(value.as_deref()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn a_marker_of_a_replay_is_nothing_that_was_sent() {
        let folder = std::env::temp_dir();
        let horizon = Horizon::new(false, 1);
        let rules = Rules { outputs: Vec::new(), discards: false, discards_events: false };
        let mut gather =
            Gather::new("job", &["in".to_owned()], rules, Sorter::new(1 << 10, &folder), horizon);
        let header = |name: &str, value: &'static str| (name.to_owned(), Some(Bytes::from(value)));
        let at = SentAt { to: Destination::DeadLetter, partition: 0, offset: crate::model::Offset(0) };
        let marker = vec![header("tidegate-replayed", "0/7"), header("tidegate-job", "job")];
        gather.take(at, &marker).unwrap();
        // A record that had such a header and was rejected is a letter.
        let letter = [("tidegate-reason", "limit"), ("tidegate-source", "in/0/3"), ("tidegate-job", "job")];
        let letter: Headers =
            marker.into_iter().chain(letter.map(|(name, value)| header(name, value))).collect();
        gather.take(at, &letter).unwrap();
        let gathered = gather.finish();
        assert_eq!((gathered.dead_letters, gathered.foreign), (1, 0));
    }

    #[test]
    fn the_last_header_of_a_name_counts() {
        let header = |name: &str, value: &'static str| (name.to_owned(), Some(Bytes::from(value)));
        let headers =
            vec![header("tidegate-source", "a/0/1"), header("x", "y"), header("tidegate-source", "b/0/2")];
        assert_eq!(last(&headers, "tidegate-source"), Some("b/0/2"));
        assert_eq!(last(&vec![("n".to_owned(), None)], "n"), None);
    }
}
