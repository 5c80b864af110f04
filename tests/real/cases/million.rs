//! Many parked keys: the job starts with them, runs on, and parks what comes behind one of them.
//!
//! `TIDEGATE_PARKED_KEYS=1000000 cargo test --test real million -- --nocapture` shows what so many cost; without it, 20,000.

use super::bench::{Bench, DEADLINE};
use crate::services::turn;
use crate::wait::{report, wait_for};
use std::time::{Duration, Instant};

const TABLE: &str =
    "CREATE TABLE store (entry INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(20), v VARCHAR(4) NOT NULL)";

const REST: &str = r#"
[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }
v = { path = "@v", type = "text" }

[[database.steps]]
store = "INSERT INTO store (k, v) VALUES (:k, :v)"
"#;

const EVENTS: usize = 5_000;

fn good(from: usize) -> Vec<String> {
    (from..from + EVENTS).map(|n| format!("<r k=\"k{}\" v=\"fits\"/>", n % 500)).collect()
}

/// Stores so many events; gives what the process has resident, in KiB, from its start to the first row and the time for all.
fn run(bench: &Bench, from: usize) -> (u64, Duration, Duration) {
    bench.send_texts(&good(from));
    let began = Instant::now();
    let mut process = bench.run();
    let mut sql = bench.sql();
    let count = |sql: &mut crate::sql::Sql| sql.peek::<i64>("SELECT COUNT(*) FROM store");
    let mut wait = |rows: usize| {
        wait_for(&format!("{rows} rows"), DEADLINE * 3, || {
            process.assert_runs();
            count(&mut sql).filter(|&found| found >= rows as i64)
        });
        began.elapsed()
    };
    let first = wait(from + 1);
    let all = wait(from + EVENTS);
    let resident = process.resident_kib();
    process.signal("TERM");
    process.expect(0, DEADLINE);
    (resident, first, all - first)
}

#[test]
fn a_job_runs_on_with_very_many_parked_keys() {
    let keys: usize =
        std::env::var("TIDEGATE_PARKED_KEYS").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000);
    let turn = turn();
    let bench = Bench::new(turn.services, "million", &[TABLE]);
    bench.job("", &REST.replace("[event]\nkey", "[limits]\nparked_keys = 2000000\n\n[event]\nkey"));
    let without = run(&bench, 0);
    // One that the job has parked itself; the others stand in the ledger as if it had.
    bench.send_texts(&["<r k=\"parked\" v=\"too long\"/>"]);
    bench.run_to_end(0);
    let name = &bench.name;
    const AT_A_TIME: usize = 100_000;
    for from in (2..=keys).step_by(AT_A_TIME) {
        let to = keys.min(from + AT_A_TIME - 1);
        bench.sql().run(&format!(
            "INSERT INTO tidegate_parked_key (job, key_id, key_group, ordering_key, mark) \
             SELECT '{name}', UNHEX(MD5(seq)), 0, CONCAT('other-', seq), 0 FROM seq_{from}_to_{to}"
        ));
    }
    let with = run(&bench, EVENTS);
    bench.send_texts(&["<r k=\"parked\" v=\"fits\"/>"]);
    bench.run_to_end(0);
    assert_eq!(bench.column("SELECT COUNT(*) FROM store"), [(2 * EVENTS).to_string()]);
    assert_eq!(bench.column("SELECT COUNT(*) FROM tidegate_parked WHERE state = 0"), ["2"]);
    assert_eq!(bench.column("SELECT COUNT(*) FROM tidegate_parked_key"), [keys.to_string()]);
    let mib = |kib: u64| kib / 1024;
    report(&format!(
        "{keys} parked keys: {} MiB resident, {} without; first row after {:?}, {:?} without; {EVENTS} events in {:?}, {:?} without",
        mib(with.0),
        mib(without.0),
        with.1,
        without.1,
        with.2,
        without.2
    ));
}
