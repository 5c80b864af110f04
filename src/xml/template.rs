//! Templates: a new document from a text with holes, by minijinja. The only file that names it.
//!
//! In:        a template's text; the event's values by their names     Out: a document, well-formed with namespaces
//! Holds:     the compiled template
//! Fails:     a template that cannot be compiled; a name that gives nothing, a character that XML cannot express, a run
//!            without end, a document that is not well-formed: with the template's name and line, and never a value
//! Not here:  the template's file (`cli`), which names there are (`job`), values (the caller)
//!
//! Everything that is written is escaped, wherever it stands, so that a parser reads the very same; only a field of the
//! type xml is written as it is, by the filter `xml`. Nothing is written for NULL. Texts, decimals, days and times are
//! their canonical texts, whole numbers are numbers. No template can include another, read a file or ask for the time.

mod escape;

mod holes;

use super::decode::Decoder;
use super::text::text_of;
use crate::job::{Doctype, EventSpec, LimitsSpec, NoMatch, TombstoneRule};
use crate::model::{Headers, Reason, ReasonCode, Record, Value};
use bytes::Bytes;
use escape::Escaped;
use holes::misplaced;
use minijinja::value::{Object, ObjectRepr, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, State, UndefinedBehavior};
use std::fmt;
use std::io;
use std::sync::Arc;

/// Steps of the template's machine and bytes that it writes or copies, in one document.
const FUEL: u64 = 5_000_000;
/// Bytes of one document, unless the caller says less.
const OUTPUT_BYTES_MAX: usize = 64 << 20;
/// Elements inside elements of what is written.
const DEPTH_MAX: usize = 1024;
/// What minijinja calls a value that a template has marked as markup: that is for fields of the type xml alone.
const REMOVED_FILTERS: [&str; 4] = ["safe", "float", "round", "pprint"];

/// A compiled template.
#[derive(Debug)]
pub struct Template {
    name: String,
    environment: Environment<'static>,
    output_bytes_max: usize,
}

/// What a name of the event stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// A field, a column or something of the record.
    Value(Value),
    /// A field of the type xml: its source.
    Markup(String),
    /// The columns of a look-up, the fields of one row.
    Table(Vec<(String, Shown)>),
    /// A list's rows.
    Rows(Vec<Shown>),
}

/// Why a template gives no document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// It is no template.
    #[error("{name}{}: {detail}", Line(*line))]
    Syntax {
        /// The template's name.
        name: String,
        /// Counted from 1, where it is known.
        line: Option<usize>,
        /// What is wrong.
        detail: String,
    },
    /// It cannot be carried out with this event.
    #[error("{name}{}: {what}", Line(*line))]
    Render {
        /// The template's name.
        name: String,
        /// Counted from 1, where it is known.
        line: Option<usize>,
        /// What is wrong, without any value.
        what: String,
    },
    /// What it writes is not a document.
    #[error("{name}: what it writes is no document: {}", reason.detail)]
    Document {
        /// The template's name.
        name: String,
        /// Places are those of the written document.
        reason: Reason,
    },
}

/// `, line 5`
struct Line(Option<usize>);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, ", line {line}"))
    }
}

impl Template {
    /// Compiles a template. `name` is what errors call it.
    ///
    /// # Errors
    /// [`TemplateError::Syntax`]
    pub fn compile(name: &str, source: &str) -> Result<Template, TemplateError> {
        if let Some((line, what)) = misplaced(source) {
            let detail = format!(
                "a value stands in {what}, where it cannot be escaped: write it as text or as an attribute's value"
            );
            return Err(TemplateError::Syntax { name: name.to_owned(), line: Some(line), detail });
        }
        let mut environment = Environment::new();
        for filter in REMOVED_FILTERS {
            environment.remove_filter(filter);
        }
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_auto_escape_callback(|_| AutoEscape::Custom("xml".into()));
        environment.set_formatter(write_value);
        environment.add_filter("xml", markup);
        environment.set_fuel(Some(FUEL));
        let added = environment.add_template_owned(name.to_owned(), source.to_owned());
        let template = Template { name: name.to_owned(), environment, output_bytes_max: OUTPUT_BYTES_MAX };
        match added {
            Ok(()) => Ok(template),
            Err(error) => Err(TemplateError::Syntax {
                name: name.to_owned(),
                line: error.line(),
                // No value is near yet: what it quotes is the template's own.
                detail: error.detail().map_or_else(|| error.kind().to_string(), str::to_owned),
            }),
        }
    }

    /// The same, for documents of at most so many bytes.
    #[must_use]
    pub fn with_output_bytes_max(self, output_bytes_max: usize) -> Template {
        Template { output_bytes_max, ..self }
    }

    /// The names that the template takes from the event, such as `total` and `customer.name`; sorted.
    pub fn names(&self) -> Vec<String> {
        let template = self.environment.get_template(&self.name);
        let names = template.map(|template| template.undeclared_variables(true)).unwrap_or_default();
        let known: Vec<&str> = self.environment.globals().map(|(name, _)| name).collect();
        let mut names: Vec<String> =
            names.into_iter().filter(|name| !known.contains(&name.as_str())).collect();
        names.sort_unstable();
        names
    }

    /// Writes the document of one event, from the names of its values. Where a field and a look-up have one name, it is
    /// the look-up's.
    ///
    /// # Errors
    /// [`TemplateError::Render`] and [`TemplateError::Document`]
    pub fn render(&self, event: &[(String, Shown)]) -> Result<String, TemplateError> {
        let template = self.environment.get_template(&self.name).map_err(|error| self.told(&error))?;
        let mut written = Bounded { bytes: Vec::new(), bytes_max: self.output_bytes_max };
        let (tables, others): (Vec<_>, Vec<_>) =
            event.iter().partition(|(_, shown)| matches!(shown, Shown::Table(_)));
        let names = minijinja::Value::from_object(Named(named(tables.into_iter().chain(others))));
        template.render_captured_to(names, &mut written).map_err(|error| self.told(&error))?;
        let text = String::from_utf8(written.bytes).map_err(|_| self.failed(None, "writes no text"))?;
        well_formed(&text)
            .map_err(|reason| TemplateError::Document { name: self.name.clone(), reason })
            .map(|()| text)
    }

    /// A fault of minijinja without its detail, which may quote a value.
    fn told(&self, error: &Error) -> TemplateError {
        let what = match error.kind() {
            ErrorKind::UndefinedError => "a name that gives nothing".to_owned(),
            ErrorKind::OutOfFuel => format!("takes more than {FUEL} steps: does a loop never end?"),
            ErrorKind::WriteFailure => {
                format!("writes more than {} bytes", self.output_bytes_max)
            }
            // Only what this file has said itself is known to be without values.
            _ => match error.detail().and_then(own_words) {
                Some(own) => own.to_owned(),
                None => error.kind().to_string(),
            },
        };
        self.failed(error.line(), &what)
    }

    fn failed(&self, line: Option<usize>, what: &str) -> TemplateError {
        TemplateError::Render { name: self.name.clone(), line, what: what.to_owned() }
    }
}

/// Whether a text is a document that Tidegate itself would read: well-formed with namespaces, in UTF-8.
///
/// # Errors
/// Why it is none, with line and column.
pub fn well_formed(text: &str) -> Result<(), Reason> {
    // With its mark it is UTF-8, and a declaration that says something else contradicts it.
    let marked = format!("\u{feff}{text}");
    let event = EventSpec {
        each: Vec::new(),
        no_match: NoMatch::Unreadable,
        key: Vec::new(),
        fields: Vec::new(),
        lists: Vec::new(),
        doctype: Doctype::Read,
        tombstone: TombstoneRule::Unreadable,
    };
    let limits = LimitsSpec {
        in_flight_bytes: 0,
        document_bytes: marked.len(),
        document_depth: DEPTH_MAX,
        peer_silence_s: 0,
        parked_keys: 0,
        events_per_record: 1,
    };
    let internal =
        |error: super::XmlSetupError| Reason { code: ReasonCode::Limit, detail: error.to_string() };
    let mut decoder = Decoder::new(&event, &[], limits).map_err(internal)?;
    let record = Record {
        timestamp_ms: None,
        key: Some(Bytes::new()),
        value: Some(Bytes::from(marked)),
        headers: Headers::default(),
    };
    decoder.decode(&record).and_then(|events| events.into_iter().try_for_each(|event| event.map(|_| ())))
}

/// Takes so many bytes and no more.
struct Bounded {
    bytes: Vec<u8>,
    bytes_max: usize,
}

impl io::Write for Bounded {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(more.len()) > self.bytes_max {
            return Err(io::Error::other("the document is too large"));
        }
        self.bytes.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const NOT_MARKUP: &str = "the filter `xml` is for fields of the type xml: everything else is escaped";
const NOT_WRITTEN: &str = "a list or table is written whole: write a name of it, or loop over it";
const NOT_XML: &str = "a value holds a character that XML cannot express";

/// The sentence, where it is one of ours.
fn own_words(detail: &str) -> Option<&'static str> {
    [NOT_MARKUP, NOT_WRITTEN, NOT_XML].into_iter().find(|own| *own == detail)
}

/// Writes one value as XML, whatever the template says about escaping.
fn write_value(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &minijinja::Value) -> Result<(), Error> {
    let refuse = |what: &'static str| Error::new(ErrorKind::InvalidOperation, what);
    if value.is_undefined() {
        return Err(Error::from(ErrorKind::UndefinedError));
    }
    if value.is_none() {
        return Ok(());
    }
    if value.is_safe() {
        // Markup by the filter `xml`, or what a template has put together of escaped parts.
        return out.write_str(value.as_str().unwrap_or_default()).map_err(Error::from);
    }
    let number;
    let text = match (value.downcast_object_ref::<Markup>(), value.as_str()) {
        (Some(markup), _) => markup.0.as_str(),
        (None, Some(text)) => text,
        (None, None) if value.as_object().is_some() => return Err(refuse(NOT_WRITTEN)),
        (None, None) if value.kind() == ValueKind::Bool => {
            if value.is_true() {
                "true"
            } else {
                "false"
            }
        }
        (None, None) => {
            number = value.to_string();
            &number
        }
    };
    let escaped = Escaped(text);
    if escaped.is_illegal() {
        return Err(refuse(NOT_XML));
    }
    escaped.write(out).map_err(Error::from)
}

/// The filter `xml`: the source of a field of that type, as it is.
fn markup(value: &minijinja::Value) -> Result<minijinja::Value, Error> {
    if value.is_none() {
        return Ok(value.clone());
    }
    match value.downcast_object_ref::<Markup>() {
        Some(markup) => Ok(minijinja::Value::from_safe_string(markup.0.clone())),
        None => Err(Error::new(ErrorKind::InvalidOperation, NOT_MARKUP)),
    }
}

/// The source of an element.
#[derive(Debug)]
struct Markup(String);

impl Object for Markup {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names and what they stand for, in order.
#[derive(Debug)]
struct Named(Vec<(String, minijinja::Value)>);

impl Object for Named {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &minijinja::Value) -> Option<minijinja::Value> {
        let key = key.as_str()?;
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone())
    }

    fn enumerate(self: &Arc<Self>) -> minijinja::value::Enumerator {
        let names = self.0.iter().map(|(name, _)| minijinja::Value::from(name.as_str()));
        minijinja::value::Enumerator::Values(names.collect())
    }
}

fn named<'s>(event: impl IntoIterator<Item = &'s (String, Shown)>) -> Vec<(String, minijinja::Value)> {
    event.into_iter().map(|(name, shown)| (name.clone(), of(shown))).collect()
}

fn of(shown: &Shown) -> minijinja::Value {
    match shown {
        Shown::Value(value) => of_value(value),
        Shown::Markup(source) => minijinja::Value::from_object(Markup(source.clone())),
        Shown::Table(columns) => minijinja::Value::from_object(Named(named(columns))),
        Shown::Rows(rows) => rows.iter().map(of).collect(),
    }
}

fn of_value(value: &Value) -> minijinja::Value {
    match value {
        Value::Null => minijinja::Value::from(()),
        Value::Int(number) => minijinja::Value::from(*number),
        Value::UInt(number) => minijinja::Value::from(*number),
        Value::Bool(truth) => minijinja::Value::from(*truth),
        other => minijinja::Value::from(text_of(other).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests;
