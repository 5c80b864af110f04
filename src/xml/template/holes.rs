//! Where a template's values stand: not in CDATA, comments and processing instructions, where nothing can be escaped and a reader
//! would read something else. (A name that a value makes is one, or the document is refused.)
//!
//! In:        a template's source     Out: nothing, or the line of a value that stands where nothing can be escaped
//! Order:     one pass over the source, a tag of the template as one step
//! Fails:     a value inside of CDATA, a comment or a processing instruction
//! Not here:  the template language itself (minijinja), whether what is written is well-formed

/// What the literal text around is in.
const SECTIONS: [(&str, &str, &str); 3] = [
    ("<![CDATA[", "]]>", "a CDATA section"),
    ("<!--", "-->", "a comment"),
    ("<?", "?>", "a processing instruction"),
];

/// The line, from 1, of the first value that cannot be escaped where it stands, and what it stands in.
pub(super) fn misplaced(source: &str) -> Option<(usize, &'static str)> {
    let mut inside: Option<(&str, &'static str)> = None;
    let mut rest = source;
    while let Some(next) = rest.chars().next() {
        let line = || source.get(..source.len().saturating_sub(rest.len())).map(line_of).unwrap_or(1);
        let step = if rest.starts_with("{{") {
            if let Some((_, what)) = inside {
                return Some((line(), what));
            }
            until(rest, "}}")
        } else if rest.starts_with("{%") {
            if is_raw(rest) { raw_bytes(rest) } else { until(rest, "%}") }
        } else if rest.starts_with("{#") {
            until(rest, "#}")
        } else if let Some((end, _)) = inside {
            if rest.starts_with(end) {
                inside = None;
                end.len()
            } else {
                next.len_utf8()
            }
        } else if let Some((begin, end, what)) = SECTIONS.iter().find(|(begin, ..)| rest.starts_with(begin)) {
            inside = Some((end, what));
            begin.len()
        } else {
            next.len_utf8()
        };
        rest = rest.get(step..).unwrap_or_default();
    }
    None
}

fn line_of(before: &str) -> usize {
    before.matches('\n').count().saturating_add(1)
}

/// Bytes up to and with `end`; all that is left where there is none, which is minijinja's to tell.
fn until(rest: &str, end: &str) -> usize {
    rest.find(end).map_or(rest.len(), |at| at.saturating_add(end.len()))
}

/// Whether a block of text begins that is no template.
fn is_raw(rest: &str) -> bool {
    let word = rest.trim_start_matches(['{', '%', '-', '+']).trim_start();
    word.strip_prefix("raw")
        .is_some_and(|behind| !behind.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The whole block, its text with it: nothing in it is a value.
fn raw_bytes(rest: &str) -> usize {
    rest.find("endraw")
        .map_or(rest.len(), |at| at.saturating_add(until(rest.get(at..).unwrap_or_default(), "%}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_text_and_in_attributes_are_escaped() {
        for good in [
            "<a b=\"{{ c }}\">{{ d }}</a>",
            "<!-- {# {{ x }} #} --><a>{{ b }}</a>",
            "<?xml version=\"1.0\"?>\n<a>{% for x in y %}<b>{{ x }}</b>{% endfor %}</a>",
            "<a><![CDATA[x]]>{{ b }}</a>",
            "<a><!-- {% raw %}{{ no }}{% endraw %} --></a>",
            "<a>1 &lt; {{ b }}</a>",
        ] {
            assert_eq!(misplaced(good), None, "{good}");
        }
    }

    #[test]
    fn values_where_nothing_can_be_escaped_are_told_with_their_line() {
        for (bad, what) in [
            ("<a>\n<![CDATA[{{ b }}]]></a>", "a CDATA section"),
            ("<a>\n<!-- x {% if y %}{{ b }}{% endif %} --></a>", "a comment"),
            ("\n<?pi {{ b }}?><a/>", "a processing instruction"),
        ] {
            assert_eq!(misplaced(bad), Some((2, what)), "{bad}");
        }
    }
}
