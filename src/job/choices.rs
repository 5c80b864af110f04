//! Keys that hold one of a few words.

use super::checker::Checker;
use super::section::{Given, Section};
use super::suggest::did_you_mean;

/// One of a few words, with a default.
pub(super) fn choice_or<T: Copy + PartialEq>(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    name: &'static str,
    choices: &[(&'static str, T)],
    default: T,
) -> Option<T> {
    match choice(checker, section, name, choices) {
        Given::Wrong => None,
        Given::Right(value) => Some(value),
        Given::No => {
            let word = choices.iter().find(|(_, value)| *value == default).map_or("", |(word, _)| *word);
            checker.default(&section.key_of(name), format!("{word:?}"), None);
            Some(default)
        }
    }
}

/// One of a few words, if it is there.
pub(super) fn choice<T: Copy>(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    name: &'static str,
    choices: &[(&'static str, T)],
) -> Given<T> {
    let text = match section.text(checker, name) {
        Given::Wrong => return Given::Wrong,
        Given::No => return Given::No,
        Given::Right(text) => text,
    };
    let Some((word, value)) = choices.iter().find(|(word, _)| *word == text.value) else {
        let message =
            format!("must be {}, got {}", either(choices.iter().map(|(word, _)| *word)), text.quoted());
        let hint = did_you_mean(&text.value, choices.iter().map(|(word, _)| *word));
        checker.error_of(&text, message, hint);
        return Given::Wrong;
    };
    checker.given_text(&text, format!("{word:?}"));
    Given::Right(*value)
}

/// `"a", "b" or "c"`
pub(super) fn either<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let mut words: Vec<String> = words.into_iter().map(|word| format!("{word:?}")).collect();
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} or {last}", words.join(", ")),
        Some(only) => only,
        None => String::new(),
    }
}
