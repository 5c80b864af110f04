//! `[[database.steps]]`: the lookups and stores of one transaction.
//!
//! In:        the tables of the steps, the names of the fields, the engine's dialect
//! Out:       statements with `?` for their parameters, and what is bound to each
//! Order:     names first, then statements, so that a look-up that comes too late is told from one that is unknown
//! Not here:  the grammar of SQL; whether tables and columns exist: the server is asked by `check`

use super::checker::{Checker, Text};
use super::choices::choice_or;
use super::names::identifier_problem;
use super::references::{Names, StepNames};
use super::section::{Given, Section};
use super::sql::{self, Dialect};
use super::{LookupStep, Missing, On, Statement, Step, StoreStep};

const STEP_HINT: &str = "write [[database.steps]] and store = \"INSERT ...\" below it";

/// One step before its statement is read.
struct RawStep {
    name: Option<String>,
    missing: Option<Missing>,
    statement: Option<Text>,
    is_lookup: bool,
    right: bool,
}

/// Reads all steps; `None`: errors are recorded. `names` learns the steps, and the columns that they refer to.
pub(super) fn read_steps(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    dialect: Dialect,
    has_output: bool,
    names: &mut Names,
) -> Option<Vec<Step>> {
    let key = section.key_of("steps");
    let entries = match section.get("steps") {
        Some(entry) => checker.list(&entry, "a list of tables", Some(STEP_HINT.to_owned()))?,
        None => Vec::new(),
    };
    if entries.is_empty() && !has_output {
        let message = "there is no step and no [output]: the job would do nothing";
        checker.error(section.at, &key, message, Some(STEP_HINT.to_owned()));
        return None;
    }
    if entries.is_empty() {
        checker.default(&key, "[]", Some("nothing is looked up and nothing is stored"));
    }
    let mut raw_steps = Vec::new();
    for entry in &entries {
        let raw = match Section::of(checker, entry, Some(STEP_HINT.to_owned())) {
            Some(table) => raw_step(checker, table, names),
            None => RawStep { name: None, missing: None, statement: None, is_lookup: false, right: false },
        };
        names.steps.push(StepNames { name: raw.name.clone(), is_lookup: raw.is_lookup, columns: Vec::new() });
        raw_steps.push(raw);
    }
    let steps: Vec<Option<Step>> = raw_steps
        .into_iter()
        .enumerate()
        .map(|(index, raw)| step(checker, raw, index, dialect, names))
        .collect();
    steps.into_iter().collect()
}

fn raw_step(checker: &mut Checker<'_>, mut table: Section<'_>, names: &Names) -> RawStep {
    let mut right = true;
    let name = match table.text(checker, "name") {
        Given::No => {
            checker.default(&table.key_of("name"), "none", None);
            None
        }
        Given::Wrong => {
            right = false;
            None
        }
        Given::Right(text) => {
            right &= step_name(checker, &text, names);
            Some(text.value)
        }
    };
    let lookup = table.text(checker, "lookup");
    let store = table.text(checker, "store");
    let is_lookup = !matches!(lookup, Given::No);
    let both = is_lookup && !matches!(store, Given::No);
    if both {
        let hint = "a step is one statement: write two steps";
        checker.error(table.at, &table.key, "has both lookup and store", Some(hint.to_owned()));
    }
    let neither = !is_lookup && matches!(store, Given::No);
    if neither {
        let hint = "give it lookup = \"SELECT ...\" or store = \"INSERT ...\"";
        checker.error(table.at, &table.key, "has no statement", Some(hint.to_owned()));
    }
    let missing = missing(checker, &mut table, is_lookup);
    let for_each = table.has("for_each");
    let instead = "leave the step out: this version stores the event itself, one row per statement";
    table.not_built(checker, "for_each", instead);
    table.finish(checker);
    let statement = match (lookup, store) {
        // Its parameters may be those of the list, which is not built either: one message is enough.
        _ if for_each => None,
        (Given::Right(text), Given::No) | (Given::No, Given::Right(text)) => Some(text),
        _ => None,
    };
    RawStep { name, missing, statement, is_lookup, right: right && !both && !neither }
}

fn step_name(checker: &mut Checker<'_>, text: &Text, names: &Names) -> bool {
    if let Some(problem) = identifier_problem(&text.value) {
        let hint = Some("statements refer to its columns as `:name.column`".to_owned());
        checker.error_of(text, format!("{problem}, got {}", text.quoted()), hint);
        return false;
    }
    if names.steps.iter().any(|step| step.name.as_deref() == Some(text.value.as_str())) {
        let hint = Some("give each step a name of its own, or none".to_owned());
        checker.error_of(text, format!("an earlier step is named {}, too", text.quoted()), hint);
        return false;
    }
    checker.given_text(text, format!("{:?}", text.value));
    true
}

/// `None`: wrong, the error is recorded.
fn missing(checker: &mut Checker<'_>, table: &mut Section<'_>, is_lookup: bool) -> Option<Missing> {
    if is_lookup {
        let choices = [("reject", Missing::Reject), ("null", Missing::Null)];
        return choice_or(checker, table, "missing", &choices, Missing::Reject);
    }
    if let Some(entry) = table.get("missing") {
        let hint = Some("leave it out: a store has no rows to miss".to_owned());
        checker.error(entry.key_at, &entry.key, "only a lookup has `missing`", hint);
        return None;
    }
    Some(Missing::Reject)
}

fn step(
    checker: &mut Checker<'_>,
    raw: RawStep,
    index: usize,
    dialect: Dialect,
    names: &mut Names,
) -> Option<Step> {
    let RawStep { name, missing, statement, is_lookup, right } = raw;
    let statement =
        statement.and_then(|text| read_statement(checker, &text, is_lookup, index, dialect, names));
    let (statement, missing) = (statement?, missing?);
    right.then_some(if is_lookup {
        Step::Lookup(LookupStep {
            name,
            statement,
            missing,
            on: On::Document,
            when: None,
            columns: Vec::new(),
        })
    } else {
        Step::Store(StoreStep { name, statement, for_each: None, on: On::Document, when: None })
    })
}

fn read_statement(
    checker: &mut Checker<'_>,
    text: &Text,
    is_lookup: bool,
    index: usize,
    dialect: Dialect,
    names: &mut Names,
) -> Option<Statement> {
    let scanned = match sql::scan(&text.value, dialect) {
        Ok(scanned) => scanned,
        Err(problems) => {
            for problem in problems {
                checker.error_in(text, problem.offset, problem.message, Some(problem.hint.to_owned()));
            }
            return None;
        }
    };
    let mut right = right_verb(checker, text, &scanned.words, is_lookup);
    let mut parameters = Vec::new();
    for parameter in &scanned.parameters {
        match names.resolve(&parameter.name, Some(index)) {
            Ok(value) => parameters.push(value),
            Err((message, hint)) => {
                right = false;
                // What a variable gave may be a secret that only looks like a parameter.
                let (message, hint) = if text.has_variables() {
                    (format!("no field or earlier lookup gives a parameter of {}", text.quoted()), None)
                } else {
                    (message, hint)
                };
                checker.error_in(text, parameter.offset, message, hint);
            }
        }
    }
    let one_line: Vec<&str> = text.value.split_whitespace().collect();
    checker.given_text(text, format!("{:?}", one_line.join(" ")));
    right.then_some(Statement { sql: scanned.sql, parameters })
}

fn right_verb(checker: &mut Checker<'_>, text: &Text, words: &[String], is_lookup: bool) -> bool {
    const VERBS: [&str; 5] = ["SELECT", "INSERT", "REPLACE", "UPDATE", "DELETE"];
    let is = |word: Option<&String>, of: &[&str]| word.is_some_and(|word| of.contains(&word.as_str()));
    let first = words.first();
    if !is_lookup {
        if is(first, &["INSERT", "REPLACE", "UPDATE", "DELETE"]) {
            return true;
        }
        let hint = if is(first, &["SELECT", "WITH"]) {
            "a statement that reads is a `lookup`"
        } else {
            "the schema is made outside of the job"
        };
        checker.error_of(
            text,
            "a store must begin with INSERT, REPLACE, UPDATE or DELETE",
            Some(hint.to_owned()),
        );
        return false;
    }
    // WITH can stand in front of a statement that writes.
    let verb = words.iter().find(|word| VERBS.contains(&word.as_str()));
    if !is(first, &["SELECT", "WITH"]) || !is(verb, &["SELECT"]) {
        let hint = if is(verb, &["INSERT", "REPLACE", "UPDATE", "DELETE"]) {
            "a statement that writes is a `store`"
        } else {
            "a lookup reads at most one row"
        };
        checker.error_of(text, "a lookup must be a SELECT, or WITH ... SELECT", Some(hint.to_owned()));
        return false;
    }
    if words.iter().any(|word| word == "INTO") {
        checker.error_of(
            text,
            "a lookup cannot SELECT ... INTO",
            Some("its columns are named by what refers to them".to_owned()),
        );
        return false;
    }
    true
}
