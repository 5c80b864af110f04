//! What a job looks for in its documents: all paths of events, keys, fields, lists and edits as one matcher.
//!
//! In:        the checked job     Out: a tree of names that the pass descends, and programs over what it found
//! Holds:     one node per distinct list of names, one operation per distinct beginning of a path
//! Fails:     a job that cannot be carried out; the job file's own check should have said so before
//! Not here:  documents (see `seek` for the pass, `run` for the programs)
//!
//! `..` is taken up while compiling: a path that goes up begins at the node above, and its program at that node's element.

mod edits;

mod names;
pub(super) use names::{AttributeIndex, Names, Node, NodeIndex, Written};

mod program;
pub(super) use program::{Dispatch, Op, OpIndex, OpKind, ProgramIndex, Programs};

pub(super) use edits::{EditKind, EditPlan};

use super::XmlSetupError;
use super::field;
use super::scope::{NamespaceId, XMLNS_URI};
use crate::job::{
    Base, Branch, Document, End, EventSpec, Field, FieldReader, FieldSource, FieldType, KeyPart, List, Name,
    OutputSpec, Path, PathStep,
};

/// A job's paths, compiled.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) names: Names,
    pub(super) programs: Programs,
    /// The events' elements.
    pub(super) each: Walked,
    /// The names of `each`, for messages.
    pub(super) each_text: String,
    /// Where the job says only a root's name: what it is, for messages.
    pub(super) root: Option<Name>,
    /// The ordering key's parts; none: the Kafka record key.
    pub(super) keys: Vec<KeyPlan>,
    /// In the order of the job file.
    pub(super) fields: Vec<Taken>,
    /// In the order of the job file, an inner list behind the one it is in.
    pub(super) lists: Vec<ListPlan>,
    /// In the order of the job file.
    pub(super) edits: Vec<EditPlan>,
    /// Whether an output is made of the event's element alone.
    pub(super) takes_element: bool,
    /// Whether an output or a field is made of an element's source.
    pub(super) takes_source: bool,
}

/// What an operation gives of the element that a program is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walked {
    /// How far above the element at hand the program begins.
    pub(super) up: usize,
    pub(super) program: ProgramIndex,
    pub(super) op: OpIndex,
    /// Where the elements of `op` are.
    pub(super) node: NodeIndex,
}

/// One alternative of a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct BranchPlan {
    pub(super) at: Walked,
    pub(super) end: EndPlan,
}

/// What a path gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndPlan {
    Element,
    Attribute(AttributeIndex),
    Count(Option<AttributeIndex>),
}

/// A path, ready.
#[derive(Clone, Debug)]
pub(super) struct PathPlan {
    /// As the user wrote it.
    pub(super) text: String,
    pub(super) branches: Vec<BranchPlan>,
}

/// One part of the key.
#[derive(Debug)]
pub(super) enum KeyPlan {
    Path(PathPlan),
    RecordKey,
    Header(String),
}

/// How one field is made.
#[derive(Debug)]
pub(super) struct Taken {
    /// As messages name it: with its list.
    pub(super) name: String,
    pub(super) from: From,
    pub(super) reader: FieldReader,
}

/// Where a field's text comes from.
#[derive(Debug)]
pub(super) enum From {
    /// The one thing that a path finds.
    Path(PathPlan),
    /// The source text of the one element that a path finds.
    Source(PathPlan),
    /// Everything that a path finds, as a JSON array.
    All(PathPlan),
    /// The rows of a list.
    List(usize),
    RecordKey,
    Header(String),
}

/// One list.
#[derive(Debug)]
pub(super) struct ListPlan {
    pub(super) name: String,
    pub(super) parent: Option<usize>,
    pub(super) each: Walked,
    pub(super) fields: Vec<Taken>,
    /// The names of its fields as the job file has them, for JSON.
    pub(super) members: Vec<String>,
    /// Lists in it.
    pub(super) inner: Vec<usize>,
}

impl Plan {
    pub(super) fn new(event: &EventSpec, outputs: &[OutputSpec]) -> Result<Plan, XmlSetupError> {
        let (mut names, mut programs) = (Names::new(), Programs::default());
        let each = each(&event.each, &mut names, &mut programs);
        let takes_element = outputs.iter().any(|output| output.document == Document::Element);
        let mut fields = event.fields.iter().chain(event.lists.iter().flat_map(|list| &list.fields));
        let mut plan = Plan {
            names,
            programs,
            each,
            each_text: event.each.iter().map(|step| format!("/{}", step.name.local)).collect(),
            root: match &event.each[..] {
                [step] => Some(step.name.clone()),
                _ => None,
            },
            keys: Vec::new(),
            fields: Vec::new(),
            lists: Vec::new(),
            edits: Vec::new(),
            takes_element,
            takes_source: takes_element || fields.any(|field| field.of_type == FieldType::Xml),
        };
        plan.take_key(&event.key)?;
        for list in &event.lists {
            plan.take_list(list)?;
        }
        for field in &event.fields {
            let taken = plan.field(each.node, field, None)?;
            plan.fields.push(taken);
        }
        for (index, list) in event.lists.iter().enumerate() {
            let node = plan.lists.get(index).ok_or(XmlSetupError::Internal)?.each.node;
            for field in &list.fields {
                let taken = plan.field(node, field, Some((index, list)))?;
                let list = plan.lists.get_mut(index).ok_or(XmlSetupError::Internal)?;
                list.fields.push(taken);
                list.members.push(field.name.clone());
            }
        }
        for output in outputs {
            plan.take_edits(each.node, output)?;
        }
        if plan.takes_element
            && let Some(node) = plan.names.node_mut(each.node)
        {
            node.scope = true;
        }
        Ok(plan)
    }

    fn take_key(&mut self, key: &[KeyPart]) -> Result<(), XmlSetupError> {
        for part in key {
            let part = match part {
                KeyPart::Path(path) => KeyPlan::Path(self.path(self.each.node, path, true)?),
                KeyPart::RecordKey => KeyPlan::RecordKey,
                KeyPart::Header(name) => KeyPlan::Header(name.clone()),
            };
            self.keys.push(part);
        }
        Ok(())
    }

    fn take_list(&mut self, list: &List) -> Result<(), XmlSetupError> {
        let index = self.lists.len();
        let from = match list.parent {
            Some(parent) => {
                let parent = self.lists.get_mut(parent).ok_or(XmlSetupError::Internal)?;
                parent.inner.push(index);
                parent.each.node
            }
            None => self.each.node,
        };
        let program = self.programs.at(from);
        let op = self.programs.add(program, &list.each, &mut self.names);
        let node = self.programs.get(program).map_or(from, |program| program.node(op));
        self.lists.push(ListPlan {
            name: list.name.clone(),
            parent: list.parent,
            each: Walked { up: 0, program, op, node },
            fields: Vec::new(),
            members: Vec::new(),
            inner: Vec::new(),
        });
        Ok(())
    }

    fn field(
        &mut self,
        node: NodeIndex,
        field: &Field,
        list: Option<(usize, &List)>,
    ) -> Result<Taken, XmlSetupError> {
        let name = match list {
            Some((_, list)) => format!("{}.{}", list.name, field.name),
            None => field.name.clone(),
        };
        let from = match &field.source {
            FieldSource::Path(path) => match field.of_type {
                FieldType::Json => From::All(self.path(node, path, true)?),
                FieldType::Xml => {
                    let path = self.path(node, path, false)?;
                    for branch in &path.branches {
                        self.names.node_mut(branch.at.node).ok_or(XmlSetupError::Internal)?.nil = true;
                    }
                    From::Source(path)
                }
                _ => From::Path(self.path(node, path, true)?),
            },
            FieldSource::List(of) => {
                let rows = self.lists.get(*of).ok_or(XmlSetupError::Internal)?;
                if rows.parent != list.map(|(index, _)| index) {
                    return Err(XmlSetupError::ListElsewhere { field: name, list: rows.name.clone() });
                }
                From::List(*of)
            }
            FieldSource::RecordKey => From::RecordKey,
            FieldSource::Header(header) => From::Header(header.clone()),
        };
        Ok(Taken { name, from, reader: field::reader(field)? })
    }

    /// A path from the elements of a node; `text`: own texts are read, not only where the elements are.
    fn path(&mut self, node: NodeIndex, path: &Path, text: bool) -> Result<PathPlan, XmlSetupError> {
        let branches: Result<_, _> =
            path.branches.iter().map(|branch| self.branch(node, branch, path, text)).collect();
        Ok(PathPlan { text: path.text.clone(), branches: branches? })
    }

    fn branch(
        &mut self,
        node: NodeIndex,
        branch: &Branch,
        path: &Path,
        text: bool,
    ) -> Result<BranchPlan, XmlSetupError> {
        let up = match branch.from {
            Base::Here { up } => up,
            Base::Root => self.names.node(node).map_or(0, |node| node.depth),
        };
        let start = self
            .names
            .above(node, up)
            .ok_or_else(|| XmlSetupError::AboveTheDocument { path: path.text.clone() })?;
        let program = self.programs.at(start);
        let op = self.programs.add(program, &branch.steps, &mut self.names);
        let node = self.programs.get(program).map_or(start, |program| program.node(op));
        let end = match &branch.end {
            End::Element => {
                if let Some(node) = self.names.node_mut(node) {
                    node.text |= text;
                }
                EndPlan::Element
            }
            End::Attribute(name) => EndPlan::Attribute(self.attribute(node, name, path)?),
            End::Count(None) => EndPlan::Count(None),
            End::Count(Some(name)) => EndPlan::Count(Some(self.attribute(node, name, path)?)),
        };
        Ok(BranchPlan { at: Walked { up, program, op, node }, end })
    }

    fn attribute(
        &mut self,
        node: NodeIndex,
        name: &Name,
        path: &Path,
    ) -> Result<AttributeIndex, XmlSetupError> {
        let namespace = self.names.namespaces.intern(name.namespace.as_deref());
        if namespace == NamespaceId::XMLNS
            || name.namespace.as_deref() == Some(XMLNS_URI)
            || (namespace == NamespaceId::NONE && name.local == "xmlns")
        {
            return Err(XmlSetupError::NamespaceDeclaration { path: path.text.clone() });
        }
        Ok(self.names.attribute(node, name))
    }
}

/// The events' elements, from above the root.
fn each(steps: &[PathStep], names: &mut Names, programs: &mut Programs) -> Walked {
    let program = programs.at(Names::DOCUMENT);
    let op = if steps.is_empty() {
        let root = names.any_root();
        programs.add_root(program, root)
    } else {
        programs.add(program, steps, names)
    };
    let node = programs.get(program).map_or(Names::DOCUMENT, |program| program.node(op));
    Walked { up: 0, program, op, node }
}
