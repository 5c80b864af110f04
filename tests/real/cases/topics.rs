//! Two input topics in one job: what is wrong with a record of one is no matter of the other, whose events are stored and
//! sent once each, however often the job halts.

use super::bench::Bench;
use crate::services::turn;

/// A row twice would be seen: no key refuses it.
const TABLE: &str = "CREATE TABLE store (entry INT PRIMARY KEY AUTO_INCREMENT, topic VARCHAR(100), k VARCHAR(10), \
                     v VARCHAR(10) NOT NULL)";

const REST: &str = r#"
refused = "halt"

[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }
v = { path = "v", type = "text", optional = true }

[[database.steps]]
store = "INSERT INTO store (topic, k, v) VALUES (:_topic, :k, :v)"

[output]
topic = "OUTPUT"
"#;

const RECORDS: usize = 60;
/// Cannot be read: it has no key.
const UNREADABLE: usize = 20;
/// Can be read, and not be stored: it has no value.
const REFUSED: usize = 40;

fn good(number: usize) -> String {
    format!("<r k=\"{number}\"><v>v</v></r>")
}

fn bad(number: usize) -> String {
    match number {
        UNREADABLE => "<r><v>v</v></r>".to_owned(),
        REFUSED => format!("<r k=\"{number}\"/>"),
        _ => good(number),
    }
}

#[test]
fn a_bad_record_of_one_topic_doubles_nothing_of_another() {
    let turn = turn();
    let mut bench = Bench::new(turn.services, "topics", &[TABLE]);
    let second = bench.add_second_input();
    bench.job("batch_events = 7", REST);
    let documents = |write: fn(usize) -> String| (0..RECORDS).map(write).collect::<Vec<_>>();
    let (goods, bads) = (documents(good), documents(bad));
    bench.send_texts(&goods);
    let values: Vec<_> = bads.iter().map(|text| Some(text.as_bytes())).collect();
    bench.send_to(&second, &values);

    for _ in 0..3 {
        bench.halts(65, &[&format!("{second}/0/{REFUSED}")]);
        let rows: i64 = bench.sql().peek("SELECT COUNT(*) FROM store").expect("a count");
        let places: i64 = bench.sql().peek("SELECT COUNT(DISTINCT topic, k) FROM store").expect("a count");
        assert_eq!(rows, places, "a row is there twice behind a halt");
    }
    bench.sql().run("ALTER TABLE store MODIFY v VARCHAR(10)");
    bench.run_to_end(0);

    let keys =
        |topic: &str| bench.column(&format!("SELECT k FROM store WHERE topic = '{topic}' ORDER BY entry"));
    let numbers = |skips: Option<usize>| {
        (0..RECORDS).filter(|number| Some(*number) != skips).map(|n| n.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(keys(&bench.input), numbers(None));
    assert_eq!(keys(&second), numbers(Some(UNREADABLE)));
    let (of_first, of_second): (Vec<_>, Vec<_>) =
        bench.outputs().into_iter().partition(|sent| !sent.source.starts_with(&second));
    let texts = |sent: Vec<super::bench::Sent>| {
        let text = |one: super::bench::Sent| String::from_utf8(one.value.expect("a value")).expect("text");
        sent.into_iter().map(text).collect::<Vec<_>>()
    };
    assert_eq!(texts(of_first), goods);
    let mut readable = bads;
    readable.remove(UNREADABLE);
    assert_eq!(texts(of_second), readable);
    let letters: Vec<_> = bench.dead_letters().into_iter().map(|sent| sent.source).collect();
    assert_eq!(letters, [format!("{second}/0/{UNREADABLE}")]);
}
