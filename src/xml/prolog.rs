//! What stands in front of the root element: comments, instructions, the document type declaration.
//!
//! In:        a document's text     Out: where the root element begins, and what the declaration declares
//! Order:     document order
//! Fails:     what is not well-formed; a DOCTYPE where the job refuses them
//! Not here:  the XML declaration (see `declaration`), the root element and what follows it (see `walk`)

use super::cursor::Cursor;
use super::doctype::{Budget, Definition};
use super::document::Text;
use super::fault::Fault;
use crate::job::Doctype;
use crate::model::ReasonCode;

/// What stands in front of the root element.
#[derive(Debug)]
pub(super) struct Prolog {
    /// Byte offset of the first thing that is neither white space, comment, instruction nor DOCTYPE.
    pub(super) root: usize,
    /// `None`: there is no DOCTYPE.
    pub(super) definition: Option<Definition>,
}

/// Reads the prolog.
pub(super) fn read(document: &Text<'_>, rule: Doctype, budget: &mut Budget) -> Result<Prolog, Fault> {
    let mut cursor = Cursor::new(document.text, document.declaration_bytes);
    let mut definition = None;
    loop {
        cursor.skip_blanks();
        let start = cursor;
        if cursor.take("<!--") {
            cursor.comment()?;
        } else if cursor.take("<?") {
            cursor.instruction()?;
        } else if cursor.take("<!DOCTYPE") {
            if rule == Doctype::Refuse {
                let detail = "a DOCTYPE: the job refuses them (event.doctype)";
                return Err(Fault::new(ReasonCode::Doctype, start.at(), detail));
            }
            if definition.is_some() {
                return Err(start.fault("a second DOCTYPE"));
            }
            definition = Some(Definition::read(&mut cursor, document.standalone, budget)?);
        } else {
            return Ok(Prolog { root: cursor.at(), definition });
        }
    }
}
