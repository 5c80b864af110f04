//! Keys that hold one of a few words: those of the catalogue, and what each stands for.

use super::catalogue::Kind;
use super::checker::Checker;
use super::section::{Given, Section};
use super::suggest::did_you_mean;

/// One of a few words; left out, the catalogue's default.
pub(super) fn choice_or<T: Copy>(
    checker: &mut Checker<'_>,
    section: &mut Section<'_>,
    name: &'static str,
    choices: &[(&'static str, T)],
) -> Option<T> {
    match choice(checker, section, name, choices) {
        Given::Wrong => None,
        Given::Right(value) => Some(value),
        Given::No => {
            section.left_out(checker, name, None);
            let default = section.known(name).map_or("", |key| key.default.shown()).trim_matches('"');
            choices.iter().find(|(word, _)| *word == default).map(|(_, value)| *value)
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
    let words = words_of(section, name);
    debug_assert!(words.iter().copied().eq(choices.iter().map(|(word, _)| *word)), "{words:?} of {name}");
    let text = match section.text(checker, name) {
        Given::Wrong => return Given::Wrong,
        Given::No => return Given::No,
        Given::Right(text) => text,
    };
    let Some((word, value)) = choices.iter().find(|(word, _)| *word == text.value) else {
        let message = format!("must be {}, got {}", either(words.iter().copied()), text.quoted());
        let hint = did_you_mean(&text.value, words.iter().copied());
        checker.error_of(&text, message, hint);
        return Given::Wrong;
    };
    checker.given_text(&text, format!("{word:?}"));
    Given::Right(*value)
}

/// The words that the catalogue gives a key.
pub(super) fn words_of(section: &Section<'_>, name: &str) -> Vec<&'static str> {
    match section.known(name).map(|key| &key.kind) {
        Some(Kind::Choice(words)) => words.iter().map(|word| word.word).collect(),
        _ => Vec::new(),
    }
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
