//! A place in a text that is read from the front: what prolog and document type definition are made of.
//!
//! In:        text whose characters are legal     Out: names, literals, comments, instructions
//! Holds:     the place
//! Fails:     what is expected is not here, with the place
//! Not here:  tags, which are read by `tag`

use super::chars::{is_name, is_ncname, is_space};
use super::fault::Fault;

/// A text and a byte offset in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, at: usize) -> Cursor<'a> {
        Cursor { text, at }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    pub(super) fn fault(&self, detail: impl Into<std::borrow::Cow<'static, str>>) -> Fault {
        Fault::not_well_formed(self.at, detail)
    }

    pub(super) fn starts_with(&self, expected: &str) -> bool {
        self.rest().starts_with(expected)
    }

    /// Goes behind `expected`, if it is here.
    pub(super) fn take(&mut self, expected: &str) -> bool {
        let found = self.starts_with(expected);
        if found {
            self.at = self.at.saturating_add(expected.len());
        }
        found
    }

    pub(super) fn expect(&mut self, expected: &str, detail: &'static str) -> Result<(), Fault> {
        if self.take(expected) { Ok(()) } else { Err(self.fault(detail)) }
    }

    /// Goes behind white space; whether there was any.
    pub(super) fn skip_blanks(&mut self) -> bool {
        let blanks = self.rest().bytes().take_while(|b| is_space(*b)).count();
        self.at = self.at.saturating_add(blanks);
        blanks > 0
    }

    pub(super) fn blanks(&mut self) -> Result<(), Fault> {
        if self.skip_blanks() { Ok(()) } else { Err(self.fault("no white space where there must be some")) }
    }

    /// Everything up to `end`, which is passed.
    pub(super) fn until(&mut self, end: &str) -> Option<&'a str> {
        let found = self.rest().split_once(end).map(|(found, _)| found)?;
        self.at = self.at.saturating_add(found.len()).saturating_add(end.len());
        Some(found)
    }

    /// Characters up to one that is white space or ends a word.
    fn word(&mut self) -> &'a str {
        const ENDS: [char; 21] = [
            ' ', '\t', '\r', '\n', '<', '>', '(', ')', '[', ']', '|', ',', '?', '*', '+', '"', '\'', '%',
            '&', ';', '=',
        ];
        let rest = self.rest();
        let word = rest.get(..rest.find(ENDS).unwrap_or(rest.len())).unwrap_or_default();
        self.at = self.at.saturating_add(word.len());
        word
    }

    fn checked(&mut self, is: impl Fn(&str) -> bool, detail: &'static str) -> Result<&'a str, Fault> {
        let start = *self;
        let word = self.word();
        if is(word) { Ok(word) } else { Err(start.fault(detail)) }
    }

    /// A name without a colon: of an entity, a notation, an instruction.
    pub(super) fn ncname(&mut self, detail: &'static str) -> Result<&'a str, Fault> {
        self.checked(is_ncname, detail)
    }

    /// A name of an element or attribute.
    pub(super) fn qname(&mut self, detail: &'static str) -> Result<&'a str, Fault> {
        let is_qname = |word: &str| match word.split_once(':') {
            Some((prefix, local)) => is_ncname(prefix) && is_ncname(local),
            None => is_ncname(word),
        };
        self.checked(is_qname, detail)
    }

    /// A name token: what a name is made of, but it may begin with any of it.
    pub(super) fn name_token(&mut self, detail: &'static str) -> Result<&'a str, Fault> {
        // A name that begins with a letter of ours is a name if the token is one.
        self.checked(|word| !word.is_empty() && is_name(&format!("n{word}")), detail)
    }

    /// What stands between two quotes of either kind.
    pub(super) fn quoted(&mut self, detail: &'static str) -> Result<&'a str, Fault> {
        let start = *self;
        let quote = if self.take("\"") {
            "\""
        } else if self.take("'") {
            "'"
        } else {
            return Err(start.fault(detail));
        };
        self.until(quote).ok_or_else(|| start.fault("a quote that is not closed"))
    }

    /// `<!-- ... -->`, from behind `<!--`.
    pub(super) fn comment(&mut self) -> Result<(), Fault> {
        let start = *self;
        let content = self.until("--").ok_or_else(|| start.fault("a comment that is not closed"))?;
        let inside = Cursor::new(self.text, start.at.saturating_add(content.len()));
        if self.take(">") { Ok(()) } else { Err(inside.fault("`--` inside a comment")) }
    }

    /// `<?target content?>`, from behind `<?`.
    pub(super) fn instruction(&mut self) -> Result<(), Fault> {
        let start = *self;
        let content = self.until("?>").ok_or_else(|| start.fault("an instruction that is not closed"))?;
        let target = content.split(super::chars::WHITE_SPACE).next().unwrap_or_default();
        super::walk::check_instruction(target, start.at.saturating_sub("<?".len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let mut cursor = Cursor::new("a:b 1c ab;", 0);
        assert_eq!(cursor.qname("").unwrap(), "a:b");
        cursor.blanks().unwrap();
        assert_eq!(cursor.name_token("").unwrap(), "1c");
        assert!(cursor.ncname("").is_err());
        cursor.blanks().unwrap();
        assert_eq!(cursor.ncname("").unwrap(), "ab");
        assert!(cursor.take(";") && cursor.is_at_end());
        assert!(Cursor::new("a:b:c", 0).qname("").is_err());
        assert!(Cursor::new("a:b", 0).ncname("").is_err());
        assert!(Cursor::new("-a:b:c", 0).name_token("").is_ok());
        assert!(Cursor::new("a!", 0).name_token("").is_err());
    }

    #[test]
    fn comments_and_instructions() {
        for (good, rest) in [(" a - b -->x", "x"), ("-->", "")] {
            let mut cursor = Cursor::new(good, 0);
            cursor.comment().unwrap();
            assert_eq!(cursor.rest(), rest);
        }
        for bad in [" -- -->", " --->", " -", " --", "->"] {
            assert!(Cursor::new(bad, 0).comment().is_err(), "{bad}");
        }
        for good in ["a?>", "a b ? > ?>", "xml-a x?>"] {
            Cursor::new(good, 0).instruction().unwrap();
        }
        for bad in ["?>", " a?>", "xml?>", "XmL a?>", "a:b?>", "a", "a?", "1?>"] {
            assert!(Cursor::new(bad, 0).instruction().is_err(), "{bad}");
        }
    }
}
