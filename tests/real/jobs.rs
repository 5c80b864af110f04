//! The jobs in `jobs/`, as they are: check, run, and what their own sample became.

use super::kafka;
use super::services::{Services, turn};
use super::sql::Sql;
use rdkafka::message::Message;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

fn folder(job: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs").join(job)
}

fn text(job: &str, file: &str) -> String {
    std::fs::read_to_string(folder(job).join(file)).expect("a file of the job")
}

/// A schema of its own, with the job's tables and rows.
fn schema_of(services: &Services, job: &str) -> String {
    let name = format!("tidegate_jobs_{job}");
    let mut server = Sql::new(&services.db, "shop");
    server.run(&format!("DROP DATABASE IF EXISTS {name}"));
    server.run(&format!("CREATE DATABASE {name} CHARACTER SET utf8mb4"));
    let mut schema = Sql::new(&services.db, &name);
    for statement in text(job, "schema.sql").split(';').map(str::trim).filter(|s| !s.is_empty()) {
        schema.run(statement);
    }
    name
}

pub fn tidegate(services: &Services, schema: &str, dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tidegate"))
        .args(args)
        .current_dir(dir)
        .env("TIDEGATE_KAFKA", &services.kafka)
        .env("TIDEGATE_DB_URL", format!("mysql://app:app@{}/{schema}", services.db))
        .output()
        .expect("the binary runs")
}

pub fn succeeds(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    let both = String::from_utf8_lossy(&both).into_owned();
    assert!(output.status.success(), "{:?}\n{both}", output.status);
    both
}

fn send_sample(services: &Services, topic: &str, job: &str) {
    let producer: BaseProducer = kafka::client(&services.kafka).create().expect("a producer");
    let sample = text(job, "sample.xml");
    producer.send(BaseRecord::<(), str>::to(topic).payload(&sample)).expect("the sample is queued");
    producer.flush(Duration::from_secs(30)).expect("the sample is sent");
}

/// Checks the job, sends its sample, runs it to the end; gives the documents it sent.
fn run_whole(services: &Services, job: &str, topics: [&str; 3]) -> Vec<String> {
    let schema = schema_of(services, job);
    let dir = tempfile::tempdir().expect("a folder");
    let file = folder(job).join("job.toml");
    let file = file.to_str().expect("a path that is text");
    let before = tidegate(services, &schema, dir.path(), &["check", file]);
    assert_eq!(before.status.code(), Some(78), "the topics are missing");
    kafka::create_topics(&services.kafka, &topics, 2);
    assert!(succeeds(&tidegate(services, &schema, dir.path(), &["check", file])).contains("right"));
    send_sample(services, topics[0], job);
    succeeds(&tidegate(services, &schema, dir.path(), &["run", file, "--until-end"]));
    let shown = succeeds(&tidegate(services, &schema, dir.path(), &["offsets", "show", file]));
    assert!(shown.lines().any(|line| line.split_whitespace().nth(1) == Some("1")), "{shown}");
    let mut documents = Vec::new();
    kafka::read_committed(&services.kafka, topics[1], 2, |message| {
        documents.push(String::from_utf8_lossy(message.payload().unwrap_or_default()).into_owned());
    });
    let progress = format!("tidegate-{job}-progress");
    kafka::delete_topics(&services.kafka, &[topics[0], topics[1], topics[2], &progress]);
    documents
}

#[test]
fn the_order_job_runs_as_it_is() {
    let turn = turn();
    let documents = run_whole(turn.services, "orders", ["orders", "orders.enriched", "orders.rejected"]);
    let added = "<customer ref=\"4711\"><name tier=\"gold\">Müller &amp; Söhne</name></customer>";
    assert_eq!(documents, vec![text("orders", "sample.xml").replace("<customer ref=\"4711\"/>", added)]);
    let mut sql = Sql::new(&turn.services.db, "tidegate_jobs_orders");
    let row: (String, String, String) =
        sql.peek("SELECT id, CAST(total AS CHAR), CAST(placed_at AS CHAR) FROM orders").expect("a row");
    // Nine o'clock in Zurich is eight in UTC.
    assert_eq!(row, ("2026-000017".into(), "1234.50".into(), "2026-03-14 08:26:53.000000".into()));
}

#[test]
fn the_payment_job_runs_as_it_is() {
    let turn = turn();
    let topics = ["payments", "payments.routed", "payments.rejected"];
    let documents = run_whole(turn.services, "payments", topics);
    let [document] = &documents[..] else { panic!("{} documents", documents.len()) };
    let sample = text("payments", "sample.xml");
    let head = document.split_once("Branch").expect("the branch was added").0;
    assert!(
        sample.starts_with(head.rsplit_once('<').expect("a tag").0),
        "the bytes before it are the sample's"
    );
    assert!(document.contains(">VNO-01<"), "{document}");
    let mut sql = Sql::new(&turn.services.db, "tidegate_jobs_payments");
    let row: (String, String, String) =
        sql.peek("SELECT message_id, CAST(amount AS CHAR), branch FROM payment").expect("a row");
    assert_eq!(row, ("MSGID0002".into(), "111.11000".into(), "VNO-01".into()));
}

#[test]
fn the_job_that_only_stores_runs_as_it_is() {
    let turn = turn();
    let dir = tempfile::tempdir().expect("a folder");
    let database = tidegate::database::Onlooker::open(&dir.path().join("statements.db")).expect("a database");
    database.execute(&text("store-only", "schema.sql")).expect("its tables");
    kafka::create_topics(&turn.services.kafka, &["statements"], 1);
    send_sample(turn.services, "statements", "store-only");
    let file = folder("store-only").join("job.toml");
    let file = file.to_str().expect("a path that is text");
    succeeds(&tidegate(turn.services, "shop", dir.path(), &["check", file]));
    succeeds(&tidegate(turn.services, "shop", dir.path(), &["run", file, "--until-end"]));
    kafka::delete_topics(&turn.services.kafka, &["statements"]);
    let mut rows = Vec::new();
    database
        .each("SELECT id, number, source_offset FROM statement", |row| rows.push(format!("{row:?}")))
        .unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    let sample = text("store-only", "sample.xml");
    let id = sample.split_once("<Stmt>").expect("a statement").1;
    let id = id.split_once("<Id>").expect("its id").1.split_once("</Id>").expect("its end").0;
    assert!(rows[0].contains(id), "{id} is not in {rows:?}");
}
