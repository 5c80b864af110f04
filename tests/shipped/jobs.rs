//! The jobs of the samples: what is sent into each, good messages and bad ones, and what must come of it. For whoever runs
//! them, on servers in memory or on real ones.
//!
//! In:        the files in `jobs/`
//! Out:       for each job file its records, the rows of its tables, what goes to its topics, its dead letters
//! Order:     records are sent in the order in which they stand
//! Not here:  how a job is run, and how rows and records are asked for

use std::path::{Path, PathBuf};

pub mod clinical;
pub mod invoices;
pub mod notifications;
pub mod purchase_orders;
pub mod statements;
pub mod traffic;

/// A test for each job file, by whoever runs them.
macro_rules! each_job {
    ($runs:path) => {
        #[test]
        fn bank_statements_give_their_rows_documents_and_dead_letters() {
            $runs(&$crate::shipped::statements::newer());
        }

        #[test]
        fn older_bank_statements_give_their_rows_documents_and_dead_letters() {
            $runs(&$crate::shipped::statements::older());
        }

        #[test]
        fn bank_notifications_give_their_rows_documents_and_dead_letters() {
            $runs(&$crate::shipped::notifications::notifications());
        }

        #[test]
        fn invoices_give_their_rows_documents_and_dead_letters() {
            $runs(&$crate::shipped::invoices::invoices());
        }

        #[test]
        fn purchase_orders_give_their_rows_documents_and_dead_letters() {
            $runs(&$crate::shipped::purchase_orders::purchase_orders());
        }

        #[test]
        fn traffic_situations_give_their_rows_documents_and_dead_letters() {
            $runs(&$crate::shipped::traffic::situations());
        }

        #[test]
        fn roadworks_give_their_rows_documents_and_dead_letters() {
            $runs(&$crate::shipped::traffic::roadworks());
        }

        #[test]
        fn car_parks_give_their_rows_documents_and_dead_letters() {
            $runs(&$crate::shipped::traffic::parking());
        }

        #[test]
        fn clinical_documents_give_their_rows_documents_and_dead_letters() {
            $runs(&$crate::shipped::clinical::clinical());
        }
    };
}
pub(crate) use each_job;

/// One job file and what must come of it.
pub struct Shipped {
    /// In `jobs/`.
    pub folder: &'static str,
    pub file: &'static str,
    /// `job.name`
    pub name: &'static str,
    /// The topic that is read.
    pub input: &'static str,
    /// Every topic that is written, but that of the dead letters.
    pub outputs: &'static [&'static str],
    pub rejected: &'static str,
    /// Run before the job, behind the schema; the same for every engine.
    pub before: &'static [&'static str],
    pub records: Vec<String>,
    /// A query, and its rows, in its order: columns with `|` between them, as [`plain`] writes them.
    pub rows: Vec<(&'static str, Vec<String>)>,
    /// Topic, key and document, in any order.
    pub sent: Vec<(&'static str, String, String)>,
    /// Reason code, a part of the detail, and the record that it is of, in any order.
    pub dead: Vec<(&'static str, &'static str, usize)>,
}

impl Shipped {
    #[allow(dead_code, reason = "one of the two binaries that share this file runs the program")]
    pub fn path(&self) -> PathBuf {
        folder(self.folder).join(self.file)
    }
}

pub fn folder(job: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("jobs").join(job)
}

pub fn text(job: &str, file: &str) -> String {
    std::fs::read_to_string(folder(job).join(file)).expect("a file of the job")
}

/// The statements of a schema file, without its comments.
pub fn statements_of(schema: &str) -> Vec<String> {
    let lines: Vec<&str> = schema.lines().filter(|line| !line.starts_with("--")).collect();
    let text = lines.join("\n");
    text.split(";\n").map(|s| s.trim().trim_end_matches(';').to_owned()).filter(|s| !s.is_empty()).collect()
}

/// A column's text without what engines write differently: zeros at the end of a fraction, and how a timestamp is spelled.
pub fn plain(column: Option<String>) -> String {
    let Some(text) = column else { return "NULL".to_owned() };
    let is_timestamp = text.len() >= 19
        && text.as_bytes()[10..].starts_with(b"T")
        && text.as_bytes()[..4].iter().all(u8::is_ascii_digit);
    let text = if is_timestamp { text.replacen('T', " ", 1).trim_end_matches('Z').to_owned() } else { text };
    match text.rsplit_once('.') {
        Some((whole, fraction))
            if whole.ends_with(|c: char| c.is_ascii_digit())
                && !fraction.is_empty()
                && fraction.bytes().all(|b| b.is_ascii_digit()) =>
        {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => text,
    }
}

/// The text with one place of it changed.
fn with(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "{from:?}");
    text.replacen(from, to, 1)
}

/// From the first of these up to and with the next of those.
fn part<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let start = text.find(from).expect("it begins");
    let end = text[start..].find(to).expect("it ends") + to.len();
    &text[start..start + end]
}

fn rows(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| (*line).to_owned()).collect()
}

/// Holds what a run left behind against what must come of the job. `dead`: reason, detail and value of each dead letter.
pub fn hold(
    job: &Shipped,
    rows_of: &dyn Fn(&str) -> Vec<String>,
    mut sent: Vec<(&'static str, String, String)>,
    mut dead: Vec<[String; 3]>,
) {
    let mut wrong = Vec::new();
    for (reason, detail, record) in &job.dead {
        let record = &job.records[*record];
        let is =
            |letter: &[String; 3]| letter[0] == *reason && letter[1].contains(detail) && letter[2] == *record;
        match dead.iter().position(is) {
            Some(found) => drop(dead.remove(found)),
            None => wrong.push(format!(
                "no dead letter of {reason} that says {detail:?} and is the record as it came"
            )),
        }
    }
    wrong.extend(
        dead.iter().map(|[reason, says, _]| format!("a dead letter that nobody expects: {reason}: {says}")),
    );
    for (query, expected) in &job.rows {
        let found = rows_of(query);
        if found != *expected {
            wrong.push(format!("{query}\n  gives {found:#?}\n  and not {expected:#?}"));
        }
    }
    for right in &job.sent {
        match sent.iter().position(|one| one == right) {
            Some(found) => drop(sent.remove(found)),
            None => wrong.push(format!("not sent: {right:?}")),
        }
    }
    wrong.extend(sent.iter().map(|one| format!("sent, and nobody expects it: {one:?}")));
    assert!(wrong.is_empty(), "jobs/{}/{}:\n{}", job.folder, job.file, wrong.join("\n"));
}
