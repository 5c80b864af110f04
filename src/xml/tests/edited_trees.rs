//! Grown documents under grown edits: an independent parser's tree of the output is the input's tree with the edits done to
//! it, and what no edit touches has the very bytes that it had.

use super::edits::Edits;
use super::grown;
use super::naive;
use super::*;
use crate::job::SetTo;
use crate::xml::{Edited, write};
use proptest::prelude::*;
use roxmltree::{Document as Tree, Node, NodeType};
use std::collections::{BTreeMap, BTreeSet};

/// One edit, and what it writes.
#[derive(Clone, Debug)]
struct Planned {
    edit: Edit,
    text: Option<String>,
}

fn planned() -> impl Strategy<Value = Planned> {
    let path = || grown::path(1, false);
    let text = proptest::option::of(proptest::sample::select(vec!["", "new", "a & <b> ]]>", "\u{e4}\r\n"]));
    let one_kind = |path: Path| Path { branches: path.branches[..1].to_vec(), ..path };
    let at_element = |mut path: Path| {
        path.branches.iter_mut().for_each(|branch| branch.end = End::Element);
        path
    };
    let edit = prop_oneof![
        (path(), grown::name()).prop_map(move |(at, element)| {
            let (at, prefix) = (at_element(at), "n".to_owned());
            Edit::Add(Addition { at, element, prefix, text: None, attributes: Vec::new() })
        }),
        path().prop_map(move |at| {
            let to = crate::job::Content::Literal(String::new());
            Edit::Set(SetTo { at: one_kind(at), to })
        }),
        path().prop_map(Edit::Remove),
    ];
    (edit, text).prop_map(|(edit, text)| Planned { edit, text: text.map(str::to_owned) })
}

/// What is to be done to a tree.
#[derive(Default)]
struct Todo {
    gone: BTreeSet<usize>,
    gone_attributes: BTreeSet<(usize, Name)>,
    texts: BTreeMap<usize, String>,
    attributes: BTreeMap<(usize, Name), Option<String>>,
    added: BTreeMap<usize, Vec<(Name, String)>>,
}

/// A node as it should be; of what nothing is done to, with its source.
#[derive(Debug, PartialEq)]
enum Shape {
    Element { name: Name, attributes: BTreeMap<Name, String>, inside: Vec<Shape>, source: Option<String> },
    Text(String),
    Beside(String),
}

fn number(node: Node<'_, '_>) -> usize {
    node.id().get_usize()
}

fn name_of(space: Option<&str>, local: &str) -> Name {
    Name { namespace: space.filter(|uri| !uri.is_empty()).map(str::to_owned), local: local.to_owned() }
}

impl Todo {
    /// Notes an edit; whether it can be done.
    fn take(&mut self, event: Node<'_, '_>, planned: &Planned) -> bool {
        let text = planned.text.clone();
        match &planned.edit {
            Edit::Remove(path) => self.take_removal(event, path),
            Edit::Add(addition) => match naive::find(event, &addition.at) {
                naive::Found::Elements(found) if found.len() == 1 => {
                    let added = (addition.element.clone(), text.unwrap_or_default());
                    self.added.entry(number(found[0])).or_default().push(added);
                    true
                }
                _ => false,
            },
            Edit::Set(set) => match naive::find(event, &set.at) {
                naive::Found::Elements(found) if found.len() == 1 => {
                    let is_plain = !found[0].children().any(|child| child.is_element());
                    if is_plain {
                        self.texts.insert(number(found[0]), text.unwrap_or_default());
                    }
                    is_plain
                }
                naive::Found::Attributes(found) if found.len() == 1 => {
                    let name = name_of(found[0].1.namespace(), found[0].1.name());
                    self.attributes.insert((number(found[0].0), name), text);
                    true
                }
                naive::Found::Attributes(found) if found.is_empty() => self.take_new(event, &set.at, text),
                _ => false,
            },
        }
    }

    fn take_new(&mut self, event: Node<'_, '_>, at: &Path, text: Option<String>) -> bool {
        let branch = &at.branches[0];
        let End::Attribute(name) = &branch.end else { return false };
        let owners = Path { branches: vec![Branch { end: End::Element, ..branch.clone() }], ..at.clone() };
        match naive::find(event, &owners) {
            naive::Found::Elements(found) if found.len() == 1 => {
                self.attributes.insert((number(found[0]), name.clone()), text);
                true
            }
            _ => false,
        }
    }

    fn take_removal(&mut self, event: Node<'_, '_>, path: &Path) -> bool {
        let found = naive::find_all(event, path);
        let has_root = found.iter().any(|found| match found {
            naive::Found::Elements(all) => all.contains(&event.document().root_element()),
            _ => false,
        });
        if has_root {
            return false;
        }
        for found in found {
            match found {
                naive::Found::Elements(all) => self.gone.extend(all.iter().map(|node| number(*node))),
                naive::Found::Attributes(all) => {
                    self.gone_attributes.extend(all.iter().map(|(node, attribute)| {
                        (number(*node), name_of(attribute.namespace(), attribute.name()))
                    }))
                }
                naive::Found::Count(_) => {}
            }
        }
        true
    }

    fn touches(&self, node: Node<'_, '_>) -> bool {
        node.descendants().any(|node| {
            let id = number(node);
            self.gone.contains(&id)
                || self.texts.contains_key(&id)
                || self.added.contains_key(&id)
                || self.gone_attributes.iter().any(|(owner, _)| *owner == id)
                || self.attributes.keys().any(|(owner, _)| *owner == id)
        })
    }

    fn shape(&self, node: Node<'_, '_>, source: &str) -> Shape {
        let id = number(node);
        let mut attributes: BTreeMap<Name, String> = node
            .attributes()
            .map(|attribute| (name_of(attribute.namespace(), attribute.name()), attribute.value().to_owned()))
            .collect();
        for ((owner, name), value) in &self.attributes {
            match value {
                Some(value) if *owner == id => _ = attributes.insert(name.clone(), value.clone()),
                None if *owner == id => _ = attributes.remove(name),
                _ => {}
            }
        }
        attributes.retain(|name, _| !self.gone_attributes.contains(&(id, name.clone())));
        let mut inside = Vec::new();
        match self.texts.get(&id) {
            Some(text) => push(&mut inside, Shape::Text(text.clone())),
            None => node
                .children()
                .filter(|child| !self.gone.contains(&number(*child)))
                .for_each(|child| push(&mut inside, self.child(child, source))),
        }
        for (name, text) in self.added.get(&id).into_iter().flatten() {
            let mut content = Vec::new();
            push(&mut content, Shape::Text(text.clone()));
            let name = name.clone();
            inside.push(Shape::Element { name, attributes: BTreeMap::new(), inside: content, source: None });
        }
        let source = (!self.touches(node)).then(|| source.get(node.range()).unwrap().to_owned());
        let name = name_of(node.tag_name().namespace(), node.tag_name().name());
        Shape::Element { name, attributes, inside, source }
    }

    fn child(&self, child: Node<'_, '_>, source: &str) -> Shape {
        match child.node_type() {
            NodeType::Element => self.shape(child, source),
            NodeType::Text => Shape::Text(child.text().unwrap_or_default().to_owned()),
            _ => Shape::Beside(source.get(child.range()).unwrap().to_owned()),
        }
    }
}

/// Texts beside each other are one, and an empty one is none.
fn push(inside: &mut Vec<Shape>, shape: Shape) {
    match (inside.last_mut(), shape) {
        (_, Shape::Text(text)) if text.is_empty() => {}
        (Some(Shape::Text(before)), Shape::Text(text)) => before.push_str(&text),
        (_, shape) => inside.push(shape),
    }
}

/// The same, but that only untouched elements have a source to compare.
fn is_same(expected: &Shape, found: &Shape) -> bool {
    match (expected, found) {
        (
            Shape::Element { name, attributes, inside, source },
            Shape::Element { name: n, attributes: a, inside: i, source: s },
        ) => {
            name == n
                && attributes == a
                && (source.is_none() || source == s)
                && inside.len() == i.len()
                && inside.iter().zip(i).all(|(expected, found)| is_same(expected, found))
        }
        (expected, found) => expected == found,
    }
}

fn edited(planned: &[Planned]) -> Vec<Edited> {
    let one = |planned: &Planned| match &planned.edit {
        Edit::Add(_) => Edited::Add(Added { text: planned.text.clone(), attributes: Vec::new() }),
        Edit::Set(_) => Edited::Set(planned.text.clone()),
        Edit::Remove(_) => Edited::Remove,
    };
    planned.iter().map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn edits_do_what_they_say_and_nothing_else(
        root in grown::element(),
        planned in proptest::collection::vec(planned(), 1..6),
    ) {
        let document = root.document();
        let tree = Tree::parse(&document).unwrap();
        let mut todo = Todo::default();
        let planned: Vec<Planned> = planned.into_iter().filter(|planned| match &planned.edit {
            Edit::Add(Addition { at, .. }) | Edit::Set(SetTo { at, .. }) | Edit::Remove(at) => {
                at.branches.iter().all(|branch| branch.from != Base::Here { up: 1 } || !branch.steps.is_empty())
            }
        }).collect();
        let mut feasible = Vec::new();
        let edits: Vec<Edit> = planned.iter().map(|planned| planned.edit.clone()).collect();
        let decoded = Edits::of(Job::new(), edits).decode(document.as_bytes()).remove(0).unwrap();
        let mut marks = Vec::new();
        for (planned, mark) in planned.iter().zip(decoded.reading.marks) {
            let can = todo.take(tree.root_element(), planned);
            prop_assert_eq!(can, !matches!(mark, Mark::Missing { .. }), "{:?} {}", planned, document);
            if can {
                feasible.push(planned.clone());
                marks.push(mark);
            }
        }
        let output = write(document.as_bytes(), None, &marks, &edited(&feasible)).unwrap();
        let output = String::from_utf8(output).unwrap();
        let after = Tree::parse(&output).map_err(|error| TestCaseError::fail(format!("{error}\n{document}\n{output}")))?;
        let expected = todo.shape(tree.root_element(), &document);
        let found = Todo::default().shape(after.root_element(), &output);
        prop_assert!(is_same(&expected, &found), "{document}\n{output}\n{expected:?}\n{found:?}");
        let head = document.find("<a").into_iter().chain(document.find("<b")).min().unwrap_or(0).min(21);
        prop_assert_eq!(output.get(..head), document.get(..head));
        prop_assert!(output.ends_with("\n<?p <a/>?>"));
        let again = decode_one(&mut Job::new().decoder(), &output);
        prop_assert!(again.is_ok());
    }

    #[test]
    fn an_element_alone_means_what_it_meant(root in grown::element(), each in grown::steps(1..4)) {
        let document = root.document();
        let tree = Tree::parse(&document).unwrap();
        let mut job = Job::new();
        job.event.each = each.clone();
        job.event.no_match = NoMatch::Discard;
        let events = Edits::of(job, Vec::new()).alone().decode(document.as_bytes());
        let elements = naive::walk(tree.root(), &each);
        prop_assert_eq!(events.len(), elements.len());
        for (event, element) in events.into_iter().zip(elements) {
            let reading = event.unwrap().reading;
            let output = write(document.as_bytes(), reading.element.as_ref(), &[], &[]).unwrap();
            let output = String::from_utf8(output).unwrap();
            let after = Tree::parse(&output).map_err(|error| TestCaseError::fail(format!("{error}\n{document}\n{output}")))?;
            let alone = after.root_element();
            let strip = |shape: Shape| match shape {
                Shape::Element { name, attributes, inside, .. } => (name, attributes, inside),
                other => panic!("{other:?}"),
            };
            let (before, now) = (Todo::default().shape(element, &document), Todo::default().shape(alone, &output));
            prop_assert_eq!(strip(before), strip(now), "{} {}", document, output);
            for prefix in [None, Some("u"), Some("zz")] {
                let uri = |node: Node<'_, '_>| node.lookup_namespace_uri(prefix).unwrap_or_default().to_owned();
                prop_assert_eq!(uri(element), uri(alone));
            }
        }
    }
}
