//! Where the edits of an output go in the document that an event came in.

use serde::{Deserialize, Serialize};

/// Where an event's element stands in its document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ElementSpan {
    /// Bytes of the document's text in front of it, once decoded to UTF-8 and without a byte-order mark.
    pub start: u32,
    /// The same, of its end.
    pub end: u32,
    /// The namespaces that are in scope around it and not declared by itself: prefix (empty for the default one) and URI.
    pub declare: Vec<(String, String)>,
    /// Whether the document type gives it something, an entity or an attribute by default: alone it would mean something else.
    pub depends: bool,
}

/// The place of one edit, found while the document was read, so that writing is only splicing. Offsets are bytes of the
/// document's text, decoded to UTF-8 and without a byte-order mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mark {
    /// There is no place for it, or more than one, or it cannot be changed. The output cannot be written.
    Missing {
        /// What is wrong, for a person; never a text of the document.
        detail: String,
    },
    /// An element is added.
    Add {
        /// In front of this byte: the end tag, or the `/` of an empty tag.
        at: u32,
        /// `Some(name)`: the element stands as an empty tag (`<name/>`), which must be opened and closed around the
        /// addition.
        empty_tag: Option<String>,
        /// The added element's name as it must be written here, with the prefix that the document binds.
        name: String,
        /// A namespace declaration that the added element needs, since the document binds none here: prefix (empty
        /// for the default namespace) and URI.
        declare: Option<(String, String)>,
    },
    /// An element's content is replaced.
    Content {
        /// Where it begins; of an empty tag its `/`.
        start: u32,
        /// Behind it.
        end: u32,
        /// As of [`Mark::Add`].
        empty_tag: Option<String>,
    },
    /// An attribute's value is replaced.
    Value {
        /// The blanks in front of the attribute: from here on it goes as a whole.
        start: u32,
        /// Between the quotes.
        value_start: u32,
        /// The closing quote.
        value_end: u32,
    },
    /// An attribute is added.
    NewAttribute {
        /// In front of this byte: behind the name or the last attribute of its tag.
        at: u32,
        /// Its name as it must be written here.
        name: String,
        /// A namespace declaration that its element needs for it.
        declare: Option<(String, String)>,
    },
    /// Elements and attributes go, these with the blanks in front of them.
    Remove {
        /// From and to, in document order.
        ranges: Vec<(u32, u32)>,
    },
}
