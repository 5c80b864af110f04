//! `[outage]` and `[limits]`: how long to hold, and how much to take.

use super::catalogue::{Key, Kind};
use super::checker::Checker;
use super::section::Section;
use super::sizes;
use super::{LimitsSpec, OutageSpec};
use toml::de::DeValue;

pub(super) fn read_outage(checker: &mut Checker<'_>, root: &mut Section<'_>) -> Option<OutageSpec> {
    let mut section = root.section(checker, "outage")?;
    let limit_s = section.integer(checker, "limit_s");
    section.finish(checker);
    Some(OutageSpec { limit_s: limit_s? })
}

pub(super) fn read_limits(checker: &mut Checker<'_>, root: &mut Section<'_>) -> Option<LimitsSpec> {
    let mut section = root.section(checker, "limits")?;
    let in_flight = size(checker, &mut section, "in_flight_bytes");
    let document = size(checker, &mut section, "document_bytes");
    let depth = section.integer(checker, "document_depth");
    if let (Some(in_flight), Some(document)) = (in_flight, document)
        && in_flight < document
    {
        let message = format!(
            "must be at least limits.document_bytes, which is {}, got {}",
            sizes::render(document),
            sizes::render(in_flight)
        );
        let at = section.get("in_flight_bytes").map_or(section.at, |entry| entry.at());
        checker.error(at, &section.key_of("in_flight_bytes"), message, None);
    }
    let events = section.integer(checker, "events_per_record");
    let silence = section.integer(checker, "peer_silence_s");
    let parked_keys = section.integer(checker, "parked_keys");
    section.finish(checker);
    let whole = |n: u64| usize::try_from(n).ok();
    Some(LimitsSpec {
        in_flight_bytes: whole(in_flight?)?,
        document_bytes: whole(document?)?,
        document_depth: whole(depth?)?,
        events_per_record: whole(events?)?,
        peer_silence_s: silence?,
        parked_keys: whole(parked_keys?)?,
    })
}

/// Bytes in the catalogue's range; left out, the catalogue's default.
fn size(checker: &mut Checker<'_>, section: &mut Section<'_>, name: &'static str) -> Option<u64> {
    let Some(Key { kind: Kind::Size { least, most }, default, .. }) = section.known(name) else {
        debug_assert!(false, "{name} is no size in the catalogue");
        return None;
    };
    let range = *least..=*most;
    let Some(entry) = section.get(name) else {
        section.left_out(checker, name, None);
        return sizes::parse(default.shown().trim_matches('"')).ok();
    };
    let allowed = format!("{}..={}", sizes::render(*range.start()), sizes::render(*range.end()));
    match entry.value.get_ref() {
        DeValue::Integer(_) => {
            let bytes = checker.integer(&entry, &range, false)?;
            checker.given(&entry.key, entry.at(), sizes::render(bytes));
            Some(bytes)
        }
        DeValue::String(_) => {
            let text = checker.text(&entry)?;
            let message = match sizes::parse(&text.value) {
                Ok(bytes) if range.contains(&bytes) => {
                    checker.given_text(&text, sizes::render(bytes));
                    return Some(bytes);
                }
                Ok(_) => format!("must be {allowed}, got {}", text.quoted()),
                Err(problem) => format!("{problem}, got {}", text.quoted()),
            };
            checker.error_of(&text, message, Some("such as \"64MiB\" or 67108864".to_owned()));
            None
        }
        _ => {
            checker.wrong_kind(&entry, "a size", Some("such as \"64MiB\" or 67108864".to_owned()));
            None
        }
    }
}
