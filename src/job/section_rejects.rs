//! `[rejects]`: what happens to what cannot be handled.

use super::checker::Checker;
use super::choices::{either, words_of};
use super::section::{Entry, Given, Section};
use super::section_source::topic;
use super::suggest::did_you_mean;
use super::{RejectBudget, RejectRule, RejectsSpec};
use toml::de::DeValue;

const WORDS: [(&str, RejectRule); 4] = [
    ("dead_letter", RejectRule::DeadLetter),
    ("park", RejectRule::Park),
    ("halt", RejectRule::Halt),
    ("discard", RejectRule::Discard),
];

/// What `[rejects]` needs to know of the rest.
pub(super) struct Others<'a> {
    /// `source.topics`
    pub(super) inputs: &'a [String],
    /// Every topic that an output may go to.
    pub(super) outputs: &'a [String],
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
    let park = |_| ("\"park\"", RejectRule::Park, None);
    let refused = rule(checker, &mut section, "refused", has_topic, park);
    let letter = |has_topic| match has_topic {
        true => ("\"dead_letter\"", RejectRule::DeadLetter, Some("since rejects.dead_letter_topic is given")),
        false => ("\"park\"", RejectRule::Park, Some("since there is no rejects.dead_letter_topic")),
    };
    let missing_lookup = rule(checker, &mut section, "missing_lookup", has_topic, letter);
    let too_large = rule(checker, &mut section, "too_large", has_topic, letter);
    let budget = budget(checker, &mut section);
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
        budget: budget?,
    })
}

/// The outer `None`: it is wrong.
fn budget(checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<Option<RejectBudget>> {
    let Some(entry) = section.get("budget") else {
        section.left_out(checker, "budget", None);
        return Some(None);
    };
    let hint = "such as { share = 0.05, window_s = 60, at_least = 100 }";
    let mut section = Section::of(checker, &entry, Some(hint.to_owned()))?;
    let share = section.required(checker, "share", hint).and_then(|entry| share(checker, &entry));
    let window = section.integer(checker, "window_s");
    let at_least = section.integer(checker, "at_least");
    section.finish(checker);
    let at_least = usize::try_from(at_least?).ok()?;
    Some(Some(RejectBudget { share_ppm: share?, window_s: window?, at_least }))
}

/// A share between 0 and 1, in millionths.
fn share(checker: &mut Checker<'_>, entry: &Entry<'_>) -> Option<u64> {
    let number = match entry.value.get_ref() {
        DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
        DeValue::Integer(integer) => integer.as_str().parse::<f64>().ok(),
        _ => {
            checker.wrong_kind(entry, "a share of 1", Some("0.05 is one of twenty".to_owned()));
            return None;
        }
    };
    let number = number.filter(|number| (0.000_001..=1.0).contains(number));
    // By its digits: a float becomes no integer without a guess about rounding.
    let millionths = number.and_then(|number| format!("{:.0}", number * 1e6).parse::<u64>().ok());
    match (number, millionths) {
        (Some(number), Some(millionths)) => {
            checker.given(&entry.key, entry.at(), number.to_string());
            Some(millionths)
        }
        _ => {
            checker.error(entry.at(), &entry.key, "must be 0.000001 to 1", None);
            None
        }
    }
}

fn dead_letter_topic(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    others: &Others<'_>,
) -> Given<String> {
    let text = match section.text(checker, "dead_letter_topic") {
        Given::Wrong => return Given::Wrong,
        Given::No => {
            section.left_out(checker, "dead_letter_topic", None);
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
    if others.outputs.contains(&text.value) {
        checker.error_of(&text, format!("{} is a topic that an output goes to", text.quoted()), hint);
        return Given::Wrong;
    }
    checker.given_text(&text, format!("{:?}", text.value));
    Given::Right(text.value)
}

fn unreadable(checker: &mut Checker<'_>, section: &mut Section<'_>, has_topic: bool) -> Option<RejectRule> {
    let default = |has_topic| match has_topic {
        true => ("\"dead_letter\"", RejectRule::DeadLetter, Some("since rejects.dead_letter_topic is given")),
        false => ("\"halt\"", RejectRule::Halt, Some("since there is no rejects.dead_letter_topic")),
    };
    rule(checker, section, "unreadable", has_topic, default)
}

/// A word, the rule that it means, and why it is the default.
type Default = (&'static str, RejectRule, Option<&'static str>);

/// One kind's rule. What cannot be read cannot be parked.
fn rule(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    name: &'static str,
    has_topic: bool,
    default: impl Fn(bool) -> Default,
) -> Option<RejectRule> {
    let text = match section.text(checker, name) {
        Given::Wrong => return None,
        Given::No => {
            let (word, rule, why) = default(has_topic);
            checker.default(&section.key_of(name), word, why);
            return Some(rule);
        }
        Given::Right(text) => text,
    };
    let words = words_of(section, name);
    let meant = WORDS.iter().find(|(word, _)| words.contains(word) && *word == text.value);
    let Some((word, rule)) = meant else {
        let hint = if text.value == "park" {
            Some("a record that cannot be read may have no key to park under".to_owned())
        } else {
            did_you_mean(&text.value, words.iter().copied())
        };
        let message = format!("must be {}, got {}", either(words.iter().copied()), text.quoted());
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
