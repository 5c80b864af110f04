//! A document as a tree: for whoever looks at a few documents before there is a job.
//!
//! In:        a document's bytes     Out: its elements with their attributes and texts, and the prefixes that it uses
//! Holds:     the whole document: samples are small, and records never come here
//! Order:     document order
//! Fails:     what the pass refuses, with line and column, and the job's limits
//! Not here:  what a job would make of it

use super::chars::is_blank;
use super::document;
use super::fault::Fault;
use super::finder::{Element, Finder};
use super::reference;
use super::scope::{self, Namespaces, XMLNS_URI, XSI_URI};
use super::walk::{Buffers, Walk};
use crate::job::{Doctype, Name};
use crate::model::Reason;
use std::ops::Range;

/// A document.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    /// Its root element.
    pub root: TreeElement,
    /// Each namespace's URI with the prefix of the first name that is in it, in document order; an empty prefix: it was the
    /// default namespace. Without `xml` and namespace declarations.
    pub prefixes: Vec<(String, String)>,
}

/// One element.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeElement {
    /// Its name.
    pub name: Name,
    /// Name and value, in the order of the tag, without namespace declarations.
    pub attributes: Vec<(Name, String)>,
    /// The elements in it.
    pub children: Vec<TreeElement>,
    /// Its own text: text, CDATA and references, joined over everything else.
    pub text: String,
    /// `xsi:nil` says that it has no value.
    pub nil: bool,
}

impl TreeElement {
    /// Whether it has text and elements side by side.
    pub fn is_mixed(&self) -> bool {
        !self.children.is_empty() && !is_blank(&self.text)
    }
}

impl Tree {
    /// Reads a document of at most `bytes_max` bytes whose elements are nested `depth_max` deep at the most.
    ///
    /// # Errors
    /// The reason why a job could not read it either.
    pub fn read(document: &[u8], bytes_max: usize, depth_max: usize) -> Result<Tree, Reason> {
        let opened = document::open(document, bytes_max)?;
        let text = opened.text();
        let (namespaces, mut buffers, mut grower) =
            (Namespaces::new(), Buffers::default(), Grower::default());
        let walk = Walk {
            namespaces: &namespaces,
            doctype: Doctype::Read,
            depth_max,
            document: text,
            buffers: &mut buffers,
            finder: &mut grower,
        };
        walk.run().map_err(|fault| fault.into_reason(text.text))?;
        let Grower { root, prefixes, .. } = grower;
        let no_root = || Fault::not_well_formed(text.text.len(), "no root element").into_reason(text.text);
        Ok(Tree { root: root.ok_or_else(no_root)?, prefixes })
    }
}

/// A document's text, decoded and without its byte-order mark; as good as it goes where it is none.
pub fn document_text(document: &[u8]) -> String {
    match document::open(document, usize::MAX) {
        Ok(opened) => opened.text().text.to_owned(),
        Err(_) => String::from_utf8_lossy(document).into_owned(),
    }
}

/// A tree on its way.
#[derive(Debug, Default)]
struct Grower {
    open: Vec<TreeElement>,
    root: Option<TreeElement>,
    prefixes: Vec<(String, String)>,
}

impl Grower {
    fn name(&mut self, uri: &str, prefix: &str, local: &str) -> Name {
        if !uri.is_empty() && uri != scope::XML_URI && !self.prefixes.iter().any(|(known, _)| known == uri) {
            self.prefixes.push((uri.to_owned(), prefix.to_owned()));
        }
        Name { namespace: (!uri.is_empty()).then(|| uri.to_owned()), local: local.to_owned() }
    }
}

impl Finder for &mut Grower {
    fn open(&mut self, element: &Element<'_>) -> Result<(), Fault> {
        let uri = element.scope.uri(element.namespace);
        let name = self.name(uri, element.prefix(), element.local());
        let (mut attributes, mut nil) = (Vec::new(), false);
        for index in 0..element.attributes.len() {
            let Some((uri, prefix, local)) = element.attribute_name(index) else { continue };
            if uri == XMLNS_URI {
                continue;
            }
            let value = element.value(index);
            nil |= uri == XSI_URI && local == "nil" && scope::nil(value) == Some(true);
            attributes.push((self.name(uri, prefix, local), value.to_owned()));
        }
        self.open.push(TreeElement { name, attributes, children: Vec::new(), text: String::new(), nil });
        Ok(())
    }

    fn text(&mut self, raw: &str, _at: usize) {
        if let Some(element) = self.open.last_mut() {
            reference::push_text(raw, &mut element.text);
        }
    }

    fn expanded(&mut self, text: &str) {
        if let Some(element) = self.open.last_mut() {
            element.text.push_str(text);
        }
    }

    fn close(&mut self, _tag: Range<usize>) {
        let Some(element) = self.open.pop() else { return };
        match self.open.last_mut() {
            Some(parent) => parent.children.push(element),
            None => self.root = Some(element),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(document: &str) -> Tree {
        Tree::read(document.as_bytes(), 1 << 20, 256).unwrap()
    }

    fn name(uri: &str, local: &str) -> Name {
        Name { namespace: (!uri.is_empty()).then(|| uri.to_owned()), local: local.to_owned() }
    }

    #[test]
    fn elements_attributes_and_texts_with_their_namespaces() {
        let read = tree(
            "<?xml version='1.0'?><p:a xmlns:p='u' xmlns='v' b='1' p:c='&lt;2' xml:lang='de'>x<!-- --> y<d>1<![CDATA[2]]>&amp;</d>\
             <e/></p:a>",
        );
        assert_eq!(read.root.name, name("u", "a"));
        assert_eq!(
            read.root.attributes,
            [
                (name("", "b"), "1".to_owned()),
                (name("u", "c"), "<2".to_owned()),
                (name(scope::XML_URI, "lang"), "de".to_owned()),
            ]
        );
        assert_eq!(read.root.text, "x y");
        assert!(read.root.is_mixed());
        let [d, e] = &read.root.children[..] else { panic!("{read:?}") };
        assert_eq!((&d.name, d.text.as_str(), d.is_mixed()), (&name("v", "d"), "12&", false));
        assert_eq!((&e.name, e.text.as_str()), (&name("v", "e"), ""));
        assert_eq!(read.prefixes, [("u".to_owned(), "p".to_owned()), ("v".to_owned(), String::new())]);
    }

    #[test]
    fn nil_is_what_xsi_says() {
        let xsi = "xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'";
        assert!(tree(&format!("<a {xsi} xsi:nil=' true '/>")).root.nil);
        assert!(!tree(&format!("<a {xsi} xsi:nil='false'/>")).root.nil);
        assert!(!tree("<a nil='true'/>").root.nil);
    }

    #[test]
    fn what_no_job_could_read_is_refused_with_its_place() {
        let refused = |document: &[u8]| Tree::read(document, 40, 3).unwrap_err().to_string();
        assert!(refused(b"<a>\n <b></a>").contains("line 2, column 5"), "{}", refused(b"<a>\n <b></a>"));
        assert!(refused(b"<a><b><c><d/></c></b></a>").contains("deeper"));
        assert!(refused(&[b' '; 41]).contains("41 bytes"));
    }
}
