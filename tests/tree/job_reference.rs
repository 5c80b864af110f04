//! docs/job-file.md against the check, where the page's own words list what the code knows: types, meta fields, options
//! that Tidegate owns, reasons. Its keys are written from the catalogue, whose tests hold them.

use super::files::read;
use std::collections::BTreeSet;
use tidegate::job::{JobError, check};
use tidegate::model::ReasonCode;

const DOCUMENT: &str = "docs/job-file.md";
const UNKNOWN: &str = "qqqqqqqqqqqq";

/// The cells of the tables below a heading.
fn table(heading: &str) -> Vec<Vec<String>> {
    let text = read(DOCUMENT);
    let (_, behind) = text.split_once(&format!("\n{heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    let section = behind.split("\n#").next().unwrap_or("");
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

fn code(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn errors(text: &str) -> Vec<JobError> {
    check("job.toml", text, &|_| None).expect_err("a job full of mistakes").0
}

/// A job in which every table holds this line. No key that the line does not give is there.
fn job_with(line: impl Fn(&str) -> String) -> String {
    let mut text = line("");
    for table in ["job", "source", "event", "database", "output", "rejects", "outage", "limits"] {
        text += &format!("\n[{table}]\n{}\n", line(table));
    }
    text += &format!("\n[event.fields.NAME]\n{}\n", line("event.fields.NAME"));
    text += &format!("\n[[database.steps]]\n{}\n", line("database.steps[]"));
    text += &format!("\n[[output.add]]\n{}\n", line("output.add[]"));
    text
}

#[test]
fn the_document_has_every_type() {
    let text = job_with(|table| match table {
        "event.fields.NAME" => format!("type = \"{UNKNOWN}\""),
        _ => String::new(),
    });
    let messages = errors(&text).into_iter().map(|error| error.message);
    let allowed = messages.into_iter().find_map(|message| {
        let (types, _) = message.strip_prefix("must be one of ")?.split_once(", got")?;
        Some(types.split(", ").map(str::to_owned).collect::<BTreeSet<String>>())
    });
    let documented: BTreeSet<String> = table("### Types").iter().flat_map(|row| code(&row[0])).collect();
    assert_eq!(Some(documented), allowed);
}

#[test]
fn the_document_has_every_meta_field() {
    let text = job_with(|table| match table {
        "database.steps[]" => "store = \"DELETE FROM t WHERE a = :_qqqqqqqqqqqq\"".to_owned(),
        _ => String::new(),
    });
    let hints = errors(&text).into_iter().filter_map(|error| error.hint);
    let known = hints.into_iter().find_map(|hint| {
        Some(hint.strip_prefix("meta fields: ")?.split(", ").map(str::to_owned).collect::<BTreeSet<String>>())
    });
    let documented: BTreeSet<String> = table("### Parameters").iter().flat_map(|row| code(&row[0])).collect();
    assert_eq!(Some(documented), known);
}

#[test]
fn every_option_that_the_document_calls_owned_is_refused() {
    let options: Vec<String> =
        table("## `[source]`").iter().filter(|row| row.len() == 2).flat_map(|row| code(&row[0])).collect();
    assert!(options.len() > 40, "{options:?}");
    for option in options {
        let text = job_with(|table| match table {
            "source" => format!("client = {{ \"{option}\" = \"1\" }}"),
            _ => String::new(),
        });
        let owned = |error: &JobError| error.message.starts_with("Tidegate owns this option: ");
        assert!(errors(&text).iter().any(owned), "{option} is not refused");
    }
}

#[test]
fn the_document_has_every_reason() {
    let codes = [
        ReasonCode::NoValue,
        ReasonCode::NotWellFormed,
        ReasonCode::Encoding,
        ReasonCode::Limit,
        ReasonCode::NotTheEvent,
        ReasonCode::KeyMissing,
        ReasonCode::FieldMissing,
        ReasonCode::FieldType,
        ReasonCode::Ambiguous,
        ReasonCode::OutputPlace,
        ReasonCode::Refused,
        ReasonCode::MissingLookup,
        ReasonCode::TooLarge,
        ReasonCode::Unwritable,
        ReasonCode::UnknownTopic,
        ReasonCode::KillsTheProcess,
        ReasonCode::OutputTopic,
        ReasonCode::Doctype,
    ];
    let known: BTreeSet<String> = codes.iter().map(|code| code.as_str().to_owned()).collect();
    let reasons = table("### Dead letters").into_iter().filter(|row| row.len() == 2);
    let documented: BTreeSet<String> = reasons.flat_map(|row| code(&row[0])).collect();
    assert_eq!(documented, known);
}
