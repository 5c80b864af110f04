//! `[output]` or `[[output]]`: what goes out of an event.
//!
//! In:        the tables of the outputs, and what references may name
//! Out:       an [`OutputSpec`] for each, and the topics that any of them may go to
//! Fails:     a topic that the job reads; keys that do not go together
//! Not here:  changes of the document (`section_edits`); a template's text is read by whoever loads the job

use super::checker::{Checker, Text};
use super::choices::choice_or;
use super::conditions;
use super::names::identifier_problem;
use super::namespaces::Namespaces;
use super::references::{Names, Place};
use super::section::{Given, Section};
use super::section_edits;
use super::section_source::topic;
use super::section_steps::on;
use super::sql::parameter_name;
use super::{Document, On, OutputSpec, Template, TopicChoice, ValueRef};
use toml::de::DeValue;

const OUTPUT_HINT: &str = "write [output] or [[output]], and topic = \"...\" below it";

/// What the job sends.
pub(super) struct Outputs {
    /// None: errors are recorded.
    pub(super) specs: Option<Vec<OutputSpec>>,
    /// Each once.
    pub(super) topics: Vec<String>,
}

/// What an output's keys are read with.
pub(super) struct Context<'a> {
    pub(super) namespaces: &'a Namespaces,
    pub(super) names: &'a mut Names,
    /// `source.topics`
    inputs: &'a [String],
    /// Every topic that an output may go to, so far.
    topics: Vec<String>,
    /// `name` of the outputs so far.
    output_names: Vec<String>,
}

/// What goes out as the record's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The whole document.
    Input,
    /// The event's element.
    Element,
    /// A new one.
    Template,
    /// Nothing: the output is for tombstones.
    Nothing,
}

const KINDS: [(&str, Kind); 3] =
    [("input", Kind::Input), ("element", Kind::Element), ("template", Kind::Template)];

/// Reads all outputs.
pub(super) fn read(
    checker: &mut Checker<'_>,
    root: &mut Section<'_>,
    namespaces: &Namespaces,
    names: &mut Names,
    inputs: &[String],
) -> Outputs {
    let mut context = Context { namespaces, names, inputs, topics: Vec::new(), output_names: Vec::new() };
    let specs = outputs(checker, root, &mut context);
    Outputs { specs, topics: context.topics }
}

fn outputs(
    checker: &mut Checker<'_>,
    root: &mut Section<'_>,
    context: &mut Context<'_>,
) -> Option<Vec<OutputSpec>> {
    let Some(entry) = root.get("output") else {
        root.left_out(checker, "output", Some("the job only stores"));
        return Some(Vec::new());
    };
    if !matches!(entry.value.get_ref(), DeValue::Array(_)) {
        let section = Section::of(checker, &entry, Some(OUTPUT_HINT.to_owned()))?;
        return Some(vec![output(checker, section, context)?]);
    }
    let entries = checker.list(&entry, "a table or a list of tables", Some(OUTPUT_HINT.to_owned()))?;
    if entries.is_empty() {
        let hint = Some("leave it out: then the job only stores".to_owned());
        checker.error(entry.at(), &entry.key, "must have at least one table, got none", hint);
        return None;
    }
    let mut outputs = Vec::new();
    for entry in &entries {
        let section = Section::of(checker, entry, Some(OUTPUT_HINT.to_owned()));
        outputs.push(section.and_then(|section| output(checker, section, context)));
    }
    outputs.into_iter().collect()
}

fn output(
    checker: &mut Checker<'_>,
    mut section: Section<'_>,
    context: &mut Context<'_>,
) -> Option<OutputSpec> {
    let name = name(checker, &mut section, context);
    let on = on(checker, &mut section, context.names);
    let place = Place { step: None, rows_of: None, on: on.unwrap_or(On::Any) };
    let topic = topic_choice(checker, &mut section, context, place);
    let key = key(checker, &mut section, context.names, place);
    let when = match section.text(checker, "when") {
        Given::Wrong => None,
        Given::No => {
            section.left_out(checker, "when", None);
            Some(None)
        }
        Given::Right(text) => conditions::read(checker, &text, context.names, place).map(Some),
    };
    let kind = kind(checker, &mut section, on);
    let template = template(checker, &mut section, kind);
    let edits = section_edits::read(checker, &mut section, context, place, kind);
    section.finish(checker);
    let document = match (kind?, template?) {
        (Kind::Input, _) => Document::Input,
        (Kind::Element, _) => Document::Element,
        (Kind::Template, Some(template)) => Document::Template(template),
        (Kind::Template, None) => return None,
        (Kind::Nothing, _) => Document::Nothing,
    };
    Some(OutputSpec { name: name?, topic: topic?, key: key?, on: on?, when: when?, document, edits: edits? })
}

/// The outer `None`: it is wrong.
fn name(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    context: &mut Context<'_>,
) -> Option<Option<String>> {
    let text = match section.text(checker, "name") {
        Given::Wrong => return None,
        Given::No => {
            section.left_out(checker, "name", None);
            return Some(None);
        }
        Given::Right(text) => text,
    };
    if let Some(problem) = identifier_problem(&text.value) {
        let message = format!("{problem}, got {}", text.quoted());
        checker.error_of(&text, message, Some("messages name the output by it".to_owned()));
        return None;
    }
    if context.output_names.contains(&text.value) {
        let hint = Some("give each output a name of its own, or none".to_owned());
        checker.error_of(&text, format!("an earlier output is named {}, too", text.quoted()), hint);
        return None;
    }
    checker.given_text(&text, format!("{:?}", text.value));
    context.output_names.push(text.value.clone());
    Some(Some(text.value))
}

/// A topic's name, or the value that names it, and what it may name.
fn topic_choice(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    context: &mut Context<'_>,
    place: Place,
) -> Option<TopicChoice> {
    let hint = "write topic = \"...\", or leave [output] out: then the job only stores";
    let text = section.required(checker, "topic", hint).and_then(|entry| checker.text(&entry));
    let allowed = section.get("topics");
    let text = text?;
    if !text.value.starts_with(':') {
        if let Some(entry) = allowed {
            let hint = Some("leave it out, or write topic = \":field\"".to_owned());
            checker.error(entry.key_at, &entry.key, "only a topic that a field names has `topics`", hint);
            return None;
        }
        section.left_out(checker, "topics", None);
        let index = output_topic(checker, &text, context)?;
        checker.given_text(&text, format!("{:?}", text.value));
        return Some(TopicChoice::Fixed(index));
    }
    let value = reference(checker, &text, context.names, place);
    checker.given_text(&text, format!("{:?}", text.value));
    let hint = "write topics = [\"...\"]: the topics that the field may name";
    let Some(entry) = allowed else {
        checker.error(section.at, &section.key_of("topics"), "is missing", Some(hint.to_owned()));
        return None;
    };
    let entries = checker.list(&entry, "a list of names of topics", Some(hint.to_owned()))?;
    if entries.is_empty() {
        checker.error(
            entry.at(),
            &entry.key,
            "must have at least one topic, got none",
            Some(hint.to_owned()),
        );
        return None;
    }
    let (mut texts, mut allowed) = (Vec::new(), Vec::new());
    for entry in &entries {
        let text = checker.text(entry);
        let index = text.as_ref().and_then(|text| output_topic(checker, text, context));
        if let (Some(text), Some(true)) = (&text, index.map(|index| allowed.contains(&Some(index)))) {
            let hint = Some("name each topic once".to_owned());
            checker.error_of(text, format!("{} is there twice", text.quoted()), hint);
        }
        allowed.push(index);
        texts.extend(text);
    }
    let shown: Vec<&str> = texts.iter().map(|text| text.value.as_str()).collect();
    checker.given_texts(&entry.key, entry.at(), &texts, format!("{shown:?}"));
    Some(TopicChoice::By { value: value?, allowed: allowed.into_iter().collect::<Option<_>>()? })
}

/// The index of a topic that an output may go to; `None`: the error is recorded.
fn output_topic(checker: &mut Checker<'_>, text: &Text, context: &mut Context<'_>) -> Option<usize> {
    if !topic(checker, text) {
        return None;
    }
    if context.inputs.contains(&text.value) {
        let hint = "the job would read its own output for ever: take another topic".to_owned();
        checker.error_of(text, format!("{} is one of source.topics", text.quoted()), Some(hint));
        return None;
    }
    let topics = &mut context.topics;
    Some(topics.iter().position(|topic| *topic == text.value).unwrap_or_else(|| {
        topics.push(text.value.clone());
        topics.len() - 1
    }))
}

fn key(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    names: &mut Names,
    place: Place,
) -> Option<Vec<ValueRef>> {
    let Some(entry) = section.get("key") else {
        section.left_out(checker, "key", None);
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
            parts.push(reference(checker, text, names, place));
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

fn kind(checker: &mut Checker<'_>, section: &mut Section<'_>, on: Option<On>) -> Option<Kind> {
    if on != Some(On::Tombstone) {
        return choice_or(checker, section, "document", &KINDS);
    }
    let Some(entry) = section.get("document") else { return Some(Kind::Nothing) };
    no_document(checker, entry.key_at, &entry.key);
    Some(Kind::Nothing)
}

/// Refuses a key of the document in an output for tombstones.
pub(super) fn no_document(checker: &mut Checker<'_>, at: usize, key: &str) {
    let hint = Some("leave it out: what goes out has no value, either".to_owned());
    checker.error(at, key, "an output for tombstones has no document", hint);
}

/// The outer `None`: it is wrong.
fn template(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    kind: Option<Kind>,
) -> Option<Option<Template>> {
    if kind == Some(Kind::Template) {
        let hint = "write the template's path, relative to the job file: template_file = \"order.xml.j2\"";
        let entry = section.required(checker, "template_file", hint)?;
        let text = checker.text(&entry)?;
        if text.value.is_empty() {
            checker.error_of(&text, "is empty", Some(hint.to_owned()));
            return None;
        }
        checker.given_text(&text, format!("{:?}", text.value));
        return Some(Some(Template { file: text.value, source: String::new() }));
    }
    let Some(entry) = section.get("template_file") else {
        section.left_out(checker, "template_file", None);
        return Some(None);
    };
    match kind {
        Some(Kind::Nothing) => no_document(checker, entry.key_at, &entry.key),
        Some(_) => {
            let hint = Some("write document = \"template\", or leave it out".to_owned());
            checker.error(entry.key_at, &entry.key, "only document = \"template\" has a template", hint);
        }
        None => {}
    }
    None
}

/// A text that is one reference, its colon included.
pub(super) fn reference(
    checker: &mut Checker<'_>,
    text: &Text,
    names: &mut Names,
    place: Place,
) -> Option<ValueRef> {
    let name = text.value.strip_prefix(':').unwrap_or("");
    if name.is_empty() || parameter_name(name) != name {
        let hint = Some("write \":field\", \":step.column\" or \":_topic\"; a text that begins with `:` is written \"::...\"".to_owned());
        checker.error_of(text, format!("must be one reference, got {}", text.quoted()), hint);
        return None;
    }
    match names.resolve(name, place) {
        Ok(value) => Some(value),
        Err((message, hint)) => {
            let message =
                if text.has_variables() { format!("nothing gives {}", text.quoted()) } else { message };
            checker.error_of(text, message, hint.filter(|_| !text.has_variables()));
            None
        }
    }
}
