//! `[database]`: where it is, and how much one transaction takes.
//!
//! Not here:  the steps (`section_steps`); the password file is named here and read by whoever loads the job

use super::checker::{Checker, Text};
use super::references::Names;
use super::section::{Given, Section};
use super::section_steps::read_steps;
use super::sql::Dialect;
use super::url;
use super::{DatabaseKind, DatabaseSpec, Step};

/// `[database]` until the columns that the output refers to are known, too.
pub(super) struct Database {
    kind: DatabaseKind,
    steps: Vec<Step>,
    connections: u32,
    batch_events: u32,
    deadline_s: u32,
    together: bool,
}

impl Database {
    /// Hands the look-ups the columns that anything refers to.
    pub(super) fn finish(mut self, names: Names) -> DatabaseSpec {
        for (step, names) in self.steps.iter_mut().zip(names.steps) {
            if let Step::Lookup(lookup) = step {
                lookup.columns = names.columns;
            }
        }
        let Database { kind, steps, connections, batch_events, deadline_s, together } = self;
        DatabaseSpec { kind, steps, connections, batch_events, deadline_s, together }
    }
}

pub(super) fn read(
    checker: &mut Checker<'_>,
    root: &mut Section<'_>,
    mut names: Names,
    has_output: bool,
) -> (Option<Database>, Names) {
    let Some(mut section) = root.section(checker, "database") else { return (None, names) };
    let (kind, is_sqlite) = kind(checker, &mut section);
    let connections = connections(checker, &mut section, is_sqlite);
    let batch_events = section.integer(checker, "batch_events");
    let deadline_s = section.integer(checker, "deadline_s");
    let together = section.boolean(checker, "together");
    let dialect = if is_sqlite { Dialect::Sqlite } else { Dialect::MySql };
    let steps = read_steps(checker, &mut section, dialect, has_output, &mut names);
    section.finish(checker);
    let small = |n: Option<u64>| n.and_then(|n| u32::try_from(n).ok());
    let numbers = (small(connections), small(batch_events), small(deadline_s));
    let (Some(kind), Some(steps), (Some(connections), Some(batch_events), Some(deadline_s)), Some(together)) =
        (kind, steps, numbers, together)
    else {
        return (None, names);
    };
    (Some(Database { kind, steps, connections, batch_events, deadline_s, together }), names)
}

/// The engine; and whether it is SQLite, even where something else is wrong with it.
fn kind(checker: &mut Checker<'_>, section: &mut Section<'_>) -> (Option<DatabaseKind>, bool) {
    let hint = "write [database] and url = \"mysql://user@host:3306/schema\", mariadb://... or sqlite:path";
    let entry = section.required(checker, "url", hint);
    let file = section.text(checker, "password_file");
    let Some(text) = entry.and_then(|entry| checker.text(&entry)) else { return (None, false) };
    let kind = match url::parse(&text.value, &text.from_variables) {
        Ok(kind) => kind,
        Err((message, hint)) => {
            checker.error_of(&text, message, hint);
            return (None, url::is_sqlite(&text.value));
        }
    };
    if is_password_written(&kind, &text) {
        let hint = "write ${DB_PASSWORD} in its place, or leave it out and name a password_file";
        checker.error_of(&text, "holds a password in plain text", Some(hint.to_owned()));
    }
    checker.given_text(&text, format!("{:?}", shown_url(&kind)));
    let is_sqlite = matches!(kind, DatabaseKind::Sqlite { .. });
    match file {
        Given::Wrong => (None, is_sqlite),
        Given::No => {
            section.left_out(checker, "password_file", None);
            (Some(kind), is_sqlite)
        }
        Given::Right(file) => (with_password_file(checker, kind, &file), is_sqlite),
    }
}

/// Whether the URL's password stands in the job file itself: secrets come by variable or by file.
fn is_password_written(kind: &DatabaseKind, url: &Text) -> bool {
    let DatabaseKind::MySql { password: Some(password), .. } = kind else { return false };
    let scheme_end = url.value.find(':').unwrap_or(0);
    let gives = |range: &std::ops::Range<usize>| {
        let given = url.value.get(range.clone()).unwrap_or("");
        range.contains(&scheme_end) || (!given.is_empty() && password.0.contains(given))
    };
    !url.from_variables.iter().any(gives)
}

fn with_password_file(
    checker: &mut Checker<'_>,
    mut kind: DatabaseKind,
    file: &Text,
) -> Option<DatabaseKind> {
    let mut wrong = |message: &str, hint: &str| {
        checker.error_of(file, message, Some(hint.to_owned()));
        None
    };
    match &mut kind {
        DatabaseKind::Sqlite { .. } => return wrong("SQLite has no password", "leave it out"),
        DatabaseKind::MySql { password: Some(_), .. } => {
            let hint = "leave it out here, or take the password out of database.url";
            return wrong("the password is in database.url already", hint);
        }
        DatabaseKind::MySql { .. } if file.value.is_empty() => {
            return wrong("is empty", "leave it out, or name a file");
        }
        DatabaseKind::MySql { password_file, .. } => *password_file = Some(file.value.clone()),
    }
    checker.given_text(file, format!("{:?}", file.value));
    Some(kind)
}

/// The URL with `***` for its password.
fn shown_url(kind: &DatabaseKind) -> String {
    match kind {
        DatabaseKind::Sqlite { path } => format!("sqlite:{path}"),
        DatabaseKind::MySql { host, port, user, password, database, .. } => {
            let password = if password.is_some() { ":***" } else { "" };
            let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
            format!("mysql://{user}{password}@{host}:{port}/{database}")
        }
    }
}

fn connections(checker: &mut Checker<'_>, section: &mut Section<'_>, is_sqlite: bool) -> Option<u64> {
    if !is_sqlite {
        return section.integer(checker, "connections");
    }
    let Some(entry) = section.get("connections") else {
        checker.default(&section.key_of("connections"), "1", Some("SQLite has one writer"));
        return Some(1);
    };
    let value = section.integer(checker, "connections")?;
    if value != 1 {
        let hint = Some("leave it out".to_owned());
        checker.error(entry.at(), &entry.key, format!("must be 1 with SQLite, got {value}"), hint);
        return None;
    }
    Some(1)
}
