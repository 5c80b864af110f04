//! Shapes: what all samples have in common, element by element.
//!
//! In:        the root elements of the samples     Out: per path of names what was seen there, in how many elements
//! Holds:     borrows the trees: every text stays where it is
//! Order:     that of first appearance
//! Fails:     never
//! Not here:  what is made of it (`draft`)

use crate::job::Name;
use crate::xml::TreeElement;

/// The elements that one path of names finds, over all samples.
pub(super) struct Shape<'a> {
    /// Their name.
    pub(super) name: &'a Name,
    /// Per element that could have some, those that it has, in document order.
    pub(super) groups: Vec<Vec<&'a TreeElement>>,
    /// In the order in which they were first seen.
    pub(super) attributes: Vec<AttributeShape<'a>>,
    /// In the order in which they were first seen.
    pub(super) children: Vec<Shape<'a>>,
    /// Their own texts.
    pub(super) texts: Texts<'a>,
    /// Somewhere text stands beside elements.
    pub(super) mixed: bool,
    /// How many of them are nil.
    pub(super) nil: usize,
}

/// One attribute of such elements.
pub(super) struct AttributeShape<'a> {
    /// Its name.
    pub(super) name: &'a Name,
    /// Its values.
    pub(super) texts: Texts<'a>,
}

/// What stands at one place, over all samples.
#[derive(Default)]
pub(super) struct Texts<'a> {
    /// Texts that are not blank, in the order of the samples, as they are.
    pub(super) filled: Vec<&'a str>,
    /// Blank texts. Of an element that has elements in it they do not count.
    pub(super) blank: usize,
}

impl<'a> Texts<'a> {
    fn add(&mut self, text: &'a str) {
        if text.trim_matches(BLANKS).is_empty() {
            self.blank += 1;
        } else {
            self.filled.push(text);
        }
    }

    /// How often the place was there.
    pub(super) fn count(&self) -> usize {
        self.filled.len() + self.blank
    }
}

/// White space as XML has it.
pub(super) const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

impl<'a> Shape<'a> {
    /// Of the samples' root elements, which have one name.
    pub(super) fn of_roots(roots: &[&'a TreeElement]) -> Option<Shape<'a>> {
        let name = &roots.first()?.name;
        Some(Shape::of_groups(name, roots.iter().map(|root| vec![*root]).collect()))
    }

    /// Of these elements of one name.
    pub(super) fn of_groups(name: &'a Name, groups: Vec<Vec<&'a TreeElement>>) -> Shape<'a> {
        let elements: Vec<&TreeElement> = groups.iter().flatten().copied().collect();
        let mut attributes: Vec<AttributeShape<'a>> = Vec::new();
        let (mut texts, mut names): (Texts<'a>, Vec<&'a Name>) = (Texts::default(), Vec::new());
        for element in &elements {
            for (name, value) in &element.attributes {
                match attributes.iter_mut().find(|shape| shape.name == name) {
                    Some(shape) => shape.texts.add(value),
                    None => {
                        let mut texts = Texts::default();
                        texts.add(value);
                        attributes.push(AttributeShape { name, texts });
                    }
                }
            }
            for child in &element.children {
                if !names.contains(&&child.name) {
                    names.push(&child.name);
                }
            }
            if !element.nil && (element.children.is_empty() || element.is_mixed()) {
                texts.add(&element.text);
            }
        }
        let children = names.into_iter().map(|name| {
            let of =
                |element: &&'a TreeElement| element.children.iter().filter(|c| c.name == *name).collect();
            Shape::of_groups(name, elements.iter().map(of).collect())
        });
        let children: Vec<Shape<'a>> = children.collect();
        // An element that is told apart by what is in it may be a text in one sample and have elements in another.
        let mixed = !children.is_empty() && !texts.filled.is_empty();
        let nil = elements.iter().filter(|element| element.nil).count();
        Shape { name, groups, attributes, children, texts, mixed, nil }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.groups.iter().map(Vec::len).sum()
    }

    /// How many there are side by side at the most.
    pub(super) fn most(&self) -> usize {
        self.groups.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Whether an element that could have one has none.
    pub(super) fn is_missing_somewhere(&self) -> bool {
        self.groups.iter().any(Vec::is_empty)
    }

    /// How many elements there are in it, and itself.
    pub(super) fn weight(&self) -> usize {
        self.count() + self.children.iter().map(Shape::weight).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xml::Tree;

    #[test]
    fn a_shape_has_what_all_samples_have() {
        let trees: Vec<Tree> =
            ["<a x='1'><b>7</b><b> </b><c><d/></c></a>", "<a><b>8</b><c>text</c><e>mixed <f/></e></a>"]
                .iter()
                .map(|text| Tree::read(text.as_bytes(), 1000, 10).unwrap())
                .collect();
        let roots: Vec<&TreeElement> = trees.iter().map(|tree| &tree.root).collect();
        let shape = Shape::of_roots(&roots).unwrap();
        assert_eq!((shape.count(), shape.weight()), (2, 10));
        let attribute = shape.attributes.first().unwrap();
        assert_eq!((attribute.name.local.as_str(), attribute.texts.count()), ("x", 1));
        let [b, c, e] = &shape.children[..] else { panic!() };
        assert_eq!((b.most(), b.texts.filled.as_slice(), b.texts.blank), (2, ["7", "8"].as_slice(), 1));
        assert!(!b.is_missing_somewhere() && e.is_missing_somewhere());
        assert!(c.mixed && e.mixed && !b.mixed);
    }
}
