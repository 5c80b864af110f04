//! Letter: what a dead letter's record says beside the record that was rejected, and how one is made to fit its topic.
//!
//! In:        a dead letter and the largest record that its topic takes     Out: the letter; where it must be, cut and marked
//!            a replayed letter's record     Out: which of its events it is about
//! Order:     the rejected record's headers in theirs, Tidegate's own behind them
//! Fails:     never: below [`LIMIT_MIN`] the letter is as small as it can be, and may be refused
//! Not here:  which records are rejected (decode), who makes a letter of them (gate)

use crate::model::{Headers, Outgoing, Record};
use bytes::Bytes;

/// The stable code of why the record was rejected. Tidegate's own headers begin with the last one of this name.
pub const REASON: &str = "tidegate-reason";
/// The reason in words.
pub const DETAIL: &str = "tidegate-detail";
/// The record: `topic/partition/offset[/index]`.
pub const SOURCE: &str = "tidegate-source";
/// Which of several events of its record a letter is about, from 0; beside a letter that was replayed `job/index`: the job
/// reads this event of the record alone.
pub const EVENT: &str = "tidegate-event";
/// Which output of a job with several an output is: its name, or its number from 1.
pub const OUTPUT: &str = "tidegate-output";
/// The job.
pub const JOB: &str = "tidegate-job";
/// The letter does not hold the whole record. Its value had so many bytes; 0 where there was none.
pub const CUT: &str = "tidegate-cut";
/// So many of the record's headers were left out, the largest ones.
pub const CUT_HEADERS: &str = "tidegate-cut-headers";
/// The record's key was left out; it had so many bytes.
pub const CUT_KEY: &str = "tidegate-cut-key";
/// A marker, and no letter: the letter at `partition/offset` of the same topic was replayed.
pub const REPLAYED: &str = "tidegate-replayed";

/// From this limit on every letter fits, in bytes of [`Outgoing::batch_bytes`].
pub const LIMIT_MIN: usize = 1024;

/// So much of the reason's words is kept where nothing else is left to cut, in bytes.
const DETAIL_KEPT: usize = 200;

/// Makes a dead letter as small as its topic wants it. First its value goes, from the end; where that is not enough, the
/// record's headers, the largest first, then its key, and last the end of the reason's words. What there is room for then
/// is the value's beginning.
pub fn fit(mut letter: Outgoing, limit: usize) -> Outgoing {
    if letter.batch_bytes() <= limit {
        return letter;
    }
    let value = letter.value.take();
    letter.headers.push(header(CUT, &value.as_ref().map_or(0, Bytes::len)));
    letter.value = value.as_ref().map(|_| Bytes::new());
    leave_out_headers(&mut letter, limit);
    leave_out_key(&mut letter, limit);
    shorten_detail(&mut letter, limit);
    if let Some(value) = value {
        put_back(&mut letter, &value, limit);
    }
    letter
}

fn header(name: &str, value: &impl ToString) -> (String, Option<Bytes>) {
    (name.to_owned(), Some(Bytes::from(value.to_string())))
}

/// Some headers of a record, in their order.
pub type Part<'a> = &'a [(String, Option<Bytes>)];

/// The rejected record's headers, and Tidegate's own; none: this is no dead letter.
pub fn split(headers: &Headers) -> Option<(Part<'_>, Part<'_>)> {
    headers.split_at_checked(own_from(headers)?)
}

/// Whether a record is a marker, and no letter.
pub fn is_marker(headers: &Headers) -> bool {
    own_from(headers).is_none() && headers.iter().any(|(name, _)| name == REPLAYED)
}

/// Where Tidegate's own headers begin.
fn own_from(headers: &Headers) -> Option<usize> {
    headers.iter().rposition(|(name, _)| name == REASON)
}

fn leave_out_headers(letter: &mut Outgoing, limit: usize) {
    let originals = own_from(&letter.headers).unwrap_or(0);
    if letter.batch_bytes() <= limit || originals == 0 {
        return;
    }
    // It takes its place before it is known how many there are: as many as there can be.
    letter.headers.push(header(CUT_HEADERS, &originals));
    let mut over = letter.batch_bytes().saturating_sub(limit);
    let bytes = |(name, value): &(String, Option<Bytes>)| name.len() + value.as_ref().map_or(0, Bytes::len);
    let mut largest: Vec<(usize, usize)> =
        letter.headers.iter().take(originals).map(bytes).enumerate().collect();
    largest.sort_by_key(|(index, bytes)| (std::cmp::Reverse(*bytes), *index));
    let mut gone = vec![false; originals];
    let mut count = 0_usize;
    for (index, bytes) in largest {
        if over == 0 {
            break;
        }
        if let Some(gone) = gone.get_mut(index) {
            *gone = true;
        }
        // At the least: its lengths take some bytes, too.
        over = over.saturating_sub(bytes + 2);
        count += 1;
    }
    let mut gone = gone.into_iter();
    letter.headers.retain(|_| !gone.next().unwrap_or(false));
    if let Some(last) = letter.headers.last_mut() {
        *last = header(CUT_HEADERS, &count);
    }
}

fn leave_out_key(letter: &mut Outgoing, limit: usize) {
    if letter.batch_bytes() <= limit {
        return;
    }
    if let Some(key) = letter.key.take() {
        letter.headers.push(header(CUT_KEY, &key.len()));
    }
}

fn shorten_detail(letter: &mut Outgoing, limit: usize) {
    if letter.batch_bytes() <= limit {
        return;
    }
    let own = own_from(&letter.headers).unwrap_or(0);
    let detail = letter.headers.iter_mut().skip(own).find(|(name, _)| name == DETAIL);
    if let Some((_, Some(detail))) = detail
        && detail.len() > DETAIL_KEPT
    {
        let text = String::from_utf8_lossy(detail);
        let kept = text.get(..text.floor_char_boundary(DETAIL_KEPT)).unwrap_or("");
        *detail = Bytes::from(format!("{kept}..."));
    }
}

/// As much of the value as there is room for.
fn put_back(letter: &mut Outgoing, value: &Bytes, limit: usize) {
    let mut len = limit.saturating_sub(letter.batch_bytes()).min(value.len());
    loop {
        letter.value = Some(value.slice(..len));
        // The lengths of value and record take more bytes now.
        let over = letter.batch_bytes().saturating_sub(limit);
        if over == 0 || len == 0 {
            return;
        }
        len = len.saturating_sub(over);
    }
}

/// Which of its record's events a replayed dead letter of this job is about.
pub(crate) fn only_event(record: &Record, job: &str) -> Option<usize> {
    let (_, value) = record.headers.iter().rev().find(|(name, _)| name == EVENT)?;
    let (of, index) = std::str::from_utf8(value.as_deref()?).ok()?.rsplit_once('/')?;
    index.parse().ok().filter(|_| of == job)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Destination;
    use proptest::prelude::*;

    fn text(value: &str) -> Option<Bytes> {
        Some(Bytes::copy_from_slice(value.as_bytes()))
    }

    fn letter(key: Option<Bytes>, value: Option<Bytes>, originals: Headers, detail: &str) -> Outgoing {
        let mut headers = originals;
        headers.push((REASON.to_owned(), text("not_well_formed")));
        headers.push((DETAIL.to_owned(), text(detail)));
        headers
            .push((SOURCE.to_owned(), text(&format!("{}/2147483647/9223372036854775807", "t".repeat(249)))));
        headers.push((JOB.to_owned(), text(&"j".repeat(63))));
        headers.push((EVENT.to_owned(), text("999999")));
        Outgoing { to: Destination::DeadLetter, key, value, headers, timestamp_ms: Some(1) }
    }

    fn header_of<'a>(letter: &'a Outgoing, name: &str) -> Option<&'a str> {
        let (_, value) = letter.headers.iter().rev().find(|(found, _)| found == name)?;
        std::str::from_utf8(value.as_deref()?).ok()
    }

    fn bytes_to(max: usize) -> impl Strategy<Value = Option<Bytes>> {
        proptest::option::of((0..max).prop_map(|len| Bytes::from(vec![b'x'; len])))
    }

    fn any_letter() -> impl Strategy<Value = Outgoing> {
        let header = ("(a|tidegate-reason|tidegate-cut)", bytes_to(3_000));
        let parts = (bytes_to(3_000), bytes_to(20_000), proptest::collection::vec(header, 0..30), ".{0,400}");
        parts.prop_map(|(key, value, headers, detail)| letter(key, value, headers, &detail))
    }

    proptest! {
        #[test]
        fn a_letter_fits_and_is_cut_only_where_it_must_be(before in any_letter(), limit in LIMIT_MIN..30_000) {
            let after = fit(before.clone(), limit);
            prop_assert!(after.batch_bytes() <= limit, "{} > {limit}", after.batch_bytes());
            if before.batch_bytes() <= limit {
                prop_assert_eq!(after, before);
                return Ok(());
            }
            let value = before.value.clone().unwrap_or_default();
            prop_assert_eq!(header_of(&after, CUT).and_then(|len| len.parse().ok()), Some(value.len()));
            prop_assert_eq!(before.value.is_some(), after.value.is_some());
            let kept = after.value.clone().unwrap_or_default();
            prop_assert!(value.starts_with(&kept));
            prop_assert!(kept.len() == value.len() || after.batch_bytes() + 16 > limit, "as much as there is room for");
            for name in [REASON, SOURCE, JOB] {
                prop_assert_eq!(header_of(&after, name), header_of(&before, name));
            }
            let own = own_from(&after.headers).unwrap();
            let originals = &before.headers[..own_from(&before.headers).unwrap()];
            let left_out = header_of_own(&after, CUT_HEADERS).map_or(0, |count| count.parse().unwrap());
            prop_assert_eq!(own + left_out, originals.len());
            let mut rest = originals.iter();
            prop_assert!(after.headers[..own].iter().all(|kept| rest.any(|one| one == kept)), "in their order");
            let whole_key = before.key == after.key;
            prop_assert_eq!(header_of(&after, CUT_KEY).is_none(), whole_key);
            prop_assert!(whole_key || own == 0, "the key goes behind the headers");
        }

        #[test]
        fn below_the_least_limit_nothing_but_what_must_stay_is_left(before in any_letter(), limit in 0..200_usize) {
            let after = fit(before, limit);
            prop_assert!(after.batch_bytes() <= LIMIT_MIN);
            prop_assert!(after.key.is_none() && own_from(&after.headers) == Some(0));
        }
    }

    fn header_of_own<'a>(letter: &'a Outgoing, name: &str) -> Option<&'a str> {
        let own = own_from(&letter.headers).unwrap();
        let (_, value) = letter.headers[own..].iter().find(|(found, _)| found == name)?;
        std::str::from_utf8(value.as_deref()?).ok()
    }

    #[test]
    fn the_value_goes_before_the_headers_and_the_largest_header_before_others() {
        let originals = vec![
            ("a".to_owned(), text("small")),
            ("b".to_owned(), text(&"x".repeat(5_000))),
            ("c".to_owned(), None),
        ];
        let before = letter(text("key"), text(&"v".repeat(1_000)), originals.clone(), "why");
        let cut = fit(before.clone(), 6_000);
        assert_eq!(cut.headers[..3], originals[..]);
        assert!(cut.value.as_ref().is_some_and(|value| value.len() > 400 && value.len() < 1_000));
        let cut = fit(before, 3_000);
        assert_eq!(cut.headers[..2], [originals[0].clone(), originals[2].clone()]);
        assert_eq!(cut.value.as_ref().map(Bytes::len), Some(1_000), "there is room again");
        assert_eq!(header_of(&cut, CUT_HEADERS), Some("1"));
    }
}
