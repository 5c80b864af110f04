//! Paths of tests, in the job file's words.

use super::*;
use crate::job::Predicate;

impl Job {
    /// Every form that a path has.
    pub(super) fn path(&self, text: &str) -> Path {
        let branches = text.split('|').map(|branch| self.branch(branch.trim())).collect();
        Path { text: text.to_owned(), branches }
    }

    fn branch(&self, text: &str) -> Branch {
        if let Some(inside) = text.strip_prefix("count(").and_then(|rest| rest.strip_suffix(')')) {
            let branch = self.branch(inside);
            let end = match branch.end {
                End::Attribute(name) => End::Count(Some(name)),
                End::Element | End::Count(_) => End::Count(None),
            };
            return Branch { end, ..branch };
        }
        let mut parts = pieces(text);
        let from = match text.strip_prefix('/') {
            Some(_) => Base::Root,
            None => Base::Here { up: parts.iter().take_while(|part| **part == "..").count() },
        };
        parts.retain(|part| !part.is_empty() && !matches!(*part, "." | ".." | "text()"));
        let attribute = parts.last().and_then(|last| last.strip_prefix('@')).map(|name| self.name(name));
        if attribute.is_some() {
            parts.pop();
        }
        let steps = parts.into_iter().map(|part| self.step(part)).collect();
        Branch { from, steps, end: attribute.map_or(End::Element, End::Attribute) }
    }

    pub(super) fn steps(&self, text: &str) -> Vec<PathStep> {
        self.branch(text).steps
    }

    fn step(&self, text: &str) -> PathStep {
        let (name, predicates) = text.split_once('[').unwrap_or((text, ""));
        let predicates = predicates.split('[').filter(|text| !text.is_empty());
        let predicates = predicates.map(|text| self.predicate(text.strip_suffix(']').unwrap())).collect();
        PathStep { name: self.name(name), predicates }
    }

    fn predicate(&self, text: &str) -> Predicate {
        if text == "last()" {
            return Predicate::Last;
        }
        let Some((operand, value)) = text.split_once('=') else {
            return Predicate::Nth(text.parse().unwrap());
        };
        let mut parts: Vec<&str> = operand.split('/').filter(|part| *part != ".").collect();
        let attribute = parts.last().and_then(|last| last.strip_prefix('@')).map(|name| self.name(name));
        if attribute.is_some() {
            parts.pop();
        }
        let steps = parts.into_iter().map(|part| self.name(part)).collect();
        Predicate::Equals { steps, attribute, value: value.trim_matches('\'').to_owned() }
    }
}

/// The steps, each with its predicates: `/` inside brackets parts nothing.
fn pieces(text: &str) -> Vec<&str> {
    let mut inside = 0;
    text.split(|c| {
        match c {
            '[' => inside += 1,
            ']' => inside -= 1,
            _ => {}
        }
        c == '/' && inside == 0
    })
    .collect()
}
