//! Reading: partitions from a place to a place, read committed, each once.
//!
//! In:        a log, partitions, where to begin and to end     Out: records, in the order of each partition
//! Holds:     what one read gives
//! Order:     per partition as the broker keeps it
//! Fails:     an outage that is longer than [`PATIENCE`], a position that is gone, rights
//! Not here:  what the records mean

use super::Failure;
use crate::kafka::{Log, LogError, LogErrorClass, ReadRecord, Reader};
use crate::model::{NextOffset, Offset, TopicPartition};
use crate::protocol::halt::HaltKind;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// For one question.
pub(in crate::cli) const DEADLINE: Duration = Duration::from_secs(10);

/// For nothing at all to come: longer than the broker leaves a transaction open, if the user set no other time-out.
const PATIENCE: Duration = Duration::from_secs(75);

const RECORDS_MAX: usize = 5_000;
const BYTES_MAX: usize = 4 << 20;
const WAIT: Duration = Duration::from_millis(100);

/// Takes a record.
pub(in crate::cli) type Take<'a> = dyn FnMut(ReadRecord) -> Result<(), Failure> + 'a;

/// Reads all partitions to where they end now. The end is the high watermark: a transaction that is confirmed may not be
/// visible yet, so that the last stable offset would come too early. Gives the ends.
pub(in crate::cli) fn to_the_ends(
    log: &dyn Log,
    from: &[(TopicPartition, NextOffset)],
    take: &mut Take<'_>,
) -> Result<BTreeMap<TopicPartition, NextOffset>, Failure> {
    let mut reader = log.reader(from).map_err(|error| failed(&error))?;
    let mut ends: BTreeMap<TopicPartition, NextOffset> = BTreeMap::new();
    let mut open: Vec<TopicPartition> = from.iter().map(|(at, _)| *at).collect();
    let mut patience = Patience::new();
    // A client that has lost its connection may give records once more.
    let mut taken: BTreeMap<TopicPartition, Offset> = BTreeMap::new();
    while !open.is_empty() {
        let records = patience.read(reader.as_mut())?;
        for at in &open {
            if let (false, Some(end)) = (ends.contains_key(at), reader.known_end(*at)) {
                ends.insert(*at, end);
            }
        }
        for record in records {
            let is_new = taken.get(&record.at).is_none_or(|last| record.offset > *last);
            if is_new && ends.get(&record.at).is_none_or(|end| record.offset.0 < end.0) {
                taken.insert(record.at, record.offset);
                take(record)?;
            }
        }
        let before = open.len();
        let reached = |at: TopicPartition| Some(reader.position(at)? >= *ends.get(&at)?);
        open.retain(|at| reached(*at) != Some(true));
        patience.moved(open.len() < before);
    }
    Ok(ends)
}

/// Reads one partition up to a position.
pub(in crate::cli) fn up_to(
    log: &dyn Log,
    at: TopicPartition,
    from: NextOffset,
    until: NextOffset,
    take: &mut Take<'_>,
) -> Result<(), Failure> {
    if from >= until {
        return Ok(());
    }
    let mut reader = log.reader(&[(at, from)]).map_err(|error| failed(&error))?;
    let mut patience = Patience::new();
    let mut next = from;
    loop {
        for record in patience.read(reader.as_mut())? {
            if record.offset.0 >= until.0 {
                return Ok(());
            }
            if record.offset.0 < next.0 {
                continue;
            }
            next = record.offset.next();
            take(record)?;
        }
        if reader.position(at).is_some_and(|position| position >= until) {
            return Ok(());
        }
    }
}

/// The record at this offset, if it is there.
pub(in crate::cli) fn at_offset(
    log: &dyn Log,
    at: TopicPartition,
    offset: Offset,
) -> Result<Option<ReadRecord>, Failure> {
    let mut found = None;
    up_to(log, at, NextOffset(offset.0), offset.next(), &mut |record| {
        found = Some(record);
        Ok(())
    })?;
    Ok(found)
}

/// What an error of the log ends a verification with.
pub(in crate::cli) fn failed(error: &LogError) -> Failure {
    let kind = match error.class {
        LogErrorClass::Rights => HaltKind::Rights,
        LogErrorClass::Misconfigured | LogErrorClass::TooLarge => HaltKind::Misconfigured,
        LogErrorClass::PositionGone => HaltKind::Fenced,
        LogErrorClass::Outage | LogErrorClass::Unknown | LogErrorClass::Aborted | LogErrorClass::Fenced => {
            HaltKind::Outage
        }
    };
    Failure::new(kind, format!("Kafka: {error}"))
}

/// Reads through short outages: the reader finds its way back by itself.
struct Patience {
    since: Instant,
    said: Option<LogError>,
}

impl Patience {
    fn new() -> Patience {
        Patience { since: Instant::now(), said: None }
    }

    fn moved(&mut self, moved: bool) {
        if moved {
            *self = Patience::new();
        }
    }

    fn read(&mut self, reader: &mut dyn Reader) -> Result<Vec<ReadRecord>, Failure> {
        match reader.read(RECORDS_MAX, BYTES_MAX, WAIT) {
            Ok(records) => {
                self.moved(!records.is_empty());
                if self.since.elapsed() > PATIENCE {
                    return Err(self.lost());
                }
                Ok(records)
            }
            Err(error) if matches!(error.class, LogErrorClass::Outage | LogErrorClass::Unknown) => {
                self.said = Some(error);
                if self.since.elapsed() > PATIENCE { Err(self.lost()) } else { Ok(Vec::new()) }
            }
            Err(error) => Err(failed(&error)),
        }
    }

    fn lost(&self) -> Failure {
        match &self.said {
            Some(error) => failed(error),
            None => Failure::new(
                HaltKind::Outage,
                format!(
                    "Kafka: nothing came for {} s, and the end is not reached: a transaction that is not decided holds it \
                     back (`kafka-transactions.sh find-hanging` shows it)",
                    PATIENCE.as_secs()
                ),
            ),
        }
    }
}
