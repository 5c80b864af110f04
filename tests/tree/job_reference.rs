//! docs/job-file.md against the checker: the same keys, the same defaults, the same words for what is not built.
//!
//! The checker names every key that it knows when it meets one that it does not; so an unknown key in every table
//! gives the whole list.

use super::files::read;
use std::collections::{BTreeMap, BTreeSet};
use tidegate::job::{Checked, JobError, Origin, check};
use tidegate::model::ReasonCode;

const DOCUMENT: &str = "docs/job-file.md";
const JOB: &str = "jobname";
const UNKNOWN: &str = "qqqqqqqqqqqq";
const NOT_BUILT: &str = "not built yet in this version";

/// What the document says of a key.
struct Row {
    default: String,
    built: String,
}

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

/// Every key of the document.
fn rows() -> BTreeMap<String, Row> {
    const SECTIONS: [&str; 9] = [
        "## `[job]`",
        "## `[source]`",
        "## `[event]`",
        "## `[database]`",
        "## `[output]`",
        "## `[rejects]`",
        "## `[outage]`",
        "## `[limits]`",
        "## `[status]`",
    ];
    let mut rows = BTreeMap::new();
    for cells in SECTIONS.iter().flat_map(|section| table(section)) {
        // Tables of another shape list other things than keys.
        let [key, _, default, _, built] = cells.as_slice() else { continue };
        let row = Row { default: default.replace('`', ""), built: built.clone() };
        let key = code(key).remove(0);
        assert!(rows.insert(key.clone(), row).is_none(), "{key} stands there twice");
    }
    rows
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

fn without_numbers(key: &str) -> String {
    key.replace("[1]", "[]")
}

/// Every key that the checker knows, per table.
fn known() -> BTreeMap<String, Vec<String>> {
    let mut known = BTreeMap::new();
    for error in errors(&job_with(|_| format!("{UNKNOWN} = 1"))) {
        let Some(names) = error.hint.as_deref().and_then(|hint| hint.strip_prefix("known here: ")) else {
            continue;
        };
        let table = without_numbers(&error.key).trim_end_matches(UNKNOWN).trim_end_matches('.').to_owned();
        known.insert(table, names.split(", ").map(str::to_owned).collect());
    }
    assert_eq!(known.len(), 12, "a table has hidden its keys: {:?}", known.keys());
    known
}

/// Keys that stand for tables whose own keys are listed.
fn is_table(key: &str, known: &BTreeMap<String, Vec<String>>) -> bool {
    known.keys().any(|table| {
        let inside = table.strip_prefix(key);
        inside.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    })
}

fn known_keys() -> BTreeSet<String> {
    let known = known();
    let keys = known.iter().flat_map(|(table, names)| {
        names.iter().map(move |name| if table.is_empty() { name.clone() } else { format!("{table}.{name}") })
    });
    keys.filter(|key| !is_table(key, &known)).collect()
}

#[test]
fn the_document_has_the_keys_of_the_checker_and_no_others() {
    let documented: BTreeSet<String> = rows().into_keys().collect();
    assert_eq!(documented, known_keys());
}

#[test]
fn the_document_says_what_is_not_built() {
    let known = known();
    let every_key = |table: &str| {
        let names = known.get(table).cloned().unwrap_or_default();
        let key = |name: &String| if table.is_empty() { name.clone() } else { format!("{table}.{name}") };
        let leaves = names.iter().filter(|name| !is_table(&key(name), &known));
        leaves.map(|name| format!("{name} = 0\n")).collect()
    };
    let refused = errors(&job_with(every_key)).into_iter().filter(|error| error.message == NOT_BUILT);
    let refused: BTreeSet<String> = refused.map(|error| without_numbers(&error.key)).collect();
    let documented = rows().into_iter().filter(|(_, row)| row.built == "no").map(|(key, _)| key);
    assert_eq!(documented.collect::<BTreeSet<String>>(), refused);
    assert!(rows().values().all(|row| row.built == "yes" || row.built == "no"));
}

#[test]
fn the_document_says_what_is_required() {
    let missing =
        errors(&job_with(|_| String::new())).into_iter().filter(|error| error.message == "is missing");
    let missing: BTreeSet<String> = missing.map(|error| without_numbers(&error.key)).collect();
    let documented = rows().into_iter().filter(|(_, row)| row.default == "required").map(|(key, _)| key);
    assert_eq!(documented.collect::<BTreeSet<String>>(), missing);
}

/// A job that says no more than it must.
fn shortest_job() -> Checked {
    let text = format!(
        "[job]\nname = \"{JOB}\"\n[source]\nbootstrap_servers = \"a:1\"\ntopics = [\"t\"]\n\
         [event.fields]\nNAME = {{ path = \"@id\", type = \"timestamp\" }}\n\
         [database]\nurl = \"mysql://a@b/c\"\n[[database.steps]]\nlookup = \"SELECT 1\"\n\
         [output]\ntopic = \"o\"\n[[output.add]]\nat = \".\"\nelement = \"e\"\n"
    );
    check("job.toml", &text, &|_| None).unwrap_or_else(|errors| panic!("{errors}"))
}

#[test]
fn the_document_says_the_defaults() {
    let rows = rows();
    let mut compared = 0;
    for setting in shortest_job().settings.into_iter().filter(|setting| setting.origin == Origin::Default) {
        let key = without_numbers(&setting.key);
        let row = rows.get(&key).unwrap_or_else(|| panic!("{DOCUMENT} has no {key}"));
        assert_eq!(row.default, setting.value.replace(JOB, "JOB"), "the default of {key}");
        compared += 1;
    }
    assert!(compared > 15, "only {compared} defaults were compared");
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
    ];
    let known: BTreeSet<String> = codes.iter().map(|code| code.as_str().to_owned()).collect();
    let reasons = table("## `[rejects]`").into_iter().filter(|row| row.len() == 2);
    let documented: BTreeSet<String> = reasons.flat_map(|row| code(&row[0])).collect();
    assert_eq!(documented, known);
}
