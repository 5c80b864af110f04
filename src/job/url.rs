//! The database's URL: `mysql://user:password@host:port/schema`, `mariadb://...`, `sqlite:path`.
//!
//! In:        the URL with its variables filled in, and which bytes they gave
//! Out:       a [`DatabaseKind`]
//! Fails:     messages name the part that is missing or wrong and never quote it: any part may hold the password
//! Not here:  `password_file` is added by the section

use super::{DatabaseKind, Secret};
use std::ops::Range;

/// The port of a URL without one.
const PORT_DEFAULT: u16 = 3306;

/// What is wrong, and what to do.
pub(super) type Problem = (String, Option<String>);

const FORM: &str = "write mysql://user@host:3306/schema, mariadb://user@host:3306/schema or sqlite:path";

/// A URL with its marks: what a variable gave is data, never punctuation, unless the URL's own text has no such mark.
struct Marked<'a> {
    text: &'a str,
    from_variables: &'a [Range<usize>],
}

impl Marked<'_> {
    fn is_literal(&self, offset: usize) -> bool {
        !self.from_variables.iter().any(|range| range.contains(&offset))
    }

    fn part(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or("")
    }

    /// The first of these characters in a range that the URL's own text wrote; else the first that a variable gave.
    fn find(&self, range: Range<usize>, of: &[char], last: bool) -> Option<usize> {
        let start = range.start;
        let all = self.part(range).char_indices().filter(|(_, c)| of.contains(c)).map(|(at, _)| start + at);
        let (literal, given): (Vec<usize>, Vec<usize>) = all.partition(|at| self.is_literal(*at));
        let list = if literal.is_empty() { given } else { literal };
        if last { list.last().copied() } else { list.first().copied() }
    }

    /// `%41` to `A` in what the URL's own text wrote; what a variable gave stays as it is.
    fn decode(&self, range: Range<usize>) -> Option<String> {
        let mut bytes = Vec::new();
        let mut at = range.start;
        let raw = self.part(range);
        let mut rest = raw.bytes();
        while let Some(byte) = rest.next() {
            let literal = self.is_literal(at);
            at += 1;
            if byte != b'%' || !literal {
                bytes.push(byte);
                continue;
            }
            let digits = [rest.next()?, rest.next()?];
            at += 2;
            let text =
                std::str::from_utf8(&digits).ok().filter(|t| t.bytes().all(|b| b.is_ascii_hexdigit()))?;
            bytes.push(u8::from_str_radix(text, 16).ok()?);
        }
        String::from_utf8(bytes).ok()
    }
}

/// Reads a URL.
pub(super) fn parse(text: &str, from_variables: &[Range<usize>]) -> Result<DatabaseKind, Problem> {
    let Some(colon) = text.find(':') else { return Err(("is not a database URL".to_owned(), hint(FORM))) };
    let scheme = text.get(..colon).unwrap_or("").to_ascii_lowercase();
    let whole_from_variable = from_variables.iter().any(|range| range.contains(&colon));
    // A URL that a variable gives as a whole is a URL like any other.
    let url = Marked { text, from_variables: if whole_from_variable { &[] } else { from_variables } };
    match scheme.as_str() {
        "sqlite" => sqlite(&url, colon + 1),
        "mysql" | "mariadb" => match text.get(colon..colon + 3) {
            Some("://") => mysql(&url, colon + 3),
            _ => Err(("needs `://` behind the scheme".to_owned(), hint(FORM))),
        },
        _ => Err(("must begin with mysql://, mariadb:// or sqlite:".to_owned(), hint(FORM))),
    }
}

/// Whether a URL, right or wrong, is meant for SQLite.
pub(super) fn is_sqlite(text: &str) -> bool {
    text.split(':').next().is_some_and(|scheme| scheme.eq_ignore_ascii_case("sqlite"))
}

fn hint(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn sqlite(url: &Marked<'_>, start: usize) -> Result<DatabaseKind, Problem> {
    let path = url.part(start..url.text.len());
    // `sqlite:///var/x` is how others write the absolute path `/var/x`.
    let path = match path.strip_prefix("//") {
        Some(absolute) if absolute.starts_with('/') => absolute,
        Some(_) => return Err(("has a host, and SQLite has none".to_owned(), hint("write sqlite:path"))),
        None => path,
    };
    if path.is_empty() {
        return Err(("names no file".to_owned(), hint("write sqlite:path")));
    }
    if path.starts_with(":memory:") {
        let why = "the ledger must outlive the process: write sqlite:path";
        return Err(("a database in memory cannot hold the ledger".to_owned(), hint(why)));
    }
    if path.contains('\0') {
        return Err(("has a NUL character in its path".to_owned(), None));
    }
    Ok(DatabaseKind::Sqlite { path: path.to_owned() })
}

fn mysql(url: &Marked<'_>, start: usize) -> Result<DatabaseKind, Problem> {
    let end = url.text.len();
    if let Some(option) = url.find(start..end, &['?', '#'], false).filter(|at| url.is_literal(*at)) {
        let mark = url.part(option..option + 1);
        let what = format!("`{mark}` and what follows: options in the URL are not built yet in this version");
        return Err((what, hint("leave them out; in a password write %3F for `?` and %23 for `#`")));
    }
    let slash = url.find(start..end, &['/'], false);
    let at_sign = url.find(start..slash.filter(|at| url.is_literal(*at)).unwrap_or(end), &['@'], true);
    let host_start = at_sign.map_or(start, |at| at + 1);
    let slash = url.find(host_start..end, &['/'], false);
    let (user, password) = match at_sign {
        Some(at) => account(url, start..at)?,
        None => return Err(("has no user".to_owned(), hint("write mysql://user@host:3306/schema"))),
    };
    let (host, port) = address(url.part(host_start..slash.unwrap_or(end)))?;
    let schema = slash.map(|at| at + 1..end).and_then(|range| url.decode(range)).unwrap_or_default();
    if schema.is_empty() {
        return Err((
            "has no schema".to_owned(),
            hint("write its name behind the host: mysql://user@host:3306/schema"),
        ));
    }
    if schema.contains('/') {
        return Err((
            "has more than one part behind the host".to_owned(),
            hint("behind the host stands the schema"),
        ));
    }
    Ok(DatabaseKind::MySql { host, port, user, password, password_file: None, database: schema })
}

/// User and password.
fn account(url: &Marked<'_>, range: Range<usize>) -> Result<(String, Option<Secret>), Problem> {
    let bad = || ("has a broken `%` code in its user or password".to_owned(), hint("write `%25` for `%`"));
    let colon = url.find(range.clone(), &[':'], false);
    let user = url.decode(range.start..colon.unwrap_or(range.end)).ok_or_else(bad)?;
    let password = match colon {
        Some(colon) => Some(url.decode(colon + 1..range.end).ok_or_else(bad)?),
        None => None,
    };
    if user.is_empty() {
        return Err(("has no user".to_owned(), hint("write mysql://user@host:3306/schema")));
    }
    Ok((user, password.filter(|p| !p.is_empty()).map(Secret)))
}

/// Host and port; an IPv6 address stands in brackets.
fn address(text: &str) -> Result<(String, u16), Problem> {
    let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((host, behind)) => (host, behind.strip_prefix(':')),
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    if host.is_empty() {
        return Err(("has no host".to_owned(), hint("write mysql://user@host:3306/schema")));
    }
    if host.chars().any(|c| c.is_whitespace() || c.is_control() || matches!(c, '@' | '/' | '%')) {
        return Err((
            "has a host with characters that no host has".to_owned(),
            hint("in a password write %40 for `@`, %2F for `/` and %3A for `:`"),
        ));
    }
    match port {
        None => Ok((host.to_owned(), PORT_DEFAULT)),
        Some(port) => match port.parse::<u16>() {
            Ok(port) if port > 0 => Ok((host.to_owned(), port)),
            _ => Err(("has a port that is not 1..=65535".to_owned(), None)),
        },
    }
}

#[cfg(test)]
mod tests;
