//! Parked events in words and in JSON.
//!
//! In:        rows     Out: a line of text, or a JSON object with the same names for ever
//! Order:     text is for a terminal: what would move its cursor is escaped
//! Not here:  which rows

use crate::database::{ParkedKey, ParkedMark, ParkedRow, ParkedState};
use crate::model::{Headers, Record};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// A key for a person: quoted text, or hexadecimal digits where it is not UTF-8.
pub(in crate::cli) fn key(key: &[u8]) -> String {
    std::str::from_utf8(key).map_or_else(|_| format!("hex {}", hex::encode(key)), |text| format!("{text:?}"))
}

/// Where an event came from: as the header `tidegate-source` has it.
pub(super) fn source(row: &ParkedRow) -> String {
    let index = if row.index > 0 { format!("/{}", row.index) } else { String::new() };
    format!("{}/{}/{}{index}", row.topic, row.partition, row.offset)
}

fn mark(mark: Option<ParkedMark>) -> Option<&'static str> {
    mark.map(|mark| match mark {
        ParkedMark::Retry => "retry",
        ParkedMark::Sweep => "drop",
    })
}

fn state(state: ParkedState) -> &'static str {
    match state {
        ParkedState::Waiting => "waiting",
        ParkedState::ToDrop => "to_drop",
        ParkedState::Dropped => "dropped",
    }
}

/// `1 key`, `2 keys`.
pub(super) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What is escaped: everything that a terminal does not show as it is. `lines`: line ends and tabs stay.
fn shown(text: &str, lines: bool) -> String {
    let stays = |c: char| !c.is_control() || (lines && matches!(c, '\n' | '\t'));
    text.chars().map(|c| if stays(c) { c.to_string() } else { c.escape_default().to_string() }).collect()
}

pub(super) fn key_line(found: &ParkedKey) -> String {
    let first = &found.first;
    let marked = match found.mark {
        None => "",
        Some(ParkedMark::Retry) => ", to be tried again",
        Some(ParkedMark::Sweep) => ", some to be dropped",
    };
    format!(
        "{}: {}, first {} since {}, tried {}{marked}: {}: {}",
        key(&first.key),
        counted(found.events, "event"),
        source(first),
        first.parked_at,
        counted(u64::from(first.tries), "time"),
        first.reason,
        shown(&first.detail, false),
    )
}

pub(super) fn event_line(row: &ParkedRow) -> String {
    let state = match row.state {
        ParkedState::Waiting => String::new(),
        ParkedState::ToDrop => ", to be dropped".to_owned(),
        ParkedState::Dropped => format!(", dropped {}", row.tried_at),
    };
    format!(
        "{}: key {}, since {}, tried {}{state}: {}: {}",
        source(row),
        key(&row.key),
        row.parked_at,
        counted(u64::from(row.tries), "time"),
        row.reason,
        shown(&row.detail, false),
    )
}

pub(super) fn key_json(found: &ParkedKey) -> Value {
    let first = &found.first;
    json!({
        "kind": "key", "key": text(&first.key), "key_hex": hex::encode(&first.key), "key_group": first.at.group,
        "events": found.events, "mark": mark(found.mark), "source": source(first), "reason": first.reason,
        "detail": first.detail, "parked_at": first.parked_at, "tried_at": first.tried_at, "tries": first.tries,
    })
}

pub(super) fn event_json(row: &ParkedRow) -> Value {
    json!({
        "kind": "event", "key": text(&row.key), "key_hex": hex::encode(&row.key), "key_group": row.at.group,
        "batch": row.at.batch, "place": row.at.place, "source": source(row), "topic": row.topic,
        "partition": row.partition, "offset": row.offset, "event": row.index, "reason": row.reason,
        "detail": row.detail, "parked_at": row.parked_at, "tried_at": row.tried_at, "tries": row.tries,
        "state": state(row.state),
    })
}

/// An event with its record. Bytes are text where they are UTF-8, else base64; null: there is none.
pub(super) fn whole_json(row: &ParkedRow) -> Value {
    let mut event = event_json(row);
    let record = &row.record;
    let header = |(name, value): &(String, Option<bytes::Bytes>)| json!({ "name": name, "value": value.as_deref().and_then(text), "value_base64": base64_of(value.as_deref()) });
    let headers: Vec<Value> = record.headers.iter().map(header).collect();
    let whole = json!({
        "timestamp_ms": record.timestamp_ms, "headers": headers,
        "key": record.key.as_deref().and_then(text), "key_base64": base64_of(record.key.as_deref()),
        "value": record.value.as_deref().and_then(text), "value_base64": base64_of(record.value.as_deref()),
    });
    if let Value::Object(fields) = &mut event {
        fields.insert("record".to_owned(), whole);
    }
    event
}

fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// Only of what is no text.
fn base64_of(bytes: Option<&[u8]>) -> Option<String> {
    bytes.filter(|bytes| text(bytes).is_none()).map(|bytes| STANDARD.encode(bytes))
}

/// An event with its record, over several lines.
pub(super) fn whole_text(row: &ParkedRow) -> String {
    let mut lines = vec![
        source(row),
        format!(
            "  key       {} (key group {}, batch {}, place {})",
            key(&row.key),
            row.at.group,
            row.at.batch,
            row.at.place
        ),
        format!("  state     {}", state(row.state).replace('_', " ")),
        format!("  reason    {}: {}", row.reason, shown(&row.detail, false)),
        format!("  parked    {}", row.parked_at),
        format!("  tried     {}, last {}", counted(u64::from(row.tries), "time"), row.tried_at),
    ];
    if row.state == ParkedState::Dropped {
        lines.push("  record    is not kept".to_owned());
    } else {
        lines.extend(record_lines(&row.record));
    }
    lines.join("\n")
}

fn record_lines(record: &Record) -> Vec<String> {
    let timestamp =
        record.timestamp_ms.map_or_else(|| "none".to_owned(), |ms| format!("{ms} ms since 1970 UTC"));
    let record_key = record.key.as_deref().map_or_else(|| "none".to_owned(), key);
    let mut lines = vec![format!("  timestamp {timestamp}"), format!("  record key {record_key}")];
    lines.extend(header_lines(&record.headers));
    match record.value.as_deref().map(|value| (value.len(), text(value))) {
        None => lines.push("  payload   none".to_owned()),
        Some((bytes, Some(text))) => {
            lines.push(format!("  payload   {}", counted(u64::try_from(bytes).unwrap_or(u64::MAX), "byte")));
            lines.push(shown(text, true));
        }
        Some((bytes, None)) => lines.push(format!(
            "  payload   {bytes} bytes that are not UTF-8: --json gives them in base64, --payload-to writes them to a file"
        )),
    }
    lines
}

fn header_lines(headers: &Headers) -> Vec<String> {
    let value = |value: &Option<bytes::Bytes>| value.as_deref().map_or_else(|| "null".to_owned(), key);
    headers.iter().map(|(name, of)| format!("  header    {name:?}: {}", value(of))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::ParkedAt;
    use crate::model::{BatchNumber, KeyGroup, KeyId, Offset};
    use bytes::Bytes;

    fn row() -> ParkedRow {
        ParkedRow {
            at: ParkedAt { group: KeyGroup(3), batch: BatchNumber(17), place: 2 },
            key_id: KeyId(1),
            key: Bytes::from_static(b"K-1"),
            topic: "orders".to_owned(),
            partition: 3,
            offset: Offset(44),
            index: 1,
            record: Record {
                timestamp_ms: Some(5),
                key: Some(Bytes::from_static(&[0, 255])),
                headers: vec![("a".to_owned(), None), ("b".to_owned(), Some(Bytes::from_static(b"x\x1b")))],
                value: Some(Bytes::from_static(b"<e>\n\x1b[2J</e>")),
            },
            reason: "server_1406".to_owned(),
            detail: "too long: column 'note'".to_owned(),
            parked_at: "2026-01-31T12:00:00Z".to_owned(),
            tried_at: "2026-01-31T12:00:05Z".to_owned(),
            tries: 2,
            state: ParkedState::ToDrop,
        }
    }

    #[test]
    fn lines_say_what_and_why() {
        let key = ParkedKey { mark: Some(ParkedMark::Retry), events: 3, first: row() };
        insta::assert_snapshot!(key_line(&key), @r#""K-1": 3 events, first orders/3/44/1 since 2026-01-31T12:00:00Z, tried 2 times, to be tried again: server_1406: too long: column 'note'"#);
        insta::assert_snapshot!(event_line(&row()), @r#"orders/3/44/1: key "K-1", since 2026-01-31T12:00:00Z, tried 2 times, to be dropped: server_1406: too long: column 'note'"#);
        let strange = ParkedRow { key: Bytes::from_static(&[0, 255]), ..row() };
        assert!(event_line(&strange).contains("key hex 00ff,"));
    }

    #[test]
    fn a_whole_event_cannot_move_the_terminals_cursor() {
        let text = whole_text(&row());
        assert!(text.contains("<e>\n\\u{1b}[2J</e>"), "{text}");
        assert!(text.contains(r#"header    "b": "x\u{1b}""#), "{text}");
        assert!(!text.contains('\x1b'));
        let raw = Record { value: Some(Bytes::from_static(&[255])), ..row().record };
        assert!(whole_text(&ParkedRow { record: raw, ..row() }).contains("1 bytes that are not UTF-8"));
    }

    #[test]
    fn json_has_its_names() {
        let mut event = json!({
            "kind": "event", "key": "K-1", "key_hex": "4b2d31", "key_group": 3, "batch": 17, "place": 2,
            "source": "orders/3/44/1", "topic": "orders", "partition": 3, "offset": 44, "event": 1,
            "reason": "server_1406", "detail": "too long: column 'note'", "parked_at": "2026-01-31T12:00:00Z",
            "tried_at": "2026-01-31T12:00:05Z", "tries": 2, "state": "to_drop",
        });
        assert_eq!(event_json(&row()), event);
        event["record"] = json!({
            "timestamp_ms": 5, "key": null, "key_base64": "AP8=", "value": "<e>\n\u{1b}[2J</e>", "value_base64": null,
            "headers": [
                { "name": "a", "value": null, "value_base64": null },
                { "name": "b", "value": "x\u{1b}", "value_base64": null },
            ],
        });
        assert_eq!(whole_json(&row()), event);
        let key = ParkedKey { mark: Some(ParkedMark::Sweep), events: 1, first: row() };
        let expected = json!({
            "kind": "key", "key": "K-1", "key_hex": "4b2d31", "key_group": 3, "events": 1, "mark": "drop",
            "source": "orders/3/44/1", "reason": "server_1406", "detail": "too long: column 'note'",
            "parked_at": "2026-01-31T12:00:00Z", "tried_at": "2026-01-31T12:00:05Z", "tries": 2,
        });
        assert_eq!(key_json(&key), expected);
    }
}
