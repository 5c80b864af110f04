//! From a record's bytes to text that may be tokenised.
//!
//! In:        bytes     Out: the text, without its byte-order mark
//! Order:     size, encoding, declaration, UTF-8, characters: the cheapest refusal first
//! Fails:     over `limits.document_bytes`, an encoding that is not read, bytes or characters that XML cannot hold
//! Not here:  markup (see `walk`)

use super::chars::first_illegal;
use super::declaration::{self, Declared};
use super::fault::Fault;
use crate::model::{Reason, ReasonCode};

/// A document's text and where it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    /// The whole document without its byte-order mark. Every character is one that XML allows.
    pub(super) text: &'a str,
    /// Bytes of the document in front of `text`: the byte-order mark, or none.
    pub(super) base_bytes: usize,
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// What the first bytes say where the document is not UTF-8.
const FOREIGN: [(&[u8], &str); 7] = [
    (b"\xff\xfe\0\0", "UTF-32 (little endian, by its byte-order mark)"),
    (b"\0\0\xfe\xff", "UTF-32 (big endian, by its byte-order mark)"),
    (b"\xff\xfe", "UTF-16 (little endian, by its byte-order mark)"),
    (b"\xfe\xff", "UTF-16 (big endian, by its byte-order mark)"),
    (b"<\0", "UTF-16 (little endian, without a byte-order mark)"),
    (b"\0<", "UTF-16 (big endian, without a byte-order mark)"),
    (b"\x4c\x6f\xa7\x94", "EBCDIC"),
];

/// Checks everything that can be checked before the first tag.
pub(super) fn open(document: &[u8], document_bytes_max: usize) -> Result<Text<'_>, Reason> {
    if document.len() > document_bytes_max {
        let detail = format!(
            "the document has {} bytes; limits.document_bytes allows {document_bytes_max}",
            document.len()
        );
        return Err(Reason { code: ReasonCode::Limit, detail });
    }
    if let Some((_, name)) = FOREIGN.iter().find(|(start, _)| document.starts_with(start)) {
        let detail = format!("the document is in {name}; this version reads UTF-8 only");
        return Err(Reason { code: ReasonCode::Encoding, detail });
    }
    let body = document.strip_prefix(UTF8_MARK).unwrap_or(document);
    let declared = declaration::read(body).map_err(|fault| fault.into_reason(""))?;
    let text = decode(body)?;
    check(text, declared).map_err(|fault| fault.into_reason(text))?;
    Ok(Text { text, base_bytes: document.len().saturating_sub(body.len()) })
}

/// Whether a document that [`open`] has accepted declares US-ASCII: what is added must be ASCII, too.
pub(super) fn is_declared_ascii(document: &[u8]) -> bool {
    let body = document.strip_prefix(UTF8_MARK).unwrap_or(document);
    matches!(declaration::read(body), Ok(Declared::Ascii))
}

fn decode(body: &[u8]) -> Result<&str, Reason> {
    std::str::from_utf8(body).map_err(|error| {
        let valid = body.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok());
        let at = error.valid_up_to();
        Fault::new(ReasonCode::Encoding, at, "a byte that is not UTF-8")
            .into_reason(valid.unwrap_or_default())
    })
}

fn check(text: &str, declared: Declared) -> Result<(), Fault> {
    if declared == Declared::Ascii
        && let Some(at) = text.bytes().position(|b| !b.is_ascii())
    {
        let detail = "the document declares US-ASCII and holds a byte above 127";
        return Err(Fault::new(ReasonCode::Encoding, at, detail));
    }
    if let Some((at, c)) = first_illegal(text) {
        let detail = format!("the character U+{:04X}, which XML cannot hold", u32::from(c));
        return Err(Fault::not_well_formed(at, detail));
    }
    if text.starts_with('\u{feff}') {
        return Err(Fault::not_well_formed(0, "a second byte-order mark"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(document: &[u8]) -> (ReasonCode, String) {
        let reason = open(document, 1000).unwrap_err();
        (reason.code, reason.detail)
    }

    #[test]
    fn size_comes_first() {
        let (code, detail) = refusal(&[0; 1001]);
        assert_eq!(code, ReasonCode::Limit);
        assert_eq!(detail, "the document has 1001 bytes; limits.document_bytes allows 1000");
        assert!(open(&[b' '; 1000], 1000).is_ok());
    }

    #[test]
    fn foreign_encodings_are_named() {
        for (bytes, name) in [
            (&b"\xff\xfe<\0a\0"[..], "UTF-16 (little endian, by"),
            (b"\xfe\xff\0<\0a", "UTF-16 (big endian, by"),
            (b"<\0?\0", "UTF-16 (little endian, without"),
            (b"\xff\xfe\0\0<\0\0\0", "UTF-32"),
            (b"\x4c\x6f\xa7\x94\x93", "EBCDIC"),
        ] {
            let (code, detail) = refusal(bytes);
            assert_eq!(code, ReasonCode::Encoding);
            assert!(detail.contains(name), "{detail}");
        }
    }

    #[test]
    fn the_declaration_speaks_before_the_bytes() {
        let (code, detail) = refusal(b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe4</a>");
        assert_eq!(code, ReasonCode::Encoding);
        assert!(detail.contains("ISO-8859-1"), "{detail}");
    }

    #[test]
    fn bytes_and_characters() {
        let (code, detail) = refusal(b"<a>\n\xe4</a>");
        assert_eq!(
            (code, detail.as_str()),
            (ReasonCode::Encoding, "line 2, column 1: a byte that is not UTF-8")
        );
        let (code, detail) = refusal(b"<a/>\n\0");
        assert_eq!(code, ReasonCode::NotWellFormed);
        assert_eq!(detail, "line 2, column 1: the character U+0000, which XML cannot hold");
        let (code, _) = refusal("<?xml version='1.0' encoding='ascii'?><a>ä</a>".as_bytes());
        assert_eq!(code, ReasonCode::Encoding);
        let (code, _) = refusal("\u{feff}\u{feff}<a/>".as_bytes());
        assert_eq!(code, ReasonCode::NotWellFormed);
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        let opened = open("\u{feff}<a/>".as_bytes(), 1000).unwrap();
        assert_eq!((opened.text, opened.base_bytes), ("<a/>", 3));
    }
}
