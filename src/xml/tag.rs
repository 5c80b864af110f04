//! One start tag: its name and its attributes, every rule of their grammar checked.
//!
//! In:        the text between `<` and `>` (or `/>`)     Out: byte ranges into the document's text
//! Holds:     nothing; the list of attributes is the caller's, to be used again
//! Fails:     bad names, missing blanks, `=` or quotes
//! Not here:  what names mean (see `scope`), what values mean (see `reference`)

use super::chars::{is_ncname, is_space};
use super::fault::Fault;
use std::ops::Range;

/// A name as it is written: `prefix:local` or `local`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct QName {
    /// Empty where the name has no prefix.
    pub(super) prefix: Range<usize>,
    pub(super) local: Range<usize>,
}

/// An attribute as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Attribute {
    pub(super) name: QName,
    /// Between the quotes.
    pub(super) value: Range<usize>,
    /// Which text those ranges count in.
    pub(super) origin: Origin,
    /// The value in [`Texts::values`], where it does not stand for itself.
    pub(super) read: Option<Range<usize>>,
}

/// Where an attribute comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is written in the tag.
    Tag,
    /// The document type definition gives it to every such element that lacks it.
    Default,
}

/// The texts that the ranges of a tag's attributes count in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Texts<'a> {
    /// The tag's: the document's, or an entity's replacement.
    pub(super) tag: &'a str,
    /// Of defaults.
    pub(super) defaults: &'a str,
    /// Values, references resolved and white space normalised.
    pub(super) values: &'a str,
}

impl<'a> Texts<'a> {
    fn of(&self, attribute: &Attribute) -> &'a str {
        match attribute.origin {
            Origin::Tag => self.tag,
            Origin::Default => self.defaults,
        }
    }

    /// Empty where the name has none.
    pub(super) fn prefix(&self, attribute: &Attribute) -> &'a str {
        slice(self.of(attribute), &attribute.name.prefix)
    }

    /// The name behind the prefix.
    pub(super) fn local(&self, attribute: &Attribute) -> &'a str {
        slice(self.of(attribute), &attribute.name.local)
    }

    /// The name as it is written.
    #[cfg(test)]
    pub(super) fn written(&self, attribute: &Attribute) -> &'a str {
        slice(self.of(attribute), &attribute.name.whole())
    }

    /// The value, once it is read.
    pub(super) fn value(&self, attribute: &Attribute) -> &'a str {
        match &attribute.read {
            Some(read) => slice(self.values, read),
            None => slice(self.of(attribute), &attribute.value),
        }
    }
}

impl QName {
    /// Prefix, colon and local name.
    pub(super) fn whole(&self) -> Range<usize> {
        let start = if self.prefix.is_empty() { self.local.start } else { self.prefix.start };
        start..self.local.end
    }
}

/// The text of a range that was found in this very text.
pub(super) fn slice<'a>(text: &'a str, range: &Range<usize>) -> &'a str {
    text.get(range.clone()).unwrap_or_default()
}

/// Reads the tag whose inside is `inside`; `attributes` is overwritten.
pub(super) fn read(
    text: &str,
    inside: Range<usize>,
    attributes: &mut Vec<Attribute>,
) -> Result<QName, Fault> {
    attributes.clear();
    let mut cursor = Cursor { text: slice(text, &inside), base: inside.start, at: 0 };
    let name = cursor.name("a tag's name is not a name")?;
    loop {
        let blanks = cursor.skip_blanks();
        if cursor.rest().is_empty() {
            return Ok(name);
        }
        if blanks == 0 {
            return Err(cursor.fault("no blank in front of an attribute"));
        }
        let name = cursor.name("an attribute's name is not a name")?;
        cursor.skip_blanks();
        if !cursor.take(b'=') {
            return Err(cursor.fault("an attribute without `=`"));
        }
        cursor.skip_blanks();
        let value = cursor.quoted()?;
        attributes.push(Attribute { name, value, origin: Origin::Tag, read: None });
    }
}

/// What may stand in a name of ASCII letters behind its first one.
fn is_plain_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// A place inside one tag.
struct Cursor<'a> {
    text: &'a str,
    /// Where `text` begins in the document's text.
    base: usize,
    /// How much of `text` is read.
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    fn fault(&self, detail: &'static str) -> Fault {
        Fault::not_well_formed(self.base.saturating_add(self.at), detail)
    }

    /// Goes `bytes` on, and tells where in the document that was.
    fn advance(&mut self, bytes: usize) -> Range<usize> {
        let start = self.base.saturating_add(self.at);
        self.at = self.at.saturating_add(bytes);
        start..self.base.saturating_add(self.at)
    }

    fn skip_blanks(&mut self) -> usize {
        let blanks = self.rest().iter().take_while(|b| is_space(**b)).count();
        self.advance(blanks);
        blanks
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.rest().first() == Some(&byte);
        if found {
            self.advance(1);
        }
        found
    }

    fn name(&mut self, detail: &'static str) -> Result<QName, Fault> {
        match self.plain_name() {
            Some(name) => Ok(name),
            None => self.any_name(detail),
        }
    }

    /// A name of ASCII letters, which nearly every name is: one look at each byte.
    fn plain_name(&mut self) -> Option<QName> {
        let rest = self.rest();
        let starts = |at: usize| rest.get(at).is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
        let part = |from: usize| {
            let rest = rest.get(from..).unwrap_or_default();
            let ends = rest.iter().position(|b| !is_plain_name_byte(*b)).unwrap_or(rest.len());
            from.saturating_add(ends)
        };
        let mut local = 0;
        let mut end = part(0);
        if rest.get(end) == Some(&b':') {
            local = end.saturating_add(1);
            end = part(local);
        }
        let is_end = rest.get(end).is_none_or(|b| is_space(*b) || *b == b'=');
        if !is_end || !starts(0) || !starts(local) {
            return None;
        }
        let whole = self.advance(end);
        let colon = whole.start.saturating_add(local.saturating_sub(1));
        Some(QName { prefix: whole.start..colon, local: whole.start.saturating_add(local)..whole.end })
    }

    fn any_name(&mut self, detail: &'static str) -> Result<QName, Fault> {
        let rest = self.rest();
        let ends = |b: &u8| is_space(*b) || matches!(b, b'=' | b'"' | b'\'' | b'/' | b'<' | b'>');
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let colon = rest.iter().take(length).position(|b| *b == b':');
        let fault = self.fault(detail);
        let whole = self.advance(length);
        let name = match colon {
            Some(colon) => {
                let colon = whole.start.saturating_add(colon);
                QName { prefix: whole.start..colon, local: colon.saturating_add(1)..whole.end }
            }
            None => QName { prefix: whole.start..whole.start, local: whole },
        };
        let is_name = |range: &Range<usize>| {
            let inside = range.start.saturating_sub(self.base)..range.end.saturating_sub(self.base);
            is_ncname(slice(self.text, &inside))
        };
        if is_name(&name.local) && (colon.is_none() || is_name(&name.prefix)) { Ok(name) } else { Err(fault) }
    }

    fn quoted(&mut self) -> Result<Range<usize>, Fault> {
        let quote = match self.rest().first() {
            Some(quote @ (b'"' | b'\'')) => *quote,
            _ => return Err(self.fault("an attribute's value without quotes")),
        };
        self.advance(1);
        let length = self.rest().iter().position(|b| *b == quote);
        let length = length.ok_or_else(|| self.fault("an attribute's value without its closing quote"))?;
        let value = self.advance(length);
        self.advance(1);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(inside: &str) -> Result<String, String> {
        let text = format!("<x/><{inside}>");
        let mut attributes = Vec::new();
        let name = read(&text, 5..5 + inside.len(), &mut attributes)
            .map_err(|fault| fault.into_reason(&text).detail)?;
        let show = |name: &QName| format!("{}|{}", slice(&text, &name.prefix), slice(&text, &name.local));
        let attributes: Vec<String> =
            attributes.iter().map(|a| format!("{}={}", show(&a.name), slice(&text, &a.value))).collect();
        Ok(format!("{} {}", show(&name), attributes.join(" ")))
    }

    #[test]
    fn tags() {
        assert_eq!(parse("a").unwrap(), "|a ");
        assert_eq!(parse("p:a  ").unwrap(), "p|a ");
        assert_eq!(parse("a b='1'\n\tp:c = \"it's > 2\" ").unwrap(), "|a |b=1 p|c=it's > 2");
        assert_eq!(parse("é ü=''").unwrap(), "|é |ü=");
    }

    #[test]
    fn tags_that_are_none() {
        for (inside, detail) in [
            ("", "column 6: a tag's name"),
            (" a", "column 6: a tag's name"),
            ("1r", "column 6: a tag's name"),
            ("a:b:c", "column 6: a tag's name"),
            (":a", "column 6: a tag's name"),
            ("a:", "column 6: a tag's name"),
            ("a/ ", "column 7: no blank"),
            ("a b", "column 9: an attribute without `=`"),
            ("a b=1", "column 10: an attribute's value without quotes"),
            ("a b='1'c='2'", "column 13: no blank"),
            ("a 1='2'", "column 8: an attribute's name"),
            ("a b='1", "column 11: an attribute's value without its"),
            ("a 'b'", "column 8: an attribute's name"),
            ("a b=", "column 10: an attribute's value without quotes"),
        ] {
            let found = parse(inside).unwrap_err();
            assert!(found.contains(detail), "{inside}: {found}");
        }
    }
}
