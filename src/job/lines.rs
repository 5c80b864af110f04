//! Byte offsets of a text to lines and columns.

/// Where each line of a text begins.
pub(super) struct Lines<'a> {
    text: &'a str,
    /// Offset of the first byte of each line; never empty.
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(text: &'a str) -> Lines<'a> {
        let behind_breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at + 1);
        Lines { text, starts: std::iter::once(0).chain(behind_breaks).collect() }
    }

    /// Line and column of a byte, both from 1; the column in characters. An offset behind the end is the end.
    pub(super) fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let line_on = self.slice(start..self.text.len());
        let column = line_on.char_indices().take_while(|(at, _)| start + at < offset).count() + 1;
        (line, column)
    }

    /// The bytes of a span as text; empty where the span is not one of this text.
    pub(super) fn slice(&self, span: std::ops::Range<usize>) -> &'a str {
        self.text.get(span).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_the_end_is_a_place() {
        let lines = Lines::new("a\nüb = 1\n");
        assert_eq!(lines.position(0), (1, 1));
        assert_eq!(lines.position(2), (2, 1));
        assert_eq!(lines.position(4), (2, 2));
        assert_eq!(lines.position(1000), (3, 1));
    }
}
