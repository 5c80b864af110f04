//! The edits of one output as changes of the document's text that do not overlap.
//!
//! In:        marks and what is to be done at them     Out: [`TextEdit`]s
//! Holds:     what goes, what is replaced, what is put in, each by its place
//! Order:     see `splice`
//! Fails:     a mark without a place, an edit that is not of its mark, text that XML cannot express
//! Not here:  bytes (see `document`)

use super::escape::{Inside, push};
use super::{Added, Edited, SpliceError};
use crate::model::Mark;
use crate::xml::document::TextEdit;
use crate::xml::found::wide;
use std::collections::BTreeMap;
use std::ops::Range;

/// Text in pieces: names, which must be expressed as they are, and everything else.
type Pieces = Vec<(String, bool)>;

/// What is to be done, by place.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// What goes.
    removed: Vec<Range<usize>>,
    /// New values of attributes, by what is between their quotes; none: the attribute goes, from this place on.
    values: BTreeMap<(usize, usize), Result<String, usize>>,
    /// New attributes: by place and by what they are, so that of two the last stands.
    attributes: BTreeMap<usize, Vec<(NewName, Pieces)>>,
    /// New contents.
    contents: BTreeMap<(usize, usize), Content>,
    /// Additions, in front of this place.
    added: BTreeMap<usize, Content>,
    /// What is put in whatever else is done: declarations.
    declared: Vec<(usize, Pieces)>,
}

/// What makes two new attributes the same one: local name and namespace, or the name as it is written.
type NewName = (String, Option<String>);

/// What comes into an element.
#[derive(Debug, Default)]
struct Content {
    /// Its name, if it stands as an empty tag.
    empty_tag: Option<String>,
    pieces: Pieces,
}

const OTHER_KIND: SpliceError = SpliceError::Mismatch { detail: "an edit at a mark of another kind" };

impl Changes {
    /// Takes one edit.
    pub(super) fn take(&mut self, mark: &Mark, edit: &Edited) -> Result<(), SpliceError> {
        match (mark, edit) {
            (Mark::Missing { detail }, _) => return Err(SpliceError::Place { detail: detail.clone() }),
            (Mark::Add { at, empty_tag, name, declare }, Edited::Add(added)) => {
                let content = self.added.entry(wide(*at)).or_default();
                content.empty_tag.clone_from(empty_tag);
                push_element(&mut content.pieces, name, declare.as_ref(), added)?;
            }
            (Mark::Content { start, end, empty_tag }, Edited::Set(text)) => {
                let mut escaped = String::new();
                let text = text.as_deref().unwrap_or_default();
                push(&mut escaped, text, Inside::Text, || "an element whose text is set".to_owned())?;
                let content = Content { empty_tag: empty_tag.clone(), pieces: vec![(escaped, false)] };
                self.contents.insert((wide(*start), wide(*end)), content);
            }
            (Mark::Value { start, value_start, value_end }, Edited::Set(None)) => {
                self.values.insert((wide(*value_start), wide(*value_end)), Err(wide(*start)));
            }
            (Mark::Value { value_start, value_end, .. }, Edited::Set(Some(text))) => {
                let mut escaped = String::new();
                push(&mut escaped, text, Inside::Attribute, || "an attribute that is set".to_owned())?;
                self.values.insert((wide(*value_start), wide(*value_end)), Ok(escaped));
            }
            (Mark::NewAttribute { at, name, declare }, Edited::Set(text)) => {
                self.new_attribute(wide(*at), name, declare.as_ref(), text.as_deref())?;
            }
            (Mark::Remove { ranges }, Edited::Remove) => {
                ranges.iter().for_each(|(start, end)| self.remove(wide(*start)..wide(*end)));
            }
            _ => return Err(OTHER_KIND),
        }
        Ok(())
    }

    /// Something goes, whatever else was to be done in it.
    pub(super) fn remove(&mut self, range: Range<usize>) {
        if !range.is_empty() {
            self.removed.push(range);
        }
    }

    /// Declarations, put into the tag in front of `at`.
    pub(super) fn declare(&mut self, at: usize, declared: &[(String, String)]) -> Result<(), SpliceError> {
        let mut pieces = Pieces::new();
        for (prefix, uri) in declared {
            push_declaration(&mut pieces, prefix, uri)?;
        }
        self.declared.push((at, pieces));
        Ok(())
    }

    /// Whether something other than a removal is to be done outside a range.
    pub(super) fn writes_outside(&self, range: &Range<usize>) -> bool {
        let outside = |start: usize, end: usize| start < range.start || end > range.end;
        self.values.keys().any(|(start, end)| outside(*start, *end))
            || self.contents.keys().any(|(start, end)| outside(*start, *end))
            || self.attributes.keys().any(|at| outside(*at, *at))
            || self.added.keys().any(|at| outside(*at, *at))
    }

    /// Where tags are to be opened: the `/` of empty ones.
    pub(super) fn empty_tags(&self) -> impl Iterator<Item = usize> {
        let contents = self.contents.iter().map(|((at, _), content)| (*at, content));
        let added = self.added.iter().map(|(at, content)| (*at, content));
        contents.chain(added).filter(|(_, content)| content.empty_tag.is_some()).map(|(at, _)| at)
    }

    /// Whether a whole range goes.
    pub(super) fn removes(&self, range: &Range<usize>) -> bool {
        self.removed.iter().any(|removed| removed.start <= range.start && range.end <= removed.end)
    }

    /// The last of two settings of one attribute stands; NULL leaves it out.
    fn new_attribute(
        &mut self,
        at: usize,
        name: &str,
        declare: Option<&(String, String)>,
        text: Option<&str>,
    ) -> Result<(), SpliceError> {
        let local = name.split_once(':').map_or(name, |(_, local)| local);
        let what = match declare {
            Some((_, uri)) => (local.to_owned(), Some(uri.clone())),
            None => (name.to_owned(), None),
        };
        let here = self.attributes.entry(at).or_default();
        here.retain(|(other, _)| *other != what);
        let Some(text) = text else { return Ok(()) };
        let mut pieces = Pieces::new();
        if let Some((prefix, uri)) = declare {
            push_declaration(&mut pieces, prefix, uri)?;
        }
        push_attribute(&mut pieces, name, text)?;
        here.push((what, pieces));
        Ok(())
    }

    /// Everything as changes of the text, in order and without overlaps.
    pub(super) fn into_edits(mut self) -> Result<Vec<TextEdit>, SpliceError> {
        for ((_, end), value) in &self.values {
            if let Err(start) = value {
                self.removed.push(*start..end.saturating_add(1));
            }
        }
        let removed = merged(std::mem::take(&mut self.removed));
        // What ends or begins where something goes is beside it, not in it.
        let gone = |start: usize, end: usize| {
            let after = removed.partition_point(|range| range.end <= start);
            let inside = |range: &Range<usize>| match start == end {
                true => range.start < start,
                false => range.start <= start && end <= range.end,
            };
            removed.get(after).is_some_and(inside)
        };
        let mut edits = Vec::new();
        let mut put = |range: Range<usize>, pieces: Pieces| {
            let mut range = range;
            for (insert, names) in pieces {
                edits.push(TextEdit { range: range.clone(), insert, names });
                // The first piece takes away what goes; the others come behind it.
                range = range.end..range.end;
            }
        };
        for (at, pieces) in self.declared {
            put(at..at, pieces);
        }
        for (at, attributes) in self.attributes {
            if !gone(at, at) {
                attributes.into_iter().for_each(|(_, pieces)| put(at..at, pieces));
            }
        }
        for ((start, end), value) in self.values {
            if let Ok(value) = value
                && !gone(start, end)
            {
                put(start..end, vec![(value, false)]);
            }
        }
        for ((start, end), mut content) in self.contents {
            if gone(start, end) {
                self.added.remove(&end);
                continue;
            }
            if let Some(added) = self.added.remove(&end) {
                content.pieces.extend(added.pieces);
            }
            let (range, pieces) = content.at(start..end);
            put(range, pieces);
        }
        for (at, content) in self.added {
            if !gone(at, at) {
                let (range, pieces) = content.at(at..at);
                put(range, pieces);
            }
        }
        edits.extend(removed.into_iter().map(|range| TextEdit {
            range,
            insert: String::new(),
            names: false,
        }));
        Ok(edits)
    }
}

impl Content {
    /// The pieces and what they take the place of. `<a/>` becomes `<a>...</a>`: its `/` goes into the end tag.
    fn at(self, range: Range<usize>) -> (Range<usize>, Pieces) {
        let Some(name) = self.empty_tag else { return (range, self.pieces) };
        let mut pieces = vec![(">".to_owned(), true)];
        pieces.extend(self.pieces);
        pieces.push((format!("</{name}"), true));
        (range.start..range.start.saturating_add(1), pieces)
    }
}

/// Ranges in order, those that touch or overlap made one.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Appends one added element.
fn push_element(
    pieces: &mut Pieces,
    name: &str,
    declare: Option<&(String, String)>,
    added: &Added,
) -> Result<(), SpliceError> {
    pieces.push((format!("<{name}"), true));
    if let Some((prefix, uri)) = declare {
        push_declaration(pieces, prefix, uri)?;
    }
    for (attribute, value) in &added.attributes {
        push_attribute(pieces, attribute, value)?;
    }
    let Some(text) = &added.text else {
        pieces.push(("/>".to_owned(), true));
        return Ok(());
    };
    let mut escaped = String::from(">");
    push(&mut escaped, text, Inside::Text, || format!("the added element `{name}`"))?;
    pieces.push((escaped, false));
    pieces.push((format!("</{name}>"), true));
    Ok(())
}

fn push_declaration(pieces: &mut Pieces, prefix: &str, uri: &str) -> Result<(), SpliceError> {
    let name = if prefix.is_empty() { "xmlns".to_owned() } else { format!("xmlns:{prefix}") };
    push_attribute(pieces, &name, uri)
}

fn push_attribute(pieces: &mut Pieces, name: &str, value: &str) -> Result<(), SpliceError> {
    pieces.push((format!(" {name}=\""), true));
    let mut escaped = String::with_capacity(value.len().saturating_add(1));
    push(&mut escaped, value, Inside::Attribute, || format!("the attribute `{name}`"))?;
    escaped.push('"');
    pieces.push((escaped, false));
    Ok(())
}
