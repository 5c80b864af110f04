//! World: the broker and the database of scripts/services, as the bench needs them.
//!
//! In:        TIDEGATE_KAFKA, TIDEGATE_DB_URL and TIDEGATE_SERVICES_DIR, as scripts/services writes them into its `env`
//! Out:       topics, tables, process ids, answers
//! Fails:     by panicking: a bench without a world measures nothing

use crate::expected::Rows;
use crate::inputs::CUSTOMERS;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts};
use rdkafka::ClientConfig;
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tokio::runtime::Runtime;

pub(crate) struct World {
    pub(crate) kafka: String,
    pub(crate) database: String,
    pub(crate) services: PathBuf,
    runtime: Runtime,
}

impl World {
    pub(crate) fn open() -> World {
        let variable = |name: &str| {
            std::env::var(name).unwrap_or_else(|_| {
                panic!("{name} is not set: start by scripts/bench, which starts the services")
            })
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        World {
            kafka: variable("TIDEGATE_KAFKA"),
            database: variable("TIDEGATE_DB_URL"),
            services: PathBuf::from(variable("TIDEGATE_SERVICES_DIR")),
            runtime,
        }
    }

    /// The process id of `kafka` or `db`.
    pub(crate) fn pid(&self, service: &str) -> u32 {
        let file = self.services.join(format!("{service}.pid"));
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        text.split_whitespace().next().and_then(|pid| pid.parse().ok()).expect("a process id")
    }

    /// Starts, stops, ... a service by the project's script.
    pub(crate) fn service(&self, service: &str, what: &str) {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/services");
        let done =
            Command::new(script).args([service, what]).env("TIDEGATE_SERVICES_DIR", &self.services).status();
        assert!(done.is_ok_and(|status| status.success()), "scripts/services {service} {what}");
    }

    #[allow(clippy::disallowed_methods, reason = "a bench brings its own clients")]
    fn admin(&self) -> AdminClient<DefaultClientContext> {
        ClientConfig::new()
            .set("bootstrap.servers", &self.kafka)
            .set("log_level", "3")
            .create()
            .expect("an admin client")
    }

    /// Makes a topic whose records bear the broker's time.
    pub(crate) fn make_topic(&self, name: &str, partitions: i32) {
        let topic = NewTopic::new(name, partitions, TopicReplication::Fixed(1))
            .set("message.timestamp.type", "LogAppendTime");
        let made =
            self.runtime.block_on(async { self.admin().create_topics([&topic], &AdminOptions::new()).await });
        for each in made.expect("the broker answers") {
            each.unwrap_or_else(|(name, code)| panic!("topic {name}: {code}"));
        }
    }

    /// Those that are there are deleted.
    pub(crate) fn delete_topics(&self, names: &[&str]) {
        let gone =
            self.runtime.block_on(async { self.admin().delete_topics(names, &AdminOptions::new()).await });
        gone.expect("the broker answers");
    }

    pub(crate) fn connect(&self) -> Conn {
        self.try_connect().expect("the database answers")
    }

    pub(crate) fn try_connect(&self) -> Option<Conn> {
        let options = Opts::from_url(&self.database).expect("TIDEGATE_DB_URL");
        let conn = self
            .runtime
            .block_on(async { tokio::time::timeout(Duration::from_secs(1), Conn::new(options)).await });
        conn.ok()?.ok()
    }

    /// `host:port` of the database.
    pub(crate) fn database_address(&self) -> &str {
        let rest = self.database.split_once('@').map_or("", |(_, rest)| rest);
        rest.split('/').next().unwrap_or_default()
    }

    /// Runs statements.
    pub(crate) fn run(&self, statements: &[&str]) {
        let mut conn = self.connect();
        self.runtime.block_on(async {
            for statement in statements {
                conn.query_drop(*statement).await.unwrap_or_else(|e| panic!("{statement}: {e}"));
            }
            conn.disconnect().await.expect("the connection ends");
        });
    }

    /// The one number that a query gives.
    pub(crate) fn number(&self, query: &str) -> u64 {
        let mut conn = self.connect();
        self.runtime.block_on(async {
            let found: Option<u64> = conn.query_first(query).await.unwrap_or_else(|e| panic!("{query}: {e}"));
            conn.disconnect().await.expect("the connection ends");
            found.unwrap_or(0)
        })
    }

    /// The one text that a query gives.
    pub(crate) fn text(&self, query: &str) -> String {
        let mut conn = self.connect();
        self.runtime.block_on(async {
            let found: Option<String> =
                conn.query_first(query).await.unwrap_or_else(|e| panic!("{query}: {e}"));
            conn.disconnect().await.expect("the connection ends");
            found.unwrap_or_default()
        })
    }

    /// The tables, empty but for the customers.
    pub(crate) fn tables(&self) {
        const CUSTOMER: &str = "CREATE TABLE bench_customer (id BIGINT PRIMARY KEY, name VARCHAR(200) NOT NULL, tier VARCHAR(20) NOT NULL)";
        self.run(&["DROP TABLE IF EXISTS bench_customer", CUSTOMER]);
        let rows: Vec<String> =
            (0..CUSTOMERS).map(|id| format!("({id}, 'Customer number {id}', 'gold')")).collect();
        self.run(&[&format!("INSERT INTO bench_customer VALUES {}", rows.join(","))]);
        self.empty_tables();
    }

    /// Empties what contenders write.
    pub(crate) fn empty_tables(&self) {
        self.run(&[
            "DROP TABLE IF EXISTS bench_order, bench_line, bench_journal",
            "CREATE TABLE bench_order (id VARCHAR(64) PRIMARY KEY, customer BIGINT NOT NULL, total DECIMAL(12,2) NOT NULL, \
             currency CHAR(3) NOT NULL, placed_at DATETIME(6) NOT NULL)",
            "CREATE TABLE bench_line (order_id VARCHAR(64), line INT, article VARCHAR(20) NOT NULL, quantity INT NOT NULL, \
             price DECIMAL(12,2) NOT NULL, PRIMARY KEY (order_id, line))",
            "CREATE TABLE bench_journal (at BIGINT AUTO_INCREMENT PRIMARY KEY, order_id VARCHAR(64) NOT NULL, customer BIGINT NOT NULL, \
             total DECIMAL(12,2) NOT NULL)",
        ]);
    }

    /// What a table has; its columns as a list.
    pub(crate) fn rows(&self, table: &str, columns: &str) -> Rows {
        let sum = format!("SUM(CAST(CRC32(CONCAT_WS('|', {columns})) AS UNSIGNED))");
        Rows {
            count: self.number(&format!("SELECT COUNT(*) FROM {table}")),
            digest: self.number(&format!("SELECT COALESCE({sum}, 0) FROM {table}")),
        }
    }
}
