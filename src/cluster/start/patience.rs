//! Patience: asks again while a world is out, says so, and gives up when the job is told to end.

use super::{Word, log_trouble};
use crate::cluster::ledger::{LedgerClient, Trouble};
use crate::database::{DatabaseError, Session};
use crate::kafka::LogError;
use crate::protocol::halt::{Halt, HaltKind};
use crate::status::{Board, World};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

/// Why a start did not come to its end.
#[derive(Debug)]
pub(in crate::cluster) enum Stopped {
    /// It was told to.
    Cancelled,
    /// It cannot.
    Halt(Halt),
}

impl From<Halt> for Stopped {
    fn from(halt: Halt) -> Stopped {
        Stopped::Halt(halt)
    }
}

/// How a start waits.
pub(in crate::cluster) struct Patience {
    pub(in crate::cluster) board: Arc<Board>,
    /// Raised: give up.
    pub(in crate::cluster) cancelled: Arc<AtomicBool>,
    /// How long an outage may last.
    pub(in crate::cluster) limit: Option<Duration>,
}

const PAUSE_FIRST: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_millis(1_500);

impl Patience {
    /// Asks the log until it answers.
    pub(in crate::cluster) async fn log<T>(
        &self,
        mut ask: impl AsyncFnMut() -> Result<T, LogError>,
    ) -> Result<T, Stopped> {
        self.insist(World::Broker, async || ask().await.map_err(log_trouble)).await
    }

    /// Asks the ledger until it answers.
    pub(in crate::cluster) async fn ledger<T>(
        &self,
        client: &LedgerClient,
        ask: impl AsyncFn(&mut dyn Session) -> Result<T, DatabaseError>,
    ) -> Result<T, Stopped> {
        self.insist(World::Database, async || client.ask(&ask).await).await
    }

    async fn insist<T>(
        &self,
        world: World,
        mut ask: impl AsyncFnMut() -> Result<T, Trouble>,
    ) -> Result<T, Stopped> {
        let begun = Instant::now();
        let mut pause = PAUSE_FIRST;
        let mut held = false;
        loop {
            if self.cancelled.load(Ordering::Relaxed) {
                return Err(Stopped::Cancelled);
            }
            match ask().await {
                Ok(answer) => {
                    if held {
                        self.board.resumes(world);
                    }
                    return Ok(answer);
                }
                Err(Trouble::Halt(halt)) => return Err(Stopped::Halt(halt)),
                Err(Trouble::Later(said)) => {
                    if let Some(limit) = self.limit.filter(|limit| begun.elapsed() >= *limit) {
                        let text =
                            format!("{} out for {} s at the start: {said}", world.as_str(), limit.as_secs());
                        return Err(Stopped::Halt(Halt::new(HaltKind::Outage, text)));
                    }
                    self.board.holds(world, &said);
                    held = true;
                    sleep(pause).await;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
            }
        }
    }

    /// Waits for the worker's next word.
    pub(super) async fn next_word(&self, words: &mut mpsc::Receiver<Word>) -> Result<Word, Stopped> {
        loop {
            match timeout(Duration::from_millis(50), words.recv()).await {
                Ok(Some(word)) => return Ok(word),
                Ok(None) => return Err(Stopped::Cancelled),
                Err(_elapsed) if self.cancelled.load(Ordering::Relaxed) => return Err(Stopped::Cancelled),
                Err(_elapsed) => {}
            }
        }
    }
}
