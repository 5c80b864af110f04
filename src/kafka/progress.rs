//! The progress topic: which batch of each key group was emitted last.
//!
//! In:        rows, written by the sink in the same transaction as the outputs
//! Out:       the last row per key group, read committed
//! Order:     one partition, in the order of the transactions
//! Fails:     a topic that is missing or holds something else is misconfigured, with the offset named; an undecided
//!            transaction in it is an outage: the rows behind it are not to be guessed
//! Not here:  which ledger a row must belong to (recovery)

use super::client::{self, ReadingClient, moment_in, remaining};
use super::{KafkaSetup, LogError, LogErrorClass, ProgressRow, admin, native};
use crate::model::{BatchNumber, KeyGroup};
use rdkafka::consumer::Consumer;
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::{BorrowedMessage, Message};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// All rows are here, also where somebody gave the topic more partitions.
pub(super) const PARTITION: i32 = 0;

/// The value of a row; its key is the key group as decimal text.
#[derive(Serialize, Deserialize)]
struct RowValue {
    ledger: String,
    batch: u64,
}

/// Key and value of a row.
pub(super) fn encode(row: &ProgressRow) -> Result<(String, Vec<u8>), LogError> {
    let value = RowValue { ledger: row.ledger_id.clone(), batch: row.batch.0 };
    let value = serde_json::to_vec(&value).map_err(|error| {
        LogError::of(
            LogErrorClass::Unknown,
            format!("encoding the progress of key group {}: {error}", row.group),
        )
    })?;
    Ok((row.group.to_string(), value))
}

fn decode(key: Option<&[u8]>, value: &[u8]) -> Option<ProgressRow> {
    let group = std::str::from_utf8(key?).ok()?.parse().ok()?;
    let RowValue { ledger, batch } = serde_json::from_slice(value).ok()?;
    Some(ProgressRow { group: KeyGroup(group), batch: BatchNumber(batch), ledger_id: ledger })
}

/// Reads the topic to its end by a consumer of its own.
pub(super) fn read(setup: &KafkaSetup, deadline: Duration) -> Result<Vec<ProgressRow>, LogError> {
    let consumer = client::consumer(setup)?;
    let rows = read_by(&consumer, &setup.progress_topic, moment_in(deadline));
    let rows = rows.map_err(|error| consumer.context().said.explain(error));
    client::retire(consumer);
    rows
}

/// Reads what is there, and does not take the last stable offset for the end: where a transaction is undecided, the rows
/// behind its first record are held back, and a job that does not see them would emit their batches again. A broker
/// that was killed may leave such a transaction although every producer has been initialised since: so the end is the
/// high watermark that the first answer names.
fn read_by(consumer: &ReadingClient, topic: &str, until: Instant) -> Result<Vec<ProgressRow>, LogError> {
    let doing = format!("reading the progress topic `{topic}`");
    // Of a topic that is not there a consumer would never hear.
    let (low, _) = admin::watermarks(consumer, topic, PARTITION, &doing, until)?;
    let mut list = TopicPartitionList::new();
    // The explicit offset is ten times as fast as "the beginning".
    list.add_partition_offset(topic, PARTITION, Offset::Offset(low))
        .and_then(|()| consumer.assign(&list))
        .map_err(|error| LogError::by(&doing, &error))?;
    let mut rows = BTreeMap::new();
    let (mut position, mut end) = (low, None);
    while end.is_none_or(|end| position < end) {
        match consumer.poll(remaining(until)) {
            Some(Ok(message)) => {
                keep(&mut rows, topic, &message)?;
                position = message.offset().saturating_add(1);
            }
            // At the last stable offset the position steps over control records.
            Some(Err(KafkaError::PartitionEOF(_))) => position = position.max(position_of(consumer, topic)),
            Some(Err(error)) => {
                let error = LogError::by(&doing, &error);
                if error.class != LogErrorClass::Outage {
                    return Err(error);
                }
            }
            None if remaining(until).is_zero() => return Err(unfinished(&doing, position, end)),
            None => {}
        }
        end = end.or_else(|| native::known_end(consumer, topic, PARTITION));
    }
    Ok(rows.into_values().collect())
}

fn position_of(consumer: &ReadingClient, topic: &str) -> i64 {
    let positions = consumer.position().ok();
    let found = positions.as_ref().and_then(|list| list.find_partition(topic, PARTITION));
    match found.map(|element| element.offset()) {
        Some(Offset::Offset(next)) => next,
        _ => 0,
    }
}

fn unfinished(doing: &str, position: i64, end: Option<i64>) -> LogError {
    let late = LogError::by_code(doing, RDKafkaErrorCode::OperationTimedOut, None);
    match end {
        None => late,
        Some(end) => LogError {
            message: format!(
                "{doing}: it goes to offset {end}, but from {position} on it is held back by a transaction that is not \
                 decided: is another instance of the job running? If not, a broker has lost the decision when it was \
                 killed (`kafka-transactions.sh find-hanging` shows it); read docs/operating.md before you end it by hand, for \
                 an abort may send outputs twice"
            ),
            ..late
        },
    }
}

fn keep(
    rows: &mut BTreeMap<KeyGroup, ProgressRow>,
    topic: &str,
    message: &BorrowedMessage<'_>,
) -> Result<(), LogError> {
    // A tombstone is how somebody clears a key group by hand.
    let Some(value) = message.payload() else {
        if let Some(group) = message.key().and_then(|key| std::str::from_utf8(key).ok()?.parse().ok()) {
            rows.remove(&KeyGroup(group));
        }
        return Ok(());
    };
    let row = decode(message.key(), value).ok_or_else(|| {
        LogError::of(
            LogErrorClass::Misconfigured,
            format!(
                "the progress topic `{topic}` holds at offset {} something that Tidegate did not write: \
                 another program uses the topic, and nothing may but this job",
                message.offset()
            ),
        )
    })?;
    rows.insert(row.group, row);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_survives_its_encoding() {
        let row = ProgressRow { group: KeyGroup(15), batch: BatchNumber(u64::MAX), ledger_id: "a\"b".into() };
        let (key, value) = encode(&row).unwrap();
        assert_eq!(key, "15");
        assert_eq!(value, br#"{"ledger":"a\"b","batch":18446744073709551615}"#);
        assert_eq!(decode(Some(key.as_bytes()), &value), Some(row));
    }

    #[test]
    fn what_is_not_a_row_is_refused() {
        assert_eq!(decode(None, b"{}"), None);
        assert_eq!(decode(Some(b"x"), br#"{"ledger":"l","batch":1}"#), None);
        assert_eq!(decode(Some(b"1"), br#"{"ledger":"l","batch":-1}"#), None);
    }
}
