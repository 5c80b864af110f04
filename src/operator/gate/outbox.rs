//! Outbox: how the ledger keeps what a batch sends.
//!
//! In:        a batch's outputs, the names of the job's output topics     Out: a row, and back
//! Fails:     a row that this version did not write, that is damaged, or that is for a topic that the job does not send to any
//!            more
//! Not here:  when rows are written (finish), read and sent (start); how bytes are packed (outbox/packing)
//!
//! A row names the topics of its records: it may be read under another job file, in which they stand in another order, or
//! not at all. A row of an older version names none, since there was one: it is read where there is one still.

mod packing;
pub use packing::Damaged;

use super::outputs::Outputs;
use crate::model::{Destination, Headers, Outgoing};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// First byte of a row that names no topics, and of one of a batch of parked events that were tried again.
const NAMELESS: u8 = 1;
const NAMELESS_RETRY: u8 = 2;
/// First byte of a row that names its topics, and of one of a batch of parked events that were tried again.
const NAMED: u8 = 3;
const NAMED_RETRY: u8 = 4;
/// First byte of a row whose rest, as those have it, is packed; the second one again of parked events.
const PACKED: u8 = 5;
const PACKED_RETRY: u8 = 6;

/// Whether an outbox row is of a batch of parked events that were tried again.
pub fn is_of_retry(row: &[u8]) -> bool {
    matches!(row.first(), Some(&(NAMELESS_RETRY | NAMED_RETRY | PACKED_RETRY)))
}

fn is_packed(row: &[u8]) -> bool {
    matches!(row.first(), Some(&(PACKED | PACKED_RETRY)))
}

/// Why an outbox row cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum BadOutbox {
    /// The outbox holds something that this version did not write.
    #[error("outbox row has format {found:?} and this version reads {NAMELESS} to {PACKED_RETRY}: {source}")]
    Format {
        /// Its first byte.
        found: Option<u8>,
        /// What was expected.
        source: postcard::Error,
    },
    /// Its bytes are not those that were written.
    #[error(
        "outbox row of {bytes} bytes is damaged: {why}. Bring the ledger's tables back as they were written"
    )]
    Damaged {
        /// All of its bytes.
        bytes: usize,
        /// What is wrong with them.
        why: Damaged,
    },
    /// The job file has changed.
    #[error(
        "outbox row has records for topic \"{topic}\", which is no output topic of this job file: start once with the file \
         from before, which sends them (`tidegate run JOB --until-end`), or let an output go to that topic, too"
    )]
    Topic {
        /// Where the records were to go.
        topic: String,
    },
    /// It was written when a job had one output topic.
    #[error(
        "outbox row was written by an older version, for the one output topic that the job had, and this job file has {topics}: \
         start once with the file from before, which sends it (`tidegate run JOB --until-end`)"
    )]
    Nameless {
        /// Output topics of the job file.
        topics: usize,
    },
}

/// The topics that a row's records go to, by the numbers that they have in the row.
type Topics = BTreeMap<u16, String>;

impl Outputs {
    /// The outbox row; none where nothing is sent. `topics`: of the job's outputs, as destinations count them.
    ///
    /// # Errors
    /// Never for records that fit in memory.
    pub fn to_outbox(&self, topics: &[String]) -> Result<Option<Vec<u8>>, postcard::Error> {
        if self.records.is_empty() {
            return Ok(None);
        }
        let mut named = Topics::new();
        for record in &self.records {
            if let Destination::Output(topic) = record.to
                && let Some(name) = topics.get(usize::from(topic))
                && !named.contains_key(&topic)
            {
                named.insert(topic, name.clone());
            }
        }
        let format = if self.is_retry { NAMED_RETRY } else { NAMED };
        // What the records take in memory is more than they take here: nothing grows, and so nothing is copied.
        let mut row = Vec::with_capacity(self.bytes);
        row.push(format);
        let row = postcard::to_extend(&(named, &self.records), row)?;
        Ok(Some(packed(row)))
    }

    /// Reads an outbox row for a job with these output topics.
    ///
    /// # Errors
    /// See [`BadOutbox`].
    pub fn from_outbox(row: &[u8], topics: &[String]) -> Result<Outputs, BadOutbox> {
        let bad = |source| BadOutbox::Format { found: row.first().copied(), source };
        let records = match row.split_first() {
            Some((&(NAMED | NAMED_RETRY | PACKED | PACKED_RETRY), body)) => {
                let body = if is_packed(row) {
                    let unpacked = packing::unpacked(body);
                    Cow::Owned(unpacked.map_err(|why| BadOutbox::Damaged { bytes: row.len(), why })?)
                } else {
                    Cow::Borrowed(body)
                };
                let (named, records) = postcard::from_bytes(&body).map_err(bad)?;
                renumbered(records, &named, topics)?
            }
            Some((&(NAMELESS | NAMELESS_RETRY), body)) => {
                let records: Vec<Nameless> = postcard::from_bytes(body).map_err(bad)?;
                let sends_outputs = records.iter().any(|record| record.to == NamelessTo::Output);
                if sends_outputs && topics.len() != 1 {
                    return Err(BadOutbox::Nameless { topics: topics.len() });
                }
                records.into_iter().map(Nameless::named).collect()
            }
            _ => return Err(bad(postcard::Error::DeserializeBadEncoding)),
        };
        Ok(Outputs { is_retry: is_of_retry(row), ..Outputs::of(records) })
    }
}

/// A row that names its topics, in less room where it can be had.
fn packed(row: Vec<u8>) -> Vec<u8> {
    let Some((format, body)) = row.split_first() else { return row };
    let mut packed = vec![if *format == NAMED_RETRY { PACKED_RETRY } else { PACKED }];
    if packing::pack_into(&mut packed, body) { packed } else { row }
}

/// The records with the numbers that their topics have now.
fn renumbered(
    mut records: Vec<Outgoing>,
    named: &Topics,
    topics: &[String],
) -> Result<Vec<Outgoing>, BadOutbox> {
    let now = |was: u16| {
        let name = named.get(&was).ok_or_else(|| BadOutbox::Topic { topic: format!("number {was}") })?;
        let place = topics.iter().position(|topic| topic == name);
        let place = place.and_then(|place| u16::try_from(place).ok());
        place.ok_or_else(|| BadOutbox::Topic { topic: name.clone() })
    };
    for record in &mut records {
        if let Destination::Output(was) = record.to {
            record.to = Destination::Output(now(was)?);
        }
    }
    Ok(records)
}

/// A record of a row that names no topics.
#[derive(Serialize, Deserialize)]
struct Nameless {
    to: NamelessTo,
    key: Option<Bytes>,
    value: Option<Bytes>,
    headers: Headers,
    timestamp_ms: Option<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum NamelessTo {
    Output,
    DeadLetter,
}

impl Nameless {
    fn named(self) -> Outgoing {
        let Nameless { to, key, value, headers, timestamp_ms } = self;
        let to = match to {
            NamelessTo::Output => Destination::Output(0),
            NamelessTo::DeadLetter => Destination::DeadLetter,
        };
        Outgoing { to, key, value, headers, timestamp_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::{Just, any, prop_assert_eq, prop_oneof, proptest};
    use proptest::strategy::Strategy;

    fn topics(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn record(to: Destination) -> Outgoing {
        Outgoing {
            to,
            key: Some("k".into()),
            value: Some("<r/>".into()),
            headers: vec![("tidegate-source".to_owned(), Some("in/0/1".into()))],
            timestamp_ms: Some(5),
        }
    }

    /// An output that is its value and nothing else.
    fn bare(value: &[u8]) -> Outgoing {
        let value = Some(Bytes::copy_from_slice(value));
        let to = Destination::Output(0);
        Outgoing { to, key: None, value, headers: Headers::new(), timestamp_ms: None }
    }

    #[test]
    fn a_row_finds_its_topics_by_name_whatever_their_order_is_now() {
        let records = vec![record(Destination::Output(1)), record(Destination::DeadLetter)];
        let row = Outputs::of(records).to_outbox(&topics(&["a", "b"])).unwrap().unwrap();
        let read = |names: &[&str]| Outputs::from_outbox(&row, &topics(names)).map(|outputs| outputs.records);
        assert_eq!(
            read(&["b", "c", "a"]).unwrap(),
            [record(Destination::Output(0)), record(Destination::DeadLetter)]
        );
        assert_eq!(read(&["a", "b"]).unwrap()[0].to, Destination::Output(1));
        let gone = read(&["a", "c"]).unwrap_err().to_string();
        assert!(gone.contains("topic \"b\""), "{gone}");
        assert!(!is_of_retry(&row));
    }

    #[test]
    fn a_row_of_an_older_version_is_read_where_there_is_one_output_topic_still() {
        let nameless = |to| {
            let Outgoing { key, value, headers, timestamp_ms, .. } = record(Destination::DeadLetter);
            Nameless { to, key, value, headers, timestamp_ms }
        };
        let row = |records: &[Nameless], format| postcard::to_extend(records, vec![format]).unwrap();
        let both = row(&[nameless(NamelessTo::Output), nameless(NamelessTo::DeadLetter)], NAMELESS_RETRY);
        let read = Outputs::from_outbox(&both, &topics(&["a"])).unwrap();
        assert_eq!(read.records, [record(Destination::Output(0)), record(Destination::DeadLetter)]);
        assert!(read.is_retry && is_of_retry(&both));
        let wrong = Outputs::from_outbox(&both, &topics(&["a", "b"])).unwrap_err().to_string();
        assert!(wrong.contains("has 2"), "{wrong}");
        let letters = row(&[nameless(NamelessTo::DeadLetter)], NAMELESS);
        assert_eq!(Outputs::from_outbox(&letters, &[]).unwrap().records, [record(Destination::DeadLetter)]);
    }

    /// Written by version 0.1 for one output without key, headers and timestamp, with the value `<r/>`.
    #[test]
    fn the_bytes_of_an_older_version_are_still_read() {
        let row = [1, 1, 0, 0, 1, 4, b'<', b'r', b'/', b'>', 0, 0];
        let read = Outputs::from_outbox(&row, &topics(&["a"])).unwrap();
        let bare =
            Outgoing { key: None, headers: Vec::new(), timestamp_ms: None, ..record(Destination::Output(0)) };
        assert_eq!(read.records, [bare]);
    }

    /// Written by version 0.1 before rows were packed: two topics, a record for the second.
    #[test]
    fn the_bytes_of_a_row_that_is_not_packed_are_still_read() {
        let bare =
            Outgoing { key: None, headers: Vec::new(), timestamp_ms: None, ..record(Destination::Output(1)) };
        for (format, is_retry) in [(3, false), (4, true)] {
            let row = [format, 1, 1, 1, b'b', 1, 0, 1, 0, 1, 4, b'<', b'r', b'/', b'>', 0, 0];
            let read = Outputs::from_outbox(&row, &topics(&["a", "b"])).unwrap();
            assert_eq!(read.records.as_slice(), std::slice::from_ref(&bare));
            assert_eq!((read.is_retry, is_of_retry(&row)), (is_retry, is_retry));
        }
    }

    /// A length of 92, and a block: eleven bytes, the last of them 74 times more, and seven bytes.
    #[test]
    fn the_bytes_of_a_packed_row_are_read() {
        let begins = [92, 0, 0, 0, 0xbf, 1, 0, 1, b'a', 1, 0, 0, 0, 1, 80, b'x', 1, 0, 55];
        let ends = [0x70, b'x', b'x', b'x', b'x', b'x', 0, 0];
        for (format, is_retry) in [(5, false), (6, true)] {
            let row = [&[format], &begins[..], &ends].concat();
            let read = Outputs::from_outbox(&row, &topics(&["b", "a"])).unwrap();
            assert_eq!(read.records, [Outgoing { to: Destination::Output(1), ..bare(&[b'x'; 80]) }]);
            assert_eq!((read.is_retry, is_of_retry(&row)), (is_retry, is_retry));
        }
    }

    #[test]
    fn a_row_is_packed_where_that_makes_it_smaller() {
        let repeated: Vec<Outgoing> = (0..8).map(|_| record(Destination::Output(0))).collect();
        for (is_retry, format) in [(false, PACKED), (true, PACKED_RETRY)] {
            let outputs = Outputs { is_retry, ..Outputs::of(repeated.clone()) };
            let row = outputs.to_outbox(&topics(&["a"])).unwrap().unwrap();
            assert_eq!((row[0], is_of_retry(&row)), (format, is_retry));
            assert!(row.len() * 3 < postcard::to_allocvec(&repeated).unwrap().len(), "{}", row.len());
            assert_eq!(Outputs::from_outbox(&row, &topics(&["a"])).unwrap(), outputs);
        }
        let alone = Outputs::of(vec![bare(b"<r/>")]).to_outbox(&topics(&["a"])).unwrap().unwrap();
        assert_eq!(alone[0], NAMED);
    }

    #[test]
    fn a_damaged_row_is_not_sent() {
        let repeated: Vec<Outgoing> = (0..8).map(|_| record(Destination::Output(0))).collect();
        let row = Outputs::of(repeated).to_outbox(&topics(&["a"])).unwrap().unwrap();
        let read = |row: &[u8]| Outputs::from_outbox(row, &topics(&["a"]));
        for length in 1..row.len() {
            assert!(matches!(read(&row[..length]), Err(BadOutbox::Damaged { .. })), "cut to {length}");
        }
        let mut longer = row.clone();
        longer[4] = 0x7f;
        let error = read(&longer).unwrap_err().to_string();
        assert!(error.contains("is damaged") && error.contains("no more than"), "{error}");
        for at in 1..row.len() {
            for flipped in 0..8 {
                let mut row = row.clone();
                row[at] ^= 1 << flipped;
                // What it is then is for the database's checksums to see; it must only come to an end.
                _ = read(&row);
            }
        }
    }

    fn outgoing() -> impl Strategy<Value = Outgoing> {
        let bytes = || option::of(vec(any::<u8>(), 0..200).prop_map(Bytes::from));
        let to = prop_oneof![(0_u16..3).prop_map(Destination::Output), Just(Destination::DeadLetter)];
        let headers = vec(("[a-z]{0,20}", bytes()), 0..3);
        (to, bytes(), bytes(), headers, any::<Option<i64>>()).prop_map(
            |(to, key, value, headers, timestamp_ms)| Outgoing { to, key, value, headers, timestamp_ms },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(records in vec(outgoing(), 1..8), times in 1_usize..5, is_retry: bool) {
            let records = vec![records; times].concat();
            let outputs = Outputs { is_retry, ..Outputs::of(records) };
            let topics = topics(&["a", "b", "c"]);
            let row = outputs.to_outbox(&topics).unwrap().unwrap();
            prop_assert_eq!(is_of_retry(&row), is_retry);
            prop_assert_eq!(Outputs::from_outbox(&row, &topics).unwrap(), outputs);
        }
    }

    #[test]
    fn what_this_version_did_not_write_is_not_sent() {
        for row in [&[][..], &[9, 0], &[7, 0], &[NAMED, 1]] {
            assert!(matches!(Outputs::from_outbox(row, &[]), Err(BadOutbox::Format { .. })), "{row:?}");
        }
    }
}
