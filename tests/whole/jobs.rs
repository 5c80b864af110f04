//! The jobs of the samples, as they are, on a log in memory and an SQLite file: rows, outputs and dead letters.

use super::input::Input;
use super::instance::{How, Instance, PATIENCE};
use super::shipped::{self, Shipped, plain, statements_of};
use super::sqlite::Sqlite;
use super::world::World;
use bytes::Bytes;
use rusqlite::types::ValueRef;
use std::sync::Arc;
use tidegate::cluster::Ended;
use tidegate::job::{self, JobSpec};
use tidegate::kafka::KafkaSetup;
use tidegate::model::Record;
use tidegate::testing::{Broker, MemoryDatabase};

/// The job with its own file, on this database.
fn spec(job: &Shipped, sqlite: &Sqlite) -> JobSpec {
    let text = shipped::text(job.folder, job.file);
    let environment = |name: &str| (name == "TIDEGATE_DB_URL").then(|| sqlite.url());
    let mut spec = job::check(job.file, &text, &environment).unwrap_or_else(|errors| panic!("{errors}")).spec;
    for output in &mut spec.outputs {
        if let job::Document::Template(template) = &mut output.document {
            template.source = shipped::text(job.folder, &template.file);
        }
    }
    spec
}

fn world(job: &Shipped) -> World {
    let mut statements = statements_of(&shipped::text(job.folder, "schema-sqlite.sql"));
    statements.extend(job.before.iter().map(|statement| (*statement).to_owned()));
    let sqlite = Sqlite::with_schema(&statements);
    let spec = Arc::new(spec(job, &sqlite));
    let broker = Broker::new();
    broker.create_topic(job.input, 1);
    for topic in job.outputs.iter().chain([&job.rejected]) {
        broker.create_topic(topic, 2);
    }
    for document in &job.records {
        let value = Some(Bytes::from(document.clone()));
        let record = Record { timestamp_ms: Some(1), key: None, headers: Vec::new(), value };
        broker.produce(job.input, 0, record).expect("the topic is there");
    }
    World {
        broker,
        database: MemoryDatabase::new(Vec::new(), None),
        sqlite: Some(sqlite),
        history: Arc::default(),
        setup: KafkaSetup::from_spec(&spec),
        spec,
        input: Input::default(),
        refused: None,
        many: None,
    }
}

/// A query's rows, columns with `|` between them.
fn rows_of(world: &World, query: &str) -> Vec<String> {
    let connection = world.sqlite.as_ref().expect("it runs on SQLite").connection();
    let mut statement = connection.prepare(query).unwrap_or_else(|e| panic!("{e}\n{query}"));
    let columns = statement.column_count();
    let text = |value: ValueRef<'_>| match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(text) | ValueRef::Blob(text) => Some(String::from_utf8_lossy(text).into_owned()),
    };
    let rows = statement.query_map([], |row| {
        let columns: Result<Vec<String>, _> =
            (0..columns).map(|at| row.get_ref(at).map(|value| plain(text(value)))).collect();
        Ok(columns?.join("|"))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

fn text_of(bytes: Option<&Bytes>) -> String {
    String::from_utf8_lossy(bytes.map_or(&[][..], |bytes| bytes)).into_owned()
}

fn runs_as_it_is(job: &Shipped) {
    let world = world(job);
    let mut instance = Instance::start(&world, "run", How::well(2));
    let ended = instance.wait(PATIENCE);
    assert!(matches!(ended, Some(Ok(Ended::Drained))), "{}: {ended:?}", job.name);
    let mut sent = Vec::new();
    for topic in job.outputs {
        let records = world.broker.committed(topic).into_iter();
        sent.extend(
            records.map(|one| (*topic, text_of(one.record.key.as_ref()), text_of(one.record.value.as_ref()))),
        );
    }
    let mut dead = Vec::new();
    for letter in world.broker.committed(job.rejected) {
        let header = |name: &str| {
            let found = letter.record.headers.iter().find(|(header, _)| header == name);
            text_of(found.and_then(|(_, value)| value.as_ref()))
        };
        dead.push([
            header("tidegate-reason"),
            header("tidegate-detail"),
            text_of(letter.record.value.as_ref()),
        ]);
    }
    shipped::hold(job, &|query| rows_of(&world, query), sent, dead);
}

shipped::each_job!(runs_as_it_is);
