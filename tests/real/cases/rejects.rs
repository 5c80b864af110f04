//! Events that cannot be handled go aside by their rule, found among all the others of their batch: those are stored, in order.

use super::bench::{Bench, DEADLINE, Global};
use crate::services::{Services, turn};
use crate::wait::wait_for;

const TABLES: [&str; 4] = [
    "CREATE TABLE touched (entry INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(10), n INT)",
    "CREATE TABLE store (entry INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(10), n INT, v VARCHAR(10) NOT NULL)",
    "CREATE TABLE ref (k VARCHAR(10) PRIMARY KEY, note VARCHAR(20))",
    "INSERT INTO ref VALUES ('a', 'A'), ('b', 'B')",
];

const REST: &str = r#"
RULES

[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }
n = { path = "@n", type = "int64" }
v = { path = "@v", type = "text" }
ref = { path = "@ref", type = "text" }

[[database.steps]]
name = "ref"
lookup = "SELECT note FROM ref WHERE k = :ref"
[[database.steps]]
store = "INSERT INTO touched (k, n) VALUES (:k, :n)"
[[database.steps]]
name = "row"
store = "INSERT INTO store (k, n, v) VALUES (:k, :n, :v)"

[output]
topic = "OUTPUT"
[[output.add]]
at = "."
element = "note"
text = ":ref.note"
"#;

fn bench(services: &'static Services, name: &str, rules: &str) -> Bench {
    let bench = Bench::new(services, name, &TABLES);
    bench.job("", &REST.replace("RULES", rules));
    bench
}

fn document(k: &str, n: usize, v: &str) -> String {
    format!("<r k=\"{k}\" n=\"{n}\" v=\"{v}\" ref=\"{}\"></r>", &k[..1])
}

/// Eleven characters where ten fit.
const LONG: &str = "0123456789a";

/// What is stored, which is what both steps have stored: nothing stays of an event that the second one refuses.
fn rows(bench: &Bench) -> Vec<String> {
    let of = |table: &str| bench.column(&format!("SELECT CONCAT(k, n) FROM {table} ORDER BY entry"));
    let rows = of("store");
    assert_eq!(of("touched"), rows);
    rows
}

fn outputs(bench: &Bench) -> Vec<String> {
    let of = |text: String| {
        let part = |name: &str| {
            text.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap().to_owned()
        };
        format!("{}{}", part("k").trim_start_matches("r k="), part("n"))
    };
    bench.output_texts().into_iter().map(of).collect()
}

#[test]
fn one_value_too_long_goes_to_the_dead_letters_with_its_column() {
    let turn = turn();
    let _lax = Global::set(turn.services, "sql_mode", "''");
    let bench = bench(turn.services, "rejects_one", "refused = \"dead_letter\"");
    let documents: Vec<String> =
        (1..=5).map(|n| document("a", n, if n == 3 { LONG } else { "fits" })).collect();
    bench.send_texts(&documents);
    let ended = bench.run_to_end(0);
    assert_eq!(rows(&bench), ["a1", "a2", "a4", "a5"]);
    assert_eq!(outputs(&bench), ["a1", "a2", "a4", "a5"]);
    let letters = bench.dead_letters();
    assert_eq!(
        (letters.len(), letters[0].reason.as_str(), letters[0].source.as_str()),
        (1, "refused", "0/2")
    );
    assert!(letters[0].value.as_deref() == Some(documents[2].as_bytes()), "the record as it was");
    assert!(ended.log.contains("column 'v'") && !ended.log.contains(LONG), "{}", ended.log);
    assert_eq!(bench.committed(), 5);
    bench.tidegate(&["verify", "job.toml"]).expect(0, DEADLINE);
}

#[test]
fn many_rejects_of_every_kind_in_one_batch_are_each_found() {
    let turn = turn();
    let rules = "refused = \"dead_letter\"\nmissing_lookup = \"discard\"";
    let bench = bench(turn.services, "rejects_many", rules);
    // c has no row to look up; every fifth is too long.
    let keys = ["a1", "b1", "c1", "a2"];
    let documents: Vec<String> =
        (0..200).map(|n| document(keys[n % 4], n, if n % 5 == 0 { LONG } else { "fits" })).collect();
    bench.send_texts(&documents);
    let ended = bench.run_to_end(0);
    let good = |n: &usize| !n.is_multiple_of(5) && n % 4 != 2;
    let expected: Vec<String> = (0..200).filter(good).map(|n| format!("{}{n}", keys[n % 4])).collect();
    assert_eq!(rows(&bench), expected, "one key group: all of it has one order");
    assert_eq!(outputs(&bench), expected);
    let letters: Vec<String> = bench.dead_letters().into_iter().map(|letter| letter.source).collect();
    let refused: Vec<String> =
        (0..200).filter(|n| n % 5 == 0 && n % 4 != 2).map(|n| format!("0/{n}")).collect();
    assert_eq!(letters, refused);
    assert_eq!(ended.log.matches("event discarded").count(), 50, "{}", ended.log);
    assert_eq!(bench.committed(), 200);
    bench.tidegate(&["verify", "job.toml"]).expect(0, DEADLINE);
}

#[test]
fn a_parked_key_keeps_its_order_while_others_go_on_and_is_tried_again_by_the_running_job() {
    let turn = turn();
    let bench = bench(turn.services, "rejects_parked", "missing_lookup = \"park\"");
    let mut process = bench.run();
    bench.send_texts(&[
        document("a", 1, LONG),
        document("b", 2, "fits"),
        document("a", 3, "fits"),
        document("b", 4, "fits"),
    ]);
    bench.wait_count(&mut process, "SELECT COUNT(*) FROM store", 2);
    bench.send_texts(&[document("a", 5, "fits"), document("c", 6, "fits"), document("b", 7, "fits")]);
    bench.wait_count(&mut process, "SELECT COUNT(*) FROM store", 3);
    assert_eq!(rows(&bench), ["b2", "b4", "b7"]);
    let waiting = "SELECT COUNT(*) FROM tidegate_parked WHERE state = 0";
    bench.wait_count(&mut process, waiting, 4);
    bench.tidegate(&["verify", "job.toml"]).expect(0, DEADLINE);

    // Tried too early: it stays what it is, in order.
    bench.tidegate(&["parked", "retry", "job.toml", "--all", "--execute"]).expect(0, DEADLINE);
    let tried = "SELECT COUNT(*) FROM tidegate_parked WHERE tries = 2";
    bench.wait_count(&mut process, tried, 2);
    assert_eq!(rows(&bench), ["b2", "b4", "b7"]);

    bench.sql().run("ALTER TABLE store MODIFY v VARCHAR(20) NOT NULL");
    bench.tidegate(&["parked", "retry", "job.toml", "--key", "a", "--execute"]).expect(0, DEADLINE);
    bench.wait_count(&mut process, waiting, 1);
    bench.wait_count(&mut process, "SELECT COUNT(*) FROM store", 6);
    assert_eq!(rows(&bench)[3..], ["a1", "a3", "a5"]);
    bench.send_texts(&[document("a", 8, "fits")]);
    bench.wait_count(&mut process, "SELECT COUNT(*) FROM store", 7);

    // What a person gives up is known, and no loss.
    bench.tidegate(&["parked", "drop", "job.toml", "--key", "c", "--execute"]).expect(0, DEADLINE);
    bench.wait_count(&mut process, "SELECT COUNT(*) FROM tidegate_parked_key", 0);
    wait_for("the outputs", DEADLINE, || (bench.outputs().len() == 7).then_some(()));
    assert_eq!(outputs(&bench), ["b2", "b4", "b7", "a1", "a3", "a5", "a8"]);
    process.signal("TERM");
    process.expect(0, DEADLINE);
    assert_eq!(bench.committed(), 8);
    let verified = bench.tidegate(&["verify", "job.toml"]).expect(0, DEADLINE);
    assert!(verified.log.contains("1 parked and dropped by a person"), "{}", verified.log);
}

#[test]
fn a_retry_that_is_killed_again_and_again_stores_each_event_once_and_in_order() {
    let turn = turn();
    let bench = bench(turn.services, "rejects_killed", "");
    const EVENTS: usize = 600;
    let documents: Vec<String> = (0..EVENTS)
        .map(|n| document(["a1", "a2", "b1"][n % 3], n, if n < 3 { LONG } else { "fits" }))
        .collect();
    bench.send_texts(&documents);
    bench.run_to_end(0);
    assert_eq!(rows(&bench), [""; 0]);
    bench.sql().run("ALTER TABLE store MODIFY v VARCHAR(20) NOT NULL");
    bench.tidegate(&["parked", "retry", "job.toml", "--all", "--execute"]).expect(0, DEADLINE);
    let mut sql = bench.sql();
    for rows in [1, 150, 350] {
        let process = bench.run();
        wait_for("some rows", DEADLINE, || {
            sql.peek::<i64>("SELECT COUNT(*) FROM store").filter(|&found| found >= rows)
        });
        process.kill();
    }
    bench.run_to_end(0);
    let of = |key: &str| bench.column(&format!("SELECT n FROM store WHERE k = '{key}' ORDER BY entry"));
    for (index, key) in ["a1", "a2", "b1"].into_iter().enumerate() {
        let numbers: Vec<String> = (0..EVENTS).filter(|n| n % 3 == index).map(|n| n.to_string()).collect();
        assert_eq!(of(key), numbers, "key {key}");
    }
    assert_eq!(outputs(&bench).len(), EVENTS);
    assert_eq!(bench.column("SELECT COUNT(*) FROM tidegate_parked"), ["0"]);
    bench.tidegate(&["verify", "job.toml"]).expect(0, DEADLINE);
}
