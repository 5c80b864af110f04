//! Which characters XML 1.0 (fifth edition) allows, and where.
//!
//! In:        text     Out: yes or no, and the first offender
//! Order:     ASCII first: every check looks at whole runs of bytes and at single characters only where it must
//! Fails:     never
//! Not here:  references and normalisation (see `reference`)

/// White space as XML means it: blank, tab, CR, LF. Nothing else is.
pub(super) const WHITE_SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

pub(super) fn is_blank(text: &str) -> bool {
    text.bytes().all(is_space)
}

/// Without XML white space at the two ends; other blanks (U+00A0 ...) are text and stay.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(WHITE_SPACE)
}

/// XML's production Char. Rust's `char` leaves out the surrogates already.
pub(super) fn is_xml_char(c: char) -> bool {
    !matches!(c, '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\u{fffe}' | '\u{ffff}')
}

/// The first character that XML cannot hold, with its byte offset.
pub(super) fn first_illegal(text: &str) -> Option<(usize, char)> {
    // Two things can be wrong in UTF-8: a control byte, and U+FFFE or U+FFFF, which begin with EF. The loop over
    // a block has no branch, so that the compiler turns it into vector instructions.
    const BLOCK_BYTES: usize = 64;
    let suspect = |b: u8| (b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r')) || b == 0xef;
    for (index, block) in text.as_bytes().chunks(BLOCK_BYTES).enumerate() {
        if !block.iter().fold(false, |found, b| found | suspect(*b)) {
            continue;
        }
        // Characters may straddle blocks: the one that stands on the block's edge belongs to the block of its
        // first byte, and EF is always a first byte.
        let start = index.saturating_mul(BLOCK_BYTES);
        for (inside, _) in block.iter().enumerate().filter(|(_, b)| suspect(**b)) {
            let at = start.saturating_add(inside);
            let character = text.get(at..).and_then(|rest| rest.chars().next());
            if let Some(c) = character.filter(|c| !is_xml_char(*c)) {
                return Some((at, c));
            }
        }
    }
    None
}

fn is_name_start(c: char) -> bool {
    matches!(c,
        'A'..='Z' | 'a'..='z' | '_'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}'
        | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}'
        | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}'
        | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

fn is_name_char(c: char) -> bool {
    is_name_start(c)
        || matches!(c,
            '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// A name without a colon: what Namespaces in XML calls NCName.
pub(super) fn is_ncname(text: &str) -> bool {
    if text.is_ascii() {
        let starts = text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        return starts && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'));
    }
    let mut chars = text.chars();
    chars.next().is_some_and(is_name_start) && chars.all(is_name_char)
}

/// A name that may hold colons: what XML alone calls Name.
pub(super) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c == ':' || is_name_start(c)) && chars.all(|c| c == ':' || is_name_char(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn illegal_characters_are_found_wherever_they_stand() {
        for bad in ['\0', '\u{1}', '\u{b}', '\u{1f}', '\u{fffe}', '\u{ffff}'] {
            for before in [0, 1, 61, 62, 63, 64, 65, 127, 128, 200] {
                let text = format!("{}{bad}{}", "x".repeat(before), "y".repeat(70));
                assert_eq!(first_illegal(&text), Some((before, bad)), "{before}");
            }
        }
    }

    #[test]
    fn legal_characters_pass() {
        let text = "\t\r\n \u{7f}\u{85}\u{a0}äﬀ\u{feff}\u{fffd}\u{10ffff}".repeat(40);
        assert_eq!(first_illegal(&text), None);
    }

    #[test]
    fn names() {
        for good in ["a", "_", "a-b.c", "é", "a1", "名"] {
            assert!(is_ncname(good), "{good}");
        }
        for bad in ["", "1a", "-a", ".a", "a b", "a:b", "a/", "a\u{d7}", "a<", "\u{300}a"] {
            assert!(!is_ncname(bad), "{bad}");
        }
    }
}
