//! White space as XML Schema means it, before anything else looks at a text.
//!
//! In:        text, a rule     Out: the text by the rule, the same memory where nothing changes
//! Fails:     never

use crate::job::WhiteSpace;
use std::borrow::Cow;

/// Blank, tab, CR, LF. Nothing else is white space.
pub(super) const WHITE_SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// Without white space at the two ends; other blanks (U+00A0 ...) are text and stay.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(WHITE_SPACE)
}

/// The text by the rule.
pub(super) fn by_rule(rule: WhiteSpace, text: &str) -> Cow<'_, str> {
    match rule {
        WhiteSpace::Preserve => Cow::Borrowed(text),
        WhiteSpace::Trim => Cow::Borrowed(trim(text)),
        WhiteSpace::Replace if text.contains(['\t', '\r', '\n']) => {
            Cow::Owned(text.replace(['\t', '\r', '\n'], " "))
        }
        WhiteSpace::Replace => Cow::Borrowed(text),
        WhiteSpace::Collapse => {
            let trimmed = trim(text);
            let single = !trimmed.contains(['\t', '\r', '\n']) && !trimmed.contains("  ");
            if single { Cow::Borrowed(trimmed) } else { Cow::Owned(words(trimmed)) }
        }
    }
}

/// One blank between words.
fn words(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for word in text.split(WHITE_SPACE).filter(|word| !word.is_empty()) {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_of_xml_schema() {
        let text = " \ta\r\n b  c\u{a0} ";
        let by = |rule| by_rule(rule, text).into_owned();
        assert_eq!(by(WhiteSpace::Preserve), text);
        assert_eq!(by(WhiteSpace::Replace), "  a   b  c\u{a0} ");
        assert_eq!(by(WhiteSpace::Collapse), "a b c\u{a0}");
        assert_eq!(by(WhiteSpace::Trim), "a\r\n b  c\u{a0}");
    }

    #[test]
    fn what_needs_no_change_is_not_copied() {
        for rule in [WhiteSpace::Preserve, WhiteSpace::Replace, WhiteSpace::Collapse, WhiteSpace::Trim] {
            assert!(matches!(by_rule(rule, "a b"), Cow::Borrowed("a b")), "{rule:?}");
        }
    }
}
