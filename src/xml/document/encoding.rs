//! The encodings that documents come in, and bytes to text and back by them.
//!
//! In:        an encoding's name; bytes; text     Out: an [`Encoding`]; text; bytes
//! Fails:     bytes that are none of the encoding; characters that it has no bytes for
//! Not here:  which encoding a document has (see `document`)
//!
//! Names mean what the WHATWG's standard makes of them, but for those of ASCII and of ISO sets that it takes for their
//! Windows supersets: in a declared ISO-8859-1 a byte 80 is the control character that it is there, no euro sign.

use encoding_rs as rs;
use std::borrow::Cow;

/// An encoding that is read and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::xml) enum Encoding {
    Utf8,
    Utf16(Order),
    /// Every byte is below 128.
    Ascii,
    /// An ISO set, by its Windows superset: bytes 80 to 9F are control characters.
    Iso(&'static rs::Encoding),
    /// As `encoding_rs` has it, neither of those above.
    Other(&'static rs::Encoding),
}

/// Which byte of a UTF-16 unit comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::xml) enum Order {
    LittleEndian,
    BigEndian,
}

/// What the name in a declaration means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::xml) enum Named {
    /// One encoding.
    One(Encoding),
    /// UTF-16 in the order that the document's start shows.
    Utf16,
}

/// Bytes that are not in their encoding.
#[derive(Debug)]
pub(in crate::xml) struct Malformed<'a> {
    /// The text in front of them.
    pub(in crate::xml) before: Cow<'a, str>,
}

impl Encoding {
    /// For messages.
    pub(in crate::xml) fn name(self) -> &'static str {
        match self {
            Encoding::Utf8 => "UTF-8",
            Encoding::Utf16(Order::LittleEndian) => "UTF-16 (little endian)",
            Encoding::Utf16(Order::BigEndian) => "UTF-16 (big endian)",
            Encoding::Ascii => "US-ASCII",
            Encoding::Iso(superset) if superset == rs::WINDOWS_1252 => "ISO-8859-1",
            Encoding::Iso(superset) if superset == rs::WINDOWS_1254 => "ISO-8859-9",
            Encoding::Iso(_) => "ISO-8859-11",
            Encoding::Other(encoding) => encoding.name(),
        }
    }

    /// The text of `bytes`, which have no byte-order mark. Where they are ASCII alone or UTF-8, nothing is copied.
    pub(in crate::xml) fn decode(self, bytes: &[u8]) -> Result<Cow<'_, str>, Malformed<'_>> {
        match self {
            Encoding::Utf8 => utf8(bytes),
            Encoding::Ascii if bytes.is_ascii() => utf8(bytes),
            Encoding::Ascii => {
                let ascii = bytes.iter().position(|b| !b.is_ascii()).unwrap_or_default();
                Err(Malformed { before: valid(bytes.get(..ascii).unwrap_or_default()) })
            }
            Encoding::Iso(superset) => iso(superset, bytes),
            Encoding::Utf16(Order::LittleEndian) => other(rs::UTF_16LE, bytes),
            Encoding::Utf16(Order::BigEndian) => other(rs::UTF_16BE, bytes),
            Encoding::Other(encoding) => other(encoding, bytes),
        }
    }

    /// Whether `c` has bytes of its own, which are read as `c` again.
    pub(in crate::xml) fn expresses(self, c: char) -> bool {
        let mut buffer = [0; 4];
        let text: &str = c.encode_utf8(&mut buffer);
        match self {
            Encoding::Utf8 | Encoding::Utf16(_) => true,
            _ if c.is_ascii() => true,
            Encoding::Ascii => false,
            Encoding::Iso(_) if ('\u{80}'..'\u{a0}').contains(&c) => true,
            // Below are the superset's own letters.
            Encoding::Iso(superset) => {
                matches!(superset.encode(text), (bytes, _, false) if bytes.iter().all(|b| *b >= 0xa0))
            }
            Encoding::Other(encoding) => {
                // Some sets write two characters with one code.
                let (bytes, _, unmappable) = encoding.encode(text);
                !unmappable && self.decode(&bytes).is_ok_and(|back| back == text)
            }
        }
    }

    /// Appends the bytes of `text`, of whose characters each one is expressed; a set with states begins and ends in that of
    /// ASCII.
    pub(in crate::xml) fn encode(self, text: &str, out: &mut Vec<u8>) {
        match self {
            Encoding::Utf8 | Encoding::Ascii => out.extend_from_slice(text.as_bytes()),
            Encoding::Utf16(Order::LittleEndian) => {
                out.extend(text.encode_utf16().flat_map(u16::to_le_bytes))
            }
            Encoding::Utf16(Order::BigEndian) => out.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
            Encoding::Iso(superset) => {
                for c in text.chars() {
                    match u8::try_from(c) {
                        Ok(b) if b < 0xa0 => out.push(b),
                        _ => out.extend_from_slice(&superset.encode(c.encode_utf8(&mut [0; 4])).0),
                    }
                }
            }
            Encoding::Other(encoding) => out.extend_from_slice(&encoding.encode(text).0),
        }
    }
}

/// What the name in a declaration means; `None`: it is unknown, or no encoding that anything should be written in.
pub(in crate::xml) fn named(name: &str) -> Option<Named> {
    let is = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    if is(&["US-ASCII", "ASCII"]) {
        return Some(Named::One(Encoding::Ascii));
    }
    let encoding = rs::Encoding::for_label_no_replacement(name.as_bytes())?;
    let one = if encoding == rs::UTF_8 {
        Encoding::Utf8
    } else if encoding == rs::UTF_16LE && !is(&["UTF-16LE"]) {
        return Some(Named::Utf16);
    } else if encoding == rs::UTF_16LE {
        Encoding::Utf16(Order::LittleEndian)
    } else if encoding == rs::UTF_16BE {
        Encoding::Utf16(Order::BigEndian)
    } else if encoding == rs::X_USER_DEFINED {
        return None;
    } else if [rs::WINDOWS_1252, rs::WINDOWS_1254, rs::WINDOWS_874].contains(&encoding)
        && !is(&["windows-1252", "cp1252", "x-cp1252", "windows-1254", "cp1254", "x-cp1254"])
        && !is(&["windows-874", "dos-874"])
    {
        Encoding::Iso(encoding)
    } else {
        Encoding::Other(encoding)
    };
    Some(Named::One(one))
}

fn valid(bytes: &[u8]) -> Cow<'_, str> {
    Cow::Borrowed(std::str::from_utf8(bytes).unwrap_or_default())
}

fn utf8(bytes: &[u8]) -> Result<Cow<'_, str>, Malformed<'_>> {
    std::str::from_utf8(bytes)
        .map(Cow::Borrowed)
        .map_err(|error| Malformed { before: valid(bytes.get(..error.valid_up_to()).unwrap_or_default()) })
}

fn iso<'a>(superset: &'static rs::Encoding, bytes: &'a [u8]) -> Result<Cow<'a, str>, Malformed<'a>> {
    if bytes.is_ascii() {
        return utf8(bytes);
    }
    let letters: Vec<Option<char>> = (0xa0..=0xff)
        .map(|b| superset.decode_without_bom_handling_and_without_replacement(&[b])?.chars().next())
        .collect();
    let mut text = String::with_capacity(bytes.len().saturating_add(bytes.len() / 8));
    for b in bytes {
        let letter = b
            .checked_sub(0xa0)
            .map_or(Some(char::from(*b)), |index| letters.get(usize::from(index)).copied().flatten());
        match letter {
            Some(letter) => text.push(letter),
            None => return Err(Malformed { before: Cow::Owned(text) }),
        }
    }
    Ok(Cow::Owned(text))
}

fn other<'a>(encoding: &'static rs::Encoding, bytes: &'a [u8]) -> Result<Cow<'a, str>, Malformed<'a>> {
    if let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(bytes) {
        return Ok(text);
    }
    // Once more, to see where.
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let most = decoder.max_utf8_buffer_length_without_replacement(bytes.len()).unwrap_or_default();
    let mut before = String::with_capacity(most);
    let (_result, _read) = decoder.decode_to_string_without_replacement(bytes, &mut before, true);
    Err(Malformed { before: Cow::Owned(before) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str) -> Encoding {
        match named(name) {
            Some(Named::One(encoding)) => encoding,
            found => panic!("{name}: {found:?}"),
        }
    }

    #[test]
    fn names() {
        assert_eq!(one("utf-8"), Encoding::Utf8);
        assert_eq!(one("Us-Ascii"), Encoding::Ascii);
        assert_eq!(one("latin1").name(), "ISO-8859-1");
        assert_eq!(one("ISO-8859-1"), Encoding::Iso(rs::WINDOWS_1252));
        assert_eq!(one("iso-8859-9").name(), "ISO-8859-9");
        assert_eq!(one("TIS-620").name(), "ISO-8859-11");
        assert_eq!(one("windows-1252"), Encoding::Other(rs::WINDOWS_1252));
        assert_eq!(one("windows-874"), Encoding::Other(rs::WINDOWS_874));
        assert_eq!(one("iso-8859-15").name(), "ISO-8859-15");
        assert_eq!(named("UTF-16"), Some(Named::Utf16));
        assert_eq!(named("ISO-10646-UCS-2"), Some(Named::Utf16));
        assert_eq!(one("UTF-16le"), Encoding::Utf16(Order::LittleEndian));
        assert_eq!(one("UTF-16BE"), Encoding::Utf16(Order::BigEndian));
        for unknown in ["UTF-7", "hz-gb-2312", "iso-2022-kr", "x-user-defined", "UTF-32", "", "replacement"] {
            assert_eq!(named(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn iso_sets_are_not_their_windows_supersets() {
        let latin1 = one("ISO-8859-1");
        assert_eq!(latin1.decode(b"\x80\x9f\xa4\xe4").unwrap(), "\u{80}\u{9f}\u{a4}ä");
        assert_eq!(one("windows-1252").decode(b"\x80\x9f\xa4\xe4").unwrap(), "€Ÿ¤ä");
        assert_eq!(one("ISO-8859-9").decode(b"\x80\xfd\xfe").unwrap(), "\u{80}ış");
        assert!(latin1.expresses('ä') && latin1.expresses('\u{80}') && !latin1.expresses('€'));
        assert!(one("windows-1252").expresses('€') && !one("windows-1252").expresses('\u{80}'));
        assert_eq!(one("ISO-8859-11").decode(b"ab\xa1\xfc").unwrap_err().before, "ab\u{e01}");
        let mut out = Vec::new();
        one("ISO-8859-9").encode("a\u{80}ış", &mut out);
        assert_eq!(out, b"a\x80\xfd\xfe");
    }

    #[test]
    fn malformed_bytes_are_told_by_the_text_in_front_of_them() {
        for (name, bytes, before) in [
            ("UTF-8", &b"a\xc3\xa4\xe4"[..], "aä"),
            ("ASCII", b"ab\xc3", "ab"),
            ("UTF-16LE", b"a\0\x00\xd8b\0", "a"),
            ("UTF-16BE", b"\0a\0b\0", "ab"),
            ("Shift_JIS", b"a\x93\xfa\x81\x00", "a日"),
            ("EUC-JP", b"a\xff", "a"),
            ("ISO-2022-JP", b"a\x1b$B\xff", "a"),
        ] {
            assert_eq!(one(name).decode(bytes).unwrap_err().before, before, "{name}");
        }
    }

    #[test]
    fn only_what_is_read_back_is_expressed() {
        let japanese = one("Shift_JIS");
        assert!(japanese.expresses('日') && japanese.expresses('\\'));
        // Written with the codes of `\`, `~` and the full-width minus sign.
        for c in ['¥', '‾', '\u{2212}', '😀'] {
            assert!(!japanese.expresses(c), "{c}");
        }
        assert!(one("gb18030").expresses('😀') && Encoding::Utf16(Order::BigEndian).expresses('😀'));
    }

    #[test]
    fn every_expressed_character_comes_back() {
        for name in [
            "ISO-8859-1",
            "ISO-8859-2",
            "ISO-8859-9",
            "ISO-8859-11",
            "ISO-8859-15",
            "windows-1252",
            "windows-1251",
            "KOI8-R",
            "IBM866",
            "macintosh",
            "Shift_JIS",
            "EUC-JP",
            "ISO-2022-JP",
            "EUC-KR",
            "Big5",
            "GBK",
            "gb18030",
            "UTF-16LE",
            "UTF-16BE",
        ] {
            let encoding = one(name);
            let sample = (1..=0xffff).step_by(7).chain(0x1_f600..0x1_f610).filter_map(char::from_u32);
            let expressed: String = sample
                .filter(|c| !matches!(c, '\u{e}' | '\u{f}' | '\u{1b}') && encoding.expresses(*c))
                .collect();
            let mut bytes = Vec::new();
            encoding.encode(&expressed, &mut bytes);
            assert_eq!(encoding.decode(&bytes).unwrap(), expressed, "{name}");
            assert!(expressed.chars().count() > 20, "{name}");
        }
    }
}
