//! The grammar of paths: `s:lines/s:line/@id`, `/s:order/s:total`, `text()`, `.`
//!
//! In:        a path as it is written
//! Out:       its steps with their prefixes, or what is wrong and where
//! Not here:  no prefix is resolved and no root is known: that is `namespaces`

use super::names::is_nc_name;

/// A path that is well formed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RawPath {
    /// Begins with `/`.
    pub(super) absolute: bool,
    /// Elements.
    pub(super) steps: Vec<RawName>,
    /// The attribute at the end.
    pub(super) attribute: Option<RawName>,
    /// Ends with `text()`.
    pub(super) text_step: bool,
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

fn problem<T>(offset: usize, message: impl Into<String>, hint: &str) -> Result<T, PathProblem> {
    let hint = (!hint.is_empty()).then(|| hint.to_owned());
    Err(PathProblem { offset, message: message.into(), hint })
}

/// Reads a path.
pub(super) fn parse(text: &str) -> Result<RawPath, PathProblem> {
    if text.is_empty() {
        return problem(0, "an empty path", "`.` is the event's element itself");
    }
    refuse_what_is_not_built(text)?;
    refuse_other_xpath(text)?;
    let (absolute, relative) = match text.strip_prefix('/') {
        Some(relative) => (true, relative),
        None => (false, text),
    };
    let mut path = RawPath { absolute, steps: Vec::new(), attribute: None, text_step: false };
    if text == "." {
        return Ok(path);
    }
    let mut offset = text.len() - relative.len();
    for step in relative.split('/') {
        if path.attribute.is_some() {
            return problem(
                offset,
                "a step behind an attribute",
                "an attribute has nothing inside: it ends the path",
            );
        }
        if path.text_step {
            return problem(offset, "a step behind `text()`", "`text()` ends the path");
        }
        add_step(&mut path, step, offset)?;
        offset += step.len() + 1;
    }
    Ok(path)
}

fn add_step(path: &mut RawPath, step: &str, offset: usize) -> Result<(), PathProblem> {
    if step.is_empty() {
        return problem(offset, "an empty step", "one `/` stands between two names, and none at the end");
    }
    if step == "." {
        return problem(
            offset,
            "`.` beside other steps",
            "leave out `./`: a path begins at the event's element",
        );
    }
    if step == "text()" {
        path.text_step = true;
        return Ok(());
    }
    match step.strip_prefix('@') {
        Some(name) => path.attribute = Some(name_of(name, offset + 1)?),
        None => path.steps.push(name_of(step, offset)?),
    }
    Ok(())
}

/// Reads `local` or `prefix:local`.
pub(super) fn name_of(text: &str, offset: usize) -> Result<RawName, PathProblem> {
    let (prefix, local) = match text.split_once(':') {
        Some((prefix, local)) => (Some(prefix), local),
        None => (None, text),
    };
    if !prefix.is_none_or(is_nc_name) || !is_nc_name(local) {
        return problem(
            offset,
            format!("{} is not an XML name", super::checker::quote(text)),
            "a name is `name` or `prefix:name`, of letters, digits, `_`, `-` and `.`, and begins with a letter or `_`",
        );
    }
    Ok(RawName { prefix: prefix.map(str::to_owned), local: local.to_owned(), offset })
}

fn refuse_what_is_not_built(text: &str) -> Result<(), PathProblem> {
    const BUILT: &str =
        "built are names of elements with `/` between them, and `@attribute` or `text()` at the end";
    if let Some(offset) = text.find('[') {
        return problem(offset, "predicates `[...]` in paths are not built yet in this version", BUILT);
    }
    if let Some(offset) = text.find("count(") {
        return problem(offset, "`count(...)` is not built yet in this version", BUILT);
    }
    if let Some(offset) = text.find('|') {
        return problem(offset, "alternatives `|` in paths are not built yet in this version", BUILT);
    }
    Ok(())
}

fn refuse_other_xpath(text: &str) -> Result<(), PathProblem> {
    const NAME_EACH: &str = "a path names every element on the way down";
    if let Some(offset) = text.find("//") {
        return problem(offset, "`//` is not known in paths", NAME_EACH);
    }
    if let Some(offset) = text.find('*') {
        return problem(offset, "`*` is not known in paths", NAME_EACH);
    }
    if let Some(offset) = text.find("::") {
        return problem(offset, "axes `::` are not known in paths", NAME_EACH);
    }
    if text.split('/').any(|step| step == "..") {
        let offset = text.find("..").unwrap_or(0);
        return problem(
            offset,
            "`..` is not known in paths",
            "a path goes down only; `/` begins at the root element",
        );
    }
    if text.trim() != text {
        return problem(0, "white space around a path", "");
    }
    if text == "/" {
        return problem(0, "`/` names no element", "`.` is the event's element itself");
    }
    Ok(())
}
