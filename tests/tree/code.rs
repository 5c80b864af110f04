//! Rust text as far as its boundaries need it: without comments and strings, and the paths that it names.
//!
//! In:        the text of a file
//! Out:       code; paths from the crate's root, groups of a `use` taken apart
//! Not here:  no grammar of Rust. `super` inside of an inline module counts from the file's own module

/// The text with its comments gone, and its strings and characters emptied.
pub(super) fn without_comments_and_strings(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut out = String::with_capacity(text.len());
    let mut i = 0;
    while i < chars.len() {
        match (at(i), at(i + 1)) {
            ('/', '/') => i = end_of(&chars, i, |j| at(j) == '\n'),
            ('/', '*') => i = end_of(&chars, i + 2, |j| at(j) == '*' && at(j + 1) == '/') + 2,
            ('r', '"' | '#') if !is_word(at(i.wrapping_sub(1))) && raw_hashes(&chars, i + 1).is_some() => {
                let hashes = raw_hashes(&chars, i + 1).unwrap_or(0);
                let closes = |j: usize| at(j) == '"' && (1..=hashes).all(|n| at(j + n) == '#');
                i = end_of(&chars, i + hashes + 2, closes) + hashes + 1;
                out.push_str("\"\"");
            }
            ('"', _) => {
                i += 1;
                while i < chars.len() && at(i) != '"' {
                    i += if at(i) == '\\' { 2 } else { 1 };
                }
                i += 1;
                out.push_str("\"\"");
            }
            ('\'', '\\') => i = end_of(&chars, i + 3, |j| at(j) == '\'') + 1,
            ('\'', _) if at(i + 2) == '\'' => i += 3,
            (c, _) => {
                out.push(c);
                i += 1;
            }
        }
    }
    out
}

fn end_of(chars: &[char], from: usize, ends: impl Fn(usize) -> bool) -> usize {
    (from..chars.len()).find(|j| ends(*j)).unwrap_or(chars.len())
}

/// How many `#` stand in front of a raw string's quotation mark; none: it is no raw string.
fn raw_hashes(chars: &[char], from: usize) -> Option<usize> {
    let hashes = chars.iter().skip(from).take_while(|c| **c == '#').count();
    (chars.get(from + hashes) == Some(&'"')).then_some(hashes)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Code in front of the file's inline tests, which are at its end.
pub(super) fn without_inline_tests(code: &str) -> &str {
    code.find("#[cfg(test)]\nmod ").map_or(code, |at| code.get(..at).unwrap_or(code))
}

/// Whether the code names something of this crate: `rdkafka::...`, `use rdkafka`.
pub(super) fn names_crate(code: &str, name: &str) -> bool {
    code.match_indices(name).any(|(at, _)| {
        let before = code.get(..at).unwrap_or("");
        let behind = code.get(at + name.len()..).unwrap_or("");
        let is_path = behind.starts_with("::") || before.trim_end().ends_with("use");
        is_path && !before.ends_with(|c| is_word(c) || c == ':' || c == '.') && !behind.starts_with(is_word)
    })
}

/// Every path from the crate's root that a file names by `crate::` and `super::`.
pub(super) fn own_paths(path: &str, code: &str) -> Vec<Vec<String>> {
    let module = module_of(path);
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        if !code.get(..at).is_some_and(|before| before.ends_with(is_word)) {
            tree(code.get(at + "crate::".len()..).unwrap_or(""), &[], &mut found);
        }
    }
    for (at, _) in code.match_indices("super::") {
        let before = code.get(..at).unwrap_or("");
        if before.ends_with(|c| is_word(c) || c == ':') {
            continue;
        }
        let mut base = module.clone();
        let mut rest = code.get(at..).unwrap_or("");
        while let Some(behind) = rest.strip_prefix("super::") {
            base.pop();
            rest = behind;
        }
        tree(rest, &base, &mut found);
    }
    found
}

/// `src/operator/gate/lane.rs` is `operator::gate::lane`.
fn module_of(path: &str) -> Vec<String> {
    let inside = path.trim_start_matches("src/").trim_end_matches(".rs");
    inside.split('/').filter(|part| !matches!(*part, "lib" | "main")).map(str::to_owned).collect()
}

/// Reads `a::b`, `a::{b, c::d}` or `*`; gives what is left.
fn tree<'t>(text: &'t str, base: &[String], found: &mut Vec<Vec<String>>) -> &'t str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = tree(rest, base, found).trim_start();
            match rest.strip_prefix(',') {
                Some(behind) if !behind.trim_start().starts_with('}') => rest = behind,
                Some(behind) => return behind.trim_start().strip_prefix('}').unwrap_or(""),
                None => return rest.strip_prefix('}').unwrap_or(""),
            }
        }
    }
    let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
    let (name, rest) = text.split_at(if text.starts_with('*') { 1 } else { end });
    let mut path = base.to_vec();
    path.push(name.to_owned());
    if let Some(behind) =
        rest.strip_prefix("::").filter(|b| b.starts_with(|c| is_word(c) || c == '{' || c == '*'))
    {
        return tree(behind, &path, found);
    }
    found.push(path);
    match rest.trim_start().strip_prefix("as ") {
        Some(alias) => alias.trim_start().trim_start_matches(is_word),
        None => rest,
    }
}

#[test]
fn comments_and_strings_are_left_out() {
    let text = "a // \"x\"\n/* b */ c(\"d \\\" e\", r#\"f \" g\"#, 'h', '\\'', '\"') as &'static str; r\"i\"";
    assert_eq!(without_comments_and_strings(text), "a \n c(\"\", \"\", , , ) as &'static str; \"\"");
}

#[test]
fn paths_are_taken_apart() {
    let code = "use crate::{a, b::{C, d::*, e as f,}, g::H as I}; crate::j::K::new(super::l::M)";
    let found: Vec<String> = own_paths("src/x/y.rs", code).into_iter().map(|path| path.join("::")).collect();
    assert_eq!(found, ["a", "b::C", "b::d::*", "b::e", "g::H", "j::K::new", "x::l::M"]);
    assert!(names_crate("use rdkafka;", "rdkafka") && names_crate("let x = rdkafka::y();", "rdkafka"));
    assert!(!names_crate("my_rdkafka::x(self.rdkafka)", "rdkafka"));
}
