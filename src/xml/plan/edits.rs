//! The edits of a job's outputs: where they go and whether they can be written at all.
//!
//! In:        the outputs of the checked job     Out: [`EditPlan`]s; what their places must note, in the tree of names
//! Fails:     names that are none, places that cannot be meant
//! Not here:  documents

use super::names::{NodeIndex, Written};
use super::{PathPlan, Plan};
use crate::job::{Addition, Branch, Edit, End, Name, On, OutputSpec, Path, SetTo};
use crate::xml::XmlSetupError;
use crate::xml::chars::is_ncname;
use crate::xml::scope::{XML_URI, XMLNS_URI};

/// One edit.
#[derive(Debug)]
pub(in crate::xml) struct EditPlan {
    pub(in crate::xml) at: PathPlan,
    pub(in crate::xml) kind: EditKind,
    /// Whether every event is to be written: one without the place is unreadable.
    pub(in crate::xml) needed: bool,
}

/// What an edit does.
#[derive(Clone, Debug)]
pub(in crate::xml) enum EditKind {
    /// Adds an element of this local name.
    Add { local: String },
    /// Replaces a text, or sets the attribute, of this local name and of these numbers per branch.
    Set { attribute: Option<String> },
    /// Takes away everything that is there.
    Remove,
}

impl Plan {
    pub(super) fn take_edits(&mut self, node: NodeIndex, output: &OutputSpec) -> Result<(), XmlSetupError> {
        let needed = output.when.is_none() && output.on != On::Tombstone;
        for edit in &output.edits {
            let (at, kind) = match edit {
                Edit::Add(addition) => {
                    (self.take_add(node, addition)?, EditKind::Add { local: addition.element.local.clone() })
                }
                Edit::Set(set) => self.take_set(node, set)?,
                Edit::Remove(path) => {
                    check_end(path)?;
                    (self.path(node, path, false)?, EditKind::Remove)
                }
            };
            self.edits.push(EditPlan { at, kind, needed });
        }
        Ok(())
    }

    fn take_add(&mut self, node: NodeIndex, addition: &Addition) -> Result<PathPlan, XmlSetupError> {
        check_addition(addition)?;
        let at = self.path(node, &addition.at, false)?;
        self.note_name(&at, &addition.element, &addition.prefix, false);
        Ok(at)
    }

    fn take_set(&mut self, node: NodeIndex, set: &SetTo) -> Result<(PathPlan, EditKind), XmlSetupError> {
        check_end(&set.at)?;
        let at = self.path(node, &set.at, false)?;
        let attributes = |branch: &Branch| match &branch.end {
            End::Attribute(name) => Some(name.clone()),
            End::Element | End::Count(_) => None,
        };
        let name = set.at.branches.first().and_then(attributes);
        if set.at.branches.iter().any(|branch| attributes(branch) != name) {
            return Err(XmlSetupError::MixedSet { at: set.at.text.clone() });
        }
        if let Some(name) = &name {
            // Unlike any other edit's, so that two new attributes of one tag never declare one prefix twice.
            let prefix = format!("ns{}", self.edits.len().saturating_add(1));
            self.note_name(&at, name, &prefix, true);
        }
        Ok((at, EditKind::Set { attribute: name.map(|name| name.local) }))
    }

    /// At every element where the path may end, the name's prefix is to be found.
    fn note_name(&mut self, at: &PathPlan, name: &Name, prefix: &str, attribute: bool) {
        let (edit, uri) = (self.edits.len(), name.namespace.clone().unwrap_or_default());
        let namespace = self.names.namespaces.intern(name.namespace.as_deref());
        for branch in &at.branches {
            let Some(node) = self.names.node_mut(branch.at.node) else { continue };
            if node.written.last().is_some_and(|written| written.edit == edit) {
                continue;
            }
            let (uri, prefix) = (uri.clone(), prefix.to_owned());
            node.written.push(Written { edit, namespace, uri, attribute, prefix });
        }
    }
}

fn check_end(path: &Path) -> Result<(), XmlSetupError> {
    match path.branches.iter().any(|branch| matches!(branch.end, End::Count(_))) {
        true => Err(XmlSetupError::CountedPlace { at: path.text.clone() }),
        false => Ok(()),
    }
}

/// Whether an addition can be written at all.
fn check_addition(addition: &Addition) -> Result<(), XmlSetupError> {
    let element = addition.element.local.clone();
    check_end(&addition.at)?;
    if addition.at.branches.iter().any(|branch| branch.end != End::Element) {
        return Err(XmlSetupError::AtAttribute { element, at: addition.at.text.clone() });
    }
    if !is_ncname(&addition.element.local) {
        return Err(XmlSetupError::ElementName { element });
    }
    let uri = addition.element.namespace.as_deref().unwrap_or_default();
    let prefix = addition.prefix.as_str();
    let reserved = prefix == "xmlns" || uri == XMLNS_URI || (prefix == "xml" && uri != XML_URI);
    if reserved || (!prefix.is_empty() && !is_ncname(prefix)) {
        return Err(XmlSetupError::Prefix { element, prefix: addition.prefix.clone() });
    }
    for (index, (name, _)) in addition.attributes.iter().enumerate() {
        let local = name.strip_prefix("xml:").unwrap_or(name);
        let twice = addition.attributes.iter().take(index).any(|(earlier, _)| earlier == name);
        if !is_ncname(local) || name == "xmlns" || twice {
            return Err(XmlSetupError::AttributeName { element, attribute: name.clone() });
        }
    }
    Ok(())
}
