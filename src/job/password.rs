//! The password file: whoever loads a job reads it, and hands the text in here.

use super::{DatabaseKind, JobSpec, Secret};

/// Why the text of a password file is not a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasswordError {
    /// Nothing in it but line ends.
    #[error("the password file is empty")]
    Empty,
    /// A text of several lines is some other file.
    #[error("the password file has more than one line")]
    Lines,
    /// The job has none to fill.
    #[error("the job has no database.password_file")]
    NotAsked,
}

impl JobSpec {
    /// `database.password_file` as the user wrote it, relative to the job file's folder; `None`: there is none to read.
    pub fn password_file(&self) -> Option<&str> {
        match &self.database.kind {
            DatabaseKind::MySql { password_file, .. } => password_file.as_deref(),
            DatabaseKind::Sqlite { .. } => None,
        }
    }

    /// Fills the password in from the text of its file. One line end at the end is not part of it.
    ///
    /// # Errors
    /// The text is empty or has several lines, or the job names no password file. Nothing of the text is in the error.
    pub fn fill_password(&mut self, file_text: &str) -> Result<(), PasswordError> {
        let line = file_text.strip_suffix('\n').unwrap_or(file_text);
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            return Err(PasswordError::Empty);
        }
        if line.contains(['\n', '\r']) {
            return Err(PasswordError::Lines);
        }
        match &mut self.database.kind {
            DatabaseKind::MySql { password, password_file: Some(_), .. } => {
                *password = Some(Secret(line.to_owned()));
                Ok(())
            }
            _ => Err(PasswordError::NotAsked),
        }
    }
}
