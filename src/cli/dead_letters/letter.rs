//! Letter: what a record of the dead-letter topic is: a letter of this job, a marker of a replay, or another's.
//!
//! In:        a record as it was read     Out: what it is; a letter with the rejected record in it
//! Fails:     never: what is no letter of this job is another's
//! Not here:  what the headers mean, and who writes them (operator/letter)

use crate::kafka::ReadRecord;
use crate::model::{Headers, Offset, Record};
use crate::operator::letter::{
    self, CUT, CUT_HEADERS, CUT_KEY, DETAIL, EVENT, JOB, REASON, REPLAYED, SOURCE,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::{Value, json};

/// What a record is.
#[derive(Debug)]
pub(super) enum Met {
    /// A letter.
    Letter(Box<Letter>),
    /// The letter at this place of the same topic was replayed.
    Marker { partition: i32, offset: Offset },
    /// It is not this job's.
    Other,
}

/// A dead letter of this job.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    /// Its partition in the dead-letter topic.
    pub(super) partition: i32,
    /// Its offset there.
    pub(super) offset: Offset,
    /// Where the rejected record lies: `topic/partition/offset[/index]`.
    pub(super) source: String,
    /// The stable code.
    pub(super) reason: String,
    /// The reason in words.
    pub(super) detail: String,
    /// Which event of its record it is about, from 0; none: the record has one, or the letter is about all of it.
    pub(super) event: Option<u32>,
    /// What was left out of the record to make the letter fit.
    pub(super) cut: Option<Cut>,
    /// The rejected record, without Tidegate's headers.
    pub(super) record: Record,
}

/// What a letter does not hold of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The value's length, in bytes.
    pub(super) value_bytes: usize,
    /// Headers that are missing.
    pub(super) headers: usize,
    /// The length of the key that is missing, in bytes.
    pub(super) key_bytes: Option<usize>,
}

/// What the record is to this job.
pub(super) fn read(read: ReadRecord, job: &str) -> Met {
    let Some((originals, own)) = letter::split(&read.record.headers) else {
        return marker(&read.record.headers, job).unwrap_or(Met::Other);
    };
    let (Some(reason), Some(source), Some(of)) = (text(own, REASON), text(own, SOURCE), text(own, JOB))
    else {
        return Met::Other;
    };
    if of != job {
        return Met::Other;
    }
    let number = |name| text(own, name).and_then(|number| number.parse().ok());
    let cut = number(CUT).map(|value_bytes| Cut {
        value_bytes,
        headers: number(CUT_HEADERS).unwrap_or(0),
        key_bytes: number(CUT_KEY),
    });
    let letter = Letter {
        partition: read.at.partition,
        offset: read.offset,
        source: source.to_owned(),
        reason: reason.to_owned(),
        detail: text(own, DETAIL).unwrap_or_default().to_owned(),
        event: text(own, EVENT).and_then(|index| index.parse().ok()),
        cut,
        record: Record { headers: originals.to_vec(), ..read.record.clone() },
    };
    Met::Letter(Box::new(letter))
}

/// What says that a letter was replayed: without key and value, in the partition of the letter, so that no retention
/// deletes it before the letter.
pub(super) fn marker_of(partition: i32, offset: Offset, job: &str) -> Record {
    let header = |name: &str, value: String| (name.to_owned(), Some(Bytes::from(value)));
    Record {
        timestamp_ms: None,
        key: None,
        headers: vec![header(REPLAYED, format!("{partition}/{offset}")), header(JOB, job.to_owned())],
        value: None,
    }
}

fn marker(headers: &Headers, job: &str) -> Option<Met> {
    if text(headers, JOB)? != job {
        return None;
    }
    let (partition, offset) = super::filter::letter_at(text(headers, REPLAYED)?).ok()?;
    Some(Met::Marker { partition, offset })
}

fn text<'a>(headers: &'a [(String, Option<Bytes>)], name: &str) -> Option<&'a str> {
    let (_, value) = headers.iter().rev().find(|(found, _)| found == name)?;
    std::str::from_utf8(value.as_deref()?).ok()
}

impl Letter {
    /// When the record was made, as the broker has it.
    pub(super) fn time(&self) -> String {
        let at = self.record.timestamp_ms.and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
        at.map_or_else(|| "-".to_owned(), |at| at.to_string())
    }

    /// Everything but headers and payload.
    pub(super) fn as_json(&self, replayed: bool) -> Value {
        let cut = self.cut.map(
            |cut| json!({ "value_bytes": cut.value_bytes, "headers": cut.headers, "key_bytes": cut.key_bytes }),
        );
        let mut all = json!({
            "partition": self.partition, "offset": self.offset, "source": self.source, "reason": self.reason,
            "detail": self.detail, "timestamp_ms": self.record.timestamp_ms, "replayed": replayed, "cut": cut,
        });
        put(&mut all, "key", self.record.key.as_ref());
        all
    }
}

/// Bytes into an object: as text where they are text, else in base64 as `NAME_base64`.
pub(super) fn put(into: &mut Value, name: &str, bytes: Option<&Bytes>) {
    let Some(map) = into.as_object_mut() else { return };
    match bytes.map(|bytes| std::str::from_utf8(bytes).map_err(|_| STANDARD.encode(bytes))) {
        None => map.insert(name.to_owned(), Value::Null),
        Some(Ok(text)) => map.insert(name.to_owned(), json!(text)),
        Some(Err(base64)) => map.insert(format!("{name}_base64"), json!(base64)),
    };
}

/// Bytes for a person: text in quotation marks, or hexadecimal digits.
pub(super) fn shown(bytes: Option<&Bytes>) -> String {
    let Some(bytes) = bytes else { return "none".to_owned() };
    std::str::from_utf8(bytes)
        .map_or_else(|_| format!("0x{}", hex::encode(bytes)), |text| format!("{text:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TopicPartition;

    fn read_record(headers: &[(&str, &str)]) -> ReadRecord {
        let header =
            |(name, value): &(&str, &str)| ((*name).to_owned(), Some(Bytes::from((*value).to_owned())));
        let headers = headers.iter().map(header).collect();
        let record = Record { timestamp_ms: Some(1_000), key: None, headers, value: Some("<r/>".into()) };
        ReadRecord { at: TopicPartition { topic: 1, partition: 2 }, offset: Offset(9), record }
    }

    #[test]
    fn a_letter_is_split_from_the_headers_of_its_record_which_may_have_been_a_letter_itself() {
        let headers = [
            ("tidegate-reason", "old"),
            ("tidegate-job", "other"),
            ("x", "1"),
            ("tidegate-reason", "limit"),
            ("tidegate-detail", "too long"),
            ("tidegate-source", "in/0/5"),
            ("tidegate-job", "mine"),
            ("tidegate-cut", "900"),
            ("tidegate-cut-key", "12"),
        ];
        let Met::Letter(letter) = read(read_record(&headers), "mine") else { panic!("a letter") };
        assert_eq!((letter.reason.as_str(), letter.detail.as_str()), ("limit", "too long"));
        assert_eq!((letter.source.as_str(), letter.partition, letter.offset), ("in/0/5", 2, Offset(9)));
        assert_eq!(letter.cut, Some(Cut { value_bytes: 900, headers: 0, key_bytes: Some(12) }));
        let names: Vec<&str> = letter.record.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["tidegate-reason", "tidegate-job", "x"]);
        assert_eq!(letter.time(), "1970-01-01T00:00:01Z");
        assert!(matches!(read(read_record(&headers), "other"), Met::Other));
        assert!(matches!(read(read_record(&[]), "mine"), Met::Other));
    }

    #[test]
    fn a_marker_is_read_as_it_is_written_and_by_its_own_job_alone() {
        let record = marker_of(3, Offset(44), "mine");
        let met = |job| read(ReadRecord { record: record.clone(), ..read_record(&[]) }, job);
        assert!(matches!(met("mine"), Met::Marker { partition: 3, offset: Offset(44) }));
        assert!(matches!(met("other"), Met::Other));
    }
}
