//! The reference of the job file as Markdown: its keys from the catalogue, and the words between them.

use super::{Default, Kind, ROOT, Table};
use std::fmt::Write;

/// A section's prose, behind its keys.
const PROSE: [(&str, &str); 5] = [
    ("source", include_str!("prose/source.txt")),
    ("event", include_str!("prose/event.txt")),
    ("database", include_str!("prose/database.txt")),
    ("output", include_str!("prose/output.txt")),
    ("rejects", include_str!("prose/rejects.txt")),
];

/// docs/job-file.md
pub fn reference() -> String {
    let mut out = include_str!("prose/introduction.txt").to_owned();
    for key in ROOT.keys {
        out.push_str(&format!("\n## `[{}]`\n\n{}\n", key.name, key.text));
        let mut seen: Vec<&str> = Vec::new();
        if let Some(table) = inside(&key.kind) {
            tables(table, &mut seen, &mut out);
        }
        if let Some((_, prose)) = PROSE.iter().find(|(name, _)| *name == key.name) {
            out.push('\n');
            out.push_str(prose);
        }
    }
    out.push('\n');
    out.push_str(include_str!("prose/end.txt"));
    out
}

/// The table inside of a key.
pub(super) fn inside(kind: &Kind) -> Option<&'static Table> {
    match kind {
        Kind::Table(table) | Kind::Tables(table) | Kind::OneOrMore(table) | Kind::Named(table) => Some(table),
        _ => None,
    }
}

/// A table's keys, and then those of the tables inside of it, each once.
fn tables(table: &'static Table, seen: &mut Vec<&'static str>, out: &mut String) {
    if seen.contains(&table.path) {
        return;
    }
    seen.push(table.path);
    out.push_str("\n| key | type | default | means | example |\n| --- | --- | --- | --- | --- |\n");
    for key in table.keys {
        let default = match key.default {
            Default::Required => "required".to_owned(),
            // A table of its own says what its keys are.
            _ if inside(&key.kind).is_some() && key.example.is_empty() => String::new(),
            Default::None => "none".to_owned(),
            Default::Is(value) => format!("`{value}`"),
            Default::Words(words) if words.starts_with('"') => format!("`{words}`"),
            Default::Words(words) => words.to_owned(),
        };
        let example = if key.example.is_empty() { String::new() } else { format!("`{}`", key.example) };
        let cells = [format!("`{}.{}`", table.path, key.name), kind(&key.kind), default, means(key), example];
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        // Writing to a string cannot fail.
        let _written = writeln!(out, "| {} |", cells.join(" | "));
    }
    for key in table.keys {
        if let Some(inner) = inside(&key.kind).filter(|inner| !seen.contains(&inner.path)) {
            let _written = write!(out, "\n### {}\n", heading(inner.path));
            tables(inner, seen, out);
        }
    }
}

/// A table as its header stands in a job file.
fn heading(path: &str) -> String {
    match path.strip_suffix("[]") {
        Some(path) => format!("`[[{path}]]`"),
        None => format!("`[{path}]`"),
    }
}

fn means(key: &super::Key) -> String {
    let Kind::Choice(words) = &key.kind else { return key.text.to_owned() };
    let words: Vec<String> =
        words.iter().map(|word| format!("`\"{}\"`: {}", word.word, word.means)).collect();
    format!("{} {}", key.text, words.join("; "))
}

/// What may stand there, in words.
pub(super) fn kind(kind: &Kind) -> String {
    match kind {
        Kind::Text(what) => (*what).to_owned(),
        Kind::Form { .. } => "type".to_owned(),
        Kind::Choice(_) => "one word".to_owned(),
        Kind::Integer { least, most, or_zero } => {
            format!("integer, {}{least} to {most}", if *or_zero { "0 or " } else { "" })
        }
        Kind::Boolean => "boolean".to_owned(),
        Kind::True => "`true`".to_owned(),
        Kind::Size { least, most } => {
            let size = |bytes: &u64| super::super::sizes::render(*bytes).trim_matches('"').to_owned();
            format!("size, {} to {}", size(least), size(most))
        }
        Kind::Share => "number, 0.000001 to 1".to_owned(),
        Kind::Texts { what, most } if *most == usize::MAX => format!("list, each a {what}"),
        Kind::Texts { what, most } => format!("list of 1 to {most}, each a {what}"),
        Kind::Map(what) => format!("table of your own names, each a {what}"),
        Kind::Options => "table of texts, integers and booleans".to_owned(),
        Kind::Table(_) => "table".to_owned(),
        Kind::Tables(_) => "list of tables".to_owned(),
        Kind::OneOrMore(_) => "table, or list of tables".to_owned(),
        Kind::Named(_) => "tables of your own names".to_owned(),
        Kind::Reserved(_) => "not built".to_owned(),
    }
}
