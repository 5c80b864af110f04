//! Names: of XML elements to names of fields, tables and columns.
//!
//! In:        local names     Out: snake_case, ASCII, no two alike; quoted where SQL has a word of its own
//! Fails:     never: what has no ASCII letter is named `value`
//! Not here:  prefixes of namespaces (`prefixes`)

mod reserved;

use reserved::RESERVED;
use std::collections::HashSet;

/// Longest name of a field, and of a column in MySQL.
const CHARS_MAX: usize = 64;
/// Room for a number behind a name that is there already.
const CHARS_KEPT: usize = 58;

/// `ElctrncSeqNb` to `elctrnc_seq_nb`: of a-z, 0-9 and `_`, beginning with a letter.
pub(super) fn snake(local: &str) -> String {
    let chars: Vec<char> = local.chars().collect();
    let mut out = String::new();
    for (index, c) in chars.iter().enumerate() {
        if !c.is_ascii_alphanumeric() {
            if !out.is_empty() && !out.ends_with('_') {
                out.push('_');
            }
            continue;
        }
        let before = index.checked_sub(1).and_then(|before| chars.get(before));
        let behind = chars.get(index + 1);
        let begins = c.is_ascii_uppercase()
            && before.is_some_and(|b| {
                b.is_ascii_lowercase()
                    || b.is_ascii_digit()
                    || (b.is_ascii_uppercase() && behind.is_some_and(char::is_ascii_lowercase))
            });
        if begins && !out.ends_with('_') {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    let trimmed = out.trim_matches('_');
    let named = match trimmed.chars().next() {
        None => "value".to_owned(),
        Some(c) if c.is_ascii_alphabetic() => trimmed.to_owned(),
        Some(_) => format!("n{trimmed}"),
    };
    named.chars().take(CHARS_MAX).collect()
}

/// What a name is made of: the local names on the way to it, of which so many at the end are used.
pub(super) struct Chain {
    /// From the outside in; at least one.
    pub(super) parts: Vec<String>,
    /// As many as these are used in any case.
    pub(super) least: usize,
}

/// A name for each chain, no two alike and none of `taken`, with as many parts of it as are needed.
pub(super) fn unique(chains: &[Chain], taken: &HashSet<String>) -> Vec<String> {
    let mut used: Vec<usize> =
        chains.iter().map(|chain| chain.least.clamp(1, chain.parts.len().max(1))).collect();
    let name = |chain: &Chain, used: usize| {
        let skipped = chain.parts.len().saturating_sub(used);
        let parts: Vec<String> = chain.parts.iter().skip(skipped).map(|part| snake(part)).collect();
        let joined = without_stutter(&parts);
        joined.chars().take(CHARS_KEPT).collect::<String>().trim_end_matches('_').to_owned()
    };
    // Each round lengthens a name or is the last.
    loop {
        let names: Vec<String> = chains.iter().zip(&used).map(|(chain, used)| name(chain, *used)).collect();
        let mut grown = false;
        for (index, chain) in chains.iter().enumerate() {
            let Some(mine) = names.get(index) else { continue };
            let twice = taken.contains(mine) || names.iter().filter(|other| *other == mine).count() > 1;
            if let Some(used) = used.get_mut(index).filter(|used| twice && **used < chain.parts.len()) {
                *used += 1;
                grown = true;
            }
        }
        if !grown {
            return numbered(names, taken);
        }
    }
}

/// Numbers behind names that are still alike.
fn numbered(names: Vec<String>, taken: &HashSet<String>) -> Vec<String> {
    let mut given = taken.clone();
    names
        .into_iter()
        .map(|name| {
            let mut candidates =
                std::iter::once(name.clone()).chain((2_u32..).map(|number| format!("{name}_{number}")));
            let fresh = candidates.find(|candidate| !given.contains(candidate)).unwrap_or(name);
            given.insert(fresh.clone());
            fresh
        })
        .collect()
}

/// `order`, `order_id` to `order_id`; `id`, `id` to `id_id`, which is longer than `id` at least.
fn without_stutter(parts: &[String]) -> String {
    let mut out = String::new();
    for (index, part) in parts.iter().enumerate() {
        let repeats = parts.get(index + 1).is_some_and(|next| next.starts_with(&format!("{part}_")));
        if repeats {
            continue;
        }
        if !out.is_empty() {
            out.push('_');
        }
        out.push_str(part);
    }
    out
}

/// A name as SQL takes it: quoted where it is a word of MySQL, MariaDB or SQLite, or no plain name.
pub(super) fn sql_name(name: &str, quote: char) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && !RESERVED.contains(&name.to_ascii_lowercase().as_str()) {
        return name.to_owned();
    }
    let doubled: String =
        name.chars().flat_map(|c| std::iter::repeat_n(c, if c == quote { 2 } else { 1 })).collect();
    format!("{quote}{doubled}{quote}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_names_to_snake_case() {
        for (local, name) in [
            ("ElctrncSeqNb", "elctrnc_seq_nb"),
            ("IBAN", "iban"),
            ("orderID", "order_id"),
            ("XMLHttpRequest", "xml_http_request"),
            ("UN-Code.2", "un_code_2"),
            ("a__b", "a_b"),
            ("_x", "x"),
            ("Größe", "gr_e"),
            ("日本", "value"),
            ("Dt2Tm", "dt2_tm"),
        ] {
            assert_eq!(snake(local), name, "{local}");
        }
        assert_eq!(snake(&"x".repeat(99)).len(), 64);
    }

    fn chain(parts: &[&str], least: usize) -> Chain {
        Chain { parts: parts.iter().map(|part| (*part).to_owned()).collect(), least }
    }

    #[test]
    fn names_grow_until_no_two_are_alike() {
        let chains = [
            chain(&["Acct", "Id", "IBAN"], 1),
            chain(&["CdtrAcct", "Id", "IBAN"], 1),
            chain(&["Amt"], 1),
            chain(&["Amt", "Ccy"], 2),
            chain(&["order", "orderID"], 2),
            chain(&["x", "same"], 1),
            chain(&["x", "same"], 1),
        ];
        let taken = HashSet::from(["amt".to_owned()]);
        let names = unique(&chains, &taken);
        assert_eq!(
            names,
            ["acct_id_iban", "cdtr_acct_id_iban", "amt_2", "amt_ccy", "order_id", "x_same", "x_same_2"]
        );
    }

    #[test]
    fn sql_names_are_quoted_where_they_must_be() {
        assert_eq!(sql_name("order_id", '`'), "order_id");
        assert_eq!(sql_name("Order", '`'), "`Order`");
        assert_eq!(sql_name("a b`c", '`'), "`a b``c`");
        assert_eq!(sql_name("a \"b", '"'), "\"a \"\"b\"");
        assert!(RESERVED.is_sorted());
    }
}
