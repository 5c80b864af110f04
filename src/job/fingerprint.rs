//! The fingerprint of a job: which events there are, and which key group each belongs to.
//!
//! In:        a [`JobSpec`]
//! Out:       32 hexadecimal digits, the same in every version of Tidegate
//! Order:     what older versions could read gives the bytes that they gave. Everything else begins with a number that no
//!            count of theirs was, and says all that it is
//! Not here:  nothing of the database, the output, the rejects or the limits: they may change between two starts

use super::{Base, Branch, End, JobSpec, KeyPart, Name, Path, PathStep, Predicate};
use siphasher::sip128::{Hasher128, SipHasher13};
use std::hash::Hasher;

/// Fixed for ever: another key would make every ledger look like another job's.
const KEYS: (u64, u64) = (0x7469_6465_6761_7465, 0x6a6f_622d_6b65_7973);

/// What stands in the place of a count, where what follows is not of the oldest form.
mod form {
    /// An `event.each` of several steps, or with predicates.
    pub(super) const EACH: usize = usize::MAX;
    /// A path with alternatives, predicates, `..`, a root or a count.
    pub(super) const PATH: usize = usize::MAX - 1;
    /// `":_key"`
    pub(super) const RECORD_KEY: usize = usize::MAX - 2;
    /// `":_header.NAME"`
    pub(super) const HEADER: usize = usize::MAX - 3;
}

impl JobSpec {
    /// A hash of the topics, the key groups, the event's element and the ordering key, names expanded: prefixes and the
    /// way that a path is written do not count.
    pub fn fingerprint(&self) -> String {
        let mut hash = Parts(SipHasher13::new_with_keys(KEYS.0, KEYS.1));
        hash.number(self.source.topics.len());
        for topic in &self.source.topics {
            hash.text(topic);
        }
        hash.0.write(&self.key_groups.to_le_bytes());
        hash.each(&self.event.each);
        hash.number(self.event.key.len());
        for part in &self.event.key {
            match part {
                KeyPart::Path(path) => hash.path(path),
                KeyPart::RecordKey => hash.number(form::RECORD_KEY),
                KeyPart::Header(name) => {
                    hash.number(form::HEADER);
                    hash.text(name);
                }
            }
        }
        let digest = hash.0.finish128();
        format!("{:016x}{:016x}", digest.h1, digest.h2)
    }
}

/// Each part with its length in front, so that no two lists of parts give the same bytes.
struct Parts(SipHasher13);

impl Parts {
    fn number(&mut self, number: usize) {
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        self.0.write(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len());
        self.0.write(text.as_bytes());
    }

    fn each(&mut self, each: &[PathStep]) {
        match each {
            [] => self.optional_name(None),
            [root] if root.predicates.is_empty() => self.optional_name(Some(&root.name)),
            steps => {
                self.number(form::EACH);
                self.steps(steps);
            }
        }
    }

    fn path(&mut self, path: &Path) {
        match path.branches.as_slice() {
            [branch] if is_oldest_form(branch) => {
                self.number(branch.steps.len());
                for step in &branch.steps {
                    self.optional_name(Some(&step.name));
                }
                self.end(&branch.end);
            }
            branches => {
                self.number(form::PATH);
                self.number(branches.len());
                for branch in branches {
                    self.branch(branch);
                }
            }
        }
    }

    fn branch(&mut self, branch: &Branch) {
        match branch.from {
            Base::Root => self.number(0),
            Base::Here { up } => {
                self.number(1);
                self.number(up);
            }
        }
        self.steps(&branch.steps);
        self.number(usize::from(matches!(branch.end, End::Count(_))));
        self.end(&branch.end);
    }

    fn end(&mut self, end: &End) {
        self.optional_name(match end {
            End::Attribute(name) | End::Count(Some(name)) => Some(name),
            End::Element | End::Count(None) => None,
        });
    }

    fn steps(&mut self, steps: &[PathStep]) {
        self.number(steps.len());
        for step in steps {
            self.optional_name(Some(&step.name));
            self.number(step.predicates.len());
            for predicate in &step.predicates {
                self.predicate(predicate);
            }
        }
    }

    fn predicate(&mut self, predicate: &Predicate) {
        match predicate {
            Predicate::Last => self.number(0),
            Predicate::Nth(number) => {
                self.number(1);
                self.number(*number);
            }
            Predicate::Equals { steps, attribute, value } => {
                self.number(2);
                self.number(steps.len());
                for name in steps {
                    self.optional_name(Some(name));
                }
                self.optional_name(attribute.as_ref());
                self.text(value);
            }
        }
    }

    fn optional_name(&mut self, name: Option<&Name>) {
        let Some(name) = name else { return self.number(0) };
        self.number(1);
        // A namespace is never empty, so the empty text is no namespace.
        self.text(name.namespace.as_deref().unwrap_or(""));
        self.text(&name.local);
    }
}

/// Whether versions could read it that knew steps downwards and an attribute at the end.
fn is_oldest_form(branch: &Branch) -> bool {
    branch.from == (Base::Here { up: 0 })
        && branch.steps.iter().all(|step| step.predicates.is_empty())
        && !matches!(branch.end, End::Count(_))
}
