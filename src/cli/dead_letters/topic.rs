//! The dead-letter topic of a job, and the topics that its letters came from.
//!
//! In:        a job file     Out: what stands in the topic, partition by partition
//! Holds:     what one read gives
//! Order:     partitions by number, each in its order
//! Fails:     78: the job has no dead-letter topic, or a topic is missing; else as Kafka fails
//! Not here:  what a letter is (letter)

use super::letter::{self, Letter, Met};
use super::replayed::Replayed;
use crate::cli::exit;
use crate::cli::load;
use crate::cli::verify::Failure;
use crate::cli::verify::reading::{self, DEADLINE, failed};
use crate::kafka::{self, KafkaSetup, Log};
use crate::model::{NextOffset, Offset, TopicPartition};
use crate::protocol::halt::HaltKind;
use std::path::Path;
use std::sync::Arc;

/// Everything that is asked of Kafka.
pub(super) struct Topic {
    /// The job's name.
    pub(super) job: String,
    /// The topics that it reads.
    pub(super) sources: Vec<String>,
    /// Their numbers of partitions.
    pub(super) source_partitions: Vec<i32>,
    /// The dead-letter topic.
    pub(super) name: String,
    /// A log to which the dead-letter topic is a topic to read from, behind the sources.
    pub(super) log: Arc<dyn Log>,
    partitions: i32,
}

/// Where a partition of the dead-letter topic begins and ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) at: TopicPartition,
    pub(super) first: Offset,
    pub(super) end: NextOffset,
}

impl Topic {
    /// Of the job in this file.
    pub(super) fn open(file: &Path) -> Result<Topic, Failure> {
        let wrong = |text| Failure { text, code: exit::JOB };
        let spec = load::load(file).map_err(wrong)?.spec;
        let Some(name) = spec.rejects.dead_letter_topic.clone() else {
            return Err(wrong(format!(
                "{}: job \"{}\" has no rejects.dead_letter_topic, and so no dead letters",
                file.display(),
                spec.name
            )));
        };
        let topics = spec.source.topics.iter().cloned().chain([name.clone()]).collect();
        let log = kafka::open(KafkaSetup { topics, ..KafkaSetup::from_spec(&spec) });
        Topic::of(&spec.name, &spec.source.topics, &name, log)
    }

    /// Of this log, whose topics are the sources and then the dead-letter topic.
    pub(super) fn of(job: &str, sources: &[String], name: &str, log: Arc<dyn Log>) -> Result<Topic, Failure> {
        let topics: Vec<String> = sources.iter().cloned().chain([name.to_owned()]).collect();
        let counts = log.partition_counts(&topics, DEADLINE).map_err(|error| failed(&error))?;
        let count = |(name, count): (&String, Option<i32>)| {
            count.ok_or_else(|| {
                Failure::new(HaltKind::Misconfigured, format!("topic \"{name}\" does not exist"))
            })
        };
        let mut counts = topics.iter().zip(counts).map(count).collect::<Result<Vec<_>, _>>()?;
        let partitions = counts.pop().unwrap_or(0);
        let (job, sources, name) = (job.to_owned(), sources.to_vec(), name.to_owned());
        Ok(Topic { job, sources, source_partitions: counts, name, log, partitions })
    }

    /// A partition of the dead-letter topic.
    pub(super) fn at(&self, partition: i32) -> TopicPartition {
        TopicPartition { topic: u16::try_from(self.sources.len()).unwrap_or(u16::MAX), partition }
    }

    /// Where its partitions begin, and where they end as far as an answer costs nothing.
    pub(super) fn spans(&self) -> Result<Vec<Span>, Failure> {
        let span = |partition| {
            let at = self.at(partition);
            let (first, end) = self.log.ends(at, DEADLINE).map_err(|error| failed(&error))?;
            Ok(Span { at, first, end })
        };
        (0..self.partitions).map(span).collect()
    }

    /// Reads a partition from an offset to where it ends now, also past a transaction that is not decided yet; gives its end.
    pub(super) fn read_to_end(
        &self,
        at: TopicPartition,
        from: NextOffset,
        take: &mut dyn FnMut(Met) -> Result<(), Failure>,
    ) -> Result<NextOffset, Failure> {
        let ends = reading::to_the_ends(&*self.log, &[(at, from)], &mut |record| {
            take(letter::read(record, &self.job))
        })?;
        Ok(ends.get(&at).copied().unwrap_or(from))
    }

    /// Reads between two offsets.
    pub(super) fn read_between(
        &self,
        at: TopicPartition,
        (from, until): (NextOffset, NextOffset),
        take: &mut dyn FnMut(Met) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        reading::up_to(&*self.log, at, from, until, &mut |record| take(letter::read(record, &self.job)))
    }

    /// Every letter, with whether it was replayed. A marker lies behind its letter: so the topic is read twice.
    pub(super) fn letters(
        &self,
        mut step: impl FnMut(),
        take: &mut dyn FnMut(Letter, bool) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut replayed = Replayed::default();
        let mut spans = self.spans()?;
        for Span { at, first, end } in &mut spans {
            *end = self.read_to_end(*at, NextOffset(first.0), &mut |met| {
                step();
                if let Met::Marker { partition, offset } = met {
                    replayed.add(partition, offset);
                }
                Ok(())
            })?;
        }
        for Span { at, first, end } in spans {
            self.read_between(at, (NextOffset(first.0), end), &mut |met| {
                step();
                match met {
                    Met::Letter(letter) => {
                        let was = replayed.contains(letter.partition, letter.offset);
                        take(*letter, was)
                    }
                    Met::Marker { .. } | Met::Other => Ok(()),
                }
            })?;
        }
        Ok(())
    }
}
