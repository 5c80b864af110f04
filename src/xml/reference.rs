//! References (`&amp;`, `&#8364;`) and the normalisation of line ends and attribute values.
//!
//! In:        raw text between tags or quotes     Out: the characters it stands for
//! Fails:     an entity that is not one of XML's own five, a reference to a character that XML cannot hold
//! Not here:  a document's own entities: they need a DOCTYPE, and every DOCTYPE is refused

use super::chars::is_xml_char;

/// The character that the text between `&` and `;` stands for.
pub(super) fn resolve(body: &str) -> Result<char, &'static str> {
    match body {
        "amp" => return Ok('&'),
        "lt" => return Ok('<'),
        "gt" => return Ok('>'),
        "quot" => return Ok('"'),
        "apos" => return Ok('\''),
        _ => {}
    }
    let Some(number) = body.strip_prefix('#') else {
        return Err("a reference to an entity that is not declared; known are amp, lt, gt, quot and apos");
    };
    let (digits, radix) = match number.strip_prefix('x') {
        Some(hexadecimal) => (hexadecimal, 16),
        None => (number, 10),
    };
    // `from_str_radix` would take a sign.
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return Err("a character reference that is not `&#` or `&#x`, digits and `;`");
    }
    let code_point = u32::from_str_radix(digits, radix).ok();
    code_point
        .and_then(char::from_u32)
        .filter(|c| is_xml_char(*c))
        .ok_or("a reference to a character that XML cannot hold")
}

/// Appends text or CDATA with its line ends made LF.
pub(super) fn push_text(raw: &str, out: &mut String) {
    let mut pieces = raw.split('\r');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        if !piece.starts_with('\n') {
            out.push('\n');
        }
        out.push_str(piece);
    }
}

/// Appends an attribute's value: references resolved, line ends and tabs made blanks. `Err`: what is wrong, and at
/// which byte of `raw`.
pub(super) fn push_attribute(raw: &str, out: &mut String) -> Result<(), (usize, &'static str)> {
    let mut done = 0;
    while let Some(rest) = raw.get(done..) {
        let Some(next) = rest.find(['&', '<', '\t', '\r', '\n']) else {
            out.push_str(rest);
            return Ok(());
        };
        let (plain, special) = rest.split_at_checked(next).unwrap_or((rest, ""));
        out.push_str(plain);
        let at = done.saturating_add(next);
        let used = if special.starts_with('<') {
            return Err((at, "`<` in an attribute's value"));
        } else if let Some(reference) = special.strip_prefix('&') {
            let end = reference.find(';').ok_or((at, "`&` that begins no reference"))?;
            let body = reference.get(..end).unwrap_or_default();
            out.push(resolve(body).map_err(|detail| (at, detail))?);
            end.saturating_add(2)
        } else {
            out.push(' ');
            if special.starts_with("\r\n") { 2 } else { 1 }
        };
        done = at.saturating_add(used);
    }
    Ok(())
}

/// Whether a value stands for itself: nothing in it needs [`push_attribute`].
pub(super) fn is_plain_attribute(raw: &str) -> bool {
    !raw.bytes().fold(false, |found, b| found | matches!(b, b'&' | b'<' | b'\t' | b'\r' | b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references() {
        assert_eq!(resolve("#8364"), Ok('€'));
        assert_eq!(resolve("#x20aC"), Ok('€'));
        assert_eq!(resolve("#x1F600"), Ok('😀'));
        assert_eq!(resolve("apos"), Ok('\''));
        for bad in [
            "",
            "#",
            "#x",
            "#X41",
            "#+65",
            "# 65",
            "#65x",
            "#0",
            "#xFFFE",
            "#xD800",
            "#x110000",
            "#1",
            "nbsp",
            "AMP",
            "#99999999999999999999",
        ] {
            assert!(resolve(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn line_ends_in_text() {
        let mut out = String::new();
        push_text("a\r\nb\rc\nd\r\r\ne\r", &mut out);
        assert_eq!(out, "a\nb\nc\nd\n\ne\n");
    }

    #[test]
    fn white_space_in_attributes_becomes_blanks_and_references_stay() {
        let mut out = String::new();
        push_attribute("a\r\nb\tc\nd\re&#13;&#10;&#9;&amp;&#60;x", &mut out).unwrap();
        assert_eq!(out, "a b c d e\r\n\t&<x");
    }

    #[test]
    fn what_attributes_cannot_hold() {
        let fault = |raw| push_attribute(raw, &mut String::new()).unwrap_err().0;
        assert_eq!(fault("ab<"), 2);
        assert_eq!(fault("ab&amp"), 2);
        assert_eq!(fault("&lt;&x;"), 4);
        assert!(
            is_plain_attribute("a > 'b' ä") && !is_plain_attribute("a&amp;") && !is_plain_attribute("\n")
        );
    }
}
