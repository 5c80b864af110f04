//! Whatever stands in the file, the check answers.

use super::super::{check, render_explain};
use super::ORDERS;
use proptest::prelude::*;

fn answers(text: &str) {
    let environment = |name: &str| name.len().is_multiple_of(2).then(|| format!("{name}'/:@"));
    match check("job.toml", text, &environment) {
        Ok(checked) => assert!(!render_explain(&checked).is_empty()),
        Err(errors) => {
            assert!(!errors.0.is_empty());
            for error in &errors.0 {
                assert!(error.line >= 1 && error.line <= text.split('\n').count(), "{error}");
                assert!(error.column >= 1, "{error}");
            }
        }
    }
}

/// The byte offset of a place of the text, at a character's border.
fn place(at: prop::sample::Index) -> usize {
    let mut at = at.index(ORDERS.len());
    while !ORDERS.is_char_boundary(at) {
        at -= 1;
    }
    at
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in any::<String>()) {
        answers(&text);
    }

    #[test]
    fn text_of_tomls_own_characters(text in r#"([a-z.\[\]{}="'#,:/@?$ \n0-9ü]|"""|\[\[){0,80}"#) {
        answers(&text);
    }

    #[test]
    fn a_job_with_a_part_cut_out_or_replaced(
        from: prop::sample::Index,
        len in 0_usize..40,
        instead in r#"([a-z:/@?$;'\[\]{}=" ü-]|\$\{[A-Z]{1,4}\}|"""){0,12}"#,
    ) {
        let from = place(from);
        let mut to = (from + len).min(ORDERS.len());
        while !ORDERS.is_char_boundary(to) {
            to += 1;
        }
        let (start, rest) = ORDERS.split_at(from);
        let (_, end) = rest.split_at(to - from);
        answers(&format!("{start}{instead}{end}"));
    }

    #[test]
    fn a_job_with_any_value_in_any_string(which: prop::sample::Index, value in "[^\"\\\\\\p{Cc}]{0,30}") {
        let mut pieces: Vec<&str> = ORDERS.split('"').collect();
        let strings = pieces.len() / 2;
        pieces[which.index(strings) * 2 + 1] = &value;
        answers(&pieces.join("\""));
    }
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    answers(&format!("a = {}", "[".repeat(200_000)));
    answers(&format!("a = {}", "{a=".repeat(200_000)));
    answers(&format!("a{} = 1", ".a".repeat(200_000)));
}
