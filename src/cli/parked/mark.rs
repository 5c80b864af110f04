//! `parked retry` and `parked drop`: what they would do, and the marks by which they have it done.
//!
//! In:        filters     Out: what is meant; with --execute, marks in the ledger; with --wait, how it went
//! Order:     all that is meant is gathered first, then shown, then marked, some keys at a time
//! Fails:     64: neither a filter nor --all; 65: what was waited for was refused again; 69: it was not done in time
//! Not here:  nothing is handled or dropped: the job does that

use super::answer::nothing;
use super::ledger::Ledger;
use super::list::{each_event, each_key};
use super::wait::{Waited, wait};
use super::words::{counted, event_line, key_line};
use super::{Failure, PAGE, Say, wish};
use crate::cli::args::ParkedMarkArgs;
use crate::cli::exit;
use crate::database::{ParkedAt, ParkedMark, ParkedRow, ParkedState, ParkedWish};
use crate::model::{KeyGroup, KeyId};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Most lines of what is meant.
const SHOWN: u64 = 20;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    /// Keys are tried again.
    Retry,
    /// Events are dropped.
    Drop,
}

/// What is meant.
#[derive(Default)]
struct Meant {
    keys: BTreeMap<KeyId, KeyGroup>,
    /// Events that the filters fit.
    fit: u64,
    /// Events of these keys, whether the filters fit them or not.
    all: u64,
    /// The first of them in words.
    lines: Vec<String>,
    /// The first key that is met.
    first_key: Vec<u8>,
    /// Some of the keys have events that are marked to be dropped.
    has_drops: bool,
}

pub(super) fn mark(args: &ParkedMarkArgs, verb: Verb, say: Say<'_>) -> Result<u8, Failure> {
    if !args.all && wish::typed(&args.filter).is_empty() {
        let text = "say which events are meant: --key, --reason, --since, --until, --source; or --all";
        return Err((text.to_owned(), exit::USAGE));
    }
    let mut ledger = Ledger::open(&args.job)?;
    let wish = wish::wish(&args.filter, &ledger.spec)?;
    let meant = gather(&mut ledger, &wish, verb)?;
    if meant.keys.is_empty() && !args.json {
        say(&nothing(&mut ledger, &args.filter)?);
        return Ok(exit::OK);
    }
    if !args.json {
        meant.lines.iter().for_each(|line| say(line));
        let more = meant.lines_of(verb).saturating_sub(SHOWN);
        if more > 0 {
            say(&format!("... and {more} more"));
        }
    }
    if args.execute {
        match verb {
            Verb::Retry => mark_keys(&mut ledger, &meant)?,
            Verb::Drop => mark_events(&mut ledger, &wish)?,
        }
    }
    if !args.json {
        say(&told(args, verb, &meant));
    }
    let waited = if args.wait > 0 { Some(wait(&mut ledger, &meant.keys, args.wait)?) } else { None };
    let code = waited.as_ref().map_or(exit::OK, |waited| waited.exit_code(verb));
    if args.json {
        say(&as_json(&ledger.spec.name, args, verb, &meant, waited.as_ref()));
    } else if let Some(waited) = waited {
        say(&waited.told(verb));
    }
    Ok(code)
}

impl Meant {
    /// How many lines there would be.
    fn lines_of(&self, verb: Verb) -> u64 {
        match verb {
            Verb::Retry => self.key_count(),
            Verb::Drop => self.fit,
        }
    }

    fn key_count(&self) -> u64 {
        u64::try_from(self.keys.len()).unwrap_or(u64::MAX)
    }

    fn key(&mut self, row: &ParkedRow) {
        if self.keys.is_empty() {
            self.first_key = row.key.to_vec();
        }
        self.keys.insert(row.key_id, row.at.group);
    }

    fn line(&mut self, line: impl FnOnce() -> String) {
        if u64::try_from(self.lines.len()).is_ok_and(|lines| lines < SHOWN) {
            self.lines.push(line());
        }
    }
}

fn gather(ledger: &mut Ledger, wish: &ParkedWish, verb: Verb) -> Result<Meant, Failure> {
    let mut meant = Meant::default();
    match verb {
        Verb::Retry => each_key(ledger, wish, &mut |_, page| {
            for key in page {
                meant.key(&key.first);
                meant.fit = meant.fit.saturating_add(key.events);
                meant.has_drops |= key.mark == Some(ParkedMark::Sweep);
                meant.line(|| key_line(key));
            }
            Ok(())
        })?,
        Verb::Drop => each_event(ledger, wish, &mut |_, page| {
            for row in page.iter().filter(|row| row.state != ParkedState::Dropped) {
                meant.key(row);
                meant.fit = meant.fit.saturating_add(1);
                meant.line(|| event_line(row));
            }
            Ok(())
        })?,
    }
    let all = &mut meant.all;
    of_keys(ledger, &meant.keys, &mut |found| *all = all.saturating_add(found.events))?;
    Ok(meant)
}

/// Looks at these keys as they are now; a key that is free is passed over.
pub(super) fn of_keys(
    ledger: &mut Ledger,
    keys: &BTreeMap<KeyId, KeyGroup>,
    look: &mut dyn FnMut(&crate::database::ParkedKey),
) -> Result<(), Failure> {
    // Many keys are found sooner in one go through all of them.
    if keys.len() > PAGE {
        return each_key(ledger, &ParkedWish::default(), &mut |_, page| {
            page.iter().filter(|key| keys.contains_key(&key.first.key_id)).for_each(&mut *look);
            Ok(())
        });
    }
    for id in keys.keys() {
        let one = ParkedWish { key: Some(*id), ..ParkedWish::default() };
        let found = ledger.ask(async |session| session.parked_by_key(&one, None, 1).await)?;
        found.iter().for_each(&mut *look);
    }
    Ok(())
}

fn mark_keys(ledger: &mut Ledger, meant: &Meant) -> Result<(), Failure> {
    let keys: Vec<(KeyGroup, KeyId)> = meant.keys.iter().map(|(id, group)| (*group, *id)).collect();
    for part in keys.chunks(PAGE) {
        ledger.ask(async |session| session.mark_parked(part, ParkedMark::Retry, &[]).await)?;
    }
    Ok(())
}

fn mark_events(ledger: &mut Ledger, wish: &ParkedWish) -> Result<(), Failure> {
    each_event(ledger, wish, &mut |ledger, page| {
        let waiting = || page.iter().filter(|row| row.state == ParkedState::Waiting);
        let keys: BTreeSet<(KeyGroup, KeyId)> = waiting().map(|row| (row.at.group, row.key_id)).collect();
        let keys: Vec<(KeyGroup, KeyId)> = keys.into_iter().collect();
        let drop: Vec<ParkedAt> = waiting().map(|row| row.at).collect();
        if drop.is_empty() {
            return Ok(());
        }
        ledger.ask(async |session| session.mark_parked(&keys, ParkedMark::Sweep, &drop).await).map(|_| ())
    })
}

/// Nothing in the ledger tells for sure whether the job runs: one that has nothing to do writes nothing.
const WHO: &str = "A running job does this within seconds; if it is not running, its next start does";

fn told(args: &ParkedMarkArgs, verb: Verb, meant: &Meant) -> String {
    let keys = counted(meant.key_count(), "key");
    let what = match verb {
        Verb::Retry if meant.fit < meant.all => format!(
            "{keys} with {} to be tried again, in order: the {} that the filters fit, and the others of these keys",
            counted(meant.all, "event"),
            meant.fit
        ),
        Verb::Retry => format!("{keys} with {} to be tried again, in order", counted(meant.all, "event")),
        Verb::Drop => {
            let waits = meant.all.saturating_sub(meant.fit);
            let on = if waits == 1 { "waits on" } else { "wait on" };
            let rest = match (waits, meant.keys.len()) {
                (0, _) => "none of these keys waits any more then".to_owned(),
                (_, 1) => format!(
                    "{} of this key {on}, and `tidegate parked retry {} {} --execute` lets them go on",
                    counted(waits, "event"),
                    wish::quoted(&args.job.display().to_string()),
                    typed_key(&meant.first_key),
                ),
                _ => format!(
                    "{} of these keys {on}, and `tidegate parked retry` with their --key lets them go on",
                    counted(waits, "event")
                ),
            };
            format!(
                "{} of {keys} to be dropped, neither stored nor sent, ever; {rest}",
                counted(meant.fit, "event")
            )
        }
    };
    let before = if meant.has_drops { "; what is marked to be dropped among them is dropped" } else { "" };
    let what = format!("{what}{before}");
    if args.execute {
        format!("marked: {what}. {WHO}")
    } else {
        format!("{what}. Nothing was changed: --execute does it")
    }
}

/// The key as it can be typed. The text of several parts is joined already.
fn typed_key(key: &[u8]) -> String {
    match std::str::from_utf8(key) {
        Ok(text) => format!("--key {}", wish::quoted(text)),
        Err(_) => format!("--key-hex {}", hex::encode(key)),
    }
}

fn as_json(job: &str, args: &ParkedMarkArgs, verb: Verb, meant: &Meant, waited: Option<&Waited>) -> String {
    let verb = if verb == Verb::Retry { "retry" } else { "drop" };
    json!({
        "job": job, "verb": verb, "executed": args.execute, "keys": meant.keys.len(), "fit": meant.fit,
        "events": meant.all, "waited": waited.map(Waited::as_json),
    })
    .to_string()
}
