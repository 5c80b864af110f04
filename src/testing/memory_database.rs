//! A database in memory: committed tables, and locks on rows of the ledger.
//!
//! In:        the job's steps as look-up lists and tables     Out: sessions
//! Holds:     what is committed; who holds which position row and which parked key
//! Order:     a lock goes to whoever asks first behind its release
//! Fails:     as told: out (every session is lost, its transaction rolled back), or by a [`Lie`]
//! Not here:  faults on the way (faulty_database)

use super::memory_session::MemorySession;
use super::{Lie, Tables};
use crate::database::{Database, DatabaseError, ErrorClass, Pending, Row, Session};
use crate::model::{KeyGroup, KeyId, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// What a step of the job is here.
#[derive(Clone, Debug)]
pub enum MemoryStep {
    /// Parameters, and the columns that they find.
    Lookup(Vec<(Row, Row)>),
    /// Its parameters are appended as a row. `unique`: parameters that no two rows may have alike; none: anything goes.
    Store {
        /// Indices of parameters.
        unique: Vec<usize>,
        /// A parameter, and a value of it that the schema refuses until [`MemoryDatabase::mend`].
        refuses: Option<(usize, Value)>,
    },
}

/// One database.
#[derive(Debug)]
pub struct MemoryDatabase {
    state: Mutex<State>,
    committed: Condvar,
    pub(super) unlocked: Notify,
    pub(super) steps: Vec<MemoryStep>,
    pub(super) lie: Option<Lie>,
}

/// A row that a session can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lock {
    Position(KeyGroup),
    Key(KeyId),
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) tables: Tables,
    /// Which session holds a row.
    pub(super) locks: BTreeMap<Lock, u64>,
    /// The schema takes what it refused.
    pub(super) mended: bool,
    pub(super) next_session: u64,
    pub(super) next_row: u64,
    pub(super) commits: u64,
    /// Raised by each outage: sessions of an earlier one are lost.
    pub(super) generation: u64,
    pub(super) out: bool,
}

/// How long a row lock is waited for.
pub(super) const LOCK_WAIT: Duration = Duration::from_millis(300);

pub(super) fn failed(class: ErrorClass, message: &str) -> DatabaseError {
    let broken = matches!(class, ErrorClass::Outage | ErrorClass::Rights);
    DatabaseError { class, code: None, message: message.to_owned(), broken, rolled_back: false, row: None }
}

impl MemoryDatabase {
    /// A database of one job.
    pub fn new(steps: Vec<MemoryStep>, lie: Option<Lie>) -> Arc<MemoryDatabase> {
        Arc::new(MemoryDatabase {
            state: Mutex::default(),
            committed: Condvar::new(),
            unlocked: Notify::new(),
            steps,
            lie,
        })
    }

    /// Handle for a job; sessions refer to the database.
    pub fn handle(self: &Arc<MemoryDatabase>) -> Arc<dyn Database> {
        Arc::new(Handle(Arc::clone(self)))
    }

    /// What is committed now.
    pub fn tables(&self) -> Tables {
        self.lock().tables.clone()
    }

    /// Puts another state in the place of what is committed: a backup, an operator's hand.
    pub fn restore(&self, tables: Tables) {
        self.lock().tables = tables;
        self.committed.notify_all();
    }

    /// Loses all sessions and refuses new ones, or takes them again.
    pub fn set_outage(&self, out: bool) {
        let mut state = self.lock();
        state.out = out;
        if out {
            state.generation = state.generation.saturating_add(1);
            state.locks.clear();
        }
        drop(state);
        self.unlocked.notify_waiters();
    }

    /// Waits until so many rows of the job are committed; `false`: not within `wait`.
    pub fn wait_for_rows(&self, rows: usize, wait: Duration) -> bool {
        let until = Instant::now() + wait;
        let mut state = self.lock();
        while state.tables.rows.len() < rows {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self.committed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// A person has mended the schema: stores take from now on what they have refused.
    pub fn mend(&self) {
        self.lock().mended = true;
    }

    /// Rows of the ledger that somebody holds: positions and parked keys.
    pub fn locked(&self) -> usize {
        self.lock().locks.len()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn was_committed(&self) {
        self.committed.notify_all();
    }
}

#[derive(Debug)]
struct Handle(Arc<MemoryDatabase>);

impl Database for Handle {
    fn connect(&self) -> Pending<'_, Box<dyn Session>> {
        Box::pin(async move {
            let mut state = self.0.lock();
            if state.out {
                return Err(failed(ErrorClass::Outage, "connection refused"));
            }
            state.next_session = state.next_session.saturating_add(1);
            let (number, generation) = (state.next_session, state.generation);
            drop(state);
            let session: Box<dyn Session> =
                Box::new(MemorySession::new(Arc::clone(&self.0), number, generation));
            Ok(session)
        })
    }
}
