//! Outbox: how the ledger keeps what a batch sends.
//!
//! In:        a batch's outputs, the names of the job's output topics     Out: a row, and back
//! Fails:     a row that this version did not write, or that is for a topic that the job does not send to any more
//! Not here:  when rows are written (finish), read and sent (start)
//!
//! A row names the topics of its records: it may be read under another job file, in which they stand in another order, or
//! not at all. A row of an older version names none, since there was one: it is read where there is one still.

use super::outputs::Outputs;
use crate::model::{Destination, Headers, Outgoing};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// First byte of a row that names no topics, and of one of a batch of parked events that were tried again.
const NAMELESS: u8 = 1;
const NAMELESS_RETRY: u8 = 2;
/// First byte of a row that names its topics, and of one of a batch of parked events that were tried again.
const NAMED: u8 = 3;
const NAMED_RETRY: u8 = 4;

/// Whether an outbox row is of a batch of parked events that were tried again.
pub fn is_of_retry(row: &[u8]) -> bool {
    matches!(row.first(), Some(&(NAMELESS_RETRY | NAMED_RETRY)))
}

/// Why an outbox row cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum BadOutbox {
    /// The outbox holds something that this version did not write.
    #[error("outbox row has format {found:?} and this version reads {NAMELESS} to {NAMED_RETRY}: {source}")]
    Format {
        /// Its first byte.
        found: Option<u8>,
        /// What was expected.
        source: postcard::Error,
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
        postcard::to_extend(&(named, &self.records), vec![format]).map(Some)
    }

    /// Reads an outbox row for a job with these output topics.
    ///
    /// # Errors
    /// See [`BadOutbox`].
    pub fn from_outbox(row: &[u8], topics: &[String]) -> Result<Outputs, BadOutbox> {
        let bad = |source| BadOutbox::Format { found: row.first().copied(), source };
        let records = match row.split_first() {
            Some((&(NAMED | NAMED_RETRY), body)) => {
                let (named, records) = postcard::from_bytes(body).map_err(bad)?;
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

    #[test]
    fn what_this_version_did_not_write_is_not_sent() {
        for row in [&[][..], &[9, 0], &[NAMED, 1]] {
            assert!(matches!(Outputs::from_outbox(row, &[]), Err(BadOutbox::Format { .. })), "{row:?}");
        }
    }
}
