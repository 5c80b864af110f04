//! `[[output.add]]`, `[[output.set]]` and `output.remove`: what is changed of the document that goes out.
//!
//! In:        an output's tables, and what kind of document it sends
//! Out:       its edits: additions first, then what is set, then what is removed
//! Fails:     a place outside of what goes out, the event's element itself taken away, names that XML does not allow
//! Not here:  how a document is written (`xml`)

use super::checker::{Checker, Text};
use super::names::is_nc_name;
use super::namespaces::{Each, Namespaces};
use super::paths::{self, RawEnd};
use super::references::{Names, Place};
use super::section::{Given, Section};
use super::section_output::{Context, Kind, no_document, reference};
use super::{Addition, Base, Branch, Content, Edit, End, Path, SetTo};

const ADD_HINT: &str = "write [[output.add]] and at = \"...\", element = \"...\" below it";
const SET_HINT: &str = "write [[output.set]] and at = \"...\", text = \"...\" below it";

/// Reads an output's edits; `None`: errors are recorded. `kind` is `None` where the document is wrong.
pub(super) fn read(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    context: &mut Context<'_>,
    place: Place,
    kind: Option<Kind>,
) -> Option<Vec<Edit>> {
    if let Some(kind @ (Kind::Template | Kind::Nothing)) = kind {
        return none_allowed(checker, section, kind).then(Vec::new);
    }
    let namespaces = context.namespaces;
    let mut edits = Edits { namespaces, names: &mut *context.names, place, kind };
    let additions = edits.list(checker, section, "add", ADD_HINT, Edits::addition);
    let sets = edits.list(checker, section, "set", SET_HINT, Edits::set_to);
    let removals = edits.removals(checker, section);
    let (additions, sets, removals) = (additions?, sets?, removals?);
    Some([additions, sets, removals].concat())
}

/// Whether none is given, where none may be.
fn none_allowed(checker: &mut Checker<'_>, section: &mut Section<'_>, kind: Kind) -> bool {
    let mut none = true;
    for name in ["add", "set", "remove"] {
        let Some(entry) = section.get(name) else { continue };
        none = false;
        if kind == Kind::Nothing {
            no_document(checker, entry.key_at, &entry.key);
        } else {
            let hint = Some("write it into the template".to_owned());
            checker.error(entry.key_at, &entry.key, "a template's document is not changed further", hint);
        }
    }
    none
}

struct Edits<'a> {
    namespaces: &'a Namespaces,
    names: &'a mut Names,
    place: Place,
    kind: Option<Kind>,
}

impl Edits<'_> {
    fn list(
        &mut self,
        checker: &mut Checker<'_>,
        section: &mut Section<'_>,
        name: &'static str,
        hint: &str,
        mut read: impl FnMut(&mut Self, &mut Checker<'_>, Section<'_>) -> Option<Edit>,
    ) -> Option<Vec<Edit>> {
        let Some(entry) = section.get(name) else {
            let note = (name == "add").then_some("the document goes out as it came");
            section.left_out(checker, name, note);
            return Some(Vec::new());
        };
        let mut edits = Vec::new();
        for entry in checker.list(&entry, "a list of tables", Some(hint.to_owned()))? {
            let table = Section::of(checker, &entry, Some(hint.to_owned()));
            edits.push(table.and_then(|table| read(self, checker, table)));
        }
        edits.into_iter().collect()
    }

    fn addition(&mut self, checker: &mut Checker<'_>, mut table: Section<'_>) -> Option<Edit> {
        let hint = "write the element that gets it: at = \"s:customer\", or \".\" for the event's element";
        let at = self.at(checker, &mut table, hint).and_then(|(text, path)| {
            let is_element = path.branches.iter().all(|branch| branch.end == End::Element);
            if is_element && !ends_at_text(&text) {
                return Some(path);
            }
            let hint = Some("leave out the last step: the element is added as its last child".to_owned());
            checker.error_of(&text, format!("must be the path of an element, got {}", text.quoted()), hint);
            None
        });
        let element = table
            .required(checker, "element", "write the added element's name: element = \"s:name\"")
            .and_then(|entry| checker.text(&entry))
            .and_then(|text| {
                checker.given_text(&text, format!("{:?}", text.value));
                self.namespaces.element(checker, &text)
            });
        let text = match table.text(checker, "text") {
            Given::No => {
                table.left_out(checker, "text", None);
                Some(None)
            }
            Given::Wrong => None,
            Given::Right(text) => self.content(checker, &text).map(Some),
        };
        let attributes = self.attributes(checker, &mut table);
        table.finish(checker);
        let (element, prefix) = element?;
        Some(Edit::Add(Addition { at: at?, element, prefix, text: text?, attributes: attributes? }))
    }

    fn set_to(&mut self, checker: &mut Checker<'_>, mut table: Section<'_>) -> Option<Edit> {
        let hint = "write what is replaced: at = \"s:status\" or at = \"s:status/@code\"";
        let at = self.at(checker, &mut table, hint).and_then(|(text, path)| {
            if !path.branches.iter().any(|branch| matches!(branch.end, End::Count(_))) {
                return Some(path);
            }
            let hint = Some("write at = \"s:status\" or at = \"s:status/@code\"".to_owned());
            let message = format!("must be the path of an element or attribute, got {}", text.quoted());
            checker.error_of(&text, message, hint);
            None
        });
        let to = table
            .required(checker, "text", "write what it becomes: text = \":field\" or a fixed text")
            .and_then(|entry| checker.text(&entry))
            .and_then(|text| self.content(checker, &text));
        table.finish(checker);
        Some(Edit::Set(SetTo { at: at?, to: to? }))
    }

    fn removals(&mut self, checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<Vec<Edit>> {
        let Some(entry) = section.get("remove") else {
            section.left_out(checker, "remove", None);
            return Some(Vec::new());
        };
        let hint = Some("write remove = [\"s:internal\", \"s:customer/@secret\"]".to_owned());
        let entries = checker.list(&entry, "a list of paths", hint)?;
        let (mut texts, mut paths): (Vec<Text>, Vec<Option<Path>>) = (Vec::new(), Vec::new());
        for entry in &entries {
            let text = checker.text(entry);
            paths.push(text.as_ref().and_then(|text| self.removed(checker, text)));
            texts.extend(text);
        }
        let shown: Vec<&str> = texts.iter().map(|text| text.value.as_str()).collect();
        checker.given_texts(&entry.key, entry.at(), &texts, format!("{shown:?}"));
        Some(paths.into_iter().collect::<Option<Vec<Path>>>()?.into_iter().map(Edit::Remove).collect())
    }

    fn removed(&self, checker: &mut Checker<'_>, text: &Text) -> Option<Path> {
        let path = self.place(checker, text)?;
        let counts = path.branches.iter().any(|branch| matches!(branch.end, End::Count(_)));
        if counts || ends_at_text(text) {
            let message = format!("must be the path of elements or attributes, got {}", text.quoted());
            let hint = Some("[[output.set]] with text = \"\" empties an element".to_owned());
            checker.error_of(text, message, hint);
            return None;
        }
        if path.branches.iter().any(|branch| takes_the_event(branch, &self.namespaces.each)) {
            let hint = Some("an output that is not to be sent has a condition: when = \"...\"".to_owned());
            checker.error_of(text, "would take away the event's element itself", hint);
            return None;
        }
        Some(path)
    }

    /// Reads `at`.
    fn at(&self, checker: &mut Checker<'_>, table: &mut Section<'_>, hint: &str) -> Option<(Text, Path)> {
        let entry = table.required(checker, "at", hint)?;
        let text = checker.text(&entry)?;
        checker.given_text(&text, format!("{:?}", text.value));
        let path = self.place(checker, &text)?;
        Some((text, path))
    }

    /// Reads the path of a place that is in what goes out.
    fn place(&self, checker: &mut Checker<'_>, text: &Text) -> Option<Path> {
        let path = self.namespaces.path(checker, text)?;
        let is_inside = |branch: &Branch| branch.from == Base::Here { up: 0 };
        if self.kind == Some(Kind::Element) && !path.branches.iter().all(is_inside) {
            let hint =
                "document = \"element\" sends the event's element alone: write a path downwards from it"
                    .to_owned();
            checker.error_of(text, format!("{} is outside of what goes out", text.quoted()), Some(hint));
            return None;
        }
        Some(path)
    }

    fn attributes(
        &mut self,
        checker: &mut Checker<'_>,
        table: &mut Section<'_>,
    ) -> Option<Vec<(String, Content)>> {
        let Some(entry) = table.get("attributes") else {
            table.left_out(checker, "attributes", None);
            return Some(Vec::new());
        };
        let hint = Some("write attributes = { tier = \":customer.tier\" }".to_owned());
        let section = Section::of(checker, &entry, hint)?;
        let mut attributes = Vec::new();
        for entry in section.entries() {
            let name_right = attribute_name(checker, entry.key_at, &entry.key, &entry.name);
            let content = checker.text(&entry).and_then(|text| self.content(checker, &text));
            attributes.push(content.filter(|_| name_right).map(|content| (entry.name, content)));
        }
        attributes.into_iter().collect()
    }

    /// `":field"` is a reference, `"::text"` the text `:text`, and anything else a text as it is.
    fn content(&mut self, checker: &mut Checker<'_>, text: &Text) -> Option<Content> {
        checker.given_text(text, format!("{:?}", text.value));
        if text.value.starts_with("::") {
            return literal(checker, text, text.value.get(1..).unwrap_or(""));
        }
        if text.value.starts_with(':') {
            return reference(checker, text, self.names, self.place).map(Content::Value);
        }
        if self.names.is_name(&text.value) {
            let message = format!("{} is a name without its `:`", text.quoted());
            let hint = format!(
                "did you mean \":{}\"? a text that only looks like it needs another word",
                text.value
            );
            checker.error_of(text, message, (!text.has_variables()).then_some(hint));
            return None;
        }
        literal(checker, text, &text.value)
    }
}

fn ends_at_text(text: &Text) -> bool {
    paths::parse(&text.value).is_ok_and(|raw| raw.branches.iter().any(|branch| branch.end == RawEnd::Text))
}

/// Whether it finds the event's element, or one around it.
fn takes_the_event(branch: &Branch, each: &Each) -> bool {
    if branch.end != End::Element {
        return false;
    }
    match (branch.from, each) {
        (Base::Here { .. }, _) => branch.steps.is_empty(),
        (Base::Root, Each::Steps(each)) => {
            branch.steps.len() <= each.len()
                && branch.steps.iter().zip(each).all(|(step, each)| step.name == each.name)
        }
        (Base::Root, Each::Root | Each::Wrong) => branch.steps.len() == 1,
    }
}

fn attribute_name(checker: &mut Checker<'_>, at: usize, key: &str, name: &str) -> bool {
    if name == "xmlns" || name.starts_with("xmlns:") {
        let hint =
            Some("leave it out: namespaces are declared where the added element needs them".to_owned());
        checker.error(at, key, "a namespace declaration is not an attribute", hint);
        return false;
    }
    match name.split_once(':') {
        // Bound everywhere, without being declared.
        Some(("xml", local)) if is_nc_name(local) => true,
        Some((prefix, local)) if is_nc_name(prefix) && is_nc_name(local) => {
            let hint = Some("write it without a prefix, or add it in a template".to_owned());
            checker.error(at, key, "an added attribute may have the prefix `xml` and no other", hint);
            false
        }
        _ if is_nc_name(name) => true,
        _ => {
            checker.error(at, key, "is not an XML name", None);
            false
        }
    }
}

fn literal(checker: &mut Checker<'_>, text: &Text, literal: &str) -> Option<Content> {
    let legal = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    if !literal.chars().all(|c| legal(c) && c != '\u{FFFE}' && c != '\u{FFFF}') {
        checker.error_of(text, "has a character that XML does not allow", None);
        return None;
    }
    Some(Content::Literal(literal.to_owned()))
}
