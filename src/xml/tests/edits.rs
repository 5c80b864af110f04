//! What edits change, and that they change nothing else.

use super::*;
use crate::job::SetTo;
use crate::xml::{Edited, SpliceError, write};

/// A job of these edits: `+at element`, `=at`, `-path`. A place that is not there is told by its mark.
pub(super) struct Edits {
    job: Job,
    edits: Vec<Edit>,
    document: Document,
    needed: bool,
}

impl Edits {
    pub(super) fn new(job: Job, edits: &[&str]) -> Edits {
        let edit = |text: &&str| {
            let (kind, rest) = text.split_at(1);
            // A path has blanks only where no element is to be added.
            let (at, element) = if kind == "+" { rest.split_once(' ').unwrap() } else { (rest, "") };
            match kind {
                "+" => {
                    let prefix = element.split_once(':').map_or("", |(prefix, _)| prefix).to_owned();
                    let element = job.name(element);
                    Edit::Add(Addition {
                        at: job.path(at),
                        element,
                        prefix,
                        text: None,
                        attributes: Vec::new(),
                    })
                }
                "=" => Edit::Set(SetTo { at: job.path(at), to: crate::job::Content::Literal(String::new()) }),
                _ => Edit::Remove(job.path(at)),
            }
        };
        let edits = edits.iter().map(edit).collect();
        Edits { job, edits, document: Document::Input, needed: false }
    }

    pub(super) fn of(job: Job, edits: Vec<Edit>) -> Edits {
        Edits { job, edits, document: Document::Input, needed: false }
    }

    pub(super) fn alone(mut self) -> Edits {
        self.document = Document::Element;
        self
    }

    fn needed(mut self) -> Edits {
        self.needed = true;
        self
    }

    pub(super) fn decode(&self, document: &[u8]) -> Vec<Result<Decoded, Reason>> {
        let output = OutputSpec {
            name: None,
            topic: TopicChoice::Fixed(0),
            key: Vec::new(),
            // Whether an output takes every event is what decides who tells of a place that is not there.
            on: if self.needed { On::Document } else { On::Tombstone },
            when: None,
            document: self.document.clone(),
            edits: self.edits.clone(),
        };
        let mut decoder = Decoder::new(&self.job.event, &[output], self.job.limits).unwrap();
        let value = Some(Bytes::copy_from_slice(document));
        let key = Some(Bytes::from_static(b"k"));
        let record = Record { timestamp_ms: None, key, headers: Vec::new(), value };
        decoder.decode(&record).unwrap_or_else(|reason| panic!("{reason}"))
    }

    /// The first event's document; a text per addition and setting, none of them NULL but `-`.
    fn write_bytes(&self, document: &[u8], texts: &[&str]) -> Result<Vec<u8>, SpliceError> {
        let reading = self.decode(document).remove(0).unwrap().reading;
        let mut texts = texts.iter().map(|text| (*text != "-").then(|| (*text).to_owned()));
        let edited: Vec<Edited> = self
            .edits
            .iter()
            .map(|edit| match edit {
                Edit::Add(_) => Edited::Add(Added { text: texts.next().unwrap(), attributes: Vec::new() }),
                Edit::Set(_) => Edited::Set(texts.next().unwrap()),
                Edit::Remove(_) => Edited::Remove,
            })
            .collect();
        write(document, reading.element.as_ref(), &reading.marks, &edited)
    }

    fn write(&self, document: &str, texts: &[&str]) -> Result<String, SpliceError> {
        self.write_bytes(document.as_bytes(), texts).map(|bytes| String::from_utf8(bytes).unwrap())
    }
}

fn edited(edits: &[&str], document: &str, texts: &[&str]) -> String {
    Edits::new(Job::new(), edits).write(document, texts).unwrap()
}

fn refused(edits: &[&str], document: &str, texts: &[&str]) -> String {
    Edits::new(Job::new(), edits).write(document, texts).unwrap_err().to_string()
}

#[test]
fn texts_are_set() {
    for (document, output) in [
        ("<r><a>old</a></r>", "<r><a>n&amp;w</a></r>"),
        ("<r><a  x='1' ><![CDATA[<]]><!-- c -->&#1234;\r\n</a ></r>", "<r><a  x='1' >n&amp;w</a ></r>"),
        ("<r><a></a></r>", "<r><a>n&amp;w</a></r>"),
        ("<r><a x='1' /></r>", "<r><a x='1' >n&amp;w</a></r>"),
    ] {
        assert_eq!(edited(&["=a"], document, &["n&w"]), output);
    }
    assert_eq!(edited(&["=a"], "<r><a>x</a></r>", &["-"]), "<r><a></a></r>");
    let detail = refused(&["=a"], "<r>\n<a>x<b/></a></r>", &["1"]);
    assert_eq!(
        detail,
        "line 2, column 1: the place `a` of a change has child elements, and only text can be replaced"
    );
}

#[test]
fn attributes_are_set_made_and_taken_away() {
    for (document, text, output) in [
        ("<r><a x = '1' y=\"2\"/></r>", "\"'<", "<r><a x = '&quot;&apos;&lt;' y=\"2\"/></r>"),
        ("<r><a  y=\"2\" ></a></r>", "1", "<r><a  y=\"2\" x=\"1\" ></a></r>"),
        ("<r><a/></r>", "1", "<r><a x=\"1\"/></r>"),
        ("<r><a\n>t</a></r>", "1", "<r><a x=\"1\"\n>t</a></r>"),
        ("<r><a y='2'  x='1' z='3'/></r>", "-", "<r><a y='2' z='3'/></r>"),
        ("<r><a/></r>", "-", "<r><a/></r>"),
    ] {
        assert_eq!(edited(&["=a/@x"], document, &[text]), output);
    }
    assert_eq!(
        edited(&["-a/@x", "-@y"], "<r y='1'><a\n x='1'/><a z='2' x='2' ></a></r>", &[]),
        "<r><a/><a z='2' ></a></r>"
    );
}

#[test]
fn new_attributes_have_a_prefix_that_means_their_namespace() {
    let document = "<r xmlns='urn:u' xmlns:p='urn:u'><a/></r>";
    assert_eq!(edited(&["=u:a/@u:x"], document, &["1"]), document.replace("<a/>", "<a p:x=\"1\"/>"));
    let document = "<r xmlns='urn:u' xmlns:ns1='urn:z'><a/></r>";
    assert_eq!(
        edited(&["=u:a/@u:x", "=u:a/@v:x", "=u:a/@u:y", "=u:a/@xml:lang", "=u:a/@q"], document, &["1", "2", "3", "de", "5"]),
        document.replace(
            "<a/>",
            "<a xmlns:ns1_1=\"urn:u\" ns1_1:x=\"1\" xmlns:ns2=\"urn:v\" ns2:x=\"2\" xmlns:ns3=\"urn:u\" ns3:y=\"3\" \
             xml:lang=\"de\" q=\"5\"/>"
        )
    );
}

#[test]
fn what_is_removed_goes_and_nothing_else() {
    let document = "<r>\n  <a>1</a>\n  <b/><!-- c -->\n  <a ><c/></a >\n</r>";
    assert_eq!(edited(&["-a"], document, &[]), "<r>\n  \n  <b/><!-- c -->\n  \n</r>");
    assert_eq!(edited(&["-z"], document, &[]), document);
    assert_eq!(edited(&["-a | b"], document, &[]), "<r>\n  \n  <!-- c -->\n  \n</r>");
    assert!(refused(&["-."], document, &[]).contains("is the root element"));
}

#[test]
fn edits_at_one_place() {
    let document = "<r><a x='1'>t</a><b/></r>";
    // In what goes, everything goes.
    assert_eq!(
        edited(&["+a n", "=a", "=a/@x", "=a/@y", "-a"], document, &["1", "2", "3", "4"]),
        "<r><b/></r>"
    );
    assert_eq!(edited(&["+. n", "-b"], document, &["1"]), "<r><a x='1'>t</a><n>1</n></r>");
    // The last text stands, and additions come behind it.
    assert_eq!(
        edited(&["+b n", "=b", "=b", "+b m"], document, &["1", "2", "3", "4"]),
        document.replace("<b/>", "<b>3<n>1</n><m>4</m></b>")
    );
    assert_eq!(edited(&["+a n", "=a"], document, &["1", "2"]), document.replace('t', "2<n>1</n>"));
    assert_eq!(
        edited(&["=a/@x", "=a/@x", "=b/@y", "=b/@y"], document, &["-", "3", "4", "5"]),
        document.replace("'1'", "'3'").replace("<b/", "<b y=\"5\"/")
    );
    assert_eq!(
        edited(&["=a/@x", "-a/@x", "=a/@y"], document, &["2", "3"]),
        document.replace(" x='1'", " y=\"3\"")
    );
    assert_eq!(edited(&["-a", "-a[1]", "-a/@x"], document, &[]), "<r><b/></r>");
}

#[test]
fn every_value_reads_back_or_is_refused() {
    let nasty = "]]>&<a/>\"'\r\n\t\u{85}\u{2028}😀\u{10ffff}";
    let output = edited(&["=a", "=a/@x", "=a/@y"], "<r><a x=''/></r>", &[nasty, nasty, nasty]);
    let read = ["a", "a/@x", "a/@y"].iter().fold(Job::new(), |job, path| job.field(path, FieldType::Text));
    assert_eq!(read.decode(&output).reading.values, [text(nasty), text(nasty), text(nasty)]);
    for (edit, at) in [("=a", "an element"), ("=a/@x", "an attribute"), ("=a/@y", "the attribute `y`")] {
        let detail = refused(&[edit], "<r><a x=''/></r>", &["a\u{1}"]);
        assert!(detail.starts_with(at) && detail.contains("U+0001"), "{detail}");
    }
}

#[test]
fn a_place_that_every_event_needs_makes_it_unreadable() {
    for (edit, document, code, detail) in [
        ("=a", "<r/>", ReasonCode::OutputPlace, "the place `a` of a change is not in the document"),
        ("=a/@x", "<r/>", ReasonCode::OutputPlace, "the place `a/@x` of a change is not in the document"),
        (
            "+a n",
            "<r><a/><a/></r>",
            ReasonCode::OutputPlace,
            "line 1, column 8: the place `a` of an addition is here once more; it may be in a document once",
        ),
        (
            "=a/@x",
            "<r><a/><a/></r>",
            ReasonCode::OutputPlace,
            "line 1, column 8: the place `a/@x` of a change is here once more; it may be in a document once",
        ),
    ] {
        let edits = Edits::new(Job::new(), &[edit]);
        let told = edits.write(document, &["1"]).unwrap_err();
        assert_eq!(told, SpliceError::Place { detail: detail.into() });
        let reason = edits.needed().decode(document.as_bytes()).remove(0).unwrap_err();
        assert_eq!((reason.code, reason.detail.as_str()), (code, detail));
    }
    assert_eq!(edited(&["=a/@x"], "<r><a/><a x='1'/></r>", &["2"]), "<r><a/><a x='2'/></r>");
}

#[test]
fn an_element_alone() {
    let job = Job::new().each("/u:r/e");
    let document = "\u{feff}<?xml version='1.0'?>\r\n<!-- c -->\n<p:r xmlns:p='urn:u' xmlns='urn:d' xmlns:q='urn:&quot;'>\n\
                    <e xmlns='' xmlns:z='urn:z' k='q:x'><f/>\r\n</e></p:r>\n<!-- d -->";
    let output = Edits::new(job.clone(), &[]).alone().write(document, &[]).unwrap();
    assert_eq!(
        output,
        "\u{feff}<?xml version='1.0'?>\r\n<e xmlns:p=\"urn:u\" xmlns:q=\"urn:&quot;\" xmlns='' xmlns:z='urn:z' k='q:x'><f/>\r\n</e>"
    );
    let output = Edits::new(job.clone(), &["+f n", "=@k", "-f/@x", "+. u:m"])
        .alone()
        .write(document, &["1", "2", "3"])
        .unwrap();
    assert!(output.ends_with("<e xmlns:p=\"urn:u\" xmlns:q=\"urn:&quot;\" xmlns='' xmlns:z='urn:z' k='2'><f><n>1</n></f>\r\n<p:m>3</p:m></e>"), "{output}");
    // Something hidden on the way is declared as it is, and no namespace at all is not declared.
    let hidden = "<p:r xmlns:p='urn:u' xmlns='urn:d'><x xmlns='' xmlns:p='urn:2'><e/></x></p:r>";
    let output = Edits::new(Job::new().each("/u:r/x/e"), &[]).alone().write(hidden, &[]).unwrap();
    assert_eq!(output, "<e xmlns:p=\"urn:2\"/>");
    let outside = Edits::new(job.clone(), &["=../@k"]).alone().write(document, &["1"]).unwrap_err();
    assert_eq!(
        outside.to_string(),
        "the event's element cannot be sent alone: an edit's place is outside it"
    );
    let gone = Edits::new(job, &["-."]).alone().write(document, &[]).unwrap_err();
    assert_eq!(gone.to_string(), "the event's element cannot be sent alone: it is removed itself");
}

#[test]
fn edits_keep_the_encoding() {
    let document = "<?xml version='1.0' encoding='UTF-16'?><r><a>ä😀</a><b x='€'/></r>";
    let utf_16: Vec<u8> =
        [0xfeff_u16].into_iter().chain(document.encode_utf16()).flat_map(u16::to_be_bytes).collect();
    let edits = Edits::new(Job::new(), &["=a", "=b/@x", "+b n"]);
    let output = edits.write_bytes(&utf_16, &["€😀", "ö", "n"]).unwrap();
    let units: Vec<u16> = output.chunks(2).map(|unit| u16::from_be_bytes([unit[0], unit[1]])).collect();
    assert_eq!(
        String::from_utf16(&units).unwrap(),
        "\u{feff}<?xml version='1.0' encoding='UTF-16'?><r><a>€😀</a><b x='ö'><n>n</n></b></r>"
    );
    let latin: Vec<u8> = "<?xml version='1.0' encoding='ISO-8859-1'?><r><a>ä</a><b x='1'/></r>"
        .chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect();
    let output = Edits::new(Job::new(), &["=a", "=b/@x"]).write_bytes(&latin, &["ö€", "ü"]).unwrap();
    let output: String = output.into_iter().map(char::from).collect();
    assert_eq!(output, "<?xml version='1.0' encoding='ISO-8859-1'?><r><a>ö&#8364;</a><b x='ü'/></r>");
}
