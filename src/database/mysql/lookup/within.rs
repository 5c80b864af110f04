//! Within: many rows of a look-up by `key IN (?, ?, ...)`, where that is sure to find what one by one finds.
//!
//! In:        a look-up's text; the column that it compares, as the server describes it
//! Out:       the statements that ask for many, and what a parameter and a found row's key have to be equal in
//! Order:     only `SELECT columns FROM one table WHERE column = ?` is understood; everything else is not this
//! Fails:     never: what is not sure is asked otherwise
//! Not here:  asking (lookup)
//!
//! The server may call more things equal than the program does, such as "a" and "A ". So only whole numbers are compared, and
//! text of a collation that tells all characters apart, without blanks at its end.

use super::super::value::Kind;
use crate::model::Value;
use mysql_async::consts::{ColumnFlags, ColumnType};
use mysql_async::{Column, Value as Wire};
use std::sync::Arc;

/// How many rows of parameters one statement asks for.
const SIZES: [usize; 4] = [256, 64, 16, 4];

/// How a look-up is asked for many.
#[derive(Debug)]
pub(super) struct Within {
    /// The statements, by size. The key is the last column of what they give.
    pub(super) many: Vec<(usize, Arc<str>)>,
    /// What the key is.
    pub(super) key: Key,
}

impl Within {
    /// For this look-up, by what it compares with.
    pub(super) fn new(sql: &str, key: Key) -> Option<Within> {
        let shape = Shape::of(sql)?;
        let many = SIZES.into_iter().map(|size| (size, Arc::from(shape.within(size)))).collect();
        Some(Within { many, key })
    }

    /// The size of the next statement, and how many rows it answers: all, if one can. Copies that fill it up cost next to nothing.
    pub(super) fn next_size(&self, left: usize) -> (usize, usize) {
        let fits = |(size, _): &&(usize, Arc<str>)| *size >= left;
        let size = self.many.iter().rev().find(fits).or(self.many.first()).map_or(1, |(size, _)| *size);
        if left > 1 { (size, left.min(size)) } else { (1, 1) }
    }

    /// The smallest of the statements.
    pub(super) fn smallest(sql: &str) -> Option<String> {
        SIZES.last().and_then(|size| Some(Shape::of(sql)?.within(*size)))
    }
}

/// What a look-up compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// Whole numbers.
    Number,
    /// Text of which each character counts.
    Text,
    /// The same in an encoding that has not all characters: of ASCII alone it is known that nothing is converted.
    Ascii,
}

/// What has to be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Exact<'a> {
    /// A whole number, whatever its type is.
    Number(i128),
    /// Text, byte by byte.
    Text(&'a [u8]),
}

impl Key {
    /// By the column's type alone; the inner one: it is text, and its declaration has to be seen.
    pub(super) fn of(column: &Column) -> Option<Result<Key, Declared>> {
        let flags = column.flags();
        match column.column_type() {
            ColumnType::MYSQL_TYPE_TINY
            | ColumnType::MYSQL_TYPE_SHORT
            | ColumnType::MYSQL_TYPE_LONG
            | ColumnType::MYSQL_TYPE_INT24
            | ColumnType::MYSQL_TYPE_LONGLONG => Some(Ok(Key::Number)),
            _ if Kind::of(column) == Kind::Text && flags.contains(ColumnFlags::BINARY_FLAG) => {
                let [schema, table, name] =
                    [column.schema_str(), column.org_table_str(), column.org_name_str()]
                        .map(std::borrow::Cow::into_owned);
                Some(Err(Declared { schema, table, name }))
            }
            _ => None,
        }
    }

    /// By the type and the collation that a column of text is declared with.
    pub(super) fn of_text(data_type: &str, collation: &str) -> Option<Key> {
        const TYPES: [&str; 6] = ["char", "varchar", "tinytext", "text", "mediumtext", "longtext"];
        if !TYPES.iter().any(|known| known.eq_ignore_ascii_case(data_type)) {
            return None;
        }
        match collation {
            "utf8mb4_bin" | "utf8mb4_nopad_bin" | "utf8mb4_0900_bin" => Some(Key::Text),
            "ascii_bin" | "latin1_bin" | "utf8_bin" | "utf8mb3_bin" => Some(Key::Ascii),
            _ => None,
        }
    }

    /// What a parameter is equal to; `None`: that is for the server to say.
    pub(super) fn exact<'a>(&self, parameter: &'a Value) -> Option<Exact<'a>> {
        match (self, parameter) {
            (Key::Number, Value::Int(number)) => Some(Exact::Number(i128::from(*number))),
            (Key::Number, Value::UInt(number)) => Some(Exact::Number(i128::from(*number))),
            (Key::Number, Value::Bool(truth)) => Some(Exact::Number(i128::from(*truth))),
            // Most collations take blanks at the end for nothing.
            (Key::Text | Key::Ascii, Value::Text(text)) if !text.ends_with(' ') => {
                (*self == Key::Text || text.is_ascii()).then_some(Exact::Text(text.as_bytes()))
            }
            _ => None,
        }
    }
}

/// A column by its names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) schema: String,
    pub(super) table: String,
    pub(super) name: String,
}

impl Exact<'_> {
    /// The key of a row that was found.
    pub(super) fn found(key: &Wire) -> Option<Exact<'_>> {
        match key {
            Wire::Int(number) => Some(Exact::Number(i128::from(*number))),
            Wire::UInt(number) => Some(Exact::Number(i128::from(*number))),
            Wire::Bytes(bytes) => Some(Exact::Text(bytes)),
            _ => None,
        }
    }

    /// What is sent: numbers all of one type, as far as that goes.
    pub(super) fn bind(&self) -> Wire {
        match self {
            Exact::Number(number) => match (i64::try_from(*number), u64::try_from(*number)) {
                (Ok(number), _) => Wire::Int(number),
                (_, Ok(number)) => Wire::UInt(number),
                _ => Wire::NULL,
            },
            Exact::Text(bytes) => Wire::Bytes(bytes.to_vec()),
        }
    }
}

/// The parts of a look-up that is understood.
#[derive(Debug, PartialEq, Eq)]
struct Shape<'a> {
    columns: &'a str,
    table: &'a str,
    key: &'a str,
}

impl<'a> Shape<'a> {
    fn of(sql: &'a str) -> Option<Shape<'a>> {
        let mut words = Words { sql, at: 0 };
        words.keyword("SELECT")?;
        let columns = words.columns()?;
        let table = words.table()?;
        let key = words.condition()?;
        Some(Shape { columns, table, key })
    }

    fn within(&self, size: usize) -> String {
        let Shape { columns, table, key } = self;
        let marks = vec!["?"; size].join(", ");
        format!("SELECT {columns}, {key} FROM {table} WHERE {key} IN ({marks})")
    }
}

/// Reads a statement piece by piece. A piece that is none of those that are known ends it.
struct Words<'a> {
    sql: &'a str,
    at: usize,
}

impl<'a> Words<'a> {
    /// A word, a quoted name without its marks inside, or one sign; empty at the end.
    fn peek(&self) -> Option<(&'a str, usize)> {
        let rest = self.sql.get(self.at..)?;
        let text = rest.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let start = self.at + (rest.len() - text.len());
        let length = match text.chars().next() {
            None => 0,
            Some('`') => {
                let inside = text.get(1..)?.find('`')?;
                let end = inside + 2;
                // A mark that is doubled stands for itself: too rare to be read here.
                let next = text.get(end..)?.chars().next();
                (inside > 0 && next != Some('`')).then_some(end)?
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$');
                text.find(ends).unwrap_or(text.len())
            }
            Some(',' | '.' | '=' | '?' | '*') => 1,
            Some(_) => return None,
        };
        Some((text.get(..length)?, start + length))
    }

    fn next(&mut self) -> Option<&'a str> {
        let (word, end) = self.peek()?;
        self.at = end;
        Some(word)
    }

    fn is_next(&self, wanted: &str) -> bool {
        self.peek().is_some_and(|(word, _)| word.eq_ignore_ascii_case(wanted))
    }

    fn keyword(&mut self, wanted: &str) -> Option<()> {
        self.is_next(wanted).then(|| self.next())?.map(|_| ())
    }

    /// A name that is no word of the statement's own.
    fn name(&mut self) -> Option<()> {
        const OWN: [&str; 4] = ["SELECT", "FROM", "WHERE", "AS"];
        let word = self.next()?;
        let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '`');
        (is_name && !OWN.iter().any(|own| own.eq_ignore_ascii_case(word))).then_some(())
    }

    /// `a` or `t.a`
    fn place(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.name()?;
        if self.is_next(".") {
            self.next()?;
            self.name()?;
        }
        self.sql.get(start..self.at).map(str::trim)
    }

    /// What stands between SELECT and FROM.
    fn columns(&mut self) -> Option<&'a str> {
        let start = self.at;
        if self.is_next("*") {
            self.next()?;
        } else {
            self.column()?;
        }
        while self.is_next(",") {
            self.next()?;
            self.column()?;
        }
        let columns = self.sql.get(start..self.at).map(str::trim);
        self.keyword("FROM")?;
        columns
    }

    fn column(&mut self) -> Option<()> {
        self.place()?;
        if self.is_next("AS") {
            self.next()?;
            self.name()?;
        }
        Some(())
    }

    /// What stands between FROM and WHERE.
    fn table(&mut self) -> Option<&'a str> {
        let start = self.at;
        self.place()?;
        if self.is_next("AS") {
            self.next()?;
        }
        if !self.is_next("WHERE") {
            self.name()?;
        }
        let table = self.sql.get(start..self.at).map(str::trim);
        self.keyword("WHERE")?;
        table
    }

    /// The column of `column = ?`, and nothing behind it.
    fn condition(&mut self) -> Option<&'a str> {
        let key = if self.is_next("?") {
            self.next()?;
            self.keyword("=")?;
            self.place()?
        } else {
            let key = self.place()?;
            self.keyword("=")?;
            self.keyword("?")?;
            key
        };
        self.next()?.is_empty().then_some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(sql: &str) -> Option<String> {
        Shape::of(sql).map(|shape| shape.within(2))
    }

    #[test]
    fn a_plain_lookup_by_one_column_is_understood() {
        for (sql, expected) in [
            (
                "SELECT name, tier FROM customer WHERE id = ?",
                "SELECT name, tier, id FROM customer WHERE id IN (?, ?)",
            ),
            ("select\n*\nfrom t\nwhere ?=`a b`  ", "SELECT *, `a b` FROM t WHERE `a b` IN (?, ?)"),
            (
                "SELECT c.name AS n, c.`tier` FROM shop.customer AS c WHERE c.id = ?",
                "SELECT c.name AS n, c.`tier`, c.id FROM shop.customer AS c WHERE c.id IN (?, ?)",
            ),
            ("SELECT a FROM t x WHERE x.k=?", "SELECT a, x.k FROM t x WHERE x.k IN (?, ?)"),
        ] {
            assert_eq!(within(sql).as_deref(), Some(expected), "{sql}");
        }
    }

    #[test]
    fn everything_else_is_not() {
        for sql in [
            "",
            "SELECT a FROM t",
            "SELECT a FROM t WHERE id = ? FOR UPDATE",
            "SELECT a FROM t WHERE id = ? LOCK IN SHARE MODE",
            "SELECT a FROM t WHERE id = ? LIMIT 1",
            "SELECT a FROM t WHERE id = ? ORDER BY a",
            "SELECT a FROM t WHERE id = ? GROUP BY a",
            "SELECT a FROM t WHERE id = ? AND b = ?",
            "SELECT a FROM t WHERE id = ? OR 1",
            "SELECT a FROM t WHERE id = ? COLLATE utf8mb4_bin",
            "SELECT a FROM t WHERE id = ? -- by its key",
            "SELECT a FROM t WHERE id = ? /* by its key */",
            "SELECT a FROM t WHERE id = ? UNION SELECT 1",
            "SELECT a FROM t WHERE id >= ?",
            "SELECT a FROM t WHERE id <=> ?",
            "SELECT a FROM t WHERE id = 1",
            "SELECT a FROM t WHERE id = 'x'",
            "SELECT a FROM t WHERE id + 0 = ?",
            "SELECT a FROM t WHERE LOWER(id) = ?",
            "SELECT a FROM t WHERE NOT id = ?",
            "SELECT a FROM t WHERE (id = ?)",
            "SELECT DISTINCT a FROM t WHERE id = ?",
            "SELECT ALL a FROM t WHERE id = ?",
            "SELECT COUNT(*) FROM t WHERE id = ?",
            "SELECT a + 1 FROM t WHERE id = ?",
            "SELECT ?, a FROM t WHERE id = ?",
            "SELECT a, * FROM t WHERE id = ?",
            "SELECT @a FROM t WHERE id = ?",
            "SELECT \"a\" FROM t WHERE id = ?",
            "SELECT a INTO x FROM t WHERE id = ?",
            "SELECT a FROM t, u WHERE id = ?",
            "SELECT a FROM t JOIN u WHERE id = ?",
            "SELECT a FROM t x FORCE INDEX (k) WHERE id = ?",
            "SELECT a FROM (SELECT 1) t WHERE id = ?",
            "SELECT a FROM `t``u` WHERE id = ?",
            "WITH t AS (SELECT 1) SELECT a FROM t WHERE id = ?",
            "SELECT a FROM t WHERE id = ?; SELECT 1",
        ] {
            assert_eq!(within(sql), None, "{sql}");
        }
    }

    #[test]
    fn one_statement_asks_for_as_many_as_it_can() {
        let within = Within::new("SELECT a FROM t WHERE id = ?", Key::Number).unwrap();
        let sizes: Vec<_> = [1, 2, 4, 5, 64, 65, 256, 600].map(|left| within.next_size(left)).into();
        assert_eq!(sizes, [(1, 1), (4, 2), (4, 4), (16, 5), (64, 64), (256, 65), (256, 256), (256, 256)]);
    }

    #[test]
    fn only_what_is_of_one_kind_is_compared() {
        let text = |text: &'static str| Value::Text(text.to_owned());
        assert_eq!(Key::Number.exact(&Value::Int(1)), Key::Number.exact(&Value::UInt(1)));
        assert_eq!(Key::Number.exact(&Value::Int(-1)), Some(Exact::Number(-1)));
        assert_eq!(Key::Number.exact(&text("1")), None);
        assert_eq!(Key::Number.exact(&Value::Float(1.0)), None);
        assert_eq!(Key::Text.exact(&text("ä")), Some(Exact::Text("ä".as_bytes())));
        assert_eq!(Key::Ascii.exact(&text("ä")), None);
        assert_eq!(Key::Text.exact(&text("a ")), None);
        assert_eq!(Key::Text.exact(&Value::Int(1)), None);
        assert_eq!(Key::Text.exact(&Value::Null), None);
        assert_eq!(Exact::Number(i128::from(u64::MAX)).bind(), Wire::UInt(u64::MAX));
        assert_eq!(Key::of_text("varchar", "utf8mb4_unicode_ci"), None);
        assert_eq!(Key::of_text("uuid", "utf8mb4_bin"), None);
    }
}
