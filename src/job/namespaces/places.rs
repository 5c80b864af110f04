//! Paths to what they mean: where they begin, and names expanded.
//!
//! In:        paths as they are written, and what is known of the event's element
//! Out:       a [`Path`]; an absolute one that begins with the event's element, which is the root, is made relative to it
//! Fails:     a path that can never match, or that leads out of the document

use super::super::checker::{Checker, Text, quote};
use super::super::paths::{RawBranch, RawEnd, RawPath, RawPredicate, parse};
use super::super::{Base, Branch, End, Name, Path, PathStep, Predicate};
use super::{Namespaces, say};

/// What is known of the event's element.
#[derive(Clone, Default)]
pub(in crate::job) enum Each {
    /// `event.each` is left out: the root element, whatever its name is.
    #[default]
    Root,
    /// `event.each` is wrong, which has been said already.
    Wrong,
    /// Its steps, from the root; at least one.
    Steps(Vec<PathStep>),
}

/// Whether a path begins at a list's row, and how many elements that is below the event's.
#[derive(Clone, Copy, Default)]
pub(super) enum Rows {
    /// It begins at the event's element.
    #[default]
    None,
    /// At a row; none: not known how deep.
    Below(Option<usize>),
}

impl Each {
    /// How many elements there are from the root to the event's, both counted; none: not known.
    fn depth(&self) -> Option<usize> {
        match self {
            Each::Root => Some(1),
            Each::Wrong => None,
            Each::Steps(steps) => Some(steps.len()),
        }
    }
}

impl Namespaces {
    /// The same for the paths in a list, whose rows are so many elements below the event's; none: not known.
    pub(in crate::job) fn in_rows(&self, depth: Option<usize>) -> Namespaces {
        Namespaces { rows: Rows::Below(depth), ..self.clone() }
    }

    /// Reads `event.each`: elements from the root.
    pub(in crate::job) fn read_each(&self, checker: &mut Checker<'_>, text: &Text) -> Option<Vec<PathStep>> {
        let raw = read(checker, text)?;
        let hint =
            "write `/` and the names from the root element down, such as `/s:order` or `/s:orders/s:order`";
        match raw.branches.as_slice() {
            [branch] if branch.absolute && branch.end == RawEnd::Element && !branch.count => {
                self.steps(checker, text, branch)
            }
            _ => wrong_place(checker, text, "must be the path of elements from the root", hint),
        }
    }

    /// Reads `each` of a list: elements below the event's, or below the parent's row.
    pub(in crate::job) fn read_rows(&self, checker: &mut Checker<'_>, text: &Text) -> Option<Vec<PathStep>> {
        let raw = read(checker, text)?;
        let hint = "write the names from the event's element down, or, in a list inside of another, from its row down, \
                    such as `s:lines/s:line`";
        match raw.branches.as_slice() {
            [branch]
                if !branch.absolute
                    && branch.up == 0
                    && !branch.steps.is_empty()
                    && branch.end == RawEnd::Element
                    && !branch.count =>
            {
                self.steps(checker, text, branch)
            }
            _ => wrong_place(checker, text, "must be the path of elements downwards", hint),
        }
    }

    /// Reads a path; `None`: the error is recorded.
    pub(in crate::job) fn path(&self, checker: &mut Checker<'_>, text: &Text) -> Option<Path> {
        let raw = read(checker, text)?;
        let branches: Vec<Option<Branch>> =
            raw.branches.iter().map(|branch| self.branch(checker, text, branch)).collect();
        let branches: Vec<Branch> = branches.into_iter().collect::<Option<_>>()?;
        for (number, (branch, raw)) in branches.iter().zip(&raw.branches).enumerate() {
            if branches.iter().take(number).any(|earlier| earlier == branch) {
                let hint = Some("name each alternative once".to_owned());
                checker.error_in(text, raw.offset, "an alternative that is there twice", hint);
                return None;
            }
        }
        Some(Path { text: text.value.clone(), branches })
    }

    fn branch(&self, checker: &mut Checker<'_>, text: &Text, raw: &RawBranch) -> Option<Branch> {
        let steps = self.steps(checker, text, raw);
        let attribute = match &raw.end {
            RawEnd::Attribute(name) => Some(self.name(checker, text, name)?),
            RawEnd::Element | RawEnd::Text => None,
        };
        let end = match (raw.count, attribute) {
            (true, attribute) => End::Count(attribute),
            (false, Some(name)) => End::Attribute(name),
            (false, None) => End::Element,
        };
        let (from, steps) = if raw.absolute {
            self.starts_at_root(checker, text, raw, steps?)?
        } else {
            (self.starts_here(checker, text, raw)?, steps?)
        };
        Some(Branch { from, steps, end })
    }

    fn starts_here(&self, checker: &mut Checker<'_>, text: &Text, raw: &RawBranch) -> Option<Base> {
        let below = match self.rows {
            Rows::None => Some(0),
            Rows::Below(depth) => depth,
        };
        let depth = self.each.depth().zip(below).map(|(depth, below)| depth + below);
        if depth.is_some_and(|depth| raw.up >= depth) {
            let hint =
                "nothing is above the root element: write the path from the root, which begins with `/`";
            checker.error_in(
                text,
                raw.offset,
                "a path that leads out of the document",
                Some(hint.to_owned()),
            );
            return None;
        }
        Some(Base::Here { up: raw.up })
    }

    /// Where an absolute path begins. Where the event's element is the root, its first step names it, and is left out.
    fn starts_at_root(
        &self,
        checker: &mut Checker<'_>,
        text: &Text,
        raw: &RawBranch,
        mut steps: Vec<PathStep>,
    ) -> Option<(Base, Vec<PathStep>)> {
        let each = match &self.each {
            Each::Wrong => return None,
            Each::Root => return Some((Base::Root, steps)),
            Each::Steps(each) => each,
        };
        let (Some(root), Some(first)) = (each.first(), steps.first()) else {
            let hint = "a path from the root begins with the root element's name".to_owned();
            checker.error_in(text, raw.offset, format!("{} names no element", text.quoted()), Some(hint));
            return None;
        };
        if root.name != first.name {
            let root =
                if self.each_by_variable { "that of event.each".to_owned() } else { root_words(&root.name) };
            let message = format!(
                "{} can never match: the root element is {root}, not {}",
                text.quoted(),
                text.quoted_part(&raw.steps.first().map(|step| written(&step.name)).unwrap_or_default()),
            );
            let hint =
                "an absolute path begins with the element of event.each; names match by namespace, too";
            checker.error_of(text, message, Some(hint.to_owned()));
            return None;
        }
        if each.len() == 1 && root == first && matches!(self.rows, Rows::None) {
            steps.remove(0);
            return Some((Base::Here { up: 0 }, steps));
        }
        Some((Base::Root, steps))
    }

    fn steps(&self, checker: &mut Checker<'_>, text: &Text, raw: &RawBranch) -> Option<Vec<PathStep>> {
        let mut steps = Vec::new();
        for step in &raw.steps {
            let name = self.name(checker, text, &step.name);
            let predicates: Vec<Option<Predicate>> =
                step.predicates.iter().map(|predicate| self.predicate(checker, text, predicate)).collect();
            let predicates: Option<Vec<Predicate>> = predicates.into_iter().collect();
            steps.push(name.zip(predicates).map(|(name, predicates)| PathStep { name, predicates }));
        }
        steps.into_iter().collect()
    }

    fn predicate(&self, checker: &mut Checker<'_>, text: &Text, raw: &RawPredicate) -> Option<Predicate> {
        match raw {
            RawPredicate::Nth(number) => Some(Predicate::Nth(*number)),
            RawPredicate::Last => Some(Predicate::Last),
            RawPredicate::Equals { steps, attribute, value } => {
                let steps: Vec<Option<Name>> =
                    steps.iter().map(|name| self.name(checker, text, name)).collect();
                let attribute = match attribute {
                    Some(name) => Some(self.name(checker, text, name)?),
                    None => None,
                };
                let steps = steps.into_iter().collect::<Option<_>>()?;
                Some(Predicate::Equals { steps, attribute, value: value.clone() })
            }
        }
    }
}

fn read(checker: &mut Checker<'_>, text: &Text) -> Option<RawPath> {
    match parse(&text.value) {
        Ok(raw) => Some(raw),
        Err(problem) => say(checker, text, problem),
    }
}

fn wrong_place<T>(checker: &mut Checker<'_>, text: &Text, must: &str, hint: &str) -> Option<T> {
    checker.error_of(text, format!("{must}, got {}", text.quoted()), Some(hint.to_owned()));
    None
}

fn written(name: &super::RawName) -> String {
    match &name.prefix {
        Some(prefix) => format!("{prefix}:{}", name.local),
        None => name.local.clone(),
    }
}

fn root_words(name: &Name) -> String {
    match &name.namespace {
        Some(uri) => format!("`{}` in {}", name.local, quote(uri)),
        None => format!("`{}` in no namespace", name.local),
    }
}
