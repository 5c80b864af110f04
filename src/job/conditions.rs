//! `when`: its grammar, and whether what it compares can be compared.
//!
//! In:        a condition as it is written, the names it may use, and where it stands
//! Out:       a [`Condition`] whose references are resolved
//! Order:     `not` before `and` before `or`, as in SQL
//! Fails:     what SQL has beside comparisons is named; kinds that can never be equal are a mistake where both are known
//! Not here:  what holds: NULL, and how values compare, is the evaluation's

mod kinds;
mod tokens;

use super::checker::{Checker, Text};
use super::references::{Names, Place};
use super::{Condition, Operand, ValueRef};
use tokens::{Token, TokenKind};

/// Brackets and `not` inside of each other.
const NESTED_MAX: usize = 32;
/// What there is, said to whoever writes something else.
const SUPPORTED: &str = "a condition compares `:field`, 'text', numbers, true and false with =, !=, <, <=, >, >=, `is null`, \
     `is not null`, `in (...)`, joined by `and`, `or`, `not` and brackets";

/// What is wrong with a condition, where, and what to do.
pub(super) struct Problem {
    pub(super) offset: usize,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

fn problem<T>(offset: usize, message: impl Into<String>, hint: &str) -> Result<T, Problem> {
    Err(Problem { offset, message: message.into(), hint: Some(hint.to_owned()) })
}

/// Reads a condition; `None`: the error is recorded.
pub(super) fn read(
    checker: &mut Checker<'_>,
    text: &Text,
    names: &mut Names,
    place: Place,
) -> Option<Condition> {
    checker.given_text(text, format!("{:?}", text.value));
    match parse(&text.value, names, place) {
        Ok(condition) => Some(condition),
        Err(problem) if text.has_variables() => {
            // Message and hint may quote a part, and the part may be a variable's value.
            checker.error_of(text, format!("not a condition that is allowed here: {}", text.quoted()), None);
            drop(problem);
            None
        }
        Err(problem) => {
            checker.error_in(text, problem.offset, problem.message, problem.hint);
            None
        }
    }
}

fn parse(text: &str, names: &mut Names, place: Place) -> Result<Condition, Problem> {
    let tokens = tokens::scan(text)?;
    if tokens.is_empty() {
        return problem(
            0,
            "an empty condition",
            "leave it out, or write a comparison such as \":status = 'open'\"",
        );
    }
    let mut parser = Parser { tokens, at: 0, end: text.len(), names, place };
    let condition = parser.any(0)?;
    match parser.peek() {
        None => Ok(condition),
        Some(token) => {
            let shown = token.shown(text);
            problem(token.offset, format!("{shown} is not expected here"), SUPPORTED)
        }
    }
}

struct Parser<'a> {
    tokens: Vec<Token>,
    at: usize,
    /// Where the text ends.
    end: usize,
    names: &'a mut Names,
    place: Place,
}

/// One side, and where it stands.
struct Side {
    operand: Operand,
    offset: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn here(&self) -> usize {
        self.peek().map_or(self.end, |token| token.offset)
    }

    fn eat(&mut self, kind: &TokenKind) -> bool {
        let is_next = self.peek().is_some_and(|token| token.kind == *kind);
        self.at += usize::from(is_next);
        is_next
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is_next = self.peek().is_some_and(|token| token.is_word(word));
        self.at += usize::from(is_next);
        is_next
    }

    /// `a or b or c`
    fn any(&mut self, depth: usize) -> Result<Condition, Problem> {
        let mut parts = vec![self.all(depth)?];
        while self.eat_word("or") {
            parts.push(self.all(depth)?);
        }
        Ok(one_or(parts, Condition::Any))
    }

    /// `a and b and c`
    fn all(&mut self, depth: usize) -> Result<Condition, Problem> {
        let mut parts = vec![self.one(depth)?];
        while self.eat_word("and") {
            parts.push(self.one(depth)?);
        }
        Ok(one_or(parts, Condition::All))
    }

    fn one(&mut self, depth: usize) -> Result<Condition, Problem> {
        let offset = self.here();
        if depth >= NESTED_MAX {
            return problem(offset, "too many brackets inside of each other", "write it with fewer");
        }
        if self.eat_word("not") {
            return Ok(Condition::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.eat(&TokenKind::Open) {
            let inside = self.any(depth + 1)?;
            if !self.eat(&TokenKind::Close) {
                return problem(self.here(), "a `(` without its `)`", "close it");
            }
            return Ok(inside);
        }
        let left = self.side()?;
        self.comparison(left)
    }

    fn comparison(&mut self, left: Side) -> Result<Condition, Problem> {
        let offset = self.here();
        if self.eat_word("is") {
            return self.is_null(left);
        }
        let negated = self.eat_word("not");
        if self.eat_word("in") {
            let among = self.among(&left)?;
            return Ok(if negated { Condition::Not(Box::new(among)) } else { among });
        }
        let Some(TokenKind::Compare(by)) = self.peek().map(|token| &token.kind).filter(|_| !negated) else {
            return match (
                &left.operand,
                self.peek().filter(|token| !token.is_word("and") && !token.is_word("or")),
            ) {
                (_, Some(token)) if token.kind != TokenKind::Close => {
                    problem(offset, "a comparison is expected here", SUPPORTED)
                }
                (Operand::Value(_), _) => problem(
                    left.offset,
                    "a value alone is no condition",
                    "write `:field = true`, or `:field is not null`",
                ),
                _ => problem(left.offset, "a fixed value alone is no condition", SUPPORTED),
            };
        };
        let by = *by;
        self.at += 1;
        let right = self.side()?;
        self.comparable(&left, &right)?;
        Ok(Condition::Compare { left: left.operand, by, right: right.operand })
    }

    fn is_null(&mut self, left: Side) -> Result<Condition, Problem> {
        let negated = self.eat_word("not");
        if !self.eat_word("null") {
            return problem(self.here(), "`is` is followed by `null` or `not null`", "compare with `=`");
        }
        let Operand::Value(value) = left.operand else {
            return problem(
                left.offset,
                "a fixed value is never null",
                "write a `:field` in front of `is null`",
            );
        };
        let is_null = Condition::IsNull(value);
        Ok(if negated { Condition::Not(Box::new(is_null)) } else { is_null })
    }

    fn among(&mut self, left: &Side) -> Result<Condition, Problem> {
        let Operand::Value(value) = &left.operand else {
            return problem(
                left.offset,
                "a fixed value in front of `in`",
                "write a `:field` in front of `in`",
            );
        };
        if !self.eat(&TokenKind::Open) {
            return problem(self.here(), "`in` without its `(`", "write `:field in ('a', 'b')`");
        }
        let mut among = Vec::new();
        loop {
            let side = self.side()?;
            if matches!(side.operand, Operand::Value(_)) {
                return problem(side.offset, "a reference in the list of `in`", "write `:a = :b or :a = :c`");
            }
            self.comparable(left, &side)?;
            among.push(side.operand);
            if self.eat(&TokenKind::Close) {
                return Ok(Condition::In { value: value.clone(), among });
            }
            if !self.eat(&TokenKind::Comma) {
                return problem(
                    self.here(),
                    "the list of `in` goes on with `,` or ends with `)`",
                    "write `:field in ('a', 'b')`",
                );
            }
        }
    }

    fn side(&mut self) -> Result<Side, Problem> {
        let offset = self.here();
        let Some(token) = self.peek() else {
            return problem(offset, "a value is missing at the end", SUPPORTED);
        };
        let operand = match &token.kind {
            TokenKind::Name(name) => {
                let name = name.clone();
                Operand::Value(self.resolve(&name, offset)?)
            }
            TokenKind::Text(text) => Operand::Text(text.clone()),
            TokenKind::Number(number) => Operand::Number(number.clone()),
            _ if token.is_word("true") => Operand::Bool(true),
            _ if token.is_word("false") => Operand::Bool(false),
            _ if token.is_word("null") => {
                return problem(
                    offset,
                    "nothing compares with null",
                    "write `:field is null` or `:field is not null`",
                );
            }
            TokenKind::Word(word) => {
                let is_name = self.names.is_name(word);
                let hint = if is_name { format!("did you mean `:{word}`?") } else { SUPPORTED.to_owned() };
                return problem(offset, format!("`{word}` is no value"), &hint);
            }
            _ => return problem(offset, "a value is expected here", SUPPORTED),
        };
        self.at += 1;
        Ok(Side { operand, offset })
    }

    fn resolve(&mut self, name: &str, offset: usize) -> Result<ValueRef, Problem> {
        self.names.resolve(name, self.place).map_err(|(message, hint)| Problem { offset, message, hint })
    }

    fn comparable(&self, left: &Side, right: &Side) -> Result<(), Problem> {
        if !matches!(left.operand, Operand::Value(_)) && !matches!(right.operand, Operand::Value(_)) {
            return problem(left.offset, "two fixed values are compared", "write a `:field` on one side");
        }
        match kinds::comparable(&left.operand, &right.operand, self.names) {
            Ok(()) => Ok(()),
            Err((message, hint)) => problem(right.offset, message, &hint),
        }
    }
}

fn one_or(mut parts: Vec<Condition>, join: fn(Vec<Condition>) -> Condition) -> Condition {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        Some(last) => {
            parts.push(last);
            join(parts)
        }
        None => join(parts),
    }
}

#[cfg(test)]
mod tests;
