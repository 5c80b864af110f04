//! Search: every state that can be reached, breadth first, and whether each leads to the end.
//!
//! In:        a plan     Out: how much was searched, and the shortest history of the first thing that was wrong
//! Holds:     a 128-bit fingerprint and a parent per state; whole states of two layers alone. Two states share a fingerprint
//!            with probability n^2 / 2^129: below 10^-23 for ten million
//! Order:     a layer is all states that so many steps lead to

use crate::apply::{apply, is_complete};
use crate::history::line;
use crate::invariants::check;
use crate::plan::Plan;
use crate::step::{Possible, Step, possible};
use crate::world::World;
use siphasher::sip128::{Hasher128, SipHasher13};
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::time::Instant;

/// What a search has seen.
pub struct Seen {
    pub states: usize,
    pub steps: usize,
    /// Steps of the longest shortest way to a state.
    pub depth: usize,
    pub seconds: f64,
    pub complete: usize,
    pub found: Option<Found>,
}

/// Something that is wrong, and the shortest way there.
pub struct Found {
    pub what: String,
    pub history: Vec<String>,
}

impl Found {
    /// What is wrong and how it came to it, a line per step.
    pub fn text(&self) -> String {
        let lines =
            self.history.iter().enumerate().map(|(number, line)| format!("\n{:>5}  {line}", number + 1));
        format!("{} (after {} steps){}", self.what, self.history.len(), lines.collect::<String>())
    }
}

struct Node {
    parent: u32,
    /// Its place among the parent's steps.
    step: u16,
}

struct Search<'a> {
    plan: &'a Plan,
    index: HashMap<u128, u32>,
    nodes: Vec<Node>,
    /// Steps that a healthy world takes, from and to.
    healthy: Vec<(u32, u32)>,
    complete: Vec<bool>,
    steps: usize,
}

/// The first state.
pub fn first(plan: &Plan) -> World {
    let mut world = World::new(plan);
    if plan.first_is_running {
        world = apply(plan, &world, Step::Launch { slot: 0 }).unwrap();
        let is_stage = |step: &Step| matches!(step, Step::Stage { .. });
        while let Some((step, _)) = possible(plan, &world).into_iter().find(|(step, _)| is_stage(step)) {
            world = apply(plan, &world, step).unwrap();
        }
    }
    world
}

/// Searches everything, or up to the first thing that is wrong.
pub fn search(plan: &Plan) -> Seen {
    quiet_panics();
    let began = Instant::now();
    let mut search = Search {
        plan,
        index: HashMap::new(),
        nodes: Vec::new(),
        healthy: Vec::new(),
        complete: Vec::new(),
        steps: 0,
    };
    let (depth, found) = search.run();
    let found = found.or_else(|| search.dead_ends());
    Seen {
        states: search.nodes.len(),
        steps: search.steps,
        depth,
        seconds: began.elapsed().as_secs_f64(),
        complete: search.complete.iter().filter(|complete| **complete).count(),
        found,
    }
}

impl Search<'_> {
    fn run(&mut self) -> (usize, Option<Found>) {
        let first = first(self.plan);
        let (root, _) = self.number(&first, Node { parent: 0, step: 0 });
        let mut layer = vec![(root, first)];
        let mut depth = 0;
        loop {
            let mut next = Vec::new();
            for (at, world) in &layer {
                if let Some(found) = self.expand(*at, world, &mut next) {
                    return (depth + 1, Some(found));
                }
            }
            if next.is_empty() {
                return (depth, None);
            }
            depth += 1;
            layer = next;
        }
    }

    fn expand(&mut self, at: u32, world: &World, next: &mut Vec<(u32, World)>) -> Option<Found> {
        for (number, (step, healthy)) in (0_u16..).zip(possible(self.plan, world)) {
            self.steps += 1;
            if let Err(what) = self.take(at, world, (step, healthy), number, next) {
                let mut history = self.history(at);
                history.push(line(self.plan, world, step));
                return Some(Found { what, history });
            }
        }
        None
    }

    /// Takes a step, and checks where it leads to, if nobody has been there.
    fn take(
        &mut self,
        at: u32,
        world: &World,
        (step, healthy): Possible,
        number: u16,
        next: &mut Vec<(u32, World)>,
    ) -> Result<(), String> {
        let behind = panic_as_error(|| apply(self.plan, world, step))?;
        let (to, new) = self.number(&behind, Node { parent: at, step: number });
        if healthy && to != at {
            self.healthy.push((at, to));
        }
        if new {
            panic_as_error(|| check(self.plan, &behind))?;
            next.push((to, behind));
        }
        Ok(())
    }

    fn number(&mut self, world: &World, node: Node) -> (u32, bool) {
        let mut hasher = SipHasher13::new();
        world.hash(&mut hasher);
        let fresh = self.nodes.len() as u32;
        let number = *self.index.entry(hasher.finish128().as_u128()).or_insert(fresh);
        if number == fresh {
            self.nodes.push(node);
            self.complete.push(is_complete(self.plan, world));
        }
        (number, number == fresh)
    }

    /// The steps that lead to a state.
    fn history(&self, mut at: u32) -> Vec<String> {
        let mut numbers = Vec::new();
        while at != 0 {
            let node = &self.nodes[at as usize];
            numbers.push(node.step);
            at = node.parent;
        }
        let mut world = first(self.plan);
        let mut lines = Vec::new();
        for number in numbers.into_iter().rev() {
            let (step, _) = possible(self.plan, &world)[usize::from(number)];
            lines.push(line(self.plan, &world, step));
            world = apply(self.plan, &world, step).unwrap();
        }
        lines
    }

    /// A state from which a healthy world may not come to the end: it can stop short of it, or go round for ever.
    /// Steps of a healthy world are taken off from behind, beginning with states that have none; what cannot be taken
    /// off goes in a circle.
    fn dead_ends(&self) -> Option<Found> {
        let count = self.nodes.len();
        let mut ways = vec![0_u32; count];
        let mut starts = vec![0_u32; count + 1];
        for (from, to) in &self.healthy {
            ways[*from as usize] += 1;
            starts[*to as usize + 1] += 1;
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let mut before = vec![0_u32; self.healthy.len()];
        let mut free = starts.clone();
        for (from, to) in &self.healthy {
            before[free[*to as usize] as usize] = *from;
            free[*to as usize] += 1;
        }
        let mut ended: Vec<u32> = (0..count as u32).filter(|at| ways[*at as usize] == 0).collect();
        if let Some(stuck) = ended.iter().find(|at| !self.complete[**at as usize]) {
            let what = "nothing more can happen in a healthy world, and the work is not done".to_owned();
            return Some(Found { what, history: self.history(*stuck) });
        }
        let mut taken = 0;
        while let Some(at) = ended.pop() {
            taken += 1;
            for from in &before[starts[at as usize] as usize..starts[at as usize + 1] as usize] {
                ways[*from as usize] -= 1;
                if ways[*from as usize] == 0 {
                    ended.push(*from);
                }
            }
        }
        let round = (0..count).find(|at| ways[*at] > 0).filter(|_| taken < count)?;
        let what = "from here a healthy world can go round for ever".to_owned();
        Some(Found { what, history: self.history(round as u32) })
    }
}

fn panic_as_error<T>(task: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    QUIET.set(true);
    let result = catch_unwind(AssertUnwindSafe(task));
    QUIET.set(false);
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        Err(format!("a machine refuses to go on: {}", text.unwrap_or_default()))
    })
}

thread_local! {
    /// A panic of this thread is an answer.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

fn quiet_panics() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                loud(info);
            }
        }));
    });
}
