//! Declared attributes: which values are tokens, and which are there without being written.
//!
//! In:        `<!ATTLIST ...>`     Out: [`Declared`] of an element
//! Holds:     names and default values in one text
//! Order:     of two declarations of one attribute the first counts
//! Fails:     what the grammar does not allow, defaults that are no attribute's value
//! Not here:  whether a document fits the declarations

use super::super::cursor::Cursor;
use super::super::fault::Fault;
use super::super::tag::{Attribute, Origin, QName};
use super::entities::{Budget, Entities};
use std::collections::HashMap;

/// What is declared for the elements of a document.
#[derive(Debug, Default)]
pub(in crate::xml) struct Attributes {
    elements: HashMap<String, Declared>,
    /// What the ranges of defaults count in.
    pub(in crate::xml) text: String,
}

/// What a default costs beside its name and value.
const DEFAULT_BYTES: usize = 16;

/// What is declared for one element.
#[derive(Debug, Default)]
pub(in crate::xml) struct Declared {
    /// By attribute: whether its value is tokens.
    tokens: HashMap<String, bool>,
    /// The attributes that have a default.
    pub(in crate::xml) defaults: Vec<Attribute>,
    /// What they cost an element: names, values and [`DEFAULT_BYTES`] each.
    pub(in crate::xml) default_bytes: usize,
}

impl Declared {
    /// Whether white space between tokens is one blank in this attribute's value, and none at its ends.
    pub(in crate::xml) fn is_tokens(&self, attribute: &str) -> bool {
        self.tokens.get(attribute).copied().unwrap_or_default()
    }
}

impl Attributes {
    /// What is declared for an element, by its name as it is written.
    pub(in crate::xml) fn of(&self, element: &str) -> Option<&Declared> {
        if self.elements.is_empty() { None } else { self.elements.get(element) }
    }

    /// Reads `<!ATTLIST element name CDATA "default" ...>`, from behind the keyword to the `>`.
    pub(super) fn declare(
        &mut self,
        cursor: &mut Cursor<'_>,
        entities: &Entities,
        budget: &mut Budget,
    ) -> Result<(), Fault> {
        cursor.blanks()?;
        let element = cursor.qname("an attribute list without the element's name")?;
        loop {
            let blanks = cursor.skip_blanks();
            if cursor.is_at_end() || cursor.starts_with(">") {
                return Ok(());
            }
            if !blanks {
                return Err(cursor.fault("no white space in front of an attribute's name"));
            }
            let name = cursor.qname("an attribute list in which something is no name")?;
            cursor.blanks()?;
            let is_tokens = attribute_type(cursor)?;
            cursor.blanks()?;
            let default = default(cursor)?;
            if entities.counts() {
                self.take(element, name, is_tokens, default, entities, budget)?;
            }
        }
    }

    fn take(
        &mut self,
        element: &str,
        name: &str,
        is_tokens: bool,
        default: Option<(&str, usize)>,
        entities: &Entities,
        budget: &mut Budget,
    ) -> Result<(), Fault> {
        let value = match default {
            Some((literal, at)) => {
                let mut value = String::new();
                let pushed = entities.push_attribute(literal, &mut value, budget);
                pushed.map_err(|fault| fault.moved_to(at))?;
                if is_tokens {
                    collapse(&mut value, 0);
                }
                Some(value)
            }
            None => None,
        };
        if !self.elements.contains_key(element) {
            self.elements.insert(element.to_owned(), Declared::default());
        }
        let Some(declared) = self.elements.get_mut(element) else { return Ok(()) };
        if declared.tokens.contains_key(name) {
            return Ok(());
        }
        declared.tokens.insert(name.to_owned(), is_tokens);
        if let Some(value) = value {
            let start = self.text.len();
            self.text.push_str(name);
            let middle = self.text.len();
            self.text.push_str(&value);
            let colon = name.find(':').map(|colon| start.saturating_add(colon));
            let name = match colon {
                Some(colon) => QName { prefix: start..colon, local: colon.saturating_add(1)..middle },
                None => QName { prefix: start..start, local: start..middle },
            };
            let value = middle..self.text.len();
            let bytes = DEFAULT_BYTES.saturating_add(value.end.saturating_sub(start));
            declared.default_bytes = declared.default_bytes.saturating_add(bytes);
            declared.defaults.push(Attribute { name, value, origin: Origin::Default, read: None });
        }
        Ok(())
    }
}

/// Whether the attribute's value is tokens: it is of any type but CDATA.
fn attribute_type(cursor: &mut Cursor<'_>) -> Result<bool, Fault> {
    if cursor.take("CDATA") {
        return Ok(false);
    }
    if cursor.take("NOTATION") {
        cursor.blanks()?;
        cursor.expect("(", "the type NOTATION without names in brackets")?;
        enumeration(cursor, |cursor| cursor.ncname("a notation whose name is none"))?;
        return Ok(true);
    }
    if cursor.take("(") {
        enumeration(cursor, |cursor| cursor.name_token("a value that is no name token"))?;
        return Ok(true);
    }
    // The longer ones first.
    const TOKENS: [&str; 7] = ["IDREFS", "IDREF", "ID", "ENTITIES", "ENTITY", "NMTOKENS", "NMTOKEN"];
    if TOKENS.iter().any(|of_type| cursor.take(of_type)) {
        return Ok(true);
    }
    Err(cursor.fault("an attribute of a type that XML does not have"))
}

/// `a | b)`, from behind the bracket.
fn enumeration<'a>(
    cursor: &mut Cursor<'a>,
    one: impl Fn(&mut Cursor<'a>) -> Result<&'a str, Fault>,
) -> Result<(), Fault> {
    loop {
        cursor.skip_blanks();
        one(cursor)?;
        cursor.skip_blanks();
        if cursor.take(")") {
            return Ok(());
        }
        cursor.expect("|", "values that are not divided by `|`")?;
    }
}

/// The default's literal and where it stands, if there is one.
fn default<'a>(cursor: &mut Cursor<'a>) -> Result<Option<(&'a str, usize)>, Fault> {
    if cursor.take("#REQUIRED") || cursor.take("#IMPLIED") {
        return Ok(None);
    }
    if cursor.take("#FIXED") {
        cursor.blanks()?;
    }
    let at = cursor.at();
    let literal = cursor.quoted("an attribute without #REQUIRED, #IMPLIED, #FIXED or a default in quotes")?;
    // Whether it counts or not, it is an attribute's value.
    if let Some(offset) = literal.find('<') {
        let at = at.saturating_add(1).saturating_add(offset);
        return Err(Fault::not_well_formed(at, "`<` in an attribute's value"));
    }
    Ok(Some((literal, at)))
}

/// Makes runs of blanks one blank, and none at the ends, from `start` of `text` on.
pub(in crate::xml) fn collapse(text: &mut String, start: usize) {
    let tail = text.split_off(start);
    for (index, token) in tail.split(' ').filter(|token| !token.is_empty()).enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(token);
    }
}

/// Whether [`collapse`] would leave a value as it is.
pub(in crate::xml) fn is_collapsed(value: &str) -> bool {
    !value.starts_with(' ') && !value.ends_with(' ') && !value.contains("  ")
}
