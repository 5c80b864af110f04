//! A fresh schema of either engine, steps for it, and a way past the seam to look at what was stored.

use super::server::Server;
use crate::database::{Database, DatabaseError, Session, open};
use crate::job::{
    DatabaseKind, DatabaseSpec, LookupStep, Meta, Missing, On, Secret, Statement, Step, StoreStep, ValueRef,
};
use crate::model::{Decimal, Value};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;

/// A schema of its own.
pub(in crate::database) struct Fixture {
    pub(in crate::database) kind: DatabaseKind,
    place: Place,
}

enum Place {
    MariaDb { server: Arc<Server>, schema: String },
    Sqlite { _folder: TempDir },
}

/// Numbers the schemas and accounts of this process.
static COUNT: AtomicU32 = AtomicU32::new(0);

impl Fixture {
    pub(in crate::database) fn sqlite() -> Fixture {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.db").display().to_string();
        Fixture { kind: DatabaseKind::Sqlite { path }, place: Place::Sqlite { _folder: folder } }
    }

    pub(in crate::database) fn mariadb() -> Fixture {
        Fixture::on(Server::shared())
    }

    pub(in crate::database) fn on(server: Arc<Server>) -> Fixture {
        let schema =
            format!("tidegate_test_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        runtime().block_on(server.admin(&[
            &format!("CREATE DATABASE {schema}"),
            &format!("CREATE USER {schema} IDENTIFIED BY 'pass'"),
            &format!("GRANT ALL ON {schema}.* TO {schema}"),
        ]));
        let kind = DatabaseKind::MySql {
            host: server.admin.ip_or_hostname().to_owned(),
            port: server.admin.tcp_port(),
            user: schema.clone(),
            password: Some(Secret("pass".to_owned())),
            password_file: None,
            database: schema.clone(),
        };
        Fixture { kind, place: Place::MariaDb { server, schema } }
    }

    pub(in crate::database) fn is_mariadb(&self) -> bool {
        matches!(self.place, Place::MariaDb { .. })
    }

    pub(in crate::database) fn server(&self) -> &Server {
        match &self.place {
            Place::MariaDb { server, .. } => server,
            Place::Sqlite { .. } => panic!("SQLite has no server"),
        }
    }

    pub(in crate::database) fn schema(&self) -> &str {
        match &self.place {
            Place::MariaDb { schema, .. } => schema,
            Place::Sqlite { .. } => "main",
        }
    }

    /// Runs a test to its end.
    pub(in crate::database) fn run<F>(self, test: impl FnOnce(Arc<Fixture>) -> F)
    where
        F: Future<Output = ()>,
    {
        let fixture = Arc::new(self);
        runtime().block_on(test(Arc::clone(&fixture)));
    }

    /// Runs a statement past the seam.
    pub(in crate::database) async fn sql(&self, text: &str) {
        match &self.kind {
            DatabaseKind::Sqlite { path } => {
                rusqlite::Connection::open(path).unwrap().execute_batch(text).unwrap()
            }
            DatabaseKind::MySql { .. } => {
                let mut conn = self.admin().await;
                conn.query_drop(text).await.unwrap_or_else(|error| panic!("{text}: {error}"));
            }
        }
    }

    /// The first column of the rows, as text, read past the seam.
    pub(in crate::database) async fn column(&self, text: &str) -> Vec<String> {
        match &self.kind {
            DatabaseKind::Sqlite { path } => {
                let connection = rusqlite::Connection::open(path).unwrap();
                let mut statement = connection.prepare(text).unwrap();
                let rows = statement.query_map([], |row| {
                    row.get_ref(0).map(|value| match value {
                        rusqlite::types::ValueRef::Integer(number) => number.to_string(),
                        other => other.as_str().unwrap().to_owned(),
                    })
                });
                rows.unwrap().map(Result::unwrap).collect()
            }
            DatabaseKind::MySql { .. } => self.admin().await.query(text).await.unwrap(),
        }
    }

    async fn admin(&self) -> Conn {
        let options: Opts =
            OptsBuilder::from_opts(self.server().admin.clone()).db_name(Some(self.schema())).into();
        let mut conn = Conn::new(options).await.unwrap();
        conn.query_drop("SET NAMES utf8mb4").await.unwrap();
        conn.query_drop("SET time_zone = '+00:00'").await.unwrap();
        conn
    }

    /// The engine's text of the two.
    pub(in crate::database) fn pick<'a>(&self, mysql: &'a str, sqlite: &'a str) -> &'a str {
        if self.is_mariadb() { mysql } else { sqlite }
    }

    pub(in crate::database) fn spec(&self, steps: Vec<Step>) -> DatabaseSpec {
        DatabaseSpec {
            kind: self.kind.clone(),
            steps,
            connections: 4,
            batch_events: 500,
            deadline_s: 30,
            together: true,
        }
    }

    pub(in crate::database) fn open(&self, steps: Vec<Step>) -> Arc<dyn Database> {
        open(&self.spec(steps), "orders").unwrap()
    }

    pub(in crate::database) async fn session(&self, steps: Vec<Step>) -> Box<dyn Session> {
        self.open(steps).connect().await.unwrap()
    }

    /// A session with the ledger made.
    pub(in crate::database) async fn ledger(&self, steps: Vec<Step>) -> Box<dyn Session> {
        let mut session = self.session(steps).await;
        session.create_ledger().await.unwrap();
        session
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let Place::MariaDb { server, schema } = &self.place else { return };
        if std::thread::panicking() {
            return;
        }
        let (server, schema) = (Arc::clone(server), schema.clone());
        let clean = std::thread::spawn(move || {
            runtime().block_on(async {
                // A server that a test has stopped keeps nothing.
                if Conn::new(server.admin.clone()).await.is_ok() {
                    server.admin(&[&format!("DROP DATABASE {schema}"), &format!("DROP USER {schema}")]).await;
                }
            });
        });
        clean.join().expect("the schema of the test is dropped");
    }
}

pub(in crate::database) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

pub(in crate::database) fn lookup(sql: &str, columns: &[&str]) -> Step {
    Step::Lookup(LookupStep {
        cache_s: 0,
        name: Some("found".to_owned()),
        statement: statement(sql),
        on: On::Document,
        when: None,
        missing: Missing::Null,
        columns: columns.iter().map(|c| (*c).to_owned()).collect(),
    })
}

pub(in crate::database) fn store(sql: &str) -> Step {
    Step::Store(StoreStep {
        name: None,
        statement: statement(sql),
        for_each: None,
        on: On::Document,
        when: None,
    })
}

fn statement(sql: &str) -> Statement {
    let parameters = vec![ValueRef::Meta(Meta::Now); sql.matches('?').count()];
    Statement { sql: sql.to_owned(), parameters }
}

pub(in crate::database) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

pub(in crate::database) fn decimal(text: &str) -> Value {
    Value::Decimal(Decimal::from_canonical(text).unwrap())
}

/// The error of what must fail.
pub(in crate::database) fn error<T>(done: Result<T, DatabaseError>) -> DatabaseError {
    match done {
        Ok(_) => panic!("this must fail"),
        Err(error) => error,
    }
}
