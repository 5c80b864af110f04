//! What is fuzzed: one function per target, from any bytes to nothing. A panic is the finding.

use bytes::Bytes;
use std::fmt::Write;
use tidegate::job::{JobSpec, check};
use tidegate::model::Record;
use tidegate::xml::Decoder;

/// A job whose `[event]` begins with this text.
fn job(event: &str) -> String {
    format!(
        "[job]\nname = \"fuzz\"\nkey_groups = 1\n\
         [source]\nbootstrap_servers = \"127.0.0.1:9\"\ntopics = [\"in\"]\n\
         [event]\n{event}\n\
         [database]\nurl = \"sqlite:fuzz.db\"\n\
         [[database.steps]]\nstore = \"INSERT INTO t (f) VALUES (:f)\"\n"
    )
}

/// Looks in every way, so that every branch meets the bytes.
const CURIOUS: &str = "namespaces = { p = \"urn:p\" }\nkey = [\"a\"]\n\
     [event.fields]\n\
     f = { path = \".\", type = \"text\", optional = true }\n\
     g = { path = \"a/@p:b\", type = \"int64\", optional = true }\n\
     h = { path = \"p:a/b\", type = \"timestamp\", zone = \"UTC\", optional = true }\n";

fn spec(text: &str) -> Option<JobSpec> {
    check("fuzz.toml", text, &|_| None).ok().map(|checked| checked.spec)
}

fn read(spec: &JobSpec, document: &[u8]) {
    let Ok(mut decoder) = Decoder::new(&spec.event, &spec.outputs, spec.limits) else { return };
    let value = Some(Bytes::copy_from_slice(document));
    let record = Record { timestamp_ms: None, key: None, headers: Vec::new(), value };
    _ = decoder.decode(&record);
}

/// Any bytes as a document.
pub(crate) fn decode(bytes: &[u8]) {
    if let Some(spec) = spec(&job(CURIOUS)) {
        read(&spec, bytes);
    }
}

/// Any text as a path: of a key, of a field and of what an event is.
pub(crate) fn paths(bytes: &[u8]) {
    const DOCUMENT: &[u8] = b"<r xmlns:p='urn:p' a='1'><a p:b='2'>x<b/><b>y</b></a><a><p:c>z</p:c></a></r>";
    let Ok(path) = std::str::from_utf8(bytes) else { return };
    let mut quoted = String::from("\"");
    for c in path.chars() {
        // Writing to a String cannot fail.
        _ = write!(quoted, "\\U{:08X}", u32::from(c));
    }
    quoted.push('"');
    for event in [
        format!("key = [{quoted}]\n[event.fields]\nf = {{ path = \"@a\", type = \"text\" }}"),
        format!(
            "key = [\"@a\"]\n[event.fields]\nf = {{ path = {quoted}, type = \"text\", optional = true }}"
        ),
        format!("each = {quoted}\nkey = [\"@a\"]\n[event.fields]\nf = {{ path = \"@a\", type = \"text\" }}"),
    ] {
        if let Some(spec) = spec(&job(&format!("namespaces = {{ p = \"urn:p\" }}\n{event}"))) {
            read(&spec, DOCUMENT);
        }
    }
}

/// Any text as a job file.
pub(crate) fn job_file(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Some(spec) = spec(text)
    {
        read(&spec, b"<r/>");
    }
}
