//! Several changes of one key within one batch, made by several steps: each sees what the one before it left.

use super::bench::Bench;
use crate::services::turn;

const TABLE: &str = "CREATE TABLE store (k VARCHAR(10) PRIMARY KEY, v VARCHAR(10))";

const REST: &str = r#"
[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }
v = { path = "@v", type = "text" }

[[database.steps]]
name = "before"
lookup = "SELECT v FROM store WHERE k = :k"
missing = "null"
[[database.steps]]
store = "INSERT INTO store (k, v) VALUES (:k, :v) ON DUPLICATE KEY UPDATE v = VALUES(v)"
[[database.steps]]
store = "DELETE FROM store WHERE k = :k AND :v = 'delete'"

[output]
topic = "OUTPUT"
[[output.add]]
at = "."
element = "before"
text = ":before.v"
"#;

/// Key, change, and what stood there before it.
const CHANGES: [(&str, &str, Option<&str>); 8] = [
    ("1", "a", None),
    ("2", "a", None),
    ("1", "delete", Some("a")),
    ("1", "b", None),
    ("2", "delete", Some("a")),
    ("3", "a", None),
    ("3", "b", Some("a")),
    ("3", "c", Some("b")),
];

#[test]
fn changes_of_one_key_in_one_batch_are_made_one_after_the_other() {
    let turn = turn();
    for batch_events in [1, 2, 1000] {
        let bench = Bench::new(turn.services, "changes", &[TABLE]);
        bench.job(&format!("batch_events = {batch_events}"), REST);
        let documents: Vec<_> =
            CHANGES.iter().map(|(k, v, _)| format!("<r k=\"{k}\" v=\"{v}\"></r>")).collect();
        bench.send_texts(&documents);
        bench.run_to_end(0);
        let rows = bench.column("SELECT CONCAT(k, '=', v) FROM store ORDER BY k");
        assert_eq!(rows, ["1=b", "3=c"], "batches of {batch_events}");
        let expected: Vec<_> = CHANGES
            .iter()
            .zip(&documents)
            .map(|((_, _, before), document)| {
                let added = before.map_or("<before/>".to_owned(), |v| format!("<before>{v}</before>"));
                document.replace("></r>", &format!(">{added}</r>"))
            })
            .collect();
        assert_eq!(bench.output_texts(), expected, "batches of {batch_events}");
    }
}
