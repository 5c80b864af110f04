//! Records of many events: each event once and in order through kills, with its rows in child tables and its outputs in two
//! topics; one event of a record that is refused, mended and sent back; values and tombstones of one key in one batch.

use super::bench::{Bench, DEADLINE};
use crate::kafka;
use crate::services::turn;
use crate::wait::{report, wait_for};
use rdkafka::Message;
use rdkafka::message::Headers;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Instant;

const TABLES: [&str; 2] = [
    "CREATE TABLE journal (entry INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(10), n INT, place INT, UNIQUE (k, n))",
    "CREATE TABLE line (entry INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(10), n INT, line INT, sku VARCHAR(10), \
     tag INT, label VARCHAR(10), UNIQUE (k, n, line, tag))",
];

const REST: &str = r#"
[event]
each = "/batch/e"
key = ["@k"]
no_match = "discard"
[event.fields]
k = { path = "@k", type = "text" }
n = { path = "@n", type = "int64" }
copy = { path = "@copy", type = "bool", optional = true }
[event.lists.line]
each = "l"
fields = { sku = { path = "@sku", type = "text" } }
[event.lists.line.lists.tag]
each = "t"
fields = { label = { path = ".", type = "text" } }

[[database.steps]]
store = "INSERT INTO journal (k, n, place) VALUES (:k, :n, :_offset)"
[[database.steps]]
for_each = "tag"
when = ":tag.label != 'skip'"
store = """INSERT INTO line (k, n, line, sku, tag, label)
           VALUES (:k, :n, :line._index, :line.sku, :tag._index, :tag.label)"""

[[output]]
name = "each"
topic = "OUTPUT"
document = "element"
[[output]]
name = "copies"
topic = "COPIES"
when = ":copy = true"
document = "element"
"#;

const KEYS: usize = 7;
const EVENTS: usize = 1_000;
const RECORDS: usize = 12;

/// A further topic of a case.
struct Topic<'a>(&'a Bench, String);

impl<'a> Topic<'a> {
    fn new(bench: &'a Bench, name: &str) -> Topic<'a> {
        let name = format!("{}_{name}", bench.name);
        kafka::create_topics(&bench.services.kafka, &[&name], 1);
        Topic(bench, name)
    }

    fn values(&self) -> Vec<String> {
        values(self.0, &self.1).into_iter().map(|(_, _, value)| value.expect("a value")).collect()
    }
}

impl Drop for Topic<'_> {
    fn drop(&mut self) {
        kafka::delete_topics(&self.0.services.kafka, &[&self.1]);
    }
}

/// Source, key and value of each record.
fn values(bench: &Bench, topic: &str) -> Vec<(String, String, Option<String>)> {
    let mut all = Vec::new();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    kafka::read_committed(&bench.services.kafka, topic, 1, |message| {
        let headers = message.headers().into_iter().flat_map(|headers| headers.iter());
        let source = headers.filter(|header| header.key == "tidegate-source").last();
        let source = text(source.and_then(|header| header.value).unwrap_or_default());
        let key = text(message.key().unwrap_or_default());
        all.push((source, key, message.payload().map(text)));
    });
    all
}

/// An event's element. Every third has no line; of the others one has tags.
fn element(key: usize, n: usize) -> String {
    let copy = if n.is_multiple_of(5) { " copy=\"true\"" } else { "" };
    let lines = match n % 3 {
        0 => String::new(),
        1 => format!("<l sku=\"s{n}\"><t>a</t><t>skip</t><t>b</t></l>"),
        _ => format!("<l sku=\"none\"/><l sku=\"s{n}\"><t>c</t></l>"),
    };
    format!("<e k=\"k{key}\" n=\"{n}\"{copy}>{lines}</e>")
}

/// The records, and each key's elements in order.
fn records(count: usize) -> (Vec<String>, BTreeMap<usize, Vec<String>>) {
    let mut of_key: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let record = |record: usize| {
        let mut text = "<batch>\n".to_owned();
        for place in 0..EVENTS {
            let key = (place * 13 + record) % KEYS;
            let of_key = of_key.entry(key).or_default();
            let element = element(key, of_key.len());
            writeln!(text, "  {element}").expect("a string takes it");
            of_key.push(element);
        }
        text + "</batch>"
    };
    let records = (0..count).map(record).collect();
    (records, of_key)
}

fn key_of(element: &str) -> usize {
    element.split('"').nth(1).and_then(|key| key.trim_start_matches('k').parse().ok()).expect("a key")
}

fn by_key(values: Vec<String>) -> BTreeMap<usize, Vec<String>> {
    let mut of_key: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    values.into_iter().for_each(|value| of_key.entry(key_of(&value)).or_default().push(value));
    of_key
}

fn verify_is_clean(bench: &Bench) {
    let ended = bench.tidegate(&["verify", "job.toml"]).expect(0, DEADLINE);
    assert_eq!(ended.log.lines().last(), Some("0 lost, 0 doubled, 0 out of order"), "{}", ended.log);
}

#[test]
fn each_event_of_records_of_a_thousand_is_handled_once_and_in_order_through_kills() {
    let turn = turn();
    let mut bench = Bench::new(turn.services, "many", &TABLES);
    bench.key_groups = 16;
    let copies = Topic::new(&bench, "copies");
    bench.job("batch_events = 100", &REST.replace("COPIES", &copies.1));
    let (records, of_key) = records(RECORDS);
    // One between them has no events, and one cannot be read.
    let mut sent: Vec<&str> = records.iter().map(String::as_str).collect();
    sent.insert(3, "<batch/>");
    sent.insert(5, "<batch><e");
    bench.send_texts(&sent);

    let began = Instant::now();
    let total = RECORDS * EVENTS;
    let mut kills = 0;
    // In the middle of records, each time a little further.
    for rows in (400..total).step_by(1_370) {
        let mut process = bench.tidegate(&["run", "job.toml", "-w", "2"]);
        let mut sql = bench.sql();
        wait_for("some rows more", DEADLINE, || {
            process.assert_runs();
            sql.peek::<usize>("SELECT COUNT(*) FROM journal").filter(|found| *found >= rows)
        });
        process.kill();
        kills += 1;
    }
    bench.run_to_end(0);
    report(&format!(
        "{total} events of {RECORDS} records through {kills} kills in {} ms",
        began.elapsed().as_millis()
    ));

    assert_eq!(by_key(bench.output_texts()), of_key, "outputs, by key and in order");
    let copied = |elements: &Vec<String>| -> Vec<String> {
        elements.iter().filter(|element| element.contains("copy")).cloned().collect()
    };
    let wanted: BTreeMap<usize, Vec<String>> = of_key.iter().map(|(key, all)| (*key, copied(all))).collect();
    assert_eq!(by_key(copies.values()), wanted, "copies, by key and in order");
    let sources: Vec<String> = bench.outputs().into_iter().map(|sent| sent.source).collect();
    assert!(sources.contains(&"0/0".to_owned()) && sources.contains(&"0/0/999".to_owned()));
    for (key, elements) in &of_key {
        let query = format!("SELECT CAST(n AS CHAR) FROM journal WHERE k = 'k{key}' ORDER BY entry");
        let numbers: Vec<String> = (0..elements.len()).map(|n| n.to_string()).collect();
        assert_eq!(bench.column(&query), numbers, "rows of k{key}");
        lines_of(&bench, *key, elements.len());
    }
    assert_eq!(bench.dead_letters().len(), 1);
    assert_eq!(bench.committed(), sent.len() as i64);
    verify_is_clean(&bench);
}

/// The rows of a key's lines, in order.
fn lines_of(bench: &Bench, key: usize, events: usize) {
    let columns = "CONCAT_WS(' ', n, line, sku, tag, label)";
    let found = bench.column(&format!("SELECT {columns} FROM line WHERE k = 'k{key}' ORDER BY entry"));
    let rows = (0..events).flat_map(|n| match n % 3 {
        0 => Vec::new(),
        1 => vec![format!("{n} 1 s{n} 1 a"), format!("{n} 1 s{n} 3 b")],
        _ => vec![format!("{n} 2 s{n} 1 c")],
    });
    assert_eq!(found, rows.collect::<Vec<_>>(), "lines of k{key}");
}

/// A child row is refused: nothing of its event stays, and all others of its record are handled. Sent back, that event alone
/// is handled, with the others of its record as they are.
#[test]
fn one_event_of_a_record_is_refused_whole_and_comes_back_alone() {
    let turn = turn();
    let bench = Bench::new(turn.services, "many_refused", &TABLES);
    let copies = Topic::new(&bench, "copies");
    bench.job("", &REST.replace("COPIES", &copies.1));
    let file = String::from_utf8(bench.file("job.toml")).expect("text");
    bench.write("job.toml", &file.replace("[rejects]", "[rejects]\nrefused = \"dead_letter\""));
    let tag = |label: &str| format!("<l sku=\"x\"><t>fine</t><t>{label}</t></l>");
    let event = |n: usize, inner: &str| format!("<e k=\"k1\" n=\"{n}\" copy=\"true\">{inner}</e>");
    let record = format!(
        "<batch>{}{}<e k=\"k1\">no number</e>{}</batch>",
        event(0, &tag("a")),
        event(1, &tag("far too long for it")),
        event(2, &tag("b"))
    );
    bench.send_texts(&[&record]);
    bench.run_to_end(0);
    assert_eq!(bench.column("SELECT CAST(n AS CHAR) FROM journal ORDER BY entry"), ["0", "2"]);
    assert_eq!(bench.column("SELECT label FROM line ORDER BY entry"), ["fine", "a", "fine", "b"]);
    assert_eq!((bench.outputs().len(), copies.values().len()), (2, 2));
    let letters: Vec<(String, String)> =
        bench.dead_letters().into_iter().map(|letter| (letter.source, letter.reason)).collect();
    let letter = |source: &str, reason: &str| (source.to_owned(), reason.to_owned());
    assert_eq!(sorted(letters), [letter("0/0/1", "refused"), letter("0/0/2", "field_missing")]);
    verify_is_clean(&bench);

    bench.sql().run("ALTER TABLE line MODIFY label VARCHAR(100)");
    let replay = ["dead-letters", "replay", "job.toml", "--reason", "refused", "--execute"];
    bench.tidegate(&replay).expect(0, DEADLINE);
    bench.run_to_end(0);
    assert_eq!(bench.column("SELECT CAST(n AS CHAR) FROM journal ORDER BY entry"), ["0", "2", "1"]);
    assert_eq!(bench.column("SELECT label FROM line ORDER BY entry").len(), 6);
    assert_eq!((bench.outputs().len(), copies.values().len()), (3, 3));
    assert_eq!(bench.committed(), 3, "behind the marker of the replay's transaction");
    assert_eq!(bench.outputs()[2].source, "0/1", "as a record of its own");
    verify_is_clean(&bench);
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list
}

const KEYED: &str = r#"
[event]
key = [":_key"]
tombstone = "RULE"
[event.fields]
v = { path = "v", type = "text" }

[[database.steps]]
store = "INSERT INTO store (k, v) VALUES (:_key, :v) ON DUPLICATE KEY UPDATE v = VALUES(v)"
[[database.steps]]
on = "tombstone"
store = "DELETE FROM store WHERE k = :_key"

[[output]]
topic = "OUTPUT"
[[output]]
name = "gone"
topic = "OUTPUT"
on = "tombstone"
"#;

/// Sends records with keys; none: a tombstone.
fn send_keyed(bench: &Bench, records: &[(&str, Option<&str>)]) {
    let producer: BaseProducer =
        kafka::client(&bench.services.kafka).set("enable.idempotence", "true").create().expect("a producer");
    for (key, value) in records {
        let document = value.map(|v| format!("<r><v>{v}</v></r>"));
        let mut record = BaseRecord::<str, str>::to(&bench.input).partition(0).key(key);
        if let Some(document) = &document {
            record = record.payload(document);
        }
        producer.send(record).map_err(|(error, _)| error).expect("the record is queued");
    }
    producer.flush(DEADLINE).expect("all is sent");
}

#[test]
fn values_and_tombstones_of_a_key_take_effect_in_their_order_whatever_the_batch() {
    let turn = turn();
    let bench =
        Bench::new(turn.services, "tombstones", &["CREATE TABLE store (k VARCHAR(20) PRIMARY KEY, v TEXT)"]);
    let rest = KEYED.replace("RULE", "event");
    let mut wanted = Vec::new();
    for size in [1, 2, 3, 10, 1_000] {
        bench.job(&format!("batch_events = {size}"), &rest);
        let [back, gone] = ["back", "gone"].map(|key| format!("{key} {size}"));
        send_keyed(
            &bench,
            &[(&back, Some("a")), (&back, None), (&gone, Some("a")), (&back, Some("b")), (&gone, None)],
        );
        bench.run_to_end(0);
        let found = bench.column(&format!("SELECT CONCAT(k, '=', v) FROM store WHERE k LIKE '% {size}'"));
        assert_eq!(found, [format!("{back}=b")], "batches of {size}");
        let document = |v: &str| Some(format!("<r><v>{v}</v></r>"));
        wanted.extend([
            (back.clone(), document("a")),
            (back.clone(), None),
            (gone.clone(), document("a")),
            (back, document("b")),
            (gone, None),
        ]);
    }
    let outputs = values(&bench, &bench.output).into_iter().map(|(_, key, value)| (key, value));
    assert_eq!(outputs.collect::<Vec<_>>(), wanted);
    verify_is_clean(&bench);
}

#[test]
fn a_tombstone_is_unreadable_unless_the_job_says_otherwise_and_what_is_behind_it_goes_on() {
    let turn = turn();
    for (rule, letters) in [("unreadable", 1), ("discard", 0)] {
        let bench =
            Bench::new(turn.services, "stones", &["CREATE TABLE store (k VARCHAR(20) PRIMARY KEY, v TEXT)"]);
        let rest = KEYED.replace("RULE", rule);
        let (rest, _) = rest.split_once("[[database.steps]]\non").expect("a second step");
        bench.job("", &format!("{rest}\n[output]\ntopic = \"OUTPUT\"\n"));
        send_keyed(&bench, &[("1", Some("a")), ("1", None), ("2", Some("b"))]);
        bench.run_to_end(0);
        assert_eq!(bench.column("SELECT CONCAT(k, v) FROM store ORDER BY k"), ["1a", "2b"], "{rule}");
        let found = bench.dead_letters();
        assert_eq!(found.len(), letters, "{rule}");
        assert!(found.iter().all(|letter| letter.reason == "no_value" && letter.value.is_none()));
        assert_eq!((bench.outputs().len(), bench.committed()), (2, 3), "{rule}");
        verify_is_clean(&bench);
    }
}
