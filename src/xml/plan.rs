//! What a job looks for in its documents: all paths of keys, fields and additions in one tree of names.
//!
//! In:        the checked job     Out: a tree that the walk descends as elements open
//! Holds:     one node per distinct path, one capture per distinct text or attribute that anything reads
//! Fails:     a job that cannot be carried out; the job file's own check should have said so before
//! Not here:  documents

use super::XmlSetupError;
use super::chars::is_ncname;
use super::field;
use super::scope::{NamespaceId, Namespaces, XML_URI, XMLNS_URI};
use crate::job::{
    Addition, Base, Edit, End, EventSpec, FieldReader, FieldSource, KeyPart, Name, OutputSpec, Path,
};

/// Index into [`Plan::nodes`].
pub(super) type NodeIndex = usize;
/// Index into [`Plan::captures`].
pub(super) type CaptureIndex = usize;

/// A job's paths, compiled.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) namespaces: Namespaces,
    /// The root's name, where the job says one.
    pub(super) root: Option<(NamespaceId, Name)>,
    /// The first is the event's element.
    nodes: Vec<Node>,
    /// How many different texts and attributes are read.
    pub(super) captures: usize,
    /// The ordering key's parts: where they are captured, and their paths for messages.
    pub(super) keys: Vec<(CaptureIndex, String)>,
    /// In the order of the job file.
    pub(super) fields: Vec<FieldPlan>,
    /// In the order of the job file.
    pub(super) additions: Vec<Addition>,
}

/// How one field is made.
#[derive(Debug)]
pub(super) struct FieldPlan {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) capture: CaptureIndex,
    pub(super) reader: FieldReader,
}

/// One element that a path goes through or ends at.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Sorted by name.
    children: Vec<(NamespaceId, String, NodeIndex)>,
    /// The element's own text.
    pub(super) text: Option<CaptureIndex>,
    attributes: Vec<(NamespaceId, String, CaptureIndex)>,
    /// Indexes into [`Plan::additions`], in the order of the job file.
    pub(super) additions: Vec<usize>,
}

impl Node {
    pub(super) fn child(&self, namespace: NamespaceId, local: &str) -> Option<NodeIndex> {
        let found = self.children.binary_search_by(|(n, l, _)| (*n, l.as_str()).cmp(&(namespace, local)));
        found.ok().and_then(|index| self.children.get(index)).map(|(_, _, node)| *node)
    }

    pub(super) fn attribute(&self, namespace: NamespaceId, local: &str) -> Option<CaptureIndex> {
        self.attributes.iter().find(|(n, l, _)| *n == namespace && l == local).map(|(_, _, capture)| *capture)
    }
}

impl Plan {
    /// The node of the event's element.
    pub(super) const EVENT: NodeIndex = 0;

    pub(super) fn new(event: &EventSpec, outputs: &[OutputSpec]) -> Result<Plan, XmlSetupError> {
        let mut plan = Plan {
            namespaces: Namespaces::new(),
            root: None,
            nodes: vec![Node::default()],
            captures: 0,
            keys: Vec::new(),
            fields: Vec::new(),
            additions: Vec::new(),
        };
        plan.root = event
            .each
            .first()
            .map(|step| step.name.clone())
            .map(|name| (plan.namespaces.intern(name.namespace.as_deref()), name));
        for part in &event.key {
            let KeyPart::Path(path) = part else { return Err(XmlSetupError::Internal) };
            let capture = plan.capture(path)?;
            plan.keys.push((capture, path.text.clone()));
        }
        for field in &event.fields {
            let FieldSource::Path(path) = &field.source else { return Err(XmlSetupError::Internal) };
            let capture = plan.capture(path)?;
            plan.fields.push(FieldPlan {
                name: field.name.clone(),
                path: path.text.clone(),
                capture,
                reader: field::reader(field)?,
            });
        }
        for addition in outputs.iter().flat_map(|output| &output.edits) {
            let Edit::Add(addition) = addition else { return Err(XmlSetupError::Internal) };
            plan.add(addition)?;
        }
        Ok(plan)
    }

    pub(super) fn node(&self, index: NodeIndex) -> Option<&Node> {
        self.nodes.get(index)
    }

    /// The capture of what a path ends at; two equal paths share one.
    fn capture(&mut self, path: &Path) -> Result<CaptureIndex, XmlSetupError> {
        let (steps, attribute) = simple(path)?;
        let target = self.descend(&steps);
        let attribute = attribute.map(|name| (self.namespaces.intern(name.namespace.as_deref()), name));
        let next = self.captures;
        let node = self.nodes.get_mut(target).ok_or(XmlSetupError::Internal)?;
        let capture = match attribute {
            None => *node.text.get_or_insert(next),
            Some((namespace, name)) => {
                if namespace == NamespaceId::XMLNS
                    || (namespace == NamespaceId::NONE && name.local == "xmlns")
                {
                    return Err(XmlSetupError::NamespaceDeclaration { path: path.text.clone() });
                }
                match node.attribute(namespace, &name.local) {
                    Some(known) => known,
                    None => {
                        node.attributes.push((namespace, name.local.clone(), next));
                        next
                    }
                }
            }
        };
        self.captures = self.captures.max(capture.saturating_add(1));
        Ok(capture)
    }

    fn add(&mut self, addition: &Addition) -> Result<(), XmlSetupError> {
        check_addition(addition)?;
        self.namespaces.intern(addition.element.namespace.as_deref());
        let (steps, _) = simple(&addition.at)?;
        let target = self.descend(&steps);
        let node = self.nodes.get_mut(target).ok_or(XmlSetupError::Internal)?;
        node.additions.push(self.additions.len());
        self.additions.push(addition.clone());
        Ok(())
    }

    /// The node at the end of `steps`, made where it is missing.
    fn descend(&mut self, steps: &[Name]) -> NodeIndex {
        let mut at = Plan::EVENT;
        for step in steps {
            let namespace = self.namespaces.intern(step.namespace.as_deref());
            let new = self.nodes.len();
            let Some(node) = self.nodes.get_mut(at) else { return at };
            let place = node
                .children
                .binary_search_by(|(n, l, _)| (*n, l.as_str()).cmp(&(namespace, step.local.as_str())));
            at = match place {
                Ok(found) => node.children.get(found).map_or(at, |(_, _, child)| *child),
                Err(place) => {
                    node.children.insert(place, (namespace, step.local.clone(), new));
                    self.nodes.push(Node::default());
                    new
                }
            };
        }
        at
    }
}

/// The steps of a path that goes down by names alone, and its attribute.
fn simple(path: &Path) -> Result<(Vec<Name>, Option<&Name>), XmlSetupError> {
    let [branch] = &path.branches[..] else { return Err(XmlSetupError::Internal) };
    if branch.from != (Base::Here { up: 0 }) || branch.steps.iter().any(|step| !step.predicates.is_empty()) {
        return Err(XmlSetupError::Internal);
    }
    let steps = branch.steps.iter().map(|step| step.name.clone()).collect();
    match &branch.end {
        End::Element => Ok((steps, None)),
        End::Attribute(name) => Ok((steps, Some(name))),
        End::Count(_) => Err(XmlSetupError::Internal),
    }
}

/// Whether an addition can be written at all.
fn check_addition(addition: &Addition) -> Result<(), XmlSetupError> {
    let element = addition.element.local.clone();
    if simple(&addition.at)?.1.is_some() {
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
