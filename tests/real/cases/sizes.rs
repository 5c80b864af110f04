//! Outputs and dead letters over a topic's limit: by the rule the job halts, and goes on once the topic takes them; or the
//! record goes aside, cut where the dead-letter topic would not take it whole, and nothing of it is stored.

use super::bench::{Bench, Global};
use crate::kafka;
use crate::services::{Services, turn};

const TABLES: [&str; 3] = [
    "CREATE TABLE store (k VARCHAR(10) PRIMARY KEY)",
    "CREATE TABLE ref (k VARCHAR(10) PRIMARY KEY, note MEDIUMTEXT)",
    "INSERT INTO ref VALUES ('large', REPEAT('x', 200000)), ('small', 'x')",
];

const REST: &str = r#"
too_large = "RULE"

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

fn bench(services: &'static Services, name: &str, rule: &str) -> Bench {
    let bench = Bench::new(services, name, &TABLES);
    bench.job("", &REST.replace("RULE", rule));
    kafka::set_topic(&services.kafka, &bench.input, "max.message.bytes", "4000000");
    bench
}

fn note(k: &str) -> String {
    format!("<r k=\"{k}\" ref=\"small\"><note>x</note></r>")
}

fn large() -> String {
    format!("<r k=\"1\" ref=\"large\">{}</r>", " ".repeat(900_000))
}

#[test]
fn what_is_over_a_topics_limit_halts_and_goes_once_the_limit_is_raised() {
    let turn = turn();
    let bench = bench(turn.services, "sizes", "halt");
    bench.send_texts(&["<r k=\"0\" ref=\"small\"></r>", &large(), "<r k=\"2\" ref=\"small\"></r>"]);
    for _ in 0..2 {
        bench.halts(65, &[&format!("{}/0/1", bench.input), "max.message.bytes"]);
        assert!(bench.committed() <= 1, "committed past the record that was not sent");
        assert_eq!(
            bench.column("SELECT k FROM store WHERE k = '1'"),
            [""; 0],
            "it is found before it is stored"
        );
    }
    kafka::set_topic(&turn.services.kafka, &bench.output, "max.message.bytes", "4000000");
    bench.run_to_end(0);
    let large = large().replace("</r>", &format!("<note>{}</note></r>", "x".repeat(200_000)));
    assert!(bench.output_texts() == [note("0"), large, note("2")], "the outputs, once and in order");
    assert_eq!(bench.dead_letters(), []);
    assert_eq!(bench.column("SELECT k FROM store ORDER BY k"), ["0", "1", "2"]);
    assert_eq!(bench.committed(), 3);
}

#[test]
fn what_is_over_both_limits_goes_aside_cut_and_marked() {
    let turn = turn();
    let bench = bench(turn.services, "sizes_aside", "dead_letter");
    let unreadable = " ".repeat(1_500_000);
    bench.send_texts(&["<r k=\"0\" ref=\"small\"/>", &large(), "<r k=\"2\" ref=\"small\"/>", &unreadable]);
    bench.send_texts(&["<r k=\"3\" ref=\"small\"></r>"]);
    bench.run_to_end(0);
    let letters = bench.dead_letters();
    let reasons: Vec<_> =
        letters.iter().map(|letter| (letter.source.as_str(), letter.reason.as_str())).collect();
    assert_eq!(reasons, [("0/1", "too_large"), ("0/3", "limit")]);
    assert!(letters[0].value.as_deref() == Some(large().as_bytes()), "the input's record fits, and is whole");
    let cut = letters[1].value.as_deref().expect("the beginning of the record");
    assert!(cut.len() > 1_000_000 && cut.len() < 1_048_588 && unreadable.as_bytes().starts_with(cut));
    assert_eq!(bench.output_texts().len(), 3);
    assert_eq!(bench.column("SELECT k FROM store ORDER BY k"), ["0", "2", "3"], "nothing of it is stored");
    assert_eq!(bench.committed(), 5);
    bench.tidegate(&["verify", "job.toml"]).expect(0, super::bench::DEADLINE);
}

/// Text in which nothing is twice, so that the outbox cannot pack it.
fn noise(seed: u64, length: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let letter = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(LETTERS[usize::try_from(state >> 58).expect("six bits")])
    };
    (0..length).map(letter).collect()
}

/// Events whose outputs are too much for one row of the outbox, also packed, one of them even by itself.
#[test]
fn outputs_that_do_not_fit_into_a_packet_together_go_in_smaller_batches() {
    let turn = turn();
    let _small = Global::set(turn.services, "max_allowed_packet", "1048576");
    let large = format!("UPDATE ref SET note = '{}' WHERE k = 'large'", noise(100, 200_000));
    let huge = format!("INSERT INTO ref VALUES ('huge', '{}')", noise(101, 1_000_000));
    let tables = [TABLES.as_slice(), &[&large, &huge]].concat();
    let bench = Bench::new(turn.services, "packets", &tables);
    bench.job("", &REST.replace("RULE", "dead_letter"));
    for topic in [&bench.input, &bench.output, &bench.dead_letters] {
        kafka::set_topic(&turn.services.kafka, topic, "max.message.bytes", "4000000");
    }
    let of = |k: usize| if k == 13 { "huge" } else { "large" };
    let pad = |k: usize| noise(u64::try_from(k).expect("a small number"), 100_000);
    let document = |k| format!("<r k=\"{k}\" ref=\"{}\">{}</r>", of(k), pad(k));
    let documents: Vec<String> = (0..24).map(document).collect();
    bench.send_texts(&documents);
    bench.run_to_end(0);
    let numbers: Vec<String> = (0..24).filter(|k| *k != 13).map(|k| k.to_string()).collect();
    assert_eq!(bench.column("SELECT k FROM store ORDER BY k + 0"), numbers);
    assert_eq!(bench.outputs().len(), 23);
    let letters = bench.dead_letters();
    let places: Vec<_> =
        letters.iter().map(|letter| (letter.source.as_str(), letter.reason.as_str())).collect();
    assert_eq!(places, [("0/13", "too_large")]);
    bench.tidegate(&["verify", "job.toml"]).expect(0, super::bench::DEADLINE);
}
