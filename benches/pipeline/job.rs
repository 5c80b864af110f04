//! Job: Tidegate's job file, as a person would write it, for each shape of job.
//!
//! In:        a shape, the topics     Out: a job file; SQLite's database, and what it holds in the end
//! Not here:  MariaDB's tables (world)

use crate::contender::Place;
use crate::expected::{Rows, crc32};
use crate::inputs::CUSTOMERS;
use std::path::PathBuf;

/// What the job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// One look-up, one upsert.
    Main,
    /// The same on SQLite.
    Sqlite,
    /// One look-up; the order, its lines, a journal.
    Three,
    /// One look-up, one row more of a journal.
    Append,
}

fn sqlite_file(place: &Place<'_>) -> PathBuf {
    place.folder.join(format!("{}.db", place.topic_out))
}

/// What SQLite's orders table has.
pub(crate) fn sqlite_orders(place: &Place<'_>) -> Rows {
    let connection = rusqlite::Connection::open(sqlite_file(place)).expect("the SQLite file");
    let query = "SELECT concat_ws('|', id, customer, total, currency, placed_at) FROM bench_order";
    let mut statement = connection.prepare(query).expect("the orders");
    let mut found = statement.query([]).expect("the orders");
    let mut rows = Rows::default();
    while let Some(row) = found.next().expect("an order") {
        rows.add(crc32(row.get::<_, String>(0).expect("text").as_bytes()));
    }
    rows
}

/// The customers in a SQLite file of its own, and the empty orders table.
pub(crate) fn sqlite(place: &Place<'_>) {
    let file = sqlite_file(place);
    let connection = rusqlite::Connection::open(file).expect("a SQLite file");
    let customers = (0..CUSTOMERS).map(|id| format!("({id}, 'Customer number {id}', 'gold')"));
    let sql = format!(
        "CREATE TABLE bench_customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tier TEXT NOT NULL);
         CREATE TABLE bench_order (id TEXT PRIMARY KEY, customer INTEGER NOT NULL, total TEXT NOT NULL, currency TEXT NOT NULL,
                                   placed_at TEXT NOT NULL);
         INSERT INTO bench_customer VALUES {};",
        customers.collect::<Vec<_>>().join(",")
    );
    connection.execute_batch(&sql).expect("the tables");
}

const UPSERT: &str = "INSERT INTO bench_order (id, customer, total, currency, placed_at)
VALUES (:id, :customer, :total, :currency, :placed_at)
ON DUPLICATE KEY UPDATE customer = VALUES(customer), total = VALUES(total), currency = VALUES(currency), placed_at = VALUES(placed_at)";
const UPSERT_SQLITE: &str = "INSERT INTO bench_order (id, customer, total, currency, placed_at)
VALUES (:id, :customer, :total, :currency, :placed_at)
ON CONFLICT (id) DO UPDATE SET customer = excluded.customer, total = excluded.total, currency = excluded.currency,
placed_at = excluded.placed_at";
const LINES: &str = "INSERT INTO bench_line (order_id, line, article, quantity, price)
VALUES (:id, :lines._index, :lines.article, :lines.quantity, :lines.price)
ON DUPLICATE KEY UPDATE article = VALUES(article), quantity = VALUES(quantity), price = VALUES(price)";
const JOURNAL: &str = "INSERT INTO bench_journal (order_id, customer, total) VALUES (:id, :customer, :total)";

/// The job as a person would write it.
pub(crate) fn job_file(place: &Place<'_>, shape: Shape) -> PathBuf {
    let step = |sql: &str| format!("[[database.steps]]\nstore = \"\"\"\n{sql}\"\"\"\n");
    let lines = format!("[[database.steps]]\nfor_each = \"lines\"\nstore = \"\"\"\n{LINES}\"\"\"\n");
    let steps = match shape {
        Shape::Main => step(UPSERT),
        Shape::Sqlite => step(UPSERT_SQLITE),
        Shape::Three => [step(UPSERT), lines, step(JOURNAL)].concat(),
        Shape::Append => step(JOURNAL),
    };
    let url = match shape {
        Shape::Sqlite => format!("sqlite:{}", sqlite_file(place).display()),
        Shape::Main | Shape::Three | Shape::Append => "${TIDEGATE_DB_URL}".to_owned(),
    };
    let list = match shape {
        Shape::Three => {
            "[event.lists.lines]\neach = \"s:lines/s:line\"\n[event.lists.lines.fields]\narticle = { path = \"s:article\", type = \"text\" }\n\
             quantity = { path = \"s:quantity\", type = \"int64\" }\nprice = { path = \"s:price\", type = \"decimal(12,2)\" }\n"
        }
        Shape::Main | Shape::Sqlite | Shape::Append => "",
    };
    let (kafka, topic_in, topic_out) = (&place.world.kafka, place.topic_in, place.topic_out);
    let text = format!(
        r#"[job]
name = "{topic_out}"

[source]
bootstrap_servers = "{kafka}"
topics = ["{topic_in}"]

[event]
namespaces = {{ s = "urn:shop:1" }}
each = "/s:order"
key = ["@id"]

[event.fields]
id        = {{ path = "@id", type = "text" }}
customer  = {{ path = "s:customer/@ref", type = "int64" }}
total     = {{ path = "s:total", type = "decimal(12,2)" }}
currency  = {{ path = "s:total/@currency", type = "text" }}
placed_at = {{ path = "s:placedAt", type = "timestamp", zone = "UTC" }}

{list}
[database]
url = "{url}"

[[database.steps]]
name = "customer"
lookup = "SELECT name, tier FROM bench_customer WHERE id = :customer"
missing = "null"

{steps}
[output]
topic = "{topic_out}"

[[output.add]]
at = "s:customer"
element = "s:name"
text = ":customer.name"
attributes = {{ tier = ":customer.tier" }}

[rejects]
unreadable = "halt"
"#
    );
    let file = place.folder.join(format!("{topic_out}.toml"));
    std::fs::write(&file, text).expect("the job file");
    file
}
