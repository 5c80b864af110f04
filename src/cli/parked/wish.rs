//! Filters, as they are typed, and what they mean.
//!
//! In:        texts of arguments     Out: a [`ParkedWish`]; the same filters as they can be typed again
//! Fails:     with what is allowed instead
//! Not here:  whether anything is parked that they fit

use super::Failure;
use crate::cli::args::{HexBytes, ParkedFilter};
use crate::cli::exit;
use crate::database::ParkedWish;
use crate::job::JobSpec;
use crate::model::Offset;
use crate::operator::exchange::key_id_of;
use crate::xml::join_key;

/// Behind `--key-hex`.
pub(in crate::cli) fn hex_bytes(text: &str) -> Result<HexBytes, String> {
    hex::decode(text).map(HexBytes).map_err(|error| format!("`{text}` is no hexadecimal text: {error}"))
}

/// Behind `--since` and `--until`: the moment as the ledger writes it, in UTC and to the second.
pub(in crate::cli) fn moment(text: &str) -> Result<String, String> {
    let bad =
        || format!("`{text}` is no moment: write it as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00");
    let at: jiff::Timestamp = text.parse().map_err(|_| bad())?;
    let second = at.as_millisecond().div_euclid(1_000).saturating_mul(1_000);
    crate::model::Timestamp::from_unix_ms(second).map(|at| at.to_string()).ok_or_else(bad)
}

/// Behind `--source`.
pub(in crate::cli) fn source(text: &str) -> Result<(String, i32, Offset), String> {
    let bad = || format!("`{text}` is not TOPIC/PARTITION/OFFSET");
    let mut parts = text.split('/');
    let (topic, partition, offset) = (parts.next(), parts.next(), parts.next());
    let topic = topic.filter(|topic| !topic.is_empty()).ok_or_else(bad)?;
    let partition = partition.and_then(|number| number.parse().ok()).filter(|number| *number >= 0);
    let offset = offset.and_then(|number| number.parse().ok()).filter(|number| *number >= 0);
    if parts.next().is_some() {
        return Err(bad());
    }
    Ok((topic.to_owned(), partition.ok_or_else(bad)?, Offset(offset.ok_or_else(bad)?)))
}

/// The ordering key that is meant; none: any.
fn key(filter: &ParkedFilter, spec: &JobSpec) -> Result<Option<Vec<u8>>, Failure> {
    if let Some(HexBytes(bytes)) = &filter.key_hex {
        return Ok(Some(bytes.clone()));
    }
    let parts = spec.event.key.len().max(1);
    match filter.key.as_slice() {
        [] => Ok(None),
        // As `list` shows it: the parts are joined already.
        [joined] => Ok(Some(joined.clone().into_bytes())),
        given if given.len() == parts => Ok(Some(join_key(given).into_bytes())),
        given => {
            let text = format!(
                "--key stands there {} times, and the ordering key of job \"{}\" has {parts} parts: give each part once, or \
                 the whole key once, as `tidegate parked list` shows it",
                given.len(),
                spec.name
            );
            Err((text, exit::USAGE))
        }
    }
}

pub(super) fn wish(filter: &ParkedFilter, spec: &JobSpec) -> Result<ParkedWish, Failure> {
    Ok(ParkedWish {
        key: key(filter, spec)?.map(|key| key_id_of(&key)),
        reason: filter.reason.clone(),
        since: filter.since.clone(),
        until: filter.until.clone(),
        source: filter.source.clone(),
    })
}

/// The filters as they can be typed again; empty: there are none.
pub(super) fn typed(filter: &ParkedFilter) -> String {
    let mut typed: Vec<String> = filter.key.iter().map(|part| format!("--key {}", quoted(part))).collect();
    typed.extend(filter.key_hex.as_ref().map(|HexBytes(bytes)| format!("--key-hex {}", hex::encode(bytes))));
    typed.extend(filter.reason.as_ref().map(|reason| format!("--reason {}", quoted(reason))));
    typed.extend(filter.since.as_ref().map(|since| format!("--since {since}")));
    typed.extend(filter.until.as_ref().map(|until| format!("--until {until}")));
    let source = filter.source.as_ref();
    typed.extend(source.map(|(topic, partition, offset)| format!("--source {topic}/{partition}/{offset}")));
    typed.join(" ")
}

/// As a shell takes it for one word.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:+=,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::check;

    fn job(key: &str) -> JobSpec {
        let text = include_str!("../../../jobs/orders/job.toml");
        let at = text.lines().find(|line| line.starts_with("key = ")).unwrap();
        let text = text.replacen(at, key, 1);
        check("job.toml", &text, &|_| None).unwrap().spec
    }

    fn keys(parts: &[&str]) -> ParkedFilter {
        ParkedFilter { key: parts.iter().map(|part| (*part).to_owned()).collect(), ..ParkedFilter::default() }
    }

    #[test]
    fn moments_are_utc_to_the_second() {
        assert_eq!(moment("2026-01-31T13:00:00+01:00").unwrap(), "2026-01-31T12:00:00Z");
        assert_eq!(moment("2026-01-31T12:00:00.987Z").unwrap(), "2026-01-31T12:00:00Z");
        assert!(moment("yesterday").unwrap_err().contains("is no moment"));
        assert!(moment("2026-01-31T12:00:00").is_err(), "a moment without a zone is none");
    }

    #[test]
    fn sources_are_read() {
        assert_eq!(source("a.b/3/44"), Ok(("a.b".to_owned(), 3, Offset(44))));
        for text in ["", "a", "a/3", "/3/4", "a/-1/4", "a/3/-4", "a/3/4/5", "a/x/4"] {
            assert!(source(text).unwrap_err().contains("TOPIC/PARTITION/OFFSET"), "{text}");
        }
    }

    #[test]
    fn keys_are_given_whole_or_in_parts() {
        let one = job("key = [\"@id\"]");
        let two = job("key = [\"@id\", \"s:customer/@ref\"]");
        assert_eq!(wish(&keys(&[]), &one).unwrap().key, None);
        assert_eq!(wish(&keys(&["a|b"]), &one).unwrap().key, Some(key_id_of(b"a|b")));
        assert_eq!(wish(&keys(&["a|b", "c"]), &two).unwrap().key, Some(key_id_of(b"a\\|b|c")));
        assert_eq!(wish(&keys(&["a\\|b|c"]), &two).unwrap().key, Some(key_id_of(b"a\\|b|c")));
        let (text, code) = wish(&keys(&["a", "b"]), &one).unwrap_err();
        assert!(text.contains("has 1 parts") && code == exit::USAGE, "{text}");
        let bytes = ParkedFilter { key_hex: Some(hex_bytes("00ff").unwrap()), ..ParkedFilter::default() };
        assert_eq!(wish(&bytes, &one).unwrap().key, Some(key_id_of(&[0, 255])));
        assert!(hex_bytes("0g").is_err());
    }

    #[test]
    fn filters_can_be_typed_again() {
        let mut filter = keys(&["it's", "K-1"]);
        filter.reason = Some("behind".to_owned());
        filter.source = Some(("orders".to_owned(), 3, Offset(44)));
        assert_eq!(typed(&filter), r"--key 'it'\''s' --key K-1 --reason behind --source orders/3/44");
        assert_eq!(typed(&ParkedFilter::default()), "");
    }
}
