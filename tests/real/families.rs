//! The jobs of the samples, as they are, on the real Kafka and the real MariaDB: check, run, rows, outputs and dead letters.

use super::jobs::{succeeds, tidegate};
use super::kafka;
use super::services::{Services, turn};
use super::shipped::{self, Shipped, plain, statements_of};
use super::sql::Sql;
use rdkafka::message::{Headers, Message};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::time::Duration;

/// A schema of its own, with the job's tables and rows.
fn schema_of(services: &Services, job: &Shipped) -> String {
    let name = format!("tidegate_jobs_{}", job.name.replace('-', "_"));
    let mut server = Sql::new(&services.db, "shop");
    server.run(&format!("DROP DATABASE IF EXISTS {name}"));
    server.run(&format!("CREATE DATABASE {name} CHARACTER SET utf8mb4"));
    let mut schema = Sql::new(&services.db, &name);
    for statement in statements_of(&shipped::text(job.folder, "schema.sql")) {
        schema.run(&statement);
    }
    job.before.iter().for_each(|statement| schema.run(statement));
    name
}

fn send(services: &Services, job: &Shipped) {
    let producer: BaseProducer = kafka::client(&services.kafka).create().expect("a producer");
    for document in &job.records {
        let record = BaseRecord::<(), str>::to(job.input).payload(document).partition(0);
        producer.send(record).expect("the record is queued");
    }
    producer.flush(Duration::from_secs(30)).expect("the records are sent");
}

/// A query's rows, columns with `|` between them.
fn rows_of(schema: &mut Sql, query: &str) -> Vec<String> {
    let mut rows = Vec::new();
    schema.each(query, |row: mysql_async::Row| {
        let text = |value: mysql_async::Value| match value {
            mysql_async::Value::NULL => None,
            mysql_async::Value::Bytes(bytes) => Some(String::from_utf8(bytes).expect("text")),
            other => Some(other.as_sql(true)),
        };
        rows.push(row.unwrap().into_iter().map(|value| plain(text(value))).collect::<Vec<_>>().join("|"));
    });
    rows
}

fn text_of(bytes: Option<&[u8]>) -> String {
    String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
}

fn runs_as_it_is(job: &Shipped) {
    let turn = turn();
    let services = turn.services;
    let schema = schema_of(services, job);
    let dir = tempfile::tempdir().expect("a folder");
    let path = job.path();
    let file = path.to_str().expect("a path that is text");
    kafka::create_topics(&services.kafka, &[job.input], 1);
    let written: Vec<&str> = job.outputs.iter().copied().chain([job.rejected]).collect();
    kafka::create_topics(&services.kafka, &written, 2);
    let said = succeeds(&tidegate(services, &schema, dir.path(), &["check", file]));
    assert!(said.contains("right"), "{said}");
    send(services, job);
    succeeds(&tidegate(services, &schema, dir.path(), &["run", file, "--until-end"]));
    let mut sent = Vec::new();
    for topic in job.outputs {
        kafka::read_committed(&services.kafka, topic, 2, |message| {
            sent.push((*topic, text_of(message.key()), text_of(message.payload())));
        });
    }
    let mut dead = Vec::new();
    kafka::read_committed(&services.kafka, job.rejected, 2, |message| {
        let header = |name: &str| {
            let headers = message.headers().expect("a dead letter has headers");
            text_of(headers.iter().find(|header| header.key == name).and_then(|header| header.value))
        };
        dead.push([header("tidegate-reason"), header("tidegate-detail"), text_of(message.payload())]);
    });
    let tables = std::cell::RefCell::new(Sql::new(&services.db, &schema));
    shipped::hold(job, &|query| rows_of(&mut tables.borrow_mut(), query), sent, dead);
    // Everything is told apart: nothing is lost, doubled or out of order.
    succeeds(&tidegate(services, &schema, dir.path(), &["verify", file]));
    let progress = format!("tidegate-{}-progress", job.name);
    let all: Vec<&str> = written.into_iter().chain([job.input, progress.as_str()]).collect();
    kafka::delete_topics(&services.kafka, &all);
}

shipped::each_job!(runs_as_it_is);
