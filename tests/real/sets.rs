//! Events that run together have the outcome of one by one, on MariaDB.
//!
//! The broker is in memory, and the job in this process: what is held against each other is what the database was told.

use super::differential::{self, Dialect, Place, Server};
use super::services::turn;
use super::sql::Sql;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

/// Of a plain `cargo test`.
const SEEDS: u64 = 60;
/// Beside each other.
const AT_A_TIME: usize = 6;

/// A server's address.
struct MariaDb(String);

impl Server for MariaDb {
    fn dialect(&self) -> Dialect {
        Dialect::MariaDb
    }

    fn schema(&self, statements: &[String]) -> Box<dyn Place> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("tidegate_sets_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let mut server = Sql::new(&self.0, "shop");
        server.run(&format!("DROP DATABASE IF EXISTS {name}"));
        server.run(&format!("CREATE DATABASE {name} CHARACTER SET utf8mb4"));
        let mut schema = Sql::new(&self.0, &name);
        statements.iter().for_each(|statement| schema.run(statement));
        Box::new(Database { db: self.0.clone(), name, schema: RefCell::new(schema) })
    }
}

struct Database {
    db: String,
    name: String,
    schema: RefCell<Sql>,
}

impl Place for Database {
    fn url(&self) -> String {
        format!("mysql://app:app@{}/{}", self.db, self.name)
    }

    fn rows(&self, query: &str) -> Vec<Vec<Option<String>>> {
        let mut rows = Vec::new();
        self.schema.borrow_mut().each(query, |row: mysql_async::Row| {
            let text = |value: mysql_async::Value| match value {
                mysql_async::Value::NULL => None,
                mysql_async::Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
                other => Some(other.as_sql(true)),
            };
            rows.push(row.unwrap().into_iter().map(text).collect());
        });
        rows
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        self.schema.borrow_mut().try_run(&format!("DROP DATABASE {}", self.name));
    }
}

#[test]
fn what_runs_together_is_as_one_by_one_on_mariadb() {
    let turn = turn();
    let server = MariaDb(turn.services.db.clone());
    differential::run(&server, SEEDS, AT_A_TIME, "--test real as_one_by_one");
}

#[test]
fn a_plan_that_is_wrong_is_found_on_mariadb() {
    let turn = turn();
    let server = MariaDb(turn.services.db.clone());
    differential::each_is_found(&server, AT_A_TIME, 2);
}
