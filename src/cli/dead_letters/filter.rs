//! Filter: which letters are meant.
//!
//! In:        what was typed; a letter     Out: whether it is meant
//! Not here:  whether it was replayed (replayed)

use super::letter::Letter;
use crate::cli::args::LetterFilter;
use crate::model::Offset;

impl LetterFilter {
    /// Everything that was typed must fit. A letter without a timestamp fits no bound in time.
    pub(super) fn takes(&self, letter: &Letter) -> bool {
        let time = letter.record.timestamp_ms;
        let after = |bound: &i64| time.is_some_and(|time| time >= *bound);
        self.key.as_ref().is_none_or(|key| letter.record.key.as_deref() == Some(key.as_bytes()))
            && self.reason.as_ref().is_none_or(|reason| letter.reason == *reason)
            && self.source.as_ref().is_none_or(|source| letter.source == *source)
            && self
                .at
                .is_none_or(|(partition, offset)| (letter.partition, letter.offset) == (partition, offset))
            && self.since.as_ref().is_none_or(after)
            && self.until.as_ref().is_none_or(|bound| time.is_some() && !after(bound))
    }
}

/// Behind `--since` and `--until`: milliseconds since 1970.
pub(in crate::cli) fn moment(text: &str) -> Result<i64, String> {
    let at: Result<jiff::Timestamp, _> = text.parse();
    at.map(|at| at.as_millisecond()).map_err(|_| {
        format!("`{text}` is no moment: write it as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00")
    })
}

/// Behind `--at`: `PARTITION/OFFSET`.
pub(in crate::cli) fn letter_at(text: &str) -> Result<(i32, Offset), String> {
    let parsed = text.split_once('/').and_then(|(partition, offset)| {
        let partition: i32 = partition.parse().ok().filter(|partition| *partition >= 0)?;
        let offset: i64 = offset.parse().ok().filter(|offset| *offset >= 0)?;
        Some((partition, Offset(offset)))
    });
    parsed.ok_or_else(|| format!("`{text}` is no place in the dead-letter topic: PARTITION/OFFSET"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Record;

    fn letter() -> Letter {
        let record =
            Record { timestamp_ms: Some(1_500), key: Some("K1".into()), headers: Vec::new(), value: None };
        Letter {
            partition: 2,
            offset: Offset(7),
            source: "in/0/5".to_owned(),
            reason: "limit".to_owned(),
            detail: String::new(),
            event: None,
            cut: None,
            record,
        }
    }

    #[test]
    fn every_part_of_a_filter_must_fit() {
        let text = |text: &str| Some(text.to_owned());
        let fits = LetterFilter {
            key: text("K1"),
            reason: text("limit"),
            source: text("in/0/5"),
            at: Some((2, Offset(7))),
            since: Some(1_500),
            until: Some(1_501),
        };
        assert!(LetterFilter::default().takes(&letter()) && fits.takes(&letter()));
        for other in [
            LetterFilter { key: text("K"), ..fits.clone() },
            LetterFilter { reason: text("limits"), ..fits.clone() },
            LetterFilter { source: text("in/0/50"), ..fits.clone() },
            LetterFilter { at: Some((1, Offset(7))), ..fits.clone() },
            LetterFilter { since: Some(1_501), ..fits.clone() },
            LetterFilter { until: Some(1_500), ..fits.clone() },
        ] {
            assert!(!other.takes(&letter()), "{other:?}");
        }
        let mut timeless = letter();
        timeless.record.timestamp_ms = None;
        for bound in [
            LetterFilter { since: Some(0), ..LetterFilter::default() },
            LetterFilter { until: Some(9_999), ..LetterFilter::default() },
        ] {
            assert!(!bound.takes(&timeless), "{bound:?}");
        }
    }

    #[test]
    fn places_and_moments_are_read_or_refused_by_name() {
        assert_eq!(letter_at("3/44"), Ok((3, Offset(44))));
        for text in ["", "3", "3/", "a/1", "-1/4", "1/-4", "1/2/3"] {
            assert!(letter_at(text).unwrap_err().contains("PARTITION/OFFSET"), "{text}");
        }
        assert_eq!(moment("1970-01-01T01:00:01.5+01:00"), Ok(1_500));
        assert!(moment("yesterday").unwrap_err().contains("`yesterday` is no moment"));
    }
}
