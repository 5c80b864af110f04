//! The progress topic: which batch of each key group was emitted last.
//!
//! In:        rows, written by the sink in the same transaction as the outputs
//! Out:       the last row per key group, read committed
//! Order:     one partition, in the order of the transactions
//! Fails:     a topic that is missing or holds something else is misconfigured, with the offset named
//! Not here:  which ledger a row must belong to (recovery)

use super::client::{self, ReadingClient, moment_in, remaining};
use super::{KafkaSetup, LogError, LogErrorClass, ProgressRow};
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

fn read_by(consumer: &ReadingClient, topic: &str, until: Instant) -> Result<Vec<ProgressRow>, LogError> {
    let doing = format!("reading the progress topic `{topic}`");
    // Of a topic that is not there a consumer would never hear.
    let (low, end) = consumer
        .fetch_watermarks(topic, PARTITION, remaining(until))
        .map_err(|error| LogError::by(&doing, &error))?;
    let mut rows = BTreeMap::new();
    if low >= end {
        return Ok(Vec::new());
    }
    let mut list = TopicPartitionList::new();
    // The explicit offset is ten times as fast as "the beginning".
    list.add_partition_offset(topic, PARTITION, Offset::Offset(low))
        .and_then(|()| consumer.assign(&list))
        .map_err(|error| LogError::by(&doing, &error))?;
    loop {
        match consumer.poll(remaining(until)) {
            Some(Ok(message)) => keep(&mut rows, topic, &message)?,
            Some(Err(KafkaError::PartitionEOF(_))) => return Ok(rows.into_values().collect()),
            Some(Err(error)) => {
                let error = LogError::by(&doing, &error);
                if error.class != LogErrorClass::Outage {
                    return Err(error);
                }
            }
            None if remaining(until).is_zero() => {
                return Err(LogError::by_code(&doing, RDKafkaErrorCode::OperationTimedOut, None));
            }
            None => {}
        }
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
