//! `${NAME}` and `${NAME:default}` in the string values of a job file.
//!
//! In:        one string value, and the environment as a function
//! Out:       the value with its variables filled in, and which bytes of it came from one
//! Order:     once, from left to right: what a variable gives is not looked at again
//! Not here:  no other `$` means anything: `$5` stays `$5`, and `$${` is how a text writes `${`

use super::settings::VariableUse;
use std::ops::Range;

/// A value with its variables filled in.
#[derive(Default)]
pub(super) struct Expanded {
    /// The effective text.
    pub(super) value: String,
    /// Byte ranges of `value` that variables gave.
    pub(super) from_variables: Vec<Range<usize>>,
    /// The variables, in order of use.
    pub(super) uses: Vec<VariableUse>,
}

/// A `${...}` that gives nothing.
pub(super) struct Problem {
    /// Byte offset of the `$` in the value.
    pub(super) offset: usize,
    /// What is wrong.
    pub(super) message: String,
    /// What to do.
    pub(super) hint: String,
}

/// Fills the variables in, or says everything that is wrong with them.
pub(super) fn expand(
    raw: &str,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<Expanded, Vec<Problem>> {
    let mut expanded = Expanded::default();
    let mut problems = Vec::new();
    let mut rest = raw;
    while let Some((before, behind)) = rest.split_once("${") {
        let offset = raw.len() - rest.len() + before.len();
        if let Some(before) = before.strip_suffix('$') {
            expanded.value.push_str(before);
            expanded.value.push_str("${");
            rest = behind;
            continue;
        }
        expanded.value.push_str(before);
        let Some((inside, behind)) = behind.split_once('}') else {
            problems.push(Problem {
                offset,
                message: "`${` without a closing `}`".to_owned(),
                hint: "write `${NAME}` or `${NAME:default}`; a literal `${` is written `$${`".to_owned(),
            });
            rest = "";
            break;
        };
        match fill(inside, environment) {
            Ok((name, value, from_environment)) => {
                let start = expanded.value.len();
                expanded.value.push_str(&value);
                expanded.from_variables.push(start..expanded.value.len());
                expanded.uses.push(VariableUse { name, from_environment });
            }
            Err((message, hint)) => problems.push(Problem { offset, message, hint }),
        }
        rest = behind;
    }
    expanded.value.push_str(rest);
    if problems.is_empty() { Ok(expanded) } else { Err(problems) }
}

/// Name, value, and whether the environment gave it; or message and hint.
fn fill(
    inside: &str,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<(String, String, bool), (String, String)> {
    let (name, default) = match inside.split_once(':') {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let legal = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(legal) {
        return Err((
            "not the name of a variable between `${` and `}`".to_owned(),
            "a name has letters, digits and `_`; a literal `${` is written `$${`".to_owned(),
        ));
    }
    match (environment(name), default) {
        (Some(value), _) => Ok((name.to_owned(), value, true)),
        (None, Some(default)) => Ok((name.to_owned(), default.to_owned(), false)),
        (None, None) => Err((
            format!("the variable `{name}` is not set"),
            format!("set `{name}` in the environment, or give a default: `${{{name}:...}}`"),
        )),
    }
}
