//! `check`: everything wrong with a job file; without `--offline` also with the topics and tables that it meets.
//!
//! In:        a job file, and perhaps samples     Out: one line per finding, then what becomes of each sample; nothing is
//!            changed anywhere
//! Fails:     with the exit code of the worst finding: 78, or 69 where a server did not answer

use super::args::CheckArgs;
use super::out::{error_line, line};
use super::worlds::{self, Worlds};
use super::{exit, load, sample};
use crate::database::{
    DatabaseError, ErrorClass, LedgerState, Session, ledger_ddl, ledger_upgrade, range_notes, set_plan,
};
use crate::job::{DatabaseKind, JobSpec, SetMode};
use crate::kafka::{LogError, LogErrorClass};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How long a server has to answer.
pub(super) const DEADLINE: Duration = Duration::from_secs(10);

pub(super) fn check(args: &CheckArgs) -> u8 {
    let checked = match load::load(&args.job) {
        Ok(checked) => checked,
        Err(text) => {
            error_line(&text);
            return exit::JOB;
        }
    };
    let label = args.job.display();
    let settings = checked.settings.clone();
    if args.offline {
        line(&format!("{label}: the job file is right (asked neither Kafka nor the database)"));
        return sample::show(args, &Arc::new(checked.spec), &settings, None);
    }
    let job = match worlds::open(checked) {
        Ok(job) => job,
        Err(text) => {
            error_line(&format!("{label}: {text}"));
            return exit::JOB;
        }
    };
    let mut report = Report::default();
    topics(&job, &mut report);
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(database(&job, &mut report)),
        Err(error) => report.wrong(format!("cannot start the tokio runtime: {error}"), exit::INTERNAL),
    }
    let code = report.finish(&label.to_string());
    if code != exit::OK && !args.sample.is_empty() {
        error_line("The samples are shown once this is right, or with --offline.");
    }
    if code == exit::OK { sample::show(args, &job.spec, &settings, Some(&job)) } else { code }
}

/// What was found.
#[derive(Default)]
struct Report {
    wrong: Vec<String>,
    notes: Vec<String>,
    code: u8,
}

impl Report {
    fn wrong(&mut self, text: String, code: u8) {
        self.wrong.push(text);
        self.code = self.code.max(code);
    }

    fn finish(self, label: &str) -> u8 {
        for text in &self.wrong {
            error_line(&format!("{label}: {text}"));
        }
        for text in &self.notes {
            line(text);
        }
        if self.wrong.is_empty() {
            line(&format!("{label}: the job file is right, and so are the topics and tables that it meets"));
        }
        self.code
    }
}

fn topics(job: &Worlds, report: &mut Report) {
    let spec = &job.spec;
    let mut names = spec.source.topics.clone();
    names.extend(spec.output_topics.iter().cloned());
    names.extend(spec.rejects.dead_letter_topic.clone());
    match job.log.partition_counts(&names, DEADLINE) {
        Err(error) => report.wrong(format!("source.bootstrap_servers: {error}"), log_code(&error)),
        Ok(counts) => {
            for (name, _) in names.iter().zip(&counts).filter(|(_, count)| count.is_none()) {
                report.wrong(
                    format!("topic \"{name}\" does not exist: create it before the job starts"),
                    exit::JOB,
                );
            }
            if counts.iter().all(Option::is_some) {
                record_limits(job, report);
            }
        }
    }
}

/// Topics that may refuse what the job sends to them.
fn record_limits(job: &Worlds, report: &mut Report) {
    let spec = &job.spec;
    let letters = spec.rejects.dead_letter_topic.as_ref();
    let names: Vec<String> =
        spec.source.topics.iter().chain(&spec.output_topics).chain(letters).cloned().collect();
    let limits = match job.log.record_limits(&names, DEADLINE) {
        Ok(limits) => limits,
        Err(error) => return report.wrong(format!("source.bootstrap_servers: {error}"), log_code(&error)),
    };
    let of = |name: &String| limits.get(names.iter().position(|found| found == name)?).copied().flatten();
    let document = spec.limits.document_bytes;
    // What cannot be read is as large as its topic allows.
    let largest = spec.source.topics.iter().filter_map(of).max().unwrap_or(0).max(document);
    let outputs = spec.output_topics.iter().filter_map(|name| {
        limit_note(
            "output.topic",
            name,
            of(name)?,
            document,
            "documents of limits.document_bytes",
            "are rejected by rejects.too_large",
        )
    });
    let letters = letters.and_then(|name| {
        let what = "what the job reads";
        limit_note(
            "rejects.dead_letter_topic",
            name,
            of(name)?,
            largest,
            what,
            "are cut, and cannot be replayed",
        )
    });
    let notes: Vec<String> = outputs.chain(letters).collect();
    report.notes.extend(notes);
}

fn limit_note(
    key: &str,
    name: &str,
    limit: usize,
    wanted: usize,
    what: &str,
    become_of: &str,
) -> Option<String> {
    /// Key, headers and framing.
    const BESIDE_BYTES: usize = 4096;
    (limit < wanted).then(|| {
        format!(
            "{key}: topic \"{name}\" takes records of up to {limit} bytes, and {what} may have {wanted}: larger ones {become_of}. \
             Set the topic's max.message.bytes to {} or more\n",
            wanted.saturating_add(BESIDE_BYTES)
        )
    })
}

async fn database(job: &Worlds, report: &mut Report) {
    if let DatabaseKind::Sqlite { path } = &job.spec.database.kind
        && !Path::new(path).exists()
    {
        // Opening it would make an empty one.
        let text = format!("database.url: the file {path} does not exist: create it with the job's tables");
        return report.wrong(text, exit::JOB);
    }
    let connected = tokio::time::timeout(DEADLINE, job.database.connect()).await;
    let mut session = match connected {
        Ok(Ok(session)) => session,
        Ok(Err(error)) => return report.wrong(format!("database.url: {error}"), code(&error)),
        Err(_elapsed) => {
            return report.wrong(format!("database.url: no answer for {} s", DEADLINE.as_secs()), OUTAGE);
        }
    };
    match session.check_statements().await {
        Ok(findings) => {
            for finding in findings {
                report.wrong(format!("database: {}", finding.message), code_of(finding.class));
            }
        }
        Err(error) => report.wrong(format!("database.steps: {error}"), code(&error)),
    }
    match range_notes(&job.spec, &mut *session).await {
        Ok(notes) => report.notes.extend(notes.into_iter().map(|note| format!("database: {note}\n"))),
        Err(error) => report.wrong(format!("database.steps: {error}"), code(&error)),
    }
    match set_plan(&job.spec, &mut *session).await {
        Ok(plan) => {
            let told = plan.runs.iter().filter(|run| run.mode != SetMode::Together);
            report.notes.extend(told.map(|run| format!("database: {run}\n")));
        }
        Err(error) => report.wrong(format!("database.steps: {error}"), code(&error)),
    }
    ledger(&job.spec, &mut *session, report).await;
}

async fn ledger(spec: &JobSpec, session: &mut dyn Session, report: &mut Report) {
    match session.ledger_state().await {
        Ok(LedgerState::Ready) => {}
        Ok(LedgerState::Older(version)) => {
            report.notes.push(format!(
                "The ledger's tables have version {version}. The next `run` brings them up; where the job's account may not \
                 alter tables, run this once:\n\n{};\n",
                ledger_upgrade(&spec.database.kind, version).join(";\n\n")
            ));
        }
        Ok(LedgerState::Missing) => {
            report.notes.push(format!(
                "The ledger's tables are missing. `run` creates them at its first start; where the job's account may not \
                 create tables, run this once:\n\n{};\n",
                ledger_ddl(&spec.database.kind).join(";\n\n")
            ));
        }
        Err(error) => report.wrong(format!("ledger: {error}"), code(&error)),
    }
}

/// 69: a server did not answer.
pub(super) const OUTAGE: u8 = 69;
/// 77: rights are missing.
const RIGHTS: u8 = 77;

/// The exit code of what a database says.
pub(super) fn code(error: &DatabaseError) -> u8 {
    code_of(error.class)
}

fn code_of(class: ErrorClass) -> u8 {
    match class {
        ErrorClass::Outage | ErrorClass::Contention | ErrorClass::Unknown => OUTAGE,
        ErrorClass::Rights => RIGHTS,
        ErrorClass::Reject | ErrorClass::Misconfigured => exit::JOB,
    }
}

fn log_code(error: &LogError) -> u8 {
    match error.class {
        LogErrorClass::Rights => RIGHTS,
        LogErrorClass::Misconfigured | LogErrorClass::PositionGone | LogErrorClass::TooLarge => exit::JOB,
        LogErrorClass::Outage | LogErrorClass::Unknown | LogErrorClass::Aborted | LogErrorClass::Fenced => {
            OUTAGE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::limit_note;

    #[test]
    fn a_topic_that_may_refuse_a_record_is_named_with_what_to_set() {
        let note = |limit| limit_note("output.topic", "out", limit, 1_000_000, "documents", "are rejected");
        assert_eq!(note(1_000_000), None);
        let note = note(999_999).unwrap();
        for part in ["output.topic", "\"out\"", "999999", "1004096", "max.message.bytes", "are rejected"] {
            assert!(note.contains(part), "{part}: {note}");
        }
    }
}
