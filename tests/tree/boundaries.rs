//! Who may know whom. These rules are what keeps a change of one part from being a change of all.

use super::assert_none;
use super::code::{names_crate, own_paths, without_comments_and_strings, without_inline_tests};
use super::files::{File, rust};

/// A part of the crate, and the other parts that it may name.
const MAY_NAME: [(&str, &[&str]); 13] = [
    ("model", &[]),
    ("status", &[]),
    ("job", &["model"]),
    ("protocol", &["model"]),
    ("xml", &["model", "job"]),
    ("database", &["model", "job"]),
    ("kafka", &["model", "job"]),
    ("operator", &["model", "job", "protocol", "xml", "database", "kafka", "status"]),
    ("dataflow", &["model", "operator"]),
    ("cluster", &["model", "job", "protocol", "xml", "database", "kafka", "status", "operator", "dataflow"]),
    ("cli", &["model", "job", "protocol", "xml", "database", "kafka", "status", "operator", "cluster"]),
    ("main", &["cli"]),
    ("testing", &["model", "job", "database", "kafka"]),
];

/// A library, and the only parts that may name it.
const LIBRARIES: [(&str, &[&str]); 12] = [
    ("rdkafka", &["kafka"]),
    ("quick_xml", &["xml"]),
    ("minijinja", &["xml"]),
    ("mysql_async", &["database"]),
    ("rusqlite", &["database"]),
    ("timely", &["dataflow", "operator", "cluster"]),
    ("differential_dataflow", &["operator"]),
    ("tokio", &["database", "operator", "cluster", "cli", "testing"]),
    ("toml", &["job", "cli"]),
    ("clap", &["cli"]),
    ("similar", &["cli"]),
    ("tracing_subscriber", &["cli"]),
];

/// Operators know nothing of each other but what travels between the two.
const BETWEEN_OPERATORS: [(&str, &str); 10] = [
    ("sink", "operator::gate::StoredBatch"),
    ("sink", "operator::gate::Outputs"),
    ("sink", "operator::gate::Confirmations"),
    ("commit", "operator::source::Covered"),
    // What a record's events cost beyond it, on the same way back to the budget.
    ("decode", "operator::source::Covered"),
    // What the audit hears of a batch.
    ("sink", "operator::gate::Audited"),
    // Faults that tests plant.
    ("sink", "operator::planted::Planted"),
    ("decode", "operator::planted::Planted"),
    ("planted", "operator::gate::StoredBatch"),
    ("planted", "operator::gate::Outputs"),
];

/// What all operators share. It knows no operator.
const SHARED: [&str; 13] = [
    "account",
    "bundle",
    "condition",
    "exchange",
    "guard",
    "host",
    "budget",
    "flood",
    "letter",
    "mailbox",
    "prober",
    "refusals",
    "stop",
];

/// `src/kafka/writer.rs` is of `kafka`.
fn part_of(path: &str) -> &str {
    let inside = path.trim_start_matches("src/").trim_end_matches(".rs");
    inside.split('/').next().unwrap_or("")
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.contains("/conformance")
}

/// Every file of the crate with its code.
fn sources() -> Vec<(File, String)> {
    let files = rust(&["src/"]).into_iter().filter(|file| file.path != "src/lib.rs");
    files
        .map(|file| (without_comments_and_strings(&file.text), file))
        .map(|(code, file)| (file, code))
        .collect()
}

#[test]
fn every_part_has_its_rule() {
    let mut parts: Vec<String> = sources().iter().map(|(file, _)| part_of(&file.path).to_owned()).collect();
    parts.dedup();
    let mut ruled: Vec<&str> = MAY_NAME.iter().map(|(part, _)| *part).collect();
    ruled.sort_unstable();
    parts.sort_unstable();
    parts.dedup();
    assert_eq!(parts, ruled);
}

#[test]
fn parts_name_only_what_they_may() {
    let mut offences = Vec::new();
    for (file, code) in sources() {
        let part = part_of(&file.path);
        let Some((_, may)) = MAY_NAME.iter().find(|(of, _)| *of == part) else { continue };
        // main is a crate of its own and names the library by its name.
        let code = if part == "main" { code.replace("tidegate::", "crate::") } else { code };
        for path in own_paths(&file.path, &code) {
            let Some(named) = path.first().filter(|named| MAY_NAME.iter().any(|(of, _)| of == named)) else {
                continue;
            };
            // The worlds in memory are there for tests, of whatever part.
            let for_tests = named == "testing" && is_test(&file.path);
            if named != part && !may.contains(&named.as_str()) && !for_tests {
                offences.push(format!("{} names {}", file.path, path.join("::")));
            }
        }
    }
    assert_none(&offences, "a part names another one that it may not know");
}

#[test]
fn libraries_are_named_by_their_owners_alone() {
    let mut offences = Vec::new();
    for (library, owners) in LIBRARIES {
        let mut used = false;
        for (file, code) in sources() {
            if names_crate(&code, library) {
                used = true;
                if !owners.contains(&part_of(&file.path)) {
                    offences.push(format!("{} names {library}; only {} may", file.path, owners.join(", ")));
                }
            }
        }
        assert!(used, "nothing names {library}: the rule watches nothing");
    }
    assert_none(&offences, "a library is named outside of its owner");
}

#[test]
fn operators_know_what_travels_between_them_and_nothing_else() {
    let mut offences = Vec::new();
    let mut met = Vec::new();
    for (file, code) in sources().into_iter().filter(|(file, _)| file.path.starts_with("src/operator/")) {
        let own = file.path.trim_start_matches("src/operator/").trim_end_matches(".rs");
        let own = own.split('/').next().unwrap_or("");
        for path in own_paths(&file.path, &code) {
            let [operator, other, ..] = path.as_slice() else { continue };
            if operator != "operator" || other == own || other == "*" || SHARED.contains(&other.as_str()) {
                continue;
            }
            let seam = (own, path.join("::"));
            if BETWEEN_OPERATORS.iter().any(|(user, what)| (*user, *what) == (seam.0, seam.1.as_str())) {
                met.push(seam.1);
            } else {
                offences.push(format!("{} names {}", file.path, seam.1));
            }
        }
    }
    assert_none(&offences, "an operator, or what they share, names another operator");
    for (user, what) in BETWEEN_OPERATORS {
        assert!(met.iter().any(|path| path == what), "{user} no longer names {what}: take it off the list");
    }
}

#[test]
fn what_decides_and_what_checks_asks_nobody() {
    const NO_IO: [&str; 5] = ["std::fs", "std::net", "std::env", "std::process", "std::thread"];
    const NO_CHANCE: [&str; 4] = ["std::time", "Instant::", "SystemTime::", "RandomState"];
    let mut offences = Vec::new();
    for (file, code) in sources().iter().filter(|(file, _)| !is_test(&file.path)) {
        let code = without_inline_tests(code);
        let part = part_of(&file.path);
        let mut refuse = |words: &[&str]| {
            let met = words.iter().filter(|word| code.contains(**word));
            offences.extend(met.map(|word| format!("{} names {word}", file.path)));
        };
        if ["model", "job", "protocol", "xml", "dataflow"].contains(&part) {
            refuse(&NO_IO);
            refuse(&NO_CHANCE);
        }
    }
    assert_none(
        &offences,
        "model, job, protocol, xml and dataflow have no I/O, no clock and no chance in them",
    );
}

#[test]
fn main_alone_ends_the_process_and_one_file_alone_is_unsafe() {
    let mut offences = Vec::new();
    for (file, code) in sources() {
        let ends = code.contains("process::exit") || code.contains("process::abort");
        if ends && file.path != "src/main.rs" {
            offences.push(format!("{} ends the process", file.path));
        }
        let opens = code.contains("unsafe {") || code.contains("unsafe fn") || code.contains("unsafe impl");
        if opens && file.path != "src/kafka/native.rs" {
            offences.push(format!("{} is unsafe", file.path));
        }
    }
    assert_none(&offences, "only src/main.rs ends the process, only src/kafka/native.rs is unsafe");
}

#[test]
fn what_a_user_starts_knows_of_no_planted_fault() {
    let names = |code: &str| ["Planted", "run_planted", "::planted"].iter().any(|name| code.contains(name));
    let named: Vec<String> = sources()
        .into_iter()
        .filter(|(_, code)| names(code))
        .map(|(file, _)| part_of(&file.path).to_owned())
        .filter(|part| !["operator", "dataflow", "cluster"].contains(&part.as_str()))
        .collect();
    assert_none(&named, "a part that a job file or an argument reaches names a planted fault");
    assert!(sources().iter().any(|(_, code)| names(code)), "nothing is planted: the rule watches nothing");
}
