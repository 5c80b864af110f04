//! `[outage]` and `[limits]`: how long to hold, and how much to take.

use super::checker::Checker;
use super::section::Section;
use super::sizes;
use super::{LimitsSpec, OutageSpec};
use std::ops::RangeInclusive;
use toml::de::DeValue;

const MIB: u64 = 1 << 20;
/// An output place is kept as 32 bits.
const DOCUMENT_BYTES: RangeInclusive<u64> = 1024..=1024 * MIB;
const IN_FLIGHT_BYTES: RangeInclusive<u64> = MIB..=1024 * 1024 * MIB;
const PARKED_KEYS: RangeInclusive<u64> = 1..=100_000_000;
/// An event's place in its record is kept as 32 bits; more than a million have no room in the time of one transaction.
const EVENTS_PER_RECORD: RangeInclusive<u64> = 1..=1_000_000;
const DOCUMENT_DEPTH: RangeInclusive<u64> = 1..=10_000;

pub(super) fn read_outage(checker: &mut Checker<'_>, root: &mut Section<'_>) -> Option<OutageSpec> {
    let mut section = root.section(checker, "outage")?;
    let limit_s = section.integer_or(checker, "limit_s", &(0..=u64::from(u32::MAX)), 0);
    section.finish(checker);
    Some(OutageSpec { limit_s: limit_s? })
}

pub(super) fn read_limits(checker: &mut Checker<'_>, root: &mut Section<'_>) -> Option<LimitsSpec> {
    let mut section = root.section(checker, "limits")?;
    let in_flight = size_or(checker, &mut section, "in_flight_bytes", &IN_FLIGHT_BYTES, 64 * MIB);
    let document = size_or(checker, &mut section, "document_bytes", &DOCUMENT_BYTES, MIB);
    let depth = section.integer_or(checker, "document_depth", &DOCUMENT_DEPTH, 256);
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
    let events = section.integer_or(checker, "events_per_record", &EVENTS_PER_RECORD, 100_000);
    let silence = peer_silence(checker, &mut section);
    let parked_keys = section.integer_or(checker, "parked_keys", &PARKED_KEYS, 1_000_000);
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

/// A process says once a second that it is alive: less than a few of these is no silence.
fn peer_silence(checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<u64> {
    const LEAST: u64 = 5;
    let seconds = section.integer_or(checker, "peer_silence_s", &(0..=86_400), 30)?;
    if (1..LEAST).contains(&seconds) {
        let at = section.get("peer_silence_s").map_or(section.at, |entry| entry.at());
        let message = format!("must be 0 (for ever) or at least {LEAST}, got {seconds}");
        checker.error(at, &section.key_of("peer_silence_s"), message, None);
        return None;
    }
    Some(seconds)
}

fn size_or(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    name: &'static str,
    range: &RangeInclusive<u64>,
    default: u64,
) -> Option<u64> {
    let Some(entry) = section.get(name) else {
        checker.default(&section.key_of(name), sizes::render(default), None);
        return Some(default);
    };
    let allowed = format!("{}..={}", sizes::render(*range.start()), sizes::render(*range.end()));
    match entry.value.get_ref() {
        DeValue::Integer(_) => {
            let bytes = checker.integer(&entry, range)?;
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
