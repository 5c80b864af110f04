//! Diff: what an output's document has that its input had not.
//!
//! In:        two texts, their names     Out: a unified diff, coloured where that is wanted
//! Fails:     never: what takes too long to compare is compared coarsely
//! Not here:  which documents (`event`)
//!
//! Documents may be one line of a megabyte. For the diff, and for it alone, long lines end between tags, too.

use similar::{ChangeTag, TextDiff};
use std::fmt::Write;
use std::time::Duration;

const LINE_CHARS_MAX: usize = 120;
const CONTEXT: usize = 2;
const PATIENCE: Duration = Duration::from_secs(2);

const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const CYAN: &str = "\x1b[36m";
const PLAIN: &str = "\x1b[0m";

/// The differences.
pub(super) fn unified(old: &str, new: &str, names: (&str, &str), colour: bool) -> String {
    let (old, new) = (lines(old), lines(new));
    let diff = TextDiff::configure().timeout(PATIENCE).diff_slices(&old, &new);
    let mut out = String::new();
    let mut put = |paint: &str, text: &str| {
        // Writing to a text does not fail.
        let _written = if colour && !paint.is_empty() {
            writeln!(out, "    {paint}{text}{PLAIN}")
        } else {
            writeln!(out, "    {text}")
        };
    };
    put(RED, &format!("--- {}", names.0));
    put(GREEN, &format!("+++ {}", names.1));
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        put(CYAN, &hunk.header().to_string());
        for change in hunk.iter_changes() {
            let (sign, paint) = match change.tag() {
                ChangeTag::Delete => ('-', RED),
                ChangeTag::Insert => ('+', GREEN),
                ChangeTag::Equal => (' ', ""),
            };
            put(paint, &format!("{sign}{}", shown(change.value())));
        }
    }
    out
}

/// The text in lines as a person reads them. Documents have no control characters but white space; what is none may.
pub(super) fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while rest.chars().count() > LINE_CHARS_MAX {
            let Some(at) = rest.find("><").map(|at| at + 1) else { break };
            let (head, tail) = rest.split_at_checked(at).unwrap_or((rest, ""));
            lines.push(head);
            rest = tail;
        }
        lines.push(rest);
    }
    lines
}

/// A line without its end; a CR is shown, since it may be the difference.
pub(super) fn shown(line: &str) -> String {
    let line = line.strip_suffix('\n').unwrap_or(line);
    let ends =
        |c: char| if c.is_control() && c != '\t' { c.escape_default().to_string() } else { c.to_string() };
    line.chars().map(ends).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_stand_in_their_context() {
        let old = "<a>\n <b/>\n <c/>\n <d/>\n <e/>\n</a>\n";
        let new = old.replace(" <e/>", " <e/><x>1</x>");
        assert_eq!(
            unified(old, &new, ("input", "out"), false),
            "    --- input\n    +++ out\n    @@ -3,4 +3,4 @@\n      <c/>\n      <d/>\n    - <e/>\n    + <e/><x>1</x>\n     </a>\n"
        );
        let coloured = unified(old, &new, ("input", "out"), true);
        assert!(coloured.contains("\x1b[32m+ <e/><x>1</x>\x1b[0m"), "{coloured:?}");
    }

    #[test]
    fn a_document_of_one_long_line_is_compared_tag_by_tag() {
        let old = format!("<a>{}</a>", "<b>1</b>".repeat(100));
        let new = old.replace("</a>", "<x/></a>");
        let diff = unified(&old, &new, ("input", "out"), false);
        assert!(diff.lines().count() < 12 && diff.contains("<x/>"), "{diff}");
        assert_eq!(lines(&old).concat(), old);
    }

    #[test]
    fn a_carriage_return_is_seen() {
        assert_eq!(shown("a\r\n"), "a\\r");
        assert_eq!(shown("\u{1b}[2J"), "\\u{1b}[2J");
    }
}
