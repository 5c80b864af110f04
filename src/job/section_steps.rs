//! `[[database.steps]]`: the lookups and stores of one transaction.
//!
//! In:        the tables of the steps, the names of the fields, the engine's dialect
//! Out:       statements with `?` for their parameters, and what is bound to each
//! Order:     names first, then statements, so that a look-up that comes too late is told from one that is unknown
//! Not here:  the grammar of SQL; whether tables and columns exist: the server is asked by `check`

use super::checker::{Checker, Text};
use super::choices::choice_or;
use super::conditions;
use super::names::identifier_problem;
use super::references::{Names, Place, StepNames};
use super::section::{Given, Section};
use super::sets::uncacheable;
use super::sql::{self, Dialect};
use super::suggest::did_you_mean;
use super::{LookupStep, Missing, On, Statement, Step, StoreStep};

const STEP_HINT: &str = "write [[database.steps]] and store = \"INSERT ...\" below it";
const ONS: [(&str, On); 3] = [("document", On::Document), ("tombstone", On::Tombstone), ("any", On::Any)];

/// One step before its statement is read.
#[derive(Default)]
struct RawStep {
    name: Option<String>,
    missing: Option<Missing>,
    cache_s: Option<u64>,
    statement: Option<Text>,
    when: Given<Text>,
    for_each: Option<usize>,
    on: Option<On>,
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
        section.left_out(checker, "steps", Some("nothing is looked up and nothing is stored"));
    }
    let mut raw_steps = Vec::new();
    for entry in &entries {
        let raw = match Section::of(checker, entry, Some(STEP_HINT.to_owned())) {
            Some(table) => raw_step(checker, table, names),
            None => RawStep::default(),
        };
        names.steps.push(StepNames {
            name: raw.name.clone(),
            is_lookup: raw.is_lookup,
            on: raw.on.unwrap_or(On::Any),
            columns: Vec::new(),
        });
        raw_steps.push(raw);
    }
    let steps: Vec<Option<Step>> = raw_steps
        .into_iter()
        .enumerate()
        .map(|(index, raw)| step(checker, raw, index, dialect, names))
        .collect();
    let steps: Vec<Step> = steps.into_iter().collect::<Option<_>>()?;
    let cannot = uncacheable(&steps, dialect);
    for (number, why) in &cannot {
        let at = entries.get(*number).map_or(section.at, |entry| entry.at());
        let hint = "leave cache_s out: it is asked each time then".to_owned();
        checker.error(
            at,
            &format!("{key}[{}].cache_s", number.saturating_add(1)),
            format!("what it finds cannot be kept: {why}"),
            Some(hint),
        );
    }
    cannot.is_empty().then_some(steps)
}

fn raw_step(checker: &mut Checker<'_>, mut table: Section<'_>, names: &Names) -> RawStep {
    let mut right = true;
    let name = match table.text(checker, "name") {
        Given::No => {
            table.left_out(checker, "name", None);
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
    let cache_s = cache_s(checker, &mut table, is_lookup);
    let on = on(checker, &mut table, names);
    let for_each = for_each(checker, &mut table, names, is_lookup, on);
    let when = table.text(checker, "when");
    if matches!(when, Given::No) {
        table.left_out(checker, "when", None);
    }
    right &= !matches!(for_each, Given::Wrong);
    // Which fields there are is not known: their messages would be wrong.
    let for_each_wrong = matches!(for_each, Given::Wrong);
    table.finish(checker);
    let statement = match (lookup, store) {
        _ if for_each_wrong => None,
        (Given::Right(text), Given::No) | (Given::No, Given::Right(text)) => Some(text),
        _ => None,
    };
    let for_each = if let Given::Right(list) = for_each { Some(list) } else { None };
    let when = if for_each_wrong { Given::Wrong } else { when };
    let right = right && !both && !neither;
    RawStep { name, missing, cache_s, statement, when, for_each, on, is_lookup, right }
}

/// For which records a step or an output is; `None`: wrong, the error is recorded.
pub(super) fn on(checker: &mut Checker<'_>, table: &mut Section<'_>, names: &Names) -> Option<On> {
    let on = choice_or(checker, table, "on", &ONS)?;
    if on == On::Tombstone && names.tombstones == Some(false) {
        let hint = "write tombstone = \"event\" in [event]: else a tombstone is no event".to_owned();
        let at = table.get("on").map_or(table.at, |entry| entry.at());
        checker.error(at, &table.key_of("on"), "needs event.tombstone = \"event\"", Some(hint));
        return None;
    }
    Some(on)
}

fn for_each(
    checker: &mut Checker<'_>,
    table: &mut Section<'_>,
    names: &Names,
    is_lookup: bool,
    on: Option<On>,
) -> Given<usize> {
    let text = match table.text(checker, "for_each") {
        Given::Wrong => return Given::Wrong,
        Given::No => {
            table.left_out(checker, "for_each", None);
            return Given::No;
        }
        Given::Right(text) => text,
    };
    if is_lookup {
        let hint =
            Some("a lookup reads one row per event: join the rows in the store's statement".to_owned());
        checker.error_of(&text, "only a store has `for_each`", hint);
        return Given::Wrong;
    }
    if on == Some(On::Tombstone) {
        checker.error_of(&text, "a tombstone has no lists", Some("leave it out".to_owned()));
        return Given::Wrong;
    }
    let Some(list) = names.lists.iter().position(|list| list.name == text.value) else {
        let known: Vec<&str> = names.lists.iter().map(|list| list.name.as_str()).collect();
        let hint =
            did_you_mean(&text.value, known.iter().copied()).unwrap_or_else(|| match known.as_slice() {
                [] => "the job has no lists: declare it in [event.lists.NAME]".to_owned(),
                known => format!("lists of this job: {}", known.join(", ")),
            });
        checker.error_of(&text, format!("there is no list {}", text.quoted()), Some(hint));
        return Given::Wrong;
    };
    checker.given_text(&text, format!("{:?}", text.value));
    Given::Right(list)
}

fn step_name(checker: &mut Checker<'_>, text: &Text, names: &Names) -> bool {
    if let Some(problem) = identifier_problem(&text.value) {
        let hint = Some("statements refer to its columns as `:name.column`".to_owned());
        checker.error_of(text, format!("{problem}, got {}", text.quoted()), hint);
        return false;
    }
    if names.lists.iter().any(|list| list.name == text.value) {
        let hint = Some("`:name.part` would mean both: give the step another name".to_owned());
        checker.error_of(text, format!("a list is named {}, too", text.quoted()), hint);
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
fn cache_s(checker: &mut Checker<'_>, table: &mut Section<'_>, is_lookup: bool) -> Option<u64> {
    if is_lookup {
        return table.integer(checker, "cache_s");
    }
    if let Some(entry) = table.get("cache_s") {
        let hint = Some("leave it out: a store asks for nothing".to_owned());
        checker.error(entry.key_at, &entry.key, "only a lookup has `cache_s`", hint);
        return None;
    }
    Some(0)
}

/// `None`: wrong, the error is recorded.
fn missing(checker: &mut Checker<'_>, table: &mut Section<'_>, is_lookup: bool) -> Option<Missing> {
    if is_lookup {
        let choices = [("reject", Missing::Reject), ("null", Missing::Null)];
        return choice_or(checker, table, "missing", &choices);
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
    let RawStep { name, missing, cache_s, statement, when, for_each, on, is_lookup, right } = raw;
    let place = Place { step: Some(index), rows_of: for_each, on: on.unwrap_or(On::Any) };
    let when = match when {
        Given::No => Some(None),
        Given::Wrong => None,
        Given::Right(text) => conditions::read(checker, &text, names, place).map(Some),
    };
    let statement =
        statement.and_then(|text| read_statement(checker, &text, is_lookup, place, dialect, names));
    let (statement, missing, cache_s, on, when) = (statement?, missing?, cache_s?, on?, when?);
    right.then_some(if is_lookup {
        Step::Lookup(LookupStep { name, statement, missing, cache_s, on, when, columns: Vec::new() })
    } else {
        Step::Store(StoreStep { name, statement, for_each, on, when })
    })
}

fn read_statement(
    checker: &mut Checker<'_>,
    text: &Text,
    is_lookup: bool,
    place: Place,
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
        match names.resolve(&parameter.name, place) {
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
