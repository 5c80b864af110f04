//! `[output]` and `[[output]]`: what goes out of an event.

use super::condition::Condition;
use super::database::{On, ValueRef};
use super::path::{Name, Path};

/// One record per event that meets its conditions.
#[derive(Clone, Debug, PartialEq)]
pub struct OutputSpec {
    /// `output.name`, for messages.
    pub name: Option<String>,
    /// Where to.
    pub topic: TopicChoice,
    /// The Kafka key's parts; empty: the ordering key.
    pub key: Vec<ValueRef>,
    /// Of which records.
    pub on: On,
    /// Only where it holds.
    pub when: Option<Condition>,
    /// The record's value.
    pub document: Document,
    /// In the order of the job file, additions first, then `set`, then `remove`. Empty for templates and tombstones.
    pub edits: Vec<Edit>,
}

/// Which topic a record goes to. Numbers are indexes into [`super::JobSpec::output_topics`].
#[derive(Clone, Debug, PartialEq)]
pub enum TopicChoice {
    /// `output.topic = "name"`
    Fixed(usize),
    /// `output.topic = ":field"`: the topic that the value names, which is one of `output.topics`, else the event is a reject.
    By {
        /// The name's value.
        value: ValueRef,
        /// `output.topics`
        allowed: Vec<usize>,
    },
}

/// `output.document`
#[derive(Clone, Debug, PartialEq)]
pub enum Document {
    /// The whole document as it came, with the edits.
    Input,
    /// The event's element alone, with the edits.
    Element,
    /// A new document.
    Template(Template),
    /// No value: what a tombstone sends.
    Nothing,
}

/// `output.template_file`
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// As the user wrote it; relative to the job file.
    pub file: String,
    /// Its text; empty until whoever loads the job has read it.
    pub source: String,
}

/// One change of the document.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// `[[output.add]]`
    Add(Addition),
    /// `[[output.set]]`
    Set(SetTo),
    /// One of `output.remove`: every element or attribute that it finds goes.
    Remove(Path),
}

/// One `[[output.add]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Addition {
    /// The element that gets it as last child.
    pub at: Path,
    /// Name of the added element.
    pub element: Name,
    /// The job file's prefix of `element`, used where the document binds none; empty: none was written.
    pub prefix: String,
    /// Its text; `None`: an empty element. A NULL makes the element empty, too.
    pub text: Option<Content>,
    /// Its attributes in the order of the job file; a NULL leaves the attribute out.
    pub attributes: Vec<(String, Content)>,
}

/// One `[[output.set]]`: replaces the text of an element or the value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct SetTo {
    /// The element or attribute.
    pub at: Path,
    /// What it becomes. A NULL empties an element and takes an attribute away.
    pub to: Content,
}

/// What an edit says: the same text each time, or a value of the event.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Content {
    /// A text of the job file, not yet escaped.
    Literal(String),
    /// `":field"`
    Value(ValueRef),
}
