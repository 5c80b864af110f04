//! MySQL and MariaDB.
//!
//! In:        the job's `[database]`
//! Out:       sessions that are alike whatever the server's defaults are: READ COMMITTED, UTC, utf8mb4, strict
//! Holds:     no pool: one session is one connection, and whoever has it drops it
//! Fails:     classified by `classes.rs`; connecting gives up after [`CONNECT_DEADLINE`]
//! Not here:  no deadline but that one: whoever calls has the others, and drops the session

use super::steps::Steps;
use super::{Database, DatabaseError, ErrorClass, Pending, Session};
use crate::job::{DatabaseKind, DatabaseSpec};
use closing::Closing;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder};
use session::MySqlSession;
use std::sync::Arc;
use std::time::Duration;

pub(super) mod classes;

mod error;

mod value;

mod session;

mod closing;

mod lookup;

mod store;

/// How long opening a connection may take: the server answers within it or it is not there.
const CONNECT_DEADLINE: Duration = Duration::from_secs(5);

/// Idle time after which the operating system asks whether the peer is there.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// Prepared statements that a session keeps for the ledger, and for each step.
const CACHED_FOR_LEDGER: usize = 72;
const CACHED_PER_STEP: usize = 6;

/// A too long value must be an error, and never be cut, whatever the server's own mode is.
const SQL_MODE: &str =
    "STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION";

/// A MySQL or MariaDB server.
#[derive(Clone, Debug)]
pub(super) struct MySql {
    options: Opts,
    job: Arc<str>,
    steps: Arc<Steps>,
    statement_deadline_s: u64,
    connect_deadline: Duration,
}

impl MySql {
    pub(super) fn new(spec: &DatabaseSpec, job: &str) -> Result<MySql, DatabaseError> {
        let DatabaseKind::MySql { host, port, user, password, database, .. } = &spec.kind else {
            return Err(DatabaseError::new(ErrorClass::Misconfigured, "the URL is not of a MySQL server"));
        };
        let steps = Steps::new(spec);
        let options = OptsBuilder::default()
            .ip_or_hostname(host.as_str())
            .tcp_port(*port)
            .user(Some(user.as_str()))
            .pass(password.as_ref().map(|secret| secret.0.as_str()))
            .db_name(Some(database.as_str()))
            // The driver would move to the Unix socket on its own, past whatever stands at the port.
            .prefer_socket(false)
            .tcp_nodelay(true)
            .tcp_keepalive(Some(KEEPALIVE))
            // An UPDATE counts the rows that it found, so that the compare-and-set sees a row that stays as it is.
            .client_found_rows(true)
            .stmt_cache_size(CACHED_FOR_LEDGER + CACHED_PER_STEP * steps.len());
        Ok(MySql {
            options: options.into(),
            job: Arc::from(job),
            steps: Arc::new(steps),
            statement_deadline_s: u64::from(spec.deadline_s),
            connect_deadline: CONNECT_DEADLINE,
        })
    }

    fn at(&self) -> String {
        format!("connecting to {}:{}", self.options.ip_or_hostname(), self.options.tcp_port())
    }

    /// Opens a session with no deadline but the caller's.
    async fn open(self) -> Result<MySqlSession, DatabaseError> {
        let fail = |error| error::classify(&self.at(), error).session_lost();
        let mut conn = Conn::new(self.options.clone()).await.map_err(fail)?;
        let asked = "SELECT VERSION(), @@max_allowed_packet";
        let row: Option<mysql_async::Row> = conn.query_first(asked).await.map_err(fail)?;
        let server = row.and_then(|row| Some(Server::from_version(&row.get::<String, _>(0)?, row.get(1)?)));
        let server = server.ok_or_else(|| {
            let message = format!("{}: the server does not say what it is", self.at());
            DatabaseError::new(ErrorClass::Unknown, message).session_lost()
        })?;
        for text in session_setup(server, self.statement_deadline_s) {
            conn.query_drop(text).await.map_err(fail)?;
        }
        Ok(MySqlSession::new(conn, server, self.job, self.steps))
    }
}

impl Database for MySql {
    fn connect(&self) -> Pending<'_, Box<dyn Session>> {
        let opening = Closing::new(Box::pin(self.clone().open()));
        Box::pin(async move {
            let opened = tokio::time::timeout(self.connect_deadline, opening).await.map_err(|_| {
                let message = format!("{}: no answer within {:?}", self.at(), self.connect_deadline);
                DatabaseError::new(ErrorClass::Outage, message).session_lost()
            })?;
            let session: Box<dyn Session> = Box::new(opened?);
            Ok(session)
        })
    }
}

/// What a session must know of its server.
#[derive(Clone, Copy, Debug)]
struct Server {
    mariadb: bool,
    /// Takes many rows of parameters in one message (COM_STMT_BULK_EXECUTE).
    bulk: bool,
    /// Ends a transaction whose client has fallen silent.
    ends_idle: bool,
    /// `max_allowed_packet`
    packet_bytes_max: usize,
}

impl Server {
    /// From a text such as `10.11.19-MariaDB-log` or `8.4.3`. Proxies may put `5.5.5-` in front.
    fn from_version(version: &str, packet_bytes_max: usize) -> Server {
        let mariadb = version.contains("MariaDB");
        let numbers = version.strip_prefix("5.5.5-").unwrap_or(version);
        let mut numbers = numbers.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
        let release = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        Server {
            mariadb,
            bulk: mariadb && release >= (10, 2),
            ends_idle: mariadb && release >= (10, 3),
            packet_bytes_max,
        }
    }
}

fn session_setup(server: Server, statement_deadline_s: u64) -> Vec<String> {
    let mut setup = vec![
        "SET NAMES utf8mb4".to_owned(),
        format!("SET SESSION sql_mode = '{SQL_MODE}', time_zone = '+00:00', autocommit = 1"),
        "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED".to_owned(),
    ];
    if server.mariadb && statement_deadline_s > 0 {
        // A statement that nobody waits for any more must not run, and hold its locks, for ever.
        setup.push(format!("SET SESSION max_statement_time = {}", statement_deadline_s.saturating_add(1)));
    }
    if statement_deadline_s > 0 {
        // A lock that somebody else keeps must be heard of as that, with the statement that waits for it, before the deadline
        // makes an answer that never came of it.
        let wait_s = statement_deadline_s.div_euclid(3).max(1);
        setup.push(format!(
            "SET SESSION innodb_lock_wait_timeout = LEAST(@@SESSION.innodb_lock_wait_timeout, {wait_s})"
        ));
    }
    if server.ends_idle && statement_deadline_s > 0 {
        // A process that stands still in the middle of a transaction, or whose machine is cut off, must not keep the
        // position rows from the instance that takes over: without this the server waits for hours.
        setup.push(format!("SET SESSION idle_transaction_timeout = {statement_deadline_s}"));
    }
    setup
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod version_tests {
    use super::Server;

    #[test]
    fn what_a_server_can_do_is_known_by_its_version() {
        let bulk = |version| Server::from_version(version, 0).bulk;
        assert!(bulk("10.11.19-MariaDB-0+deb12u1"));
        assert!(bulk("5.5.5-10.6.1-MariaDB-log"));
        assert!(bulk("11.4.2-MariaDB"));
        assert!(!bulk("10.1.48-MariaDB"));
        assert!(!bulk("8.4.3"));
        let ends_idle = |version| Server::from_version(version, 0).ends_idle;
        assert!(ends_idle("10.3.0-MariaDB") && !ends_idle("10.2.44-MariaDB") && !ends_idle("8.4.3"));
    }
}
