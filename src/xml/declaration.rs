//! The XML declaration: `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>`.
//!
//! In:        the document's first bytes, behind a byte-order mark     Out: what it declares
//! Fails:     not of that form, another version, an encoding that this version does not read
//! Not here:  byte-order marks and the bytes themselves (see `document`)

use super::chars::{is_space, trim};
use super::fault::Fault;
use crate::model::ReasonCode;

/// The encoding that a document claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Declared {
    /// UTF-8, by name or by saying nothing.
    Utf8,
    /// US-ASCII: every byte must be below 128.
    Ascii,
}

/// Reads the declaration, if the document begins with one.
pub(super) fn read(document: &[u8]) -> Result<Declared, Fault> {
    let begins = |rest: &&[u8]| rest.first().is_some_and(|b| is_space(*b) || *b == b'?');
    let Some(rest) = document.strip_prefix(b"<?xml").filter(begins) else {
        return Ok(Declared::Utf8);
    };
    let end = rest.windows(2).position(|pair| pair == b"?>");
    let content = end.and_then(|end| rest.get(..end)).and_then(|content| std::str::from_utf8(content).ok());
    let malformed =
        || Fault::not_well_formed(0, "the XML declaration is not `<?xml version=\"1.0\" encoding=\"...\"?>`");
    let content = content.ok_or_else(malformed)?;

    let (version, rest) = pseudo_attribute(content, "version").ok_or_else(malformed)?;
    if version != "1.0" {
        return Err(Fault::not_well_formed(
            0,
            "the document declares an XML version other than 1.0; only 1.0 is read",
        ));
    }
    let (declared, rest) = match pseudo_attribute(rest, "encoding") {
        Some((label, rest)) => (known_encoding(label)?, rest),
        None => (Declared::Utf8, rest),
    };
    let rest = match pseudo_attribute(rest, "standalone") {
        Some(("yes" | "no", rest)) => rest,
        Some(_) => return Err(malformed()),
        None => rest,
    };
    if trim(rest).is_empty() { Ok(declared) } else { Err(malformed()) }
}

/// ` name="value"` at the start of `text`: the value, and what follows.
fn pseudo_attribute<'a>(text: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let rest = text.trim_start_matches(super::chars::WHITE_SPACE);
    if rest.len() == text.len() {
        return None;
    }
    let rest = rest.strip_prefix(name)?.trim_start_matches(super::chars::WHITE_SPACE);
    let rest = rest.strip_prefix('=')?.trim_start_matches(super::chars::WHITE_SPACE);
    match rest.strip_prefix('"') {
        Some(rest) => rest.split_once('"'),
        None => rest.strip_prefix('\'')?.split_once('\''),
    }
}

fn known_encoding(label: &str) -> Result<Declared, Fault> {
    const LABEL_BYTES_MAX: usize = 40;
    let is = |name: &str| label.eq_ignore_ascii_case(name);
    if is("UTF-8") || is("UTF8") {
        return Ok(Declared::Utf8);
    }
    if is("US-ASCII") || is("ASCII") {
        return Ok(Declared::Ascii);
    }
    // A label is told back only where it looks like one: the rest of a document is nobody's business.
    let is_label = label.len() <= LABEL_BYTES_MAX
        && label.starts_with(|c: char| c.is_ascii_alphabetic())
        && label.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'));
    let named = if is_label { format!("the encoding {label}") } else { "an unknown encoding".to_owned() };
    let detail = format!("the document declares {named}; this version reads UTF-8 only");
    Err(Fault::new(ReasonCode::Encoding, 0, detail))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read() {
        for (text, declared) in [
            ("<a/>", Declared::Utf8),
            ("<?xml-stylesheet href='x'?><a/>", Declared::Utf8),
            ("<?xml version=\"1.0\"?><a/>", Declared::Utf8),
            ("<?xml version='1.0' encoding='utf-8' standalone='no' ?><a/>", Declared::Utf8),
            ("<?xml\n version = '1.0'\tencoding = \"US-ASCII\"?><a/>", Declared::Ascii),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap(), declared, "{text}");
        }
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
            ("<?xml version='1.0", "the XML declaration is not"),
            ("<?xml version='1.1'?><a/>", "only 1.0 is read"),
            ("<?xml version='1.0' encoding='ISO-8859-1'?><a/>", "the encoding ISO-8859-1"),
            ("<?xml version='1.0' encoding='UTF-16'?><a/>", "the encoding UTF-16"),
            ("<?xml version='1.0' encoding='my secret'?><a/>", "an unknown encoding"),
        ] {
            let reason = read(text.as_bytes()).unwrap_err().into_reason(text);
            assert!(reason.detail.contains(detail), "{text}: {reason}");
        }
    }
}
