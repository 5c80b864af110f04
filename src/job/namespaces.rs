//! Prefixes to URIs.
//!
//! In:        `event.namespaces`, and names as they are written
//! Out:       expanded names
//! Fails:     a prefix nobody declares
//! Not here:  what paths mean (`namespaces/places`), and their grammar (`paths`)

mod places;

pub(super) use places::Each;

use super::Name;
use super::checker::{Checker, Text, quote};
use super::paths::{PathProblem, RawName, name_of};
use super::section::{Section, shown_key};
use super::suggest::did_you_mean;
use std::collections::BTreeMap;

/// The job's prefixes, and where its paths begin.
#[derive(Clone, Default)]
pub(super) struct Namespaces {
    /// `None`: declared, but its URI is wrong, which has been said already.
    uris: BTreeMap<String, Option<String>>,
    /// The event's element.
    pub(super) each: Each,
    /// Whether a variable gave `event.each`, so that no message may quote it.
    pub(super) each_by_variable: bool,
    /// Whether paths begin at a list's row.
    rows: places::Rows,
}

/// The URI that the prefix `xml` always has.
const XML_URI: &str = "http://www.w3.org/XML/1998/namespace";
/// The URI that nothing may be bound to.
const XMLNS_URI: &str = "http://www.w3.org/2000/xmlns/";

impl Namespaces {
    /// Reads `event.namespaces`.
    pub(super) fn read(checker: &mut Checker<'_>, event: &mut Section<'_>) -> Namespaces {
        let mut namespaces = Namespaces::default();
        let Some(entry) = event.get("namespaces") else {
            event.left_out(checker, "namespaces", None);
            return namespaces;
        };
        let hint = Some("write `namespaces = { s = \"urn:shop:1\" }`".to_owned());
        let Some(section) = Section::of(checker, &entry, hint) else { return namespaces };
        let (mut texts, mut shown) = (Vec::new(), Vec::new());
        for entry in section.entries() {
            let text = checker.text(&entry);
            let uri = text.as_ref().and_then(|text| {
                let problem = prefix_problem(&entry.name, &text.value);
                if let Some((message, hint)) = &problem {
                    checker.error(entry.key_at, &entry.key, message.clone(), hint.clone());
                }
                problem.is_none().then(|| text.value.clone())
            });
            shown.push(format!("{} = {:?}", shown_key(&entry.name), uri.as_deref().unwrap_or("")));
            texts.extend(text);
            namespaces.uris.insert(entry.name, uri);
        }
        checker.given_texts(&entry.key, entry.key_at, &texts, format!("{{ {} }}", shown.join(", ")));
        namespaces
    }

    /// Expands a name; `None`: the error is recorded. Unprefixed: in no namespace.
    pub(super) fn name(&self, checker: &mut Checker<'_>, text: &Text, name: &RawName) -> Option<Name> {
        let Some(prefix) = &name.prefix else {
            return Some(Name { namespace: None, local: name.local.clone() });
        };
        if prefix == "xml" {
            return Some(Name { namespace: Some(XML_URI.to_owned()), local: name.local.clone() });
        }
        match self.uris.get(prefix) {
            Some(uri) => {
                uri.as_ref().map(|uri| Name { namespace: Some(uri.clone()), local: name.local.clone() })
            }
            None => {
                // What a variable gave is not quoted, neither here nor in the hint.
                let (message, hint) = if text.has_variables() {
                    (format!("unknown prefix in {}", text.quoted()), None)
                } else {
                    let hint =
                        did_you_mean(prefix, self.uris.keys().map(String::as_str)).unwrap_or_else(|| {
                            format!("declare it: event.namespaces = {{ {prefix} = \"...\" }}")
                        });
                    (format!("unknown prefix `{prefix}` in {}", text.quoted()), Some(hint))
                };
                checker.error_in(text, name.offset, message, hint);
                None
            }
        }
    }

    /// Reads one element name, as `output.add.element` has it, with the prefix that was written.
    pub(super) fn element(&self, checker: &mut Checker<'_>, text: &Text) -> Option<(Name, String)> {
        let raw = match name_of(&text.value, 0) {
            Ok(raw) => raw,
            Err(problem) => return say(checker, text, problem),
        };
        if raw.prefix.as_deref() == Some("xml") {
            checker.error_of(text, "an element cannot be in the namespace of `xml`", None);
            return None;
        }
        Some((self.name(checker, text, &raw)?, raw.prefix.unwrap_or_default()))
    }
}

fn say<T>(checker: &mut Checker<'_>, text: &Text, problem: PathProblem) -> Option<T> {
    // The message may quote a step, and the step may be a variable's value.
    let message = if text.has_variables() {
        format!("not a path that is allowed here: {}", text.quoted())
    } else {
        problem.message
    };
    checker.error_in(text, problem.offset, message, problem.hint);
    None
}

/// Message and hint, where a prefix or its URI is not allowed.
fn prefix_problem(prefix: &str, uri: &str) -> Option<(String, Option<String>)> {
    if prefix.is_empty() {
        let hint = "give it a prefix, and use the prefix in the paths; documents may still use the default namespace";
        return Some(("a default namespace cannot be declared for paths".to_owned(), Some(hint.to_owned())));
    }
    if prefix == "xml" || prefix == "xmlns" {
        let hint =
            if prefix == "xml" { "`xml` is bound without declaring it" } else { "take another prefix" };
        return Some((format!("the prefix `{prefix}` is reserved by XML"), Some(hint.to_owned())));
    }
    if !super::names::is_nc_name(prefix) {
        return Some((format!("{} is not an XML name", quote(prefix)), None));
    }
    if uri.is_empty() {
        let hint = "a name in no namespace is written without a prefix";
        return Some((
            "the URI is empty: a prefix cannot stand for no namespace".to_owned(),
            Some(hint.to_owned()),
        ));
    }
    if uri == XML_URI || uri == XMLNS_URI {
        return Some(("this URI is reserved by XML".to_owned(), None));
    }
    None
}
