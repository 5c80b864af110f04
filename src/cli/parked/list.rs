//! `parked list`: one line per key or event, page by page, and an end line with the totals.
//!
//! In:        filters     Out: lines; no payload
//! Order:     keys by their id, which is no order that a person knows; events as they were parked
//! Not here:  what a line says (words)

use super::answer::nothing;
use super::ledger::Ledger;
use super::words::{counted, event_json, event_line, key_json, key_line};
use super::{Failure, PAGE, Say, wish};
use crate::cli::args::ParkedListArgs;
use crate::database::{ParkedKey, ParkedRow, ParkedState, ParkedWish};
use serde_json::json;

/// What is done with each page.
type OfPage<'a, T> = &'a mut dyn FnMut(&mut Ledger, &[T]) -> Result<(), Failure>;

pub(super) fn list(args: &ParkedListArgs, say: Say<'_>) -> Result<(), Failure> {
    let mut ledger = Ledger::open(&args.job)?;
    let wish = wish::wish(&args.filter, &ledger.spec)?;
    let (keys, events) = if args.events || args.dropped {
        let listed = |row: &ParkedRow| (row.state == ParkedState::Dropped) == args.dropped;
        let mut count: u64 = 0;
        each_event(&mut ledger, &wish, &mut |_, page| {
            for row in page.iter().filter(|row| listed(row)) {
                count += 1;
                say(&if args.json { event_json(row).to_string() } else { event_line(row) });
            }
            Ok(())
        })?;
        (None, count)
    } else {
        let (mut keys, mut events): (u64, u64) = (0, 0);
        each_key(&mut ledger, &wish, &mut |_, page| {
            for key in page {
                (keys, events) = (keys + 1, events.saturating_add(key.events));
                say(&if args.json { key_json(key).to_string() } else { key_line(key) });
            }
            Ok(())
        })?;
        (Some(keys), events)
    };
    if args.json {
        say(&json!({ "kind": "total", "keys": keys, "events": events }).to_string());
    } else if events == 0 && args.dropped {
        say("nothing was dropped that fits");
    } else if events == 0 {
        say(&nothing(&mut ledger, &args.filter)?);
    } else {
        let of_keys = keys.map_or_else(String::new, |keys| format!("{}, ", counted(keys, "key")));
        say(&format!("{of_keys}{}", counted(events, "event")));
    }
    Ok(())
}

/// Calls `work` with every page of keys of which events are meant.
pub(super) fn each_key(
    ledger: &mut Ledger,
    wish: &ParkedWish,
    work: OfPage<'_, ParkedKey>,
) -> Result<(), Failure> {
    let mut after = None;
    loop {
        let page = ledger.ask(async |session| session.parked_by_key(wish, after, PAGE).await)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.first.key_id);
        work(ledger, &page)?;
    }
}

/// Calls `work` with every page of events that are meant, without their records; dropped ones too.
pub(super) fn each_event(
    ledger: &mut Ledger,
    wish: &ParkedWish,
    work: OfPage<'_, ParkedRow>,
) -> Result<(), Failure> {
    let mut after = None;
    loop {
        let page = ledger.ask(async |session| session.parked(wish, after, PAGE, false).await)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = Some(last.at);
        work(ledger, &page)?;
    }
}
