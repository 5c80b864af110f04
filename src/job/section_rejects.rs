//! `[rejects]`: what happens to what cannot be handled.

use super::checker::Checker;
use super::choices::either;
use super::section::{Given, Section};
use super::section_source::topic;
use super::suggest::did_you_mean;
use super::{RejectRule, RejectsSpec};

const WORDS: [(&str, RejectRule); 3] =
    [("dead_letter", RejectRule::DeadLetter), ("halt", RejectRule::Halt), ("discard", RejectRule::Discard)];

/// What `[rejects]` needs to know of the rest.
pub(super) struct Others<'a> {
    /// `source.topics`
    pub(super) inputs: &'a [String],
    /// `output.topic`
    pub(super) output: Option<&'a str>,
}

pub(super) fn read(
    checker: &mut Checker<'_>,
    root: &mut Section<'_>,
    others: &Others<'_>,
) -> Option<RejectsSpec> {
    let mut section = root.section(checker, "rejects")?;
    let dead_letter_topic = dead_letter_topic(checker, &mut section, others);
    let has_topic = !matches!(dead_letter_topic, Given::No);
    let unreadable = unreadable(checker, &mut section, has_topic);
    let refused = halt_only(checker, &mut section, "refused");
    let missing_lookup = halt_only(checker, &mut section, "missing_lookup");
    let too_large = halt_only(checker, &mut section, "too_large");
    section.not_built(
        checker,
        "budget",
        "leave it out: there is no budget, and every reject but the unreadable halts",
    );
    section.finish(checker);
    let dead_letter_topic = match dead_letter_topic {
        Given::Wrong => return None,
        Given::No => None,
        Given::Right(topic) => Some(topic),
    };
    Some(RejectsSpec {
        unreadable: unreadable?,
        refused: refused?,
        missing_lookup: missing_lookup?,
        too_large: too_large?,
        dead_letter_topic,
    })
}

fn dead_letter_topic(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    others: &Others<'_>,
) -> Given<String> {
    let text = match section.text(checker, "dead_letter_topic") {
        Given::Wrong => return Given::Wrong,
        Given::No => {
            checker.default(&section.key_of("dead_letter_topic"), "none", None);
            return Given::No;
        }
        Given::Right(text) => text,
    };
    if !topic(checker, &text) {
        return Given::Wrong;
    }
    let hint = Some("take a topic of its own".to_owned());
    if others.inputs.contains(&text.value) {
        checker.error_of(&text, format!("{} is one of source.topics", text.quoted()), hint);
        return Given::Wrong;
    }
    if others.output == Some(text.value.as_str()) {
        checker.error_of(&text, format!("{} is output.topic", text.quoted()), hint);
        return Given::Wrong;
    }
    checker.given_text(&text, format!("{:?}", text.value));
    Given::Right(text.value)
}

fn unreadable(checker: &mut Checker<'_>, section: &mut Section<'_>, has_topic: bool) -> Option<RejectRule> {
    let text = match section.text(checker, "unreadable") {
        Given::Wrong => return None,
        Given::No => {
            let (word, rule, why) = if has_topic {
                ("\"dead_letter\"", RejectRule::DeadLetter, "since rejects.dead_letter_topic is given")
            } else {
                ("\"halt\"", RejectRule::Halt, "since there is no rejects.dead_letter_topic")
            };
            checker.default(&section.key_of("unreadable"), word, Some(why));
            return Some(rule);
        }
        Given::Right(text) => text,
    };
    let Some((word, rule)) = WORDS.iter().find(|(word, _)| *word == text.value) else {
        let hint = if text.value == "park" {
            Some("a record that cannot be read may have no key to park under".to_owned())
        } else {
            did_you_mean(&text.value, WORDS.iter().map(|(word, _)| *word))
        };
        let message =
            format!("must be {}, got {}", either(WORDS.iter().map(|(word, _)| *word)), text.quoted());
        checker.error_of(&text, message, hint);
        return None;
    };
    if *rule == RejectRule::DeadLetter && !has_topic {
        let hint = Some("give dead_letter_topic = \"...\" in [rejects]".to_owned());
        checker.error_of(&text, "needs rejects.dead_letter_topic, which is missing", hint);
        return None;
    }
    checker.given_text(&text, format!("{word:?}"));
    Some(*rule)
}

/// A kind of reject that always halts in this version.
fn halt_only(checker: &mut Checker<'_>, section: &mut Section<'_>, name: &'static str) -> Option<RejectRule> {
    let text = match section.text(checker, name) {
        Given::Wrong => return None,
        Given::No => {
            checker.default(&section.key_of(name), "\"halt\"", None);
            return Some(RejectRule::Halt);
        }
        Given::Right(text) => text,
    };
    let hint = "built is \"halt\": the job stops at the event, and goes on there once the cause is gone";
    match text.value.as_str() {
        "halt" => {
            checker.given_text(&text, "\"halt\"");
            return Some(RejectRule::Halt);
        }
        "dead_letter" | "park" | "discard" => {
            let message = format!("{} is not built yet in this version for this kind", text.quoted());
            checker.error_of(&text, message, Some(hint.to_owned()));
        }
        _ => {
            let nearest = did_you_mean(&text.value, ["halt"]).unwrap_or_else(|| hint.to_owned());
            checker.error_of(&text, format!("must be \"halt\", got {}", text.quoted()), Some(nearest));
        }
    }
    None
}
