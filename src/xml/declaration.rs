//! The XML declaration: `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`.
//!
//! In:        the document's first characters, behind a byte-order mark     Out: what it declares
//! Fails:     not of that form; XML 1.1
//! Not here:  byte-order marks, and what the name of an encoding means (see `document`)

use super::chars::{WHITE_SPACE, is_space, trim};
use super::fault::Fault;

/// What a document says of itself. One without a declaration says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Declaration<'a> {
    /// The encoding's name as it is written, and its byte offset.
    pub(super) encoding: Option<(&'a str, usize)>,
    /// `standalone="yes"`: nothing outside the document changes its content.
    pub(super) standalone: bool,
    /// Bytes of the declaration; 0 without one.
    pub(super) len: usize,
}

/// Reads the declaration, if the document begins with one. Only the declaration need be UTF-8.
pub(super) fn read(document: &[u8]) -> Result<Declaration<'_>, Fault> {
    let begins = |rest: &&[u8]| rest.first().is_some_and(|b| is_space(*b) || *b == b'?');
    let Some(rest) = document.strip_prefix(START).filter(begins) else {
        return Ok(Declaration::default());
    };
    let end = rest.windows(2).position(|pair| pair == b"?>").ok_or_else(malformed)?;
    let content = rest.get(..end).and_then(|content| std::str::from_utf8(content).ok());
    let content = content.ok_or_else(malformed)?;
    let offset = |of: &str| START.len().saturating_add(content.len().saturating_sub(of.len()));

    let (version, rest) = pseudo_attribute(content, "version").ok_or_else(malformed)?;
    check_version(version)?;
    let (encoding, rest) = match pseudo_attribute(rest, "encoding") {
        Some((name, behind)) if is_encoding_name(name) => {
            let at = offset(behind).saturating_sub(name.len().saturating_add(1));
            (Some((name, at)), behind)
        }
        Some(_) => return Err(malformed()),
        None => (None, rest),
    };
    let (standalone, rest) = match pseudo_attribute(rest, "standalone") {
        Some((answer @ ("yes" | "no"), rest)) => (answer == "yes", rest),
        Some(_) => return Err(malformed()),
        None => (false, rest),
    };
    let len = START.len().saturating_add(end).saturating_add(2);
    if trim(rest).is_empty() { Ok(Declaration { encoding, standalone, len }) } else { Err(malformed()) }
}

const START: &[u8] = b"<?xml";

fn malformed() -> Fault {
    Fault::not_well_formed(0, "the XML declaration is not `<?xml version=\"1.0\" encoding=\"...\"?>`")
}

/// A processor of XML 1.0 reads what says 1.x as 1.0, by the fifth edition. 1.1 is there, and other names and line ends
/// are legal in it: reading it as 1.0 would be reading something else.
fn check_version(version: &str) -> Result<(), Fault> {
    let minor = version.strip_prefix("1.").unwrap_or_default();
    if version == "1.1" {
        let detail = "the document declares XML 1.1; only XML 1.0 is read";
        return Err(Fault::not_well_formed(0, detail));
    }
    if minor.is_empty() || !minor.bytes().all(|b| b.is_ascii_digit()) {
        let detail = "the document declares a version of XML that is not 1.0; only XML 1.0 is read";
        return Err(Fault::not_well_formed(0, detail));
    }
    Ok(())
}

/// The production EncName.
fn is_encoding_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

/// ` name="value"` at the start of `text`: the value, and what follows.
fn pseudo_attribute<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let rest = text.trim_start_matches(WHITE_SPACE);
    if rest.len() == text.len() {
        return None;
    }
    let rest = rest.strip_prefix(name)?.trim_start_matches(WHITE_SPACE);
    let rest = rest.strip_prefix('=')?.trim_start_matches(WHITE_SPACE);
    match rest.strip_prefix('"') {
        Some(rest) => rest.split_once('"'),
        None => rest.strip_prefix('\'')?.split_once('\''),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read() {
        for (text, encoding, standalone) in [
            ("<a/>", None, false),
            ("<?xml-stylesheet href='x'?><a/>", None, false),
            ("<?xml version=\"1.0\"?><a/>", None, false),
            ("<?xml version='1.7'?><a/>", None, false),
            ("<?xml version='1.0' standalone='yes'?><a/>", None, true),
            ("<?xml version='1.0' encoding='utf-8' standalone='no' ?><a/>", Some(("utf-8", 30)), false),
            ("<?xml\n version = '1.0'\tencoding = \"US-ASCII\"?><a/>", Some(("US-ASCII", 35)), false),
            ("<?xml version='1.0' encoding='x-mine'?>\u{e9}", Some(("x-mine", 30)), false),
        ] {
            let read = read(text.as_bytes()).unwrap();
            assert_eq!((read.encoding, read.standalone), (encoding, standalone), "{text}");
            if let Some((name, at)) = encoding {
                assert_eq!(text.get(at..at + name.len()), Some(name));
            }
        }
        assert_eq!(read(b"<?xml version='1.0' ?>\xff").unwrap().len, 22);
    }

    #[test]
    fn what_is_refused() {
        for (text, detail) in [
            ("<?xml?><a/>", "the XML declaration is not"),
            ("<?xml ?><a/>", "the XML declaration is not"),
            ("<?xml encoding='UTF-8'?><a/>", "the XML declaration is not"),
            ("<?xml version='1.0'encoding='UTF-8'?><a/>", "the XML declaration is not"),
            ("<?xml version='1.0' standalone='maybe'?><a/>", "the XML declaration is not"),
            ("<?xml version='1.0' standalone='yes' encoding='UTF-8'?><a/>", "the XML declaration is not"),
            ("<?xml version='1.0' encoding='my secret'?><a/>", "the XML declaration is not"),
            ("<?xml version='1.0' encoding=''?><a/>", "the XML declaration is not"),
            ("<?xml version='1.0", "the XML declaration is not"),
            ("<?xml version='1.1'?><a/>", "declares XML 1.1; only XML 1.0 is read"),
            ("<?xml version='2.0'?><a/>", "that is not 1.0"),
            ("<?xml version='1.'?><a/>", "that is not 1.0"),
            ("<?xml version='1.0a'?><a/>", "that is not 1.0"),
        ] {
            let reason = read(text.as_bytes()).unwrap_err().into_reason(text);
            assert!(reason.detail.contains(detail), "{text}: {reason}");
        }
    }
}
