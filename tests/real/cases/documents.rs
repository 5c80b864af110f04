//! Documents as they come: each becomes a row and an output, byte for byte but for the addition, or a dead letter with its
//! reason; what is behind it goes on. One topic, one run.

use super::bench::{Bench, Global, Sent};
use crate::services::turn;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::TcpListener;

const TABLES: [&str; 3] = [
    "CREATE TABLE store (k VARCHAR(10) PRIMARY KEY, v TEXT, n BIGINT, amount DECIMAL(38,10), small DECIMAL(10,2), \
     d DATE, moment DATETIME(6), stamp TIMESTAMP(6) NULL)",
    "CREATE TABLE ref (k VARCHAR(10), note TEXT, UNIQUE (k))",
    "INSERT INTO ref VALUES (NULL, 'of NULL'), ('', 'of nothing'), ('markup', ']]><x>1</x>'), ('astral', '\u{1F600}')",
];

const REST: &str = r#"
[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }
v = { path = "v", type = "text", optional = true }
n = { path = "n", type = "int64", optional = true }
amount = { path = "amount", type = "decimal(38,10)", optional = true }
small = { path = "small", type = "decimal(10,2)", optional = true }
rounded = { path = "rounded", type = "decimal(10,2)", round = "half_even", optional = true }
d = { path = "d", type = "date", optional = true }
moment = { path = "moment", type = "timestamp", zone = "Europe/Zurich", optional = true }
ref = { path = "ref", type = "text", optional = true }

[[database.steps]]
name = "ref"
lookup = "SELECT note FROM ref WHERE k = :ref"
missing = "null"
[[database.steps]]
store = """INSERT INTO store (k, v, n, amount, small, d, moment, stamp)
           VALUES (:k, :v, :n, :amount, COALESCE(:small, :rounded), :d, :moment, :moment)"""

[output]
topic = "OUTPUT"
[[output.add]]
at = "."
element = "added"
text = ":ref.note"

[limits]
document_depth = 10000
"#;

/// What goes in, and what must come of it.
enum Case {
    /// A document's start tag without its key, its content, and the columns that are not NULL.
    Row(&'static str, String, &'static [(&'static str, &'static str)]),
    /// As `Row` with no columns, and the markup that is added.
    Added(&'static str, &'static str),
    /// What stands in front of an `r`, its content, the markup that is added, and the columns that are not NULL.
    Behind(String, &'static str, &'static str, &'static [(&'static str, &'static str)]),
    /// As `Behind`, all of it in ISO-8859-1.
    Latin(&'static str, &'static str, &'static [(&'static str, &'static str)]),
    /// A value, and the reason of its dead letter.
    Dead(Option<Vec<u8>>, &'static str),
}

fn row(content: &str, columns: &'static [(&'static str, &'static str)]) -> Case {
    Case::Row("r", content.to_owned(), columns)
}

fn dead(value: impl AsRef<[u8]>, reason: &'static str) -> Case {
    Case::Dead(Some(value.as_ref().to_vec()), reason)
}

/// Text in pieces is one value; what was written as a reference stays one in the output.
fn texts() -> Vec<Case> {
    vec![
        row("<v>Left &amp; Right  &amp;  Mid</v>", &[("v", "Left & Right  &  Mid")]),
        row("<v>&#8364;</v>", &[("v", "\u{20AC}")]),
        row("<v>KEY(&quot;7&quot;,1)</v>", &[("v", "KEY(\"7\",1)")]),
        row("<v> &lt; kept &gt; </v>", &[("v", " < kept > ")]),
        row("<v>a<![CDATA[]]]]><![CDATA[>b]]></v>", &[("v", "a]]>b")]),
        row("<n>7<!-- c --><![CDATA[65]]></n>", &[("n", "765")]),
        row("<amount><![CDATA[33]]>6<!-- c -->.<?p?>9</amount>", &[("amount", "336.9000000000")]),
        row("<v>\u{1D4B3}\u{1F600}\u{20BB7}</v>", &[("v", "\u{1D4B3}\u{1F600}\u{20BB7}")]),
        Case::Row("r a=\"x&#13;&#10;y&#9;z\"", "<v>p&#13;q</v>".to_owned(), &[("v", "p\rq")]),
        Case::Row(
            "order no='5' xmlns:p=\"urn:p\"",
            "<item sku='1'/><note lang='de'/><p:x/><item sku='2'/>".to_owned(),
            &[],
        ),
    ]
}

/// Nil and absent are NULL, empty is the empty text; none of them is 0.
fn absent() -> Vec<Case> {
    const XSI: &str = "r xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";
    vec![
        Case::Row(XSI, "<v xsi:nil=\"true\"/><n xsi:nil=\"true\"/>".to_owned(), &[]),
        row("<v/>", &[("v", "")]),
        row("<v></v>", &[("v", "")]),
        row("", &[]),
        dead("<r k=\"x\"><n/></r>", "field_type"),
        dead("<r k=\"x\"><n></n></r>", "field_type"),
    ]
}

/// No float, no exponent, no rounding; instants in UTC, dates as they are written.
fn numbers_and_times() -> Vec<Case> {
    let wide = "1111111111111111200000002222.0987654321";
    let mut cases = vec![
        Case::Row(
            "r",
            format!("<amount>{wide}</amount>"),
            &[("amount", "1111111111111111200000002222.0987654321")],
        ),
        row("<amount>204170000.11223344</amount>", &[("amount", "204170000.1122334400")]),
        row("<amount>0.10</amount>", &[("amount", "0.1000000000")]),
        row("<amount>-0.00</amount>", &[("amount", "0.0000000000")]),
        row("<amount>+5</amount>", &[("amount", "5.0000000000")]),
        row("<small>1.500</small>", &[("small", "1.50")]),
        // Rounded where the job says so, and there from the middle to the even digit.
        row("<rounded>1.005</rounded>", &[("small", "1.00")]),
        row("<rounded>1.015</rounded>", &[("small", "1.02")]),
        row(
            "<moment>2019-04-05T06:07:08Z</moment>",
            &[("moment", "2019-04-05 06:07:08.000000"), ("stamp", "2019-04-05 06:07:08.000000")],
        ),
        // Winter in Zurich, an hour before UTC.
        row(
            "<moment>2021-02-28T23:45:00</moment>",
            &[("moment", "2021-02-28 22:45:00.000000"), ("stamp", "2021-02-28 22:45:00.000000")],
        ),
    ];
    for zone in ["", "Z", "-06:00", "+14:00"] {
        cases.push(row(&format!("<d>2021-02-28{zone}</d>"), &[("d", "2021-02-28")]));
    }
    for refused in [
        "<amount>1E3</amount>",
        "<small>123456789012.345</small>",
        "<small>123456789.00</small>",
        "<small>1.005</small>",
        "<rounded>123456789.005</rounded>",
        "<d>2021-02-29</d>",
    ] {
        cases.push(dead(format!("<r k=\"x\">{refused}</r>"), "field_type"));
    }
    cases
}

/// What a look-up gave is text, whatever it holds; NULL finds no row, not even one whose key is NULL.
fn looked_up() -> Vec<Case> {
    vec![
        Case::Added("", "<added/>"),
        Case::Added("<ref>unknown</ref>", "<added/>"),
        Case::Added("<ref/>", "<added>of nothing</added>"),
        Case::Added("<ref>markup</ref>", "<added>]]&gt;&lt;x&gt;1&lt;/x&gt;</added>"),
        Case::Added("<ref>astral</ref>", "<added>\u{1F600}</added>"),
    ]
}

/// Bytes are read by the declaration, and written in it: what ISO-8859-1 does not have becomes a reference.
fn encodings() -> Vec<Case> {
    vec![
        Case::Latin("<v>M\u{FC}ller &#8364;</v>", "<added/>", &[("v", "M\u{FC}ller \u{20AC}")]),
        Case::Latin("<v>\u{E5}</v><ref>astral</ref>", "<added>&#128512;</added>", &[("v", "\u{E5}")]),
    ]
}

/// `port`: where somebody listens who would hear of a DTD being fetched.
fn definitions(port: u16) -> Vec<Case> {
    let bomb: String =
        (1..10).map(|n| format!("<!ENTITY e{n} \"{}\">", format!("&e{};", n - 1).repeat(10))).collect();
    vec![
        Case::Behind(
            format!("<!DOCTYPE r SYSTEM \"http://127.0.0.1:{port}/r.dtd\">"),
            "<v>1</v>",
            "<added/>",
            &[("v", "1")],
        ),
        Case::Behind(
            "<!DOCTYPE r [<!ENTITY e 'a &amp; b'>]>\n".to_owned(),
            "<v>&e;</v>",
            "<added/>",
            &[("v", "a & b")],
        ),
        dead(format!("<!DOCTYPE r [<!ENTITY e0 \"ha\">{bomb}]><r k=\"x\"><v>&e9;</v></r>"), "limit"),
        dead(
            format!(
                "<!DOCTYPE r [<!ENTITY e SYSTEM \"http://127.0.0.1:{port}/e\">]><r k=\"x\"><v>&e;</v></r>"
            ),
            "doctype",
        ),
        dead(
            format!(
                "<!DOCTYPE r [<!ENTITY % p SYSTEM \"http://127.0.0.1:{port}/p\"> %p;]><r k=\"x\"><v>&e;</v></r>"
            ),
            "doctype",
        ),
    ]
}

fn unreadable() -> Vec<Case> {
    let not_latin = [&b"<?xml version=\"1.0\" encoding=\"UTF-8\"?><r k=\"x\"><v>M"[..], b"\xFCller</v></r>"];
    let noise: Vec<u8> = (0..900_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    vec![
        Case::Dead(None, "no_value"),
        dead("", "not_well_formed"),
        dead("{\"a\":}", "not_well_formed"),
        dead("<r k=\"x\"><v>cut off</v>", "not_well_formed"),
        dead("<r k=\"x\"><v>a&#0;b</v></r>", "not_well_formed"),
        dead("<r k=\"x\"><v>a\0b</v></r>", "not_well_formed"),
        dead("<r k=\"x\"/>\0", "not_well_formed"),
        dead(not_latin.concat(), "encoding"),
        dead(nested(130_000), "limit"),
        dead(noise, "encoding"),
        Case::Row("r", nested(9_000).replace(" k=\"x\"", ""), &[]),
    ]
}

/// Elements inside elements, below a root of their own.
fn nested(depth: usize) -> String {
    format!("<a k=\"x\">{}{}</a>", "<a>".repeat(depth), "</a>".repeat(depth))
}

#[test]
fn documents_become_rows_and_outputs_or_dead_letters() {
    let turn = turn();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.set_nonblocking(true).expect("a listener that does not wait");
    let port = listener.local_addr().expect("its address").port();
    let _narrow = Global::set(turn.services, "character_set_server", "latin1");
    let bench = Bench::new(turn.services, "documents", &TABLES);
    bench.job("", REST);

    let mut expected = Expected::default();
    // The unreadable ones stand between good ones.
    let kinds =
        [texts(), unreadable(), absent(), definitions(port), numbers_and_times(), encodings(), looked_up()];
    for cases in kinds {
        cases.iter().for_each(|case| expected.take(case));
    }
    let values: Vec<_> = expected.values.iter().map(Option::as_deref).collect();
    bench.send(&values);
    bench.run_to_end(0);

    same("output", &bench.outputs(), &expected.outputs);
    same("dead letter", &bench.dead_letters(), &expected.dead_letters);
    assert_eq!(rows(&bench), expected.rows);
    assert_eq!(bench.committed(), values.len() as i64);
    let called = listener.accept().err().map(|error| error.kind());
    assert_eq!(called, Some(ErrorKind::WouldBlock), "somebody has fetched a DTD");
}

fn utf8(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

/// ISO-8859-1: a byte for each character.
fn latin(text: &str) -> Vec<u8> {
    text.chars().map(|c| u8::try_from(u32::from(c)).expect("a character of ISO-8859-1")).collect()
}

type Rows = BTreeMap<String, BTreeMap<String, String>>;

/// All that must be there at the end. The key of a document is its offset.
#[derive(Default)]
struct Expected {
    values: Vec<Option<Vec<u8>>>,
    outputs: Vec<Sent>,
    dead_letters: Vec<Sent>,
    /// By key, the columns that are not NULL.
    rows: Rows,
}

impl Expected {
    fn take(&mut self, case: &Case) {
        match case {
            Case::Row(start, content, columns) => self.event(["", start], content, "<added/>", columns, utf8),
            Case::Added(content, added) => self.event(["", "r"], content, added, &[], utf8),
            Case::Behind(prolog, content, added, columns) => {
                self.event([prolog, "r"], content, added, columns, utf8);
            }
            Case::Latin(content, added, columns) => {
                let prolog = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\r\n";
                self.event([prolog, "r"], content, added, columns, latin);
            }
            Case::Dead(value, reason) => {
                let (reason, source) = ((*reason).to_owned(), self.source());
                self.dead_letters.push(Sent { value: value.clone(), reason, source });
                self.values.push(value.clone());
            }
        }
    }

    /// `start`: what stands in front of the root, and its start tag without its key.
    fn event(
        &mut self,
        start: [&str; 2],
        content: &str,
        added: &str,
        columns: &[(&str, &str)],
        encode: fn(&str) -> Vec<u8>,
    ) {
        let [prolog, start] = start;
        let (key, name) = (self.values.len().to_string(), start.split(' ').next().unwrap_or_default());
        let document =
            |added: &str| Some(encode(&format!("{prolog}<{start} k=\"{key}\">{content}{added}</{name}>")));
        self.outputs.push(Sent { value: document(added), reason: String::new(), source: self.source() });
        let columns = columns.iter().map(|(column, text)| ((*column).to_owned(), (*text).to_owned()));
        self.rows.insert(key.clone(), columns.collect());
        self.values.push(document(""));
    }

    fn source(&self) -> String {
        format!("0/{}", self.values.len())
    }
}

fn rows(bench: &Bench) -> Rows {
    const COLUMNS: [&str; 7] = ["v", "n", "amount", "small", "d", "moment", "stamp"];
    type Row = (String, [Option<String>; 7]);
    let mut found: Vec<Row> = Vec::new();
    let mut sql = bench.sql();
    sql.run("SET time_zone = '+00:00'");
    let cast = COLUMNS.map(|column| format!("CAST({column} AS CHAR)")).join(", ");
    type Eight = (
        String,
        Option<String>,
        Option<String>,
        Option<String>,
        Option<String>,
        Option<String>,
        Option<String>,
        Option<String>,
    );
    sql.each(&format!("SELECT k, {cast} FROM store"), |(k, a, b, c, d, e, f, g): Eight| {
        found.push((k, [a, b, c, d, e, f, g]));
    });
    let named = |values: [Option<String>; 7]| {
        COLUMNS.iter().zip(values).filter_map(|(c, value)| Some(((*c).to_owned(), value?))).collect()
    };
    found.into_iter().map(|(k, values)| (k, named(values))).collect()
}

/// Compares one by one: some are too long to print.
fn same(what: &str, found: &[Sent], expected: &[Sent]) {
    for (found, expected) in found.iter().zip(expected) {
        let shown = |sent: &Sent| {
            let text: String = String::from_utf8_lossy(sent.value.as_deref().unwrap_or(b"(none)"))
                .chars()
                .take(300)
                .collect();
            format!("{} {} {text}", sent.source, sent.reason)
        };
        assert!(found == expected, "{what}:\n{}\nand not\n{}", shown(found), shown(expected));
    }
    assert_eq!(found.len(), expected.len(), "{what}s");
}
