//! The documents: their links lead somewhere, the files they name exist, and their lists are those of the code.

use super::assert_none;
use super::files::{File, all, exists, read};
use std::collections::BTreeSet;
use std::path::{Component, Path};
use tidegate::cli::exit;
use tidegate::job::check;
use tidegate::protocol::halt::HaltKind;

fn documents() -> Vec<File> {
    let documents: Vec<File> = all().into_iter().filter(|file| file.extension() == "md").collect();
    assert!(documents.len() > 10, "only {} documents were found", documents.len());
    documents
}

/// Lines outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// The targets of `[words](target)`.
fn links(text: &str) -> Vec<String> {
    let lines = prose(text).flat_map(|line| line.split("](").skip(1));
    lines.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target.to_owned()).collect()
}

/// The names by which links reach a document's headings.
fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let words = line.trim_start_matches('#').trim().to_lowercase();
            let kept = words.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

/// A relative path from a document's folder, from the root.
fn resolve(document: &str, target: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    let folder = Path::new(document).parent().unwrap_or(Path::new(""));
    for component in folder.join(target).components() {
        match component {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    parts.join("/")
}

#[test]
fn links_lead_somewhere() {
    let mut offences = Vec::new();
    let mut checked = 0;
    for document in documents() {
        for link in links(&document.text).into_iter().filter(|link| !link.contains("://")) {
            checked += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let path = if file.is_empty() { document.path.clone() } else { resolve(&document.path, file) };
            if !exists(&path) {
                offences.push(format!("{}: {link} does not exist", document.path));
            } else if !anchor.is_empty() && !anchors(&read(&path)).iter().any(|found| found == anchor) {
                offences.push(format!("{}: {path} has no heading #{anchor}", document.path));
            }
        }
    }
    assert_none(&offences, "a link leads nowhere");
    assert!(checked > 20, "only {checked} links were found");
}

/// `src/kafka/writer.rs` in backticks, and what it is called there.
#[test]
fn files_that_are_named_exist() {
    const FOLDERS: [&str; 6] = ["src/", "tests/", "scripts/", "docs/", "jobs/", ".ci/"];
    let mut offences = Vec::new();
    for document in documents() {
        for code in prose(&document.text).flat_map(|line| line.split('`').skip(1).step_by(2)) {
            let path = code.split_whitespace().next().unwrap_or("").trim_start_matches("./");
            let named = FOLDERS.iter().any(|folder| path.starts_with(folder)) && !path.contains(['*', '<']);
            if named && !exists(path) {
                offences.push(format!("{}: {path} does not exist", document.path));
            }
        }
    }
    assert_none(&offences, "a document names a file that is not there");
}

/// The names behind `###` of a section's headings, or the first cells of its tables, in backticks.
fn module_headings(text: &str) -> Vec<String> {
    let headings = prose(text).filter_map(|line| line.strip_prefix("### `src/"));
    headings
        .filter_map(|rest| rest.split_once('`'))
        .map(|(name, _)| name.trim_end_matches(".rs").to_owned())
        .collect()
}

#[test]
fn the_code_map_has_every_module_in_the_order_of_the_data() {
    let declared: Vec<String> = read("src/lib.rs")
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod "))
        .map(|name| name.trim_end_matches(';').to_owned())
        .collect();
    assert!(declared.len() > 5, "{declared:?}");
    assert_eq!(module_headings(&read("ARCHITECTURE.md")), declared);
}

#[test]
fn the_readmes_job_is_right() {
    let text = read("README.md");
    let (job, _) =
        text.split_once("```toml\n").and_then(|(_, behind)| behind.split_once("```")).expect("a job");
    if let Err(errors) = check("README.md", job, &|_| None) {
        panic!("{errors}");
    }
}

#[test]
fn exit_codes_are_explained() {
    let kinds = [
        HaltKind::Reject,
        HaltKind::Outage,
        HaltKind::Internal,
        HaltKind::PeerLost,
        HaltKind::Fenced,
        HaltKind::Rights,
        HaltKind::Misconfigured,
    ];
    let others = [exit::OK, exit::USAGE, exit::INTERNAL, exit::PEER_LOST, exit::JOB, exit::AT_ONCE];
    let codes: BTreeSet<u8> = kinds.iter().map(|kind| kind.exit_code()).chain(others).collect();
    for document in ["docs/operating.md", "README.md"] {
        let explained: BTreeSet<u8> = read(document)
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split_once(" |")?.0.trim().parse().ok())
            .collect();
        assert_eq!(explained, codes, "{document} explains other exit codes than there are");
    }
}

#[test]
fn decisions_are_short_numbered_and_of_one_form() {
    const PARTS: [&str; 5] =
        ["## Problem", "## Decision", "## Why", "## Rejected", "## What would change our mind"];
    const LINES_MAX: usize = 60;
    let index = read("docs/decisions/README.md");
    let records = documents().into_iter().filter(|file| file.path.starts_with("docs/decisions/0"));
    let mut offences = Vec::new();
    let mut count = 0;
    for (number, record) in (1..).zip(records) {
        count = number;
        let name = record.path.trim_start_matches("docs/decisions/");
        if !name.starts_with(&format!("{number:04}-")) {
            offences.push(format!("{name}: number {number} is missing or there twice"));
        }
        if !index.contains(&format!("]({name})")) {
            offences.push(format!("{name}: docs/decisions/README.md does not list it"));
        }
        let headings: Vec<&str> = prose(&record.text).filter(|line| line.starts_with("## ")).collect();
        if headings != PARTS {
            offences.push(format!("{name}: its parts are {headings:?}"));
        }
        if record.text.lines().count() > LINES_MAX {
            offences.push(format!("{name}: longer than {LINES_MAX} lines"));
        }
    }
    assert_none(&offences, "a decision record is not as they are");
    assert!(count > 5, "only {count} records were found");
}
