//! `--wait`: until the job has done what was marked, and how it went.
//!
//! In:        keys that were marked, a time     Out: how many are free, were refused again, or are still marked
//! Order:     the ledger is asked whether marks are left, a few times a second; what became of each key is looked at once, last
//! Fails:     as the ledger does
//! Not here:  no guess whether the job runs: marks that stay say that it does not, or is busy

use super::Failure;
use super::ledger::Ledger;
use super::mark::{Verb, of_keys};
use super::words::{counted, key_line};
use crate::cli::exit;
use crate::cli::out::{end_renewing, error_line, renew_line};
use crate::model::{KeyGroup, KeyId};
use crate::protocol::halt::HaltKind;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(250);
const PLAIN_PERIOD: Duration = Duration::from_secs(10);

/// What became of the keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Waited {
    /// Nothing of them waits any more.
    pub(super) free: u64,
    /// They wait, and nobody wants anything of them: refused again, or what was to be dropped is.
    pub(super) waiting: u64,
    /// The job has not done it, or not all of it.
    pub(super) marked: u64,
    /// The first that waits, in words.
    pub(super) first: Option<String>,
}

pub(super) fn wait(
    ledger: &mut Ledger,
    keys: &BTreeMap<KeyId, KeyGroup>,
    seconds: u32,
) -> Result<Waited, Failure> {
    let groups: BTreeSet<KeyGroup> = keys.values().copied().collect();
    let groups: Vec<KeyGroup> = groups.into_iter().collect();
    let (began, until) = (Instant::now(), Duration::from_secs(u64::from(seconds)));
    let mut progress = Progress::new();
    loop {
        let marked = ledger.ask(async |session| session.marked_groups(&groups).await)?;
        if marked.is_empty() || began.elapsed() >= until {
            break;
        }
        progress.show(began.elapsed(), marked.len(), groups.len());
        std::thread::sleep(LOOK.min(until.saturating_sub(began.elapsed())));
    }
    progress.end();
    let mut waited = Waited { free: u64::try_from(keys.len()).unwrap_or(u64::MAX), ..Waited::default() };
    of_keys(ledger, keys, &mut |key| {
        waited.free = waited.free.saturating_sub(1);
        if key.mark.is_some() {
            waited.marked += 1;
        } else {
            waited.waiting += 1;
            waited.first.get_or_insert_with(|| key_line(key));
        }
    })?;
    Ok(waited)
}

impl Waited {
    /// Of what a retry was to do, nothing may be refused; of what was marked, nothing may be left.
    pub(super) fn exit_code(&self, verb: Verb) -> u8 {
        match (self.marked, self.waiting, verb) {
            (1.., _, _) => HaltKind::Outage.exit_code(),
            (0, 1.., Verb::Retry) => HaltKind::Reject.exit_code(),
            (0, _, _) => exit::OK,
        }
    }

    pub(super) fn told(&self, verb: Verb) -> String {
        let waiting = match verb {
            Verb::Retry => format!("{} refused again", self.waiting),
            Verb::Drop => format!("{} with events that wait on", self.waiting),
        };
        let mut text = format!("{} free, {waiting}, {} still marked", counted(self.free, "key"), self.marked);
        if let (Some(first), Verb::Retry) = (&self.first, verb) {
            text = format!("{text}; refused: {first}");
        }
        if self.marked > 0 {
            text.push_str("; the marks stay: the job does it when it runs");
        }
        text
    }

    pub(super) fn as_json(&self) -> serde_json::Value {
        json!({ "free": self.free, "waiting": self.waiting, "marked": self.marked })
    }
}

/// One line that renews itself on a terminal, a line now and then elsewhere.
struct Progress {
    terminal: bool,
    said: Option<Duration>,
}

impl Progress {
    fn new() -> Progress {
        Progress { terminal: std::io::stderr().is_terminal(), said: None }
    }

    fn show(&mut self, after: Duration, marked: usize, of: usize) {
        let text = format!("waiting for {} s: {marked} of {of} key groups have marked keys", after.as_secs());
        if self.terminal {
            renew_line(&text);
        } else if after >= self.said.map_or(PLAIN_PERIOD, |said| said + PLAIN_PERIOD) {
            self.said = Some(after);
            error_line(&text);
        }
    }

    fn end(&self) {
        if self.terminal {
            end_renewing();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waited(free: u64, waiting: u64, marked: u64) -> Waited {
        Waited { free, waiting, marked, first: None }
    }

    #[test]
    fn codes_say_how_it_went() {
        let codes = |waited: Waited| [Verb::Retry, Verb::Drop].map(|verb| waited.exit_code(verb));
        assert_eq!(codes(waited(3, 0, 0)), [0, 0]);
        assert_eq!(codes(waited(1, 2, 0)), [65, 0]);
        assert_eq!(codes(waited(1, 1, 1)), [69, 69]);
    }

    #[test]
    fn words_say_how_it_went() {
        let refused = Waited { first: Some("\"K\": ...".to_owned()), ..waited(1, 2, 0) };
        assert_eq!(
            refused.told(Verb::Retry),
            "1 key free, 2 refused again, 0 still marked; refused: \"K\": ..."
        );
        assert_eq!(
            waited(0, 2, 0).told(Verb::Drop),
            "0 keys free, 2 with events that wait on, 0 still marked"
        );
        assert!(waited(0, 0, 1).told(Verb::Drop).contains("the marks stay"));
    }
}
