//! One pass over a document: its structure checked for real, a [`Finder`] told of everything.
//!
//! In:        text whose characters are legal     Out: elements and texts, to the finder
//! Holds:     one frame per open element, the declarations in scope; nothing recurses
//! Order:     document order; the first fault ends the pass
//! Fails:     what is not well-formed or not namespace-well-formed, every DOCTYPE, `limits.document_depth`
//! Not here:  opening an element (see `element`), what the job looks for (see `seek`)
//!
//! quick-xml is the tokenizer: it finds where tokens end and that end tags match. Everything else that XML demands
//! is checked here, in `element`, `tag` and `document`.

use super::chars::{is_blank, is_ncname, is_space};
use super::document::Text;
use super::fault::{Fault, Place};
use super::finder::Finder;
use super::reference;
use super::scope::{Namespaces, Resolved, Scope};
use super::tag::{Attribute, slice};
use crate::model::ReasonCode;
use quick_xml::errors::{Error, IllFormedError};
use quick_xml::events::Event;
use std::ops::Range;

/// An element that is open.
#[derive(Debug)]
pub(super) struct Frame {
    /// Declarations in scope in front of this element.
    pub(super) bindings: usize,
    /// Byte offset of its start tag.
    pub(super) start: usize,
}

/// Memory that one document after the other uses.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) frames: Vec<Frame>,
    pub(super) scope: Scope,
    pub(super) attributes: Vec<Attribute>,
    /// What the attributes' prefixes mean, in the order of `attributes`.
    pub(super) resolved: Vec<Resolved>,
    /// Indexes into `attributes`, for finding two of one name.
    pub(super) order: Vec<usize>,
    /// An attribute's value with its references resolved.
    pub(super) value: String,
}

impl Buffers {
    /// Empties everything and keeps the memory, but for what a rare large document took.
    fn clear(&mut self) {
        const KEPT: usize = 1024;
        self.frames.clear();
        self.frames.shrink_to(KEPT);
        self.scope.clear();
        self.attributes.clear();
        self.attributes.shrink_to(KEPT);
        self.resolved.clear();
        self.resolved.shrink_to(KEPT);
        self.order.clear();
        self.order.shrink_to(KEPT);
        self.value.clear();
        self.value.shrink_to(KEPT);
    }
}

/// A pass on its way.
pub(super) struct Walk<'a, F> {
    /// The namespaces that the job names.
    pub(super) namespaces: &'a Namespaces,
    pub(super) depth_max: usize,
    pub(super) document: Text<'a>,
    pub(super) buffers: &'a mut Buffers,
    pub(super) finder: F,
    /// A root element was seen, open or closed.
    pub(super) root_seen: bool,
}

impl<F: Finder> Walk<'_, F> {
    /// Goes through the whole document.
    pub(super) fn run(mut self) -> Result<(), Fault> {
        self.buffers.clear();
        let mut reader = quick_xml::Reader::from_str(self.document.text);
        reader.config_mut().check_comments = true;
        let mut start = 0;
        loop {
            let event =
                reader.read_event().map_err(|error| self.token_fault(&error, reader.error_position()))?;
            let end = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            if let Event::Eof = event {
                return self.finish(end);
            }
            self.take(&event, start..end)?;
            start = end;
        }
    }

    fn take(&mut self, event: &Event<'_>, span: Range<usize>) -> Result<(), Fault> {
        match event {
            Event::Start(_) => self.open(span, false),
            Event::Empty(_) => self.open(span, true),
            Event::End(_) => {
                self.close(span);
                Ok(())
            }
            Event::Text(_) => self.text(span),
            Event::CData(content) => self.cdata(content, span.start),
            Event::GeneralRef(body) => self.reference(body, span.start),
            Event::PI(instruction) => check_instruction(instruction.target(), span.start),
            Event::Decl(_) if span.start == 0 => Ok(()),
            Event::Decl(_) => Err(Fault::not_well_formed(
                span.start,
                "an XML declaration that is not at the document's start",
            )),
            Event::DocType(_) => Err(doctype(span.start)),
            Event::Comment(_) | Event::Eof => Ok(()),
        }
    }

    fn text(&mut self, span: Range<usize>) -> Result<(), Fault> {
        let raw = slice(self.document.text, &span);
        if self.buffers.frames.is_empty() {
            if is_blank(raw) {
                return Ok(());
            }
            let offset = raw.bytes().position(|b| !is_space(b)).unwrap_or_default();
            return Err(outside(span.start.saturating_add(offset)));
        }
        // Nearly no text has a `]`: looking for one byte is much cheaper than looking for three.
        if raw.as_bytes().contains(&b']')
            && let Some(offset) = raw.find("]]>")
        {
            return Err(Fault::not_well_formed(span.start.saturating_add(offset), "`]]>` in text"));
        }
        self.finder.text(raw, span.start);
        Ok(())
    }

    fn cdata(&mut self, content: &str, at: usize) -> Result<(), Fault> {
        if self.buffers.frames.is_empty() {
            return Err(outside(at));
        }
        self.finder.text(content, at.saturating_add("<![CDATA[".len()));
        Ok(())
    }

    fn reference(&mut self, body: &str, at: usize) -> Result<(), Fault> {
        if self.buffers.frames.is_empty() {
            return Err(outside(at));
        }
        let character = reference::resolve(body).map_err(|detail| Fault::not_well_formed(at, detail))?;
        self.finder.expanded(character.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    /// Closes the innermost element by its end tag, or by the `/>` of its empty tag.
    pub(super) fn close(&mut self, tag: Range<usize>) {
        let Some(frame) = self.buffers.frames.pop() else { return };
        self.buffers.scope.truncate(frame.bindings);
        self.finder.close(tag);
    }

    fn finish(self, end: usize) -> Result<(), Fault> {
        match self.buffers.frames.last() {
            Some(innermost) => {
                let place = Place::of(self.document.text, innermost.start);
                let detail = format!(
                    "the document ends with {} elements open, the innermost from {place}",
                    self.buffers.frames.len()
                );
                Err(Fault::not_well_formed(end, detail))
            }
            None if self.root_seen => Ok(()),
            None => Err(Fault::not_well_formed(end, "no root element")),
        }
    }

    /// The tokenizer's own faults, without the names it would quote.
    fn token_fault(&self, error: &Error, position: u64) -> Fault {
        let at = usize::try_from(position).unwrap_or(usize::MAX);
        let opened = || match self.buffers.frames.last() {
            Some(frame) => format!("the one from {}", Place::of(self.document.text, frame.start)),
            None => "none".to_owned(),
        };
        match error {
            Error::IllFormed(IllFormedError::MismatchedEndTag { .. }) => {
                let detail = format!("an end tag of another name than the open element, {}", opened());
                Fault::not_well_formed(at, detail)
            }
            Error::IllFormed(IllFormedError::UnmatchedEndTag(_)) => {
                Fault::not_well_formed(at, "an end tag and no open element")
            }
            Error::IllFormed(IllFormedError::DoubleHyphenInComment) => {
                Fault::not_well_formed(at, "`--` inside a comment")
            }
            Error::IllFormed(IllFormedError::UnclosedReference) => {
                Fault::not_well_formed(at, "`&` that begins no reference")
            }
            Error::IllFormed(IllFormedError::MissingDoctypeName) => {
                doctype(slice(self.document.text, &(0..at)).rfind('<').unwrap_or(at))
            }
            Error::Syntax(kind) => {
                // A DOCTYPE that is not even closed is refused for being one.
                let is_doctype = slice(self.document.text, &(at..self.document.text.len()))
                    .get(..9)
                    .is_some_and(|start| start.eq_ignore_ascii_case("<!DOCTYPE"));
                if is_doctype { doctype(at) } else { Fault::not_well_formed(at, kind.to_string()) }
            }
            _ => Fault::not_well_formed(at, "not XML"),
        }
    }
}

fn outside(at: usize) -> Fault {
    Fault::not_well_formed(at, "text outside the root element")
}

fn doctype(at: usize) -> Fault {
    let detail = "a DOCTYPE: documents with a document type definition are refused, none is read or fetched";
    Fault::new(ReasonCode::NotWellFormed, at, detail)
}

/// `<?target content?>`
fn check_instruction(target: &str, at: usize) -> Result<(), Fault> {
    if !is_ncname(target) {
        return Err(Fault::not_well_formed(at, "a processing instruction whose target is not a name"));
    }
    if target.eq_ignore_ascii_case("xml") {
        return Err(Fault::not_well_formed(at, "a processing instruction whose target is reserved"));
    }
    Ok(())
}
