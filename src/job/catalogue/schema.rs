//! The JSON Schema of the job file, for editors: draft-07, as taplo reads it.
//!
//! In:        the catalogue
//! Out:       kinds, words, ranges and required keys; a definition per table
//! Not here:  what depends on more than one value: the check says that
//!
//! A string may have a variable in it, so every closed set of words lets `${` through as well.

use super::{Default, Key, Kind, ROOT, Table};
use serde_json::{Map, Value, json};

/// A name of the user's own.
const NAME: &str = "^[A-Za-z][A-Za-z0-9_]{0,63}$";
const VARIABLE: &str = "\\$\\{";
const SIZE: &str = "^ *[0-9]+ *(B|KiB|MiB|GiB)? *$";

/// docs/job-file.schema.json
pub fn json_schema() -> String {
    let mut definitions = Map::new();
    let mut root = object(
        &ROOT,
        "A job of Tidegate: what is read, what becomes of it, where it goes.",
        &mut definitions,
    );
    root.insert("$schema".to_owned(), json!("http://json-schema.org/draft-07/schema#"));
    root.insert("title".to_owned(), json!("Tidegate job file"));
    root.insert("definitions".to_owned(), Value::Object(definitions));
    format!("{:#}\n", Value::Object(root))
}

/// A table as an object that has no other keys.
fn object(table: &'static Table, text: &str, definitions: &mut Map<String, Value>) -> Map<String, Value> {
    let mut properties = Map::new();
    for key in table.keys {
        if !matches!(key.kind, Kind::Reserved(_)) {
            properties.insert(key.name.to_owned(), property(key, definitions));
        }
    }
    let required: Vec<&str> = table
        .keys
        .iter()
        .filter(|key| matches!(key.default, Default::Required))
        .map(|key| key.name)
        .collect();
    let mut object = Map::new();
    object.insert("type".to_owned(), json!("object"));
    object.insert("description".to_owned(), json!(plain(text)));
    object.insert("properties".to_owned(), Value::Object(properties));
    object.insert("additionalProperties".to_owned(), json!(false));
    if !required.is_empty() {
        object.insert("x-taplo".to_owned(), json!({ "initKeys": required }));
        object.insert("required".to_owned(), json!(required));
    }
    if !table.one_of.is_empty() {
        let one_of: Vec<Value> = table.one_of.iter().map(|name| json!({ "required": [name] })).collect();
        object.insert("oneOf".to_owned(), json!(one_of));
    }
    object
}

fn property(key: &'static Key, definitions: &mut Map<String, Value>) -> Value {
    let mut schema = match kind(key, definitions) {
        // What stands beside a reference counts for nothing.
        Value::Object(schema) if schema.contains_key("$ref") => return Value::Object(schema),
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    schema.insert("description".to_owned(), json!(plain(key.text)));
    if let Default::Is(default) = key.default
        && let Some(default) = toml_value(default)
    {
        schema.insert("default".to_owned(), default);
    }
    if let Some(example) = toml_value(key.example) {
        schema.insert("examples".to_owned(), json!([example]));
    }
    Value::Object(schema)
}

fn kind(key: &'static Key, definitions: &mut Map<String, Value>) -> Value {
    let text = || json!({ "type": "string" });
    match &key.kind {
        Kind::Text(_) => text(),
        Kind::Form { words, pattern } => {
            // A word with a bracket of letters stands for a form.
            let words: Vec<&&str> =
                words.iter().filter(|word| !word.ends_with("(n)") && !word.ends_with("(p,s)")).collect();
            json!({ "anyOf": [{ "enum": words }, form(pattern), form(VARIABLE)] })
        }
        Kind::Choice(words) => {
            let means: Vec<String> = words.iter().map(|word| plain(word.means)).collect();
            let words: Vec<&str> = words.iter().map(|word| word.word).collect();
            let choice = json!({ "enum": words, "x-taplo": { "docs": { "enumValues": means } } });
            json!({ "anyOf": [choice, form(VARIABLE)] })
        }
        Kind::Integer { least, most, or_zero: false } => {
            json!({ "type": "integer", "minimum": least, "maximum": most })
        }
        Kind::Integer { least, most, or_zero: true } => {
            json!({ "anyOf": [{ "const": 0 }, { "type": "integer", "minimum": least, "maximum": most }] })
        }
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::True => json!({ "const": true }),
        Kind::Size { least, most } => {
            let number = json!({ "type": "integer", "minimum": least, "maximum": most });
            json!({ "anyOf": [number, form(SIZE), form(VARIABLE)] })
        }
        Kind::Share => json!({ "type": "number", "minimum": 0.000_001, "maximum": 1 }),
        Kind::Texts { most, .. } => {
            let mut list = json!({ "type": "array", "items": text(), "uniqueItems": true });
            if let Value::Object(list) = &mut list {
                if *most != usize::MAX {
                    list.insert("maxItems".to_owned(), json!(most));
                }
                // An empty list that is the default may be written, too.
                if !matches!(key.default, Default::Is("[]")) {
                    list.insert("minItems".to_owned(), json!(1));
                }
            }
            list
        }
        Kind::Map(_) => json!({ "type": "object", "additionalProperties": text() }),
        Kind::Options => {
            json!({ "type": "object", "additionalProperties": { "type": ["string", "integer", "boolean"] } })
        }
        Kind::Table(table) => reference(table, key.text, definitions),
        Kind::Tables(table) => {
            json!({ "type": "array", "items": reference(table, key.text, definitions) })
        }
        Kind::OneOrMore(table) => {
            let one = reference(table, key.text, definitions);
            json!({ "anyOf": [one.clone(), { "type": "array", "items": one, "minItems": 1 }] })
        }
        Kind::Named(table) => {
            let each = reference(table, key.text, definitions);
            json!({ "type": "object", "propertyNames": { "pattern": NAME }, "additionalProperties": each })
        }
        Kind::Reserved(_) => Value::Null,
    }
}

fn form(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

/// A table by its definition, which is made at the first use.
fn reference(table: &'static Table, text: &str, definitions: &mut Map<String, Value>) -> Value {
    if !definitions.contains_key(table.path) {
        // A list has lists: the name stands before what is inside of it is made.
        definitions.insert(table.path.to_owned(), Value::Null);
        let object = object(table, text, definitions);
        definitions.insert(table.path.to_owned(), Value::Object(object));
    }
    // Square brackets are no characters of a URI.
    let pointer = table.path.replace('[', "%5B").replace(']', "%5D");
    json!({ "$ref": format!("#/definitions/{pointer}") })
}

/// A value of a job file; none where there is none.
pub(super) fn toml_value(text: &str) -> Option<Value> {
    let table: toml::Table = toml::from_str(&format!("value = {text}")).ok()?;
    serde_json::to_value(table.get("value")?).ok()
}

/// Markdown without its links, whose targets an editor does not have.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("](") {
        let Some((target, after)) = behind.split_once(')') else { break };
        let (start, label) = before.rsplit_once('[').unwrap_or(("", before));
        let _target: &str = target;
        out.push_str(start);
        out.push_str(label);
        rest = after;
    }
    out.push_str(rest);
    out
}
