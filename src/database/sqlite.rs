//! SQLite: for a job on one machine, and for the demo.
//!
//! In:        the job's `[database]`
//! Out:       sessions with WAL, full synchronisation and foreign keys
//! Holds:     the turn to write: sessions of this process wait for each other, in order. A writer of another process
//!            that holds the file for longer than [`BUSY_MS`] is an outage
//! Fails:     misconfigured where the file's folder does not exist; else classified by `classes.rs`
//! Not here:  MySQL's types: a decimal is kept as its text, a timestamp as ISO 8601, a truth value as 1 or 0

use super::steps::Steps;
use super::{Database, DatabaseError, ErrorClass, Pending, Session};
use crate::job::DatabaseSpec;
use rusqlite::Connection;
use session::SqliteSession;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex as StdMutex, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Mutex;

pub(super) mod classes;

mod error;

mod onlooker;
pub use onlooker::Onlooker;

mod session;

mod statements;

mod value;

/// How long a statement waits for another process's lock, in milliseconds.
const BUSY_MS: u64 = 200;

/// Held while a file is opened. The first to open a new file turns it to WAL, for which SQLite wants the file alone
/// and does not wait: others of this process come after it.
static OPENING: StdMutex<()> = StdMutex::new(());

/// Prepared statements that a session keeps.
const CACHED: usize = 96;

/// An SQLite file.
#[derive(Debug)]
pub(super) struct Sqlite {
    path: PathBuf,
    job: Arc<str>,
    steps: Arc<Steps>,
    /// Whoever holds it may write.
    turn: Arc<Mutex<()>>,
}

impl Sqlite {
    pub(super) fn new(spec: &DatabaseSpec, path: &str, job: &str) -> Result<Sqlite, DatabaseError> {
        let path = PathBuf::from(path);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            let message = format!("sqlite:{}: the folder does not exist; create it", path.display());
            return Err(DatabaseError::new(ErrorClass::Misconfigured, message));
        }
        let turn = turn_of(&path, folder);
        Ok(Sqlite { path, job: Arc::from(job), steps: Arc::new(Steps::new(spec)), turn })
    }
}

/// The turns of the files that are open in this process.
static TURNS: StdMutex<BTreeMap<PathBuf, Weak<Mutex<()>>>> = StdMutex::new(BTreeMap::new());

/// One turn per file, however many times the file is opened.
fn turn_of(path: &Path, folder: &Path) -> Arc<Mutex<()>> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = folder.join(path.file_name().unwrap_or_default());
    let mut turns = TURNS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(turn) = turns.get(&name).and_then(Weak::upgrade) {
        return turn;
    }
    let turn = Arc::new(Mutex::new(()));
    turns.retain(|_, turn| turn.strong_count() > 0);
    turns.insert(name, Arc::downgrade(&turn));
    turn
}

impl Database for Sqlite {
    fn connect(&self) -> Pending<'_, Box<dyn Session>> {
        Box::pin(async move {
            let path = self.path.clone();
            let opened = tokio::task::spawn_blocking(move || open(&path)).await;
            let connection = opened.map_err(|_| session::lost())??;
            let (job, steps, turn) = (Arc::clone(&self.job), Arc::clone(&self.steps), Arc::clone(&self.turn));
            let session: Box<dyn Session> = Box::new(SqliteSession::new(connection, job, steps, turn));
            Ok(session)
        })
    }
}

fn open(path: &Path) -> Result<Connection, DatabaseError> {
    let doing = format!("opening sqlite:{}", path.display());
    let fail = |error| error::classify(&doing, error).session_lost();
    let _alone = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    let connection = Connection::open(path).map_err(fail)?;
    connection.busy_timeout(Duration::from_millis(BUSY_MS)).map_err(fail)?;
    // The journal's mode is kept in the file; setting it again needs no lock.
    connection.pragma_update(None, "journal_mode", "WAL").map_err(fail)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(fail)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(fail)?;
    connection.set_prepared_statement_cache_capacity(CACHED);
    Ok(connection)
}

#[cfg(test)]
mod tests;
