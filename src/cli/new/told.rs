//! Told apart: repeated elements that are not rows, but one thing each, named by a code inside of them.
//!
//! In:        the shape of an element that is there several times     Out: the code's path, and a shape for each of its values
//! Fails:     never: what is in doubt is no code, and so the element is a list
//! Not here:  paths of what is in the element (`draft`)
//!
//! `Bal` with `Tp/CdOrPrtry/Cd`, `Note` with `SubjectCode`, `id` with `@root`. A code's name says that it is one, its values are
//! short words, and no two elements side by side have the same.

use super::prefixes::Prefixes;
use super::shape::Shape;
use crate::xml::TreeElement;

/// Values that are worth a set of fields each.
const VALUES_MAX: usize = 8;
/// What an element has in it besides its code, at the most: more of it is a row.
const LEAVES_MAX: usize = 6;
/// Elements from the repeated one down to its code.
const DEPTH_MAX: usize = 3;
/// Longest value of a code.
const CHARS_MAX: usize = 48;

/// Names of codes.
const CODES: [&str; 18] = [
    "cd",
    "code",
    "prtry",
    "tp",
    "type",
    "typecode",
    "subjectcode",
    "schemeid",
    "root",
    "domain",
    "name",
    "kind",
    "role",
    "use",
    "qualifier",
    "qualf",
    "category",
    "classcode",
];

/// A repeated element, taken apart.
pub(super) struct Told<'a> {
    /// The code's path from the element, as a predicate has it.
    pub(super) by: String,
    /// Each value with the elements that have it, one in a place at the most.
    pub(super) kinds: Vec<(&'a str, Shape<'a>)>,
}

/// How the element is told apart, where it is.
pub(super) fn told_apart<'a>(shape: &Shape<'a>, prefixes: &Prefixes) -> Option<Told<'a>> {
    if shape.most() < 2 || shape.most() > VALUES_MAX || shape.mixed || !is_flat(shape) {
        return None;
    }
    let mut places = Vec::new();
    gather(shape, "", 0, prefixes, &mut places);
    if places.len() < 2 || places.len() > LEAVES_MAX + 1 {
        return None;
    }
    places.into_iter().filter(|place| is_code(&place.local)).find_map(|place| apart(shape, place))
}

/// One text or attribute inside of an element.
struct Place<'a> {
    path: String,
    local: String,
    /// One for each of the elements, in their order, where each has one.
    texts: Vec<&'a str>,
}

/// Nothing in it is repeated.
fn is_flat(shape: &Shape<'_>) -> bool {
    shape.children.iter().all(|child| child.most() == 1 && !child.mixed && is_flat(child))
}

fn gather<'a>(shape: &Shape<'a>, path: &str, depth: usize, prefixes: &Prefixes, places: &mut Vec<Place<'a>>) {
    let join = |name: String| if path.is_empty() { name } else { format!("{path}/{name}") };
    for attribute in &shape.attributes {
        places.push(Place {
            path: join(format!("@{}", prefixes.name(attribute.name))),
            local: attribute.name.local.clone(),
            texts: attribute.texts.filled.clone(),
        });
    }
    if shape.children.is_empty() && !shape.texts.filled.is_empty() {
        let path = if path.is_empty() { ".".to_owned() } else { path.to_owned() };
        places.push(Place { path, local: shape.name.local.clone(), texts: shape.texts.filled.clone() });
    }
    for child in &shape.children {
        if depth < DEPTH_MAX {
            gather(child, &join(prefixes.name(child.name)), depth + 1, prefixes, places);
        }
    }
}

fn is_code(local: &str) -> bool {
    let lower = local.to_ascii_lowercase();
    CODES.contains(&lower.as_str()) || lower.ends_with("code") || lower.ends_with("qualifier")
}

/// A short word that no quotation mark is needed for.
fn is_value(text: &str) -> bool {
    text.len() <= CHARS_MAX
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b':'))
}

fn apart<'a>(shape: &Shape<'a>, place: Place<'a>) -> Option<Told<'a>> {
    if place.path == "."
        || place.texts.len() != shape.count()
        || !place.texts.iter().all(|text| is_value(text))
    {
        return None;
    }
    let mut texts = place.texts.iter().copied();
    let groups: Vec<Vec<(&str, &TreeElement)>> = shape
        .groups
        .iter()
        .map(|group| texts.by_ref().zip(group.iter().copied()).take(group.len()).collect())
        .collect();
    let mut values: Vec<&str> = Vec::new();
    for group in &groups {
        for (index, (value, _)) in group.iter().enumerate() {
            if group.iter().take(index).any(|(other, _)| other == value) {
                return None;
            }
            if !values.contains(value) {
                values.push(value);
            }
        }
    }
    if values.len() > VALUES_MAX {
        return None;
    }
    let of = |value: &'a str| {
        let with = |group: &Vec<(&str, &'a TreeElement)>| {
            group.iter().filter(|(found, _)| *found == value).map(|(_, element)| *element).collect()
        };
        (value, Shape::of_groups(shape.name, groups.iter().map(with).collect()))
    };
    Some(Told { by: place.path, kinds: values.into_iter().map(of).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::Tree;

    fn told(text: &str) -> Option<(String, Vec<String>)> {
        let tree = Tree::read(text.as_bytes(), 10_000, 20).unwrap();
        let shape = Shape::of_roots(&[&tree.root]).unwrap();
        let told = told_apart(shape.children.first().unwrap(), &Prefixes::default())?;
        Some((told.by, told.kinds.iter().map(|(value, _)| (*value).to_owned()).collect()))
    }

    #[test]
    fn a_code_inside_tells_elements_apart() {
        let bal = |code| format!("<Bal><Tp><Cd>{code}</Cd></Tp><Amt Ccy='CHF'>1</Amt></Bal>");
        let by = |text: &str| told(text).map(|(by, _)| by);
        assert_eq!(
            told(&format!("<a>{}{}</a>", bal("OPBD"), bal("CLBD"))),
            Some(("Tp/Cd".to_owned(), vec!["OPBD".to_owned(), "CLBD".to_owned()]))
        );
        assert_eq!(by(&format!("<a>{}{}</a>", bal("OPBD"), bal("OPBD"))), None, "the same twice");
        assert_eq!(by("<a><id root='1.2' e='x'/><id root='1.3' e='y'/></a>").as_deref(), Some("@root"));
        assert_eq!(by("<a><t root='1.2'/><t root='1.3'/></a>"), None, "there is nothing but the code");
        assert_eq!(
            by("<a><n><code>a b</code><x>1</x></n><n><code>c</code><x>1</x></n></a>"),
            None,
            "no word"
        );
        assert_eq!(by("<a><line><sku>A</sku><x>1</x></line><line><sku>B</sku><x>1</x></line></a>"), None);
        assert_eq!(by("<a><n><code>a</code><x/><x/></n><n><code>c</code></n></a>"), None, "a list inside");
    }
}
