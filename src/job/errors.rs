//! What is wrong with a job file: every mistake with its place, what was found, what is allowed.
//!
//! In:        mistakes in the order in which the checker met them
//! Out:       `jobs/orders.toml:14:9 job.key_groups: must be 1..=4096, got 0`, in the order of the file
//! Not here:  no text that came from a variable and no value of a secret position: the checker keeps them out

use std::fmt;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobError {
    /// The job file, as the caller named it.
    pub label: String,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in characters.
    pub column: usize,
    /// The key it is about, such as `source.topics[2]`; empty where the file is not TOML at all.
    pub key: String,
    /// What is allowed, and what was found.
    pub message: String,
    /// What to do, where that can be said.
    pub hint: Option<String>,
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{} ", self.label, self.line, self.column)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n    hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// All mistakes of a job file, in the order in which they stand there. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobErrors(pub Vec<JobError>);

impl JobErrors {
    /// Sorts by place; mistakes at one place keep their order, and no two are alike.
    pub(super) fn sorted(mut errors: Vec<JobError>) -> JobErrors {
        errors.sort_by_key(|e| (e.line, e.column));
        errors.dedup();
        JobErrors(errors)
    }
}

impl fmt::Display for JobErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for JobErrors {}
