//! XML documents to events, and events back to documents. The only module that names `quick_xml`.
//!
//! In:        a record's bytes; later the texts to add     Out: `Decoded` or a reason; a document
//! Holds:     per worker one `Decoder`: the job's paths as one tree, and buffers
//! Order:     one pass per document, no recursion; the modules below stand in the order in which bytes meet them
//! Fails:     a document that cannot be read gives a [`crate::model::Reason`] and never stops anything else
//! Not here:  Kafka keys, databases, which value goes where
//!
//! Read are XML 1.0 documents (fifth edition) in every encoding of `document`, checked to be well-formed with namespaces; the
//! W3C's conformance suite says so (`tests/conformance`). Of a DOCTYPE the internal subset is read, within limits, or the job
//! refuses it. Nothing outside the document is read or fetched, ever: decision 0021.

mod plan;

mod document;

mod declaration;

mod chars;

mod cursor;

mod prolog;

mod doctype;

mod walk;

mod element;

mod value;

mod tag;

mod reference;

mod scope;

mod finder;

mod seek;

mod naming;

mod found;

mod run;

mod search;

mod decode;
pub use decode::{Decoded, Decoder};

mod judge;

mod rows;

mod marks;

mod field;

mod json;

mod fault;

mod lines;

mod setup;
pub use setup::XmlSetupError;

mod key;
pub use key::join_key;

mod text;
pub use text::{text_of, text_or_bytes};

mod tree;
pub use tree::{Tree, TreeElement, document_text};

mod splice;
pub use splice::{Added, Edited, SpliceError, splice, write};

mod template;
pub use template::{Shown, Template, TemplateError, well_formed};

#[cfg(test)]
mod tests;
