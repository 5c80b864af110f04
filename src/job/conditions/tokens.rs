//! The words of a condition.
//!
//! In:        its text
//! Out:       names, literals and signs with their places; numbers without what says nothing (`+1.50` is `1.5`)
//! Fails:     signs of other languages (`==`, `&&`), a text that is left open

use super::super::Comparison;
use super::super::names::{is_identifier_char, is_identifier_start};
use super::super::sql::parameter_name;
use super::{Problem, SUPPORTED, problem};

/// One word.
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// Byte offset in the condition.
    pub(super) offset: usize,
    /// Bytes.
    len: usize,
}

/// What a word is.
#[derive(PartialEq, Eq)]
pub(super) enum TokenKind {
    /// `:name`, without the colon.
    Name(String),
    /// `'text'`, its doubled quotation marks made single.
    Text(String),
    /// Canonical.
    Number(String),
    /// `and`, `is`, `null` ... as written.
    Word(String),
    /// `=` and so on.
    Compare(Comparison),
    /// `(`
    Open,
    /// `)`
    Close,
    /// `,`
    Comma,
}

impl Token {
    /// Whether it is this word, in capitals or not.
    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(&self.kind, TokenKind::Word(written) if written.eq_ignore_ascii_case(word))
    }

    /// As it is written, for a message.
    pub(super) fn shown(&self, text: &str) -> String {
        format!("`{}`", text.get(self.offset..self.offset + self.len).unwrap_or(""))
    }
}

const COMPARISONS: [(&str, Comparison); 7] = [
    ("!=", Comparison::NotEqual),
    ("<>", Comparison::NotEqual),
    ("<=", Comparison::LessOrEqual),
    (">=", Comparison::GreaterOrEqual),
    ("=", Comparison::Equal),
    ("<", Comparison::Less),
    (">", Comparison::Greater),
];

/// Signs that other languages have, and what is meant.
const OTHER_SIGNS: [(&str, &str); 6] = [
    ("==", "write `=`"),
    ("&&", "write `and`"),
    ("||", "write `or`"),
    ("<=>", "write `=`, and `is null` where NULL is meant"),
    ("\"", "a text stands in single quotation marks: 'text'"),
    ("!", "write `not` or `!=`"),
];

/// Reads all words.
pub(super) fn scan(text: &str) -> Result<Vec<Token>, Problem> {
    let mut tokens = Vec::new();
    let mut offset = 0;
    while let Some(rest) = text.get(offset..).filter(|rest| !rest.is_empty()) {
        let blank = rest.len() - rest.trim_start().len();
        if blank > 0 {
            offset += blank;
            continue;
        }
        let (kind, len) = token(rest, offset)?;
        tokens.push(Token { kind, offset, len });
        offset += len;
    }
    Ok(tokens)
}

/// The word that a text begins with, and its length.
fn token(rest: &str, offset: usize) -> Result<(TokenKind, usize), Problem> {
    for (sign, kind) in [("(", TokenKind::Open), (")", TokenKind::Close), (",", TokenKind::Comma)] {
        if rest.starts_with(sign) {
            return Ok((kind, 1));
        }
    }
    if let Some(behind) = rest.strip_prefix(':') {
        let name = parameter_name(behind);
        if name.is_empty() {
            return problem(offset, "a `:` without a name behind it", "write `:field` or `:step.column`");
        }
        return Ok((TokenKind::Name(name.to_owned()), 1 + name.len()));
    }
    if rest.starts_with('\'') {
        return quoted(rest, offset);
    }
    if let Some(number) = number(rest, offset) {
        return number;
    }
    // `!` alone is of another language, `!=` is not.
    let is_known = |sign: &str| sign != "!" || !rest.starts_with("!=");
    if let Some((sign, hint)) = OTHER_SIGNS.iter().find(|(sign, _)| rest.starts_with(sign) && is_known(sign))
    {
        return problem(offset, format!("`{sign}` is not known in conditions"), hint);
    }
    if let Some((sign, by)) = COMPARISONS.iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Ok((TokenKind::Compare(*by), sign.len()));
    }
    if rest.starts_with(is_identifier_start) {
        let part = |c: char| is_identifier_char(c) || c == '.';
        let len = rest.find(|c| !part(c)).unwrap_or(rest.len());
        let word = rest.get(..len).unwrap_or("");
        if ["like", "between", "exists", "regexp", "rlike"]
            .iter()
            .any(|other| word.eq_ignore_ascii_case(other))
        {
            return problem(offset, format!("`{word}` is not known in conditions"), SUPPORTED);
        }
        return Ok((TokenKind::Word(word.to_owned()), len));
    }
    let sign: String = rest.chars().take(1).collect();
    problem(offset, format!("`{sign}` is not known in conditions"), SUPPORTED)
}

fn quoted(rest: &str, offset: usize) -> Result<(TokenKind, usize), Problem> {
    let mut value = String::new();
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        if c != '\'' {
            value.push(c);
        } else if chars.peek().is_some_and(|(_, next)| *next == '\'') {
            value.push('\'');
            chars.next();
        } else {
            return Ok((TokenKind::Text(value), at + 1));
        }
    }
    problem(offset, "a text is left open", "close it with `'`; a quotation mark inside is written twice")
}

/// A number, where one begins here.
fn number(rest: &str, offset: usize) -> Option<Result<(TokenKind, usize), Problem>> {
    let unsigned = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let part = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_';
    let len = unsigned.find(|c| !part(c)).unwrap_or(unsigned.len());
    let digits = unsigned.get(..len).unwrap_or("");
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all_digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) {
        let hint = "a number has digits and perhaps a point, and no exponent";
        return Some(problem(offset, format!("`{digits}` is no number"), hint));
    }
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if fraction.is_empty() { "" } else { "." };
    let is_zero = whole == "0" && fraction.is_empty();
    let sign = if rest.starts_with('-') && !is_zero { "-" } else { "" };
    let number = format!("{sign}{whole}{point}{fraction}");
    Some(Ok((TokenKind::Number(number), rest.len() - unsigned.len() + len)))
}
