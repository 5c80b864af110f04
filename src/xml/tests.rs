//! Tests of whole documents: a job in a few words, a document, and what comes of it.

use super::{Added, Decoded, Decoder, XmlSetupError, splice};
use crate::job::{Addition, EventSpec, Field, FieldType, LimitsSpec, Name, OutputSpec, Path};
use crate::model::{Mark, ReasonCode, Value};

mod fields;
mod generated;
mod hostile;
mod places;
mod round_trip;
mod samples;
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
            event: EventSpec { root: None, key: Vec::new(), fields: Vec::new() },
            additions: Vec::new(),
            limits: LimitsSpec {
                in_flight_bytes: 1 << 26,
                document_bytes: 1 << 20,
                document_depth: 256,
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
        self.event.root = Some(self.name(name));
        self
    }

    fn key(mut self, path: &str) -> Job {
        let path = self.path(path);
        self.event.key.push(path);
        self
    }

    fn field(mut self, path: &str, of_type: FieldType) -> Job {
        let field = Field { name: "f".into(), path: self.path(path), of_type, optional: false };
        self.event.fields.push(field);
        self
    }

    fn optional(mut self, path: &str, of_type: FieldType) -> Job {
        self = self.field(path, of_type);
        self.event.fields.last_mut().unwrap().optional = true;
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

    fn path(&self, text: &str) -> Path {
        let mut steps: Vec<&str> = text.split('/').filter(|step| !step.is_empty() && *step != ".").collect();
        let attribute = steps.last().and_then(|last| last.strip_prefix('@')).map(|name| self.name(name));
        if attribute.is_some() {
            steps.pop();
        }
        let steps = steps.into_iter().map(|step| self.name(step)).collect();
        Path { text: text.to_owned(), steps, attribute }
    }

    fn try_decoder(&self) -> Result<Decoder, XmlSetupError> {
        let output = OutputSpec { topic: "out".into(), key: Vec::new(), additions: self.additions.clone() };
        Decoder::new(&self.event, Some(&output), self.limits)
    }

    fn decoder(&self) -> Decoder {
        self.try_decoder().unwrap()
    }

    fn decode(&self, document: &str) -> Decoded {
        self.decoder().decode(document.as_bytes()).unwrap_or_else(|reason| panic!("{reason}: {document}"))
    }

    /// The reason's code and detail.
    fn refusal(&self, document: impl AsRef<[u8]>) -> (ReasonCode, String) {
        let reason = self.decoder().decode(document.as_ref()).unwrap_err();
        (reason.code, reason.detail)
    }

    /// The document with `texts` added, one per addition.
    fn splice(&self, document: &str, texts: &[&str]) -> String {
        let added: Vec<Added> = texts
            .iter()
            .map(|text| Added { text: Some((*text).to_owned()), attributes: Vec::new() })
            .collect();
        let decoded = self.decode(document);
        String::from_utf8(splice(document.as_bytes(), &decoded.marks, &added).unwrap()).unwrap()
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn decimal(precision: u8, scale: u8) -> FieldType {
    FieldType::Decimal { precision, scale }
}
