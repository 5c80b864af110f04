//! Paths as everything else reads them: prefixes resolved, nothing left to check.

/// An expanded XML name: matched by namespace URI and local name, never by prefix.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name {
    /// `None`: in no namespace.
    pub namespace: Option<String>,
    /// The local name.
    pub local: String,
}

/// One path of the job file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    /// As the user wrote it, for messages.
    pub text: String,
    /// `a | b`: the first that is there counts. At least one.
    pub branches: Vec<Branch>,
}

/// One alternative of a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Branch {
    /// Where it begins.
    pub from: Base,
    /// Downwards.
    pub steps: Vec<PathStep>,
    /// What it gives.
    pub end: End,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Base {
    /// Above the root element: the first step names it.
    Root,
    /// At the event's element, or, in a list, at the row's element; so many `..` above it.
    Here {
        /// 0: the element itself.
        up: usize,
    },
}

/// One element on the way down.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PathStep {
    /// The element's name.
    pub name: Name,
    /// All must hold, and each counts among those that the earlier ones have left.
    pub predicates: Vec<Predicate>,
}

/// What an element must be to be taken.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Predicate {
    /// `[n]`: the n-th of its parent's children that are left, from 1.
    Nth(usize),
    /// `[last()]`
    Last,
    /// `[@a='v']`, `[child/path='v']`, `[.='v']`: one of the texts that the operand finds is the value.
    Equals {
        /// Element steps downwards; none: the element itself.
        steps: Vec<Name>,
        /// The attribute at the end, else the own text.
        attribute: Option<Name>,
        /// The literal.
        value: String,
    },
}

/// What a path gives.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// The element: its own text, or, for the type `xml`, its bytes.
    Element,
    /// An attribute of the last element.
    Attribute(Name),
    /// `count(...)` of the elements (`None`) or attributes; zero where there is none, never absent.
    Count(Option<Name>),
}
