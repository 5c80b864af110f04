//! Killed between the database's commit and Kafka's, and with a record in hand: nothing is lost or done again. Then
//! started with nothing to do, and with records gone that it has not read.

use super::bench::{Bench, DEADLINE};
use crate::kafka;
use crate::services::{Server, turn};
use crate::wait::wait_for;

const TABLE: &str = "CREATE TABLE store (k VARCHAR(10) PRIMARY KEY, status VARCHAR(10) NOT NULL)";

const REST: &str = r#"
[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }

[[database.steps]]
store = "INSERT INTO store (k, status) VALUES (:k, 'pending')"

[output]
topic = "OUTPUT"
"#;

fn documents(numbers: std::ops::Range<u32>) -> Vec<String> {
    numbers.map(|number| format!("<r k=\"{number:03}\"/>")).collect()
}

#[test]
fn killed_at_the_worst_moments_and_started_again() {
    let turn = turn();
    let bench = Bench::new(turn.services, "kills", &[TABLE]);
    bench.job("", REST);
    stored_and_not_sent(&bench);
    read_and_not_stored(&bench);
    nothing_to_do(&bench);
    records_gone(&bench);
}

/// The rows are there, the outputs are not, and somebody has changed the rows since.
fn stored_and_not_sent(bench: &Bench) {
    let mut process = bench.run();
    let mut other = bench.sql();
    hold_back(&mut other, "000");
    bench.wait_lock_waits(&mut process, 1, || bench.send_texts(&documents(0..100)));
    bench.services.act(Server::Kafka, "freeze");
    other.run("ROLLBACK");
    wait_for("the first rows", DEADLINE, || {
        other.peek::<i64>("SELECT COUNT(*) FROM store").filter(|&rows| rows > 0)
    });
    other.run("UPDATE store SET status = 'done'");
    process.kill();
    let done: i64 = other.peek("SELECT COUNT(*) FROM store WHERE status = 'done'").expect("a count");
    bench.services.act(Server::Kafka, "thaw");
    assert_eq!(bench.outputs(), [], "stored, and not sent");

    bench.run_to_end(0);
    assert_eq!(bench.output_texts(), documents(0..100));
    assert_eq!(other.peek::<i64>("SELECT COUNT(*) FROM store"), Some(100));
    assert_eq!(other.peek::<i64>("SELECT COUNT(*) FROM store WHERE status = 'done'"), Some(done));
    assert_eq!(bench.committed(), 100);
}

/// A record in the hands of a transaction that waits for a lock.
fn read_and_not_stored(bench: &Bench) {
    let mut process = bench.run();
    let mut other = bench.sql();
    hold_back(&mut other, "100");
    bench.wait_lock_waits(&mut process, 1, || bench.send_texts(&documents(100..101)));
    process.kill();
    assert_eq!(bench.committed(), 100, "a record that is not stored is not committed");
    other.run("ROLLBACK");
    bench.run_to_end(0);
    assert_eq!(bench.output_texts(), documents(0..101));
    assert_eq!(other.peek::<i64>("SELECT COUNT(*) FROM store"), Some(101));
}

/// The committed offset is that of the next record: the last one is not done again.
fn nothing_to_do(bench: &Bench) {
    assert_eq!(bench.committed(), 101);
    bench.run_to_end(0);
    assert_eq!(bench.committed(), 101);
    assert_eq!(bench.output_texts().len(), 101);
}

/// Retention has taken what the job has not read: no jump to either end, but a halt that names the gap.
fn records_gone(bench: &Bench) {
    bench.send_texts(&documents(101..106));
    kafka::delete_records_before(&bench.services.kafka, &bench.input, 104);
    for _ in 0..2 {
        bench.halts(76, &[&bench.input, "101", "104"]);
    }
    assert_eq!(bench.committed(), 101);
    assert_eq!(bench.sql().peek::<i64>("SELECT COUNT(*) FROM store"), Some(101));
}

/// Whoever stores this key now waits for the end of our transaction.
fn hold_back(sql: &mut crate::sql::Sql, key: &str) {
    sql.run("START TRANSACTION");
    sql.run(&format!("INSERT INTO store (k, status) VALUES ('{key}', 'other')"));
}
