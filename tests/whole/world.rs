//! World: a broker, a database, and a job for them.

use super::input::{Input, TOPICS};
use super::many::{self, ManyInput};
use super::sqlite::Sqlite;
use std::sync::Arc;
use std::time::Duration;
use tidegate::database::Database;
use tidegate::job::{self, JobSpec, RejectRule};
use tidegate::kafka::KafkaSetup;
use tidegate::model::{KeyGroup, KeyId, Value};
use tidegate::testing::{Broker, History, Lie, MemoryDatabase, MemoryStep, Random, Tables};

pub const OUTPUT: &str = "out";
pub const DEAD: &str = "dead";
pub const KEY_GROUPS: u32 = 8;

/// Everything that outlives an instance.
pub struct World {
    pub broker: Arc<Broker>,
    pub database: Arc<MemoryDatabase>,
    /// In the place of the database in memory.
    pub sqlite: Option<Sqlite>,
    pub history: Arc<History>,
    pub spec: Arc<JobSpec>,
    pub setup: KafkaSetup,
    pub input: Input,
    /// What becomes of events with the number [`REFUSED`], until the schema is mended; none: they are like any other.
    pub refused: Option<RejectRule>,
    /// Another job, with an input of its own: records of many events.
    pub many: Option<ManyInput>,
}

/// An event's number that the schema refuses, in worlds where it does.
pub const REFUSED: i64 = 3;

impl World {
    pub fn new() -> World {
        World::lying(None)
    }

    pub fn lying(lie: Option<Lie>) -> World {
        let spec = Arc::new(spec(&job_file()));
        let setup = KafkaSetup::from_spec(&spec);
        let broker = Broker::lying(lie);
        for (topic, partitions) in TOPICS {
            broker.create_topic(topic, partitions);
        }
        broker.create_topic(OUTPUT, 3);
        broker.create_topic(DEAD, 1);
        let database = MemoryDatabase::new(steps(Vec::new()), lie);
        World {
            broker,
            database,
            sqlite: None,
            history: Arc::default(),
            spec,
            setup,
            input: Input::default(),
            refused: None,
            many: None,
        }
    }

    /// With a schema that refuses each key's event of this number, and a rule for it.
    pub fn refusing(rule: RejectRule) -> World {
        let (word, unique) = match rule {
            RejectRule::Park => ("park", vec![0, 1]),
            RejectRule::DeadLetter => ("dead_letter", Vec::new()),
            RejectRule::Discard => ("discard", Vec::new()),
            RejectRule::Halt => ("halt", Vec::new()),
        };
        let mut steps = steps(unique.clone());
        if let Some(last) = steps.last_mut() {
            *last = MemoryStep::Store { unique, refuses: Some((1, Value::Int(REFUSED))) };
        }
        let mut world = World { database: MemoryDatabase::new(steps, None), ..World::new() };
        world.set_job_file(&job_file().replace("[rejects]", &format!("[rejects]\nrefused = \"{word}\"")));
        world.refused = Some(rule);
        world
    }

    /// With records of many events, and a rule for those that the schema refuses; none: it refuses nothing.
    pub fn of_many(refused: Option<RejectRule>) -> World {
        let database = MemoryDatabase::new(many::steps(refused.is_some()), None);
        let mut world = World { database, refused, many: Some(ManyInput::default()), ..World::new() };
        world.spec = Arc::new(many::spec(refused.unwrap_or(RejectRule::Halt)));
        world.setup = KafkaSetup::from_spec(&world.spec);
        many::EXTRA.iter().for_each(|topic| world.broker.create_topic(topic, 2));
        world
    }

    /// Produces so many records.
    pub fn produce(&mut self, random: &mut Random, keys: u64, records: usize) {
        match &mut self.many {
            Some(many) => many.produce(&self.broker, random, keys, records),
            None => self.input.produce(&self.broker, random, keys, records),
        }
    }

    /// The keys that are parked.
    pub fn parked(&self) -> Vec<(KeyGroup, KeyId)> {
        self.tables().parked.keys.iter().map(|(key, row)| (row.group, *key)).collect()
    }

    /// With a table that refuses an event that it has: a zombie meets that before it meets the ledger.
    pub fn with_unique_events() -> World {
        let database = MemoryDatabase::new(steps(vec![0, 1]), None);
        World { database, ..World::new() }
    }

    /// With the real ledger on a real engine.
    pub fn on_sqlite() -> World {
        let mut world = World::new();
        let (sqlite, job_file) = Sqlite::new(&job_file());
        world.set_job_file(&job_file);
        world.sqlite = Some(sqlite);
        world
    }

    pub fn handle(&self) -> Arc<dyn Database> {
        match &self.sqlite {
            Some(sqlite) => sqlite.handle(&self.spec),
            None => self.database.handle(),
        }
    }

    pub fn tables(&self) -> Tables {
        match &self.sqlite {
            Some(sqlite) => sqlite.tables(&self.spec),
            None => self.database.tables(),
        }
    }

    /// Waits until so many rows are stored, or for so long.
    pub fn wait_for_rows(&self, rows: usize, wait: Duration) {
        match &self.sqlite {
            Some(sqlite) => sqlite.wait_for_rows(rows, wait),
            None => drop(self.database.wait_for_rows(rows, wait)),
        }
    }

    /// Everybody from now on runs another job file.
    pub fn set_job_file(&mut self, text: &str) {
        self.spec = Arc::new(spec(text));
        self.setup = KafkaSetup::from_spec(&self.spec);
    }
}

fn spec(text: &str) -> JobSpec {
    job::check("whole.toml", text, &|_| None).expect("the job file is right").spec
}

/// The look-up knows every other key.
fn steps(unique: Vec<usize>) -> Vec<MemoryStep> {
    let text = |text: String| Value::Text(text);
    let known = (0..100).step_by(2);
    let rows = known.map(|key| (vec![text(format!("k{key}"))], vec![text(format!("name of k{key}"))]));
    vec![MemoryStep::Lookup(rows.collect()), MemoryStep::Store { unique, refuses: None }]
}

pub fn job_file() -> String {
    format!(
        r#"[job]
name = "whole"
key_groups = {KEY_GROUPS}

[source]
bootstrap_servers = "127.0.0.1:9"
topics = ["in-a", "in-b"]
start = "earliest"

[event]
key = ["@key"]

[event.fields]
key    = {{ path = "@key", type = "text" }}
number = {{ path = "@n", type = "int64" }}

[database]
url = "mysql://nobody@127.0.0.1:9/whole"
connections = 4
batch_events = 7
deadline_s = 1

[[database.steps]]
name = "who"
lookup = "SELECT name FROM who WHERE id = :key"
missing = "null"

[[database.steps]]
store = "INSERT INTO journal (id, number, name, topic, part, place) VALUES (:key, :number, :who.name, :_topic, :_partition, :_offset)"

[output]
topic = "{OUTPUT}"

[[output.add]]
at = "b"
element = "name"
text = ":who.name"

[outage]
limit_s = 20

[rejects]
unreadable = "dead_letter"
dead_letter_topic = "{DEAD}"
"#
    )
}
