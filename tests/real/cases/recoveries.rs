//! How soon a job goes on: from the database's first accepted connection to the first event that is stored again.
//!
//! `TIDEGATE_RECOVERIES=20 cargo test --test real recoveries` measures so many restarts; without it, three.

use super::bench::{Bench, DEADLINE};
use crate::services::{Server, turn};
use crate::wait::{report, wait_for};
use std::time::{Duration, Instant};

const TABLE: &str = "CREATE TABLE store (entry INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(10))";

const REST: &str = r#"
[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }

[[database.steps]]
store = "INSERT INTO store (k) VALUES (:k)"
"#;

/// So long the database is out: the prober's pauses are as long as they get.
const OUT: Duration = Duration::from_secs(5);

#[test]
fn recoveries_of_the_database_take_less_than_a_second_at_the_median() {
    let rounds = std::env::var("TIDEGATE_RECOVERIES").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let turn = turn();
    let bench = Bench::new(turn.services, "recoveries", &[TABLE]);
    bench.job("", REST);
    let mut process = bench.run();
    bench.send_texts(&["<r k=\"first\"/>"]);
    bench.wait_count(&mut process, "SELECT COUNT(*) FROM store", 1);
    let mut took = Vec::new();
    for round in 0..rounds {
        let services = turn.services;
        services.act(Server::Db, "stop");
        let stopped = Instant::now();
        bench.send_texts(&[format!("<r k=\"{round}\"/>")]);
        wait_for("the database to have been out", DEADLINE, || {
            process.assert_runs();
            (stopped.elapsed() >= OUT).then_some(())
        });
        let starting = std::thread::spawn(move || services.act(Server::Db, "start"));
        let mut sql = bench.sql();
        let count = "SELECT COUNT(*) FROM store";
        let (before, accepted) = loop {
            match sql.peek::<i64>(count) {
                Some(before) => break (before, Instant::now()),
                None => assert!(stopped.elapsed() < DEADLINE + OUT, "the database does not come back"),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        let stored = round + 2;
        let after = if before == stored {
            Duration::ZERO
        } else {
            wait_for("the event of the outage", DEADLINE, || {
                process.assert_runs();
                sql.peek::<i64>(count).filter(|&count| count == stored)
            });
            accepted.elapsed()
        };
        took.push(after);
        starting.join().expect("the database starts");
    }
    process.signal("TERM");
    process.expect(0, DEADLINE);
    took.sort_unstable();
    let (median, worst) = (took[took.len() / 2], took[took.len() - 1]);
    report(&format!("{rounds} restarts of the database: median {median:?}, worst {worst:?}; all: {took:?}"));
    assert!(median < Duration::from_secs(1), "{took:?}");
    assert_eq!(bench.column("SELECT COUNT(DISTINCT k) FROM store"), [(rounds + 1).to_string()]);
}
