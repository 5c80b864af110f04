//! Where additions go, how they are named, how they are escaped.

use super::*;
use crate::xml::SpliceError;

#[test]
fn the_addition_is_the_last_child() {
    let job = Job::new().add("a", "n");
    for (document, output) in [
        ("<r><a/></r>", "<r><a><n>1</n></a></r>"),
        ("<r><a  x='/' /></r>", "<r><a  x='/' ><n>1</n></a></r>"),
        ("<r><a></a></r>", "<r><a><n>1</n></a></r>"),
        ("<r><a>t<b/>\n</a\n></r>", "<r><a>t<b/>\n<n>1</n></a\n></r>"),
        ("<r><a><![CDATA[</a>]]><!--</a>--></a></r>", "<r><a><![CDATA[</a>]]><!--</a>--><n>1</n></a></r>"),
        ("\u{feff}<r>ä<a></a></r>", "\u{feff}<r>ä<a><n>1</n></a></r>"),
        ("<r><a>\r\n</a>\r\n</r>\r\n", "<r><a>\r\n<n>1</n></a>\r\n</r>\r\n"),
    ] {
        assert_eq!(job.splice(document, &["1"]), output);
    }
    let root = Job::new().add(".", "n");
    assert_eq!(root.splice("<r/>", &["1"]), "<r><n>1</n></r>");
    assert_eq!(root.splice("<p:r xmlns:p='u'/>", &["1"]), "<p:r xmlns:p='u'><n>1</n></p:r>");
}

#[test]
fn several_additions_keep_the_order_of_the_job_file() {
    let job = Job::new().add("a/b", "x").add(".", "y").add("a/b", "z").add("a", "w").add(".", "v");
    assert_eq!(
        job.splice("<r><a><b/></a></r>", &["1", "2", "3", "4", "5"]),
        "<r><a><b><x>1</x><z>3</z></b><w>4</w></a><y>2</y><v>5</v></r>"
    );
    let job = Job::new().add("a", "x").add("b", "y");
    assert_eq!(job.splice("<r><b/><a/></r>", &["1", "2"]), "<r><b><y>2</y></b><a><x>1</x></a></r>");
}

#[test]
fn a_place_that_is_absent_or_there_twice() {
    let job = Job::new().add("a", "n");
    let (code, detail) = job.refusal("<r/>");
    assert_eq!(code, ReasonCode::OutputPlace);
    assert_eq!(detail, "the place `a` of an addition is not in the document");
    let (code, detail) = job.refusal("<r><a/><a/></r>");
    assert_eq!(code, ReasonCode::OutputPlace);
    assert!(
        detail.starts_with("line 1, column 8: the place `a` of an addition is here once more"),
        "{detail}"
    );
}

#[test]
fn the_prefix_follows_the_document() {
    let job = Job::new().add("u:a", "u:n");
    for (document, element) in [
        // The target's own prefix, even where an inner or another one would do.
        ("<p:r xmlns:p='urn:u' xmlns:q='urn:u'><p:a/></p:r>", "<p:n>1</p:n>"),
        ("<p:r xmlns:p='urn:u' xmlns:q='urn:u'><q:a/></p:r>", "<q:n>1</q:n>"),
        ("<r xmlns='urn:u'><a xmlns:q='urn:u'/></r>", "<n>1</n>"),
    ] {
        let output = job.splice(document, &["1"]);
        assert!(output.contains(element), "{output}");
    }
    let other = Job::new().add("u:a", "v:n");
    for (document, element) in [
        ("<r xmlns='urn:u' xmlns:x='urn:v'><a/></r>", "<x:n>1</x:n>"),
        ("<u:r xmlns:u='urn:u' xmlns='urn:v'><u:a/></u:r>", "<n>1</n>"),
        ("<r xmlns='urn:u' xmlns:x='urn:v'><a xmlns:y='urn:v'/></r>", "<y:n>1</y:n>"),
        // Hidden further inside: not to be used.
        ("<r xmlns='urn:u' xmlns:x='urn:v'><a xmlns:x='urn:w'/></r>", "<v:n xmlns:v=\"urn:v\">1</v:n>"),
        ("<r xmlns='urn:u'><a/></r>", "<v:n xmlns:v=\"urn:v\">1</v:n>"),
        // The job's prefix means something else here: the added element hides it for itself alone.
        ("<r xmlns='urn:u' xmlns:v='urn:w'><a v:b=''/></r>", "<v:n xmlns:v=\"urn:v\">1</v:n>"),
    ] {
        let output = other.splice(document, &["1"]);
        assert!(output.contains(element), "{output}");
        let added = Job::new().field("u:a/v:n", FieldType::Text);
        assert_eq!(added.decode(&output).reading.values, [text("1")], "{output}");
    }
}

#[test]
fn an_addition_in_no_namespace_or_without_a_prefix() {
    let none = Job::new().add("u:a", "n");
    assert_eq!(
        none.splice("<r xmlns='urn:u'><a/></r>", &["1"]),
        "<r xmlns='urn:u'><a><n xmlns=\"\">1</n></a></r>"
    );
    assert_eq!(
        none.splice("<r xmlns='urn:u'><p:a xmlns='' xmlns:p='urn:u'/></r>", &["1"]),
        "<r xmlns='urn:u'><p:a xmlns='' xmlns:p='urn:u'><n>1</n></p:a></r>"
    );
    let mut bare = Job::new().add("a", "v:n");
    bare.additions[0].prefix = String::new();
    assert_eq!(bare.splice("<r><a/></r>", &["1"]), "<r><a><n xmlns=\"urn:v\">1</n></a></r>");
}

#[test]
fn a_namespace_that_needs_escaping() {
    let job = Job::new().prefix("w", "urn:a&b\"<c").add("a", "w:n");
    let output = job.splice("<r><a/></r>", &["1"]);
    assert_eq!(output, "<r><a><w:n xmlns:w=\"urn:a&amp;b&quot;&lt;c\">1</w:n></a></r>");
    let added = Job::new().prefix("w", "urn:a&b\"<c").field("a/w:n", FieldType::Text);
    assert_eq!(added.decode(&output).reading.values, [text("1")]);
}

fn one(document: &str, added: Added) -> Result<String, SpliceError> {
    let decoded = Job::new().add(".", "n").decode(document);
    splice(document.as_bytes(), &decoded.reading.marks, &[added])
        .map(|output| String::from_utf8(output).unwrap())
}

#[test]
fn text_and_attributes_are_escaped() {
    let nasty = "]]><x>1</x>&amp;\r\n\t\"'ä😀";
    let attributes = vec![("b".to_owned(), nasty.to_owned()), ("xml:lang".to_owned(), "de".to_owned())];
    let output = one("<r/>", Added { text: Some(nasty.to_owned()), attributes }).unwrap();
    assert_eq!(
        output,
        "<r><n b=\"]]&gt;&lt;x&gt;1&lt;/x&gt;&amp;amp;&#13;&#10;&#9;&quot;&apos;ä😀\" xml:lang=\"de\">\
         ]]&gt;&lt;x&gt;1&lt;/x&gt;&amp;amp;&#13;\n\t\"'ä😀</n></r>"
    );
    let read = Job::new().field("n", FieldType::Text).field("n/@b", FieldType::Text);
    assert_eq!(read.decode(&output).reading.values, [text(nasty), text(nasty)]);
}

#[test]
fn no_text_is_an_empty_tag() {
    assert_eq!(one("<r/>", Added::default()).unwrap(), "<r><n/></r>");
    let attributes = vec![("b".to_owned(), "1".to_owned())];
    assert_eq!(one("<r>\n</r>", Added { text: None, attributes }).unwrap(), "<r>\n<n b=\"1\"/></r>");
}

#[test]
fn what_xml_cannot_express_is_an_error_that_names_it() {
    for (c, code_point) in [('\0', "U+0000"), ('\u{b}', "U+000B"), ('\u{fffe}', "U+FFFE")] {
        let error = one("<r/>", Added { text: Some(format!("a{c}")), attributes: Vec::new() }).unwrap_err();
        assert!(error.to_string().contains(code_point), "{error}");
        let attributes = vec![("b".to_owned(), c.to_string())];
        assert!(one("<r/>", Added { text: None, attributes }).is_err());
    }
}

#[test]
fn a_document_that_declares_ascii_stays_ascii() {
    let document = "<?xml version='1.0' encoding='US-ASCII'?><r/>";
    let attributes = vec![("b".to_owned(), "ö".to_owned())];
    let output = one(document, Added { text: Some("ä€😀".into()), attributes }).unwrap();
    assert_eq!(
        output,
        "<?xml version='1.0' encoding='US-ASCII'?><r><n b=\"&#246;\">&#228;&#8364;&#128512;</n></r>"
    );
    Job::new().decode(&output);
    let decoded = Job::new().add(".", "ñ").decode(document);
    let error = splice(document.as_bytes(), &decoded.reading.marks, &[Added::default()]).unwrap_err();
    assert_eq!(error, SpliceError::Name { code_point: 0xf1, encoding: "US-ASCII" });
}

#[test]
fn marks_of_another_document_are_an_error() {
    let mark = |at, empty_tag: Option<&str>| Mark::Add {
        at,
        empty_tag: empty_tag.map(str::to_owned),
        name: "n".into(),
        declare: None,
    };
    assert!(splice(b"<r/>", &[], &[Added::default()]).is_err());
    assert!(splice(b"<r/>", &[mark(5, None)], &[Added::default()]).is_err());
    assert!(splice(b"<r/>", &[mark(4, Some("r"))], &[Added::default()]).is_err());
    assert!(splice(b"<r/>", &[mark(1, Some("r"))], &[Added::default()]).is_err());
    assert_eq!(splice(b"<r/>", &[], &[]).unwrap(), b"<r/>");
}

#[test]
fn mixed_content_and_declarations_pass_untouched() {
    let document = "<order no='5' xmlns:x=\"u\" ><item  sku='1'/><note lang='de'/><item sku='2'/></order >";
    let output = Job::new().add("note", "n").splice(document, &["1"]);
    assert_eq!(output, document.replace("<note lang='de'/>", "<note lang='de'><n>1</n></note>"));
}
