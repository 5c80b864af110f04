//! Why a job's documents cannot be read or written at all.

/// What makes a job impossible to carry out. The job file's own check should have said so before, with its line.
#[derive(Debug, thiserror::Error)]
pub enum XmlSetupError {
    /// Offsets in documents are 32 bits wide.
    #[error("limits.document_bytes is {found}; the most is {}", u32::MAX)]
    DocumentBytes {
        /// The job's limit, in bytes.
        found: usize,
    },
    /// Type and rules of a field that do not go together.
    #[error("event.fields.{field}: {why}")]
    Field {
        /// The field's name.
        field: String,
        /// Why not.
        why: crate::job::FieldRulesError,
    },
    /// Declarations are not attributes.
    #[error("the path `{path}` ends at a namespace declaration, which is not an attribute")]
    NamespaceDeclaration {
        /// As the user wrote it.
        path: String,
    },
    /// An element cannot be added to an attribute.
    #[error("output.add of `{element}`: `at` ({at}) ends at an attribute; name the element instead")]
    AtAttribute {
        /// The added element.
        element: String,
        /// As the user wrote it.
        at: String,
    },
    /// Not a name of XML.
    #[error("output.add: `{element}` is not the name of an element")]
    ElementName {
        /// The added element.
        element: String,
    },
    /// A prefix that cannot be declared.
    #[error("output.add of `{element}`: the prefix `{prefix}` cannot stand for the element's namespace")]
    Prefix {
        /// The added element.
        element: String,
        /// The job's prefix.
        prefix: String,
    },
    /// Not a name of XML, with a prefix other than `xml`, or there twice.
    #[error("output.add of `{element}`: `{attribute}` is not the name of an attribute, or is there twice")]
    AttributeName {
        /// The added element.
        element: String,
        /// As the user wrote it.
        attribute: String,
    },
    /// A field made of the rows of a list that is elsewhere.
    #[error("the field `{field}` is made of the list `{list}`, whose rows are not in the same element")]
    ListElsewhere {
        /// The field's name, behind its own list's.
        field: String,
        /// The list's name.
        list: String,
    },
    /// More `..` than there are elements.
    #[error("the path `{path}` goes up above the document")]
    AboveTheDocument {
        /// As the user wrote it.
        path: String,
    },
    /// A number is no place.
    #[error("`{at}` counts, and an edit needs an element or an attribute")]
    CountedPlace {
        /// As the user wrote it.
        at: String,
    },
    /// The alternatives of a `set` must be of one kind.
    #[error("output.set: the alternatives of `{at}` are not all elements, or not all one attribute")]
    MixedSet {
        /// As the user wrote it.
        at: String,
    },
    /// A mistake of ours.
    #[error("the tree of paths is broken: this is a fault in tidegate")]
    Internal,
}
