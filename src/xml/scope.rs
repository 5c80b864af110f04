//! Which namespace a prefix means at one place of a document.
//!
//! In:        declarations, as elements open and close     Out: a prefix's namespace; a namespace's prefix
//! Holds:     one binding per declaration in scope, in one text buffer that is used again
//! Fails:     a prefix that is bound nowhere, declarations that Namespaces in XML 1.0 forbids, too many of them
//! Not here:  names themselves (see `tag`), the job's paths (see `plan`)

use super::chars::trim;

/// The namespace of `xml:` attributes, bound to `xml` always.
pub(super) const XML_URI: &str = "http://www.w3.org/XML/1998/namespace";
/// The namespace of declarations themselves.
pub(super) const XMLNS_URI: &str = "http://www.w3.org/2000/xmlns/";
/// The namespace of `xsi:nil`.
pub(super) const XSI_URI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Declarations in scope at one place. Without a limit, a look-up per element would be a way to keep a worker busy.
pub(super) const BINDINGS_MAX: usize = 256;

/// A namespace, as a small number: names compare by it without comparing URIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct NamespaceId(u32);

impl NamespaceId {
    pub(super) const NONE: NamespaceId = NamespaceId(0);
    pub(super) const XML: NamespaceId = NamespaceId(1);
    pub(super) const XSI: NamespaceId = NamespaceId(2);
    pub(super) const XMLNS: NamespaceId = NamespaceId(3);
    /// A namespace that the job does not name; two of them need not be the same.
    pub(super) const OTHER: NamespaceId = NamespaceId(u32::MAX);
}

/// The namespaces that a job names, numbered.
#[derive(Debug)]
pub(super) struct Namespaces(Vec<String>);

impl Namespaces {
    pub(super) fn new() -> Namespaces {
        Namespaces(["", XML_URI, XSI_URI, XMLNS_URI].map(str::to_owned).to_vec())
    }

    /// The number of a namespace of the job; a new one is added.
    pub(super) fn intern(&mut self, uri: Option<&str>) -> NamespaceId {
        let uri = uri.unwrap_or_default();
        let known = self.find(uri);
        if known != NamespaceId::OTHER {
            return known;
        }
        self.0.push(uri.to_owned());
        self.find(uri)
    }

    /// The number of a namespace of the document.
    pub(super) fn find(&self, uri: &str) -> NamespaceId {
        let index = self.0.iter().position(|known| known == uri).and_then(|index| u32::try_from(index).ok());
        index.map_or(NamespaceId::OTHER, NamespaceId)
    }
}

/// What a prefix means here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Resolved {
    pub(super) id: NamespaceId,
    /// Index of the binding that says so; `None`: bound by XML itself, or no namespace at all.
    binding: Option<usize>,
}

impl Resolved {
    pub(super) const NONE: Resolved = Resolved { id: NamespaceId::NONE, binding: None };
    const XML: Resolved = Resolved { id: NamespaceId::XML, binding: None };
    pub(super) const XMLNS: Resolved = Resolved { id: NamespaceId::XMLNS, binding: None };
}

/// One declaration. Prefix and URI stand in [`Scope::buffer`], one behind the other.
#[derive(Clone, Debug)]
struct Binding {
    start: usize,
    prefix_end: usize,
    end: usize,
    id: NamespaceId,
    /// See [`Hint`].
    hint: Hint,
    /// Different for every declaration of a document.
    stamp: u64,
}

/// A prefix's length and its first bytes: two prefixes of different hints are different, which is told without looking at the
/// texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hint(u64);

impl Hint {
    fn of(prefix: &str) -> Hint {
        let bytes = prefix.as_bytes().iter().take(7);
        let first = bytes.fold(0_u64, |packed, byte| packed << 8 | u64::from(*byte));
        Hint(first << 8 | u64::try_from(prefix.len() & 0xff).unwrap_or_default())
    }
}

/// All declarations that are in scope, the outermost first.
#[derive(Debug, Default)]
pub(super) struct Scope {
    bindings: Vec<Binding>,
    buffer: String,
    stamp: u64,
}

impl Scope {
    pub(super) fn len(&self) -> usize {
        self.bindings.len()
    }

    /// Forgets all declarations but the first `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        if let Some(first) = self.bindings.get(len) {
            self.buffer.truncate(first.start);
            self.bindings.truncate(len);
        }
    }

    /// Forgets all declarations, and the memory that a rare document with long ones took.
    pub(super) fn clear(&mut self) {
        const KEPT_BYTES: usize = 4096;
        self.truncate(0);
        self.buffer.shrink_to(KEPT_BYTES);
    }

    /// Takes `xmlns:prefix="uri"`, or `xmlns="uri"` with an empty prefix.
    pub(super) fn declare(
        &mut self,
        prefix: &str,
        uri: &str,
        known: &Namespaces,
    ) -> Result<(), &'static str> {
        match (prefix, uri) {
            ("xml", XML_URI) => return Ok(()),
            ("xml", _) | (_, XML_URI) => return Err("the prefix `xml` and its namespace belong together"),
            ("xmlns", _) | (_, XMLNS_URI) => {
                return Err("the prefix `xmlns` and its namespace cannot be declared");
            }
            (prefix, "") if !prefix.is_empty() => return Err("a prefix is bound to no namespace at all"),
            _ => {}
        }
        let start = self.buffer.len();
        self.buffer.push_str(prefix);
        let prefix_end = self.buffer.len();
        self.buffer.push_str(uri);
        self.stamp = self.stamp.wrapping_add(1);
        let (end, id, stamp, hint) = (self.buffer.len(), known.find(uri), self.stamp, Hint::of(prefix));
        self.bindings.push(Binding { start, prefix_end, end, id, hint, stamp });
        Ok(())
    }

    /// What an element's prefix means here; the empty prefix is the default namespace. `None`: it is not declared.
    pub(super) fn resolve(&self, prefix: &str) -> Option<Resolved> {
        let hint = Hint::of(prefix);
        let means_it = |binding: &Binding| binding.hint == hint && self.prefix(binding) == prefix;
        let found = self.bindings.iter().enumerate().rev().find(|(_, binding)| means_it(binding));
        match found {
            Some((index, binding)) => Some(Resolved { id: binding.id, binding: Some(index) }),
            None if prefix.is_empty() => Some(Resolved::NONE),
            None if prefix == "xml" => Some(Resolved::XML),
            None => None,
        }
    }

    /// The URI behind [`Scope::resolve`].
    pub(super) fn uri(&self, resolved: Resolved) -> &str {
        match (resolved.binding.and_then(|index| self.bindings.get(index)), resolved.id) {
            (Some(binding), _) => self.buffer.get(binding.prefix_end..binding.end).unwrap_or_default(),
            (None, NamespaceId::XML) => XML_URI,
            (None, NamespaceId::XMLNS) => XMLNS_URI,
            (None, _) => "",
        }
    }

    /// The innermost prefix that means `uri` here and is not hidden by a declaration further inside. Empty: the
    /// default namespace.
    pub(super) fn prefix_of(&self, uri: &str) -> Option<&str> {
        self.prefix_where(uri, |_| true)
    }

    /// The same for an attribute, for which the default namespace is none.
    pub(super) fn attribute_prefix_of(&self, uri: &str) -> Option<&str> {
        self.prefix_where(uri, |prefix| !prefix.is_empty())
    }

    /// What is in scope, the outermost declaration first: a number that no other declaration of the document has, prefix and
    /// URI. What a declaration further inside hides is there, too.
    pub(super) fn declarations(&self) -> impl Iterator<Item = (u64, &str, &str)> {
        let uri = |binding: &Binding| self.buffer.get(binding.prefix_end..binding.end).unwrap_or_default();
        self.bindings.iter().map(move |binding| (binding.stamp, self.prefix(binding), uri(binding)))
    }

    fn prefix_where(&self, uri: &str, takes: impl Fn(&str) -> bool) -> Option<&str> {
        if uri == XML_URI {
            return Some("xml");
        }
        let means_it = |binding: &&Binding| self.buffer.get(binding.prefix_end..binding.end) == Some(uri);
        self.bindings
            .iter()
            .rev()
            .filter(means_it)
            .map(|binding| self.prefix(binding))
            .filter(|prefix| takes(prefix))
            .find(|prefix| self.resolve(prefix).is_some_and(|resolved| self.uri(resolved) == uri))
    }

    fn prefix(&self, binding: &Binding) -> &str {
        self.buffer.get(binding.start..binding.prefix_end).unwrap_or_default()
    }
}

/// Reads the value of `xsi:nil`.
pub(super) fn nil(value: &str) -> Option<bool> {
    match trim(value) {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_declarations_hide_outer_ones_and_go_with_their_element() {
        let mut known = Namespaces::new();
        let u = known.intern(Some("u"));
        let mut scope = Scope::default();
        scope.declare("", "u", &known).unwrap();
        scope.declare("p", "u", &known).unwrap();
        let outer = scope.len();
        scope.declare("p", "v", &known).unwrap();
        scope.declare("", "", &known).unwrap();
        assert_eq!(scope.resolve("p").unwrap().id, NamespaceId::OTHER);
        assert_eq!(scope.uri(scope.resolve("p").unwrap()), "v");
        assert_eq!(scope.resolve("").unwrap().id, NamespaceId::NONE);
        assert_eq!(scope.prefix_of("u"), None);
        assert_eq!(scope.prefix_of("v"), Some("p"));
        scope.truncate(outer);
        assert_eq!(scope.resolve("p").unwrap().id, u);
        assert_eq!(scope.prefix_of("u"), Some("p"));
        assert_eq!(scope.resolve("q"), None);
        assert_eq!(scope.resolve("xml").unwrap().id, NamespaceId::XML);
        scope.clear();
        assert!(scope.buffer.is_empty());
        assert_eq!(scope.resolve("p"), None);
        assert_eq!(scope.resolve(""), Some(Resolved::NONE));
    }

    #[test]
    fn declarations_that_are_forbidden() {
        let known = Namespaces::new();
        let mut scope = Scope::default();
        for (prefix, uri) in [
            ("xml", "u"),
            ("p", XML_URI),
            ("", XML_URI),
            ("xmlns", "u"),
            ("p", XMLNS_URI),
            ("", XMLNS_URI),
            ("p", ""),
        ] {
            assert!(scope.declare(prefix, uri, &known).is_err(), "{prefix} {uri}");
        }
        assert!(scope.declare("xml", XML_URI, &known).is_ok());
        assert_eq!(scope.len(), 0);
    }
}
