//! What is shown of samples.

use super::*;
use crate::job::{self, Checked};

/// What a job makes of a record, without a database: the text and the exit code.
pub(in crate::cli) fn outcome(checked: Checked, record: Record) -> (String, u8) {
    let spec = Arc::new(checked.spec);
    let outputs = OutputSetup::new(Arc::clone(&spec), RecordLimits::default()).unwrap();
    let show = Show { spec: &spec, settings: &checked.settings, outputs, colour: false };
    let mut decoder = Decoder::new(&spec.event, &spec.outputs, spec.limits).unwrap();
    let record = ReadRecord { at: TopicPartition { topic: 0, partition: 0 }, offset: Offset(0), record };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(show.sample("sample.xml", record, &mut decoder, None)).unwrap()
}

const JOB: &str = r#"
[job]
name = "orders"
[source]
bootstrap_servers = "127.0.0.1:9092"
topics = ["orders"]
[event]
each = "/order"
key = ["@id"]
[event.fields]
id = { path = "@id", type = "text" }
total = { path = "total", type = "decimal(12,2)" }
note = { path = "note", type = "text", optional = true }
[event.lists.lines]
each = "lines/line"
fields = { sku = { path = "@sku", type = "text" }, qty = { path = ".", type = "int64" } }
[database]
url = "sqlite:orders.db"
[[database.steps]]
name = "customer"
lookup = "SELECT tier FROM customer WHERE id = :id"
missing = "null"
[[database.steps]]
store = "INSERT INTO orders (id, total, source) VALUES (:id, :total, :_header.source)"
[[database.steps]]
when = ":total > 1000"
store = "INSERT INTO large (id) VALUES (:id)"
[[database.steps]]
for_each = "lines"
store = "INSERT INTO line (id, no, sku, qty) VALUES (:id, :lines._index, :lines.sku, :lines.qty)"
[output]
topic = "orders.out"
[[output.add]]
at = "lines"
element = "tier"
text = ":customer.tier"
[rejects]
dead_letter_topic = "orders.rejected"
"#;

fn shown(document: &[u8]) -> (String, u8) {
    let record = Record {
        timestamp_ms: Some(0),
        key: None,
        headers: vec![("source".to_owned(), Some(Bytes::from_static(b"web")))],
        value: Some(Bytes::copy_from_slice(document)),
    };
    outcome(job::check("orders.toml", JOB, &|_| None).unwrap_or_else(|errors| panic!("{errors}")), record)
}

const ORDER: &str = "<order id=\"A-1\">\n  <total>10.50</total>\n  <lines>\n    <line sku=\"X\">2</line>\n    \
                     <line sku=\"Y\">1</line>\n  </lines>\n</order>\n";

#[test]
fn an_order_with_all_that_becomes_of_it() {
    let (text, code) = shown(ORDER.as_bytes());
    assert_eq!(code, exit::OK);
    insta::assert_snapshot!("check_sample_order", text);
}

#[test]
fn a_document_in_utf_16_is_shown_like_any_other() {
    let utf16: Vec<u8> =
        [0xfe, 0xff].into_iter().chain(ORDER.encode_utf16().flat_map(u16::to_be_bytes)).collect();
    let (text, code) = shown(&utf16);
    assert_eq!(code, exit::OK, "{text}");
    let plain = shown(ORDER.as_bytes()).0;
    let behind = |text: &str| text.split_once('\n').unwrap().1.to_owned();
    assert_eq!(behind(&text), behind(&plain));
}

#[test]
fn a_reject_is_shown_with_its_rule_and_its_place() {
    let (text, code) = shown(ORDER.replace("10.50", "ten").as_bytes());
    assert_eq!(code, exit::REJECT);
    insta::assert_snapshot!("check_sample_reject", text);
    let (text, code) = shown(&ORDER.as_bytes()[..60]);
    assert_eq!(code, exit::REJECT);
    assert!(text.contains("no event") && text.contains("not_well_formed: line "), "{text}");
}

#[test]
fn a_condition_is_shown_with_what_it_gives() {
    let (text, _) = shown(ORDER.as_bytes());
    assert!(text.contains("when \":total > 1000\" does not hold: not run"), "{text}");
    let (text, _) = shown(ORDER.replace("10.50", "1000.01").as_bytes());
    assert!(text.contains("when \":total > 1000\" holds"), "{text}");
}

#[test]
fn headers_are_names_and_values() {
    assert_eq!(header("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
    assert_eq!(header("a="), Ok(("a".to_owned(), String::new())));
    assert!(header("a").is_err() && header("=b").is_err());
}
