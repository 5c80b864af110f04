//! From a record's bytes to text that may be tokenised, and from changes of the text to bytes again.
//!
//! In:        bytes     Out: the text, decoded, without its byte-order mark
//! Order:     size, encoding, declaration, bytes, characters: the cheapest refusal first
//! Fails:     over `limits.document_bytes`, an encoding that is not read or is contradicted, bytes or characters that
//!            XML cannot hold
//! Not here:  markup (see `walk`)
//!
//! The first bytes decide, then the declaration, and the two must agree: a byte-order mark, `<?` in UTF-16, else
//! something in which the declaration can be read as ASCII. Without either it is UTF-8.

mod apply;
mod encoding;

pub(super) use apply::{ApplyError, TextEdit, apply};

use super::chars::first_illegal;
use super::declaration::{self, Declaration};
use super::fault::Fault;
use crate::model::{Reason, ReasonCode};
use encoding::{Encoding, Malformed, Named, Order};
use std::borrow::Cow;

/// A document's text and where it begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'a> {
    /// The whole document without its byte-order mark. Every character is one that XML allows.
    pub(super) text: &'a str,
    /// Bytes of the XML declaration at the start of `text`.
    pub(super) declaration_bytes: usize,
    /// Whether it declares that nothing outside changes its content.
    pub(super) standalone: bool,
}

/// A document that may be tokenised.
#[derive(Debug)]
pub(super) struct Opened<'a> {
    /// Borrowed where the document is UTF-8.
    text: Cow<'a, str>,
    declaration_bytes: usize,
    standalone: bool,
}

impl Opened<'_> {
    pub(super) fn text(&self) -> Text<'_> {
        Text { text: &self.text, declaration_bytes: self.declaration_bytes, standalone: self.standalone }
    }
}

/// What the document's first bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// A byte-order mark.
    Mark(Encoding),
    /// `<?` in UTF-16, without a mark.
    Sniffed(Order),
    /// Nothing: the declaration is ASCII, whatever follows it.
    Plain,
}

const MARKS: [(&[u8], Encoding); 3] = [
    (b"\xef\xbb\xbf", Encoding::Utf8),
    (b"\xff\xfe", Encoding::Utf16(Order::LittleEndian)),
    (b"\xfe\xff", Encoding::Utf16(Order::BigEndian)),
];

const SNIFFED: [(&[u8], Order); 2] = [(b"<\0?\0", Order::LittleEndian), (b"\0<\0?", Order::BigEndian)];

/// What is not read. The marks of UTF-32 begin as those of UTF-16 do.
const FOREIGN: [(&[u8], &str); 7] = [
    (b"\xff\xfe\0\0", "UTF-32 (little endian, by its byte-order mark)"),
    (b"\0\0\xfe\xff", "UTF-32 (big endian, by its byte-order mark)"),
    (b"<\0\0\0", "UTF-32 (little endian)"),
    (b"\0\0\0<", "UTF-32 (big endian)"),
    (b"\x4c\x6f\xa7\x94", "EBCDIC"),
    (b"<\0", "UTF-16 (little endian) without a byte-order mark and a declaration"),
    (b"\0<", "UTF-16 (big endian) without a byte-order mark and a declaration"),
];

/// Checks everything that can be checked before the first tag.
pub(super) fn open(document: &[u8], document_bytes_max: usize) -> Result<Opened<'_>, Reason> {
    if document.len() > document_bytes_max {
        let detail = format!(
            "the document has {} bytes; limits.document_bytes allows {document_bytes_max}",
            document.len()
        );
        return Err(Reason { code: ReasonCode::Limit, detail });
    }
    let (encoding, mark_bytes) = detect(document).map_err(|fault| fault.into_reason(&readable(document)))?;
    let body = document.get(mark_bytes..).unwrap_or_default();
    let text = encoding.decode(body).map_err(|malformed| unreadable(encoding, &malformed))?;
    // For UTF-16 it could not be read before.
    let declared = declaration::read(text.as_bytes());
    let agreed = declared.and_then(|declared| settle(start_of(document).0, declared).map(|_| declared));
    let declared = agreed.and_then(|declared| check(&text).map(|()| declared));
    let Declaration { len: declaration_bytes, standalone, .. } =
        declared.map_err(|fault| fault.into_reason(&text))?;
    Ok(Opened { declaration_bytes, standalone, text })
}

/// The text up to the first byte that is not UTF-8, for telling a place in the declaration.
fn readable(document: &[u8]) -> Cow<'_, str> {
    let body = document.get(start_of(document).1..).unwrap_or_default();
    Encoding::Utf8.decode(body).unwrap_or_else(|malformed| malformed.before)
}

/// Bytes of the mark of a document that [`open`] has taken, where its text is its bytes behind the mark: in UTF-8 and ASCII. Places in
/// the text are then places among the bytes, and nothing needs to be decoded again.
pub(super) fn plain_from(document: &[u8]) -> Option<usize> {
    match detect(document) {
        Ok((Encoding::Utf8 | Encoding::Ascii, mark_bytes)) => Some(mark_bytes),
        Ok(_) | Err(_) => None,
    }
}

/// The document's encoding and the bytes of its mark. A declaration in UTF-16 is not looked at.
fn detect(document: &[u8]) -> Result<(Encoding, usize), Fault> {
    let (start, mark_bytes) = start_of(document);
    match start {
        Start::Mark(encoding @ Encoding::Utf16(_)) if !is_foreign(document, "UTF-32") => {
            return Ok((encoding, mark_bytes));
        }
        Start::Sniffed(order) => return Ok((Encoding::Utf16(order), mark_bytes)),
        Start::Mark(_) | Start::Plain => {}
    }
    if let Some((_, name)) = FOREIGN.iter().find(|(start, _)| document.starts_with(start)) {
        let detail = format!("the document is in {name}, which is not read");
        return Err(Fault::new(ReasonCode::Encoding, 0, detail));
    }
    let declared = declaration::read(document.get(mark_bytes..).unwrap_or_default())?;
    Ok((settle(start, declared)?, mark_bytes))
}

fn is_foreign(document: &[u8], family: &str) -> bool {
    FOREIGN.iter().any(|(start, name)| name.starts_with(family) && document.starts_with(start))
}

fn start_of(document: &[u8]) -> (Start, usize) {
    let mark = MARKS.iter().find(|(mark, _)| document.starts_with(mark));
    if let Some((mark, encoding)) = mark {
        return (Start::Mark(*encoding), mark.len());
    }
    let sniffed = SNIFFED.iter().find(|(start, _)| document.starts_with(start));
    (sniffed.map_or(Start::Plain, |(_, order)| Start::Sniffed(*order)), 0)
}

/// The encoding that the first bytes and the declaration agree on.
fn settle(start: Start, declared: Declaration<'_>) -> Result<Encoding, Fault> {
    let Some((name, at)) = declared.encoding else {
        return match start {
            Start::Mark(encoding) => Ok(encoding),
            Start::Plain => Ok(Encoding::Utf8),
            Start::Sniffed(_) => {
                let detail =
                    "the document is in UTF-16 and has neither a byte-order mark nor a declared encoding";
                Err(Fault::new(ReasonCode::Encoding, 0, detail))
            }
        };
    };
    // A name is told back only where it is short: the rest of a document is nobody's business.
    const NAME_BYTES_MAX: usize = 40;
    let told = if name.len() <= NAME_BYTES_MAX { name } else { "of a very long name" };
    let Some(named) = encoding::named(name) else {
        let detail = format!("the document declares the encoding {told}, which is not known");
        return Err(Fault::new(ReasonCode::Encoding, at, detail));
    };
    let shown = match start {
        Start::Mark(encoding) => encoding,
        Start::Sniffed(order) => Encoding::Utf16(order),
        Start::Plain => match named {
            Named::One(encoding) if !matches!(encoding, Encoding::Utf16(_)) => return Ok(encoding),
            _ => Encoding::Utf8,
        },
    };
    let agrees = match named {
        Named::One(encoding) => encoding == shown,
        Named::Utf16 => matches!(shown, Encoding::Utf16(_)),
    };
    if agrees {
        return Ok(shown);
    }
    let by = match start {
        Start::Mark(_) => format!("its byte-order mark says {}", shown.name()),
        Start::Sniffed(_) => format!("it is in {}", shown.name()),
        Start::Plain => "its bytes are not".to_owned(),
    };
    let detail = format!("the document declares the encoding {told}, and {by}");
    Err(Fault::new(ReasonCode::Encoding, at, detail))
}

fn unreadable(encoding: Encoding, malformed: &Malformed<'_>) -> Reason {
    let detail = match encoding {
        Encoding::Ascii => "the document declares US-ASCII and holds a byte above 127".to_owned(),
        _ => format!("a byte that is not {}", encoding.name()),
    };
    Fault::new(ReasonCode::Encoding, malformed.before.len(), detail).into_reason(&malformed.before)
}

fn check(text: &str) -> Result<(), Fault> {
    if u32::try_from(text.len()).is_err() {
        let detail = "the document has more than 4 GiB once it is UTF-8";
        return Err(Fault::new(ReasonCode::Limit, 0, detail));
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
mod tests;
