//! `[job]`: the name, what is fixed for the job's life, and whether it is audited.

use super::checker::Checker;
use super::names::job_name_problem;
use super::section::Section;
use std::ops::RangeInclusive;

/// Key groups a job may have.
const KEY_GROUPS: RangeInclusive<u64> = 1..=4096;
/// Enough workers for most machines, and few enough rows in the ledger.
const KEY_GROUPS_DEFAULT: u64 = 16;

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
    let key_groups = section.integer_or(checker, "key_groups", &KEY_GROUPS, KEY_GROUPS_DEFAULT);
    let audit = audit(checker, &mut section);
    section.finish(checker);
    JobHead { name, key_groups: key_groups.and_then(|n| u32::try_from(n).ok()), audit }
}

fn audit(checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<bool> {
    let Some(entry) = section.get("audit") else {
        checker.default(&section.key_of("audit"), "true", None);
        return Some(true);
    };
    let audit = checker.boolean(&entry)?;
    checker.given(&entry.key, entry.at(), audit.to_string());
    Some(audit)
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
