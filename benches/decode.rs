//! What reading and writing documents costs: against quick-xml's bare loop over its events, against a parser that makes a tree,
//! and for one path as for a hundred.
//!
//! In:        `cargo bench --bench decode [-- MEGABYTES]`: so much is read per measurement; 64 where nothing is given
//! Out:       per document ns per KiB of each way, the best of five turns, and how many times the bare loop that is
//! Order:     every way in each turn: whatever else the machine does meets all of them
//! Not here:  no dataflow, no database, no Kafka
//!
//! The bare loop checks no names, no namespaces, no characters and no attributes, and gives no values: it is the floor.
//! roxmltree checks and makes a tree, and no values either.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a bench fails by panicking")]
#![allow(clippy::print_stdout, reason = "its report")]
#![allow(clippy::as_conversions, clippy::cast_precision_loss, reason = "sizes and times are far below 2^52")]

use bytes::Bytes;
use quick_xml::events::Event;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;
use tidegate::job::{self, JobSpec};
use tidegate::model::Record;
use tidegate::xml::{Added, Decoded, Decoder, Edited, write};

const TURNS: usize = 5;

fn main() {
    // Cargo adds `--bench`.
    let megabytes = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(64_usize);
    let bytes = megabytes << 20;
    println!("ns per KiB, the best of {TURNS} turns over {megabytes} MiB; in brackets times the bare loop");
    println!("{:34} {:>8}  {:>16} {:>16} {:>16}", "document", "bare", "decode", "encode", "roxmltree");
    let statement = include_str!("../src/xml/testdata/iso-02.xml");
    let summary = include_str!("../src/xml/testdata/cda-01.xml");
    let situations = include_str!("../src/xml/testdata/datex-03.xml");
    let order = order(12);
    for (name, document, spec) in [
        ("order, 1 KiB", order.as_str(), orders()),
        ("bank statement (iso-02)", statement, statements()),
        ("traffic (datex-03)", situations, traffic()),
        ("clinical document (cda-01)", summary, clinical()),
    ] {
        against_others(name, document, &spec, bytes);
    }
    println!("\nthe same document, ns per KiB, by the number of paths with a predicate each:");
    let rows = rows(1000);
    for paths in [1, 10, 100, 1000] {
        let decode = of_paths(&rows, paths, bytes / 4);
        println!("{paths:5} paths {decode:10.0}");
    }
    println!("\na hundred paths, ns per KiB, by the size of the document:");
    for count in [100, 1_000, 10_000, 100_000] {
        let rows = self::rows(count);
        println!("{:8} KiB {:10.0}", rows.len() >> 10, of_paths(&rows, 100, bytes / 4));
    }
}

fn against_others(name: &str, document: &str, spec: &JobSpec, bytes: usize) {
    let mut decoder = Decoder::new(&spec.event, &spec.outputs, spec.limits).unwrap();
    let record = record(document);
    let first = decode(&mut decoder, &record);
    let edits: Vec<Edited> = first
        .reading
        .marks
        .iter()
        .map(|_| Edited::Add(Added { text: Some("a value".to_owned()), attributes: Vec::new() }))
        .collect();
    let times = bytes.div_ceil(document.len());
    let mut best = [f64::INFINITY; 4];
    for _ in 0..TURNS {
        let measured = [
            timed(times, || _ = black_box(bare(black_box(document)))),
            timed(times, || _ = black_box(decode(&mut decoder, &record))),
            timed(times, || {
                let written = write(document.as_bytes(), None, &first.reading.marks, &edits);
                _ = black_box(written.unwrap());
            }),
            timed(times, || {
                let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
                _ = black_box(roxmltree::Document::parse_with_options(document, options).unwrap());
            }),
        ];
        best.iter_mut().zip(measured).for_each(|(best, now)| *best = best.min(now));
    }
    let per_kib = best.map(|ns| ns * 1024.0 / document.len() as f64);
    let [bare, decode, encode, tree] = per_kib;
    let beside = |ns: f64| format!("{ns:8.0} ({:4.2})", ns / bare);
    println!("{name:34} {bare:8.0}  {:>16} {:>16} {:>16}", beside(decode), beside(encode), beside(tree));
}

/// ns of each.
fn timed(times: usize, mut each: impl FnMut()) -> f64 {
    let begun = Instant::now();
    (0..times).for_each(|_| each());
    begun.elapsed().as_secs_f64() * 1e9 / times as f64
}

/// ns per KiB of a document that is read with so many paths.
fn of_paths(document: &str, paths: usize, bytes: usize) -> f64 {
    let fields: String = (0..paths).fold(String::new(), |mut fields, path| {
        // Writing to a String cannot fail.
        let _infallible = writeln!(
            fields,
            "f{path} = {{ path = \"row[key='k{path}']/value\", type = \"int64\", optional = true }}"
        );
        fields
    });
    let spec = spec(&format!("key = [\"@id\"]\n[event.fields]\n{fields}"), "f0", "");
    let mut decoder = Decoder::new(&spec.event, &spec.outputs, spec.limits).unwrap();
    let record = record(document);
    let times = bytes.div_ceil(document.len());
    let best = (0..TURNS).map(|_| timed(times, || _ = black_box(decode(&mut decoder, &record))));
    best.fold(f64::INFINITY, f64::min) * 1024.0 / document.len() as f64
}

/// quick-xml's own loop.
fn bare(document: &str) -> usize {
    let mut reader = quick_xml::Reader::from_str(document);
    let mut events = 0;
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return events,
            event => {
                _ = black_box(event);
                events += 1;
            }
        }
    }
}

fn decode(decoder: &mut Decoder, record: &Record) -> Decoded {
    decoder.decode(record).unwrap().remove(0).unwrap()
}

fn record(document: &str) -> Record {
    let value = Some(Bytes::copy_from_slice(document.as_bytes()));
    Record { timestamp_ms: None, key: Some(Bytes::from_static(b"k")), headers: Vec::new(), value }
}

fn order(lines: usize) -> String {
    let mut text = "<order id=\"K000417\"><customer ref=\"77\"/><lines>".to_owned();
    for line in 0..lines {
        // Writing to a String cannot fail.
        let _infallible =
            write!(text, "<line number=\"{line}\"><item>S-{line:04}</item><price>1.25</price></line>");
    }
    text + "</lines><total>12.50</total></order>"
}

fn rows(count: usize) -> String {
    let mut text = "<t id=\"1\">".to_owned();
    for row in 0..count {
        // Writing to a String cannot fail.
        let _infallible = write!(text, "<row><key>k{row}</key><value>{row}</value></row>");
    }
    text + "</t>"
}

/// A job of this `[event]`.
fn spec(event: &str, field: &str, output: &str) -> JobSpec {
    let text = format!(
        r#"[job]
name = "decode"
[source]
bootstrap_servers = "127.0.0.1:1"
topics = ["documents"]
[event]
{event}
[database]
url = "sqlite:/nowhere/x.sqlite"
[[database.steps]]
store = "INSERT INTO journal (a) VALUES (:{field})"
{output}
[limits]
in_flight_bytes = "1GiB"
document_bytes = "64MiB"
"#
    );
    job::check("job.toml", &text, &|_| None).unwrap_or_else(|errors| panic!("{errors:?}")).spec
}

/// An output with one addition.
fn output(at: &str, element: &str) -> String {
    format!(
        "[output]\ntopic = \"out\"\n[[output.add]]\nat = \"{at}\"\nelement = \"{element}\"\ntext = \"x\"\n"
    )
}

fn orders() -> JobSpec {
    let event = r#"each = "/order"
key = ["@id"]
[event.fields]
customer = { path = "customer/@ref", type = "int64" }
total = { path = "total", type = "decimal(12,2)" }
[event.lists.lines]
each = "lines/line"
fields = { number = { path = "@number", type = "int64" }, item = { path = "item", type = "text" }, price = { path = "price", type = "decimal(9,2)" } }"#;
    spec(event, "total", &output(".", "note"))
}

fn statements() -> JobSpec {
    let event = r#"namespaces = { c = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.02" }
each = "/c:Document/c:BkToCstmrStmt/c:Stmt"
key = ["c:Acct/c:Id/c:IBAN", "c:ElctrncSeqNb"]
[event.fields]
id = { path = "c:Id", type = "text" }
created = { path = "c:CreDtTm", type = "timestamp" }
amount = { path = "c:Ntry[1]/c:Amt", type = "decimal(18,5)" }
currency = { path = "c:Ntry[1]/c:Amt/@Ccy", type = "text" }
number = { path = "c:LglSeqNb", type = "int64" }
[event.lists.entries]
each = "c:Ntry"
fields = { amount = { path = "c:Amt", type = "decimal(18,5)" }, reference = { path = "c:AcctSvcrRef", type = "text", optional = true } }"#;
    spec(event, "id", &output("c:Acct", "c:Note"))
}

fn traffic() -> JobSpec {
    let event = r#"namespaces = { m = "http://datex2.eu/schema/3/messageContainer", s = "http://datex2.eu/schema/3/situation", c = "http://datex2.eu/schema/3/common" }
each = "/m:messageContainer/m:payload"
key = ["s:situation[1]/@id"]
[event.fields]
severity = { path = "s:situation[1]/s:overallSeverity", type = "text" }
record = { path = "s:situation[1]/s:situationRecord[1]/@id", type = "text" }
version = { path = "s:situation[1]/s:situationRecord[1]/@version", type = "int64" }
published = { path = "c:publicationTime", type = "text" }"#;
    spec(event, "record", &output("c:publicationCreator", "c:note"))
}

fn clinical() -> JobSpec {
    let event = r#"namespaces = { c = "urn:hl7-org:v3" }
each = "/c:ClinicalDocument"
key = ["c:id/@root", "c:id/@extension"]
[event.fields]
effective = { path = "c:effectiveTime/@value", type = "text" }
version = { path = "c:versionNumber/@value", type = "int64" }
patient = { path = "c:recordTarget/c:patientRole/c:id[1]/@extension", type = "text" }
code = { path = "c:code/@code", type = "text" }
title = { path = "c:title", type = "text" }"#;
    spec(event, "title", &output(".", "c:note"))
}
