//! Where a statement stores its parameters, as far as its text says so.
//!
//! In:        SQL with a `?` for each parameter     Out: the table, and the column of each parameter that is stored as it is
//! Fails:     a statement of another form gives nothing; so does a parameter inside an expression
//!
//! Read are `INSERT INTO t (a, b) VALUES (?, ?), ...`, `REPLACE` the same, and the assignments `a = ?` of an UPDATE of
//! one table and of what an INSERT does with a row that is there already.

/// Where parameters go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) schema: Option<String>,
    pub(super) table: String,
    /// Index of the parameter, name of the column.
    pub(super) places: Vec<(usize, String)>,
    /// The statement asks the server to change what does not fit.
    pub(super) ignores: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A word, in its own letters.
    Word(String),
    /// A name in backticks or double quotes.
    Name(String),
    /// A text or a number.
    Literal,
    /// `?`, counted from 0.
    Parameter(usize),
    Sign(char),
}

impl Token {
    fn is(&self, word: &str) -> bool {
        matches!(self, Token::Word(text) if text.eq_ignore_ascii_case(word))
    }

    fn name(&self) -> Option<&str> {
        match self {
            Token::Word(name) | Token::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// Reads a statement.
pub(super) fn target(sql: &str) -> Option<Target> {
    let tokens = tokens(sql)?;
    let mut rest = tokens.as_slice();
    let first = next(&mut rest)?;
    let updates = first.is("update");
    if !updates && !first.is("insert") && !first.is("replace") {
        return None;
    }
    let mut ignores = false;
    while let Some(word) = rest.first() {
        let modifier = ["low_priority", "high_priority", "delayed"].iter().any(|known| word.is(known));
        if word.is("ignore") {
            ignores = true;
        } else if !modifier && !word.is("into") {
            break;
        }
        next(&mut rest);
    }
    if rest.first()?.is("or") {
        // SQLite's OR REPLACE, OR IGNORE: neither changes a value.
        rest = rest.get(2..)?;
        if rest.first()?.is("into") {
            next(&mut rest);
        }
    }
    let (schema, table) = table(&mut rest)?;
    let mut places = if updates { Vec::new() } else { rows(&mut rest)? };
    if updates && !next(&mut rest)?.is("set") {
        return None;
    }
    places.extend(assignments(rest, updates));
    (!places.is_empty()).then_some(Target { schema, table, places, ignores })
}

fn next<'t>(rest: &mut &'t [Token]) -> Option<&'t Token> {
    let (first, behind) = rest.split_first()?;
    *rest = behind;
    Some(first)
}

fn table(rest: &mut &[Token]) -> Option<(Option<String>, String)> {
    let first = next(rest)?.name()?.to_owned();
    if rest.first() != Some(&Token::Sign('.')) {
        return Some((None, first));
    }
    next(rest);
    Some((Some(first), next(rest)?.name()?.to_owned()))
}

/// The list of columns and the rows behind VALUES.
fn rows(rest: &mut &[Token]) -> Option<Vec<(usize, String)>> {
    let mut columns = Vec::new();
    let mut list = next(rest).filter(|token| **token == Token::Sign('('))?;
    while *list != Token::Sign(')') {
        columns.push(next(rest)?.name()?.to_owned());
        list = next(rest).filter(|token| matches!(token, Token::Sign(',' | ')')))?;
    }
    next(rest).filter(|word| word.is("values") || word.is("value"))?;
    let mut places = Vec::new();
    while rest.first() == Some(&Token::Sign('(')) {
        next(rest);
        places.extend(row(rest, &columns)?);
        if rest.first() == Some(&Token::Sign(',')) {
            next(rest);
        }
    }
    Some(places)
}

/// One row up to its closing bracket. A column of an expression gives nothing.
fn row(rest: &mut &[Token], columns: &[String]) -> Option<Vec<(usize, String)>> {
    let mut places = Vec::new();
    let mut expression: Vec<&Token> = Vec::new();
    let (mut column, mut depth) = (0_usize, 0_usize);
    loop {
        let token = next(rest)?;
        match token {
            Token::Sign(',' | ')') if depth == 0 => {
                if let ([Token::Parameter(index)], Some(name)) = (expression.as_slice(), columns.get(column))
                {
                    places.push((*index, name.clone()));
                }
                if *token == Token::Sign(')') {
                    return Some(places);
                }
                expression.clear();
                column = column.saturating_add(1);
            }
            Token::Sign('(') => {
                depth = depth.saturating_add(1);
                expression.push(token);
            }
            Token::Sign(')') => {
                depth = depth.saturating_sub(1);
                expression.push(token);
            }
            _ => expression.push(token),
        }
    }
}

/// `a = ?` of a list of assignments: behind SET, or behind the UPDATE of an INSERT, up to WHERE.
fn assignments(tokens: &[Token], in_list: bool) -> Vec<(usize, String)> {
    let mut places = Vec::new();
    // Whether the next token begins an assignment.
    let mut begins = in_list;
    let (mut depth, mut inside) = (0_usize, in_list);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('(') => depth = depth.saturating_add(1),
            Token::Sign(')') => depth = depth.saturating_sub(1),
            Token::Word(_) if depth == 0 && token.is("where") => inside = false,
            Token::Word(_) if depth == 0 && (token.is("update") || token.is("set")) => {
                // `DO UPDATE SET a = ?`: SET is the word that it begins behind.
                begins = true;
                inside = true;
                continue;
            }
            _ => {}
        }
        if begins
            && inside
            && depth == 0
            && let Some(
                [
                    Token::Word(name) | Token::Name(name),
                    Token::Sign('='),
                    Token::Parameter(index),
                    behind @ ..,
                ],
            ) = tokens.get(at..)
            && behind.first().is_none_or(|end| *end == Token::Sign(',') || end.is("where"))
        {
            places.push((*index, name.clone()));
        }
        begins = inside && depth == 0 && *token == Token::Sign(',');
    }
    places
}

/// `None`: something that is left open.
fn tokens(sql: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    let mut parameters = 0_usize;
    while let Some(first) = rest.chars().next() {
        let behind = rest.get(first.len_utf8()..)?;
        rest = match first {
            _ if first.is_whitespace() => behind,
            '#' => line_end(behind),
            '-' if behind.starts_with('-') => line_end(behind),
            '/' if behind.starts_with('*') => behind.split_once("*/")?.1,
            '\'' => {
                tokens.push(Token::Literal);
                closed(behind, '\'')?.1
            }
            '`' | '"' => {
                let (name, behind) = closed(behind, first)?;
                tokens.push(Token::Name(name.to_owned()));
                behind
            }
            '?' => {
                tokens.push(Token::Parameter(parameters));
                parameters = parameters.saturating_add(1);
                behind
            }
            _ if first.is_alphanumeric() || first == '_' => {
                let end =
                    rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').unwrap_or(rest.len());
                let (word, behind) = rest.split_at_checked(end)?;
                let number = first.is_ascii_digit();
                tokens.push(if number { Token::Literal } else { Token::Word(word.to_owned()) });
                behind
            }
            sign => {
                tokens.push(Token::Sign(sign));
                behind
            }
        };
    }
    Some(tokens)
}

fn line_end(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, behind)| behind)
}

/// Up to the closing quote. One that is doubled or behind a backslash makes the statement one of those that hide something.
fn closed(text: &str, quote: char) -> Option<(&str, &str)> {
    let (inside, behind) = text.split_once(quote)?;
    (!inside.contains('\\') && !behind.starts_with(quote)).then_some((inside, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(sql: &str) -> Vec<(usize, String)> {
        target(sql).map(|target| target.places).unwrap_or_default()
    }

    fn named(places: &[(usize, &str)]) -> Vec<(usize, String)> {
        places.iter().map(|(index, name)| (*index, (*name).to_owned())).collect()
    }

    #[test]
    fn statements_that_say_where_their_parameters_go() {
        for (sql, expected) in [
            ("INSERT INTO o (id, total) VALUES (?, ?)", named(&[(0, "id"), (1, "total")])),
            (
                "insert into o (id, `to tal`, x) values (?, ROUND(?, 2), ?), (?, 1, 'a?')",
                named(&[(0, "id"), (2, "x"), (3, "id")]),
            ),
            ("REPLACE INTO o (id) VALUES (?)", named(&[(0, "id")])),
            ("INSERT INTO o (id, n) VALUES (?, ? + 1)", named(&[(0, "id")])),
            (
                "INSERT INTO o (id, n) VALUES (?, ?) ON DUPLICATE KEY UPDATE n = ?, m = m + ?, k = VALUES(n), j = ?",
                named(&[(0, "id"), (1, "n"), (2, "n"), (4, "j")]),
            ),
            (
                "INSERT INTO o (id, n) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET n = ? WHERE o.m = ?",
                named(&[(0, "id"), (1, "n"), (2, "n")]),
            ),
            ("UPDATE o SET a = ?, b = b + ?, c = ? WHERE id = ? AND d = ?", named(&[(0, "a"), (2, "c")])),
            ("UPDATE o SET a = (SELECT x FROM y WHERE z = ?), b = ? WHERE id = ?", named(&[(1, "b")])),
            ("UPDATE o /* ? */ SET a = ? -- b = ?\n WHERE c = ?", named(&[(0, "a")])),
            ("INSERT OR REPLACE INTO o (id) VALUES (?)", named(&[(0, "id")])),
        ] {
            assert_eq!(places(sql), expected, "{sql}");
        }
    }

    #[test]
    fn statements_that_hide_it() {
        for sql in [
            "INSERT INTO o VALUES (?, ?)",
            "INSERT INTO o (id) SELECT ? FROM p",
            "UPDATE o JOIN p ON o.id = p.id SET o.a = ?",
            "UPDATE o AS x SET a = ?",
            "DELETE FROM o WHERE id = ?",
            "INSERT INTO o (id, x) VALUES (1, 'it''s'), (?, ?)",
            "INSERT INTO o SET id = 1 + ?",
            "SELECT ?",
            "",
        ] {
            assert_eq!(places(sql), [], "{sql}");
        }
    }

    #[test]
    fn tables_of_other_schemas_and_statements_that_ignore() {
        let found = target("INSERT IGNORE INTO shop.`order` (id) VALUES (?)").unwrap();
        assert_eq!(
            (found.schema.as_deref(), found.table.as_str(), found.ignores),
            (Some("shop"), "order", true)
        );
        let found = target("UPDATE o SET a = ?").unwrap();
        assert_eq!((found.schema, found.table.as_str(), found.ignores), (None, "o", false));
    }
}
