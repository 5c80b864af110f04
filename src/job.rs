//! The job file: from text to a checked `JobSpec`.
//!
//! In:        the text of a job file, its name, and the environment's variables
//! Out:       a `JobSpec` in which nothing needs checking again, and its settings; or every error at once
//! Order:     the sections in the order of the file's reference, errors in the order of the file
//! Fails:     only with `JobErrors`; text that is not TOML ends the check, since what follows it would be guesses
//! Not here:  no file is opened, no server is asked: `check` does that with what stands here

mod spec;

mod errors;
mod lines;
mod settings;

mod catalogue;
pub use catalogue::{json_schema, reference};

mod checker;
mod choices;
mod section;
mod suggest;
pub use suggest::nearest;
mod variables;

mod client_options;
mod conditions;
mod names;
mod namespaces;
mod paths;
mod references;
mod sizes;
mod sql;
mod types;
mod url;

mod section_database;
mod section_edits;
mod section_event;
mod section_field;
mod section_job;
mod section_limits;
mod section_lists;
mod section_output;
mod section_rejects;
mod section_source;
mod section_steps;

mod fingerprint;
mod password;

mod sets;
pub use sets::{
    ColumnFacts, ColumnKind, Fold, ForeignKey, Meeting, Run, SchemaFacts, SetMode, SetPlan, TableFacts,
    TableName, UniqueKey, Verdicts,
};

mod lexical;
pub use lexical::{FieldFault, FieldReader, FieldRulesError, Presence, Refusal, read_literal};

pub use errors::{JobError, JobErrors};
pub use password::PasswordError;
pub use settings::{Origin, Setting, VariableUse, render_explain};
pub use spec::{
    Addition, Base, Branch, Comparison, Condition, Content, DatabaseKind, DatabaseSpec, Doctype, Document,
    DurationUnit, Edit, End, EventSpec, Field, FieldRules, FieldSource, FieldType, Gap, JobSpec, KeyPart,
    LimitsSpec, List, LookupStep, Meta, Missing, Name, NoMatch, On, Operand, OutageSpec, OutputSpec, Path,
    PathStep, Predicate, RejectBudget, RejectRule, RejectsSpec, Round, Secret, SetTo, SourceSpec, Start,
    Statement, Step, StoreStep, Template, TombstoneRule, TopicChoice, ValueRef, WhiteSpace,
};

use checker::Checker;
use section::Section;
use toml::de::DeTable;

/// A job file without mistakes.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The job file, as the caller named it.
    pub label: String,
    /// The job.
    pub spec: JobSpec,
    /// Every key with its effective value, given or not; secrets are `***`.
    pub settings: Vec<Setting>,
}

/// Checks the text of a job file. `label` names it in messages, `environment` gives the variables.
///
/// # Errors
/// Everything that is wrong, in the order of the file.
pub fn check(
    label: &str,
    text: &str,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Checked, JobErrors> {
    let mut checker = Checker::new(label, text, environment);
    let (table, syntax_errors) = DeTable::parse_recoverable(text);
    // One missing bracket makes every later line wrong: only the first is worth reading, and what was never closed.
    let unclosed = |message: &str| message.contains("unclosed");
    let told =
        syntax_errors.iter().enumerate().filter(|(number, error)| *number == 0 || unclosed(error.message()));
    for (_, error) in told {
        let at = error.span().map_or(0, |span| span.start);
        checker.error(at, "", format!("not TOML: {}", error.message().replace('\n', ", ")), None);
    }
    let spec = if checker.errors.is_empty() { read(&mut checker, table.get_ref()) } else { None };
    match spec {
        Some(spec) if checker.errors.is_empty() => {
            Ok(Checked { label: label.to_owned(), spec, settings: checker.settings })
        }
        _ => Err(checker.into_errors()),
    }
}

/// Reads all sections, so that all errors are found.
fn read<'t>(checker: &mut Checker<'_>, table: &'t DeTable<'t>) -> Option<JobSpec> {
    let mut root = Section::root(table);
    let job = section_job::read(checker, &mut root);
    let source = section_source::read(checker, &mut root, job.name.as_deref());
    let event = section_event::read(checker, &mut root);
    let has_output = root.has("output");
    let (database, mut names) = section_database::read(checker, &mut root, event.names, has_output);
    let outputs = section_output::read(checker, &mut root, &event.namespaces, &mut names, &source.topics);
    let others = section_rejects::Others { inputs: &source.topics, outputs: &outputs.topics };
    let rejects = section_rejects::read(checker, &mut root, &others);
    let outage = section_limits::read_outage(checker, &mut root);
    let limits = section_limits::read_limits(checker, &mut root);
    root.finish(checker);
    Some(JobSpec {
        name: job.name?,
        key_groups: job.key_groups?,
        audit: job.audit?,
        source: source.spec?,
        event: event.spec?,
        database: database?.finish(names),
        outputs: outputs.specs?,
        output_topics: outputs.topics,
        rejects: rejects?,
        outage: outage?,
        limits: limits?,
    })
}

#[cfg(test)]
mod tests;
