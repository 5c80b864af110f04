//! Rows about parked events, to and from the values that an engine binds and reads.
//!
//! In:        [`ParkedRow`]s; [`Row`]s of the statements of `parked_statements.rs`, columns in their order
//! Out:       parameters; the words of [`crate::database`]
//! Fails:     misconfigured: a value that the ledger cannot have written, headers of a format that this version does not know

use super::rows::Columns;
use super::run::{batch, group, text};
use crate::database::{DatabaseError, ErrorClass, ParkedAt, ParkedMark, ParkedRow, ParkedState, Row};
use crate::model::{BatchNumber, Headers, KeyGroup, KeyId, Offset, Record, Value};
use bytes::Bytes;

type Result<T> = std::result::Result<T, DatabaseError>;

/// First byte of the column `headers`; the rest is postcard's.
const HEADERS_FORMAT: u8 = 1;

/// Most bytes of a detail that are kept: within what a TEXT column takes.
const DETAIL_BYTES_MAX: usize = 60_000;

/// What is known of a parked key.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeyState {
    pub(super) id: KeyId,
    pub(super) mark: Option<ParkedMark>,
    /// Events of it wait that nobody wants dropped.
    pub(super) waits: bool,
    /// Events of it are to be dropped.
    pub(super) drops: bool,
}

/// The parameters of a new row.
pub(super) fn event(job: &Value, row: &ParkedRow) -> Result<Row> {
    let optional = |bytes: &Option<Bytes>| bytes.clone().map_or(Value::Null, Value::Bytes);
    let record = &row.record;
    let mut values = whole_key(job, row.at);
    values.extend([
        key(row.key_id),
        Value::Bytes(row.key.clone()),
        text(&row.topic),
        Value::Int(i64::from(row.partition)),
        Value::Int(row.offset.0),
        Value::UInt(u64::from(row.index)),
        optional(&record.key),
        optional(&record.value),
        headers(&record.headers)?,
        record.timestamp_ms.map_or(Value::Null, Value::Int),
        Value::UInt(u64::try_from(record.footprint_bytes()).unwrap_or(u64::MAX)),
        text(&row.reason),
        detail(&row.detail),
        text(&row.parked_at),
        text(&row.tried_at),
        Value::UInt(u64::from(row.tries)),
    ]);
    Ok(values)
}

/// An event's primary key.
pub(super) fn whole_key(job: &Value, at: ParkedAt) -> Row {
    vec![job.clone(), group(at.group), batch(at.batch), Value::UInt(u64::from(at.place))]
}

pub(super) fn key(id: KeyId) -> Value {
    Value::Bytes(Bytes::copy_from_slice(&id.0.to_be_bytes()))
}

/// Cut where it would not fit: an event must not stay where it is because its reason is long.
pub(super) fn detail(detail: &str) -> Value {
    if detail.len() <= DETAIL_BYTES_MAX {
        return text(detail);
    }
    let end = (0..=DETAIL_BYTES_MAX).rev().find(|end| detail.is_char_boundary(*end)).unwrap_or(0);
    Value::Text(format!("{}...", detail.get(..end).unwrap_or_default()))
}

pub(super) fn headers(headers: &Headers) -> Result<Value> {
    let encoded = postcard::to_extend(headers, vec![HEADERS_FORMAT]);
    let fail = |error| {
        DatabaseError::new(ErrorClass::Reject, format!("the record's headers cannot be kept: {error}"))
    };
    encoded.map(|bytes| Value::Bytes(Bytes::from(bytes))).map_err(fail)
}

fn read_headers(bytes: &[u8]) -> Option<Headers> {
    postcard::from_bytes(bytes.strip_prefix(&[HEADERS_FORMAT])?).ok()
}

/// The number of a mark in its column; 0: none.
pub(super) fn mark(mark: Option<ParkedMark>) -> Value {
    Value::UInt(match mark {
        None => 0,
        Some(ParkedMark::Sweep) => 1,
        Some(ParkedMark::Retry) => 2,
    })
}

fn read_mark(columns: &mut Columns) -> Result<Option<ParkedMark>> {
    match columns.unsigned()? {
        0 => Ok(None),
        1 => Ok(Some(ParkedMark::Sweep)),
        2 => Ok(Some(ParkedMark::Retry)),
        _ => Err(columns.strange()),
    }
}

fn read_state(columns: &mut Columns) -> Result<ParkedState> {
    match columns.unsigned()? {
        0 => Ok(ParkedState::Waiting),
        1 => Ok(ParkedState::ToDrop),
        2 => Ok(ParkedState::Dropped),
        _ => Err(columns.strange()),
    }
}

fn keys(row: Row) -> Columns {
    Columns::of("tidegate_parked_key", row)
}

fn events(row: Row) -> Columns {
    Columns::of("tidegate_parked", row)
}

/// Of [`super::parked_statements::MARKED_KEYS`].
pub(super) fn marked_key(row: Row) -> Result<KeyId> {
    keys(row).key_id()
}

/// Of [`super::parked_statements::key_page`].
pub(super) fn key_and_mark(row: Row) -> Result<(KeyId, Option<ParkedMark>)> {
    let mut columns = keys(row);
    Ok((columns.key_id()?, read_mark(&mut columns)?))
}

/// Of [`super::parked_statements::parked_keys`].
pub(super) fn group_and_key(row: Row) -> Result<(KeyGroup, KeyId)> {
    let mut columns = keys(row);
    Ok((columns.group()?, columns.key_id()?))
}

/// Of [`super::parked_statements::marked_groups`].
pub(super) fn marked_group(row: Row) -> Result<KeyGroup> {
    keys(row).group()
}

/// Of [`super::parked_statements::key_states`].
pub(super) fn key_state(row: Row) -> Result<KeyState> {
    let mut columns = keys(row);
    Ok(KeyState {
        id: columns.key_id()?,
        mark: read_mark(&mut columns)?,
        waits: columns.unsigned()? > 0,
        drops: columns.unsigned()? > 0,
    })
}

/// Of [`super::parked_statements::first_events`]: batch, place and bytes.
pub(super) fn size(row: Row) -> Result<((BatchNumber, u32), u64)> {
    let mut columns = events(row);
    Ok(((BatchNumber(columns.unsigned()?), columns.number()?), columns.unsigned()?))
}

/// Of [`super::parked_statements::keys_of_events`], `heads` and `FROM_OFFSET`.
pub(super) fn key_of_event(row: Row) -> Result<(ParkedAt, KeyId, ParkedState)> {
    let mut columns = events(row);
    let at = at(&mut columns)?;
    Ok((at, columns.key_id()?, read_state(&mut columns)?))
}

fn at(columns: &mut Columns) -> Result<ParkedAt> {
    let (group, batch) = (columns.group()?, BatchNumber(columns.unsigned()?));
    Ok(ParkedAt { group, batch, place: columns.number()? })
}

/// Of [`super::parked_statements::counts`].
pub(super) fn key_and_count(row: Row) -> Result<(KeyId, u64)> {
    let mut columns = events(row);
    Ok((columns.key_id()?, columns.unsigned()?))
}

/// Of [`super::parked_statements::overviews`]: an event without its record.
pub(super) fn overview(row: Row) -> Result<ParkedRow> {
    let columns = &mut events(row);
    Ok(ParkedRow {
        at: at(columns)?,
        key_id: columns.key_id()?,
        key: columns.blob()?.unwrap_or_default(),
        topic: columns.text()?,
        partition: i32::try_from(columns.signed()?).map_err(|_| columns.strange())?,
        offset: Offset(columns.signed()?),
        index: columns.number()?,
        record: Record { timestamp_ms: None, key: None, headers: Vec::new(), value: None },
        reason: columns.text()?,
        detail: columns.text()?,
        parked_at: columns.text()?,
        tried_at: columns.text()?,
        tries: columns.number()?,
        state: read_state(columns)?,
    })
}

/// Of [`super::parked_statements::records`].
pub(super) fn record(row: Row) -> Result<(ParkedAt, Record)> {
    let mut columns = events(row);
    let at = at(&mut columns)?;
    let (key, value) = (columns.blob()?, columns.blob()?);
    let headers = columns.blob()?.as_deref().and_then(read_headers).ok_or_else(|| columns.strange())?;
    Ok((at, Record { timestamp_ms: columns.optional_signed()?, key, headers, value }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detail_is_cut_between_characters() {
        let long = "é".repeat(DETAIL_BYTES_MAX);
        let Value::Text(cut) = detail(&long) else { panic!("a detail is text") };
        assert_eq!(cut, format!("{}...", "é".repeat(DETAIL_BYTES_MAX / 2)));
        assert_eq!(detail("short"), text("short"));
    }

    #[test]
    fn headers_of_another_format_are_refused() {
        let Value::Bytes(bytes) = headers(&vec![("a".to_owned(), None)]).unwrap() else { panic!("bytes") };
        assert_eq!(read_headers(&bytes), Some(vec![("a".to_owned(), None)]));
        let mut other = bytes.to_vec();
        other[0] = 2;
        assert_eq!(read_headers(&other), None);
        assert_eq!(read_headers(b""), None);
    }
}
