//! Where one addition of the output goes in the document it came in.

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
}

/// The place of one `[[output.add]]`, found while the document was read, so that writing is only splicing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Bytes from the start of the document: the addition goes in front of this byte.
    pub offset: u32,
    /// `Some(name)`: the element stands as an empty tag (`<name/>`), `offset` is that of its `/`, and the tag must
    /// be opened and closed around the addition.
    pub empty_tag: Option<String>,
    /// The added element's name as it must be written here, with the prefix that the document binds.
    pub name: String,
    /// A namespace declaration that the added element needs, since the document binds none here: prefix (empty
    /// for the default namespace) and URI.
    pub declare: Option<(String, String)>,
}
