//! Values that a table refuses, where the rule is to halt: the job halts before them, says which record and which column, cuts nothing, and goes on
//! with that very record once the table takes it.

use super::bench::{Bench, Global};
use crate::services::turn;

const TABLE: &str = "CREATE TABLE store (entry INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(10) UNIQUE, v VARCHAR(10), \
                     n TINYINT NOT NULL, narrow VARCHAR(10) CHARACTER SET utf8mb3)";

const REST: &str = r#"
refused = "halt"

[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }
v = { path = "v", type = "text", optional = true }
n = { path = "n", type = "int64", optional = true }
narrow = { path = "narrow", type = "text", optional = true }

[[database.steps]]
name = "row"
store = "INSERT INTO store (k, v, n, narrow) VALUES (:k, :v, :n, :narrow)"

[output]
topic = "OUTPUT"
"#;

#[test]
fn what_a_table_refuses_halts_by_name_and_goes_on_once_it_fits() {
    let turn = turn();
    // A server that would cut a value and only warn: the job's own sessions are strict.
    let _lax = Global::set(turn.services, "sql_mode", "''");
    let bench = Bench::new(turn.services, "refusals", &[TABLE]);
    bench.job("", REST);
    let documents = [
        "<r k=\"0\"><n>1</n></r>",
        "<r k=\"1\"><v>0123456789</v><n>1</n></r>",
        "<r k=\"2\"><v>0123456789a</v><n>1</n></r>",
        "<r k=\"3\"><n>1000</n></r>",
        "<r k=\"4\"><n>1</n><narrow>\u{1D4B3}\u{1F600}</narrow></r>",
        "<r k=\"5\"></r>",
        "<r k=\"1\"><n>2</n></r>",
        "<r k=\"6\"><n>1</n></r>",
    ];
    bench.send_texts(&documents);
    let place = |offset: usize| format!("{}/0/{offset}", bench.input);
    let rounds = [
        (2, "longer than its column", "column 'v'", "MODIFY v VARCHAR(20)"),
        (3, "out of its column's range", "column 'n'", "MODIFY n SMALLINT NOT NULL"),
        (4, "character set", "`narrow`", "MODIFY narrow VARCHAR(10)"),
        (5, "must not be NULL", "Column 'n'", "MODIFY n SMALLINT"),
        (6, "a row with this key exists", "'k'", "DROP INDEX k"),
    ];
    for (offset, why, column, repair) in rounds {
        bench.halts(65, &[why, column, &place(offset)]);
        assert_eq!(bench.dead_letters(), [], "a refused event is not an unreadable record");
        assert!(bench.committed() <= offset as i64, "committed past the refused record");
        let rows = bench.column("SELECT COALESCE(v, k) FROM store ORDER BY entry");
        let fitting = ["0", "0123456789", "0123456789a", "3", "4", "5"];
        assert!(rows.len() <= offset && rows == fitting[..rows.len()], "before {offset}: {rows:?}");
        bench.sql().run(&format!("ALTER TABLE store {repair}"));
    }
    bench.run_to_end(0);
    let rows = bench.column("SELECT k FROM store ORDER BY entry");
    assert_eq!(rows, ["0", "1", "2", "3", "4", "5", "1", "6"]);
    assert_eq!(bench.column("SELECT narrow FROM store WHERE k = '4'"), ["\u{1D4B3}\u{1F600}"]);
    assert_eq!(bench.output_texts(), documents);
    assert_eq!(bench.committed(), documents.len() as i64);
}
