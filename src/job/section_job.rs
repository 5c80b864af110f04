//! `[job]`: the name, what is fixed for the job's life, and whether it is audited.

use super::checker::Checker;
use super::names::job_name_problem;
use super::section::Section;

/// What `[job]` says.
pub(super) struct JobHead {
    pub(super) name: Option<String>,
    pub(super) key_groups: Option<u32>,
    pub(super) audit: Option<bool>,
}

pub(super) fn read(checker: &mut Checker<'_>, root: &mut Section<'_>) -> JobHead {
    let Some(mut section) = root.section(checker, "job") else {
        return JobHead { name: None, key_groups: None, audit: None };
    };
    let name = name(checker, &mut section);
    let key_groups = section.integer(checker, "key_groups");
    let audit = section.boolean(checker, "audit");
    section.finish(checker);
    JobHead { name, key_groups: key_groups.and_then(|n| u32::try_from(n).ok()), audit }
}

fn name(checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<String> {
    let entry = section.required(
        checker,
        "name",
        "write [job] and name = \"...\": it names the ledger's rows and topics",
    )?;
    let text = checker.text(&entry)?;
    if let Some(problem) = job_name_problem(&text.value) {
        let message = format!("{problem}, got {}", text.quoted());
        checker.error_of(&text, message, Some("it names rows, a topic and transactional ids".to_owned()));
        return None;
    }
    checker.given_text(&text, format!("{:?}", text.value));
    Some(text.value)
}
