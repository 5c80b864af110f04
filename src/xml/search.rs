//! What a path finds from one element.
//!
//! In:        a path and an element     Out: nothing, one thing, two of them, a number; or all of them
//! Order:     document order; of alternatives the first that finds something
//! Fails:     never
//! Not here:  whether two are too many (see `judge`)

use super::found::{AttributeHere, ElementIndex, Instance, wide};
use super::plan::{AttributeIndex, BranchPlan, EndPlan, NodeIndex, PathPlan, Walked};
use super::run::{Elements, Runs, World};

/// An element, told among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    pub(super) node: NodeIndex,
    pub(super) element: ElementIndex,
}

/// One thing that a path finds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    Element(At, Instance),
    Attribute(AttributeHere),
}

/// What a path finds where there should be one thing.
#[derive(Clone, Copy, Debug)]
pub(super) enum Finding {
    Nothing,
    One(Item),
    /// The second, which is one too many.
    Two(Item),
    Count(usize),
}

impl Item {
    /// Where it begins in the document's text.
    pub(super) fn start(&self) -> usize {
        wide(match self {
            Item::Element(_, instance) => instance.start,
            Item::Attribute(here) => here.start,
        })
    }
}

/// The elements behind an operation, seen from an element.
pub(super) fn elements<'a>(world: World<'_>, runs: &'a mut Runs, walked: &Walked, from: At) -> Elements<'a> {
    let (_, element) = world.found.above(world.plan, from.node, from.element, walked.up);
    runs.ask(world, walked.program, walked.op, element)
}

/// The one thing that a path finds.
pub(super) fn find(world: World<'_>, runs: &mut Runs, path: &PathPlan, from: At) -> Finding {
    let mut counted = None;
    for branch in &path.branches {
        if let EndPlan::Count(attribute) = branch.end {
            match count(world, runs, branch, attribute, from) {
                0 => counted = Some(0),
                more => return Finding::Count(more),
            }
            continue;
        }
        let (mut first, mut second) = (None, None);
        each(world, runs, branch, from, |item| {
            if first.is_none() {
                first = Some(item);
                return true;
            }
            second = Some(item);
            false
        });
        match (first, second) {
            (_, Some(second)) => return Finding::Two(second),
            (Some(first), None) => return Finding::One(first),
            (None, None) => {}
        }
    }
    counted.map_or(Finding::Nothing, Finding::Count)
}

/// Everything that one alternative finds, as long as `take` wants more.
pub(super) fn each(
    world: World<'_>,
    runs: &mut Runs,
    branch: &BranchPlan,
    from: At,
    mut take: impl FnMut(Item) -> bool,
) {
    let node = branch.at.node;
    let mut of_run = |start: u32, end: u32| match attribute_of(branch.end) {
        None => (start..end).all(|element| match world.found.element(node, element) {
            Some(instance) => take(Item::Element(At { node, element }, *instance)),
            None => true,
        }),
        Some(attribute) => {
            let mut here = world.found.attributes_of(attribute, &(start..end));
            here.all(|index| match world.found.attribute(attribute, index) {
                Some(here) => take(Item::Attribute(*here)),
                None => true,
            })
        }
    };
    match elements(world, runs, &branch.at, from) {
        Elements::Run(start, end) => {
            of_run(start, end);
        }
        Elements::List(list) => {
            _ = list.iter().all(|element| of_run(*element, element.saturating_add(1)));
        }
    }
}

fn attribute_of(end: EndPlan) -> Option<AttributeIndex> {
    match end {
        EndPlan::Attribute(attribute) => Some(attribute),
        EndPlan::Element | EndPlan::Count(_) => None,
    }
}

fn count(
    world: World<'_>,
    runs: &mut Runs,
    branch: &BranchPlan,
    attribute: Option<AttributeIndex>,
    from: At,
) -> usize {
    let of_run = |start: u32, end: u32| {
        let run = start..end;
        let run = attribute.map_or(run.clone(), |attribute| world.found.attributes_of(attribute, &run));
        wide(run.end.saturating_sub(run.start))
    };
    match elements(world, runs, &branch.at, from) {
        Elements::Run(start, end) => of_run(start, end),
        Elements::List(list) => list.iter().map(|element| of_run(*element, element.saturating_add(1))).sum(),
    }
}
