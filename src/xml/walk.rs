//! One pass over a document: its structure checked for real, a [`Finder`] told of everything.
//!
//! In:        text whose characters are legal     Out: elements and texts, to the finder
//! Holds:     one frame per open element, one source per open entity, the declarations in scope; nothing recurses
//! Order:     document order; the first fault ends the pass
//! Fails:     what is not well-formed or not namespace-well-formed, `limits.document_depth`, what `doctype` refuses
//! Not here:  opening an element (see `element`), what the job looks for (see `seek`)
//!
//! quick-xml is the tokenizer, from the root element on: it finds where tokens end and that end tags match. Everything
//! else that XML demands is checked here, in `document`, `prolog`, `doctype`, `element` and `tag`. An entity's replacement
//! is read by a tokenizer of its own, as if it stood where the reference does; faults in it are told of that place.

use super::chars::{is_blank, is_ncname, is_space};
use super::doctype::{Budget, Definition, RECURSIVE, Replacement};
use super::document::Text;
use super::fault::{Fault, Place};
use super::finder::Finder;
use super::prolog::{self, Prolog};
use super::reference;
use super::scope::{Namespaces, Resolved, Scope};
use super::tag::{Attribute, slice};
use crate::job::Doctype;
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
    /// Attributes' values, of those that do not stand for themselves.
    pub(super) values: String,
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
        self.values.clear();
        self.values.shrink_to(KEPT);
    }
}

/// What a pass needs.
pub(super) struct Walk<'a, F> {
    /// The namespaces that the job names.
    pub(super) namespaces: &'a Namespaces,
    pub(super) doctype: Doctype,
    pub(super) depth_max: usize,
    pub(super) document: Text<'a>,
    pub(super) buffers: &'a mut Buffers,
    pub(super) finder: F,
}

impl<F: Finder> Walk<'_, F> {
    /// Goes through the whole document.
    pub(super) fn run(self) -> Result<(), Fault> {
        self.buffers.clear();
        let mut budget = Budget::new(self.document.text.len());
        let Prolog { root, definition } = prolog::read(&self.document, self.doctype, &mut budget)?;
        let pass = Pass {
            namespaces: self.namespaces,
            depth_max: self.depth_max,
            document: self.document.text,
            definition: definition.as_ref(),
            budget,
            buffers: self.buffers,
            finder: self.finder,
            root_seen: false,
            source: Source::document(self.document.text, root),
            outer: Vec::new(),
        };
        pass.run()
    }
}

/// A text that is being read: the document, or what an entity stands for.
pub(super) struct Source<'a> {
    reader: quick_xml::Reader<&'a [u8]>,
    pub(super) text: &'a str,
    /// Where in `text` the reader began.
    base: usize,
    /// The entity's name; empty: the document.
    entity: &'a str,
    /// Where the reference stands that led out of the document; `None`: this is the document.
    pub(super) place: Option<usize>,
    /// Elements that were open when it began.
    floor: usize,
}

impl<'a> Source<'a> {
    fn new(text: &'a str, base: usize) -> Source<'a> {
        let mut reader = quick_xml::Reader::from_str(text.get(base..).unwrap_or_default());
        reader.config_mut().check_comments = true;
        Source { reader, text, base, entity: "", place: None, floor: 0 }
    }

    fn document(text: &'a str, root: usize) -> Source<'a> {
        Source::new(text, root)
    }

    /// A place that the reader tells.
    fn at(&self, position: u64) -> usize {
        self.base.saturating_add(usize::try_from(position).unwrap_or(usize::MAX))
    }
}

/// A pass on its way.
pub(super) struct Pass<'a, F> {
    pub(super) namespaces: &'a Namespaces,
    pub(super) depth_max: usize,
    document: &'a str,
    pub(super) definition: Option<&'a Definition>,
    pub(super) budget: Budget,
    pub(super) buffers: &'a mut Buffers,
    pub(super) finder: F,
    /// A root element was seen, open or closed.
    pub(super) root_seen: bool,
    pub(super) source: Source<'a>,
    /// What is to be read on when the source ends, the document first.
    outer: Vec<Source<'a>>,
}

impl<'a, F: Finder> Pass<'a, F> {
    fn run(mut self) -> Result<(), Fault> {
        let mut start = self.source.base;
        loop {
            let event = self.source.reader.read_event();
            let event = match event {
                Ok(event) => event,
                Err(error) => {
                    let at = self.source.at(self.source.reader.error_position());
                    return Err(self.placed(self.token_fault(&error, at)));
                }
            };
            let end = self.source.at(self.source.reader.buffer_position());
            if let Event::Eof = event {
                let Some(outer) = self.outer.pop() else { return self.finish(end) };
                self.leave(outer)?;
            } else {
                self.take(&event, start..end).map_err(|fault| self.placed(fault))?;
            }
            start = self.source.at(self.source.reader.buffer_position());
        }
    }

    /// A fault of the source, told of the document.
    fn placed(&self, fault: Fault) -> Fault {
        match self.source.place {
            Some(place) => fault.moved_to(place),
            None => fault,
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
            Event::Decl(_) => Err(Fault::not_well_formed(
                span.start,
                "an XML declaration that is not at the document's start",
            )),
            Event::DocType(_) => Err(Fault::not_well_formed(
                span.start,
                "a DOCTYPE that is not in front of the root element, or not in capitals",
            )),
            Event::Comment(_) | Event::Eof => Ok(()),
        }
    }

    fn text(&mut self, span: Range<usize>) -> Result<(), Fault> {
        let raw = slice(self.source.text, &span);
        if self.buffers.frames.is_empty() {
            if is_blank(raw) {
                return Ok(());
            }
            let offset = raw.bytes().position(|b| !is_space(b)).unwrap_or_default();
            return Err(outside(span.start.saturating_add(offset)));
        }
        check_text(raw, span.start)?;
        self.told(raw, span.start);
        Ok(())
    }

    /// Text of the source: what a replacement holds has its line ends already.
    fn told(&mut self, raw: &str, at: usize) {
        match self.source.place {
            None => self.finder.text(raw, at),
            Some(_) => self.finder.expanded(raw),
        }
    }

    fn cdata(&mut self, content: &str, at: usize) -> Result<(), Fault> {
        if self.buffers.frames.is_empty() {
            return Err(outside(at));
        }
        self.told(content, at.saturating_add("<![CDATA[".len()));
        Ok(())
    }

    fn reference(&mut self, body: &str, at: usize) -> Result<(), Fault> {
        if self.buffers.frames.is_empty() {
            return Err(outside(at));
        }
        let replacement = match self.definition {
            Some(definition) => {
                definition.entities.resolve(body).map_err(|(code, detail)| Fault::new(code, at, detail))?
            }
            None => {
                let character = reference::resolve(body);
                Replacement::Character(character.map_err(|detail| Fault::not_well_formed(at, detail))?)
            }
        };
        match replacement {
            Replacement::Character(c) => self.finder.expanded(c.encode_utf8(&mut [0; 4])),
            Replacement::Text { name, text } => return self.enter(name, text, at),
        }
        Ok(())
    }

    /// Begins to read what an entity stands for.
    fn enter(&mut self, entity: &'a str, text: &'a str, at: usize) -> Result<(), Fault> {
        let is_open = |source: &Source<'_>| source.entity == entity;
        if is_open(&self.source) || self.outer.iter().any(is_open) {
            return Err(Fault::not_well_formed(at, RECURSIVE));
        }
        self.budget.enter(text, self.outer.len(), at)?;
        let place = self.source.place.unwrap_or(at);
        self.finder.entity(place);
        if !text.contains(['<', '&']) {
            check_text(text, at)?;
            self.finder.expanded(text);
            return Ok(());
        }
        let floor = self.buffers.frames.len();
        let inner = Source { entity, place: Some(place), floor, ..Source::new(text, 0) };
        self.outer.push(std::mem::replace(&mut self.source, inner));
        Ok(())
    }

    /// Goes on behind the reference to an entity that ends.
    fn leave(&mut self, outer: Source<'a>) -> Result<(), Fault> {
        if self.buffers.frames.len() != self.source.floor {
            let fault = Fault::not_well_formed(0, "an entity that ends with an element of its own open");
            return Err(self.placed(fault));
        }
        self.source = outer;
        Ok(())
    }

    /// Closes the innermost element by its end tag, or by the `/>` of its empty tag.
    pub(super) fn close(&mut self, tag: Range<usize>) {
        let Some(frame) = self.buffers.frames.pop() else { return };
        self.buffers.scope.truncate(frame.bindings);
        self.finder.close(match self.source.place {
            Some(reference) => reference..reference,
            None => tag,
        });
    }

    fn finish(self, end: usize) -> Result<(), Fault> {
        match self.buffers.frames.last() {
            Some(innermost) => {
                let place = Place::of(self.document, innermost.start);
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
    fn token_fault(&self, error: &Error, at: usize) -> Fault {
        let opened = || match self.buffers.frames.last() {
            Some(frame) => format!("the one from {}", Place::of(self.document, frame.start)),
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
                Fault::not_well_formed(at, "a DOCTYPE that is not in front of the root element")
            }
            Error::Syntax(kind) => Fault::not_well_formed(at, kind.to_string()),
            _ => Fault::not_well_formed(at, "not XML"),
        }
    }
}

fn outside(at: usize) -> Fault {
    Fault::not_well_formed(at, "text outside the root element")
}

/// Nearly no text has a `]`: looking for one byte is much cheaper than looking for three.
fn check_text(raw: &str, at: usize) -> Result<(), Fault> {
    match raw.as_bytes().contains(&b']').then(|| raw.find("]]>")).flatten() {
        Some(offset) => Err(Fault::not_well_formed(at.saturating_add(offset), "`]]>` in text")),
        None => Ok(()),
    }
}

/// `<?target content?>`
pub(super) fn check_instruction(target: &str, at: usize) -> Result<(), Fault> {
    if target == "xml" {
        return Err(Fault::not_well_formed(at, "an XML declaration that is not at the document's start"));
    }
    if !is_ncname(target) {
        return Err(Fault::not_well_formed(at, "a processing instruction whose target is not a name"));
    }
    if target.eq_ignore_ascii_case("xml") {
        return Err(Fault::not_well_formed(at, "a processing instruction whose target is reserved"));
    }
    Ok(())
}
