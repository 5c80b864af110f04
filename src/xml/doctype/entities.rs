//! Entities: their declarations, what references to them mean, and how much of that there may be.
//!
//! In:        declarations, then references     Out: replacement texts
//! Holds:     every entity's replacement text, as the declaration makes it: character references resolved, others kept
//! Fails:     undeclared, external, unparsed or recursive entities; more than the limits of [`Budget`]
//! Not here:  XML's own five entities and character references (see `reference`); markup in a replacement (see `walk`)

use super::super::chars::is_ncname;
use super::super::cursor::Cursor;
use super::super::fault::Fault;
use super::super::reference;
use super::{INSIDE_DECLARATION, external_id};
use crate::model::ReasonCode;
use std::collections::HashMap;
use std::rc::Rc;

/// How much the entities and defaults of one document may add to it. Fixed: no message needs as much, and a small document
/// must not be able to stand for a large one.
#[derive(Debug)]
pub(in crate::xml) struct Budget {
    bytes: usize,
    references: usize,
    defaults: usize,
}

/// Of replacement texts, each time that one is read.
const BYTES_MAX: usize = 1024 * 1024;
/// To the document's own entities.
const REFERENCES_MAX: usize = 100_000;
/// Entities in entities.
const DEPTH_MAX: usize = 20;
/// Of the names and values of declared defaults, each time that an element begins which has them.
const DEFAULTS_MAX: usize = 4 * 1024 * 1024;
/// So much more for each byte of the document.
const DEFAULTS_FACTOR: usize = 4;

impl Budget {
    pub(in crate::xml) fn new(document_bytes: usize) -> Budget {
        Budget {
            bytes: BYTES_MAX,
            references: REFERENCES_MAX,
            defaults: DEFAULTS_MAX.saturating_add(document_bytes.saturating_mul(DEFAULTS_FACTOR)),
        }
    }

    /// Takes a replacement text that is about to be read inside `depth` others.
    pub(in crate::xml) fn enter(&mut self, text: &str, depth: usize, at: usize) -> Result<(), Fault> {
        let over = |detail: String| Err(Fault::new(ReasonCode::Limit, at, detail));
        if depth >= DEPTH_MAX {
            return over(format!("entities nested deeper than {DEPTH_MAX}, a fixed limit"));
        }
        let Some(references) = self.references.checked_sub(1) else {
            return over(format!("more than {REFERENCES_MAX} references to entities, a fixed limit"));
        };
        let Some(bytes) = self.bytes.checked_sub(text.len()) else {
            return over(format!("the entities stand for more than {BYTES_MAX} bytes, a fixed limit"));
        };
        (self.references, self.bytes) = (references, bytes);
        Ok(())
    }

    /// References that may still come.
    pub(in crate::xml) fn references(&self) -> usize {
        self.references
    }

    /// Takes the defaults of one element.
    pub(in crate::xml) fn take_defaults(&mut self, bytes: usize, at: usize) -> Result<(), Fault> {
        let over = || Fault::new(ReasonCode::Limit, at, "too many defaults of attributes, a fixed limit");
        self.defaults = self.defaults.checked_sub(bytes).ok_or_else(over)?;
        Ok(())
    }
}

/// A declared entity.
#[derive(Debug)]
pub(super) enum Entity {
    /// Its replacement text.
    Internal(Rc<str>),
    /// It is elsewhere.
    External,
    /// It is elsewhere and no XML.
    Unparsed,
}

/// What a reference stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::xml) enum Replacement<'a> {
    /// One character: text, whatever it is.
    Character(char),
    /// A text that is read as if it stood here.
    Text {
        /// The entity's name.
        name: &'a str,
        /// Its replacement text.
        text: &'a str,
    },
}

/// All entities of a document.
#[derive(Debug, Default)]
pub(in crate::xml) struct Entities {
    general: HashMap<String, Entity>,
    parameter: HashMap<String, Entity>,
    /// The document says that nothing outside changes its content.
    pub(super) standalone: bool,
    /// There is an external subset, which is not read.
    pub(super) incomplete: bool,
    /// There was a reference to a parameter entity.
    pub(super) has_references: bool,
    /// There was a reference to a parameter entity that is not read.
    pub(super) unread: bool,
}

impl Entities {
    /// Whether declarations count that stand here.
    pub(super) fn counts(&self) -> bool {
        self.standalone || !self.unread
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&Entity> {
        self.parameter.get(name)
    }

    /// Reads `<!ENTITY name "value">` and its kin, from behind the keyword to the `>`.
    pub(super) fn declare(&mut self, cursor: &mut Cursor<'_>) -> Result<(), Fault> {
        cursor.blanks()?;
        let is_parameter = cursor.take("%");
        if is_parameter && !cursor.skip_blanks() {
            return Err(cursor.fault(INSIDE_DECLARATION));
        }
        let name = cursor.ncname("an entity without a name, or with one that is none")?;
        cursor.blanks()?;
        let entity = if cursor.starts_with("\"") || cursor.starts_with("'") {
            let start = cursor.at().saturating_add(1);
            let literal = cursor.quoted("an entity's value without quotes")?;
            Entity::Internal(replacement_text(literal, start)?.into())
        } else {
            external(cursor, is_parameter)?
        };
        let counts = self.counts();
        let table = if is_parameter { &mut self.parameter } else { &mut self.general };
        if counts && !table.contains_key(name) {
            table.insert(name.to_owned(), entity);
        }
        Ok(())
    }

    /// What stands between `&` and `;` means. `Err`: why it means nothing.
    pub(in crate::xml) fn resolve(&self, body: &str) -> Result<Replacement<'_>, (ReasonCode, &'static str)> {
        let ill_formed = |detail| (ReasonCode::NotWellFormed, detail);
        if body.starts_with('#') || matches!(body, "amp" | "lt" | "gt" | "quot" | "apos") {
            return reference::resolve(body).map(Replacement::Character).map_err(ill_formed);
        }
        match self.general.get_key_value(body) {
            Some((name, Entity::Internal(text))) => Ok(Replacement::Text { name, text }),
            Some((_, Entity::External)) => Err((
                ReasonCode::Doctype,
                "a reference to an external entity: nothing outside the document is read or fetched",
            )),
            Some((_, Entity::Unparsed)) => Err(ill_formed("a reference to an unparsed entity")),
            None if !is_ncname(body) => Err(ill_formed("`&` that begins no reference")),
            None if self.standalone || !(self.incomplete || self.has_references) => {
                Err(ill_formed("a reference to an entity that is not declared"))
            }
            None => Err((
                ReasonCode::Doctype,
                "a reference to an entity that is not declared in the part of the document type definition that is read: \
                 nothing outside the document is read or fetched",
            )),
        }
    }

    /// Appends an attribute's value: references resolved, white space made blanks. Places of faults count in `raw`.
    pub(in crate::xml) fn push_attribute(
        &self,
        raw: &str,
        out: &mut String,
        budget: &mut Budget,
    ) -> Result<(), Fault> {
        let mut outer: Vec<(&str, &str, usize)> = Vec::new();
        let (mut name, mut text, mut done) = ("", raw, 0_usize);
        // Where the outermost reference stands.
        let mut place = 0;
        loop {
            let rest = text.get(done..).unwrap_or_default();
            let Some(next) = rest.find(['&', '<', '\t', '\r', '\n']) else {
                out.push_str(rest);
                match outer.pop() {
                    Some(source) => (name, text, done) = source,
                    None => return Ok(()),
                }
                continue;
            };
            let (plain, special) = rest.split_at_checked(next).unwrap_or((rest, ""));
            out.push_str(plain);
            done = done.saturating_add(next);
            if outer.is_empty() {
                place = done;
            }
            let Some(reference) = special.strip_prefix('&') else {
                if special.starts_with('<') {
                    return Err(Fault::not_well_formed(place, "`<` in an attribute's value"));
                }
                out.push(' ');
                // Line ends of the document are one character; those of a replacement are what they are.
                let is_pair = outer.is_empty() && special.starts_with("\r\n");
                done = done.saturating_add(if is_pair { 2 } else { 1 });
                continue;
            };
            let unclosed = || Fault::not_well_formed(place, "`&` that begins no reference");
            let body = reference.split_once(';').ok_or_else(unclosed)?.0;
            done = done.saturating_add(body.len()).saturating_add(2);
            match self.resolve(body).map_err(|(code, detail)| Fault::new(code, place, detail))? {
                Replacement::Character(c) => out.push(c),
                Replacement::Text { name: inner, text: replacement } => {
                    if name == inner || outer.iter().any(|(open, _, _)| *open == inner) {
                        return Err(Fault::not_well_formed(place, RECURSIVE));
                    }
                    budget.enter(replacement, outer.len(), place)?;
                    outer.push((name, text, done));
                    (name, text, done) = (inner, replacement, 0);
                }
            }
        }
    }
}

pub(in crate::xml) const RECURSIVE: &str = "an entity that refers to itself";

/// `SYSTEM "uri"`, and of general entities `NDATA notation`.
fn external(cursor: &mut Cursor<'_>, is_parameter: bool) -> Result<Entity, Fault> {
    external_id(cursor)?;
    let blanks = cursor.skip_blanks();
    if is_parameter || !cursor.starts_with("NDATA") {
        return Ok(Entity::External);
    }
    if !blanks {
        return Err(cursor.fault("no white space in front of NDATA"));
    }
    cursor.take("NDATA");
    cursor.blanks()?;
    cursor.ncname("an unparsed entity without its notation")?;
    Ok(Entity::Unparsed)
}

/// An entity's replacement text: character references resolved, line ends made LF. `start`: where the literal stands.
fn replacement_text(literal: &str, start: usize) -> Result<String, Fault> {
    let mut text = String::with_capacity(literal.len());
    let mut done = 0_usize;
    loop {
        let rest = literal.get(done..).unwrap_or_default();
        let Some(next) = rest.find(['&', '%']) else {
            reference::push_text(rest, &mut text);
            return Ok(text);
        };
        let at = done.saturating_add(next);
        reference::push_text(rest.get(..next).unwrap_or_default(), &mut text);
        let fault = |detail| Fault::not_well_formed(start.saturating_add(at), detail);
        let Some(reference) = rest.get(next..).and_then(|special| special.strip_prefix('&')) else {
            return Err(fault(INSIDE_DECLARATION));
        };
        let body = reference.split_once(';').map(|(body, _)| body);
        let body = body.ok_or_else(|| fault("`&` that begins no reference"))?;
        if body.starts_with('#') {
            text.push(reference::resolve(body).map_err(fault)?);
        } else if is_ncname(body) {
            text.push('&');
            text.push_str(body);
            text.push(';');
        } else {
            return Err(fault("`&` that begins no reference"));
        }
        done = at.saturating_add(body.len()).saturating_add(2);
    }
}
