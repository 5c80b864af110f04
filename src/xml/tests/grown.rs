//! Documents and paths grown at random.

use super::*;
use crate::job::Predicate;
use proptest::prelude::*;

/// Names are so few that paths find something, and often more than one thing.
const NAMES: [&str; 3] = ["a", "b", "c"];
const VALUES: [&str; 4] = ["1", "2", "", "x & <y>"];
pub(super) const URI: &str = "urn:u";

/// An element, and how it is written.
#[derive(Clone, Debug)]
pub(super) struct Element {
    name: usize,
    spaced: bool,
    /// With a declaration of its own, else with the root's prefix.
    by_default: bool,
    attributes: Vec<(usize, usize)>,
    inside: Vec<Inside>,
}

#[derive(Clone, Debug)]
enum Inside {
    Element(Element),
    Text(usize, u8),
    Beside(u8),
}

pub(super) fn element() -> impl Strategy<Value = Element> {
    let attributes = || proptest::collection::btree_map(0..3_usize, 0..VALUES.len(), 0..3);
    let beside = || {
        prop_oneof![
            ((0..VALUES.len()), any::<u8>()).prop_map(|(value, way)| Inside::Text(value, way)),
            any::<u8>().prop_map(Inside::Beside),
        ]
    };
    let leaf = (
        0..NAMES.len(),
        any::<bool>(),
        any::<bool>(),
        attributes(),
        proptest::collection::vec(beside(), 0..2),
    )
        .prop_map(|(name, spaced, by_default, attributes, inside)| Element {
            name,
            spaced,
            by_default,
            attributes: attributes.into_iter().collect(),
            inside,
        });
    leaf.prop_recursive(5, 60, 6, move |inner| {
        let inside = prop_oneof![3 => inner.prop_map(Inside::Element), 1 => beside()];
        let inside = proptest::collection::vec(inside, 0..6);
        (0..NAMES.len(), any::<bool>(), any::<bool>(), attributes(), inside).prop_map(
            |(name, spaced, by_default, attributes, inside)| Element {
                name,
                spaced,
                by_default,
                attributes: attributes.into_iter().collect(),
                inside,
            },
        )
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&#60;")
}

impl Element {
    /// As a document's root.
    pub(super) fn document(&self) -> String {
        let mut out = String::from("<?xml version=\"1.0\"?>\r\n<!-- <a/> -->\n");
        self.write(&mut out, false, true);
        out.push_str("\n<?p <a/>?>");
        out
    }

    fn write(&self, out: &mut String, default: bool, root: bool) {
        let prefixed = self.spaced && !self.by_default;
        let name = if prefixed { format!("u:{}", NAMES[self.name]) } else { NAMES[self.name].to_owned() };
        out.push_str(&format!("<{name}"));
        if root {
            out.push_str(&format!(" xmlns:u='{URI}'"));
        }
        let mut inner = default;
        if !prefixed && self.spaced != default {
            out.push_str(if self.spaced { "  xmlns = \"urn:u\"" } else { " xmlns=''" });
            inner = self.spaced;
        }
        for (attribute, value) in &self.attributes {
            let name = ["x", "y", "u:x"][*attribute];
            let quote = if *value == 0 { '\'' } else { '"' };
            out.push_str(&format!("\n {name}={quote}{}{quote}", escaped(VALUES[*value])));
        }
        if self.inside.is_empty() && self.by_default {
            out.push_str(" />");
            return;
        }
        out.push_str(" >");
        for inside in &self.inside {
            match inside {
                Inside::Element(element) => element.write(out, inner, false),
                Inside::Text(value, way) => match way % 3 {
                    0 => out.push_str(&format!("<![CDATA[{}]]>", VALUES[*value])),
                    1 => out.push_str(&escaped(VALUES[*value]).replace('1', "&#x31;")),
                    _ => out.push_str(&escaped(VALUES[*value])),
                },
                Inside::Beside(way) => {
                    out.push_str(["<!-- & -->", "<?p <?>", "\r\n", "  "][usize::from(way % 4)])
                }
            }
        }
        out.push_str(&format!("</{name}\n>"));
    }
}

pub(super) fn name() -> impl Strategy<Value = Name> {
    (0..NAMES.len(), any::<bool>()).prop_map(|(name, spaced)| Name {
        namespace: spaced.then(|| URI.to_owned()),
        local: NAMES[name].to_owned(),
    })
}

pub(super) fn attribute() -> impl Strategy<Value = Name> {
    proptest::sample::select(vec![(None, "x"), (None, "y"), (Some(URI), "x")])
        .prop_map(|(uri, local)| Name { namespace: uri.map(str::to_owned), local: local.to_owned() })
}

fn predicate() -> impl Strategy<Value = Predicate> {
    let value = proptest::sample::select(VALUES.to_vec()).prop_map(str::to_owned);
    prop_oneof![
        (1..4_usize).prop_map(Predicate::Nth),
        Just(Predicate::Last),
        (proptest::collection::vec(name(), 0..3), proptest::option::of(attribute()), value)
            .prop_map(|(steps, attribute, value)| Predicate::Equals { steps, attribute, value }),
    ]
}

pub(super) fn step() -> impl Strategy<Value = PathStep> {
    (name(), prop_oneof![2 => Just(0), 1 => 1..3_usize]).prop_flat_map(|(name, predicates)| {
        proptest::collection::vec(predicate(), predicates)
            .prop_map(move |predicates| PathStep { name: name.clone(), predicates })
    })
}

pub(super) fn steps(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<PathStep>> {
    proptest::collection::vec(step(), length)
}

/// A path that goes up so many elements at the most.
pub(super) fn path(up_max: usize, counts: bool) -> impl Strategy<Value = Path> {
    let end = prop_oneof![
        3 => Just(End::Element),
        2 => attribute().prop_map(End::Attribute),
        if counts { 1 } else { 0 } => proptest::option::of(attribute()).prop_map(End::Count),
    ];
    let from = prop_oneof![
        3 => Just(Base::Here { up: 0 }),
        1 => (0..=up_max).prop_map(|up| Base::Here { up }),
        1 => Just(Base::Root),
    ];
    let branch = (from, steps(0..4), end).prop_map(|(from, steps, end)| Branch { from, steps, end });
    let rooted = |branch: &Branch| branch.from != Base::Root || !branch.steps.is_empty();
    let branch = branch.prop_filter("the document is no element", rooted);
    proptest::collection::vec(branch, 1..3).prop_map(|branches| Path { text: "p".to_owned(), branches })
}
