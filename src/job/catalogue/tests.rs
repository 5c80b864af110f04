//! The catalogue against itself, and what is written from it: docs/job-file.md and docs/job-file.schema.json.

use super::schema::toml_value;
use super::*;
use std::path::Path;

/// A file of docs/ and what it must say; `TIDEGATE_WRITE_DOCS` writes it.
fn must_be_written(name: &str, rendered: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name);
    if std::env::var_os("TIDEGATE_WRITE_DOCS").is_some() {
        std::fs::write(&path, rendered).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = written.lines().zip(rendered.lines()).find(|(is, should)| is != should);
    assert!(
        written == rendered,
        "docs/{name} is not what the catalogue says (first difference: {differs:?}): set TIDEGATE_WRITE_DOCS=1 and run this \
         test again"
    );
}

#[test]
fn the_reference_says_what_the_catalogue_says() {
    must_be_written("job-file.md", &reference());
}

#[test]
fn the_schema_says_what_the_catalogue_says() {
    must_be_written("job-file.schema.json", &json_schema());
}

/// Every table, each once.
fn tables() -> Vec<&'static Table> {
    let mut tables: Vec<&'static Table> = vec![&ROOT];
    let mut next = 0;
    while let Some(table) = tables.get(next).copied() {
        next += 1;
        for inner in table.keys.iter().filter_map(|key| reference::inside(&key.kind)) {
            if !tables.iter().any(|known| known.path == inner.path) {
                tables.push(inner);
            }
        }
    }
    tables
}

#[test]
fn no_key_stands_there_twice_and_every_one_says_something() {
    let tables = tables();
    assert!(tables.len() >= 13, "{:?}", tables.iter().map(|table| table.path).collect::<Vec<_>>());
    for table in tables {
        for (index, key) in table.keys.iter().enumerate() {
            let earlier = table.keys.iter().take(index).any(|earlier| earlier.name == key.name);
            assert!(!earlier, "{}.{}", table.path, key.name);
            assert!(key.text.ends_with('.'), "{}.{}: {}", table.path, key.name, key.text);
        }
        for name in table.one_of {
            assert!(table.key(name).is_some(), "{}.{name}", table.path);
        }
    }
}

#[test]
fn examples_and_defaults_are_of_their_kind() {
    for table in tables() {
        for key in table.keys {
            let mut values = vec![key.example];
            if let Default::Is(default) = key.default {
                values.push(default);
            }
            for text in values.into_iter().filter(|text| !text.is_empty()) {
                let value = toml_value(text);
                let value =
                    value.unwrap_or_else(|| panic!("{}.{}: {text} is not TOML", table.path, key.name));
                assert!(fits(&key.kind, &value), "{}.{} cannot be {text}", table.path, key.name);
            }
            let has_example = !key.example.is_empty();
            let is_shown_elsewhere =
                reference::inside(&key.kind).is_some() || matches!(key.kind, Kind::Reserved(_));
            assert!(has_example || is_shown_elsewhere, "{}.{} has no example", table.path, key.name);
        }
    }
}

fn fits(kind: &Kind, value: &serde_json::Value) -> bool {
    match kind {
        Kind::Text(_) | Kind::Form { .. } => value.is_string(),
        Kind::Choice(words) => words.iter().any(|word| value == word.word),
        Kind::Integer { least, most, or_zero } => {
            value.as_u64().is_some_and(|value| (*least..=*most).contains(&value) || (*or_zero && value == 0))
        }
        Kind::Boolean | Kind::True => value.is_boolean(),
        Kind::Size { least, most } => {
            let size = value.as_str().and_then(|text| super::super::sizes::parse(text).ok());
            size.is_some_and(|size| (*least..=*most).contains(&size))
        }
        Kind::Share => value.is_number(),
        Kind::Texts { .. } | Kind::Tables(_) => value.is_array(),
        Kind::Map(_) | Kind::Options | Kind::Table(_) | Kind::OneOrMore(_) | Kind::Named(_) => {
            value.is_object()
        }
        Kind::Reserved(_) => false,
    }
}
