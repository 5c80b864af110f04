//! Looked: an event with what its look-ups gave.

use crate::model::{Event, Timestamp, Value};
use std::time::{SystemTime, UNIX_EPOCH};

/// An event on its way through the steps.
pub(super) struct Looked<'a> {
    pub(super) event: &'a Event,
    /// Per step, the referenced columns; none: it is no look-up, it was not run, or it found nothing.
    pub(super) rows: Vec<Option<Vec<Value>>>,
    /// `:_now`
    pub(super) now: Timestamp,
}

impl<'a> Looked<'a> {
    /// Before anything was looked up for it.
    pub(super) fn new(event: &'a Event, steps: usize, now: Timestamp) -> Looked<'a> {
        Looked { event, rows: vec![None; steps], now }
    }

    /// As before anything was looked up for it: what an earlier run found is not what this one finds.
    pub(super) fn forget(&mut self) {
        self.rows.iter_mut().for_each(|row| *row = None);
    }
}

/// The wall clock.
pub(super) fn now() -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis());
    i64::try_from(now).ok().and_then(Timestamp::from_unix_ms).unwrap_or(Timestamp::UNIX_EPOCH)
}
