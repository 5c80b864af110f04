//! Onlooker: a connection to an SQLite file that is not the job's, for the demo: it makes the schema, gets in the job's
//! way, and reads what the job has left.
//!
//! In:        a file; SQL text without parameters     Out: rows, one at a time
//! Holds:     one connection, and the file's lock from `lock` to `unlock` or its own end
//! Fails:     classified as any session's errors are
//! Not here:  the turn to write: to the job it is what another process would be

use super::error::classify;
use super::value::read;
use crate::database::{DatabaseError, Row};
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

/// Another connection to an SQLite file.
pub struct Onlooker {
    connection: Connection,
}

/// How long it waits for the job to let go of the file.
const PATIENCE: Duration = Duration::from_secs(30);

impl Onlooker {
    /// Opens the file, and makes it where it is missing.
    ///
    /// # Errors
    /// Where it cannot be opened.
    pub fn open(path: &Path) -> Result<Onlooker, DatabaseError> {
        let fail = |error| classify(&format!("opening sqlite:{}", path.display()), error);
        let connection = Connection::open(path).map_err(fail)?;
        connection.busy_timeout(PATIENCE).map_err(fail)?;
        Ok(Onlooker { connection })
    }

    /// Runs statements.
    ///
    /// # Errors
    /// What SQLite said of the first that failed.
    pub fn execute(&self, statements: &str) -> Result<(), DatabaseError> {
        self.connection.execute_batch(statements).map_err(|error| classify("the statements", error))
    }

    /// Takes the file's lock: from here on nobody else can write.
    ///
    /// # Errors
    /// Where somebody else holds it for half a minute.
    pub fn lock(&self) -> Result<(), DatabaseError> {
        self.execute("BEGIN EXCLUSIVE")
    }

    /// Lets go of the lock.
    ///
    /// # Errors
    /// Where it does not hold it.
    pub fn unlock(&self) -> Result<(), DatabaseError> {
        self.execute("ROLLBACK")
    }

    /// Hands over each row of a query's answer.
    ///
    /// # Errors
    /// What SQLite said of the query or of a row.
    pub fn each(&self, query: &str, mut take: impl FnMut(Row)) -> Result<(), DatabaseError> {
        let fail = |error| classify("the query", error);
        let mut statement = self.connection.prepare(query).map_err(fail)?;
        let columns = statement.column_count();
        let mut rows = statement.query(()).map_err(fail)?;
        while let Some(row) = rows.next().map_err(fail)? {
            let values = (0..columns).map(|index| row.get_ref(index).map(read));
            take(values.collect::<Result<Row, _>>().map_err(fail)?);
        }
        Ok(())
    }
}
