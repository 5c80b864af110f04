//! The grammar of paths: `s:lines/s:line[2]/@id`, `/s:order/s:total`, `../@id`, `a[@b='c'] | d`, `count(s:line)`, `.`
//!
//! In:        a path as it is written
//! Out:       its alternatives with their steps and prefixes, or what is wrong and where
//! Fails:     whatever else of XPath is used is named, with what there is instead
//! Not here:  no prefix is resolved and no root is known: that is `namespaces`

mod scanner;

use scanner::Scanner;

/// A path that is well formed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RawPath {
    /// `a | b`; at least one.
    pub(super) branches: Vec<RawBranch>,
}

/// One alternative.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RawBranch {
    /// Byte offset in the path.
    pub(super) offset: usize,
    /// Begins with `/`.
    pub(super) absolute: bool,
    /// How many `..` it begins with.
    pub(super) up: usize,
    /// Elements.
    pub(super) steps: Vec<RawStep>,
    /// What stands at its end.
    pub(super) end: RawEnd,
    /// `count(...)`
    pub(super) count: bool,
}

/// The end of a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RawEnd {
    /// The last element.
    Element,
    /// `text()`
    Text,
    /// `@name`
    Attribute(RawName),
}

/// One element on the way.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RawStep {
    /// Its name.
    pub(super) name: RawName,
    /// In their order.
    pub(super) predicates: Vec<RawPredicate>,
}

/// `[...]`
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RawPredicate {
    /// `[2]`
    Nth(usize),
    /// `[last()]`
    Last,
    /// `[a/@b='v']`
    Equals {
        /// Elements downwards; none: the element itself.
        steps: Vec<RawName>,
        /// The attribute at the end, else the own text.
        attribute: Option<RawName>,
        /// The literal.
        value: String,
    },
}

/// A name as it is written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RawName {
    /// What stands before the colon.
    pub(super) prefix: Option<String>,
    /// What stands behind it.
    pub(super) local: String,
    /// Byte offset in the path.
    pub(super) offset: usize,
}

/// What is wrong with a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PathProblem {
    /// Byte offset in the path.
    pub(super) offset: usize,
    /// What was found.
    pub(super) message: String,
    /// What to do.
    pub(super) hint: Option<String>,
}

/// What there is, said to whoever writes something else of XPath.
pub(super) const SUPPORTED: &str = "a path has names of elements with `/` between them, `..` at its beginning, `@name` or \
     `text()` at its end, the predicates [2], [last()], [@a='v'], [b/c='v'], [.='v'], `a | b` and `count(a)`";
const NAME_EACH: &str = "a path names every element on the way down";

fn problem<T>(offset: usize, message: impl Into<String>, hint: &str) -> Result<T, PathProblem> {
    let hint = (!hint.is_empty()).then(|| hint.to_owned());
    Err(PathProblem { offset, message: message.into(), hint })
}

/// Reads a path.
pub(super) fn parse(text: &str) -> Result<RawPath, PathProblem> {
    if text.is_empty() {
        return problem(0, "an empty path", "`.` is the event's element itself");
    }
    if text.trim() != text {
        return problem(0, "white space around a path", "leave it out");
    }
    let mut scanner = Scanner::new(text);
    let mut branches: Vec<RawBranch> = Vec::new();
    loop {
        let offset = scanner.at();
        if branches.iter().any(|branch| branch.count) {
            return problem(
                offset,
                "an alternative behind `count(...)`",
                "a count is always there: put it last",
            );
        }
        branches.push(branch(&mut scanner)?);
        scanner.blanks();
        if scanner.is_at_end() {
            return Ok(RawPath { branches });
        }
        if !scanner.eat("|") {
            return unexpected(&scanner);
        }
        scanner.blanks();
    }
}

fn branch(scanner: &mut Scanner<'_>) -> Result<RawBranch, PathProblem> {
    let offset = scanner.at();
    if !scanner.eat_call("count") {
        return location(scanner);
    }
    scanner.blanks();
    let counted = scanner.at();
    let mut branch = location(scanner)?;
    if branch.end == RawEnd::Text {
        return problem(counted, "`text()` cannot be counted", "count elements or attributes");
    }
    scanner.blanks();
    if scanner.rest().starts_with('|') {
        return problem(
            scanner.at(),
            "`|` inside of `count(...)`",
            "count one path; alternatives stand outside",
        );
    }
    if !scanner.eat(")") {
        return if scanner.is_at_end() {
            problem(scanner.at(), "`count(` without its `)`", "close it")
        } else {
            unexpected(scanner)
        };
    }
    branch.offset = offset;
    branch.count = true;
    Ok(branch)
}

/// Reads one alternative without `count`.
fn location(scanner: &mut Scanner<'_>) -> Result<RawBranch, PathProblem> {
    let offset = scanner.at();
    let absolute = scanner.eat("/");
    let mut branch =
        RawBranch { offset, absolute, up: 0, steps: Vec::new(), end: RawEnd::Element, count: false };
    if absolute && (scanner.is_at_end() || scanner.rest().starts_with([' ', '|', ')'])) {
        return problem(offset, "`/` names no element", "`.` is the event's element itself");
    }
    if !absolute && scanner.eat_dot() {
        return match scanner.rest().chars().next() {
            Some('/') => problem(
                offset,
                "`.` beside other steps",
                "leave out `./`: a path begins at the event's element",
            ),
            Some('[') => problem(scanner.at(), "a predicate behind `.`", "a predicate stands behind a name"),
            _ => Ok(branch),
        };
    }
    while !absolute && scanner.eat("..") {
        branch.up += 1;
        if scanner.rest().starts_with('[') {
            return problem(scanner.at(), "a predicate behind `..`", "a predicate stands behind a name");
        }
        if !scanner.eat("/") {
            return Ok(branch);
        }
    }
    loop {
        step(scanner, &mut branch)?;
        let slash = scanner.at();
        if !scanner.eat("/") {
            return Ok(branch);
        }
        if scanner.rest().starts_with('/') {
            return problem(slash, "`//` is not known in paths", NAME_EACH);
        }
        match branch.end {
            RawEnd::Element => {}
            RawEnd::Text => return problem(scanner.at(), "a step behind `text()`", "`text()` ends the path"),
            RawEnd::Attribute(_) => {
                let hint = "an attribute has nothing inside: it ends the path";
                return problem(scanner.at(), "a step behind an attribute", hint);
            }
        }
    }
}

/// Reads one step downwards with its predicates.
fn step(scanner: &mut Scanner<'_>, branch: &mut RawBranch) -> Result<(), PathProblem> {
    let offset = scanner.at();
    let rest = scanner.rest();
    if rest.starts_with('/') {
        return problem(offset.saturating_sub(1), "`//` is not known in paths", NAME_EACH);
    }
    if rest.starts_with("..") {
        return problem(offset, "`..` behind other steps", "`..` stands at the beginning of a path alone");
    }
    if rest.starts_with('.') {
        let hint = "leave out `./`: a path begins at the event's element";
        return problem(offset, "`.` beside other steps", hint);
    }
    if scanner.eat("@") {
        branch.end = RawEnd::Attribute(scanner.name()?);
        return match scanner.rest().chars().next() {
            Some('[') => {
                let hint = "a predicate stands behind the name of an element";
                problem(scanner.at(), "a predicate behind an attribute", hint)
            }
            _ => Ok(()),
        };
    }
    if scanner.eat_call("text") {
        if !scanner.eat(")") {
            return problem(scanner.at(), "`text(` without its `)`", "write `text()`");
        }
        branch.end = RawEnd::Text;
        return Ok(());
    }
    let name = scanner.name()?;
    let mut predicates = Vec::new();
    while scanner.rest().starts_with('[') {
        predicates.push(predicate(scanner)?);
    }
    branch.steps.push(RawStep { name, predicates });
    Ok(())
}

fn predicate(scanner: &mut Scanner<'_>) -> Result<RawPredicate, PathProblem> {
    let open = scanner.at();
    scanner.eat("[");
    scanner.blanks();
    let offset = scanner.at();
    let predicate = if scanner.rest().starts_with(|c: char| c.is_ascii_digit()) {
        match scanner.digits().parse() {
            Ok(number) if number > 0 => RawPredicate::Nth(number),
            _ => return problem(offset, "a position that no element has", "[1] is the first one"),
        }
    } else if scanner.eat_call("last") {
        if !scanner.eat(")") {
            return problem(scanner.at(), "`last(` without its `)`", "write [last()]");
        }
        RawPredicate::Last
    } else {
        equals(scanner)?
    };
    scanner.blanks();
    if scanner.eat("]") {
        return Ok(predicate);
    }
    if scanner.is_at_end() {
        return problem(open, "`[` without its `]`", "close it");
    }
    let behind = scanner.at();
    let word = scanner.word();
    match word {
        "and" => problem(behind, "`and` is not known in paths", "write two predicates: [@a='v'][@b='w']"),
        "or" => {
            problem(behind, "`or` is not known in paths", "write two alternatives: a[@b='v'] | a[@b='w']")
        }
        _ => unexpected(scanner),
    }
}

/// Reads `path='v'`.
fn equals(scanner: &mut Scanner<'_>) -> Result<RawPredicate, PathProblem> {
    let (mut steps, mut attribute) = (Vec::new(), None);
    let mut whole = scanner.eat_dot();
    while !whole {
        if scanner.eat("@") {
            attribute = Some(scanner.name()?);
            break;
        }
        if scanner.eat_call("text") {
            if !scanner.eat(")") {
                return problem(scanner.at(), "`text(` without its `)`", "write `text()`");
            }
            break;
        }
        if scanner.rest().starts_with("..") {
            return problem(scanner.at(), "`..` in a predicate", "a predicate looks down from its element");
        }
        if scanner.rest().starts_with('/') {
            return problem(
                scanner.at(),
                "`/` at the beginning of a predicate",
                "a predicate looks down from its element",
            );
        }
        steps.push(scanner.name()?);
        if scanner.rest().starts_with('[') {
            return problem(
                scanner.at(),
                "a predicate in a predicate",
                "[a/b='v'] has names alone in front of the `=`",
            );
        }
        whole = !scanner.eat("/");
    }
    scanner.blanks();
    if scanner.rest().starts_with(']') || scanner.is_at_end() {
        return problem(scanner.at(), "a predicate that compares nothing", "write [a='v']");
    }
    if !scanner.eat("=") {
        return unexpected(scanner);
    }
    scanner.blanks();
    let offset = scanner.at();
    let Some(quote) = ["'", "\""].into_iter().find(|quote| scanner.eat(quote)) else {
        return problem(offset, "a predicate that compares with something else than a text", "write [a='v']");
    };
    match scanner.until(quote) {
        Some(value) => Ok(RawPredicate::Equals { steps, attribute, value: value.to_owned() }),
        None => problem(offset, "a text without its closing quotation mark", "write [a='v']"),
    }
}

/// What stands here is of XPath, perhaps, and not known.
fn unexpected<T>(scanner: &Scanner<'_>) -> Result<T, PathProblem> {
    problem(scanner.at(), format!("{} is not known in paths", scanner.shown_here()), SUPPORTED)
}

/// Reads `local` or `prefix:local` of a text that is one name.
pub(super) fn name_of(text: &str, offset: usize) -> Result<RawName, PathProblem> {
    let (prefix, local) = match text.split_once(':') {
        Some((prefix, local)) => (Some(prefix), local),
        None => (None, text),
    };
    let is_nc_name = super::names::is_nc_name;
    if !prefix.is_none_or(is_nc_name) || !is_nc_name(local) {
        return problem(
            offset,
            format!("{} is not an XML name", super::checker::quote(text)),
            "a name is `name` or `prefix:name`, of letters, digits, `_`, `-` and `.`, and begins with a letter or `_`",
        );
    }
    Ok(RawName { prefix: prefix.map(str::to_owned), local: local.to_owned(), offset })
}

#[cfg(test)]
mod tests;
