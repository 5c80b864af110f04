//! Sender: records and their markers, in transactions that are whole or not at all.
//!
//! In:        pairs of a record and its marker     Out: all of them are in Kafka, each once
//! Holds:     one producer, whose transactional id is the job's name and `-replay`. A start fences `JOB-0`, `JOB-1` ..., so
//!            that neither disturbs the other
//! Order:     as given
//! Fails:     fenced: another replay began; an outage that is longer than [`PATIENCE`]
//!
//! Where an outcome is unknown it is looked up, as a job does: initialising the id once more decides what is open, and the
//! markers, read after that, tell.

use crate::cli::dead_letters::letter::Met;
use crate::cli::dead_letters::replayed::Replayed;
use crate::cli::dead_letters::topic::Topic;
use crate::cli::verify::Failure;
use crate::cli::verify::reading::{DEADLINE, failed};
use crate::kafka::{LogError, LogErrorClass, Placed, Writer};
use crate::model::{NextOffset, Offset};
use crate::protocol::halt::HaltKind;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long nothing may come through.
const PATIENCE: Duration = Duration::from_secs(60);
/// For one transaction: far below the producer's `transaction.timeout.ms`.
const TRANSACTION: Duration = Duration::from_secs(15);
const PAUSE: Duration = Duration::from_millis(200);

/// A record on its way back, and what says so.
pub(super) struct Pair {
    /// Place of the letter: partition and offset.
    pub(super) letter: (i32, Offset),
    pub(super) record: Placed,
    pub(super) marker: Placed,
}

/// Sends.
pub(super) struct Sender<'a> {
    topic: &'a Topic,
    transactional_id: String,
    writer: Option<Box<dyn Writer>>,
}

/// Where the partitions were read to.
type Ends = BTreeMap<i32, NextOffset>;

impl<'a> Sender<'a> {
    /// Nothing is asked yet.
    pub(super) fn new(topic: &'a Topic) -> Sender<'a> {
        Sender { topic, transactional_id: transactional_id(&topic.job), writer: None }
    }

    /// Takes over the transactional id. To be called before the markers are read.
    pub(super) fn begin(&mut self) -> Result<(), Failure> {
        // The writer keeps its batches to the limits that it has heard of.
        let topics: Vec<String> =
            self.topic.sources.iter().cloned().chain([self.topic.name.clone()]).collect();
        self.topic.log.record_limits(&topics, DEADLINE).map_err(|error| failed(&error))?;
        self.renew(&Patience::new())
    }

    fn renew(&mut self, patience: &Patience) -> Result<(), Failure> {
        self.writer = None;
        loop {
            match self.topic.log.writer(&self.transactional_id, TRANSACTION) {
                Ok(writer) => {
                    self.writer = Some(writer);
                    return Ok(());
                }
                Err(error) => patience.or_fail(&error)?,
            }
        }
    }

    /// Sends all of them; what has a marker by then is not sent again.
    pub(super) fn send(
        &mut self,
        mut pairs: Vec<Pair>,
        replayed: &mut Replayed,
        ends: &mut Ends,
    ) -> Result<(), Failure> {
        let patience = Patience::new();
        while !pairs.is_empty() {
            let records: Vec<Placed> =
                pairs.iter().flat_map(|pair| [pair.record.clone(), pair.marker.clone()]).collect();
            let Some(writer) = &mut self.writer else {
                return Err(Failure::new(HaltKind::Internal, "a replay has no producer".to_owned()));
            };
            let error = match writer.transact_placed(&records, TRANSACTION) {
                Ok(()) => {
                    pairs.iter().for_each(|pair| replayed.add(pair.letter.0, pair.letter.1));
                    return Ok(());
                }
                Err(error) => error,
            };
            match error.class {
                LogErrorClass::Fenced => return Err(fenced(&self.topic.job)),
                LogErrorClass::Aborted => patience.or_fail(&error)?,
                _ => {
                    patience.or_fail(&error)?;
                    self.renew(&patience)?;
                    self.read_markers(replayed, ends)?;
                    pairs.retain(|pair| !replayed.contains(pair.letter.0, pair.letter.1));
                }
            }
        }
        Ok(())
    }

    /// Markers that have come since.
    fn read_markers(&self, replayed: &mut Replayed, ends: &mut Ends) -> Result<(), Failure> {
        for (partition, end) in ends {
            let at = self.topic.at(*partition);
            *end = self.topic.read_to_end(at, *end, &mut |met| {
                if let Met::Marker { partition, offset } = met {
                    replayed.add(partition, offset);
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// No id of a job: those end in a number.
fn transactional_id(job: &str) -> String {
    format!("{job}-replay")
}

fn fenced(job: &str) -> Failure {
    let text = format!(
        "another `dead-letters replay` of job \"{job}\" has begun, or this one stood still for so long that the broker ended its \
         transaction. What it has sent is marked, and is not sent again: where no other one runs, give the command again"
    );
    Failure::new(HaltKind::Fenced, text)
}

struct Patience(Instant);

impl Patience {
    fn new() -> Patience {
        Patience(Instant::now())
    }

    /// Waits a little where it is worth it.
    fn or_fail(&self, error: &LogError) -> Result<(), Failure> {
        let passes = matches!(
            error.class,
            LogErrorClass::Outage | LogErrorClass::Unknown | LogErrorClass::Aborted | LogErrorClass::Fenced
        );
        if !passes || self.0.elapsed() > PATIENCE {
            return Err(failed(error));
        }
        std::thread::sleep(PAUSE);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::transactional_id;

    #[test]
    fn no_start_of_any_job_fences_a_replay() {
        // A start fences `JOB-0`, `JOB-1` ...: whatever the job is called, its ids end in a number.
        for job in ["a", "a-0", "a-replay", "replay"] {
            let id = transactional_id(job);
            let (_, last) = id.rsplit_once('-').unwrap();
            assert!(last.parse::<u32>().is_err(), "{id}");
        }
    }
}
