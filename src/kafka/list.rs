//! Partitions and positions in librdkafka's form, and back.
//!
//! In:        [`TopicPartition`] with [`NextOffset`], or librdkafka's list
//! Out:       the other of the two
//! Fails:     for a topic that is not one of the job's
//! Not here:  nothing that asks a broker

use super::{KafkaSetup, LogError, LogErrorClass};
use crate::model::{NextOffset, TopicPartition};
use rdkafka::topic_partition_list::{Offset, TopicPartitionList};

/// The list with these positions.
pub(super) fn to_native(
    setup: &KafkaSetup,
    positions: &[(TopicPartition, NextOffset)],
) -> Result<TopicPartitionList, LogError> {
    let mut list = TopicPartitionList::with_capacity(positions.len());
    for (at, next) in positions {
        let topic = topic_name(setup, *at)?;
        list.add_partition_offset(topic, at.partition, Offset::Offset(next.0))
            .map_err(|error| LogError::by(format!("position {next} of {topic}/{}", at.partition), &error))?;
    }
    Ok(list)
}

/// The list of these partitions without positions.
pub(super) fn without_positions(
    setup: &KafkaSetup,
    partitions: &[TopicPartition],
) -> Result<TopicPartitionList, LogError> {
    let mut list = TopicPartitionList::with_capacity(partitions.len());
    for at in partitions {
        list.add_partition(topic_name(setup, *at)?, at.partition);
    }
    Ok(list)
}

/// The positions in a list; entries without one, and topics that are not the job's, are left out.
pub(super) fn from_native(
    setup: &KafkaSetup,
    list: &TopicPartitionList,
) -> Vec<(TopicPartition, NextOffset)> {
    list.elements()
        .iter()
        .filter_map(|element| {
            let topic = setup.topic_index(element.topic())?;
            let Offset::Offset(next) = element.offset() else { return None };
            Some((TopicPartition { topic, partition: element.partition() }, NextOffset(next)))
        })
        .collect()
}

/// The name of an input topic.
pub(super) fn topic_name(setup: &KafkaSetup, at: TopicPartition) -> Result<&str, LogError> {
    setup.topic_name(at).ok_or_else(|| {
        LogError::of(
            LogErrorClass::Misconfigured,
            format!(
                "topic number {} was asked for, but the job reads {} topics",
                at.topic,
                setup.topics.len()
            ),
        )
        .at(at)
    })
}
