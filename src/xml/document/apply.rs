//! Changes of a document's text, written into its bytes.
//!
//! In:        a document that `open` has taken, and places in its text     Out: a new document
//! Order:     by place; insertions at one place in the order in which they are given
//! Fails:     a name that the document's encoding cannot express; places that are not of this document
//! Not here:  what is written and where (see `splice`)
//!
//! Bytes outside the places are copied as they are, in every encoding: a place in the text is found among the bytes by
//! decoding what is in front of it, and only what is inserted is encoded.

use super::detect;
use super::encoding::{Encoding, Order};
use encoding_rs as rs;
use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

/// One change of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::xml) struct TextEdit {
    /// What goes: bytes of the document's text, decoded and without its byte-order mark. Empty: something is put in.
    pub(in crate::xml) range: Range<usize>,
    /// What comes.
    pub(in crate::xml) insert: String,
    /// Whether it is markup, in which no character can be written as a reference. Else it is text or an attribute's value.
    pub(in crate::xml) names: bool,
}

/// Why a document could not be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(in crate::xml) enum ApplyError {
    /// It would stand in a name, and there is no reference there.
    #[error(
        "a name holds the character U+{code_point:04X}, which the document's encoding, {encoding}, does not have"
    )]
    Name {
        /// Unicode code point.
        code_point: u32,
        /// The document's encoding.
        encoding: &'static str,
    },
    /// The edits are not of this document.
    #[error("the edits are not of this document: {detail}")]
    Mismatch {
        /// What does not fit.
        detail: &'static str,
    },
}

const fn mismatch(detail: &'static str) -> ApplyError {
    ApplyError::Mismatch { detail }
}

/// Writes the document with its edits, which do not overlap.
pub(in crate::xml) fn apply(document: &[u8], edits: &[TextEdit]) -> Result<Vec<u8>, ApplyError> {
    let (encoding, mark_bytes) = detect(document).map_err(|_| mismatch("its encoding is not read"))?;
    let body = document.get(mark_bytes..).unwrap_or_default();
    let mut ordered: Vec<&TextEdit> = edits.iter().collect();
    // Stable: what is put in at one place keeps its order, and goes in front of what is taken out there.
    ordered.sort_by_key(|edit| (edit.range.start, edit.range.end));

    if ordered.iter().any(|edit| edit.range.start > edit.range.end) {
        return Err(mismatch("a place that ends before it begins"));
    }
    let inserted: usize = ordered.iter().map(|edit| edit.insert.len()).sum();
    let mut out = Vec::with_capacity(document.len().saturating_add(inserted));
    out.extend_from_slice(document.get(..mark_bytes).unwrap_or_default());
    let mut places = Places::new(encoding, body)?;
    let mut copied = 0;
    let adjacent = |a: &&TextEdit, b: &&TextEdit| a.range.end == b.range.start;
    for group in ordered.chunk_by(adjacent) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let start = places.seek(first.range.start)?;
        let end =
            if first.range.start == last.range.end { start.clone() } else { places.seek(last.range.end)? };
        // A shift between two character sets stays in front of what is put in, and goes with what is taken out.
        let start = if first.range.start == last.range.end { start.end } else { start.start };
        let before = body.get(copied..start).ok_or(mismatch("two edits overlap"))?;
        append(encoding, before, &mut out);
        let text = expressible(encoding, group)?;
        let state = places.state(start);
        encode(encoding, &text, state, &mut out);
        copied = end.end;
    }
    append(encoding, body.get(copied..).unwrap_or_default(), &mut out);
    verify(encoding, body, &ordered, out.get(mark_bytes..).unwrap_or_default())?;
    Ok(out)
}

/// What a group of edits inserts, with references for what the encoding cannot express.
fn expressible(encoding: Encoding, group: &[&TextEdit]) -> Result<String, ApplyError> {
    let mut text = String::with_capacity(group.iter().map(|edit| edit.insert.len()).sum());
    for edit in group {
        for c in edit.insert.chars() {
            if encoding.expresses(c) {
                text.push(c);
            } else if edit.names {
                return Err(ApplyError::Name { code_point: u32::from(c), encoding: encoding.name() });
            } else {
                // Writing to a String cannot fail.
                _ = write!(text, "&#{};", u32::from(c));
            }
        }
    }
    Ok(text)
}

/// The only set with states that is read: escape sequences of three bytes shift between its parts.
fn has_states(encoding: Encoding) -> bool {
    encoding == Encoding::Other(rs::ISO_2022_JP)
}

const ESCAPE: u8 = 0x1b;
const ESCAPE_BYTES: usize = 3;
const TO_ASCII: &[u8] = b"\x1b(B";

/// Appends text, between shifts out of the state that the bytes are in and back.
fn encode(encoding: Encoding, text: &str, state: Option<&[u8]>, out: &mut Vec<u8>) {
    let mut bytes = Vec::new();
    encoding.encode(text, if has_states(encoding) { &mut bytes } else { out });
    let state = state.filter(|state| *state != TO_ASCII && !text.is_empty());
    append(encoding, state.map_or(&[], |_| TO_ASCII), out);
    append(encoding, &bytes, out);
    append(encoding, state.unwrap_or_default(), out);
}

/// Appends bytes. Of two shifts in a row the first is taken out: a reader takes them for an error.
fn append(encoding: Encoding, bytes: &[u8], out: &mut Vec<u8>) {
    if has_states(encoding) && bytes.first() == Some(&ESCAPE) {
        let last = out.len().saturating_sub(ESCAPE_BYTES);
        if out.get(last) == Some(&ESCAPE) {
            out.truncate(last);
        }
    }
    out.extend_from_slice(bytes);
}

/// Finds places of the text among the bytes, from the front to the back.
struct Places<'a> {
    encoding: Encoding,
    body: &'a [u8],
    /// The whole text, where counting its characters or units tells the bytes.
    text: Cow<'a, str>,
    /// How much of the text is passed, and the bytes of that.
    passed: usize,
    bytes: usize,
    /// Where the bytes must be read one by one.
    decoder: Option<rs::Decoder>,
}

impl<'a> Places<'a> {
    fn new(encoding: Encoding, body: &'a [u8]) -> Result<Places<'a>, ApplyError> {
        let decoder = match encoding {
            Encoding::Other(other) if !other.is_single_byte() => {
                Some(other.new_decoder_without_bom_handling())
            }
            _ => None,
        };
        let text = match (encoding, &decoder) {
            (Encoding::Utf8 | Encoding::Ascii, _) | (_, Some(_)) => Cow::Borrowed(""),
            _ => encoding.decode(body).map_err(|_| mismatch("its bytes are not in its encoding"))?,
        };
        Ok(Places { encoding, body, text, passed: 0, bytes: 0, decoder })
    }

    /// The bytes at which the character at `offset` begins: from behind the character in front of it, to behind a shift of
    /// the character set. Offsets never go back.
    fn seek(&mut self, offset: usize) -> Result<Range<usize>, ApplyError> {
        const OUTSIDE: ApplyError =
            mismatch("a place outside the document, inside a character or out of order");
        if let Encoding::Utf8 | Encoding::Ascii = self.encoding {
            let inside = self.body.get(offset).is_some_and(|b| b & 0xc0 == 0x80);
            return if inside || offset > self.body.len() { Err(OUTSIDE) } else { Ok(offset..offset) };
        }
        if self.decoder.is_some() {
            while self.passed < offset {
                self.step().ok_or(OUTSIDE)?;
            }
            if self.passed != offset {
                return Err(OUTSIDE);
            }
        } else {
            let between = self.text.get(self.passed..offset).ok_or(OUTSIDE)?;
            let bytes = match self.encoding {
                Encoding::Utf16(Order::LittleEndian | Order::BigEndian) => {
                    between.encode_utf16().count().saturating_mul(2)
                }
                _ => between.chars().count(),
            };
            self.bytes = self.bytes.saturating_add(bytes);
            self.passed = offset;
        }
        Ok(self.bytes..self.bytes.saturating_add(self.shift_bytes()))
    }

    /// Decodes one more byte.
    fn step(&mut self) -> Option<()> {
        let mut out = [0; 64];
        let next = self.body.get(self.bytes..self.bytes.checked_add(1)?)?;
        let (result, read, written) =
            self.decoder.as_mut()?.decode_to_utf8_without_replacement(next, &mut out, false);
        self.bytes = self.bytes.checked_add(read)?;
        self.passed = self.passed.checked_add(written)?;
        (result == rs::DecoderResult::InputEmpty).then_some(())
    }

    fn shift_bytes(&self) -> usize {
        let shifts = has_states(self.encoding) && self.body.get(self.bytes) == Some(&ESCAPE);
        if shifts { ESCAPE_BYTES } else { 0 }
    }

    /// The last shift in front of a byte; `None`: it is as at the document's start.
    fn state(&self, at: usize) -> Option<&'a [u8]> {
        if !has_states(self.encoding) {
            return None;
        }
        let escape = self.body.get(..at)?.iter().rposition(|b| *b == ESCAPE)?;
        self.body.get(escape..escape.checked_add(ESCAPE_BYTES)?)
    }
}

/// Reads the result back where one byte too many or too few would change the meaning of what follows.
fn verify(encoding: Encoding, body: &[u8], ordered: &[&TextEdit], written: &[u8]) -> Result<(), ApplyError> {
    if !has_states(encoding) {
        return Ok(());
    }
    let changed =
        || mismatch("a place between two shifts of its character set, where nothing can be written");
    let text = encoding.decode(body).map_err(|_| changed())?;
    let mut expected = String::with_capacity(written.len());
    let mut copied = 0;
    for edit in ordered {
        expected.push_str(text.get(copied..edit.range.start).ok_or_else(changed)?);
        expected.push_str(&expressible(encoding, &[edit])?);
        copied = edit.range.end;
    }
    expected.push_str(text.get(copied..).ok_or_else(changed)?);
    if encoding.decode(written).is_ok_and(|found| found == expected) { Ok(()) } else { Err(changed()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edit(range: Range<usize>, insert: &str) -> TextEdit {
        TextEdit { range, insert: insert.to_owned(), names: false }
    }

    /// A document of this text that declares its encoding.
    fn document(name: &str, text: &str) -> (Encoding, String, Vec<u8>) {
        let Some(super::super::Named::One(encoding)) = super::super::encoding::named(name) else {
            panic!("{name}")
        };
        let text = format!("<?xml version=\"1.0\" encoding=\"{name}\"?>{text}");
        let mut bytes = Vec::new();
        encoding.encode(&text, &mut bytes);
        (encoding, text, bytes)
    }

    #[test]
    fn marks_and_untouched_bytes_stay() {
        let text = "\u{feff}<a>\r\n<b x='1'/>ä</a>";
        let found = apply(text.as_bytes(), &[edit(3..3, "<n/>"), edit(15..17, "ö€")]).unwrap();
        assert_eq!(String::from_utf8(found).unwrap(), "\u{feff}<a><n/>\r\n<b x='1'/>ö€</a>");
        let latin = b"<?xml version='1.0' encoding='latin1'?><a>\xe4\x80</a>";
        let found = apply(latin, &[edit(46..46, "ü€\u{81}")]).unwrap();
        assert_eq!(found, b"<?xml version='1.0' encoding='latin1'?><a>\xe4\x80\xfc&#8364;\x81</a>");
    }

    #[test]
    fn insertions_at_one_place_keep_their_order_and_go_in_front_of_what_is_taken_out() {
        let edits = [edit(3..4, "3"), edit(3..3, "1"), edit(3..3, "2"), edit(4..4, "4")];
        assert_eq!(apply(b"<a>x</a>", &edits).unwrap(), b"<a>1234</a>");
    }

    #[test]
    fn names_cannot_be_written_as_references() {
        let latin = b"<?xml version='1.0' encoding='US-ASCII'?><a/>";
        let named = TextEdit { names: true, ..edit(41..41, "<\u{e4}/>") };
        let error = apply(latin, &[named]).unwrap_err();
        assert_eq!(error, ApplyError::Name { code_point: 0xe4, encoding: "US-ASCII" });
    }

    #[test]
    fn places_that_are_none() {
        let shift_jis = document("Shift_JIS", "<a>日</a>").2;
        let start = shift_jis.len() - 6;
        type Case<'a> = (&'a [u8], &'a [(usize, usize)]);
        let cases: [Case<'_>; 6] = [
            ("<a>ä</a>".as_bytes(), &[(4, 4)]),
            (b"<a/>", &[(5, 5)]),
            (b"<a>xy</a>", &[(3, 5), (4, 5)]),
            (b"\xff\xfe<\0a\0/\0>\0", &[(5, 5)]),
            (&shift_jis, &[(start + 1, start + 1)]),
            (&shift_jis, &[(900, 900)]),
        ];
        for (document, places) in cases {
            let edits: Vec<TextEdit> = places.iter().map(|(start, end)| edit(*start..*end, "n")).collect();
            let error = apply(document, &edits).unwrap_err();
            assert!(matches!(error, ApplyError::Mismatch { .. }), "{edits:?}");
        }
    }

    #[test]
    fn shifts_of_the_character_set() {
        let (encoding, text, bytes) = document("ISO-2022-JP", "<a>日本</a><b>本</b>");
        let at = |needle: &str| text.find(needle).unwrap();
        for edits in [
            vec![edit(at("</a>")..at("</a>"), "<n>日</n>")],
            vec![edit(at("日")..at("</a>"), "abc")],
            vec![edit(at("日")..at("</a>"), "本")],
            vec![edit(at("日")..at("</a>"), "")],
            vec![edit(at("日")..at("日"), "語")],
            vec![edit(at("本")..at("本"), "x"), edit(at("<b>")..at("</b>"), "本")],
        ] {
            let mut expected = text.clone();
            for edit in edits.iter().rev() {
                expected.replace_range(edit.range.clone(), &edit.insert);
            }
            let found = apply(&bytes, &edits).unwrap();
            assert_eq!(encoding.decode(&found).unwrap(), expected, "{edits:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn the_text_changes_as_asked_and_the_bytes_around_it_stay(
            name in prop::sample::select(vec![
                "UTF-8", "ISO-8859-1", "ISO-8859-15", "windows-1252", "KOI8-R", "Shift_JIS", "EUC-JP", "EUC-KR",
                "Big5", "GBK", "gb18030",
            ]),
            wanted in "[ -~äé€Ж日本語한😀¥]{0,40}",
            inserts in prop::collection::vec(("[ -~äé€Ж日本語한😀¥‾]{0,6}", 0.0..1.0f64, 0usize..3), 0..4),
        ) {
            let encoding = document(name, "").0;
            let kept: String = wanted.chars().filter(|c| encoding.expresses(*c)).collect();
            let (_, text, bytes) = document(name, &kept);
            let mut edits: Vec<TextEdit> = Vec::new();
            let mut from = text.chars().count() - kept.chars().count();
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            for (insert, share, taken) in &inserts {
                let left = places.len() - 1 - from;
                #[expect(clippy::as_conversions, reason = "a place by its share")]
                let start = from + (left as f64 * share) as usize;
                let end = (start + taken).min(places.len() - 1);
                edits.push(edit(places[start]..places[end], insert));
                from = end;
            }
            let mut expected = text.clone();
            for edit in edits.iter().rev() {
                let written = expressible(encoding, &[edit]).unwrap();
                expected.replace_range(edit.range.clone(), &written);
            }
            let found = apply(&bytes, &edits).unwrap();
            prop_assert_eq!(encoding.decode(&found).unwrap(), expected);
            if edits.is_empty() {
                prop_assert_eq!(found, bytes);
            }
        }
    }
}
