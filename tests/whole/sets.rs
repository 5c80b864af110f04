//! Events that run together have the outcome of one by one, on SQLite.

use super::differential::{self, Dialect, Place, Server};
use super::sqlite::Sqlite;
use rusqlite::types::ValueRef;

/// Of a plain `cargo test`.
const SEEDS: u64 = 150;
/// Beside each other.
const AT_A_TIME: usize = 8;

/// Files.
struct Files;

impl Server for Files {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn schema(&self, statements: &[String]) -> Box<dyn Place> {
        Box::new(File(Sqlite::with_schema(statements)))
    }
}

struct File(Sqlite);

impl Place for File {
    fn url(&self) -> String {
        self.0.url()
    }

    fn rows(&self, query: &str) -> Vec<Vec<Option<String>>> {
        let connection = self.0.connection();
        let mut statement = connection.prepare(query).unwrap_or_else(|e| panic!("{e}\n{query}"));
        let columns = statement.column_count();
        let text = |value: ValueRef<'_>| match value {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(number.to_string()),
            ValueRef::Real(number) => Some(format!("{number:?}")),
            ValueRef::Text(text) => Some(format!("'{}'", String::from_utf8_lossy(text))),
            ValueRef::Blob(bytes) => Some(format!("{bytes:x?}")),
        };
        let rows = statement.query_map([], |row| (0..columns).map(|at| Ok(text(row.get_ref(at)?))).collect());
        rows.unwrap().map(Result::unwrap).collect()
    }
}

#[test]
fn what_runs_together_is_as_one_by_one_on_sqlite() {
    differential::run(&Files, SEEDS, AT_A_TIME, "--test whole as_one_by_one");
}

#[test]
fn a_plan_that_is_wrong_is_found_on_sqlite() {
    differential::each_is_found(&Files, AT_A_TIME, 4);
}
