//! Outputs and dead letters over a topic's limit: the job halts, nothing is lost, and it goes on once the topic takes them.

use super::bench::Bench;
use crate::kafka;
use crate::services::turn;

const TABLES: [&str; 3] = [
    "CREATE TABLE store (k VARCHAR(10) PRIMARY KEY)",
    "CREATE TABLE ref (k VARCHAR(10) PRIMARY KEY, note MEDIUMTEXT)",
    "INSERT INTO ref VALUES ('large', REPEAT('x', 200000)), ('small', 'x')",
];

const REST: &str = r#"
[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }
ref = { path = "@ref", type = "text" }

[[database.steps]]
name = "ref"
lookup = "SELECT note FROM ref WHERE k = :ref"
[[database.steps]]
store = "INSERT INTO store (k) VALUES (:k)"

[output]
topic = "OUTPUT"
[[output.add]]
at = "."
element = "note"
text = ":ref.note"
"#;

#[test]
fn what_is_over_a_topics_limit_halts_and_goes_once_the_limit_is_raised() {
    let turn = turn();
    let bench = Bench::new(turn.services, "sizes", &TABLES);
    bench.job("", REST);
    kafka::set_topic(&turn.services.kafka, &bench.input, "max.message.bytes", "4000000");
    let large = format!("<r k=\"1\" ref=\"large\">{}</r>", " ".repeat(900_000));
    let unreadable = " ".repeat(1_500_000);
    bench.send_texts(&["<r k=\"0\" ref=\"small\"></r>", &large, "<r k=\"2\" ref=\"small\"></r>"]);
    for _ in 0..2 {
        bench.halts(65, &[&bench.output, &format!("{}/0/1", bench.input), "max.message.bytes"]);
        assert!(bench.committed() <= 1, "committed past the record that was not sent");
    }
    kafka::set_topic(&turn.services.kafka, &bench.output, "max.message.bytes", "4000000");
    bench.run_to_end(0);

    bench.send_texts(&[&unreadable, "<r k=\"3\" ref=\"small\"></r>"]);
    bench.halts(65, &[&bench.dead_letters, &format!("{}/0/3", bench.input), "max.message.bytes"]);
    kafka::set_topic(&turn.services.kafka, &bench.dead_letters, "max.message.bytes", "4000000");
    bench.run_to_end(0);

    let note = |k: &str| format!("<r k=\"{k}\" ref=\"small\"><note>x</note></r>");
    let large = large.replace("</r>", &format!("<note>{}</note></r>", "x".repeat(200_000)));
    assert!(
        bench.output_texts() == [note("0"), large, note("2"), note("3")],
        "the outputs, once and in order"
    );
    let dead_letters = bench.dead_letters();
    assert_eq!(dead_letters.len(), 1);
    assert_eq!(dead_letters[0].reason, "limit");
    assert!(dead_letters[0].value.as_deref() == Some(unreadable.as_bytes()), "the record as it was");
    assert_eq!(bench.column("SELECT k FROM store ORDER BY k"), ["0", "1", "2", "3"]);
    assert_eq!(bench.committed(), 5);
}
