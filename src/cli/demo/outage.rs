//! Outage: takes the database away from the job in the middle of the demo, and gives it back.
//!
//! In:        how much was sent; the board, to see the job hold and go on     Out: lines for who watches
//! Holds:     the database's write lock, for [`LASTS`]
//! Fails:     where the lock cannot be had
//! Not here:  no hint to the job: it meets a locked file, as it would meet any other trouble

use super::say::Teller;
use crate::database::Onlooker;
use crate::status::Board;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long the database is out.
pub(super) const LASTS: Duration = Duration::from_secs(4);

/// The outage, before, during and after.
pub(super) struct Outage {
    onlooker: Onlooker,
    begins_at: u64,
    act: Act,
}

enum Act {
    Before,
    Locked(Instant),
    Unlocked(Instant),
    Over,
}

impl Outage {
    /// Prepares one that begins when so many changes are sent.
    pub(super) fn prepare(database: &Path, begins_at: u64) -> Result<Outage, String> {
        let onlooker = Onlooker::open(database).map_err(|error| error.to_string())?;
        Ok(Outage { onlooker, begins_at, act: Act::Before })
    }

    /// Does what is due. `early`: the demo ends now, so no new trouble, and none that lasts.
    pub(super) fn step(
        &mut self,
        sent: u64,
        early: bool,
        board: &Board,
        tell: &Teller,
    ) -> Result<(), String> {
        let failed = |error| format!("the demo cannot lock its database: {error}");
        match self.act {
            Act::Before if sent >= self.begins_at && !early => {
                self.onlooker.lock().map_err(failed)?;
                self.act = Act::Locked(Instant::now());
                tell.say(&format!(
                    "OUTAGE: another connection has locked the database, for {} s; the shop goes on selling",
                    LASTS.as_secs()
                ));
            }
            Act::Locked(since) if early || since.elapsed() >= LASTS => {
                self.onlooker.unlock().map_err(failed)?;
                self.act = Act::Unlocked(Instant::now());
                tell.say("the lock is gone, and nobody tells the job");
            }
            Act::Unlocked(since) if board.holding().is_empty() => {
                self.act = Act::Over;
                tell.say(&format!(
                    "the job goes on from the event that met the lock, {} ms after it was gone",
                    since.elapsed().as_millis()
                ));
            }
            _ => {}
        }
        Ok(())
    }
}
