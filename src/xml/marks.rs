//! The places of edits in the document.
//!
//! In:        an edit and an event's element     Out: a [`Mark`]
//! Fails:     a place that is absent or there twice, if every event is to be written; else the mark says so
//! Not here:  writing (see `splice`)

use super::chars::is_space;
use super::found::{AttributeHere, Instance, Naming, small, wide};
use super::judge::{Judge, Verdict};
use super::plan::{BranchPlan, EditKind, EditPlan, EndPlan};
use super::search::{At, Finding, Item, each, find};
use super::tag;
use crate::model::{Mark, ReasonCode};

/// What a range takes, about.
const RANGE_BYTES: usize = 16;

/// A place that edits cannot have.
const EXPANDED: &str = "stands in an entity, not in the document itself";

impl Judge<'_> {
    /// The place of one edit.
    pub(super) fn mark(&mut self, index: usize, from: At) -> Result<Mark, Verdict> {
        let Some(edit) = self.world.plan.edits.get(index) else {
            return Ok(Mark::Missing { detail: "an edit that is not of this job".to_owned() });
        };
        let place = match &edit.kind {
            EditKind::Remove => self.removed(edit, from),
            EditKind::Add { .. } | EditKind::Set { .. } => self.single(index, edit, from),
        };
        match place {
            Ok(mark) => Ok(mark),
            Err(verdict) if edit.needed => Err(verdict),
            Err(Verdict::At(_, at, detail)) => {
                let place = self.lines.place(self.world.document, at);
                Ok(Mark::Missing { detail: format!("{place}: {detail}") })
            }
            Err(Verdict::Nowhere(reason)) => Ok(Mark::Missing { detail: reason.detail }),
            Err(Verdict::TooMuch) => Err(Verdict::TooMuch),
        }
    }

    fn single(&mut self, index: usize, edit: &EditPlan, from: At) -> Result<Mark, Verdict> {
        let what = || what(edit);
        match find(self.world, self.runs, &edit.at, from) {
            Finding::One(Item::Element(at, instance)) => self.at_element(index, edit, at, &instance),
            Finding::One(Item::Attribute(here)) => self.at_attribute(edit, &here),
            Finding::Two(second) => Err(super::judge::twice(ReasonCode::OutputPlace, &second, what)),
            Finding::Nothing | Finding::Count(_) => self.new_attribute(index, edit, from),
        }
    }

    fn at_element(
        &self,
        index: usize,
        edit: &EditPlan,
        at: At,
        instance: &Instance,
    ) -> Result<Mark, Verdict> {
        let refuse = |why: &str| {
            let detail = format!("{} {why}", what(edit));
            Err(Verdict::At(ReasonCode::OutputPlace, wide(instance.start), detail))
        };
        if instance.flags.expanded {
            return refuse(EXPANDED);
        }
        let empty_tag = instance.flags.empty_tag.then(|| self.name_in_tag(instance).to_owned());
        match &edit.kind {
            EditKind::Add { local } => {
                let (name, declare) = self.written(index, at, local);
                Ok(Mark::Add { at: instance.inner_end, empty_tag, name, declare })
            }
            _ if instance.flags.children => refuse("has child elements, and only text can be replaced"),
            _ => Ok(Mark::Content { start: instance.inner_start, end: instance.inner_end, empty_tag }),
        }
    }

    fn at_attribute(&self, edit: &EditPlan, here: &AttributeHere) -> Result<Mark, Verdict> {
        match self.attribute_ranges(here) {
            Some((start, value_start, value_end)) => Ok(Mark::Value { start, value_start, value_end }),
            None => {
                let detail = format!("{} is given by the document type, not by its tag", what(edit));
                Err(Verdict::At(ReasonCode::OutputPlace, wide(here.start), detail))
            }
        }
    }

    /// The place of an attribute that is absent, in the one element that is there for it.
    fn new_attribute(&mut self, index: usize, edit: &EditPlan, from: At) -> Result<Mark, Verdict> {
        let what = || what(edit);
        let EditKind::Set { attribute: Some(local) } = &edit.kind else {
            return Err(self.absent(ReasonCode::OutputPlace, from, what));
        };
        let owner = |branch: &BranchPlan| BranchPlan { end: EndPlan::Element, ..*branch };
        let branches = edit.at.branches.iter().map(owner).collect();
        let owners = super::plan::PathPlan { text: edit.at.text.clone(), branches };
        match find(self.world, self.runs, &owners, from) {
            Finding::One(Item::Element(at, instance)) if !instance.flags.expanded => {
                let (name, declare) = self.written(index, at, local);
                Ok(Mark::NewAttribute { at: small(self.behind_attributes(&instance)), name, declare })
            }
            Finding::One(item) => {
                let detail = format!("{} {EXPANDED}", what());
                Err(Verdict::At(ReasonCode::OutputPlace, item.start(), detail))
            }
            Finding::Two(second) => Err(super::judge::twice(ReasonCode::OutputPlace, &second, what)),
            Finding::Nothing | Finding::Count(_) => Err(self.absent(ReasonCode::OutputPlace, from, what)),
        }
    }

    /// Everything that is to go.
    fn removed(&mut self, edit: &EditPlan, from: At) -> Result<Mark, Verdict> {
        let mut items = Vec::new();
        let room = self.spend_max.saturating_sub(self.spent) / RANGE_BYTES;
        for branch in &edit.at.branches {
            each(self.world, self.runs, branch, from, |item| {
                items.push(item);
                items.len() <= room
            });
        }
        self.spend(items.len().saturating_mul(RANGE_BYTES))?;
        let mut ranges = Vec::with_capacity(items.len());
        for item in &items {
            match self.removed_range(item) {
                Ok(range) => ranges.push(range),
                Err(why) => {
                    let detail = format!("{} {why}", what(edit));
                    return Err(Verdict::At(ReasonCode::OutputPlace, item.start(), detail));
                }
            }
        }
        ranges.sort_unstable();
        ranges.dedup();
        Ok(Mark::Remove { ranges })
    }

    fn removed_range(&self, item: &Item) -> Result<(u32, u32), &'static str> {
        match item {
            Item::Element(_, instance) if instance.flags.expanded => Err(EXPANDED),
            Item::Element(at, instance) => {
                let is_root = self.world.plan.names.node(at.node).is_some_and(|node| node.depth == 1);
                if is_root { Err("is the root element") } else { Ok((instance.start, instance.end)) }
            }
            Item::Attribute(here) => {
                let ranges =
                    self.attribute_ranges(here).ok_or("is given by the document type, not by its tag")?;
                Ok((ranges.0, here.end))
            }
        }
    }

    /// Where the blanks in front of an attribute begin, where its value begins and where that ends.
    fn attribute_ranges(&self, here: &AttributeHere) -> Option<(u32, u32, u32)> {
        if here.start == here.end {
            return None;
        }
        let before = self.world.document.get(..wide(here.start))?.as_bytes();
        let blanks = before.iter().rev().take_while(|b| is_space(**b)).count();
        let written = self.world.document.get(wide(here.start)..wide(here.end))?;
        let quote = written.as_bytes().last()?;
        let opening = written.bytes().position(|b| b == *quote)?;
        let value_start = here.start.saturating_add(small(opening)).saturating_add(1);
        Some((here.start.saturating_sub(small(blanks)), value_start, here.end.saturating_sub(1)))
    }

    /// An element's name as its start tag has it.
    fn name_in_tag(&self, instance: &Instance) -> &str {
        let inside = self.world.document.get(wide(instance.start).saturating_add(1)..).unwrap_or_default();
        let ends = |b: u8| is_space(b) || matches!(b, b'/' | b'>');
        let length = inside.bytes().position(ends).unwrap_or(inside.len());
        inside.get(..length).unwrap_or_default()
    }

    /// Behind the last attribute of a start tag, or its name.
    fn behind_attributes(&self, instance: &Instance) -> usize {
        let closing = if instance.flags.empty_tag { 0 } else { 1 };
        let inside =
            wide(instance.start).saturating_add(1)..wide(instance.inner_start).saturating_sub(closing);
        let mut attributes = Vec::new();
        let name = tag::read(self.world.document, inside, &mut attributes);
        match (attributes.last(), name) {
            (Some(last), _) => last.value.end.saturating_add(1),
            (None, Ok(name)) => name.local.end,
            (None, Err(_)) => wide(instance.start),
        }
    }

    /// How an edit's name is written at an element, and what must be declared for it.
    fn written(&self, edit: usize, at: At, local: &str) -> (String, Option<(String, String)>) {
        let (plan, found) = (self.world.plan, self.world.found);
        let all = plan.names.node(at.node).map_or(&[][..], |node| &node.written);
        let Some((which, written)) = all.iter().enumerate().find(|(_, written)| written.edit == edit) else {
            return (local.to_owned(), None);
        };
        let number = wide(at.element).saturating_mul(all.len()).saturating_add(which);
        let naming = found.written.get(at.node).and_then(|numbers| numbers.get(number));
        let naming = naming.and_then(|number| found.namings.get(wide(*number)));
        let Some(Naming { prefix, declare }) = naming else { return (local.to_owned(), None) };
        let name = if prefix.is_empty() { local.to_owned() } else { format!("{prefix}:{local}") };
        (name, declare.then(|| (prefix.clone(), written.uri.clone())))
    }
}

fn what(edit: &EditPlan) -> String {
    let of = match edit.kind {
        EditKind::Add { .. } => "an addition",
        EditKind::Set { .. } => "a change",
        EditKind::Remove => "a removal",
    };
    format!("the place `{}` of {of}", edit.at.text)
}
