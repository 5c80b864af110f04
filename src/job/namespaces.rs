//! Prefixes to URIs, and paths to what they mean from the event's element downwards.
//!
//! In:        `event.namespaces`, `event.each`, and paths as they are written
//! Out:       expanded names; absolute paths made relative to the event's element
//! Fails:     a prefix nobody declares, an absolute path that begins elsewhere and so can never match
//! Not here:  the grammar of paths (`paths`)

use super::checker::{Checker, Text, quote};
use super::paths::{PathProblem, RawName, RawPath, name_of, parse};
use super::section::{Section, shown_key};
use super::suggest::did_you_mean;
use super::{Base, Branch, End, Name, Path, PathStep};
use std::collections::BTreeMap;

/// The job's prefixes.
#[derive(Default)]
pub(super) struct Namespaces {
    /// `None`: declared, but its URI is wrong, which has been said already.
    uris: BTreeMap<String, Option<String>>,
    /// The event's element; `None`: `event.each` is not given, or wrong.
    pub(super) root: Root,
}

/// What is known of the event's element.
#[derive(Default)]
pub(super) enum Root {
    /// `event.each` is left out: any element is the root.
    #[default]
    Any,
    /// `event.each` is wrong, which has been said already.
    Wrong,
    /// The name that `event.each` gives.
    Named(Name),
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
            checker.default(&event.key_of("namespaces"), "{}", None);
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

    /// Reads `event.each`: one absolute step.
    pub(super) fn read_root(&self, checker: &mut Checker<'_>, text: &Text) -> Option<Name> {
        let raw = match parse(&text.value) {
            Ok(raw) => raw,
            Err(problem) => return say(checker, text, problem),
        };
        if !raw.absolute || raw.attribute.is_some() || raw.text_step {
            let message = format!("must be the path of an element from the root, got {}", text.quoted());
            checker.error_of(
                text,
                message,
                Some("write `/` and the root element's name, such as `/s:order`".to_owned()),
            );
            return None;
        }
        match raw.steps.as_slice() {
            [root] => self.name(checker, text, root),
            _ => {
                let hint = "built is one step: the root element, such as `/s:order`, is the event".to_owned();
                checker.error_of(
                    text,
                    "events other than the root element are not built yet in this version",
                    Some(hint),
                );
                None
            }
        }
    }

    /// Reads a path and makes it relative to the event's element; `None`: the error is recorded.
    pub(super) fn path(&self, checker: &mut Checker<'_>, text: &Text) -> Option<Path> {
        let raw = match parse(&text.value) {
            Ok(raw) => raw,
            Err(problem) => return say(checker, text, problem),
        };
        let steps: Vec<Option<Name>> = raw.steps.iter().map(|step| self.name(checker, text, step)).collect();
        let attribute = raw.attribute.as_ref().map(|name| self.name(checker, text, name));
        let steps: Vec<Name> = steps.into_iter().collect::<Option<_>>()?;
        let attribute = match attribute {
            Some(name) => Some(name?),
            None => None,
        };
        let steps = if raw.absolute { self.below_root(checker, text, &raw, steps)? } else { steps };
        let branch = Branch {
            from: Base::Here { up: 0 },
            steps: steps.into_iter().map(|name| PathStep { name, predicates: Vec::new() }).collect(),
            end: attribute.map_or(End::Element, End::Attribute),
        };
        Some(Path { text: text.value.clone(), branches: vec![branch] })
    }

    /// The steps of an absolute path without its first, which must be the event's element.
    fn below_root(
        &self,
        checker: &mut Checker<'_>,
        text: &Text,
        raw: &RawPath,
        mut steps: Vec<Name>,
    ) -> Option<Vec<Name>> {
        let first = match raw.steps.first() {
            Some(first) => written(first),
            None => {
                checker.error_of(text, format!("{} names no element", text.quoted()), None);
                return None;
            }
        };
        match &self.root {
            Root::Wrong => None,
            Root::Any => {
                let hint = format!(
                    "give `each = {}` in [event], or leave out `/{first}/`",
                    quote(&format!("/{first}"))
                );
                let message = format!(
                    "the absolute path {} needs event.each, which names the root element",
                    text.quoted()
                );
                checker.error_of(text, message, (!text.has_variables()).then_some(hint));
                None
            }
            Root::Named(root) if steps.first() == Some(root) => {
                steps.remove(0);
                Some(steps)
            }
            Root::Named(root) => {
                let message = format!(
                    "{} can never match: the root element is {}, not {}",
                    text.quoted(),
                    root_words(root),
                    text.quoted_part(&first),
                );
                let hint =
                    "an absolute path begins with the element of event.each; names match by namespace, too";
                checker.error_of(text, message, Some(hint.to_owned()));
                None
            }
        }
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

fn written(name: &RawName) -> String {
    match &name.prefix {
        Some(prefix) => format!("{prefix}:{}", name.local),
        None => name.local.clone(),
    }
}

fn root_words(name: &Name) -> String {
    match &name.namespace {
        Some(uri) => format!("`{}` in {}", name.local, quote(uri)),
        None => format!("`{}` in no namespace", name.local),
    }
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
