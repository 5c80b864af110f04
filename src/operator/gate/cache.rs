//! Cache: rows that look-ups have found, for as long as the job file says; by default for no time at all.
//!
//! In:        a look-up and its parameters     Out: the row that it found at most `cache_s` ago
//! Holds:     per worker at most [`ROWS_MAX`] rows; when there is no room it forgets all of them
//! Order:     none
//! Fails:     never: what is not known is asked
//! Not here:  what may be cached (job: not what the job itself writes). That a row is not there is never remembered: one that is
//!            added is seen by the next event

use crate::database::{DatabaseError, Row, Session};
use crate::job::LookupStep;
use crate::model::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Rows of a worker. A row of some columns takes 200 to 500 bytes.
const ROWS_MAX: usize = 20_000;

/// Shared by the lanes of a worker.
#[derive(Clone, Default)]
pub(super) struct Cache(Arc<Mutex<Kept>>);

/// By step and encoded parameters: the row, and until when it counts.
#[allow(clippy::disallowed_types, reason = "only looked up, never iterated")]
type Kept = HashMap<(usize, Vec<u8>), (Row, Instant)>;

impl Cache {
    /// Asks a look-up for these rows of parameters, those apart whose answer is known.
    pub(super) async fn look_up(
        &self,
        session: &mut dyn Session,
        (number, lookup): (usize, &LookupStep),
        rows: &[Row],
    ) -> Result<Vec<Option<Row>>, DatabaseError> {
        if lookup.cache_s == 0 {
            return session.lookup(number, rows).await;
        }
        let now = Instant::now();
        let keys: Vec<Option<Vec<u8>>> = rows.iter().map(|row| encoded(row)).collect();
        let mut found: Vec<Option<Row>> = {
            let kept = self.kept();
            let known = |key: &Option<Vec<u8>>| {
                let (row, until) = kept.get(&(number, key.clone()?))?;
                (*until > now).then(|| row.clone())
            };
            keys.iter().map(known).collect()
        };
        let unknown = (0..).zip(&found).filter(|(_, row)| row.is_none());
        let asked: Vec<usize> = unknown.map(|(index, _)| index).collect();
        if asked.is_empty() {
            return Ok(found);
        }
        let parameters: Vec<Row> = asked.iter().filter_map(|index| rows.get(*index).cloned()).collect();
        let answers = session.lookup(number, &parameters).await.map_err(|mut error| {
            error.row = error.row.and_then(|row| asked.get(row)).copied();
            error
        })?;
        let until = now + Duration::from_secs(lookup.cache_s);
        let mut kept = self.kept();
        for (index, answer) in asked.into_iter().zip(answers) {
            let key = keys.get(index).cloned().flatten();
            if let Some((key, row)) = key.zip(answer.clone()) {
                if kept.len() >= ROWS_MAX {
                    kept.clear();
                }
                kept.insert((number, key), (row, until));
            }
            if let Some(place) = found.get_mut(index) {
                *place = answer;
            }
        }
        Ok(found)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parameters that cannot be encoded are asked for each time.
fn encoded(parameters: &[Value]) -> Option<Vec<u8>> {
    postcard::to_allocvec(parameters).ok()
}
