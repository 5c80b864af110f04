//! Prefixes: a short name for each namespace.
//!
//! In:        the namespaces of the samples with the prefixes that the samples use     Out: one prefix for each, none twice
//! Order:     that of first appearance
//! Fails:     never
//!
//! A prefix of the document is kept where it is a word. The default namespace has none, and machines write `ns2`, which may be
//! another namespace in the next document: these get one out of their URI, which is the same each time.

use crate::job::Name;
use std::collections::HashSet;

/// The URI that `xml` always has.
const XML_URI: &str = "http://www.w3.org/XML/1998/namespace";
/// Longest prefix made of a URI.
const CHARS_MAX: usize = 12;

/// Words of URIs that say nothing of what is in them.
const SAYS_NOTHING: [&str; 28] = [
    "http",
    "https",
    "www",
    "urn",
    "schema",
    "schemas",
    "xsd",
    "xml",
    "org",
    "com",
    "net",
    "eu",
    "de",
    "uk",
    "names",
    "specification",
    "std",
    "tech",
    "ns",
    "namespace",
    "namespaces",
    "standard",
    "data",
    "html",
    "info",
    "xmlns",
    "draft",
    "uncefact",
];

/// The job's prefixes.
#[derive(Debug, Default)]
pub(super) struct Prefixes(Vec<(String, String)>);

impl Prefixes {
    /// A prefix for each URI; the second of each pair is what a sample uses, empty for a default namespace.
    pub(super) fn of(used: &[(String, String)]) -> Prefixes {
        let mut prefixes: Vec<(String, String)> = Vec::new();
        let mut taken = HashSet::from(["xml".to_owned(), "xmlns".to_owned()]);
        for (uri, written) in used {
            if prefixes.iter().any(|(known, _)| known == uri) {
                continue;
            }
            let wished = if is_word(written) { written.to_lowercase() } else { from_uri(uri) };
            let numbered = (2_u32..).map(|number| format!("{wished}{number}"));
            let mut candidates = std::iter::once(wished.clone()).chain(numbered);
            let prefix = candidates.find(|candidate| !taken.contains(candidate)).unwrap_or(wished);
            taken.insert(prefix.clone());
            prefixes.push((uri.clone(), prefix));
        }
        Prefixes(prefixes)
    }

    /// A name as a path has it.
    pub(super) fn name(&self, name: &Name) -> String {
        match name.namespace.as_deref() {
            None => name.local.clone(),
            Some(XML_URI) => format!("xml:{}", name.local),
            Some(uri) => {
                let prefix = self.0.iter().find(|(known, _)| known == uri).map_or("", |(_, prefix)| prefix);
                format!("{prefix}:{}", name.local)
            }
        }
    }

    /// URI and prefix of those that any of these paths uses.
    pub(super) fn used_by<'a>(&self, paths: impl Iterator<Item = &'a str>) -> Vec<(&str, &str)> {
        let paths: Vec<&str> = paths.collect();
        let is_used = |prefix: &str| {
            let mark = format!("{prefix}:");
            let starts = |path: &str| {
                path.match_indices(&mark).any(|(at, _)| {
                    let before = path.get(..at).and_then(|before| before.chars().next_back());
                    before.is_none_or(|c| matches!(c, '/' | '@' | '[' | '(' | ' '))
                })
            };
            paths.iter().any(|path| starts(path))
        };
        self.0
            .iter()
            .filter(|(_, prefix)| is_used(prefix))
            .map(|(uri, prefix)| (uri.as_str(), prefix.as_str()))
            .collect()
    }
}

/// Whether a prefix was chosen by a person: `cac`, not `ns3`, `p1` or `_0`.
fn is_word(prefix: &str) -> bool {
    let letters = prefix.chars().take_while(char::is_ascii_alphabetic).count();
    let rest = prefix.get(letters..).unwrap_or_default();
    let plain = letters > 0 && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    let made = !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()) && letters <= 3;
    plain && !made && !prefix.eq_ignore_ascii_case("ns") && !prefix.to_ascii_lowercase().starts_with("xml")
}

/// `urn:iso:std:iso:20022:tech:xsd:camt.053.001.04` to `camt`.
fn from_uri(uri: &str) -> String {
    let mut words = uri.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_ascii_lowercase);
    let says = |word: &String| {
        let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
        let version = word.strip_prefix('v').is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit()));
        letters >= 2
            && word.starts_with(|c: char| c.is_ascii_alphabetic())
            && !version
            && !word.starts_with("xml")
            && !SAYS_NOTHING.contains(&word.as_str())
    };
    let word = words.rfind(says).unwrap_or_else(|| "n".to_owned());
    word.chars().take(CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefixes(used: &[(&str, &str)]) -> Vec<String> {
        let used: Vec<(String, String)> =
            used.iter().map(|(uri, prefix)| ((*uri).to_owned(), (*prefix).to_owned())).collect();
        Prefixes::of(&used).0.into_iter().map(|(_, prefix)| prefix).collect()
    }

    #[test]
    fn a_word_stays_and_machines_are_not_followed() {
        assert_eq!(
            prefixes(&[
                ("urn:iso:std:iso:20022:tech:xsd:camt.053.001.04", ""),
                ("http://datex2.eu/schema/3/common", ""),
                ("http://datex2.eu/schema/3/parking", "ns2"),
                ("urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2", "cbc"),
                ("urn:hl7-org:v3", ""),
                ("http://www.w3.org/2001/XMLSchema-instance", "xsi"),
                ("urn:2", "p1"),
                ("urn:3", "p2"),
                ("urn:shop:cbc", "XML-x"),
            ]),
            ["camt", "common", "parking", "cbc", "hl7", "xsi", "n", "n2", "cbc2"]
        );
    }

    #[test]
    fn only_what_paths_use_is_declared() {
        let used = [("u:a".to_owned(), "pa".to_owned()), ("u:b".to_owned(), "a".to_owned())];
        let prefixes = Prefixes::of(&used);
        assert_eq!(prefixes.used_by(["x/pa:b[@pa:c='a:b']"].into_iter()), [("u:a", "pa")]);
        assert_eq!(
            prefixes.name(&Name { namespace: Some(XML_URI.to_owned()), local: "lang".to_owned() }),
            "xml:lang"
        );
    }
}
