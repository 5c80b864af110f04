//! When the world disagrees with the ledger: each disagreement is made on the real servers, is refused with 76 and the command
//! that takes a side, and the job goes on once that command was given.

use super::bench::{Bench, DEADLINE};
use crate::kafka;
use crate::process::Ended;
use crate::services::turn;
use crate::wait::wait_for;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer};
use rdkafka::{Offset, TopicPartitionList};

const TABLE: &str = "CREATE TABLE store (entry INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(10))";

const REST: &str = r#"
[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }

[[database.steps]]
store = "INSERT INTO store (k) VALUES (:k)"

[output]
topic = "OUTPUT"
"#;

/// A job that has handled documents 0 to 19.
fn used(services: &'static crate::services::Services, name: &str) -> Bench {
    let bench = Bench::new(services, name, &[TABLE]);
    bench.job("", REST);
    send(&bench, 0..20);
    bench.run_to_end(0);
    bench
}

fn send(bench: &Bench, numbers: std::ops::Range<usize>) {
    bench.send_texts(&numbers.map(|n| format!("<r k=\"{n}\"/>")).collect::<Vec<_>>());
}

fn tidegate(bench: &Bench, code: i32, args: &[&str]) -> Ended {
    bench.tidegate(args).expect(code, DEADLINE)
}

fn reset(bench: &Bench, code: i32, args: &[&str]) -> Ended {
    let all: Vec<&str> = ["offsets", "reset", "job.toml"].iter().chain(args).copied().collect();
    tidegate(bench, code, &all)
}

fn stored(bench: &Bench) -> Vec<usize> {
    bench.column("SELECT k FROM store ORDER BY entry").iter().map(|k| k.parse().unwrap()).collect()
}

/// As `kafka-consumer-groups.sh --reset-offsets` does it.
fn move_group(bench: &Bench, offset: i64) {
    let mut config = kafka::client(&bench.services.kafka);
    config.set("group.id", format!("tidegate-{}", bench.name)).set("enable.auto.commit", "false");
    let consumer: BaseConsumer = config.create().unwrap();
    let mut list = TopicPartitionList::new();
    list.add_partition_offset(&bench.input, 0, Offset::Offset(offset)).unwrap();
    consumer.commit(&list, CommitMode::Sync).unwrap();
}

/// Deletes a topic and makes one of the same name.
fn make_anew(bench: &Bench, topic: &str) {
    kafka::delete_topics(&bench.services.kafka, &[topic]);
    wait_for("the name is free", DEADLINE, || {
        kafka::try_create_topic(&bench.services.kafka, topic).then_some(())
    });
}

#[test]
fn a_group_that_somebody_moved_is_refused_until_a_side_is_taken() {
    let turn = turn();
    let bench = used(turn.services, "moved_group");
    let place = format!("{}/0", bench.input);
    move_group(&bench, 5);
    let found =
        format!("{place}: somebody else has set the consumer group's position to 5, and the ledger's is 20");
    let commands =
        ["tidegate offsets reset job.toml --to ledger`", "tidegate offsets reset job.toml --to group`"];
    bench.halts(76, &[&found, commands[0], commands[1], "--execute"]);

    let shown = reset(&bench, 0, &["--to", "ledger"]);
    assert!(shown.log.contains("nothing was changed"), "{}", shown.log);
    assert_eq!(bench.committed(), 5);
    reset(&bench, 0, &["--to", "ledger", "--execute"]);
    assert_eq!(bench.committed(), 20);
    send(&bench, 20..25);
    bench.run_to_end(0);
    assert_eq!(stored(&bench), (0..25).collect::<Vec<_>>());

    // The other side: back, and everything from there on once more.
    move_group(&bench, 12);
    bench.halts(76, &["position to 12, and the ledger's is 25"]);
    let done = reset(&bench, 0, &["--to", "group", "--execute", "--json"]);
    let json: serde_json::Value = serde_json::from_str(done.log.trim()).expect("one JSON object");
    assert_eq!(json["executed"], true);
    assert_eq!((&json["partitions"][0]["to"], &json["partitions"][0]["again"]), (&12.into(), &13.into()));
    bench.run_to_end(0);
    assert_eq!(stored(&bench), (0..25).chain(12..25).collect::<Vec<_>>());
    assert_eq!(bench.outputs().len(), 25 + 13);
    // What was handled again is no fault of the job, and is not hidden, either.
    let verdict = tidegate(&bench, 0, &["verify", "job.toml"]);
    let again = "13 copies of events that a reset had handled again";
    assert!(verdict.log.contains(again) && verdict.log.contains("0 doubled"), "{}", verdict.log);
    assert!(verdict.log.contains(&format!("{place} from 25 to 12")), "{}", verdict.log);

    // And forward: what is skipped is not lost by the job.
    send(&bench, 25..30);
    let forward = format!("{place}=28");
    reset(&bench, 0, &["--to", &forward, "--execute"]);
    bench.run_to_end(0);
    assert_eq!(stored(&bench).split_off(38), [28, 29]);
    let verdict = tidegate(&bench, 0, &["verify", "job.toml"]);
    assert!(
        verdict.log.contains("3 skipped by a reset") && verdict.log.contains("0 lost"),
        "{}",
        verdict.log
    );
    reset(&bench, 64, &["--to", &format!("{place}=99")]);
    reset(&bench, 64, &["--to", "nowhere"]);
}

#[test]
fn an_input_topic_that_was_made_anew_is_refused_even_where_it_is_longer() {
    let turn = turn();
    let bench = used(turn.services, "anew");
    make_anew(&bench, &bench.input);
    send(&bench, 100..130);
    let command = format!("tidegate offsets reset job.toml --to earliest --only {}`", bench.input);
    bench
        .halts(76, &[&format!("topic {} was made anew", bench.input), "topic with id ", "has id ", &command]);
    reset(&bench, 0, &["--to", "earliest", "--only", &bench.input, "--execute"]);
    bench.run_to_end(0);
    assert_eq!(stored(&bench), (0..20).chain(100..130).collect::<Vec<_>>());
    bench.run_to_end(0);
    assert_eq!(bench.outputs().len(), 50);
}

#[test]
fn a_progress_topic_that_was_made_anew_or_is_gone_is_refused() {
    let turn = turn();
    let bench = used(turn.services, "progress");
    let progress = format!("tidegate-{}-progress", bench.name);
    make_anew(&bench, &progress);
    bench.halts(76, &[&format!("the progress topic {progress} was made anew"), "--to ledger --outbox drop`"]);
    let refused = reset(&bench, 76, &["--to", "ledger", "--execute"]);
    assert!(refused.log.contains("--outbox send"), "{}", refused.log);
    reset(&bench, 0, &["--to", "ledger", "--outbox", "drop", "--execute"]);
    send(&bench, 20..25);
    bench.run_to_end(0);
    assert_eq!(bench.outputs().len(), 25, "nothing is sent twice");

    kafka::delete_topics(&turn.services.kafka, &[&progress]);
    bench.halts(76, &[&progress, "is gone", "--to ledger --outbox drop`"]);
    reset(&bench, 0, &["--to", "ledger", "--outbox", "drop", "--execute"]);
    send(&bench, 25..30);
    bench.run_to_end(0);
    assert_eq!(stored(&bench), (0..30).collect::<Vec<_>>());
    assert_eq!(bench.outputs().len(), 30);
    tidegate(&bench, 0, &["verify", "job.toml"]);
}

#[test]
fn records_that_retention_deleted_are_stepped_over_by_command_alone() {
    let turn = turn();
    let bench = used(turn.services, "retention");
    send(&bench, 20..30);
    kafka::delete_records_before(&turn.services.kafka, &bench.input, 24);
    let place = format!("{}/0", bench.input);
    let found = format!("{place}: the next position is 20 (the ledger's), but the partition holds 24 to 30");
    bench.halts(76, &[&found, &format!("tidegate offsets reset job.toml --to earliest --only {place}`")]);
    reset(&bench, 76, &["--to", "ledger"]);
    reset(&bench, 0, &["--to", "earliest", "--only", &place, "--execute"]);
    bench.run_to_end(0);
    assert_eq!(stored(&bench), (0..20).chain(24..30).collect::<Vec<_>>());
}

#[test]
fn a_database_from_an_older_backup_is_refused_until_a_side_is_taken() {
    let turn = turn();
    let bench = used(turn.services, "backup");
    let mut sql = bench.sql();
    let tables =
        bench.column("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()");
    for table in &tables {
        sql.run(&format!("CREATE TABLE backup_{table} LIKE {table}"));
        sql.run(&format!("INSERT INTO backup_{table} SELECT * FROM {table}"));
    }
    send(&bench, 20..30);
    bench.run_to_end(0);
    for table in &tables {
        sql.run(&format!("DELETE FROM {table}"));
        sql.run(&format!("INSERT INTO {table} SELECT * FROM backup_{table}"));
    }
    assert_eq!(stored(&bench), (0..20).collect::<Vec<_>>());
    bench.halts(
        76,
        &[
            "this job has committed position 30 to its consumer group, and the ledger's is 20",
            "Kafka has batch",
            "the ledger's last one with outputs is",
            "put back to an earlier state",
            "tidegate offsets reset job.toml --to ledger`",
        ],
    );
    reset(&bench, 0, &["--to", "ledger", "--execute"]);
    assert_eq!(bench.committed(), 20);
    bench.run_to_end(0);
    assert_eq!(stored(&bench), (0..30).collect::<Vec<_>>());
    assert_eq!(bench.outputs().len(), 40, "outputs behind the backup came a second time");
    let verdict = tidegate(&bench, 0, &["verify", "job.toml"]);
    assert!(verdict.log.contains("10 copies of events that a reset had handled again"), "{}", verdict.log);
}

#[test]
fn a_ledger_of_version_1_is_brought_up_by_the_next_start() {
    let turn = turn();
    let bench = used(turn.services, "version");
    let mut sql = bench.sql();
    for statement in [
        "ALTER TABLE tidegate_job DROP COLUMN resets, DROP COLUMN marked_group",
        "ALTER TABLE tidegate_position DROP COLUMN confirmed_batch",
        "DROP TABLE tidegate_topic, tidegate_reset",
        "UPDATE tidegate_ledger SET version = 1",
    ] {
        sql.run(statement);
    }
    let checked = tidegate(&bench, 0, &["check", "job.toml"]);
    let alter = "ALTER TABLE tidegate_position ADD COLUMN confirmed_batch";
    assert!(checked.log.contains("have version 1") && checked.log.contains(alter), "{}", checked.log);
    let older = tidegate(&bench, 78, &["verify", "job.toml"]);
    assert!(older.log.contains("the next `tidegate run` adds what is missing"), "{}", older.log);
    send(&bench, 20..30);
    bench.run_to_end(0);
    assert_eq!(stored(&bench), (0..30).collect::<Vec<_>>());
    assert_eq!(bench.outputs().len(), 30);
}
