//! What goes to Kafka: an output document or a dead letter. Kept in the outbox until Kafka has confirmed it.

use super::Headers;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// Which of the job's topics a record goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Destination {
    /// A topic of an output: its place in the job's list of them. Whatever outlives the process names the topic instead.
    Output(u16),
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

    /// The size that a broker holds against `max.message.bytes`: of a record batch (version 2) with this record alone, not
    /// compressed. librdkafka counts some bytes less against its `message.max.bytes`.
    pub fn batch_bytes(&self) -> usize {
        const BATCH_HEADER_BYTES: usize = 61;
        // Attributes, and the differences of timestamp and offset to the batch's, which are 0.
        const FIXED_BYTES: usize = 3;
        let headers: usize =
            self.headers.iter().map(|(name, value)| bytes_of(Some(name.len())) + field_bytes(value)).sum();
        let record = FIXED_BYTES
            + field_bytes(&self.key)
            + field_bytes(&self.value)
            + varint_bytes(self.headers.len())
            + headers;
        BATCH_HEADER_BYTES + varint_bytes(record) + record
    }
}

fn field_bytes(value: &Option<Bytes>) -> usize {
    bytes_of(value.as_ref().map(Bytes::len))
}

/// A length and so many bytes; nothing has the length -1, which takes a byte.
fn bytes_of(len: Option<usize>) -> usize {
    len.map_or(1, |len| varint_bytes(len) + len)
}

/// What a length takes: seven bits a byte, and one bit for the sign.
fn varint_bytes(len: usize) -> usize {
    let bits = usize::BITS - len.leading_zeros() + 1;
    usize::try_from(bits.div_ceil(7)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_take_as_many_bytes_as_zigzag_varints() {
        for (len, bytes) in [(0, 1), (63, 1), (64, 2), (8_191, 2), (8_192, 3), (1_048_575, 3), (1_048_576, 4)]
        {
            assert_eq!(varint_bytes(len), bytes, "{len}");
        }
    }

    /// As a broker has counted them: `tests/batch_bytes` of the log.
    #[test]
    fn a_bare_record_is_68_bytes() {
        let mut bare = Outgoing {
            to: Destination::Output(0),
            key: None,
            value: None,
            headers: Headers::new(),
            timestamp_ms: None,
        };
        assert_eq!(bare.batch_bytes(), 61 + 1 + 3 + 1 + 1 + 1);
        bare.headers.push(("name".to_owned(), None));
        assert_eq!(bare.batch_bytes(), 68 + 1 + 4 + 1);
        bare.value = Some(Bytes::from(vec![0; 100]));
        assert_eq!(
            bare.batch_bytes(),
            68 + 6 + 1 + 101,
            "the value's length and the record's take two bytes"
        );
    }
}
