//! `verify`: holds the input, the ledger, the output topics and the dead letters against each other. Changes nothing.
//!
//! In:        a job file     Out: what is lost, doubled or out of order, by its place and key; or that nothing is
//! Order:     the ledger's frontier, then its parked events; then everything that was sent, sorted by what it came from; then the input up to
//!            the frontier, record by record beside it; then what was sent, sorted by key
//! Holds:     as much memory as it is told, and the rest in a file
//! Fails:     70: something is lost, doubled or out of order; else as Kafka and the database fail
//! Not here:  the documents: headers, offsets and the ledger tell everything, so that it can be asked while the job runs

mod compare;
pub(super) mod entry;
mod found;
mod gather;
mod horizon;
mod ledger;
mod order;
pub(super) mod progress;
pub(super) mod reading;
mod report;
mod rules;
pub(super) mod sorter;

#[cfg(test)]
mod tests;

use super::args::VerifyArgs;
use super::out::{error_line, line};
use super::worlds::{self, Worlds};
use super::{exit, load};
use crate::database::{Move, ResetRow};
use crate::job::{JobSpec, Start};
use crate::kafka::{self, KafkaSetup, Log};
use crate::model::{Body, Destination, NextOffset, Offset, TopicPartition};
use crate::operator::bundle::Part;
use crate::operator::decode;
use crate::protocol::halt::HaltKind;
use crate::xml::Decoder;
use compare::{Compare, Content, InputRecord};
use entry::{Lies, SentAt};
use found::{Fault, Finding, Found, Key};
use gather::{Gather, Gathered};
use horizon::Horizon;
use ledger::{Aside, Ledger};
use progress::Progress;
use reading::{DEADLINE, failed};
use report::Report;
use rules::Rules;
use sorter::{SortError, Sorter};
use std::path::Path;
use std::sync::Arc;

/// Why a verification came to no verdict.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) text: String,
    pub(super) code: u8,
}

impl Failure {
    pub(super) fn new(kind: HaltKind, text: String) -> Failure {
        Failure { text, code: kind.exit_code() }
    }
}

impl From<SortError> for Failure {
    fn from(error: SortError) -> Failure {
        Failure::new(HaltKind::Outage, error.to_string())
    }
}

pub(super) fn verify(args: &VerifyArgs) -> u8 {
    match examine(args) {
        Ok(true) => exit::OK,
        Ok(false) => exit::INTERNAL,
        Err(Failure { text, code }) => {
            error_line(&text);
            code
        }
    }
}

/// `true`: nothing is wrong.
fn examine(args: &VerifyArgs) -> Result<bool, Failure> {
    let wrong = |text| Failure { text, code: exit::JOB };
    let checked = load::load(&args.job).map_err(wrong)?;
    let job = worlds::open(checked).map_err(wrong)?;
    // Before anything that was sent is read: whatever is in front of it is there then.
    let ledger = ledger::read(&job)?;
    let found = Verification::new(&job, args.memory)?.run(&ledger)?;
    let report = Report { spec: &job.spec, found: &found, notes: notes(&job.spec, &ledger) };
    if args.json {
        line(&report.json());
    } else {
        report.lines().iter().for_each(|text| line(text));
    }
    Ok(found.is_clean())
}

/// What must be known to read the findings right.
fn notes(spec: &JobSpec, ledger: &Ledger) -> Vec<String> {
    let mut notes = Vec::new();
    if ledger.job.fingerprint != spec.fingerprint() || ledger.job.key_groups != spec.key_groups {
        notes.push("the job ran last with other topics, keys or key_groups: order is judged by the keys of this file".to_owned());
    }
    for ResetRow { at, moved, .. } in &ledger.resets {
        notes.push(format!(
            "positions were reset at {at}: {}/{} from {} to {}, with records handled up to {} before",
            moved.topic, moved.partition, moved.from, moved.to, moved.handled
        ));
    }
    if spec.outputs.is_empty() {
        notes.push("the job has no [output]: only its dead letters can be looked at".to_owned());
    } else if spec.outputs.iter().any(|output| output.when.is_some()) {
        notes.push(
            "outputs with a condition may be there or not: only that none is there twice, and their order, can be looked at"
                .to_owned(),
        );
    }
    notes
}

/// Everything that the steps share.
struct Verification<'a> {
    job: &'a Worlds,
    spec: &'a JobSpec,
    log: Arc<dyn Log>,
    /// All topics, in the order of `log`: the job's, then where it sends to.
    topics: Vec<String>,
    sends: Vec<Destination>,
    memory_bytes: usize,
    progress: Progress,
}

impl<'a> Verification<'a> {
    fn new(job: &'a Worlds, memory_mib: u32) -> Result<Verification<'a>, Failure> {
        let spec = job.spec.as_ref();
        let outputs = (0_u16..).map(Destination::Output).zip(spec.output_topics.iter().cloned());
        let letters = spec.rejects.dead_letter_topic.clone().map(|topic| (Destination::DeadLetter, topic));
        let (sends, names): (Vec<_>, Vec<_>) = outputs.chain(letters).unzip();
        let topics: Vec<String> = spec.source.topics.iter().cloned().chain(names).collect();
        // A log of its own, to which the topics that the job sends to are topics to read from.
        let log = kafka::open(KafkaSetup { topics: topics.clone(), ..KafkaSetup::from_spec(spec) });
        let mib = usize::try_from(memory_mib).unwrap_or(usize::MAX);
        let memory_bytes = mib.saturating_mul(1 << 20);
        Ok(Verification { job, spec, log, topics, sends, memory_bytes, progress: Progress::new() })
    }

    fn run(mut self, ledger: &Ledger) -> Result<Found, Failure> {
        let counts = self.log.partition_counts(&self.topics, DEADLINE).map_err(|error| failed(&error))?;
        let mut partitions = Vec::new();
        for ((topic, name), count) in (0_u16..).zip(&self.topics).zip(counts) {
            let count = count.ok_or_else(|| {
                Failure::new(HaltKind::Misconfigured, format!("topic \"{name}\" does not exist"))
            })?;
            partitions.extend((0..count).map(|partition| TopicPartition { topic, partition }));
        }
        let is_input = |at: &TopicPartition| usize::from(at.topic) < self.spec.source.topics.len();
        let (input, sent): (Vec<_>, Vec<_>) = partitions.into_iter().partition(is_input);
        let folder = std::env::temp_dir();
        let gathered = self.gather(&sent, ledger, &folder)?;
        let (mut found, placed) = self.compare(&input, gathered, ledger, &folder)?.finish()?;
        self.progress.begin("looking at the order:", found.counts.with_output);
        found.out_of_order = order::check(placed, || self.progress.step())?;
        self.name_keys(&mut found)?;
        for source in ledger::still_parked(self.job, &found.sent_and_parked.first)? {
            found.doubled.add(|| Finding { source, key: None, fault: Fault::SentAndParked });
        }
        Ok(found)
    }

    /// Everything that was sent.
    fn gather(
        &mut self,
        partitions: &[TopicPartition],
        ledger: &Ledger,
        folder: &Path,
    ) -> Result<Gathered, Failure> {
        let spec = self.spec;
        let horizon = Horizon::new(spec.source.start != Start::Earliest, in_flight_records(spec));
        // Half of the memory for each of the two sorters that there are at a time.
        let sorter = Sorter::new(self.memory_bytes / 2, folder);
        let mut gather = Gather::new(&spec.name, &spec.source.topics, Rules::of(spec), sorter, horizon);
        let mut aside = |aside: Aside| {
            Ok(gather.aside(aside.source, if aside.is_dropped { Lies::Dropped } else { Lies::Parked })?)
        };
        if ledger.has_parked {
            ledger::parked(self.job, ledger.job.key_groups, &mut aside)?;
        }
        let mut from = Vec::new();
        let mut records = 0;
        for at in partitions {
            let (first, end) = self.log.ends(*at, DEADLINE).map_err(|error| failed(&error))?;
            if let (true, Some(to)) = (first.0 > 0, self.destination(*at)) {
                gather.shortened(to, at.partition);
            }
            records += distance(first, end);
            from.push((*at, NextOffset(first.0)));
        }
        self.progress.begin("reading what was sent:", records);
        let log = Arc::clone(&self.log);
        reading::to_the_ends(&*log, &from, &mut |record| {
            self.progress.step();
            let Some(to) = self.destination(record.at) else { return Ok(()) };
            let at = SentAt { to, partition: record.at.partition, offset: record.offset };
            Ok(gather.take(at, &record.record.headers)?)
        })?;
        Ok(gather.finish())
    }

    /// The input beside it.
    fn compare(
        &mut self,
        partitions: &[TopicPartition],
        gathered: Gathered,
        ledger: &Ledger,
        folder: &Path,
    ) -> Result<Compare, Failure> {
        let by_key = Sorter::new(self.memory_bytes / 2, folder);
        let mut compare = Compare::new(Rules::of(self.spec), gathered, by_key, self.resets(ledger))?;
        let mut decoder = self.decoder()?;
        let log = Arc::clone(&self.log);
        for at in partitions {
            let topic = self.spec.topic_of(*at);
            let (first, end) = log.ends(*at, DEADLINE).map_err(|error| failed(&error))?;
            let row = ledger.frontier.iter().find(|row| row.topic == topic && row.partition == at.partition);
            // A partition that the job has not begun yet.
            let frontier = row.map_or(NextOffset(first.0), |row| row.next);
            if frontier > end {
                let text = format!(
                    "{topic}/{}: the ledger's frontier is {frontier}, but the partition ends at {end} (exclusive): the topic \
                     was made anew, or the ledger belongs to another Kafka",
                    at.partition
                );
                return Err(Failure::new(HaltKind::Fenced, text));
            }
            compare.begin(*at, first, frontier)?;
            let of = distance(first, frontier);
            self.progress.begin(format!("comparing {topic}/{}:", at.partition), of);
            reading::up_to(&*log, *at, NextOffset(first.0), frontier, &mut |record| {
                self.progress.step();
                Ok(compare.record(&decoded(&record, self.spec, &mut decoder))?)
            })?;
        }
        Ok(compare)
    }

    /// The findings of the last step have hashes for keys: their few records are read once more.
    fn name_keys(&self, found: &mut Found) -> Result<(), Failure> {
        let mut decoder = self.decoder()?;
        for finding in &mut found.out_of_order.shown {
            let record = reading::at_offset(&*self.log, finding.source.at, finding.source.offset)?;
            let events = record.map(|record| decoded(&record, self.spec, &mut decoder).events);
            let index = usize::try_from(finding.source.index).unwrap_or(usize::MAX);
            let content = events.and_then(|events| events.into_iter().nth(index));
            if let Some(Content::Readable { group, key, .. }) = content {
                finding.key = Some(Key { group, key });
            }
        }
        Ok(())
    }

    fn decoder(&self) -> Result<Decoder, Failure> {
        let JobSpec { event, outputs, limits, .. } = self.spec;
        Decoder::new(event, outputs, *limits)
            .map_err(|error| Failure::new(HaltKind::Misconfigured, error.to_string()))
    }

    /// Moves of partitions that the job reads.
    fn resets(&self, ledger: &Ledger) -> Vec<compare::Reset> {
        let reset = |row: &ResetRow| {
            let at = TopicPartition {
                topic: self.spec.topic_index(&row.moved.topic)?,
                partition: row.moved.partition,
            };
            let Move { from, handled, to, .. } = row.moved;
            Some(compare::Reset { at, from, handled, to })
        };
        ledger.resets.iter().filter_map(reset).collect()
    }

    fn destination(&self, at: TopicPartition) -> Option<Destination> {
        let index = usize::from(at.topic).checked_sub(self.spec.source.topics.len())?;
        self.sends.get(index).copied()
    }
}

/// How many records of one partition the job may have read and not committed: it belongs to one process, and each record
/// counts at least so much.
fn in_flight_records(spec: &JobSpec) -> u64 {
    let least = crate::model::Record { timestamp_ms: None, key: None, headers: Vec::new(), value: None };
    let records = spec.limits.in_flight_bytes.checked_div(least.footprint_bytes()).unwrap_or(0);
    u64::try_from(records).unwrap_or(u64::MAX).saturating_add(1)
}

fn decoded(record: &kafka::ReadRecord, spec: &JobSpec, decoder: &mut Decoder) -> InputRecord {
    let content = |part: Part| match part.body {
        Body::Unreadable(reason) => Content::Unreadable { code: reason.code.as_str() },
        body => Content::Readable { group: part.key_group, key: part.key, tombstone: body.is_tombstone() },
    };
    let events = decode::read(record, spec, decoder).into_iter().map(content).collect();
    InputRecord { at: record.at, offset: record.offset, events }
}

fn distance(from: Offset, to: NextOffset) -> u64 {
    u64::try_from(to.0.saturating_sub(from.0)).unwrap_or(0)
}
