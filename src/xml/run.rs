//! The programs of a plan, carried out over what the pass has found.
//!
//! In:        a program and the element that it begins at     Out: per operation a set of elements
//! Holds:     per program the sets of the last element that it was asked for
//! Order:     elements in document order, always
//! Fails:     never; nothing recurses
//! Not here:  what becomes of the elements (see `search`)
//!
//! Sets are runs wherever they can be: a step down from a run is two binary searches, however many elements it gives. Only
//! predicates make lists, and a step down from a list costs no more than the smaller of the list and what is below it.

use super::found::{ElementIndex, Found, small, wide};
use super::plan::{Dispatch, NodeIndex, Op, OpIndex, OpKind, Plan, ProgramIndex};
use std::ops::Range;

/// Elements of one node in document order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    /// From this number to in front of that.
    Run(u32, u32),
    /// Numbers, at this place of [`State::lists`].
    List(usize, usize),
}

/// The same, to be read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Elements<'a> {
    Run(u32, u32),
    List(&'a [u32]),
}

impl Set {
    const EMPTY: Set = Set::Run(0, 0);
}

/// All programs.
#[derive(Debug, Default)]
pub(super) struct Runs(Vec<State>);

/// One program.
#[derive(Debug, Default)]
struct State {
    /// What `sets` are of.
    current: Option<ElementIndex>,
    /// Per operation.
    sets: Vec<Set>,
    lists: Vec<u32>,
    /// For a dispatch: who gets which element.
    hits: Vec<(OpIndex, u32)>,
}

/// What programs look into.
#[derive(Clone, Copy)]
pub(super) struct World<'a> {
    pub(super) plan: &'a Plan,
    pub(super) found: &'a Found,
    /// The document's text.
    pub(super) document: &'a str,
}

impl Runs {
    pub(super) fn new(plan: &Plan) -> Runs {
        let mut runs = Vec::new();
        runs.resize_with(plan.programs.len(), State::default);
        Runs(runs)
    }

    /// Forgets the last document, and what a rare large one took.
    pub(super) fn clear(&mut self) {
        const KEPT: usize = 1024;
        for state in &mut self.0 {
            state.current = None;
            state.lists.clear();
            state.lists.shrink_to(KEPT);
            state.hits.clear();
            state.hits.shrink_to(KEPT);
        }
    }

    /// The elements that an operation gives of an element.
    pub(super) fn ask(
        &mut self,
        world: World<'_>,
        program: ProgramIndex,
        op: OpIndex,
        element: ElementIndex,
    ) -> Elements<'_> {
        let Some(state) = self.0.get_mut(program) else { return Elements::Run(0, 0) };
        if state.current != Some(element) {
            state.perform(world, program, element);
        }
        match state.sets.get(op) {
            Some(Set::Run(start, end)) => Elements::Run(*start, *end),
            Some(Set::List(start, end)) => Elements::List(state.lists.get(*start..*end).unwrap_or_default()),
            None => Elements::Run(0, 0),
        }
    }
}

impl State {
    fn perform(&mut self, world: World<'_>, program: ProgramIndex, element: ElementIndex) {
        self.current = Some(element);
        self.sets.clear();
        self.lists.clear();
        let Some(program) = world.plan.programs.get(program) else { return };
        self.sets.resize(program.ops.len(), Set::EMPTY);
        for (index, op) in program.ops.iter().enumerate() {
            let set = self.set_of(world.found, op, index, element);
            if let Some(place) = self.sets.get_mut(index) {
                *place = set;
            }
            if set == Set::EMPTY {
                continue;
            }
            for dispatch in &op.dispatches {
                self.dispatch(world, op.node, set, dispatch);
            }
        }
    }

    fn set_of(&mut self, found: &Found, op: &Op, index: OpIndex, element: ElementIndex) -> Set {
        let from = self.sets.get(op.from).copied().unwrap_or(Set::EMPTY);
        match op.kind {
            OpKind::Start => Set::Run(element, element.saturating_add(1)),
            OpKind::Equal => self.sets.get(index).copied().unwrap_or(Set::EMPTY),
            _ if self.length(from) == 0 => Set::EMPTY,
            OpKind::Down => self.down(found, op.node, from),
            OpKind::RootNamed(name) if found.root_name == Some(name) => from,
            OpKind::RootNamed(_) => Set::EMPTY,
            OpKind::Nth(n) => self.of_each_parent(found, op.node, from, |group| {
                group.start.checked_add(n.checked_sub(1)?).filter(|at| *at < group.end)
            }),
            OpKind::Last => self.of_each_parent(found, op.node, from, |group| group.end.checked_sub(1)),
        }
    }

    fn length(&self, set: Set) -> usize {
        match set {
            Set::Run(start, end) => wide(end.saturating_sub(start)),
            Set::List(start, end) => end.saturating_sub(start),
        }
    }

    /// The element at a place of a set.
    fn at(&self, set: Set, place: usize) -> u32 {
        match set {
            Set::Run(start, _) => start.saturating_add(small(place)),
            Set::List(start, _) => self.lists.get(start.saturating_add(place)).copied().unwrap_or(u32::MAX),
        }
    }

    /// The run from a set's first element to its last.
    fn hull(&self, set: Set) -> Range<u32> {
        match self.length(set).checked_sub(1) {
            Some(last) => self.at(set, 0)..self.at(set, last).saturating_add(1),
            None => 0..0,
        }
    }

    fn has(&self, set: Set, element: u32) -> bool {
        match set {
            Set::Run(start, end) => (start..end).contains(&element),
            Set::List(start, end) => {
                self.lists.get(start..end).unwrap_or_default().binary_search(&element).is_ok()
            }
        }
    }

    fn list_since(&self, start: usize) -> Set {
        match self.lists.get(start..) {
            None | Some([]) => Set::EMPTY,
            Some([only]) => Set::Run(*only, only.saturating_add(1)),
            Some(_) => Set::List(start, self.lists.len()),
        }
    }

    fn down(&mut self, found: &Found, node: NodeIndex, from: Set) -> Set {
        let below = found.children(node, &self.hull(from));
        if below.is_empty() {
            return Set::EMPTY;
        }
        let Set::List(_, _) = from else { return Set::Run(below.start, below.end) };
        let start = self.lists.len();
        let length = self.length(from);
        if wide(below.end.saturating_sub(below.start)) < length {
            for child in below {
                let parent = found.element(node, child).map_or(u32::MAX, |instance| instance.parent);
                if self.has(from, parent) {
                    self.lists.push(child);
                }
            }
        } else {
            for place in 0..length {
                let parent = self.at(from, place);
                self.lists.extend(found.children(node, &(parent..parent.saturating_add(1))));
            }
        }
        self.list_since(start)
    }

    /// At the most one element of each parent's: `pick` says which place of the set, of those that are the parent's.
    fn of_each_parent(
        &mut self,
        found: &Found,
        node: NodeIndex,
        from: Set,
        pick: impl Fn(&Range<usize>) -> Option<usize>,
    ) -> Set {
        let start = self.lists.len();
        let length = self.length(from);
        let parent = |state: &State, place| {
            found.element(node, state.at(from, place)).map_or(u32::MAX, |instance| instance.parent)
        };
        let mut group = 0..0;
        while group.start < length {
            let owner = parent(self, group.start);
            group.end = first_place(group.start..length, |place| parent(self, place) > owner);
            if let Some(place) = pick(&group) {
                let element = self.at(from, place);
                self.lists.push(element);
            }
            group.start = group.end;
        }
        self.list_since(start)
    }

    /// Looks every text of a dispatch's operand up, and gives the elements it is under to who asks for that text.
    fn dispatch(&mut self, world: World<'_>, node: NodeIndex, set: Set, dispatch: &Dispatch) {
        self.hits.clear();
        let whole = operands(world.found, dispatch, self.hull(set));
        let length = self.length(set);
        match set {
            Set::List(_, _) if length < wide(whole.end.saturating_sub(whole.start)) => {
                for place in 0..length {
                    let element = self.at(set, place);
                    let own = operands(world.found, dispatch, element..element.saturating_add(1));
                    self.look_up(world, node, set, dispatch, own);
                }
            }
            _ => self.look_up(world, node, set, dispatch, whole),
        }
        // Stable: the elements of each stay in order.
        self.hits.sort_by_key(|(target, _)| *target);
        let hits = std::mem::take(&mut self.hits);
        for group in hits.chunk_by(|(a, _), (b, _)| a == b) {
            let Some((target, _)) = group.first() else { continue };
            let start = self.lists.len();
            for (_, element) in group {
                if self.lists.get(start..).and_then(<[u32]>::last) != Some(element) {
                    self.lists.push(*element);
                }
            }
            let list = self.list_since(start);
            if let Some(place) = self.sets.get_mut(*target) {
                *place = list;
            }
        }
        self.hits = hits;
    }

    fn look_up(
        &mut self,
        world: World<'_>,
        node: NodeIndex,
        set: Set,
        dispatch: &Dispatch,
        operands: Range<u32>,
    ) {
        for operand in operands {
            let (owner, text) = match dispatch.attribute {
                Some(attribute) => match world.found.attribute(attribute, operand) {
                    Some(here) => (here.owner, here.value),
                    None => continue,
                },
                None => match world.found.element(dispatch.node, operand) {
                    Some(instance) => (operand, instance.text),
                    None => continue,
                },
            };
            let Some(target) = dispatch.by_value.get(world.found.text(world.document, text)) else {
                continue;
            };
            let (at, element) = world.found.above(world.plan, dispatch.node, owner, dispatch.steps.len());
            if at == node && self.has(set, element) {
                self.hits.push((*target, element));
            }
        }
    }
}

/// A dispatch's operands under a run of elements.
fn operands(found: &Found, dispatch: &Dispatch, elements: Range<u32>) -> Range<u32> {
    let owners = dispatch.steps.iter().fold(elements, |run, node| found.children(*node, &run));
    match dispatch.attribute {
        Some(attribute) => found.attributes_of(attribute, &owners),
        None => owners,
    }
}

/// The first place of a range at which something is true that stays true; the end, if it never is.
fn first_place(range: Range<usize>, is_true: impl Fn(usize) -> bool) -> usize {
    let Range { mut start, mut end } = range;
    while start < end {
        let middle = start.midpoint(end);
        if is_true(middle) {
            end = middle;
        } else {
            start = middle.saturating_add(1);
        }
    }
    start
}
