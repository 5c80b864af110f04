//! Keys and fields: which text a path gives, and when there is none.

use super::*;

const XSI: &str = "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'";

fn value_of(path: &str, of_type: FieldType, document: &str) -> Value {
    Job::new().field(path, of_type).decode(document).reading.values.remove(0)
}

#[test]
fn names_match_by_namespace_never_by_prefix() {
    let job = Job::new()
        .root("u:r")
        .key("@id")
        .field("u:a/v:b", FieldType::Text)
        .field("u:a/@v:c", FieldType::Text);
    let documents = [
        "<u:r xmlns:u='urn:u' xmlns:v='urn:v' id='1'><u:a v:c='c'><v:b>b</v:b></u:a></u:r>",
        "<v:r xmlns:v='urn:u' xmlns:u='urn:v' id='1'><v:a u:c='c'><u:b>b</u:b></v:a></v:r>",
        "<r xmlns='urn:u' id='1'><a xmlns:x='urn:v' x:c='c'><b xmlns='urn:v'>b</b></a></r>",
        "<r xmlns='urn:&#117;' id='1'><b/><a xmlns:x='urn:v' x:c='c' c='no'><a/><b/><x:b>b</x:b></a></r>",
    ];
    for document in documents {
        let decoded = job.decode(document);
        assert_eq!(decoded.key, "1");
        assert_eq!(decoded.reading.values, [text("b"), text("c")], "{document}");
    }
    let (code, detail) = job.refusal("<r id='1'/>");
    assert_eq!(code, ReasonCode::NotTheEvent);
    assert_eq!(detail, "line 1, column 1: the root element is not `r` in namespace urn:u");
    assert_eq!(job.refusal("<s xmlns='urn:u' id='1'/>").0, ReasonCode::NotTheEvent);
}

#[test]
fn an_attribute_without_a_prefix_is_in_no_namespace() {
    let document = "<r xmlns='urn:u' a='1'/>";
    assert_eq!(value_of("@a", FieldType::Text, document), text("1"));
    assert_eq!(Job::new().field("@u:a", FieldType::Text).refusal(document).0, ReasonCode::FieldMissing);
    assert_eq!(value_of("@xml:lang", FieldType::Text, "<r xml:lang='de'/>"), text("de"));
}

#[test]
fn text_arrives_whole() {
    for (document, whole) in [
        ("<r><v>Left &amp; Right  &amp;  Mid</v></r>", "Left & Right  &  Mid"),
        ("<r><v>&#8364;</v></r>", "€"),
        ("<r><v>KEY(&quot;7&quot;,1)</v></r>", "KEY(\"7\",1)"),
        ("<r><v>a ]]&gt; b &amp;lt; c</v></r>", "a ]]> b &lt; c"),
        ("<r><v> a<!-- c -->b<?p x?><![CDATA[<&]]]]><![CDATA[>]]>c </v></r>", " ab<&]]>c "),
        ("<r><v>a\r\nb\rc&#13;d</v></r>", "a\nb\nc\rd"),
        ("<r><v><![CDATA[a\r\nb]]>\r\n</v></r>", "a\nb\n"),
        ("<r><v>a\r&#10;b</v></r>", "a\n\nb"),
        ("<r><v>Hello <b>big <i>and</i></b>wide<b/> world</v></r>", "Hello wide world"),
        ("<r><v/></r>", ""),
        ("<r><v></v></r>", ""),
        ("<r><v>😀𠀀</v></r>", "😀𠀀"),
    ] {
        assert_eq!(value_of("v", FieldType::Text, document), text(whole), "{document}");
    }
    let document = "<r a='x&#13;&#10;y&#9;z\t\r\n.'/>";
    assert_eq!(value_of("@a", FieldType::Text, document), text("x\r\ny\tz  ."));
}

#[test]
fn a_number_cut_to_pieces_is_one_number() {
    let document = "<r><n>7<!-- c --><![CDATA[65]]></n></r>";
    assert_eq!(value_of("n", FieldType::Int64, document), Value::Int(765));
    let document = "<r><n>\n 33<!-- c --><![CDATA[6.]]>&#57;<?p x?>\t</n></r>";
    let Value::Decimal(number) = value_of("n", decimal(10, 2), document) else { panic!() };
    assert_eq!(number.as_str(), "336.9");
}

#[test]
fn every_type_reads_its_own_text() {
    for (of_type, raw, shown) in [
        (FieldType::Int64, " -7 ", "Int(-7)"),
        (FieldType::UInt64, "+7", "UInt(7)"),
        (
            decimal(38, 10),
            "1111111111111111200000002222.0987654321",
            "Decimal(Decimal(\"1111111111111111200000002222.0987654321\"))",
        ),
        (FieldType::Bool, "\n1\n", "Bool(true)"),
        (FieldType::Bool, "false", "Bool(false)"),
        (FieldType::Date, "2021-02-28-06:00", "Date(Date { year: 2021, month: 2, day: 28 })"),
        (FieldType::Base64, "aGk=", "Bytes(b\"hi\")"),
        (FieldType::Hex, "6869", "Bytes(b\"hi\")"),
    ] {
        let document = format!("<r><v>{raw}</v></r>");
        assert_eq!(format!("{:?}", value_of("v", of_type, &document)), shown);
    }
    let zone = Some("Europe/Zurich".to_owned());
    let document = "<r><v>2021-02-28T23:45:00</v></r>";
    let Value::Timestamp(instant) = value_of("v", FieldType::Timestamp { zone }, document) else { panic!() };
    assert_eq!(instant.to_string(), "2021-02-28T22:45:00Z");
}

#[test]
fn a_wrong_type_is_told_with_field_path_and_place() {
    let job = Job::new().field("a/n", FieldType::Int64);
    let (code, detail) = job.refusal("<r>\n <a><n>12x</n></a></r>");
    assert_eq!(code, ReasonCode::FieldType);
    assert_eq!(
        detail,
        "line 2, column 5: the field `f` (a/n) is not a whole number: an optional sign and digits"
    );
    let (code, detail) = job.refusal("<r><a><n>9223372036854775808</n></a></r>");
    assert_eq!(code, ReasonCode::FieldType);
    assert!(detail.contains("out of the range of int64"), "{detail}");
    for raw in ["yes", "TRUE", "2"] {
        let job = Job::new().field("b", FieldType::Bool);
        assert_eq!(job.refusal(format!("<r><b>{raw}</b></r>")).0, ReasonCode::FieldType);
    }
}

#[test]
fn absent_empty_and_nil_are_three_things() {
    let nil = |value: &str| format!("<r {XSI}><n xsi:nil='{value}'/></r>");
    let types = || [FieldType::Text, FieldType::Int64, decimal(5, 2), FieldType::Date, FieldType::Base64];
    for of_type in types() {
        let job = Job::new().optional("n", of_type.clone());
        assert_eq!(job.decode("<r/>").reading.values, [Value::Null]);
        assert_eq!(job.decode(&nil("true")).reading.values, [Value::Null]);
        assert_eq!(job.decode(&nil(" 1 ")).reading.values, [Value::Null]);

        let job = Job::new().field("n", of_type.clone());
        let (code, detail) = job.refusal("<r/>");
        assert_eq!(
            (code, detail.as_str()),
            (ReasonCode::FieldMissing, "the field `f` (n) is not in the document")
        );
        let (code, detail) = job.refusal(nil("1"));
        assert_eq!(code, ReasonCode::FieldMissing);
        assert!(detail.ends_with("is required and nil"), "{detail}");

        for job in [Job::new().field("n", of_type.clone()), Job::new().optional("n", of_type.clone())] {
            for document in ["<r><n/></r>", "<r><n></n></r>", &nil("false")] {
                if of_type == FieldType::Text {
                    assert_eq!(job.decode(document).reading.values, [text("")]);
                } else {
                    let (code, detail) = job.refusal(document);
                    assert_eq!(code, ReasonCode::FieldType);
                    assert!(detail.contains("is empty"), "{detail}");
                }
            }
        }
    }
}

#[test]
fn nil_that_contradicts_itself() {
    let job = Job::new().optional("n", FieldType::Text);
    let (code, detail) = job.refusal(format!("<r {XSI}><n xsi:nil='true'>x</n></r>"));
    assert_eq!(code, ReasonCode::FieldType);
    assert!(detail.contains("is nil and has text"), "{detail}");
    let (code, _) = job.refusal(format!("<r {XSI}><n xsi:nil='maybe'/></r>"));
    assert_eq!(code, ReasonCode::FieldType);
    assert_eq!(job.decode(&format!("<r {XSI}><n xsi:nil='true'>\n </n></r>")).reading.values, [Value::Null]);
    // Not XML Schema's nil: another namespace.
    assert_eq!(job.decode("<r xmlns:xsi='urn:x'><n xsi:nil='true'>x</n></r>").reading.values, [text("x")]);
}

#[test]
fn a_path_that_matches_twice_is_ambiguous() {
    let document = "<r><a>1</a>\n<a>1</a><b c='1'/><b/></r>";
    for job in [Job::new().field("a", FieldType::Int64), Job::new().optional("a", FieldType::Text)] {
        let (code, detail) = job.refusal(document);
        assert_eq!(code, ReasonCode::Ambiguous);
        assert_eq!(
            detail,
            "line 2, column 1: the field `f` (a) is here once more; it may be in a document once"
        );
    }
    assert_eq!(Job::new().key("a").refusal(document).0, ReasonCode::Ambiguous);
    // Two elements, one attribute: no doubt what is meant.
    assert_eq!(Job::new().field("b/@c", FieldType::Text).decode(document).reading.values, [text("1")]);
    // Malformed further on: that comes first.
    assert_eq!(Job::new().key("a").refusal("<r><a/><a/></s>").0, ReasonCode::NotWellFormed);
}

#[test]
fn keys() {
    let job = Job::new().key("@id").key("a/b");
    assert_eq!(job.decode("<r id=' 7\n'><a>x<b> a&amp;b </b></a></r>").key, "7|a&b");
    for (document, detail) in [
        ("<r><a><b>x</b></a></r>", "the key's part `@id` is not in the document"),
        ("<r id='7'><b>x</b></r>", "the key's part `a/b` is not in the document"),
        ("<r id=' '><a><b>x</b></a></r>", "line 1, column 4: the key's part `@id` is empty"),
        ("<r id='7'><a><b/></a></r>", "line 1, column 14: the key's part `a/b` is empty"),
    ] {
        assert_eq!(job.refusal(document), (ReasonCode::KeyMissing, detail.to_owned()));
    }
    let (code, detail) = job.refusal(format!("<r {XSI} id='7'><a><b xsi:nil='1'/></a></r>"));
    assert_eq!(code, ReasonCode::KeyMissing);
    assert!(detail.ends_with("is nil"), "{detail}");
    assert_eq!(Job::new().decode("<r/>").key, "record");
}

#[test]
fn one_text_may_be_key_and_fields() {
    let job = Job::new()
        .key("a")
        .field("a", FieldType::Int64)
        .field("a", FieldType::Text)
        .field(".", FieldType::Text);
    let decoded = job.decode("<r>x<a> 07 </a>y</r>");
    assert_eq!(decoded.key, "07");
    assert_eq!(decoded.reading.values, [Value::Int(7), text(" 07 "), text("xy")]);
}

#[test]
fn one_document_leaves_nothing_behind_for_the_next() {
    let job =
        Job::new().key("@id").optional("a", FieldType::Text).optional("@b", FieldType::Text).add("a", "x");
    let mut decoder = job.decoder();
    let first = decode_one(&mut decoder, b"<r xmlns:p='u' id='1' b='2'><a>long text</a></r>").unwrap();
    assert_eq!(first.reading.values, [text("long text"), text("2")]);
    assert!(decode_one(&mut decoder, b"<r xmlns:p='u' id='1'><a>half<b>").is_err());
    assert!(decode_one(&mut decoder, b"<r><a/>").is_err());
    assert_eq!(decode_one(&mut decoder, b"<r id='2'/>").unwrap_err().code, ReasonCode::OutputPlace);
    let second = decode_one(&mut decoder, b"<r id='2'><a/></r>").unwrap();
    assert_eq!((second.key, second.reading.values), ("2".into(), vec![text(""), Value::Null]));
    assert_eq!(
        decode_one(&mut decoder, b"<r id='3'><p:a/></r>").unwrap_err().code,
        ReasonCode::NotWellFormed
    );
}

#[test]
fn a_recursive_element_is_told_apart_by_its_depth() {
    let document = "<r><l>1<l>2<l>3</l></l></l></r>";
    for (path, value) in [("l", 1), ("l/l", 2), ("l/l/l", 3)] {
        assert_eq!(value_of(path, FieldType::Int64, document), Value::Int(value));
    }
}

#[test]
fn wide_jobs_find_their_names() {
    let mut job = Job::new();
    for n in (0..200).rev() {
        job = job.field(&format!("a{n}"), FieldType::Int64);
    }
    let body: String = (0..200).map(|n| format!("<a{n}>{n}</a{n}><b{n}/>")).collect();
    let decoded = job.decode(&format!("<r>{body}</r>"));
    let expected: Vec<Value> = (0..200).rev().map(Value::Int).collect();
    assert_eq!(decoded.reading.values, expected);
}

#[test]
fn jobs_that_cannot_be() {
    let error = |job: &Job| job.try_decoder().unwrap_err().to_string();
    let zone = Some("Europe/Zürich".to_owned());
    assert!(
        error(&Job::new().field("a", FieldType::Timestamp { zone })).contains("`Europe/Zürich` is not known")
    );
    assert!(error(&Job::new().field("a", decimal(2, 3))).contains("decimal(2,3)"));
    assert!(error(&Job::new().field("@xmlns", FieldType::Text)).contains("namespace declaration"));
    assert!(error(&Job::new().add("@a", "x")).contains("ends at an attribute"));
    assert!(error(&Job::new().add("a", "1x")).contains("not the name of an element"));
    let mut job = Job::new().add("a", "x");
    job.additions[0].attributes =
        vec![("p:a".into(), crate::job::Content::Value(crate::job::ValueRef::Field(0)))];
    assert!(error(&job).contains("`p:a` is not the name of an attribute"));
    job.limits.document_bytes = 1 << 33;
    assert!(error(&job).contains("limits.document_bytes"));
}
