//! The fingerprint of a job: which events there are, and which key group each belongs to.
//!
//! In:        a [`JobSpec`]
//! Out:       32 hexadecimal digits, the same in every version of Tidegate
//! Not here:  nothing of the database, the output, the rejects or the limits: they may change between two starts

use super::{End, JobSpec, KeyPart, Name, Path};
use siphasher::sip128::{Hasher128, SipHasher13};
use std::hash::Hasher;

/// Fixed for ever: another key would make every ledger look like another job's.
const KEYS: (u64, u64) = (0x7469_6465_6761_7465, 0x6a6f_622d_6b65_7973);

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
        hash.optional_name(self.event.each.first().map(|step| &step.name));
        hash.number(self.event.key.len());
        for path in &self.event.key {
            if let KeyPart::Path(path) = path {
                hash.path(path);
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

    fn path(&mut self, path: &Path) {
        let Some(branch) = path.branches.first() else { return };
        self.number(branch.steps.len());
        for step in &branch.steps {
            self.optional_name(Some(&step.name));
        }
        self.optional_name(match &branch.end {
            End::Attribute(name) => Some(name),
            End::Element | End::Count(_) => None,
        });
    }

    fn optional_name(&mut self, name: Option<&Name>) {
        let Some(name) = name else { return self.number(0) };
        self.number(1);
        // A namespace is never empty, so the empty text is no namespace.
        self.text(name.namespace.as_deref().unwrap_or(""));
        self.text(&name.local);
    }
}
