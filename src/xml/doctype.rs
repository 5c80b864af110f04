//! The document type definition: its internal subset, read for entities and attributes, and checked for the rest.
//!
//! In:        a DOCTYPE     Out: [`Definition`]
//! Holds:     replacement texts and defaults, until the document is read
//! Order:     the first declaration of a name is the one that counts
//! Fails:     what is not well-formed, more than the limits of [`Budget`]
//! Not here:  validity: element types and notations are checked to be written well, and forgotten
//!
//! Nothing outside the document is read, ever: neither the external subset nor an external entity. What they may have
//! declared is not known then. A reference to an entity that they would have to declare is refused, though XML calls that
//! well-formed: the document's content would be incomplete. Behind a reference to a parameter entity that is not read,
//! declarations are checked and do not count, since those unread would have come first; `standalone="yes"` says that
//! they do.

mod attributes;
mod content_model;
mod entities;

pub(super) use attributes::{collapse, is_collapsed};
pub(super) use entities::{Budget, RECURSIVE, Replacement};

use super::cursor::Cursor;
use super::fault::Fault;
use attributes::Attributes;
use entities::{Entities, Entity};
use std::rc::Rc;

/// What a document type definition says about the document's content.
#[derive(Debug, Default)]
pub(super) struct Definition {
    pub(super) attributes: Attributes,
    pub(super) entities: Entities,
}

/// A parameter entity's replacement, in which declarations stand.
#[derive(Debug)]
struct Source {
    entity: String,
    text: Rc<str>,
    /// How much of it is read.
    at: usize,
}

/// What was found between two declarations.
#[derive(Debug)]
enum Step {
    /// The end of the subset or of a replacement.
    End,
    /// A declaration, read.
    Declared,
    /// A reference to what is to be read next.
    Enter(Source),
}

impl Definition {
    /// Reads from behind `<!DOCTYPE` to behind its `>`.
    pub(super) fn read(
        cursor: &mut Cursor<'_>,
        standalone: bool,
        budget: &mut Budget,
    ) -> Result<Definition, Fault> {
        let mut definition = Definition::default();
        definition.entities.standalone = standalone;
        cursor.blanks()?;
        cursor.qname("a DOCTYPE without the root element's name")?;
        let blanks = cursor.skip_blanks();
        if cursor.starts_with("SYSTEM") || cursor.starts_with("PUBLIC") {
            if !blanks {
                return Err(cursor.fault("no white space in front of an external identifier"));
            }
            external_id(cursor)?;
            definition.entities.incomplete = true;
            cursor.skip_blanks();
        }
        if cursor.take("[") {
            definition.internal_subset(cursor, budget)?;
            cursor.skip_blanks();
        }
        cursor.expect(">", "a DOCTYPE that does not end here as it should")?;
        Ok(definition)
    }

    /// Reads to behind `]`. Parameter entities make a stack of sources: the innermost is read first.
    fn internal_subset(&mut self, document: &mut Cursor<'_>, budget: &mut Budget) -> Result<(), Fault> {
        let mut sources: Vec<Source> = Vec::new();
        // Where the reference stands that led out of the document.
        let mut place = document.at();
        loop {
            let step = match sources.last().map(|source| (Rc::clone(&source.text), source.at)) {
                None => {
                    document.skip_blanks();
                    place = document.at();
                    self.step(document, &sources, budget)?
                }
                Some((text, at)) => {
                    let mut cursor = Cursor::new(&text, at);
                    let step = self.step(&mut cursor, &sources, budget);
                    if let Some(source) = sources.last_mut() {
                        source.at = cursor.at();
                    }
                    step.map_err(|fault| fault.moved_to(place))?
                }
            };
            match step {
                Step::Declared => {}
                Step::Enter(source) => sources.push(source),
                Step::End if sources.pop().is_none() => return Ok(()),
                Step::End => {}
            }
        }
    }

    /// Reads one thing of the innermost source.
    fn step(&mut self, cursor: &mut Cursor<'_>, open: &[Source], budget: &mut Budget) -> Result<Step, Fault> {
        cursor.skip_blanks();
        let ends = if open.is_empty() { cursor.take("]") } else { cursor.is_at_end() };
        if ends {
            return Ok(Step::End);
        }
        let start = *cursor;
        if !cursor.take("%") {
            self.declaration(cursor, budget)?;
            return Ok(Step::Declared);
        }
        const DETAIL: &str = "`%` that begins no reference";
        let name = cursor.ncname(DETAIL)?;
        cursor.expect(";", DETAIL)?;
        if open.iter().any(|source| source.entity == name) {
            return Err(start.fault("a parameter entity that refers to itself"));
        }
        let text = match self.entities.parameter(name) {
            Some(Entity::Internal(text)) => Some(Rc::clone(text)),
            Some(_) => None,
            None if self.entities.incomplete || self.entities.has_references => None,
            None => return Err(start.fault("a reference to a parameter entity that is not declared")),
        };
        self.entities.has_references = true;
        let Some(text) = text else {
            self.entities.unread = true;
            return Ok(Step::Declared);
        };
        budget.enter(&text, open.len(), start.at())?;
        Ok(Step::Enter(Source { entity: name.to_owned(), text, at: 0 }))
    }

    /// One declaration, comment or instruction.
    fn declaration(&mut self, cursor: &mut Cursor<'_>, budget: &mut Budget) -> Result<(), Fault> {
        let start = *cursor;
        if cursor.take("<!--") {
            return cursor.comment();
        }
        if cursor.take("<?") {
            return cursor.instruction();
        }
        let read = if cursor.take("<!ENTITY") {
            self.entities.declare(cursor)
        } else if cursor.take("<!ATTLIST") {
            self.attributes.declare(cursor, &self.entities, budget)
        } else if cursor.take("<!ELEMENT") {
            content_model::declaration(cursor)
        } else if cursor.take("<!NOTATION") {
            notation(cursor)
        } else if cursor.starts_with("<![") {
            return Err(start.fault("a conditional section, which only an external subset may have"));
        } else {
            return Err(start.fault("something that is no declaration, in a document type definition"));
        };
        cursor.skip_blanks();
        if cursor.starts_with("%") {
            return Err(cursor.fault(INSIDE_DECLARATION));
        }
        read?;
        cursor.expect(">", "a declaration that does not end here as it should")
    }
}

const INSIDE_DECLARATION: &str =
    "a `%` inside a declaration: in the internal subset, parameter entities stand between declarations";

/// `SYSTEM "uri"` or `PUBLIC "id" "uri"`.
fn external_id(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    if cursor.take("PUBLIC") {
        cursor.blanks()?;
        public_id(cursor)?;
    } else {
        cursor.expect("SYSTEM", "no external identifier where there must be one")?;
    }
    cursor.blanks()?;
    cursor.quoted("an external identifier without its quoted address").map(|_| ())
}

fn public_id(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    let start = *cursor;
    let id = cursor.quoted("a public identifier without quotes")?;
    let is_legal = |b: u8| b.is_ascii_alphanumeric() || b" \r\n-'()+,./:=?;!*#@$_%".contains(&b);
    if id.bytes().all(is_legal) {
        Ok(())
    } else {
        Err(start.fault("a public identifier with a character that it cannot hold"))
    }
}

/// `<!NOTATION name SYSTEM "uri">`, from behind the keyword to the `>`.
fn notation(cursor: &mut Cursor<'_>) -> Result<(), Fault> {
    cursor.blanks()?;
    cursor.ncname("a notation without a name")?;
    cursor.blanks()?;
    if !cursor.starts_with("PUBLIC") {
        return external_id(cursor);
    }
    cursor.take("PUBLIC");
    cursor.blanks()?;
    public_id(cursor)?;
    let blanks = cursor.skip_blanks();
    if cursor.starts_with("\"") || cursor.starts_with("'") {
        if !blanks {
            return Err(cursor.fault("no white space in front of an address"));
        }
        cursor.quoted("an address without quotes")?;
    }
    Ok(())
}
