//! `[event]`: how a record becomes events, and what each of them has.

use super::path::{Path, PathStep};
use std::collections::BTreeMap;

/// `[event]`
#[derive(Clone, Debug, PartialEq)]
pub struct EventSpec {
    /// `event.each`: one event per element that these steps from the root find, in document order; empty: the root
    /// element, whatever its name is.
    pub each: Vec<PathStep>,
    /// Of a document in which `each` finds nothing.
    pub no_match: NoMatch,
    /// The ordering key's parts; empty: the Kafka record key.
    pub key: Vec<KeyPart>,
    /// In the order of the job file.
    pub fields: Vec<Field>,
    /// In the order of the job file, an inner list behind the one it is in.
    pub lists: Vec<List>,
    /// Of documents with a document type declaration.
    pub doctype: Doctype,
    /// Of records without a value.
    pub tombstone: TombstoneRule,
}

/// `event.no_match`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoMatch {
    /// The record is unreadable.
    Unreadable,
    /// It has no events: counted as discarded.
    Discard,
}

/// `event.doctype`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doctype {
    /// The internal subset is read, its entities are expanded within limits; nothing external is ever fetched.
    Read,
    /// Every document with a DOCTYPE is unreadable.
    Refuse,
}

/// `event.tombstone`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TombstoneRule {
    /// The record is unreadable.
    Unreadable,
    /// Counted as discarded.
    Discard,
    /// It is an event of its Kafka key, with what `on = "tombstone"` names.
    Event,
}

/// One part of the ordering key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum KeyPart {
    /// Text of the document.
    Path(Path),
    /// `":_key"`, the Kafka record key.
    RecordKey,
    /// `":_header.NAME"`, the last header of that name.
    Header(String),
}

/// A repeated element: a child table.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// As parameters and `for_each` name it; no other list, field or step is named so.
    pub name: String,
    /// Index into [`EventSpec::lists`] of the list whose rows it is in; none: it is in the event.
    pub parent: Option<usize>,
    /// From the event's element, or from the parent's row, downwards.
    pub each: Vec<PathStep>,
    /// As the user wrote it.
    pub text: String,
    /// In the order of the job file; their paths begin at the row's element.
    pub fields: Vec<Field>,
}

/// One field of an event or of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// As parameters name it.
    pub name: String,
    /// Where its text comes from.
    pub source: FieldSource,
    /// How the text is read.
    pub of_type: FieldType,
    /// What else is to be done with the text, and where there is none.
    pub rules: FieldRules,
}

/// Where a field's text comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum FieldSource {
    /// The document. Of the type json all matches make one array; of every other type, there may be one.
    Path(Path),
    /// A list's rows as a JSON array of objects; the type is json.
    List(usize),
    /// The Kafka record key.
    RecordKey,
    /// The last header of this name.
    Header(String),
}

/// What is done with a field's text before and behind its type, and where there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldRules {
    /// The path finds nothing.
    pub absent: Gap,
    /// `xsi:nil="true"`
    pub nil: Gap,
    /// It is there and, with white space as below, empty.
    pub empty: Gap,
    /// What [`Gap::Default`] gives, in the field's type.
    pub default: Option<String>,
    /// Enumerated texts and what each stands for, read by the field's type. Another text is not of its type. Empty: every text.
    pub values: BTreeMap<String, String>,
    /// Before anything else looks at the text.
    pub white_space: WhiteSpace,
    /// More digits than the type holds.
    pub round: Round,
    /// How a date, time or timestamp is written, where it is not ISO 8601: strptime's letters.
    pub format: Option<String>,
    /// Of text: characters at the most.
    pub chars_max: Option<usize>,
}

impl FieldRules {
    /// Those of a field that says nothing: everything that is missing is a reject, and empty text goes to the type.
    pub fn required() -> FieldRules {
        FieldRules {
            absent: Gap::Reject,
            nil: Gap::Reject,
            empty: Gap::Value,
            default: None,
            values: BTreeMap::new(),
            white_space: WhiteSpace::Preserve,
            round: Round::Never,
            format: None,
            chars_max: None,
        }
    }

    /// `optional = true`: absent and nil are NULL.
    pub fn optional() -> FieldRules {
        FieldRules { absent: Gap::Null, nil: Gap::Null, ..FieldRules::required() }
    }
}

/// What a value that is not there means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// The event is unreadable.
    Reject,
    /// NULL.
    Null,
    /// [`FieldRules::default`]
    Default,
    /// The empty text, which the type judges: only text can be empty.
    Value,
}

/// White space by XML Schema, and one that cuts the ends alone. Every type but text cuts the ends anyway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhiteSpace {
    /// As it is.
    Preserve,
    /// Tab, CR and LF become blanks.
    Replace,
    /// Runs of white space become one blank, none at the ends.
    Collapse,
    /// None at the ends.
    Trim,
}

/// What becomes of digits that a type does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// The text is not of its type.
    Never,
    /// To the nearest, from the middle to the even digit.
    HalfEven,
    /// To the nearest, from the middle away from zero.
    HalfUp,
    /// Cut.
    Down,
}

/// How a field's text is read.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldType {
    /// The text as it is.
    Text,
    /// -2^63 to 2^63 - 1.
    Int64,
    /// 0 to 2^64 - 1.
    UInt64,
    /// At most `precision` digits, `scale` of them behind the point.
    Decimal {
        /// 1 to 65.
        precision: u8,
        /// 0 to `precision`, at most 38.
        scale: u8,
    },
    /// IEEE 754, finite.
    Float64,
    /// `true`, `false`, `1`, `0`.
    Bool,
    /// `yyyy-mm-dd`; a zone is allowed and ignored.
    Date,
    /// A time of day, `hh:mm:ss`; a zone is allowed and ignored.
    Time,
    /// ISO 8601 date and time.
    Timestamp {
        /// IANA name of the zone of values that carry none.
        zone: Option<String>,
    },
    /// xs:duration.
    Duration(DurationUnit),
    /// Base64 text.
    Base64,
    /// Hexadecimal text.
    Hex,
    /// An array: of the texts that a path finds, or of a list's rows.
    Json,
    /// The element itself, markup and all, as the document has it.
    Xml,
}

/// What an xs:duration becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurationUnit {
    /// Its text, checked.
    Text,
    /// Whole seconds; of days and smaller units alone.
    Seconds,
    /// Whole milliseconds; of days and smaller units alone.
    Milliseconds,
    /// Whole months; of years and months alone.
    Months,
}
