//! A job for one test: its own name, schema, output and dead-letter topics, and the job file that ties them together.

use super::customers;
use super::input::{Input, unique};
use super::kafka::{self, Positions};
use super::plan::PARTITIONS;
use super::services::Services;
use super::sql::Sql;
use std::path::PathBuf;
use tempfile::TempDir;

/// A job that has not run yet.
pub struct Job {
    pub services: &'static Services,
    pub input: &'static Input,
    pub name: String,
    pub schema: String,
    pub output: String,
    pub dead_letters: String,
    /// Where the job finds Kafka and the database: the servers, or what a test has put in front of them.
    pub kafka: String,
    pub db: String,
    /// `database.deadline_s`
    pub deadline_s: u32,
    /// `limits.peer_silence_s`
    pub peer_silence_s: u64,
    /// The rule for unreadable records.
    pub unreadable: &'static str,
    /// The table that the first store writes to.
    pub journal: &'static str,
    /// Job file, logs and incident files: the working directory of the job's processes.
    pub dir: TempDir,
}

impl Job {
    /// Makes schema, tables and topics.
    pub fn new(services: &'static Services, input: &'static Input, name: &str) -> Job {
        let name = unique(name);
        let job = Job {
            services,
            input,
            kafka: services.kafka.clone(),
            db: services.db.clone(),
            deadline_s: 30,
            peer_silence_s: 30,
            schema: format!("tidegate_{name}"),
            output: format!("{name}_out"),
            dead_letters: format!("{name}_dead"),
            unreadable: "dead_letter",
            journal: "journal",
            name,
            dir: tempfile::tempdir().expect("a temporary folder"),
        };
        job.create_tables();
        kafka::create_topics(&services.kafka, &[&job.output, &job.dead_letters], PARTITIONS);
        job
    }

    /// A connection to the job's schema.
    pub fn sql(&self) -> Sql {
        Sql::new(&self.services.db, &self.schema)
    }

    /// Positions of the input topic, with what the job's group has committed there.
    pub fn input_positions(&self) -> Positions {
        let group = format!("tidegate-{}", self.name);
        Positions::new(&self.services.kafka, &self.input.topic, PARTITIONS, &group, "read_committed")
    }

    /// Ends of the output topic.
    pub fn output_positions(&self) -> Positions {
        Positions::new(&self.services.kafka, &self.output, PARTITIONS, "tests", "read_committed")
    }

    /// Writes the job file; gives its path.
    pub fn write_file(&self) -> PathBuf {
        self.place("password", "app\n");
        self.place("job.toml", &self.file())
    }

    /// Takes the incident file of a process away: `""` of the first or only one, `"-p1"` of the next.
    pub fn incident(&self, process: &str) -> serde_json::Value {
        let path = self.dir.path().join(format!("incident-{}{process}.json", self.name));
        let text = std::fs::read_to_string(&path).expect("an incident file was written");
        std::fs::remove_file(path).expect("it is taken away");
        for secret in ["app@", "no XML at all", "urn:shop:1"] {
            assert!(!text.contains(secret), "{secret} stands in the incident file:\n{text}");
        }
        serde_json::from_str(&text).expect("the incident file is JSON")
    }

    /// Puts a file into the job's folder whole: another process may be reading the one that was there.
    pub fn place(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        let draft = path.with_extension("draft");
        std::fs::write(&draft, text).expect("the file is written");
        std::fs::rename(&draft, &path).expect("and put in its place");
        path
    }

    /// The journal shows doubles: no key of it would refuse one. `orders` shows what an upsert makes of every event,
    /// also where a batch holds several of one key.
    fn create_tables(&self) {
        let mut server = Sql::new(&self.services.db, "shop");
        server.run(&format!("CREATE DATABASE {}", self.schema));
        let mut sql = self.sql();
        customers::create(&mut sql);
        sql.run(
            "CREATE TABLE journal (entry BIGINT PRIMARY KEY AUTO_INCREMENT, id VARCHAR(20) NOT NULL, \
             number BIGINT NOT NULL, customer BIGINT NOT NULL, customer_name VARCHAR(100) NOT NULL, \
             tier VARCHAR(40), total DECIMAL(12,2) NOT NULL, placed_at DATETIME(3) NOT NULL, note TEXT, \
             topic VARCHAR(100) NOT NULL, part INT NOT NULL, at_offset BIGINT NOT NULL)",
        );
        sql.run(
            "CREATE TABLE orders (id VARCHAR(20) PRIMARY KEY, number BIGINT NOT NULL, \
             total DECIMAL(12,2) NOT NULL, times INT NOT NULL)",
        );
    }

    fn file(&self) -> String {
        let Job { name, kafka, db, deadline_s, schema, output, dead_letters, unreadable, journal, .. } = self;
        let silence = self.peer_silence_s;
        let topic = &self.input.topic;
        format!(
            r#"[job]
name = "{name}"
key_groups = 16

[source]
bootstrap_servers = "{kafka}"
topics = ["{topic}"]
start = "earliest"

[event]
format = "xml"
namespaces = {{ s = "urn:shop:1" }}
key = ["@id"]

[event.fields]
id        = {{ path = "@id", type = "text" }}
number    = {{ path = "@number", type = "int64" }}
customer  = {{ path = "s:customer/@ref", type = "int64" }}
total     = {{ path = "s:total", type = "decimal(12,2)" }}
placed_at = {{ path = "s:placedAt", type = "timestamp", zone = "Europe/Zurich" }}
note      = {{ path = "s:note", type = "text", optional = true }}

[database]
url = "mysql://app@{db}/{schema}"
password_file = "password"
deadline_s = {deadline_s}

[[database.steps]]
name = "customer"
lookup = "SELECT name, tier FROM customer WHERE id = :customer"
missing = "reject"

[[database.steps]]
store = """INSERT INTO {journal} (id, number, customer, customer_name, tier, total, placed_at, note, topic, part, at_offset)
           VALUES (:id, :number, :customer, :customer.name, :customer.tier, :total, :placed_at, :note, :_topic, :_partition, :_offset)"""

[[database.steps]]
store = """INSERT INTO orders (id, number, total, times) VALUES (:id, :number, :total, 1)
           ON DUPLICATE KEY UPDATE number = VALUES(number), total = VALUES(total), times = times + 1"""

[output]
topic = "{output}"
document = "input"

[[output.add]]
at = "s:customer"
element = "s:name"
text = ":customer.name"
attributes = {{ tier = ":customer.tier" }}

[limits]
in_flight_bytes = "32MiB"
peer_silence_s = {silence}

[rejects]
unreadable = "{unreadable}"
dead_letter_topic = "{dead_letters}"
"#
        )
    }
}

impl Drop for Job {
    /// Tables and topics of many runs would fill the disk. A server that does not answer keeps what it has.
    fn drop(&mut self) {
        kafka::delete_topics(&self.services.kafka, &[&self.output, &self.dead_letters]);
        self.sql().try_run(&format!("DROP DATABASE {}", self.schema));
    }
}
