//! One record in the form that librdkafka takes.
//!
//! In:        topic, key, value, timestamp, headers, all borrowed
//! Out:       a record whose parts librdkafka copies when it takes it
//! Fails:     never

use crate::model::Headers;
use rdkafka::message::{Header, OwnedHeaders};
use rdkafka::producer::BaseRecord;

/// One record on its way to librdkafka.
pub(super) struct Sending<'a> {
    pub(super) topic: &'a str,
    pub(super) partition: Option<i32>,
    pub(super) key: Option<&'a [u8]>,
    pub(super) value: Option<&'a [u8]>,
    pub(super) timestamp_ms: Option<i64>,
    pub(super) headers: &'a Headers,
}

impl Sending<'_> {
    /// Bytes of key, value and headers.
    pub(super) fn bytes(&self) -> usize {
        let len = |part: Option<&[u8]>| part.map_or(0, <[u8]>::len);
        let header = |(name, value): &(String, Option<bytes::Bytes>)| name.len() + len(value.as_deref());
        len(self.key) + len(self.value) + self.headers.iter().map(header).sum::<usize>()
    }

    /// What it is, for messages: its size, where it goes, and the record that it came from.
    pub(super) fn name(&self) -> String {
        let bytes = self.value.map_or(0, <[u8]>::len);
        let source = self.headers.iter().rev().find(|(name, _)| name == "tidegate-source");
        let source = source.and_then(|(_, value)| value.as_deref());
        let of =
            source.map(|place| format!(", made of {}", String::from_utf8_lossy(place))).unwrap_or_default();
        format!("a record of {bytes} bytes to `{}`{of}", self.topic)
    }

    /// The record; the token comes back with its delivery report.
    pub(super) fn record(&self, token: usize) -> BaseRecord<'_, [u8], [u8], usize> {
        let mut record = BaseRecord::with_opaque_to(self.topic, token);
        record.partition = self.partition;
        record.key = self.key;
        record.payload = self.value;
        // To librdkafka 0 means "now": one millisecond off is nearer to the truth.
        record.timestamp = self.timestamp_ms.map(|at| if at == 0 { 1 } else { at });
        if !self.headers.is_empty() {
            let empty = OwnedHeaders::new_with_capacity(self.headers.len());
            record.headers = Some(self.headers.iter().fold(empty, |headers, (name, value)| {
                headers.insert(Header { key: name, value: value.as_deref() })
            }));
        }
        record
    }
}
