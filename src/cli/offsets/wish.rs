//! Places to go to, as they are typed.
//!
//! In:        the text behind `--to` and `--only`     Out: a [`Target`]; a topic, or one partition of it
//! Fails:     with what is allowed instead
//! Not here:  whether such a topic or offset exists (protocol::reset)

use crate::model::NextOffset;
use crate::protocol::reset::Target;
use std::collections::BTreeMap;

const ALLOWED: &str =
    "ledger, group, earliest, latest, time:2026-01-31T12:00:00Z or TOPIC/PARTITION=OFFSET[,...]";

/// Behind `--to`.
pub(in crate::cli) fn target(text: &str) -> Result<Target, String> {
    match text {
        "ledger" => return Ok(Target::Ledger),
        "group" => return Ok(Target::Group),
        "earliest" => return Ok(Target::Earliest),
        "latest" => return Ok(Target::Latest),
        _ => {}
    }
    if let Some(time) = text.strip_prefix("time:") {
        let at: Result<jiff::Timestamp, _> = time.parse();
        return at.map(|at| Target::Time(at.as_millisecond())).map_err(|_| {
            format!("`{time}` is no moment: write it as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00")
        });
    }
    let mut offsets = BTreeMap::new();
    for entry in text.split(',') {
        let (at, next) = offset(entry).ok_or_else(|| format!("`{entry}` is none of {ALLOWED}"))?;
        if offsets.insert(at, next).is_some() {
            return Err(format!("`{entry}`: the partition stands there twice"));
        }
    }
    Ok(Target::Offsets(offsets))
}

fn offset(entry: &str) -> Option<((String, i32), NextOffset)> {
    let (at, next) = entry.split_once('=')?;
    let (topic, partition) = chosen(at).ok()?;
    let next = next.parse().ok().filter(|next| *next >= 0)?;
    Some(((topic, partition?), NextOffset(next)))
}

/// Behind `--only`.
pub(in crate::cli) fn chosen(text: &str) -> Result<(String, Option<i32>), String> {
    let bad = || format!("`{text}` is neither TOPIC nor TOPIC/PARTITION");
    let (topic, partition) = match text.split_once('/') {
        None => (text, None),
        Some((topic, number)) => {
            let number = number.parse().ok().filter(|number| *number >= 0);
            (topic, Some(number.ok_or_else(bad)?))
        }
    };
    if topic.is_empty() { Err(bad()) } else { Ok((topic.to_owned(), partition)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        assert_eq!(target("group"), Ok(Target::Group));
        assert_eq!(target("time:1970-01-01T00:00:01.5Z"), Ok(Target::Time(1_500)));
        assert_eq!(target("time:1970-01-01T01:00:01+01:00"), Ok(Target::Time(1_000)));
        let offsets =
            BTreeMap::from([(("a.b".to_owned(), 0), NextOffset(7)), (("c".to_owned(), 12), NextOffset(0))]);
        assert_eq!(target("a.b/0=7,c/12=0"), Ok(Target::Offsets(offsets)));
        assert_eq!(chosen("a"), Ok(("a".to_owned(), None)));
        assert_eq!(chosen("a/3"), Ok(("a".to_owned(), Some(3))));
    }

    #[test]
    fn what_is_no_place_is_refused_by_name() {
        for (text, says) in [
            ("", "is none of ledger, group"),
            ("Earliest", "is none of"),
            ("time:yesterday", "is no moment"),
            ("a/0", "`a/0` is none of"),
            ("a=3", "is none of"),
            ("a/0=-1", "is none of"),
            ("a/0=1,a/0=2", "stands there twice"),
        ] {
            let error = target(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        for text in ["", "/1", "a/x", "a/-1", "a/1/2"] {
            assert!(chosen(text).is_err(), "{text}");
        }
    }
}
