//! What goes to Kafka: an output document or a dead letter. Kept in the outbox until Kafka has confirmed it.

use super::Headers;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Which of the job's topics a record goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Destination {
    /// `output.topic`
    Output,
    /// `rejects.dead_letter_topic`
    DeadLetter,
}

/// One record to send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// Where to.
    pub to: Destination,
    /// The Kafka key.
    pub key: Option<Bytes>,
    /// The document, or the raw bytes of what could not be read.
    pub value: Option<Bytes>,
    /// The input's headers, and Tidegate's own behind them.
    pub headers: Headers,
    /// The input's timestamp, in milliseconds since 1970 UTC.
    pub timestamp_ms: Option<i64>,
}

impl Outgoing {
    /// What the record costs in memory and on the wire, in bytes, bookkeeping included.
    pub fn footprint_bytes(&self) -> usize {
        const BOOKKEEPING_BYTES: usize = 128;
        let len = |b: &Option<Bytes>| b.as_ref().map_or(0, Bytes::len);
        let headers: usize = self.headers.iter().map(|(name, value)| name.len() + len(value) + 48).sum();
        len(&self.key) + len(&self.value) + headers + BOOKKEEPING_BYTES
    }
}
