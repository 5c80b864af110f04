//! Original: the record that a letter stands for, as it goes back.
//!
//! In:        a letter     Out: the record and its partition; or why there is none
//! Fails:     as Kafka fails. What a letter does not hold and its topic has no more is an answer
//!
//! A letter that was cut is only a description of its record: the record is taken from where it lies, and only if what
//! the letter kept of it is the same, since a topic that was made anew has another record at that place.

use crate::cli::dead_letters::letter::{Cut, Letter};
use crate::cli::dead_letters::topic::Topic;
use crate::cli::verify::Failure;
use crate::cli::verify::reading::{self, DEADLINE, failed};
use crate::kafka::Placed;
use crate::model::{Coordinates, Record};
use crate::operator::letter::EVENT;
use bytes::Bytes;

/// The record to send; or why the letter cannot be replayed.
pub(super) fn of(topic: &Topic, letter: &Letter) -> Result<Result<Placed, String>, Failure> {
    let Some(source) = Coordinates::parse(&letter.source, &topic.sources) else {
        return Ok(Err("the job does not read the topic that it came from".to_owned()));
    };
    let index = usize::from(source.at.topic);
    let (Some(name), Some(count)) = (topic.sources.get(index), topic.source_partitions.get(index)) else {
        return Ok(Err("the job does not read the topic that it came from".to_owned()));
    };
    if source.at.partition >= *count {
        return Ok(Err(format!("topic \"{name}\" has no partition {}", source.at.partition)));
    }
    let record = match letter.cut {
        None => Ok(letter.record.clone()),
        Some(cut) => at_source(topic, letter, cut, source)?,
    };
    let event = letter.event.or_else(|| Some(source.index).filter(|index| *index > 0));
    let placed = |record| Placed { topic: name.clone(), partition: source.at.partition, record };
    Ok(record.map(|record| placed(with_event(record, event, &topic.job))))
}

/// The job is to handle this event of the record alone: its other events had an outcome of their own.
fn with_event(mut record: Record, event: Option<u32>, job: &str) -> Record {
    if let Some(index) = event {
        record.headers.push((EVENT.to_owned(), Some(Bytes::from(format!("{job}/{index}")))));
    }
    record
}

/// The whole record, from where it lies.
fn at_source(
    topic: &Topic,
    letter: &Letter,
    cut: Cut,
    source: Coordinates,
) -> Result<Result<Record, String>, Failure> {
    let (first, end) = topic.log.ends(source.at, DEADLINE).map_err(|error| failed(&error))?;
    let found = if source.offset < first || source.offset.0 >= end.0 {
        None
    } else {
        reading::at_offset(&*topic.log, source.at, source.offset)?
    };
    Ok(match found {
        None => Err("the letter is cut, and the record is gone from its topic".to_owned()),
        Some(found) if is_of(&found.record, letter, cut) => Ok(found.record),
        Some(_) => Err("the letter is cut, and another record lies where it came from".to_owned()),
    })
}

/// Whether a record is the one that the letter was made of, as far as the letter kept it.
fn is_of(record: &Record, letter: &Letter, cut: Cut) -> bool {
    let kept = &letter.record;
    let value = record.value.as_deref().unwrap_or_default();
    let key_fits = match cut.key_bytes {
        Some(bytes) => record.key.as_ref().is_some_and(|key| key.len() == bytes),
        None => record.key == kept.key,
    };
    let mut rest = record.headers.iter();
    key_fits
        && record.timestamp_ms == kept.timestamp_ms
        && record.value.is_some() == kept.value.is_some()
        && value.len() == cut.value_bytes
        && value.starts_with(kept.value.as_deref().unwrap_or_default())
        && record.headers.len() == kept.headers.len().saturating_add(cut.headers)
        && kept.headers.iter().all(|header| rest.any(|one| one == header))
}
