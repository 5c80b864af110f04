//! The effective settings of a job and where each comes from: what `tidegate explain` prints.

use super::{Checked, SetPlan};
use std::fmt::Write;

/// One key with the value that holds, given or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Such as `source.topics`.
    pub key: String,
    /// As it would stand in the file; secrets are `***`.
    pub value: String,
    /// Where the value comes from.
    pub origin: Origin,
    /// Why the value is what it is, where that is not plain from its origin.
    pub note: Option<String>,
}

/// Where a setting's value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Written in the job file.
    File {
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
    },
    /// Written in the job file with variables in it.
    Variable {
        /// In order of use.
        uses: Vec<VariableUse>,
        /// From 1.
        line: usize,
        /// From 1, in characters.
        column: usize,
    },
    /// Not written: Tidegate's own.
    Default,
}

/// One `${NAME}` of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableUse {
    /// Name of the variable.
    pub name: String,
    /// Whether the environment gave it; else it is the default behind the `:`.
    pub from_environment: bool,
}

/// The settings as a table for a person: key, value, origin.
pub fn render_explain(checked: &Checked) -> String {
    let key_width = checked.settings.iter().map(|s| s.key.chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for setting in &checked.settings {
        // Writing to a string cannot fail.
        let _written = write!(out, "{:key_width$}  {}  # ", setting.key, setting.value);
        out.push_str(&origin_words(&checked.label, &setting.origin));
        if let Some(note) = &setting.note {
            out.push_str(": ");
            out.push_str(note);
        }
        out.push('\n');
    }
    let plan = SetPlan::of(&checked.spec, None);
    if !plan.runs.is_empty() {
        out.push_str("\nHow the steps of many events run, as far as their SQL says; the schema decides at each start:\n");
        plan.runs.iter().for_each(|run| {
            let _written = writeln!(out, "{run}");
        });
    }
    out
}

fn origin_words(label: &str, origin: &Origin) -> String {
    match origin {
        Origin::Default => "default".to_owned(),
        Origin::File { line, column } => format!("{label}:{line}:{column}"),
        Origin::Variable { uses, line, column } => {
            let uses: Vec<String> = uses.iter().map(use_words).collect();
            format!("{label}:{line}:{column}, {}", uses.join(", "))
        }
    }
}

fn use_words(used: &VariableUse) -> String {
    let from = if used.from_environment { "from the environment" } else { "not set, its default" };
    format!("${{{}}} {from}", used.name)
}
