//! Paths that begin at one node, as one tree of operations: what two paths have in common is done once.
//!
//! In:        steps with their predicates     Out: operations, each behind the one it takes its elements from
//! Holds:     one [`Program`] per node at which paths begin
//! Fails:     never
//! Not here:  carrying them out (see `run`)
//!
//! Equality predicates of one operand are one [`Dispatch`]: whatever the number of their values, each text of the operand is
//! looked up once.

use super::names::{AttributeIndex, Names, NodeIndex};
use crate::job::{PathStep, Predicate};
use std::collections::HashMap;

/// Index into [`Programs`].
pub(in crate::xml) type ProgramIndex = usize;
/// Index into [`Program::ops`].
pub(in crate::xml) type OpIndex = usize;

/// All programs of a job.
#[derive(Debug, Default)]
pub(in crate::xml) struct Programs(Vec<Program>);

/// The paths that begin at the elements of one node.
#[derive(Debug)]
pub(in crate::xml) struct Program {
    /// In an order in which they can be done. The first is the start.
    pub(in crate::xml) ops: Vec<Op>,
}

/// Makes one set of elements, all of one node, of another.
#[derive(Debug)]
pub(in crate::xml) struct Op {
    pub(in crate::xml) kind: OpKind,
    /// What it takes.
    pub(in crate::xml) from: OpIndex,
    /// Where its elements are.
    pub(in crate::xml) node: NodeIndex,
    pub(in crate::xml) dispatches: Vec<Dispatch>,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::xml) enum OpKind {
    /// The element that the program is asked for.
    Start,
    /// The children of [`Op::node`].
    Down,
    /// The root, if it has this name: index into [`Names::root_names`].
    RootNamed(usize),
    /// Of each parent's children the n-th, from 1.
    Nth(usize),
    /// Of each parent's children the last.
    Last,
    /// Those that a [`Dispatch`] of `from` gives to it.
    Equal,
}

/// `[operand='value']` for all values that any path asks for.
#[derive(Debug)]
pub(in crate::xml) struct Dispatch {
    /// Where the operand's elements are.
    pub(in crate::xml) node: NodeIndex,
    /// The nodes down to it from the element that the predicate is about; none: it is the element itself.
    pub(in crate::xml) steps: Vec<NodeIndex>,
    /// The attribute at the end, else the own text.
    pub(in crate::xml) attribute: Option<AttributeIndex>,
    pub(in crate::xml) by_value: HashMap<String, OpIndex>,
}

impl Programs {
    pub(in crate::xml) fn len(&self) -> usize {
        self.0.len()
    }

    pub(in crate::xml) fn get(&self, index: ProgramIndex) -> Option<&Program> {
        self.0.get(index)
    }

    /// The program of paths from this node.
    pub(super) fn at(&mut self, node: NodeIndex) -> ProgramIndex {
        let begins = |program: &Program| program.ops.first().is_some_and(|op| op.node == node);
        self.0.iter().position(begins).unwrap_or_else(|| {
            let start = Op { kind: OpKind::Start, from: 0, node, dispatches: Vec::new() };
            self.0.push(Program { ops: vec![start] });
            self.0.len().saturating_sub(1)
        })
    }

    /// The operation at the end of steps from the program's start.
    pub(super) fn add(&mut self, program: ProgramIndex, steps: &[PathStep], names: &mut Names) -> OpIndex {
        let Some(program) = self.0.get_mut(program) else { return 0 };
        let mut at = 0;
        for step in steps {
            let from = program.node(at);
            let node = names.down(from, &step.name);
            at = program.op(OpKind::Down, at, node);
            if from == Names::DOCUMENT
                && let Some(name) = names.root_name(&step.name)
            {
                at = program.op(OpKind::RootNamed(name), at, node);
            }
            for predicate in &step.predicates {
                at = program.filter(at, predicate, names);
            }
        }
        at
    }

    /// The root, whatever it is named.
    pub(super) fn add_root(&mut self, program: ProgramIndex, root: NodeIndex) -> OpIndex {
        self.0.get_mut(program).map_or(0, |program| program.op(OpKind::Down, 0, root))
    }
}

impl Program {
    pub(in crate::xml) fn node(&self, op: OpIndex) -> NodeIndex {
        self.ops.get(op).map_or(Names::DOCUMENT, |op| op.node)
    }

    /// The operation of this kind behind `from`, made where it is missing.
    fn op(&mut self, kind: OpKind, from: OpIndex, node: NodeIndex) -> OpIndex {
        let same = |op: &Op| op.kind == kind && op.from == from && op.node == node;
        match self.ops.iter().skip(1).position(same) {
            Some(known) if kind != OpKind::Equal => known.saturating_add(1),
            _ => {
                self.ops.push(Op { kind, from, node, dispatches: Vec::new() });
                self.ops.len().saturating_sub(1)
            }
        }
    }

    fn filter(&mut self, at: OpIndex, predicate: &Predicate, names: &mut Names) -> OpIndex {
        let node = self.node(at);
        let (steps, attribute, value) = match predicate {
            Predicate::Nth(n) => return self.op(OpKind::Nth(*n), at, node),
            Predicate::Last => return self.op(OpKind::Last, at, node),
            Predicate::Equals { steps, attribute, value } => (steps, attribute, value),
        };
        let mut operand = node;
        let mut down = Vec::with_capacity(steps.len());
        for name in steps {
            operand = names.down(operand, name);
            down.push(operand);
        }
        let attribute = attribute.as_ref().map(|name| names.attribute(operand, name));
        if attribute.is_none()
            && let Some(operand) = names.node_mut(operand)
        {
            operand.text = true;
        }
        let next = self.ops.len();
        let Some(op) = self.ops.get_mut(at) else { return at };
        let same = |dispatch: &Dispatch| dispatch.node == operand && dispatch.attribute == attribute;
        let index = op.dispatches.iter().position(same).unwrap_or_else(|| {
            let by_value = HashMap::new();
            op.dispatches.push(Dispatch { node: operand, steps: down, attribute, by_value });
            op.dispatches.len().saturating_sub(1)
        });
        let Some(dispatch) = op.dispatches.get_mut(index) else { return at };
        let target = *dispatch.by_value.entry(value.clone()).or_insert(next);
        if target == next { self.op(OpKind::Equal, at, node) } else { target }
    }
}
