//! Several events of a record, lists, keys of several parts, what stands beside the document.

use super::*;
use crate::job::List;
use crate::model::Row;

impl Job {
    pub(super) fn each(mut self, path: &str) -> Job {
        self.event.each = self.steps(path);
        self
    }

    pub(super) fn from(mut self, source: FieldSource, of_type: FieldType) -> Job {
        let rules = FieldRules::required();
        self.event.fields.push(Field { name: "f".into(), source, of_type, rules });
        self
    }

    /// A list of optional fields, named as their paths are.
    fn list(mut self, name: &str, parent: Option<usize>, each: &str, fields: &[(&str, FieldType)]) -> Job {
        let fields = fields.iter().map(|(path, of_type)| Field {
            name: path.trim_matches(['@', '.', '/']).to_owned(),
            source: FieldSource::Path(self.path(path)),
            of_type: of_type.clone(),
            rules: FieldRules::optional(),
        });
        let fields = fields.collect();
        let (each, text) = (self.steps(each), each.to_owned());
        self.event.lists.push(List { name: name.into(), parent, each, text, fields });
        self
    }

    fn record(&self, value: Option<&str>, key: Option<&str>, headers: &[(&str, &[u8])]) -> Record {
        Record {
            timestamp_ms: None,
            key: key.map(|key| Bytes::copy_from_slice(key.as_bytes())),
            headers: headers
                .iter()
                .map(|(n, v)| ((*n).to_owned(), Some(Bytes::copy_from_slice(v))))
                .collect(),
            value: value.map(|value| Bytes::copy_from_slice(value.as_bytes())),
        }
    }

    fn events(&self, document: &str) -> Result<Vec<Result<Decoded, Reason>>, Reason> {
        self.decoder().decode(&self.record(Some(document), Some("k"), &[]))
    }
}

fn json(event: &Decoded, field: usize) -> String {
    let Value::Text(text) = &event.reading.values[field] else { panic!("{:?}", event.reading.values) };
    serde_json::from_str::<serde_json::Value>(text).unwrap();
    text.clone()
}

#[test]
fn one_event_per_element_each_with_its_own_fate() {
    let job = Job::new().each("/r/e").key("@id").field("n", FieldType::Int64).field("/r/@h", FieldType::Text);
    let events = job.events(
        "<r h='x'><e id='a'><n>1</n></e>\n <e id='b'><n>no</n></e><e id='c'/><e id='a'><n>4</n></e></r>",
    );
    let events = events.unwrap();
    assert_eq!(events.len(), 4);
    let event = events[0].as_ref().unwrap();
    assert_eq!((&event.key[..], &event.reading.values[..]), (&b"a"[..], &[Value::Int(1), text("x")][..]));
    let reason = events[1].as_ref().unwrap_err();
    assert_eq!(reason.code, ReasonCode::FieldType);
    assert!(reason.detail.starts_with("line 2, column 12: the field `f` (n)"), "{reason}");
    let reason = events[2].as_ref().unwrap_err();
    assert_eq!(
        reason.to_string(),
        "field_missing: line 2, column 25: the field `f` (n) is not in this event"
    );
    assert_eq!(events[3].as_ref().unwrap().reading.values[0], Value::Int(4));
}

#[test]
fn a_record_that_is_not_well_formed_has_no_events() {
    let job = Job::new().each("/r/e").field("@id", FieldType::Text);
    assert_eq!(job.events("<r><e id='1'/><e id='2'/></q>").unwrap_err().code, ReasonCode::NotWellFormed);
}

#[test]
fn a_document_without_an_event() {
    let mut job = Job::new().each("/r/x/e").field("@id", FieldType::Text);
    let reason = job.events("<r><e id='1'/></r>").unwrap_err();
    assert_eq!(
        reason.to_string(),
        "not_the_event: the document has no event: event.each (/r/x/e) finds no element"
    );
    job.event.no_match = NoMatch::Discard;
    assert_eq!(job.events("<r><e id='1'/></r>").unwrap(), []);
    assert_eq!(job.events("<q/>").unwrap(), []);
    assert_eq!(job.events("<q>").unwrap_err().code, ReasonCode::NotWellFormed);
}

#[test]
fn events_that_predicates_pick() {
    let job = Job::new().each("/r/g[@on='1']/e[k='x'][last()]").field("@id", FieldType::Text);
    let document = "<r><g on='1'><e id='1'><k>x</k></e><e id='2'><k>x</k></e><e id='3'><k>y</k></e></g><g><e id='4'><k>x</k></e></g>\
                    <g on='1'><e id='5'><k>x</k></e></g></r>";
    let found: Vec<Value> = job
        .events(document)
        .unwrap()
        .into_iter()
        .map(|event| event.unwrap().reading.values[0].clone())
        .collect();
    assert_eq!(found, [text("2"), text("5")]);
}

#[test]
fn rows_know_their_parent_and_their_place() {
    let job =
        Job::new().list("lines", None, "l", &[("@sku", FieldType::Text), ("../@id", FieldType::Text)]).list(
            "subs",
            Some(0),
            "s",
            &[(".", FieldType::Int64), ("../@sku", FieldType::Text), ("../../@id", FieldType::Text)],
        );
    let event = job.decode("<o id='7'><l sku='a'><s>1</s><s>2</s></l><l/><l sku='c'><s>3</s></l></o>");
    let row = |parent, index, values: Vec<Value>| Row { parent, index, values };
    assert_eq!(
        event.reading.lists,
        [
            vec![
                row(0, 1, vec![text("a"), text("7")]),
                row(0, 2, vec![Value::Null, text("7")]),
                row(0, 3, vec![text("c"), text("7")])
            ],
            vec![
                row(0, 1, vec![Value::Int(1), text("a"), text("7")]),
                row(0, 2, vec![Value::Int(2), text("a"), text("7")]),
                row(2, 1, vec![Value::Int(3), text("c"), text("7")])
            ],
        ]
    );
}

#[test]
fn a_row_that_cannot_be_read_makes_its_event_unreadable() {
    let mut job = Job::new().list("lines", None, "l", &[("@n", FieldType::Int64)]);
    let (code, detail) = job.refusal("<o><l n='1'/>\n<l n='x'/></o>");
    assert_eq!(code, ReasonCode::FieldType);
    assert!(detail.starts_with("line 2, column 4: the field `lines.n` (@n) "), "{detail}");
    job.event.lists[0].fields[0].rules = FieldRules::required();
    let (code, detail) = job.refusal("<o><l n='1'/>\n<l/></o>");
    assert_eq!(code, ReasonCode::FieldMissing);
    assert_eq!(detail, "line 2, column 1: the field `lines.n` (@n) is not in this row");
}

#[test]
fn lists_and_repeated_texts_as_json() {
    let mut job = Job::new()
        .list("lines", None, "l", &[("@q", decimal(12, 3)), ("t", FieldType::Text), ("@d", FieldType::Date)])
        .from(FieldSource::List(0), FieldType::Json)
        .field("l/t", FieldType::Json)
        .optional("l/z", FieldType::Json);
    let document = "<o xmlns:i='http://www.w3.org/2001/XMLSchema-instance'><l q='1.50' d='2020-01-02'><t>a \"b\"&#10;</t></l>\
                    <l q='12345678.001'><t i:nil='true'/></l></o>";
    let event = job.decode(document);
    assert_eq!(
        json(&event, 0),
        "[{\"q\":1.50,\"t\":\"a \\\"b\\\"\\n\",\"d\":\"2020-01-02\"},{\"q\":12345678.001,\"t\":null,\"d\":null}]"
    );
    assert_eq!(json(&event, 1), "[\"a \\\"b\\\"\\n\",null]");
    assert_eq!(event.reading.values[2], Value::Null);
    job.event.fields.truncate(1);
    assert_eq!(json(&job.decode("<o/>"), 0), "[]");
    // Rows of rows.
    let job = Job::new()
        .list("outer", None, "a", &[("@n", FieldType::Int64)])
        .list("inner", Some(0), "b", &[(".", FieldType::Text)])
        .from(FieldSource::List(0), FieldType::Json);
    let mut nested = job.clone();
    nested.event.lists[1].fields[0].name = "b".into();
    let inner = Field {
        name: "bs".into(),
        source: FieldSource::List(1),
        of_type: FieldType::Json,
        rules: FieldRules::required(),
    };
    nested.event.lists[0].fields.push(inner);
    let event = nested.decode("<r><a n='1'><b>x</b><b>y</b></a><a/><a n='3'><b>z</b></a></r>");
    assert_eq!(
        json(&event, 0),
        "[{\"n\":1,\"bs\":[{\"b\":\"x\"},{\"b\":\"y\"}]},{\"n\":null,\"bs\":[]},{\"n\":3,\"bs\":[{\"b\":\"z\"}]}]"
    );
    let wrong = job.from(FieldSource::List(1), FieldType::Json).try_decoder();
    assert!(matches!(wrong, Err(XmlSetupError::ListElsewhere { .. })));
}

#[test]
fn an_element_as_its_source() {
    let document = "<r>\r\n<a  x = '1'><!-- c --><b/>&lt;</a ><n xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='1'><q/></n></r>";
    let job =
        Job::new().field("a", FieldType::Xml).optional("n", FieldType::Xml).optional("z", FieldType::Xml);
    let values = job.decode(document).reading.values;
    assert_eq!(values, [text("<a  x = '1'><!-- c --><b/>&lt;</a >"), Value::Null, Value::Null]);
}

#[test]
fn keys_of_several_parts() {
    let mut job = Job::new().key("@a").key("b").key("count(b)");
    assert_eq!(job.decode("<r a=' x|y '><b> z\\ </b></r>").key, "x\\|y|z\\\\|1");
    job.event.key = vec![KeyPart::RecordKey, KeyPart::Header("h".into()), KeyPart::Path(job.path("@a"))];
    let record = |key, headers| job.record(Some("<r a='1'/>"), key, headers);
    let mut decoder = job.decoder();
    let decoded =
        decoder.decode(&record(Some(" k "), &[("h", b"0"), ("h", b"\xff|"), ("i", b"")])).unwrap().remove(0);
    assert_eq!(&decoded.unwrap().key[..], b" k |\xff\\||1");
    for (key, headers, what) in [
        (None, &[("h", &b"1"[..])][..], "the record's key is not there"),
        (Some("k"), &[][..], "the header `h`, is not there"),
        (Some("k"), &[("h", &b" "[..])][..], "the header `h`, is empty"),
    ] {
        let reason = decoder.decode(&record(key, headers)).unwrap().remove(0).unwrap_err();
        assert_eq!(reason.code, ReasonCode::KeyMissing);
        assert!(reason.detail.contains(what), "{reason}");
    }
}

#[test]
fn fields_of_headers_and_of_the_record_key() {
    let job = Job::new()
        .from(FieldSource::Header("n".into()), FieldType::Int64)
        .from(FieldSource::RecordKey, FieldType::Text)
        .field(".", FieldType::Text);
    let mut decoder = job.decoder();
    let mut decode = |key, headers: &[(&str, &[u8])]| {
        decoder.decode(&job.record(Some("<r>t</r>"), key, headers)).unwrap().remove(0)
    };
    let values = decode(Some("k"), &[("n", b"1"), ("n", b" 2 ")]).unwrap().reading.values;
    assert_eq!(values, [Value::Int(2), text("k"), text("t")]);
    let detail = |result: Result<Decoded, Reason>| result.unwrap_err().to_string();
    assert_eq!(
        detail(decode(Some("k"), &[])),
        "field_missing: the field `f`, the header `n`, is not in the record"
    );
    assert_eq!(
        detail(decode(Some("k"), &[("n", b"\xff")])),
        "field_type: the field `f`, the header `n`, is not UTF-8"
    );
    assert!(
        detail(decode(Some("k"), &[("n", b"x")]))
            .starts_with("field_type: the field `f`, the header `n`, is no")
    );
}

#[test]
fn tombstones() {
    let job = Job::new()
        .key("@id")
        .from(FieldSource::Header("n".into()), FieldType::Int64)
        .field("a", FieldType::Text)
        .list("lines", None, "l", &[(".", FieldType::Text)]);
    let decoder = job.decoder();
    let decoded = decoder.tombstone(&job.record(None, Some(" k "), &[("n", b"5")])).unwrap();
    assert_eq!(decoded.key, " k ");
    assert_eq!(decoded.reading.values, [Value::Int(5), Value::Null]);
    assert_eq!(decoded.reading.lists, [vec![]]);
    assert_eq!(
        decoder.tombstone(&job.record(None, None, &[("n", b"5")])).unwrap_err().code,
        ReasonCode::KeyMissing
    );
    assert_eq!(
        decoder.tombstone(&job.record(None, Some("k"), &[])).unwrap_err().code,
        ReasonCode::FieldMissing
    );
}

#[test]
fn events_may_not_be_made_of_far_more_than_the_document() {
    let mut job = Job::new().each("/r/e").field("/r/t", FieldType::Text);
    job.limits.document_bytes = 8000;
    let document = |events: usize| format!("<r><t>{}</t>{}</r>", "x".repeat(2000), "<e/>".repeat(events));
    assert_eq!(job.events(&document(50)).unwrap().len(), 50);
    let reason = job.events(&document(1000)).unwrap_err();
    assert_eq!(reason.code, ReasonCode::Limit);
    assert!(reason.detail.contains("16 times limits.document_bytes"), "{reason}");
}
