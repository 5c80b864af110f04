//! What `new` writes is right, whatever the samples are, and reads them.

use super::*;
use crate::cli::sample::tests::outcome;
use crate::model::Record;
use proptest::prelude::*;

/// Samples of which the whole file is kept.
const KEPT: [(&str, &[u8]); 3] = [
    ("iso-04", include_bytes!("../../xml/testdata/iso-04.xml")),
    ("datex-04", include_bytes!("../../xml/testdata/datex-04.xml")),
    ("ubl-01", include_bytes!("../../xml/testdata/ubl-01.xml")),
];

/// Every document of the project: its name and its bytes.
fn documents() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root.join("jobs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.push(root.join("src/xml/testdata"));
    let mut documents = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "xml") {
                documents.push((path.display().to_string(), std::fs::read(&path).unwrap()));
            }
        }
    }
    assert!(documents.len() >= 16, "{}", documents.len());
    documents
}

/// The job file and the schema for these documents.
fn made(documents: &[&[u8]], database: Option<&str>) -> Written {
    let args = NewArgs {
        job: PathBuf::from("made.toml"),
        sample: documents
            .iter()
            .enumerate()
            .map(|(index, _)| PathBuf::from(format!("{index}.xml")))
            .collect(),
        database: database.map(str::to_owned),
        force: false,
    };
    let read = |document: &&[u8]| Sample {
        bytes: document.len(),
        tree: Tree::read(document, SAMPLE_BYTES_MAX, DEPTH_MAX).unwrap_or_else(|reason| panic!("{reason}")),
    };
    let samples: Vec<Sample> = documents.iter().map(read).collect();
    compose(&args, &samples, Path::new("made.sql")).unwrap_or_else(|failure| panic!("{}", failure.text))
}

/// What the job makes of a document: a text and an exit code.
fn tried(job: &str, document: &[u8]) -> (String, u8) {
    let checked = job::check("made.toml", job, &|_| None).unwrap_or_else(|errors| panic!("{errors}\n{job}"));
    let record = Record {
        timestamp_ms: Some(0),
        key: Some("the record's key".into()),
        headers: Vec::new(),
        value: Some(document.to_vec().into()),
    };
    outcome(checked, record)
}

#[test]
fn a_job_made_of_a_document_reads_it() {
    for (name, document) in documents() {
        let written = made(&[&document], None);
        let (text, code) = tried(&written.job, &document);
        assert_eq!(code, exit::OK, "{name}\n{text}\n{}", written.job);
        assert!(written.schema.unwrap().contains("CREATE TABLE"), "{name}");
    }
}

#[test]
fn what_is_written() {
    for (name, document) in KEPT {
        let written = made(&[document], None);
        let text = format!("{}\n==== schema\n{}", written.job, written.schema.unwrap());
        insta::assert_snapshot!(format!("new_{name}"), text);
    }
}

#[test]
fn several_samples_say_what_is_optional_and_what_is_unique() {
    let documents: [&[u8]; 3] = [
        b"<order id='1'><ref>a</ref><at>2024-01-01</at><total>1.5</total><line n='1'/><line n='2'/></order>",
        b"<order id='1'><ref>b</ref><at/><total>20</total></order>",
        b"<order id='2'><ref>c</ref><at>2024-01-03</at><total>7</total><note>x</note></order>",
    ];
    let job = made(&documents, None).job;
    for part in [
        "key = [\"@id\", \"ref\"]",
        "id    = { path = \"@id\", type = \"text\" }",
        "at    = { path = \"at\", type = \"date\", optional = true, empty = \"null\" }",
        "total = { path = \"total\", type = \"decimal(18,2)\" }",
        "note  = { path = \"note\", type = \"text\", optional = true }",
        "[event.lists.line]",
        "n = { path = \"@n\", type = \"int64\" }",
    ] {
        assert!(job.contains(part), "{part}\n{job}");
    }
    for document in documents {
        let (text, code) = tried(&job, document);
        assert_eq!(code, exit::OK, "{text}");
    }
}

#[test]
fn a_batch_of_records_is_one_event_each() {
    let records: String = (0..20).map(|n| format!("<r id='{n}'><a>1</a><b>2</b></r>")).collect();
    let document = format!("<batch sent='2024-01-01'><rs>{records}</rs></batch>");
    let job = made(&[document.as_bytes()], None).job;
    for part in ["each = \"/batch/rs/r\"", "key = [\"@id\"]", "{ path = \"/batch/@sent\", type = \"date\" }"]
    {
        assert!(job.contains(part), "{part}\n{job}");
    }
    let (text, code) = tried(&job, document.as_bytes());
    assert_eq!(code, exit::OK, "{text}");
    assert!(text.contains("20 events"), "{text}");
}

#[test]
fn a_secret_is_no_field() {
    let document: &[u8] =
        b"<a id='1'><SharedSecret>abracadabra</SharedSecret><line api-key='k'/><line api-key='l'/></a>";
    let job = made(&[document], None).job;
    assert!(job.contains("# secrets by their names, left out:\n#   SharedSecret\n#   @api-key"), "{job}");
    assert!(!job.contains("shared_secret") && !job.contains("abracadabra"), "{job}");
    assert_eq!(tried(&job, document).1, exit::OK);
}

#[test]
fn a_large_sample_raises_the_limits() {
    let document = format!("<a id='1'><t>{}</t></a>", "x".repeat(20 << 20));
    let job = made(&[document.as_bytes()], None).job;
    assert!(
        job.contains("document_bytes = \"41MiB\"") && job.contains("in_flight_bytes = \"164MiB\""),
        "{job}"
    );
    assert_eq!(tried(&job, document.as_bytes()).1, exit::OK);
}

#[test]
fn names_of_files_are_names_of_jobs() {
    for (file, name) in [
        ("orders.toml", "orders"),
        ("x/My Job.toml", "my-job"),
        ("job.toml", "t"),
        ("--.toml", "t"),
        ("ä1.toml", "1"),
        ("a.b.toml", "a.b"),
    ] {
        assert_eq!(job_name(Path::new(file), "t"), name, "{file}");
    }
    assert_eq!(schema_path(Path::new("x/orders.toml")), Path::new("x/orders.sql"));
    assert_eq!(schema_path(Path::new("orders.sql")), Path::new("orders.schema.sql"));
}

/// Local names: some alike but for their case, some that are words of SQL or of paths, some without an ASCII letter.
fn local() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "a",
        "A",
        "b-c",
        "b.c",
        "id",
        "ID",
        "order",
        "Order",
        "text",
        "count",
        "last",
        "日本",
        "ä",
        "_x",
        "Cd",
        "Tp",
        "type",
        "record_key",
        "line",
        "Amt",
        "and",
    ])
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(vec![
            "",
            " ",
            "1",
            "007",
            "-0",
            "1.50",
            "99999999999999999999",
            "true",
            "false",
            "0",
            "2024-02-30",
            "2024-02-29",
            "20240229",
            "12:00:00",
            "24:00:00",
            "2024-01-01T00:00:00.123456789Z",
            "2024-01-01T00:00:00",
            "${HOME}",
            "CLBD",
            "a'b&quot;c",
            "]]&gt;",
            "&#10;x",
            "0001-01-01T00:00:00+14:00",
            "9999-12-31T23:59:59-14:00",
            "+1",
            "1e5",
            "0000-01-01",
            "-1.123456789012345678901234567890123456789",
            "2.16.840.1",
        ])
        .prop_map(str::to_owned),
        "[a-zA-Z0-9 .:+-]{0,12}",
    ]
}

#[derive(Clone, Debug)]
struct Node {
    local: &'static str,
    space: usize,
    attributes: Vec<(&'static str, String)>,
    text: String,
    nil: bool,
    children: Vec<Node>,
}

fn node() -> impl Strategy<Value = Node> {
    let tag = || {
        let attributes = proptest::collection::vec((local(), value()), 0..3);
        (local(), 0_usize..3, attributes, value(), proptest::bool::weighted(0.05))
    };
    let leaf = tag().prop_map(|(local, space, attributes, text, nil)| Node {
        local,
        space,
        attributes,
        text: if nil { String::new() } else { text },
        nil,
        children: Vec::new(),
    });
    leaf.prop_recursive(4, 40, 6, move |inner| {
        (tag(), proptest::collection::vec(inner, 0..6), proptest::bool::weighted(0.1)).prop_map(
            |((local, space, attributes, text, _), children, mixed)| Node {
                local,
                space,
                attributes,
                text: if mixed { text } else { String::new() },
                nil: false,
                children,
            },
        )
    })
}

fn write_node(node: &Node, out: &mut String) {
    let prefix = ["", "p:", "ns1:"][node.space];
    out.push_str(&format!("<{prefix}{}", node.local));
    for (index, (name, value)) in node.attributes.iter().enumerate() {
        if !node.attributes[..index].iter().any(|(earlier, _)| earlier == name) {
            out.push_str(&format!(" {name}=\"{value}\""));
        }
    }
    if node.nil {
        out.push_str(" xsi:nil='true'");
    }
    out.push('>');
    out.push_str(&node.text);
    node.children.iter().for_each(|child| write_node(child, out));
    out.push_str(&format!("</{prefix}{}>", node.local));
}

fn document(children: &[Node]) -> String {
    let mut out = String::from(
        "<root xmlns:p='urn:x:${p}' xmlns:ns1='http://x/\\1' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'>",
    );
    children.iter().for_each(|child| write_node(child, &mut out));
    out.push_str("</root>");
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_samples_are_the_job_is_right_and_reads_them(
        samples in proptest::collection::vec(proptest::collection::vec(node(), 0..8), 1..4),
    ) {
        let documents: Vec<String> = samples.iter().map(|children| document(children)).collect();
        let bytes: Vec<&[u8]> = documents.iter().map(String::as_bytes).collect();
        let job = made(&bytes, None).job;
        for document in &bytes {
            let (text, code) = tried(&job, document);
            prop_assert_eq!(code, exit::OK, "{}\n{}", text, job);
        }
    }
}
