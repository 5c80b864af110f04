//! Locked: a row that somebody else keeps locked for long is an outage, with its name.
//!
//! In:        a lane met contention, or got through     Out: the job is shown as holding; a halt after the job's limit
//! Holds:     per lane since when it does not get through
//! Order:     none
//! Fails:     never
//! Not here:  when a transaction runs again (protocol::gate): it goes on trying as it does for a moment's contention

use crate::job::JobSpec;
use crate::protocol::halt::{Halt, HaltKind};
use crate::status::{Board, World};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// From this time on it is an outage. A deadlock is over at once, and a lock that is held over a statement soon.
const LONG: Duration = Duration::from_secs(10);

/// The lanes of a worker that do not get through.
pub(super) struct Locked {
    since: BTreeMap<usize, Instant>,
    is_shown: bool,
    limit: Option<Duration>,
    board: Arc<Board>,
}

impl Locked {
    pub(super) fn new(spec: &JobSpec, board: &Arc<Board>) -> Locked {
        let limit = Some(Duration::from_secs(spec.outage.limit_s)).filter(|limit| !limit.is_zero());
        Locked { since: BTreeMap::new(), is_shown: false, limit, board: Arc::clone(board) }
    }

    /// A lane met contention once more: `said` names the record or the step. A halt where the job allows no more.
    pub(super) fn again(&mut self, lane: usize, said: &str) -> Option<Halt> {
        let locked_for = self.since.entry(lane).or_insert_with(Instant::now).elapsed();
        if locked_for < LONG {
            return None;
        }
        let seconds = locked_for.as_secs();
        let why = format!("somebody else keeps a lock that the job needs, for {seconds} s now: {said}");
        self.is_shown = true;
        self.board.holds(World::Database, &why);
        let limit = self.limit.filter(|limit| locked_for >= *limit)?;
        let text = format!("{why}; and outage.limit_s is {}", limit.as_secs());
        Some(Halt::new(HaltKind::Outage, text))
    }

    /// A lane got through.
    pub(super) fn through(&mut self, lane: usize) {
        self.since.remove(&lane);
        if self.is_shown && self.since.values().all(|since| since.elapsed() < LONG) {
            self.is_shown = false;
            self.board.resumes(World::Database);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(locked: &Locked) -> Vec<String> {
        locked.board.holding().into_iter().map(|hold| hold.why).collect()
    }

    async fn held(limit: Option<Duration>) {
        let board_of_job = Arc::new(Board::new(1));
        let mut locked = Locked { since: BTreeMap::new(), is_shown: false, limit, board: board_of_job };
        assert_eq!(locked.again(0, "row"), None);
        tokio::time::advance(LONG / 2).await;
        assert_eq!(locked.again(0, "row"), None);
        assert!(board(&locked).is_empty(), "a moment's contention is no outage");
        tokio::time::advance(LONG / 2).await;
        assert_eq!(locked.again(0, "record a/0/7: step 1"), None);
        assert_eq!(
            board(&locked),
            ["somebody else keeps a lock that the job needs, for 10 s now: record a/0/7: step 1"]
        );
        locked.through(1);
        assert_eq!(board(&locked).len(), 1, "another lane says nothing of this one");
        tokio::time::advance(LONG * 2).await;
        let halt = locked.again(0, "row").map(|halt| halt.kind);
        assert_eq!(halt, limit.map(|_| HaltKind::Outage));
        locked.through(0);
        assert!(board(&locked).is_empty());
    }

    #[test]
    fn a_lock_that_stays_is_an_outage() {
        for limit in [None, Some(Duration::from_secs(20))] {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            runtime.enable_all().start_paused(true).build().unwrap().block_on(held(limit));
        }
    }
}
