//! Tests of whole documents: a job in a few words, a document, and what comes of it.

use super::{Added, Decoded, Decoder, XmlSetupError, splice};
use crate::job::{
    Addition, Base, Branch, Doctype, Document, Edit, End, EventSpec, Field, FieldRules, FieldSource,
    FieldType, KeyPart, LimitsSpec, Name, NoMatch, On, OutputSpec, Path, PathStep, TombstoneRule,
    TopicChoice,
};
use crate::model::{Mark, Reason, ReasonCode, Record, Value};
use bytes::Bytes;

mod conformance;
mod doctype;
mod edited_trees;
mod edits;
mod encodings;
mod events;
mod families;
mod fields;
mod generated;
mod grown;
mod hostile;
mod naive;
mod path;
mod paths;
mod places;
mod round_trip;
mod samples;
mod standards;
mod trees;
mod well_formed;

/// A job, built word by word. Prefixes in its paths: `u:` is `urn:u`, `v:` is `urn:v`; others are given.
#[derive(Clone)]
struct Job {
    prefixes: Vec<(&'static str, &'static str)>,
    event: EventSpec,
    additions: Vec<Addition>,
    limits: LimitsSpec,
}

impl Job {
    fn new() -> Job {
        Job {
            prefixes: vec![("u", "urn:u"), ("v", "urn:v"), ("xml", super::scope::XML_URI)],
            event: EventSpec {
                each: Vec::new(),
                no_match: NoMatch::Unreadable,
                key: Vec::new(),
                fields: Vec::new(),
                lists: Vec::new(),
                doctype: Doctype::Read,
                tombstone: TombstoneRule::Unreadable,
            },
            additions: Vec::new(),
            limits: LimitsSpec {
                in_flight_bytes: 1 << 26,
                document_bytes: 1 << 20,
                document_depth: 256,
                events_per_record: 100_000,
                peer_silence_s: 30,
                parked_keys: 1,
            },
        }
    }

    fn prefix(mut self, prefix: &'static str, uri: &'static str) -> Job {
        self.prefixes.push((prefix, uri));
        self
    }

    fn root(mut self, name: &str) -> Job {
        self.event.each = vec![PathStep { name: self.name(name), predicates: Vec::new() }];
        self
    }

    fn key(mut self, path: &str) -> Job {
        let path = self.path(path);
        self.event.key.push(KeyPart::Path(path));
        self
    }

    fn field(mut self, path: &str, of_type: FieldType) -> Job {
        let field = Field {
            name: "f".into(),
            source: FieldSource::Path(self.path(path)),
            of_type,
            rules: FieldRules::required(),
        };
        self.event.fields.push(field);
        self
    }

    fn optional(mut self, path: &str, of_type: FieldType) -> Job {
        self = self.field(path, of_type);
        self.event.fields.last_mut().unwrap().rules = FieldRules::optional();
        self
    }

    fn add(mut self, at: &str, element: &str) -> Job {
        let prefix = element.split_once(':').map_or("", |(prefix, _)| prefix).to_owned();
        let addition = Addition {
            at: self.path(at),
            element: self.name(element),
            prefix,
            text: None,
            attributes: Vec::new(),
        };
        self.additions.push(addition);
        self
    }

    fn name(&self, written: &str) -> Name {
        match written.split_once(':') {
            None => Name { namespace: None, local: written.to_owned() },
            Some((prefix, local)) => {
                let (_, uri) = self.prefixes.iter().find(|(known, _)| *known == prefix).unwrap();
                Name { namespace: Some((*uri).to_owned()), local: local.to_owned() }
            }
        }
    }

    fn try_decoder(&self) -> Result<Decoder, XmlSetupError> {
        let output = OutputSpec {
            name: None,
            topic: TopicChoice::Fixed(0),
            key: Vec::new(),
            on: On::Document,
            when: None,
            document: Document::Input,
            edits: self.additions.iter().cloned().map(Edit::Add).collect(),
        };
        Decoder::new(&self.event, &[output], self.limits)
    }

    fn decoder(&self) -> Decoder {
        self.try_decoder().unwrap()
    }

    fn decode(&self, document: &str) -> Decoded {
        let decoded = decode_one(&mut self.decoder(), document);
        decoded.unwrap_or_else(|reason| panic!("{reason}: {document}"))
    }

    /// The reason's code and detail.
    fn refusal(&self, document: impl AsRef<[u8]>) -> (ReasonCode, String) {
        let reason = decode_one(&mut self.decoder(), document).unwrap_err();
        (reason.code, reason.detail)
    }

    /// The document with `texts` added, one per addition.
    fn splice(&self, document: &str, texts: &[&str]) -> String {
        let added: Vec<Added> = texts
            .iter()
            .map(|text| Added { text: Some((*text).to_owned()), attributes: Vec::new() })
            .collect();
        let decoded = self.decode(document);
        String::from_utf8(splice(document.as_bytes(), &decoded.reading.marks, &added).unwrap()).unwrap()
    }
}

/// The only event of a record that has the key `record`.
fn decode_one(decoder: &mut Decoder, document: impl AsRef<[u8]>) -> Result<Decoded, Reason> {
    let value = Some(Bytes::copy_from_slice(document.as_ref()));
    let key = Some(Bytes::from_static(b"record"));
    let mut events = decoder.decode(&Record { timestamp_ms: None, key, headers: Vec::new(), value })?;
    assert_eq!(events.len(), 1);
    events.remove(0)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn decimal(precision: u8, scale: u8) -> FieldType {
    FieldType::Decimal { precision, scale }
}
