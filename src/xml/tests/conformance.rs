//! The W3C's XML conformance suite: every test of it that is about XML 1.0, fifth edition, with namespaces.
//!
//! What is not well-formed must be refused, what is valid or merely invalid must be accepted, and where the suite has the
//! document in canonical form, that must come of it. `conformance/deviations.tsv` names each test of which that does not
//! hold, with the reason; a test that is in it and passes is a failure, too. `scripts/xmlconf` fetches the suite.

use crate::job::Doctype;
use crate::model::{Reason, ReasonCode};
use crate::xml::document;
use crate::xml::fault::Fault;
use crate::xml::finder::{Element, Finder};
use crate::xml::reference::push_text;
use crate::xml::scope::Namespaces;
use crate::xml::walk::{Buffers, Walk};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Goes through a document.
fn pass(bytes: &[u8], finder: impl Finder) -> Result<(), Reason> {
    let opened = document::open(bytes, 1 << 26)?;
    let document = opened.text();
    let walk = Walk {
        namespaces: &Namespaces::new(),
        doctype: Doctype::Read,
        depth_max: 256,
        document,
        buffers: &mut Buffers::default(),
        finder,
    };
    walk.run().map_err(|fault| fault.into_reason(document.text))
}

/// Writes the canonical form that the suite uses: no declaration, no DOCTYPE, attributes in order of their names.
#[derive(Default)]
struct Canonical {
    out: String,
    open: Vec<String>,
}

impl Canonical {
    fn push(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.out.push_str("&amp;"),
                '<' => self.out.push_str("&lt;"),
                '>' => self.out.push_str("&gt;"),
                '"' => self.out.push_str("&quot;"),
                '\t' | '\n' | '\r' => _ = write!(self.out, "&#{};", u32::from(c)),
                c => self.out.push(c),
            }
        }
    }
}

impl Finder for &mut Canonical {
    fn open(&mut self, element: &Element<'_>) -> Result<(), Fault> {
        self.out.push('<');
        self.out.push_str(element.written());
        let attributes: BTreeMap<&str, &str> = (0..element.attributes.len())
            .map(|index| (element.attribute(index), element.value(index)))
            .collect();
        for (name, value) in attributes {
            _ = write!(self.out, " {name}=\"");
            self.push(value);
            self.out.push('"');
        }
        self.out.push('>');
        self.open.push(element.written().to_owned());
        Ok(())
    }

    fn text(&mut self, raw: &str, _at: usize) {
        let mut text = String::new();
        push_text(raw, &mut text);
        self.push(&text);
    }

    fn expanded(&mut self, text: &str) {
        self.push(text);
    }

    fn close(&mut self, _tag: Range<usize>) {
        let name = self.open.pop().unwrap();
        _ = write!(self.out, "</{name}>");
    }
}

/// The suite's canonical form without what a finder does not hear of: instructions, and the notations of a DOCTYPE.
fn without_instructions(canonical: &str) -> String {
    let mut rest = canonical.to_owned();
    if let Some(start) = rest.find("<!DOCTYPE") {
        let end = rest.find("]>\n").unwrap() + "]>\n".len();
        rest.replace_range(start..end, "");
    }
    while let Some(start) = rest.find("<?") {
        let end = rest.find("?>").unwrap() + "?>".len();
        rest.replace_range(start..end, "");
    }
    rest
}

/// One test of the suite.
#[derive(Debug)]
struct Test {
    attributes: BTreeMap<String, String>,
    /// The folder that its files are named from.
    base: PathBuf,
}

impl Test {
    fn of(&self, attribute: &str) -> &str {
        self.attributes.get(attribute).map_or("", String::as_str)
    }

    /// Why it is not about what is read here.
    fn is_other(&self) -> Option<&'static str> {
        let recommendation = self.of("RECOMMENDATION");
        if recommendation.ends_with("1.1") || self.of("VERSION") == "1.1" {
            return Some("XML 1.1");
        }
        let editions = self.of("EDITION");
        (!editions.is_empty() && !editions.contains('5')).then_some("other editions of XML 1.0")
    }

    /// Whether it needs something that is not in the document.
    fn is_external(&self) -> bool {
        !matches!(self.of("ENTITIES"), "none" | "")
    }
}

/// Finds the tests of the suite's list.
#[derive(Default)]
struct Listed {
    bases: Vec<PathBuf>,
    tests: Vec<Test>,
}

impl Finder for &mut Listed {
    fn open(&mut self, element: &Element<'_>) -> Result<(), Fault> {
        let attributes: BTreeMap<String, String> = (0..element.attributes.len())
            .map(|index| (element.attribute(index).to_owned(), element.value(index).to_owned()))
            .collect();
        let outer = self.bases.last().cloned().unwrap_or_default();
        let base = attributes.get("xml:base").map_or(outer.clone(), |base| outer.join(base));
        if element.local() == "TEST" {
            self.tests.push(Test { attributes, base: outer });
        }
        self.bases.push(base);
        Ok(())
    }

    fn text(&mut self, _raw: &str, _at: usize) {}

    fn expanded(&mut self, _text: &str) {}

    fn close(&mut self, _tag: Range<usize>) {
        self.bases.pop();
    }
}

/// What came of a test.
#[derive(Debug, PartialEq)]
enum Outcome {
    Passed,
    Skipped(&'static str),
    Failed(String),
}

fn outcome(test: &Test, suite: &Path) -> Outcome {
    if let Some(why) = test.is_other() {
        return Outcome::Skipped(why);
    }
    let folder = suite.join(&test.base);
    let path = folder.join(test.of("URI"));
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut canonical = Canonical::default();
    let result = pass(&bytes, &mut canonical);
    let is_external = |reason: &Reason| test.is_external() && reason.code == ReasonCode::Doctype;
    match (test.of("TYPE"), result) {
        ("not-wf", Err(reason)) if is_external(&reason) => Outcome::Skipped("external entities"),
        ("not-wf", Err(_)) | ("error", _) => Outcome::Passed,
        ("not-wf", Ok(())) if test.is_external() => Outcome::Skipped("external entities"),
        ("not-wf", Ok(())) => Outcome::Failed("accepted".to_owned()),
        (_, Err(reason)) if is_external(&reason) => Outcome::Skipped("external entities"),
        // Names with colons that are none with namespaces.
        (_, Err(_)) if test.of("NAMESPACE") == "no" => Outcome::Skipped("without namespaces"),
        (_, Err(reason)) => Outcome::Failed(reason.to_string()),
        (_, Ok(())) => same_canonical(test, &folder, &canonical.out),
    }
}

fn same_canonical(test: &Test, folder: &Path, found: &str) -> Outcome {
    let output = test.of("OUTPUT");
    if output.is_empty() || test.is_external() {
        return Outcome::Passed;
    }
    let expected = without_instructions(&fs::read_to_string(folder.join(output)).unwrap());
    if expected.trim_end_matches('\n') == found {
        Outcome::Passed
    } else {
        Outcome::Failed(format!("reads as {found:?} and not as {expected:?}"))
    }
}

#[test]
fn the_suite_of_the_w3c() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/xmlconf");
    let list = fs::read(suite.join("cleaned/xmlconf-flattened.xml"))
        .unwrap_or_else(|error| panic!("{}: {error}: scripts/xmlconf fetches the suite", suite.display()));
    let mut listed = Listed::default();
    pass(&list, &mut listed).unwrap();
    assert_eq!(listed.tests.len(), 2585);

    let mut counts: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let mut failed: BTreeMap<&str, String> = BTreeMap::new();
    for test in &listed.tests {
        let outcome = outcome(test, &suite.join("xmlconf"));
        let kind = test.of("TYPE");
        let (category, column) = match &outcome {
            Outcome::Passed => (kind.to_owned(), 0),
            Outcome::Failed(_) => (kind.to_owned(), 1),
            Outcome::Skipped(why) => (format!("{kind}, {why}"), 2),
        };
        counts.entry(category).or_default()[column] += 1;
        if let Outcome::Failed(how) = outcome {
            failed.insert(test.of("ID"), how);
        }
    }
    for (category, [passed, failed, skipped]) in &counts {
        println!("{category}: {passed} passed, {failed} deviate, {skipped} skipped");
    }
    let known: BTreeSet<&str> = include_str!("conformance/deviations.tsv")
        .lines()
        .skip(1)
        .map(|line| line.split_once('\t').expect("a test and a reason").0)
        .collect();
    let new: Vec<_> = failed.iter().filter(|(id, _)| !known.contains(*id)).collect();
    let gone: Vec<_> = known.iter().filter(|id| !failed.contains_key(*id)).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "new deviations: {new:#?}\ndeviations that are none: {gone:#?}"
    );
}
