//! `[output]`: the document that goes out.

use super::checker::{Checker, Text};
use super::names::is_nc_name;
use super::namespaces::Namespaces;
use super::references::Names;
use super::section::{Given, Section};
use super::section_source::topic;
use super::sql::parameter_name;
use super::{Addition, Content, Document, Edit, End, On, OutputSpec, Path, TopicChoice, ValueRef};

const ADD_HINT: &str = "write [[output.add]] and at = \"...\", element = \"...\" below it";

/// Reads the section; the outer `None`: errors are recorded.
pub(super) fn read(
    checker: &mut Checker<'_>,
    root: &mut Section<'_>,
    namespaces: &Namespaces,
    names: &mut Names,
    topics: &[String],
) -> Option<Option<(OutputSpec, Vec<String>)>> {
    let Some(entry) = root.get("output") else {
        checker.default("output", "none", Some("the job only stores"));
        return Some(None);
    };
    let mut section = Section::of(checker, &entry, None)?;
    let topic = output_topic(checker, &mut section, topics);
    let key = key(checker, &mut section, names);
    let document = document(checker, &mut section);
    let additions = additions(checker, &mut section, namespaces, names);
    section.not_built(checker, "template_file", "leave it out: the output is the input with [[output.add]]");
    section.not_built(checker, "set", "leave it out: [[output.add]] adds elements");
    section.not_built(checker, "remove", "leave it out: [[output.add]] adds elements");
    section.finish(checker);
    document?;
    let output = OutputSpec {
        name: None,
        topic: TopicChoice::Fixed(0),
        key: key?,
        on: On::Document,
        when: None,
        document: Document::Input,
        edits: additions?.into_iter().map(Edit::Add).collect(),
    };
    Some(Some((output, vec![topic?])))
}

fn output_topic(checker: &mut Checker<'_>, section: &mut Section<'_>, topics: &[String]) -> Option<String> {
    let hint = "write topic = \"...\", or leave [output] out: then the job only stores";
    let entry = section.required(checker, "topic", hint)?;
    let text = checker.text(&entry)?;
    if !topic(checker, &text) {
        return None;
    }
    if topics.contains(&text.value) {
        let hint = "the job would read its own output for ever: take another topic".to_owned();
        checker.error_of(&text, format!("{} is one of source.topics", text.quoted()), Some(hint));
        return None;
    }
    checker.given_text(&text, format!("{:?}", text.value));
    Some(text.value)
}

fn key(checker: &mut Checker<'_>, section: &mut Section<'_>, names: &mut Names) -> Option<Vec<ValueRef>> {
    let Some(entry) = section.get("key") else {
        checker.default(&section.key_of("key"), "the ordering key", None);
        return Some(Vec::new());
    };
    let hint = Some("write key = [\":id\"]; leave it out for the ordering key".to_owned());
    let entries = checker.list(&entry, "a list of references", hint.clone())?;
    if entries.is_empty() {
        checker.error(entry.at(), &entry.key, "must have at least one reference, got none", hint);
        return None;
    }
    let texts: Vec<Option<Text>> = entries.iter().map(|entry| checker.text(entry)).collect();
    let mut parts = Vec::new();
    for text in texts.iter().flatten() {
        if text.value.starts_with(':') {
            parts.push(reference(checker, text, names));
        } else {
            let hint = Some("write `:` and the name of a field, such as \":id\"".to_owned());
            checker.error_of(text, format!("must begin with `:`, got {}", text.quoted()), hint);
            parts.push(None);
        }
    }
    let whole = texts.iter().all(Option::is_some);
    let texts: Vec<Text> = texts.into_iter().flatten().collect();
    let shown: Vec<&str> = texts.iter().map(|text| text.value.as_str()).collect();
    checker.given_texts(&entry.key, entry.at(), &texts, format!("{shown:?}"));
    let parts: Option<Vec<ValueRef>> = parts.into_iter().collect();
    parts.filter(|_| whole)
}

fn document(checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<()> {
    let text = match section.text(checker, "document") {
        Given::Wrong => return None,
        Given::No => {
            checker.default(&section.key_of("document"), "\"input\"", None);
            return Some(());
        }
        Given::Right(text) => text,
    };
    if text.value == "input" {
        checker.given_text(&text, "\"input\"");
        return Some(());
    }
    let hint = Some("built is \"input\": the document as it came, with the additions".to_owned());
    if text.value == "element" || text.value == "template" {
        checker.error_of(&text, format!("{} is not built yet in this version", text.quoted()), hint);
    } else {
        checker.error_of(&text, format!("must be \"input\", got {}", text.quoted()), hint);
    }
    None
}

fn additions(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    namespaces: &Namespaces,
    names: &mut Names,
) -> Option<Vec<Addition>> {
    let Some(entry) = section.get("add") else {
        checker.default(&section.key_of("add"), "[]", Some("the document goes out as it came"));
        return Some(Vec::new());
    };
    let mut additions = Vec::new();
    for entry in checker.list(&entry, "a list of tables", Some(ADD_HINT.to_owned()))? {
        let table = Section::of(checker, &entry, Some(ADD_HINT.to_owned()));
        additions.push(table.and_then(|table| addition(checker, table, namespaces, names)));
    }
    additions.into_iter().collect()
}

fn addition(
    checker: &mut Checker<'_>,
    mut table: Section<'_>,
    namespaces: &Namespaces,
    names: &mut Names,
) -> Option<Addition> {
    let at = table
        .required(
            checker,
            "at",
            "write the element that gets it: at = \"s:customer\", or \".\" for the event's element",
        )
        .and_then(|entry| checker.text(&entry))
        .and_then(|text| place(checker, &text, namespaces));
    let element = table
        .required(checker, "element", "write the added element's name: element = \"s:name\"")
        .and_then(|entry| checker.text(&entry))
        .and_then(|text| {
            checker.given_text(&text, format!("{:?}", text.value));
            namespaces.element(checker, &text)
        });
    let text = match table.text(checker, "text") {
        Given::No => {
            checker.default(&table.key_of("text"), "none", None);
            Some(None)
        }
        Given::Wrong => None,
        Given::Right(text) => content(checker, &text, names).map(Some),
    };
    let attributes = attributes(checker, &mut table, names);
    table.finish(checker);
    let (element, prefix) = element?;
    Some(Addition { at: at?, element, prefix, text: text?, attributes: attributes? })
}

fn place(checker: &mut Checker<'_>, text: &Text, namespaces: &Namespaces) -> Option<Path> {
    checker.given_text(text, format!("{:?}", text.value));
    let path = namespaces.path(checker, text)?;
    if path.branches.iter().any(|branch| branch.end != End::Element) || text.value.ends_with("text()") {
        let hint = Some("leave out the last step: the element is added as its last child".to_owned());
        checker.error_of(text, format!("must be the path of an element, got {}", text.quoted()), hint);
        return None;
    }
    Some(path)
}

fn attributes(
    checker: &mut Checker<'_>,
    table: &mut Section<'_>,
    names: &mut Names,
) -> Option<Vec<(String, Content)>> {
    let Some(entry) = table.get("attributes") else {
        checker.default(&table.key_of("attributes"), "{}", None);
        return Some(Vec::new());
    };
    let hint = Some("write attributes = { tier = \":customer.tier\" }".to_owned());
    let section = Section::of(checker, &entry, hint)?;
    let mut attributes = Vec::new();
    for entry in section.entries() {
        let name_right = attribute_name(checker, entry.key_at, &entry.key, &entry.name);
        let content = checker.text(&entry).and_then(|text| content(checker, &text, names));
        attributes.push(content.filter(|_| name_right).map(|content| (entry.name, content)));
    }
    attributes.into_iter().collect()
}

fn attribute_name(checker: &mut Checker<'_>, at: usize, key: &str, name: &str) -> bool {
    if name == "xmlns" || name.starts_with("xmlns:") {
        let hint =
            Some("leave it out: namespaces are declared where the added element needs them".to_owned());
        checker.error(at, key, "a namespace declaration is not an attribute", hint);
    } else if name.split_once(':').is_some_and(|(prefix, local)| is_nc_name(prefix) && is_nc_name(local)) {
        let hint = Some("built are attributes without a prefix".to_owned());
        checker.error(at, key, "attributes with a prefix are not built yet in this version", hint);
    } else if !is_nc_name(name) {
        checker.error(at, key, "is not an XML name", None);
    } else {
        return true;
    }
    false
}

/// `":field"` is a reference, `"::text"` the text `:text`, and anything else a text as it is.
fn content(checker: &mut Checker<'_>, text: &Text, names: &mut Names) -> Option<Content> {
    checker.given_text(text, format!("{:?}", text.value));
    if text.value.starts_with("::") {
        return literal(checker, text, text.value.get(1..).unwrap_or(""));
    }
    if text.value.starts_with(':') {
        return reference(checker, text, names).map(Content::Value);
    }
    if names.is_name(&text.value) {
        let message = format!("{} is a name without its `:`", text.quoted());
        let hint =
            format!("did you mean \":{}\"? a text that only looks like it needs another word", text.value);
        checker.error_of(text, message, (!text.has_variables()).then_some(hint));
        return None;
    }
    literal(checker, text, &text.value)
}

fn literal(checker: &mut Checker<'_>, text: &Text, literal: &str) -> Option<Content> {
    let legal = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    if !literal.chars().all(|c| legal(c) && c != '\u{FFFE}' && c != '\u{FFFF}') {
        checker.error_of(text, "has a character that XML does not allow", None);
        return None;
    }
    Some(Content::Literal(literal.to_owned()))
}

/// A text that is one reference, its colon included.
fn reference(checker: &mut Checker<'_>, text: &Text, names: &mut Names) -> Option<ValueRef> {
    let name = text.value.strip_prefix(':').unwrap_or("");
    if name.is_empty() || parameter_name(name) != name {
        let hint = Some("write \":field\", \":step.column\" or \":_topic\"; a text that begins with `:` is written \"::...\"".to_owned());
        checker.error_of(text, format!("must be one reference, got {}", text.quoted()), hint);
        return None;
    }
    match names.resolve(name, None) {
        Ok(value) => Some(value),
        Err((message, hint)) => {
            let message =
                if text.has_variables() { format!("nothing gives {}", text.quoted()) } else { message };
            checker.error_of(text, message, hint.filter(|_| !text.has_variables()));
            None
        }
    }
}
