//! The JSON Schema against the check: what the check takes the schema takes, and what is no key or no word it refuses.

use super::super::catalogue::{Key, Kind, ROOT, Table};
use super::super::json_schema;
use super::{ORDERS, checked};
use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::OnceLock;

const LANGUAGE: &str = include_str!("language.toml");
const CONTRACT: &str = include_str!("contract.toml");

/// The schema, ready to judge.
pub(super) struct Judge {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Judge {
    fn new() -> Judge {
        let schema: Value = serde_json::from_str(&json_schema()).unwrap();
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("job.json", schema).unwrap();
        let index = compiler.compile("job.json", &mut schemas).unwrap();
        Judge { schemas, index }
    }

    /// Why a job file is refused; none: it is taken.
    pub(super) fn refuses(&self, job: &Value) -> Option<String> {
        self.schemas.validate(job, self.index).err().map(|error| error.to_string())
    }
}

/// Made once: every good job of the tests is judged.
pub(super) fn judge() -> &'static Judge {
    static JUDGE: OnceLock<Judge> = OnceLock::new();
    JUDGE.get_or_init(Judge::new)
}

pub(super) fn value_of(text: &str) -> Value {
    let table: toml::Table = toml::from_str(text).unwrap();
    serde_json::to_value(table).unwrap()
}

#[test]
fn good_jobs_are_taken() {
    let judge = judge();
    let contract = CONTRACT.replace("[status]\nlisten = \"127.0.0.1:9464\"\n", "");
    for text in [ORDERS, LANGUAGE, &contract] {
        let _right = checked(text);
        assert_eq!(judge.refuses(&value_of(text)), None, "{text}");
    }
    assert!(judge.refuses(&value_of(CONTRACT)).is_some(), "what is reserved is no key yet");
}

/// Every job that has each of the table's keys changed as the tables of the catalogue say; `change` gives what stands behind
/// a key instead (none: the key goes), or nothing where it has nothing to try.
struct Mutations<'a> {
    judge: &'a Judge,
    tried: usize,
    tables: BTreeSet<&'static str>,
}

impl Mutations<'_> {
    /// Changes what stands at `at` in `job`, and everything below it.
    fn of(&mut self, job: &Value, table: &'static Table, at: &str) {
        self.tables.insert(table.path);
        self.refused(job, at, "qqqqqqqqqqqq", Some(json!(1)));
        for key in table.keys {
            for wrong in wrong_values(key) {
                self.refused(job, at, key.name, Some(wrong));
            }
            if matches!(key.default, super::super::catalogue::Default::Required) {
                self.refused(job, at, key.name, None);
            }
            let place = format!("{at}/{}", key.name);
            let Some(inside) = job.pointer(&place) else { continue };
            match &key.kind {
                Kind::Table(table) => self.of(job, table, &place),
                Kind::OneOrMore(table) if inside.is_object() => self.of(job, table, &place),
                Kind::Tables(table) | Kind::OneOrMore(table) => {
                    for index in 0..inside.as_array().map_or(0, Vec::len) {
                        self.of(job, table, &format!("{place}/{index}"));
                    }
                }
                Kind::Named(table) => {
                    for name in inside.as_object().into_iter().flat_map(|names| names.keys()) {
                        self.of(job, table, &format!("{place}/{name}"));
                    }
                }
                _ => {}
            }
        }
    }

    fn refused(&mut self, job: &Value, at: &str, key: &str, value: Option<Value>) {
        let mut job = job.clone();
        let Some(Value::Object(table)) = job.pointer_mut(at) else { panic!("{at} is no table") };
        let had = match value.clone() {
            Some(value) => table.insert(key.to_owned(), value).is_some(),
            None => table.remove(key).is_some(),
        };
        if value.is_none() && !had {
            return;
        }
        self.tried += 1;
        assert!(self.judge.refuses(&job).is_some(), "{at}/{key} = {value:?} is taken");
    }
}

/// What can never stand behind a key.
fn wrong_values(key: &Key) -> Vec<Value> {
    match &key.kind {
        Kind::Text(_) => vec![json!(1), json!(["a"])],
        Kind::Form { .. } => vec![json!("txt"), json!("decimal"), json!("decimal(a,b)"), json!(1)],
        Kind::Choice(_) => vec![json!("qqqq"), json!(true), json!("")],
        Kind::Integer { least, most, or_zero } => {
            let mut wrong = vec![json!("1"), json!(1.5), json!(most + 1), json!(-1)];
            let below = least.checked_sub(1).filter(|below| !or_zero || *below > 0);
            wrong.extend(below.map(|below| json!(below)));
            wrong
        }
        Kind::Boolean => vec![json!("true"), json!(1)],
        Kind::True => vec![json!(false)],
        Kind::Size { least, most } => vec![json!("64MB"), json!(least - 1), json!(most + 1), json!(true)],
        Kind::Share => vec![json!(0), json!(1.5), json!("0.1")],
        Kind::Texts { .. } => vec![json!("a"), json!([1]), json!(["a", "a"])],
        Kind::Map(_) => vec![json!("a"), json!({ "a": 1 })],
        Kind::Options => vec![json!("a"), json!({ "a": [] })],
        Kind::Table(_) | Kind::OneOrMore(_) | Kind::Named(_) => vec![json!("a"), json!(1)],
        Kind::Tables(_) => vec![json!("a"), json!({})],
        Kind::Reserved(_) => vec![json!({})],
    }
}

#[test]
fn unknown_keys_wrong_words_and_missing_keys_are_refused_in_every_table() {
    let judge = judge();
    let mut mutations = Mutations { judge, tried: 0, tables: BTreeSet::new() };
    let contract = CONTRACT.replace("[status]\nlisten = \"127.0.0.1:9464\"\n", "");
    for text in [ORDERS, LANGUAGE, &contract] {
        mutations.of(&value_of(text), &ROOT, "");
    }
    assert_eq!(mutations.tables.len(), 15, "{:?}", mutations.tables);
    assert!(mutations.tried > 1000, "{}", mutations.tried);
}

#[test]
fn a_variable_may_stand_for_a_word() {
    let judge = judge();
    for (from, to) in [
        ("start = \"earliest\"", "start = \"${START:group}\""),
        ("type = \"int64\"", "type = \"${TYPE:int64}\""),
        ("document_bytes = \"1MiB\"", "document_bytes = \"${SIZE:1MiB}\""),
        ("document_bytes = \"1MiB\"", "document_bytes = 1048576"),
        ("type = \"decimal(12,2)\"", "type = \"decimal( 12 , 2 )\""),
        ("type = \"int64\"", "type = \"text(20)\""),
    ] {
        let text = super::changed(from, to);
        let _right = checked(&text);
        assert_eq!(judge.refuses(&value_of(&text)), None, "{to}");
    }
}

#[test]
fn two_sources_or_two_statements_are_refused() {
    let judge = judge();
    for (from, to) in [
        ("{ path = \"s:note\", ", "{ path = \"s:note\", header = \"note\", "),
        ("{ path = \"s:note\", ", "{ "),
        ("missing = \"reject\"", "missing = \"reject\"\nstore = \"DELETE FROM a\""),
    ] {
        assert!(judge.refuses(&value_of(&super::changed(from, to))).is_some(), "{to}");
    }
}
