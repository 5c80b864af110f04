//! A small job of its own text: its schema, its topics of one partition each, and everything that a case asks of them.

use crate::input::unique;
use crate::kafka::{self, Positions};
use crate::process::{Ended, Process, start};
use crate::services::Services;
use crate::sql::Sql;
use crate::wait::wait_for;
use rdkafka::message::{BorrowedMessage, Headers, Message};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::time::Duration;
use tempfile::TempDir;

/// How long anything here may take on a slow machine.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// A job and what is its own.
pub struct Bench {
    pub services: &'static Services,
    /// Where the job finds Kafka and the database: the servers, or what a case has put in front of them.
    pub kafka: String,
    pub db: String,
    /// `job.key_groups`; 1: everything that the job stores and sends has one order.
    pub key_groups: u32,
    pub name: String,
    pub schema: String,
    pub input: String,
    /// A further input topic, where a case asked for one.
    pub second: Option<String>,
    pub output: String,
    pub dead_letters: String,
    /// The job's account on the database; its password is `app`.
    pub account: String,
    dir: TempDir,
}

/// A record as a job sent it.
#[derive(Debug, PartialEq, Eq)]
pub struct Sent {
    pub value: Option<Vec<u8>>,
    /// `tidegate-reason`; empty for an output.
    pub reason: String,
    /// `tidegate-source`; of the first input without its topic: `partition/offset`
    pub source: String,
}

impl Bench {
    /// Makes schema, tables and topics.
    pub fn new(services: &'static Services, name: &str, tables: &[&str]) -> Bench {
        let name = unique(name);
        let bench = Bench {
            services,
            kafka: services.kafka.clone(),
            db: services.db.clone(),
            key_groups: 1,
            schema: format!("tidegate_{name}"),
            input: format!("{name}_in"),
            second: None,
            output: format!("{name}_out"),
            dead_letters: format!("{name}_dead"),
            account: "app".to_owned(),
            dir: tempfile::tempdir().expect("a temporary folder"),
            name,
        };
        let schema = &bench.schema;
        Sql::new(&services.db, "shop").run(&format!("CREATE DATABASE {schema} CHARACTER SET utf8mb4"));
        let mut sql = bench.sql();
        for table in tables {
            sql.run(table);
        }
        kafka::create_topics(&services.kafka, &[&bench.input, &bench.output, &bench.dead_letters], 1);
        bench
    }

    /// Makes a further input topic; gives its name.
    pub fn add_second_input(&mut self) -> String {
        let second = format!("{}_second", self.name);
        kafka::create_topics(&self.services.kafka, &[&second], 1);
        self.second = Some(second.clone());
        second
    }

    /// Writes the job file. `database`: further lines of that section; `rest`: the sections `event` and `output`, the
    /// steps and whatever else.
    pub fn job(&self, database: &str, rest: &str) {
        let Bench {
            kafka, db, key_groups, name, schema, input, second, output, dead_letters, account, ..
        } = self;
        let second = second.as_ref().map_or(String::new(), |second| format!(", \"{second}\""));
        let text = format!(
            r#"[job]
name = "{name}"
key_groups = {key_groups}

[source]
bootstrap_servers = "{kafka}"
topics = ["{input}"{second}]

[database]
url = "mysql://{account}@{db}/{schema}"
password_file = "password"
{database}

[rejects]
dead_letter_topic = "{dead_letters}"

{rest}
"#
        );
        let text = text.replace("OUTPUT", output);
        for (file, text) in [("job.toml", text.as_str()), ("password", "app\n")] {
            std::fs::write(self.dir.path().join(file), text).expect("the file is written");
        }
    }

    /// Any command, where the job's file is `job.toml`.
    pub fn tidegate(&self, args: &[&str]) -> Process {
        start(self.dir.path(), args)
    }

    /// Writes a file beside the job's, or the job's anew.
    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.dir.path().join(name), text).expect("the file is written");
    }

    /// What a command left in a file beside the job's.
    pub fn file(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.dir.path().join(name)).expect("the file is there")
    }

    /// Starts the job.
    pub fn run(&self) -> Process {
        start(self.dir.path(), &["run", "job.toml"])
    }

    /// Runs the job over what the topic holds, or to its halt.
    pub fn run_to_end(&self, code: i32) -> Ended {
        start(self.dir.path(), &["run", "job.toml", "--until-end"]).expect(code, DEADLINE)
    }

    /// A halt must say all of this.
    pub fn halts(&self, code: i32, says: &[&str]) {
        let ended = self.run_to_end(code);
        for part in says {
            assert!(ended.log.contains(part), "the halt does not say {part:?}:\n{}", ended.log);
        }
    }

    /// Sends values to the input, in one batch. `None`: a tombstone.
    pub fn send(&self, values: &[Option<&[u8]>]) {
        self.send_to(&self.input, values);
    }

    /// Sends values to a topic, in one batch.
    pub fn send_to(&self, topic: &str, values: &[Option<&[u8]>]) {
        let producer: BaseProducer = kafka::client(&self.services.kafka)
            .set("enable.idempotence", "true")
            .set("linger.ms", "20")
            .set("message.max.bytes", "8000000")
            .create()
            .expect("a producer");
        for value in values {
            let mut record = BaseRecord::<[u8], [u8]>::to(topic).partition(0);
            if let Some(value) = value {
                record = record.payload(value);
            }
            producer.send(record).map_err(|(error, _)| error).expect("the record is queued");
        }
        producer.flush(DEADLINE).expect("all is sent");
    }

    /// Sends documents.
    pub fn send_texts<T: AsRef<str>>(&self, documents: &[T]) {
        let values: Vec<_> = documents.iter().map(|document| Some(document.as_ref().as_bytes())).collect();
        self.send(&values);
    }

    /// What is committed in the output, in its order.
    pub fn outputs(&self) -> Vec<Sent> {
        self.sent(&self.output)
    }

    /// The outputs as text.
    pub fn output_texts(&self) -> Vec<String> {
        let text = |sent: Sent| String::from_utf8(sent.value.expect("an output has a value")).expect("text");
        self.outputs().into_iter().map(text).collect()
    }

    /// What is committed in the dead-letter topic, in its order.
    pub fn dead_letters(&self) -> Vec<Sent> {
        self.sent(&self.dead_letters)
    }

    fn sent(&self, topic: &str) -> Vec<Sent> {
        let mut records = Vec::new();
        kafka::read_committed(&self.services.kafka, topic, 1, |message| {
            let source = header(message, "tidegate-source");
            let place = source.strip_prefix(&format!("{}/", self.input));
            let of_second =
                self.second.as_ref().is_some_and(|second| source.starts_with(&format!("{second}/")));
            assert!(place.is_some() || of_second, "{source} is no place of an input");
            records.push(Sent {
                value: message.payload().map(<[u8]>::to_vec),
                reason: header(message, "tidegate-reason"),
                source: place.unwrap_or(&source).to_owned(),
            });
        });
        records
    }

    /// What the job's group has committed.
    pub fn committed(&self) -> i64 {
        let group = format!("tidegate-{}", self.name);
        Positions::new(&self.services.kafka, &self.input, 1, &group, "read_committed").committed()[0]
    }

    /// A connection to the job's schema.
    pub fn sql(&self) -> Sql {
        Sql::new(&self.services.db, &self.schema)
    }

    /// The first column of every row, as text; NULL is `NULL`.
    pub fn column(&self, query: &str) -> Vec<String> {
        let mut rows = Vec::new();
        self.sql().each(query, |value: Option<String>| rows.push(value.unwrap_or_else(|| "NULL".to_owned())));
        rows
    }

    /// Waits until a count is what it must become, while the job runs.
    pub fn wait_count(&self, process: &mut Process, query: &str, count: i64) {
        let mut sql = self.sql();
        wait_for(&format!("{count} from {query}"), DEADLINE, || {
            process.assert_runs();
            sql.peek::<i64>(query).filter(|&found| found == count)
        });
    }

    /// Runs `cause`, and waits until so many more waits for row locks have begun since.
    pub fn wait_lock_waits(&self, process: &mut Process, count: i64, cause: impl FnOnce()) {
        let mut root = self.services.root();
        let query = "SELECT CAST(variable_value AS SIGNED) FROM information_schema.global_status \
                     WHERE variable_name = 'INNODB_ROW_LOCK_WAITS'";
        let before: i64 = root.peek(query).expect("the server counts its waits");
        cause();
        wait_for("a transaction that waits for a lock", DEADLINE, || {
            process.assert_runs();
            root.peek::<i64>(query).filter(|&waits| waits >= before + count)
        });
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let progress = format!("tidegate-{}-progress", self.name);
        let mut topics = vec![self.input.as_str(), &self.output, &self.dead_letters, &progress];
        topics.extend(self.second.as_deref());
        kafka::delete_topics(&self.services.kafka, &topics);
        self.sql().try_run(&format!("DROP DATABASE {}", self.schema));
    }
}

fn header(message: &BorrowedMessage<'_>, name: &str) -> String {
    let found = message.headers().and_then(|headers| headers.iter().find(|header| header.key == name));
    String::from_utf8_lossy(found.and_then(|header| header.value).unwrap_or_default()).into_owned()
}

/// A global variable of the database server that is another one for a while.
pub struct Global {
    root: Sql,
    name: &'static str,
    before: String,
}

impl Global {
    pub fn set(services: &Services, name: &'static str, value: &str) -> Global {
        let mut root = services.root();
        let before: String =
            root.peek(&format!("SELECT CAST(@@GLOBAL.{name} AS CHAR)")).expect("a variable of the server");
        let before = if before.parse::<i64>().is_ok() { before } else { format!("'{before}'") };
        root.run(&format!("SET GLOBAL {name} = {value}"));
        Global { root, name, before }
    }
}

impl Drop for Global {
    fn drop(&mut self) {
        self.root.try_run(&format!("SET GLOBAL {} = {}", self.name, self.before));
    }
}
